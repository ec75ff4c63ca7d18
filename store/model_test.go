package store

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/scf-service/service/store/kv"
)

// checkIndexes compares every index and tally of a table with the entries derived from its records.
func checkIndexes[R any](t testing.TB, tx *Tx, table *Table[R]) {
	t.Helper()
	want := map[string][]byte{}
	for p, err := range table.untyped.inPrimaryOrder().scanRecords(tx) {
		if err != nil {
			t.Fatal(err)
		}
		entries, err := table.untyped.indexEntries(p.record, p.primary)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			want[e.table+"\x00"+string(e.key)] = p.primary
		}
	}
	got := 0
	for _, ix := range table.untyped.indexes {
		for p, err := range tx.kv.Scan(ix.table, kv.Range{}) {
			if err != nil {
				t.Fatal(err)
			}
			value, err := tx.kv.verifiedValue(ix.table, p)
			is(t, "Value", err, nil)
			value, err = primaryOfEntry(p.Key, value)
			is(t, "primaryOfEntry", err, nil)
			if primary := want[ix.table+"\x00"+string(p.Key)]; !bytes.Equal(primary, value) {
				t.Fatalf("index %s: %v leads to %v, want %v", ix.table, Key{b: p.Key}, Key{b: value}, Key{b: primary})
			}
			got++
		}
	}
	if got != len(want) {
		t.Fatalf("%s: %d index entries, want %d", table.Name(), got, len(want))
	}
	checkTallies(t, tx, table.untyped)
}

// checkTallies compares every tally of a table with the sums over its records.
func checkTallies(t testing.TB, tx *Tx, s *untypedTable) {
	t.Helper()
	is(t, "flushTallies", tx.flushTallies(), nil)
	fresh := &Tx{ctx: tx.ctx, kv: tx.kv, db: tx.db}
	for p, err := range s.inPrimaryOrder().scanRecords(tx) {
		if err != nil {
			t.Fatal(err)
		}
		entries, err := s.indexEntries(p.record, p.primary)
		is(t, "indexEntries", err, nil)
		is(t, "tallyChange", s.tallyChange(fresh, p.primary, nil, p.record, entries, nil), nil)
	}
	maps.DeleteFunc(fresh.tallies, func(_ tallyRef, n int64) bool { return n == 0 })
	n := 0
	for _, y := range s.tallies {
		for a, err := range tx.scanTally(y, scanOptions{}) {
			if want := fresh.tallies[tallyRef{y.table, string(a.Key.b)}]; err != nil || int64(a.N) != want {
				t.Fatalf("%s %s: got %d, %v, want %d", y.table, a.Key, a.N, err, want)
			}
			n++
		}
	}
	if n != len(fresh.tallies) {
		t.Fatalf("%s: %d numbers, want %d", s.def.name, n, len(fresh.tallies))
	}
}

// TestTableModel compares the effects of random operations, with rollbacks, on a table and on a map.
func TestTableModel(t *testing.T) { checkTableModel(t, openNew(t)) }

func TestTableModelInPostgreSQL(t *testing.T) {
	o := options(t.TempDir())
	o.Driver = openPostgres(t)
	checkTableModel(t, open(t, o))
}

func checkTableModel(t *testing.T, db *DB) {
	t.Helper()
	r := rand.New(rand.NewPCG(9, 10))
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	orgs := []string{"one", "one\x00", "two"}
	undo := errors.New("undo")
	kept := map[[2]string]document{}
	for round := range 120 {
		m := maps.Clone(kept)
		rollback := r.IntN(5) == 0
		err := db.Update(t.Context(), func(tx *Tx) error {
			for range r.IntN(25) {
				d := document{
					OrganizationID: pick(orgs...), ID: fmt.Sprint(r.IntN(12)), Name: pick("a", "b", "a\x00", ""),
					Hash: pick("", "", "x", "y", "z"), Created: day.Add(time.Duration(r.IntN(5)) * time.Hour),
				}
				at := [2]string{d.OrganizationID, d.ID}
				_, exists := m[at]
				hashTaken := false
				for k, other := range m {
					hashTaken = hashTaken || k != at && other.OrganizationID == d.OrganizationID && d.Hash != "" && other.Hash == d.Hash
				}
				switch r.IntN(5) {
				case 0, 1:
					err := documents.Insert(tx, d.OrganizationID, &d)
					if exists || hashTaken {
						is(t, "Insert", err, ErrExists)
					} else if is(t, "Insert", err, nil); err == nil {
						m[at] = d
					}
				case 2:
					err := documents.Put(tx, d.OrganizationID, &d)
					if hashTaken {
						is(t, "Put", err, ErrExists)
					} else if is(t, "Put", err, nil); err == nil {
						m[at] = d
					}
				case 3:
					err := documents.Update(tx, d.OrganizationID, &d)
					switch {
					case !exists:
						is(t, "Update", err, ErrNotFound)
					case hashTaken:
						is(t, "Update", err, ErrExists)
					default:
						is(t, "Update", err, nil)
						m[at] = d
					}
				case 4:
					err := documents.Delete(tx, d.OrganizationID, d.ID)
					if exists {
						is(t, "Delete", err, nil)
						delete(m, at)
					} else {
						is(t, "Delete", err, ErrNotFound)
					}
				}
			}
			checkIndexes(t, tx, documents.AcrossTenants())
			if rollback {
				return undo
			}
			return nil
		})
		if rollback {
			is(t, "rollback", err, undo)
		} else {
			is(t, "Update", err, nil)
			kept = m
		}
		view(t, db, func(tx *Tx) error {
			checkIndexes(t, tx, documents.AcrossTenants())
			for _, org := range orgs {
				var want []document
				for _, d := range kept {
					if d.OrganizationID == org {
						want = append(want, d)
					}
				}
				got := collect(t, documents.By("by_created").Scan(tx, org), func(d document) string { return fmt.Sprint(d) })
				var expected []string
				slices.SortFunc(want, func(a, b document) int {
					return bytes.Compare(K(a.Created, a.ID).b, K(b.Created, b.ID).b)
				})
				for _, d := range want {
					expected = append(expected, fmt.Sprint(d))
				}
				same(t, fmt.Sprintf("round %d, %q", round, org), got, expected...)
			}
			return nil
		})
	}
}
