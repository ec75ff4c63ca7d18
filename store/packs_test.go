package store

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store/kv"
)

// packKeys returns the keys of the stored packs.
func packKeys(t *testing.T, tx *Tx) (keys [][]byte) {
	t.Helper()
	for p, err := range tx.kv.Scan(packsTable, kv.Range{}) {
		is(t, "Scan", err, nil)
		if len(p.Value) > checksumSize {
			keys = append(keys, bytes.Clone(p.Key))
		}
	}
	return keys
}

// insertLines inserts lines into the database as drafts do. They can share the content of candidates.
func insertLines(
	t *testing.T, db *DB, org string, candidates []*EncodedRecord[api.Finding], lines ...api.Finding,
) (written []*EncodedRecord[api.Finding]) {
	t.Helper()
	var ready []PreparedRecord[api.Finding]
	for i := range lines {
		r, err := PrepareInsert(Findings, &lines[i], candidates...)
		is(t, "PrepareInsert", err, nil)
		ready = append(ready, r)
	}
	update(t, db, func(tx *Tx) (err error) {
		written, err = InsertPrepared(tx, Findings, org, ready)
		return err
	})
	return written
}

func scanLines(t *testing.T, db *DB, org, version string) (lines []*EncodedRecord[api.Finding]) {
	t.Helper()
	view(t, db, func(tx *Tx) (err error) {
		lines, err = ScanEncoded(tx, Findings.By("version"), org, nil, version)
		return err
	})
	return lines
}

func deletePacks(tx *Tx, org, assessment string) error {
	_, err := DeletePacks(tx, org, 1_000, assessment)
	return err
}

// TestContentIsShared checks that content shared by several versions of an assessment is stored once, whether the
// older version was read or has just been written. Changing or deleting it in one version must leave the others
// unchanged, and organizations and assessments must not share content.
func TestContentIsShared(t *testing.T) {
	db := openTables(t)
	first := insertLines(t, db, "one", nil, line("one", "v1", "a1", "words"), line("one", "v1", "b1", "other words"))
	second := insertLines(t, db, "one", first, line("one", "v2", "a2", "words"))
	insertLines(t, db, "one", scanLines(t, db, "one", "v1"), line("one", "v3", "b3", "other words"))
	insertLines(t, db, "one", scanLines(t, db, "one", "v2"), line("one", "v4", "a4", "words"))
	elsewhere := line("one", "w1", "d1", "words")
	elsewhere.AssessmentID = "a2"
	insertLines(t, db, "one", second, elsewhere)
	insertLines(t, db, "two", second, line("two", "v1", "a1", "words"))
	view(t, db, func(tx *Tx) error {
		if n := len(packKeys(t, tx)); n != 3 {
			t.Errorf("%d packs, not one for each of two assessments and another organization", n)
		}
		for _, id := range []string{"a2", "b3", "a4"} {
			b, err := Findings.table.untyped.readBytes(tx, K("one", id))
			if is(t, "readBytes", err, nil); len(b) > 300 || strings.Contains(string(b), "words") {
				t.Errorf("%s has its words again: %d bytes", id, len(b))
			}
		}
		return nil
	})
	update(t, db, func(tx *Tx) error {
		changed := line("one", "v1", "a1", "new")
		return errors.Join(Findings.Put(tx, "one", &changed), Findings.Delete(tx, "one", "b1"))
	})
	read := func(org string, want api.Finding) {
		t.Helper()
		view(t, db, func(tx *Tx) error {
			got, err := Findings.Get(tx, org, want.ID)
			if is(t, want.ID, err, nil); !reflect.DeepEqual(got, want) {
				t.Errorf("%s of %s is %+v", want.ID, org, got)
			}
			return nil
		})
	}
	read("one", line("one", "v1", "a1", "new"))
	read("one", line("one", "v2", "a2", "words"))
	read("one", line("one", "v3", "b3", "other words"))
	read("one", line("one", "v4", "a4", "words"))
	update(t, db, func(tx *Tx) error {
		is(t, "nobody's", deletePacks(tx, "", "a1"), ErrNoTenant)
		_, err := DeletePacks(tx, "one", 1)
		is(t, "no scope", err, ErrBadKey)
		return deletePacks(tx, "one", "a1")
	})
	read("one", line("one", "v1", "a1", "new")) // it has had its own bytes since it was changed
	read("one", elsewhere)
	read("two", line("two", "v1", "a1", "words"))
	// Content is written again if the content to be shared has been deleted in the meantime.
	insertLines(t, db, "one", second, line("one", "v5", "a5", "words"))
	read("one", line("one", "v5", "a5", "words"))
	view(t, db, func(tx *Tx) error {
		is(t, "in a view", deletePacks(tx, "one", "a2"), ErrReadOnlyTx)
		if n := len(packKeys(t, tx)); n != 3 {
			t.Errorf("%d packs", n)
		}
		return nil
	})
}

