package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

func TestNatural(t *testing.T) {
	in := []string{"GOV-10", "gov-2", "GOV-02.1", "AC-1", "", "9", "10", "Zebra 3b", "Zebra 3a"}
	slices.SortStableFunc(in, func(a, b string) int {
		return slices.Compare([]byte(store.NaturalSortKey(a)), []byte(store.NaturalSortKey(b)))
	})
	if got, want := fmt.Sprintf("%q", in), `["" "9" "10" "AC-1" "gov-2" "GOV-02.1" "GOV-10" "Zebra 3a" "Zebra 3b"]`; got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

var byState = []store.SortBy[api.Assessment]{
	{Name: "name", Value: func(a *api.Assessment) any { return a.Name }},
	{Name: "revision", Value: func(a *api.Assessment) any { return a.Revision }},
}

func TestSortSlice(t *testing.T) {
	all := []api.Assessment{{Name: "a", Revision: 1}, {Name: "ab", Revision: 2}, {Name: "b", Revision: 1}, {Name: "a\x00", Revision: 1}}
	if err := store.SortSlice(all, "revision,-name", byState); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range all {
		got = append(got, a.Name)
	}
	if want := []string{"b", "a\x00", "a", "ab"}; !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
	if err := store.SortSlice(all, "colour", byState); !api.IsCode(err, api.CodeValidation) {
		t.Errorf("an unknown field is %v", err)
	}
}

// TestSortedListIsStableUnderWrites checks that an unchanged record is listed exactly once, whatever changes between
// two pages.
func TestSortedListIsStableUnderWrites(t *testing.T) {
	n := 0
	db, err := store.Open(
		t.Context(),
		store.Options{Dir: t.TempDir(), Schema: store.ServiceSchema, Clock: time.Now, NewID: func() string { n++; return fmt.Sprint(n) }},
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	put := func(id, name string, revision int) {
		t.Helper()
		a := api.Assessment{TenantRecord: api.TenantRecord{Record: api.Record{ID: id}, OrganizationID: "o"}, Name: name, Revision: revision}
		if err := db.Update(t.Context(), func(tx *store.Tx) error { return store.Assessments.Put(tx, "o", &a) }); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 30 {
		put(fmt.Sprintf("id-%02d", i), fmt.Sprintf("name %02d", i*7%30), i%4)
	}
	touched := map[string]bool{}
	seen := map[string]int{}
	p := api.Paging{Limit: 4}
	for page := 0; ; page++ {
		l, err := store.SortedList(t.Context(), db, store.Assessments, "o", p, "-revision,name", byState, store.PageQuery[api.Assessment]{})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range l.Data {
			seen[a.ID]++
		}
		if !l.Pagination.HasMore {
			break
		}
		p.Cursor = *l.Pagination.NextCursor
		// Move the record at the cursor, delete one, and add one before and one after it.
		last := l.Data[len(l.Data)-1]
		touched[last.ID] = true
		put(last.ID, "moved", 9-page%2*9)
		gone := fmt.Sprintf("id-%02d", page)
		touched[gone] = true
		if err := db.Update(t.Context(), func(tx *store.Tx) error {
			if has, err := store.Assessments.Has(tx, "o", gone); err != nil || !has {
				return err
			}
			return store.Assessments.Delete(tx, "o", gone)
		}); err != nil {
			t.Fatal(err)
		}
		for _, revision := range []int{0, 3} {
			id := fmt.Sprintf("new-%d-%d", page, revision)
			touched[id] = true
			put(id, "new", revision)
		}
	}
	for i := range 30 {
		if id := fmt.Sprintf("id-%02d", i); !touched[id] && seen[id] != 1 {
			t.Errorf("%s was seen %d times", id, seen[id])
		}
	}
	// A cursor is only valid for one sort order.
	if _, err := store.SortedList(t.Context(), db, store.Assessments, "o", p, "name", byState, store.PageQuery[api.Assessment]{}); !api.IsCode(
		err,
		api.CodeValidation,
	) {
		t.Errorf("a cursor of another order is %v", err)
	}
}
