package store

import (
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"
)

// collect returns the names of the records in a scan, as given by name.
func collect[R any](t testing.TB, scan iter.Seq2[R, error], name func(R) string) []string {
	t.Helper()
	got := []string{}
	for r, err := range scan {
		if err != nil {
			t.Fatalf("scan: %v", err)
		}
		got = append(got, name(r))
	}
	return got
}

func code(c control) string { return c.Code }
func id(d document) string  { return d.ID }

func same(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%s: got %q, want %q", what, got, want)
	}
}

func is(t testing.TB, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("%s: got error %v, want %v", what, err, want)
	}
}

func TestTable(t *testing.T) {
	db := openNew(t)
	update(t, db, func(tx *Tx) error {
		for _, c := range []control{
			{Code: "GOV-01", Domain: "GOV", Weight: 10, Tags: []string{"policy", "board", "policy"}},
			{Code: "GOV-02", Domain: "GOV", Weight: 2, Tags: []string{"policy"}},
			{Code: "IAC-01", Domain: "IAC", Weight: 9},
		} {
			is(t, "Insert", controls.Insert(tx, &c), nil)
		}
		return nil
	})
	update(t, db, func(tx *Tx) error {
		err := controls.Insert(tx, &control{Code: "GOV-01"})
		is(t, "Insert again", err, ErrExists)
		var exists *ExistsError
		if !errors.As(err, &exists) || exists.Table != "controls" || exists.Index != "" {
			t.Errorf("the error doesn't say what exists: %#v", err)
		}
		_, err = controls.Get(tx, "GOV-03")
		is(t, "Get of none", err, ErrNotFound)
		is(t, "Delete of none", controls.Delete(tx, "GOV-03"), ErrNotFound)
		is(t, "Update of none", controls.Update(tx, &control{Code: "GOV-03"}), ErrNotFound)
		is(t, "key without parts", controls.Delete(tx), ErrBadKey)
		_, err = controls.Get(tx, 1.5)
		is(t, "key of a float", err, ErrBadKey)
		is(t, "Put without a key", controls.Put(tx, &control{}), nil) // an empty string is a valid key

		same(t, "by tag", collect(t, controls.By("by_tag").Scan(tx, Prefix("policy")), code), "GOV-01", "GOV-02")
		is(t, "Put", controls.Put(tx, &control{Code: "GOV-01", Domain: "GOV", Weight: 1, Tags: []string{"board"}}), nil)
		same(t, "by tag after Put", collect(t, controls.By("by_tag").Scan(tx, Prefix("policy")), code), "GOV-02")
		same(t, "by weight", collect(t, controls.By("by_domain").Scan(tx, Prefix("GOV")), code), "GOV-01", "GOV-02")
		is(t, "Delete", controls.Delete(tx, "GOV-02"), nil)
		same(t, "by tag after Delete", collect(t, controls.By("by_tag").Scan(tx), code), "GOV-01")
		is(t, "Delete", controls.Delete(tx, ""), nil)
		return nil
	})
	view(t, db, func(tx *Tx) error {
		c, err := controls.Get(tx, "GOV-01")
		is(t, "Get", err, nil)
		if c.Weight != 1 || !slices.Equal(c.Tags, []string{"board"}) {
			t.Errorf("got %+v", c)
		}
		same(t, "all", collect(t, controls.Scan(tx), code), "GOV-01", "IAC-01")
		is(t, "Put in a view", controls.Put(tx, &c), ErrReadOnlyTx)
		_, err = controls.By("by_colour").Get(tx, "x")
		is(t, "no such index", err, ErrUnknownTable)
		_, err = controls.By("by_tag").Get(tx, "board")
		is(t, "Get by an index that isn't unique", err, ErrUnknownTable)
		return nil
	})
}

func TestScanOptions(t *testing.T) {
	db := openNew(t)
	codes := []string{"AST-01", "GOV-01", "GOV-01.1", "GOV-02", "GOV-10", "GOVX-1", "IAC-01"}
	update(t, db, func(tx *Tx) error {
		for i, c := range codes {
			domain, _, _ := strings.Cut(c, "-")
			is(t, "Insert", controls.Insert(tx, &control{Code: c, Domain: domain, Weight: i}), nil)
		}
		return nil
	})
	view(t, db, func(tx *Tx) error {
		for _, tt := range []struct {
			name    string
			options []ScanOption
			want    []string
		}{
			{"all", nil, codes},
			{"one", []ScanOption{Prefix("GOV-01")}, codes[1:2]},
			{"from", []ScanOption{From("GOV-02")}, codes[3:]},
			{"through", []ScanOption{Through("GOV-02")}, codes[:4]},
			{"between, backwards", []ScanOption{From("GOV-01.1"), Through("GOV-10"), Reverse}, []string{"GOV-10", "GOV-02", "GOV-01.1"}},
			{"nothing", []ScanOption{Prefix("GOV")}, nil},
		} {
			same(t, tt.name, collect(t, controls.Scan(tx, tt.options...), code), tt.want...)
		}
		same(
			t,
			"index behind a prefix",
			collect(t, controls.By("by_domain").Scan(tx, Prefix("GOV"), From(2), Through(3)), code),
			"GOV-01.1",
			"GOV-02",
		)
		same(
			t,
			"index through",
			collect(t, controls.By("by_domain").Scan(tx, Prefix("GOV"), Through(2), Reverse), code),
			"GOV-01.1",
			"GOV-01",
		)
		n, err := controls.By("by_domain").Count(tx, "GOV")
		if is(t, "Count", err, nil); n != 4 {
			t.Errorf("counted %d", n)
		}
		for c, err := range controls.Scan(tx) {
			is(t, "Scan", err, nil)
			if c.Code != codes[0] {
				t.Errorf("did not begin at the first: %s", c.Code)
			}
			break
		}
		return nil
	})
	update(t, db, func(tx *Tx) error {
		_, err := controls.DeleteAll(tx)
		is(t, "DeleteAll without a prefix", err, ErrBadKey)
		for c, err := range controls.Scan(tx, From("GOV"), Through("GOVX-1")) {
			is(t, "Scan", err, nil)
			is(t, "Delete in a scan", controls.Delete(tx, c.Code), nil)
		}
		same(t, "left", collect(t, controls.Scan(tx), code), "AST-01", "IAC-01")
		same(t, "left in the index", collect(t, controls.By("by_domain").Scan(tx), code), "AST-01", "IAC-01")
		return nil
	})
}

