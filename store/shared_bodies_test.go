package store

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/s2"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store/kv"
)

// bodyKeys returns the keys of the stored bodies.
func bodyKeys(t *testing.T, tx *Tx) (keys []string) {
	t.Helper()
	for p, err := range tx.kv.Scan(bodiesTable, kv.Range{}) {
		is(t, "Scan", err, nil)
		keys = append(keys, Key{b: p.Key}.String())
	}
	return keys
}

// insertLines inserts lines into the database as drafts do.
func insertLines(t *testing.T, db *DB, org string, lines ...api.Finding) {
	t.Helper()
	var ready []PreparedRecord[api.Finding]
	for i := range lines {
		r, err := PrepareInsert(Findings, &lines[i])
		is(t, "Ready", err, nil)
		ready = append(ready, r)
	}
	update(t, db, func(tx *Tx) error {
		_, err := InsertPrepared(tx, Findings, org, ready)
		return err
	})
}

// TestBodiesAreShared checks that content shared by versions of an assessment is stored once, that changing or
// deleting it in one version leaves the others unchanged, and that organizations and assessments don't share.
func TestBodiesAreShared(t *testing.T) {
	db := openTables(t)
	elsewhere := line("one", "w1", "d1", "words")
	elsewhere.AssessmentID = "a2"
	insertLines(
		t,
		db,
		"one",
		line("one", "v1", "a1", "words"),
		line("one", "v1", "b1", "other words"),
		line("one", "v2", "a2", "words"),
		elsewhere,
	)
	insertLines(t, db, "two", line("two", "v1", "a1", "words"))
	view(t, db, func(tx *Tx) error {
		if keys := bodyKeys(t, tx); len(keys) != 5-1 {
			t.Errorf("bodies: %q", keys)
		}
		b, err := Findings.table.untyped.readBytes(tx, K("one", "a2"))
		if is(t, "raw", err, nil); len(b) > 600 || strings.Contains(string(b), "words") {
			t.Errorf("the second line has its words again: %d bytes", len(b))
		}
		return nil
	})
	update(t, db, func(tx *Tx) error {
		changed := line("one", "v1", "a1", "new")
		is(t, "Put", Findings.Put(tx, "one", &changed), nil)
		return Findings.Delete(tx, "one", "b1")
	})
	read := func(org, id, text string) {
		t.Helper()
		view(t, db, func(tx *Tx) error {
			f, err := Findings.Get(tx, org, id)
			if is(t, id, err, nil); !strings.HasPrefix(f.Condition, text+" ") {
				t.Errorf("%s of %s says %.20q", id, org, f.Condition)
			}
			return nil
		})
	}
	read("one", "a1", "new")
	read("one", "a2", "words")
	update(t, db, func(tx *Tx) error {
		is(t, "nobody's", deleteBodies(tx, "", "a1"), ErrNoTenant)
		is(t, "no assessment", deleteBodies(tx, "one", ""), ErrNoTenant)
		is(t, "Delete", Findings.Delete(tx, "one", "a2"), nil)
		return deleteBodies(tx, "one", "a1")
	})
	read("one", "a1", "new") // it has its own bytes since it was changed
	read("one", "d1", "words")
	read("two", "a1", "words")
	view(t, db, func(tx *Tx) error {
		is(t, "in a view", deleteBodies(tx, "one", "a2"), ErrReadOnlyTx)
		if keys := bodyKeys(t, tx); len(keys) != 2 {
			t.Errorf("bodies: %q", keys)
		}
		return nil
	})
}

// TestUnpackedSharedRecords checks that records with bodies are read as stored before they were packed: the reference
// and the header uncompressed, the body an s2 block without a mark.
func TestUnpackedSharedRecords(t *testing.T) {
	db := openTables(t)
	want := line("one", "v1", "a1", "words")
	insertLines(t, db, "one", want, line("one", "v1", "b1", "words"))
	whole, err := json.Marshal(want)
	is(t, "Marshal", err, nil)
	head, err := Findings.table.untyped.encodeHeader(&want)
	is(t, "encodeHeader", err, nil)
	bodyKey := K("one", "a1", "sum").b
	update(t, db, func(tx *Tx) error {
		old := binary.AppendUvarint([]byte{markJSON | markShared}, uint64(len(bodyKey)))
		return errors.Join(
			tx.kv.Put(Findings.Name(), K("one", "a1").b, append(append(old, bodyKey...), head...)),
			tx.kv.Put(bodiesTable, bodyKey, s2.Encode(nil, whole[len(head):])))
	})
	view(t, db, func(tx *Tx) error {
		for _, id := range []string{"a1", "b1"} {
			got, err := Findings.Get(tx, "one", id)
			want.ID, want.ControlCode = id, "C-"+id[:1]
			if is(t, "Get", err, nil); !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, want %+v", got, want)
			}
		}
		return nil
	})
	update(t, db, func(tx *Tx) error { return tx.kv.Put(bodiesTable, bodyKey, []byte{0xff, 0xff, 0xff, 0xff, 0x0f}) })
	err = db.View(t.Context(), func(tx *Tx) error { _, err := Findings.Get(tx, "one", "a1"); return err })
	is(t, "damaged", err, ErrCorrupt)
}

// TestBodiesDamaged checks that a missing or damaged body is reported as damage, with its place.
func TestBodiesDamaged(t *testing.T) {
	db := openTables(t)
	insertLines(t, db, "one", line("one", "v1", "a1", "words"))
	get := func() error {
		return db.View(t.Context(), func(tx *Tx) error { _, err := Findings.Get(tx, "one", "a1"); return err })
	}
	is(t, "whole", get(), nil)
	var key []byte
	update(t, db, func(tx *Tx) error {
		for p := range tx.kv.Scan(bodiesTable, kv.Range{}) {
			key = append(key, p.Key...)
		}
		return tx.kv.Put(bodiesTable, key, []byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff"))
	})
	is(t, "damaged", get(), ErrCorrupt)
	update(t, db, func(tx *Tx) error { return tx.kv.Put(bodiesTable, key, []byte("\x05\x00")) })
	is(t, "cut", get(), ErrCorrupt)
	update(t, db, func(tx *Tx) error { return tx.kv.Delete(bodiesTable, key) })
	if err := get(); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "findings") {
		t.Errorf("missing: %v", err)
	}
	update(t, db, func(tx *Tx) error {
		return tx.kv.Put(Findings.Name(), K("one", "a1").b, []byte{markJSON | markShared, 200})
	})
	is(t, "no key", get(), ErrCorrupt)
}

// TestRewriteJoinsBodies checks that a migration gets whole records, wherever their bodies are stored, and
// writes them whole.
func TestRewriteJoinsBodies(t *testing.T) {
	db := openTables(t)
	insertLines(t, db, "one", line("one", "v1", "a1", "words"), line("one", "v2", "a2", "words"))
	update(t, db, func(tx *Tx) error {
		if err := tx.RewriteRecords(Findings.Name(), func(old []byte) ([]byte, error) {
			return []byte(strings.ReplaceAll(string(old), "words", "terms")), nil
		}); err != nil {
			return err
		}
		return deleteBodies(tx, "one", "a1")
	})
	view(t, db, func(tx *Tx) error {
		f, err := Findings.Get(tx, "one", "a2")
		if is(t, "Get", err, nil); !strings.HasPrefix(f.Condition, "terms ") || f.VersionID != "v2" {
			t.Errorf("%.20q of %s", f.Condition, f.VersionID)
		}
		return nil
	})
}

func deleteBodies(tx *Tx, org, assessment string) error {
	_, err := DeleteSharedBodies(tx, org, assessment, 1_000)
	return err
}
