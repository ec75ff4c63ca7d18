package store

import (
	"fmt"
	"slices"
	"testing"
)

// TestIDsKeepTheirOrder checks that IDs sort in the order in which they were issued, within a process and across
// processes, even if the clock is set back.
func TestIDsKeepTheirOrder(t *testing.T) {
	dir, at := t.TempDir(), 9
	o := options(dir)
	o.NewID = func() string { return fmt.Sprintf("01a1f961-dfe%x-7fff-bfff-8fffffffff%02x", at, at) }
	var all []string
	give := func(db *DB, n int) {
		update(t, db, func(tx *Tx) error {
			for range n {
				all = append(all, tx.NewID())
			}
			return nil
		})
	}
	db := open(t, o)
	give(db, 3)
	at = 5
	give(db, 300)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	at = 2
	db = open(t, o)
	give(db, 2)
	at = 11
	give(db, 1)
	seen := map[string]bool{}
	for _, id := range all {
		if seen[id] || len(id) != 36 || id[14] != '7' {
			t.Errorf("%s", id)
		}
		seen[id] = true
	}
	if !slices.IsSorted(all) || all[len(all)-1] != o.NewID() {
		t.Errorf("%v", all)
	}
}

func TestNextUUID(t *testing.T) {
	for id, want := range map[string]string{
		"01a1f961-dfe7-70c2-b4d0-8a142159608b": "01a1f961-dfe7-70c2-b4d0-8a142159608c",
		"01a1f961-dfe7-70c2-b4d0-8a14215960ff": "01a1f961-dfe7-70c2-b4d0-8a1421596100",
		"01a1f961-dfe7-70c2-b4d0-ffffffffffff": "",
		"id-0004":                              "",
		"01a1f961-dfe7-40c2-b4d0-8a142159608b": "",
	} {
		if got, ok := incrementUUID(id); got != want || ok != (want != "") {
			t.Errorf("after %s: %q %v", id, got, ok)
		}
	}
}