// TestFailedInsertIsNotShared checks that no record refers to a pack from a transaction that failed.
func TestFailedInsertIsNotShared(t *testing.T) {
	db := openTables(t)
	f := line("one", "v1", "a1", "words")
	r, err := PrepareInsert(Findings, &f)
	is(t, "PrepareInsert", err, nil)
	var lost []*EncodedRecord[api.Finding]
	fail := errors.New("no")
	is(t, "Update", db.Update(t.Context(), func(tx *Tx) error {
		lost, err = InsertPrepared(tx, Findings, "one", []PreparedRecord[api.Finding]{r})
		return errors.Join(err, fail)
	}), fail)
	insertLines(t, db, "one", lost, line("one", "v2", "a2", "words"))
	if got := scanLines(t, db, "one", "v2"); len(got) != 1 || !reflect.DeepEqual(got[0].Record, line("one", "v2", "a2", "words")) {
		t.Errorf("got %+v", got)
	}
}

// TestPacksAreSmall checks the purpose of packs, with items that differ in 300 of 4,300 bytes: three versions take
// little more space than one, and reading an item decompresses no more than packSize.
func TestPacksAreSmall(t *testing.T) {
	db := openTables(t)
	rng := rand.New(rand.NewPCG(5, 6))
	words := func(n int) string {
		var b strings.Builder
		for b.Len() < n {
			fmt.Fprintf(&b, "word%d ", rng.IntN(1000))
		}
		return b.String()[:n]
	}
	common := words(4_000)
	var texts []string
	for range 200 {
		texts = append(texts, common+words(300))
	}
	var last []*EncodedRecord[api.Finding]
	for v := range 3 {
		var lines []api.Finding
		for i, text := range texts {
			lines = append(lines, line("one", fmt.Sprint("v", v), fmt.Sprintf("%c%d-%d", 'a'+i/10, i, v), text))
			lines[i].Condition = text
		}
		insertLines(t, db, "one", last, lines...)
		last = scanLines(t, db, "one", fmt.Sprint("v", v))
		for i := range last {
			if !reflect.DeepEqual(last[i].Record, lines[i]) {
				t.Fatalf("version %d: line %d is another", v, i)
			}
		}
	}
	view(t, db, func(tx *Tx) error {
		size := 0
		for _, table := range []string{Findings.Name(), packsTable, "findings.version"} {
			for p, err := range tx.kv.Scan(table, kv.Range{}) {
				is(t, "Scan", err, nil)
				size += len(p.Key) + len(p.Value)
			}
		}
		if limit := 3*200*400 + 200*300; size > limit {
			t.Errorf("the versions take %d bytes, more than %d", size, limit)
		}
		for _, key := range packKeys(t, tx) {
			entries, err := tx.readPack(key)
			is(t, "readPack", err, nil)
			if n := len(bytes.Join(entries, nil)); n > packSize {
				t.Errorf("a pack of %d bytes", n)
			}
		}
		if len(tx.packs) > maxCachedPacks {
			t.Errorf("%d packs in memory", len(tx.packs))
		}
		return nil
	})
}

