package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// TestMemo checks that a value is computed once, and again after a change to its tables, and that neither errors nor
// more values than the limit are cached.
func TestMemo(t *testing.T) {
	db, err := store.Open(
		t.Context(),
		store.Options{Dir: t.TempDir(), Schema: store.ServiceSchema, Clock: time.Now, NewID: func() string { return "x" }},
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	reads := 0
	m := store.NewCache[int](db, 2, store.Organizations)
	get := func(name string, want int) {
		t.Helper()
		got, err := m.GetOrCompute(name, func() (int, error) { reads++; return reads, nil })
		if err != nil || got != want {
			t.Errorf("%s: %d, %v, want %d", name, got, err, want)
		}
	}
	get("a", 1)
	get("a", 1)
	write := func(name string) {
		t.Helper()
		if err := db.Update(t.Context(), func(tx *store.Tx) error {
			if name == "organizations" {
				return store.Organizations.Put(tx, &api.Organization{Record: api.Record{ID: "0198c5d0-0000-7000-8000-000000000001"}, Slug: "acme"})
			}
			return store.Settings.Put(tx, &store.Setting{Name: "x"})
		}); err != nil {
			t.Fatal(err)
		}
	}
	write("settings") // another table
	get("a", 1)
	write("organizations")
	get("a", 2)
	if _, err := m.GetOrCompute("b", func() (int, error) { return 0, errors.New("no") }); err == nil {
		t.Error("no error")
	}
	get("b", 3)
	get("c", 4) // the cache is full: the other values are evicted
	get("a", 5)
}
