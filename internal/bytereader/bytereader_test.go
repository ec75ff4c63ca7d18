package bytereader

import (
	"encoding/binary"
	"math"
	"testing"
)

func TestReader(t *testing.T) {
	data := binary.AppendUvarint([]byte{5, 2, 'a', 'b'}, 300)
	r := Reader{Data: data}
	if n, s, m := r.Uvarint(5), string(r.PrefixedBytes()), r.Uvarint(300); n != 5 || s != "ab" || m != 300 || r.Failed || len(r.Data) != 0 {
		t.Errorf("%d, %q, %d, %+v", n, s, m, r)
	}
	for name, read := range map[string]func(r *Reader){
		"a number above the limit":       func(r *Reader) { r.Uvarint(4) },
		"a long number above the limit":  func(r *Reader) { r.Bytes(4); r.Uvarint(299) },
		"a negative limit":               func(r *Reader) { r.Uvarint(-1) },
		"more bytes than there are":      func(r *Reader) { r.Bytes(len(data) + 1) },
		"a prefix beyond the end":        func(r *Reader) { r.PrefixedBytes(); r.PrefixedBytes() },
		"a number after the end":         func(r *Reader) { r.Bytes(len(data)); r.Uvarint(1) },
		"a truncated number":             func(r *Reader) { r.Data = data[4:5]; r.Uvarint(math.MaxInt32) },
		"a number that is far too large": func(r *Reader) { r.Data = binary.AppendUvarint(nil, math.MaxUint64); r.Uvarint(math.MaxInt) },
	} {
		r := Reader{Data: data}
		if read(&r); !r.Failed || r.Uvarint(9) != 0 || len(r.Bytes(1)) != 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
