package assessment

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// itemHash is the SHA-256 of an item in canonical form.
type itemHash [sha256.Size]byte

// contentHash returns the content hash to store for items: the SHA-256 of the items' hashes. The items are sorted by
// control code, and IDs, revisions and times are left out, so that equal content has an equal hash even in another
// assessment of the same documents.
func (k deliverableType[V, I]) contentHash(tx *store.Tx, items []I, hashes []itemHash) (string, error) {
	if !tx.AllSupport(store.ItemHashes) {
		return k.earlierContentHash(items)
	}
	return combineHashes(hashes), nil
}

// contentHashLike returns the content hash of items, in the form of the recorded hash if that is theirs.
func (k deliverableType[V, I]) contentHashLike(items []I, recorded string) (string, error) {
	hashes, _, err := k.hashItems(items)
	if err != nil {
		return "", err
	}
	hash := combineHashes(hashes)
	if hash == recorded {
		return hash, nil
	}
	if earlier, err := k.earlierContentHash(items); err != nil || earlier == recorded {
		return earlier, err
	}
	return hash, nil
}

// hasContent reports whether the items of a version have the recorded content hash.
func (k deliverableType[V, I]) hasContent(tx *store.Tx, org, version, recorded string) (bool, error) {
	items, err := k.readItems(tx, org, version)
	if err != nil {
		return false, err
	}
	hash, err := k.contentHashLike(items, recorded)
	return hash == recorded, err
}

// hashItems returns the hashes of items, and the size of their canonical form.
func (k deliverableType[V, I]) hashItems(items []I) (hashes []itemHash, size int, err error) {
	hashes = make([]itemHash, len(items))
	for n, i := range items {
		b, err := k.canonicalJSON(i)
		if err != nil {
			return nil, 0, err
		}
		hashes[n], size = sha256.Sum256(b), size+len(b)
	}
	return hashes, size, nil
}

func combineHashes(hashes []itemHash) string {
	h := sha256.New()
	for _, one := range hashes {
		h.Write(one[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// earlierContentHash returns the content hash in the form of versions without store.ItemHashes: the SHA-256 of all items
// in canonical form, one after the other.
func (k deliverableType[V, I]) earlierContentHash(items []I) (string, error) {
	h := sha256.New()
	for _, i := range items {
		b, err := k.canonicalJSON(i)
		if err != nil {
			return "", err
		}
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// canonicalJSON returns the encoding of an item that is used for hashing.
func (k deliverableType[V, I]) canonicalJSON(i I) ([]byte, error) {
	it := k.item(&i)
	it.TenantRecord, it.AssessmentID, it.VersionID, it.ControlID, it.Revision = api.TenantRecord{}, "", "", "", 0
	k.clearIDs(&i)
	b, err := json.Marshal(i)
	if err != nil {
		return nil, fmt.Errorf("hashing the %s: %w", k.gate.Title(), err)
	}
	return append(b, '\n'), nil
}

// recomputeItemCountAndHash updates a version's item count and content hash from its items.
func (k deliverableType[V, I]) recomputeItemCountAndHash(tx *store.Tx, org string, v *V) error {
	items, err := k.readItems(tx, org, k.version(v).ID)
	if err != nil {
		return err
	}
	k.version(v).ItemCount = len(items)
	if k.summarize != nil {
		k.summarize(v, items)
	}
	hashes, _, err := k.hashItems(items)
	if err != nil {
		return err
	}
	k.version(v).ContentSHA256, err = k.contentHash(tx, items, hashes)
	return err
}