// TestLargeRecordInPack checks that a record larger than a pack gets its own pack.
func TestLargeRecordInPack(t *testing.T) {
	db := openTables(t)
	big := line("one", "v1", "b1", strings.Repeat("word ", 2*packSize/1_000))
	insertLines(t, db, "one", nil, line("one", "v1", "a1", "x"), big, line("one", "v1", "c1", "y"))
	view(t, db, func(tx *Tx) error {
		if n := len(packKeys(t, tx)); n != 3 {
			t.Errorf("%d packs", n)
		}
		lines := collect(t, Findings.By("version").Scan(tx, "one"), func(f api.Finding) string { return f.Condition[:2] })
		same(t, "lines", lines, "x ", "wo", "y ")
		return nil
	})
}

// TestPacksDamaged checks that a missing or damaged pack or reference is reported as damage, with its location.
func TestPacksDamaged(t *testing.T) {
	db := openTables(t)
	insertLines(t, db, "one", nil, line("one", "v1", "a1", "words"), line("one", "v1", "b1", "words"))
	get := func() error {
		return db.View(t.Context(), func(tx *Tx) error { _, err := Findings.Get(tx, "one", "b1"); return err })
	}
	is(t, "whole", get(), nil)
	var key, pack, row []byte
	view(t, db, func(tx *Tx) (err error) {
		key = packKeys(t, tx)[0]
		if pack, err = tx.kv.Get(packsTable, key); err == nil {
			row, err = tx.kv.Get(Findings.Name(), K("one", "b1").b)
		}
		pack, row = bytes.Clone(pack), bytes.Clone(row)
		return err
	})
	for n := range pack { // each with a valid checksum
		for _, change := range [][]byte{pack[:n], append(append(bytes.Clone(pack[:n]), pack[n]^0x55), pack[n+1:]...)} {
			update(t, db, func(tx *Tx) error { return tx.kv.Put(packsTable, key, change) })
			if err := get(); err != nil && !errors.Is(err, ErrCorrupt) {
				t.Fatalf("at %d: %v", n, err)
			}
		}
	}
	for name, value := range map[string][]byte{
		"empty": {}, "a huge size": []byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "no frame": {5, 0},
		"no entry": encodePack(nil), "one entry": encodePack([][]byte{[]byte("{}")}),
	} {
		update(t, db, func(tx *Tx) error { return tx.kv.Put(packsTable, key, value) })
		is(t, name, get(), ErrCorrupt)
	}
	update(t, db, func(tx *Tx) error { return tx.kv.Delete(packsTable, key) })
	if err := get(); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "findings") {
		t.Errorf("missing: %v", err)
	}
	update(t, db, func(tx *Tx) error { return tx.kv.Put(packsTable, key, pack) })
	for n := range row {
		update(t, db, func(tx *Tx) error { return tx.kv.Put(Findings.Name(), K("one", "b1").b, row[:n]) })
		is(t, fmt.Sprint("a reference of ", n, " bytes"), get(), ErrCorrupt)
	}
	ref := entryRef{pack: string(row[1 : 1+packIDSize]), index: 1, bodyAt: 1 << 20}
	beyond, err := encodeEntryRecord(markJSON, ref, []byte(`{"id":"b1"`))
	is(t, "encodeEntryRecord", err, nil)
	update(t, db, func(tx *Tx) error { return tx.kv.Put(Findings.Name(), K("one", "b1").b, beyond) })
	is(t, "a body beyond the entry", get(), ErrCorrupt)
	// The checksum of a pack is verified. CheckRecords verifies it, too, and names the pack.
	update(t, db, func(tx *Tx) error {
		return errors.Join(tx.kv.Put(Findings.Name(), K("one", "b1").b, row), tx.kv.driver.Put(packsTable, key, append(pack, 1, 2, 3, 4)))
	})
	is(t, "a wrong checksum", get(), ErrCorrupt)
	c, err := db.CheckRecords(t.Context())
	if is(t, "CheckRecords", err, nil); c.Damaged != 1 || !strings.HasPrefix(c.Kinds[0].First, `pack of records "one"/`) {
		t.Errorf("got %s", c)
	}
}

