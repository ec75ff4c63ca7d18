package evidence

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"
)

// passageID is the id of a passage: a UUIDv7 with the time of its assessment,
// whose other bits follow from what the passage says and where. So a document
// read again, or taken in another order beside others, has passages with the same
// ids in the same order, and what is drafted from them is the same.
//
// nth tells passages of one document apart that say the same under the same headings.
func passageID(assessment string, began time.Time, document, passage string, nth int) string {
	content := sha256.Sum256(fmt.Appendf(nil, "%s %s %d", document, passage, nth))
	place := sha256.Sum256([]byte(assessment))
	var id [16]byte
	binary.BigEndian.PutUint64(id[:], uint64(began.UnixMilli())<<16)
	copy(id[6:12], content[:])
	copy(id[12:], place[:])
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}