func TestTenantTable(t *testing.T) {
	db := openNew(t)
	one := document{OrganizationID: "one", ID: "d1", Name: "Policy", Hash: "h", Created: day}
	two := document{OrganizationID: "two", ID: "d1", Name: "Plan", Hash: "h", Created: day.Add(time.Hour)}
	update(t, db, func(tx *Tx) error {
		is(t, "another's", documents.Insert(tx, "two", &one), ErrWrongTenant)
		is(t, "nobody's", documents.Insert(tx, "", &one), ErrNoTenant)
		is(t, "nobody's record", documents.Insert(tx, "", &document{ID: "x"}), ErrNoTenant)
		is(t, "nobody's record, across", documents.AcrossTenants().Insert(tx, &document{ID: "x"}), ErrNoTenant)
		is(t, "Insert", documents.Insert(tx, "one", &one), nil)
		is(t, "the same hash elsewhere", documents.Insert(tx, "two", &two), nil)

		err := documents.Insert(tx, "one", &document{OrganizationID: "one", ID: "d2", Hash: "h"})
		is(t, "the same hash", err, ErrExists)
		var exists *ExistsError
		if !errors.As(err, &exists) || exists.Index != "by_hash" {
			t.Errorf("the error doesn't name the index: %v", err)
		}
		has, err := documents.Has(tx, "one", "d2")
		if is(t, "Has", err, nil); has {
			t.Error("a refused insert left the record")
		}
		same(t, "by name", collect(t, documents.By("by_name").Scan(tx, "one"), id), "d1")
		return nil
	})
	view(t, db, func(tx *Tx) error {
		d, err := documents.Get(tx, "two", "d1")
		if is(t, "Get", err, nil); d != two {
			t.Errorf("got %+v", d)
		}
		_, err = documents.Get(tx, "three", "d1")
		is(t, "Get elsewhere", err, ErrNotFound)
		_, err = documents.Get(tx, "", "d1")
		is(t, "Get without", err, ErrNoTenant)
		_, err = documents.Get(tx, "one")
		is(t, "Get with the organization forgotten", err, ErrBadKey)
		_, err = documents.Page(tx, "", PageQuery[document]{})
		is(t, "Page without", err, ErrNoTenant)
		for _, err := range documents.Scan(tx, "") {
			is(t, "Scan without", err, ErrNoTenant)
		}
		for _, err := range documents.By("by_name").Scan(tx, "") {
			is(t, "index scan without", err, ErrNoTenant)
		}
		d, err = documents.By("by_hash").Get(tx, "two", "h")
		if is(t, "by hash", err, nil); d.Name != "Plan" {
			t.Errorf("got another organization's: %+v", d)
		}
		_, err = documents.By("by_hash").Get(tx, "two")
		is(t, "by hash without", err, ErrBadKey)
		same(t, "Scan", collect(t, documents.Scan(tx, "one"), id), "d1")
		same(t, "Through stays inside", collect(t, documents.By("by_name").Scan(tx, "one", Through("Q")), id), "d1")
		same(t, "From stays inside", collect(t, documents.By("by_created").Scan(tx, "one", From(day.Add(time.Minute))), id))
		n, err := documents.AcrossTenants().Count(tx)
		if is(t, "Count", err, nil); n != 2 {
			t.Errorf("counted %d", n)
		}
		return nil
	})
	update(t, db, func(tx *Tx) error {
		one.Hash = "" // removes the record from the index
		is(t, "Update", documents.Update(tx, "one", &one), nil)
		is(t, "hash is free", documents.Insert(tx, "one", &document{OrganizationID: "one", ID: "d2", Hash: "h"}), nil)
		one.Hash = "h"
		is(t, "hash is taken", documents.Update(tx, "one", &one), ErrExists)
		n, err := documents.DeleteAll(tx, "one")
		if is(t, "DeleteAll", err, nil); n != 2 {
			t.Errorf("deleted %d", n)
		}
		n, err = documents.Count(tx, "two")
		if is(t, "Count", err, nil); n != 1 {
			t.Errorf("%d left of another organization", n)
		}
		return nil
	})
}

// TestKeyTooLongIsNotFound checks that a key that is too long to have been written is reported as not found, not as a
// failure of the database.
func TestKeyTooLongIsNotFound(t *testing.T) {
	db := openNew(t)
	err := db.View(t.Context(), func(tx *Tx) error {
		_, err := controls.Get(tx, strings.Repeat("x", 5000))
		return err
	})
	if !errors.Is(err, ErrNotFound) {
		t.Errorf("%v", err)
	}
}