// TestPassagesInPacks checks that passages are stored in the packs of their set, that they are read, changed and
// deleted one by one, and that deleting the packs of one set leaves those of others.
func TestPassagesInPacks(t *testing.T) {
	db := openTables(t)
	chunk := func(id, doc string, set int64) *Chunk {
		c := Chunk{Set: set}
		c.ID, c.OrganizationID, c.AssessmentID, c.DocumentID, c.Text = id, "one", "a1", doc, strings.Repeat(id+" words ", 50)
		return &c
	}
	insert := func(doc string, set int64) {
		var all []PreparedRecord[Chunk]
		for i := range 100 {
			all = append(all, PreparedRecord[Chunk]{Record: chunk(fmt.Sprintf("%s-%02d", doc, i), doc, set)})
		}
		update(t, db, func(tx *Tx) error { _, err := InsertPrepared(tx, Chunks, "one", all); return err })
	}
	insert("d1", 0)
	insert("d2", 7)
	update(t, db, func(tx *Tx) error {
		changed := chunk("d1-05", "d1", 0)
		changed.Text = "changed"
		return errors.Join(Chunks.Put(tx, "one", changed), Chunks.Delete(tx, "one", "d1-06"))
	})
	view(t, db, func(tx *Tx) error {
		if n, err := Chunks.By("position").Count(tx, "one", "a1", "d1"); n != 99 || err != nil {
			t.Errorf("%d passages, %v", n, err)
		}
		for id, want := range map[string]string{"d1-05": "changed", "d1-99": chunk("d1-99", "", 0).Text} {
			if c, err := Chunks.Get(tx, "one", id); c.Text != want || err != nil {
				t.Errorf("%s is %q, %v", id, c.Text, err)
			}
		}
		checkIndexes(t, tx, Chunks.table)
		return nil
	})
	update(t, db, func(tx *Tx) error { return deletePacks(tx, "one", "d1") })
	view(t, db, func(tx *Tx) error {
		_, err := Chunks.Get(tx, "one", "d1-99")
		is(t, "without its pack", err, ErrCorrupt)
		c, err := Chunks.Get(tx, "one", "d2-99", int64(7))
		if is(t, "another set", err, nil); c.Text != chunk("d2-99", "", 0).Text {
			t.Errorf("got %q", c.Text)
		}
		return nil
	})
}

// TestRewriteJoinsPacks checks that a migration receives and writes complete records, regardless of where their
// content is stored.
func TestRewriteJoinsPacks(t *testing.T) {
	db := openTables(t)
	first := insertLines(t, db, "one", nil, line("one", "v1", "a1", "words"))
	insertLines(t, db, "one", first, line("one", "v2", "a2", "words"))
	update(t, db, func(tx *Tx) error {
		if err := tx.RewriteRecords(Findings.Name(), func(old []byte) ([]byte, error) {
			return []byte(strings.ReplaceAll(string(old), "words", "terms")), nil
		}); err != nil {
			return err
		}
		return deletePacks(tx, "one", "a1")
	})
	view(t, db, func(tx *Tx) error {
		f, err := Findings.Get(tx, "one", "a2")
		if is(t, "Get", err, nil); !strings.HasPrefix(f.Condition, "terms ") || f.VersionID != "v2" {
			t.Errorf("%.20q of %s", f.Condition, f.VersionID)
		}
		return nil
	})
}
