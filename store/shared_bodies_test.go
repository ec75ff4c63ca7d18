package store

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/klauspost/compress/s2"

	"github.com/scf-service/service/api"
)

// putOldLine stores a finding in format 5: its body under bodyKey, and its header with a reference to the body. If
// isPacked is not set, neither is a packed record, as in format 4.
func putOldLine(t *testing.T, tx *Tx, f api.Finding, bodyKey []byte, isPacked bool) {
	t.Helper()
	whole, err := json.Marshal(f)
	is(t, "Marshal", err, nil)
	head, err := Findings.table.untyped.encodeHeader(&f)
	is(t, "encodeHeader", err, nil)
	row := append(append(binary.AppendUvarint(nil, uint64(len(bodyKey))), bodyKey...), head...)
	mark, body := byte(markJSON|markShared), s2.Encode(nil, whole[len(head):])
	if isPacked {
		mark |= markPacked
		row, err = packRecord(markJSON, row)
		is(t, "packRecord", err, nil)
		body, err = packRecord(markJSON, whole[len(head):])
		is(t, "packRecord", err, nil)
	}
	key := K(f.OrganizationID, f.ID).b
	entries, err := Findings.table.untyped.indexEntries(&f, key)
	err = errors.Join(err, tx.kv.Put(Findings.Name(), key, append([]byte{mark}, row...)), tx.kv.Put(bodiesTable, bodyKey, body))
	is(t, "put", err, nil)
	for _, e := range entries {
		is(t, "index entry", tx.kv.Put(e.table, e.key, key), nil)
	}
}

// TestFormat5 checks that a database with items and index entries from before packs is only marked with the new
// format at its first start. The items can be read, changed and deleted, and new versions share their content once it
// is in a pack.
func TestFormat5(t *testing.T) {
	o := options(t.TempDir())
	o.Schema = ServiceSchema
	db := open(t, o)
	lines := []api.Finding{line("one", "v1", "a1", "words"), line("one", "v1", "b1", "other words"), line("one", "v1", "c1", "third")}
	meta := db.meta
	update(t, db, func(tx *Tx) error {
		for i, f := range lines {
			putOldLine(t, tx, f, K("one", "a1", Findings.Name(), []byte(f.ID)).b, i > 0)
		}
		meta.Format = 5
		return errors.Join(tx.dropIndexesForRebuild(Findings.Name()), tx.putMeta(metaKey, meta))
	})
	is(t, "Close", db.Close(), nil)
	db = open(t, o)
	if meta.Format = formatVersion; db.meta != meta {
		t.Errorf("got %+v, want %+v", db.meta, meta)
	}
	same(t, "backups", files(t, db, dirBackups))
	var old []*EncodedRecord[api.Finding]
	view(t, db, func(tx *Tx) (err error) {
		old, err = ScanEncoded(tx, Findings.By("version"), "one", nil, "v1")
		for i, w := range old {
			if !reflect.DeepEqual(w.Record, lines[i]) {
				t.Errorf("got %+v, want %+v", w.Record, lines[i])
			}
		}
		return err
	})
	copied := insertLines(t, db, "one", old, line("one", "v2", "a2", "words"), line("one", "v2", "b2", "other words"))
	insertLines(t, db, "one", copied, line("one", "v3", "a3", "words"), line("one", "v3", "b3", "other words"))
	view(t, db, func(tx *Tx) error {
		if n := len(packKeys(t, tx)); n != 1 {
			t.Errorf("%d packs", n)
		}
		return nil
	})
	update(t, db, func(tx *Tx) error {
		changed := lines[0]
		changed.Condition = "changed"
		return errors.Join(Findings.Put(tx, "one", &changed), Findings.Delete(tx, "one", "b1"))
	})
	view(t, db, func(tx *Tx) error {
		lines := collect(t, Findings.By("version").Scan(tx, "one"), func(f api.Finding) string { return f.ID + " " + f.Condition[:5] })
		same(t, "lines", lines,
			"a1 chang", "c1 third", "a2 words", "b2 other", "a3 words", "b3 other")
		checkIndexes(t, tx, Findings.table)
		return nil
	})
	update(t, db, func(tx *Tx) error {
		return tx.kv.Put(bodiesTable, K("one", "a1", Findings.Name(), []byte("c1")).b, []byte{0x81, 0xff})
	})
	err := db.View(t.Context(), func(tx *Tx) error { _, err := Findings.Get(tx, "one", "c1"); return err })
	is(t, "damaged", err, ErrCorrupt)
	update(t, db, func(tx *Tx) error { return deletePacks(tx, "one", "a1") })
	err = db.View(t.Context(), func(tx *Tx) error { _, err := Findings.Get(tx, "one", "c1"); return err })
	is(t, "without its body", err, ErrCorrupt)
}
