package store

import (
	"encoding/base64"
	"fmt"
	"slices"
	"testing"
)

func fillControls(t testing.TB, db *DB, n int) {
	t.Helper()
	update(t, db, func(tx *Tx) error {
		for i := range n {
			c := control{Code: fmt.Sprintf("C-%04d", i), Domain: fmt.Sprintf("D%d", i%2), Weight: i / 10, Tags: []string{"all"}}
			if err := controls.Insert(tx, &c); err != nil {
				return err
			}
		}
		return nil
	})
}

func codes(cs []control) []string {
	var s []string
	for _, c := range cs {
		s = append(s, c.Code)
	}
	return s
}

// TestPages checks that paging through a list yields the same records as a scan, for every order and filter.
func TestPages(t *testing.T) {
	db := openNew(t)
	fillControls(t, db, 103)
	even := func(c *control) bool { return c.Code[5]%2 == 0 }
	for _, q := range []PageQuery[control]{
		{},
		{Reverse: true},
		{Index: "by_domain", Prefix: K("D1")},
		{Index: "by_domain", Prefix: K("D1"), Reverse: true},
		{Index: "by_tag"},
		{Filter: even},
		{Filter: even, Reverse: true, Index: "by_domain"},
		{Filter: func(*control) bool { return false }},
		{Prefix: K("nothing")},
	} {
		for _, limit := range []int{1, 7, 50, 103, 1000} {
			for _, noTotal := range []bool{false, true} {
				name := fmt.Sprintf("%q reverse %v filter %v limit %d", q.Index, q.Reverse, q.Filter != nil, limit)
				view(t, db, func(tx *Tx) error {
					options := []ScanOption{func(s *scanOptions) { s.prefix = q.Prefix; s.reverse = q.Reverse }}
					scan := controls.Scan(tx, options...)
					if q.Index != "" {
						scan = controls.By(q.Index).Scan(tx, options...)
					}
					var want []string
					for c, err := range scan {
						is(t, name, err, nil)
						if q.Filter == nil || q.Filter(&c) {
							want = append(want, c.Code)
						}
					}
					var got []string
					q := q
					q.Limit, q.SkipTotal = limit, noTotal
					for {
						p, err := controls.Page(tx, q)
						is(t, name, err, nil)
						if total := p.Total; noTotal != (total == -1) || !noTotal && total != len(want) {
							t.Fatalf("%s: total %d of %d", name, total, len(want))
						}
						if len(p.Items) > limit || len(p.Items) < limit && p.Next != "" {
							t.Fatalf("%s: a page of %d, next %q", name, len(p.Items), p.Next)
						}
						got = append(got, codes(p.Items)...)
						if q.Cursor = p.Next; q.Cursor == "" {
							break
						}
					}
					if !slices.Equal(got, want) {
						t.Fatalf("%s: got %q, want %q", name, got, want)
					}
					return nil
				})
			}
		}
	}
}

// TestPageWhileChanging checks that adding or deleting records between two pages causes no other records to be
// repeated or omitted.
func TestPageWhileChanging(t *testing.T) {
	db := openNew(t)
	fillControls(t, db, 20)
	var first Page[control]
	view(t, db, func(tx *Tx) (err error) {
		first, err = controls.Page(tx, PageQuery[control]{Limit: 5})
		return err
	})
	update(t, db, func(tx *Tx) error {
		is(t, "Delete", controls.Delete(tx, "C-0004"), nil) // the record at the cursor
		is(t, "Insert before", controls.Insert(tx, &control{Code: "A"}), nil)
		return controls.Insert(tx, &control{Code: "C-0004.1"})
	})
	view(t, db, func(tx *Tx) error {
		p, err := controls.Page(tx, PageQuery[control]{Limit: 3, Cursor: first.Next})
		is(t, "Page", err, nil)
		same(t, "second page", codes(p.Items), "C-0004.1", "C-0005", "C-0006")
		return nil
	})
}

func TestCursor(t *testing.T) {
	dir := t.TempDir()
	db := open(t, options(dir))
	other := openNew(t)
	fillControls(t, db, 20)
	q := PageQuery[control]{Limit: 5}
	var cursor string
	view(t, db, func(tx *Tx) error {
		p, err := controls.Page(tx, q)
		cursor = p.Next
		return err
	})
	try := func(db *DB, q PageQuery[control], cursor string) (err error) {
		q.Cursor = cursor
		view(t, db, func(tx *Tx) error { _, err = controls.Page(tx, q); return nil })
		return err
	}
	is(t, "as given", try(db, q, cursor), nil)
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	is(t, "decoding", err, nil)
	for i := range raw {
		changed := slices.Clone(raw)
		changed[i] ^= 1
		is(t, "a bit changed", try(db, q, base64.RawURLEncoding.EncodeToString(changed)), ErrBadCursor)
		is(t, "cut short", try(db, q, base64.RawURLEncoding.EncodeToString(raw[:max(i, 1)])), ErrBadCursor)
	}
	is(t, "not base64", try(db, q, "%"), ErrBadCursor)
	is(t, "endless", try(db, q, string(make([]byte, 1<<20))), ErrBadCursor)
	is(t, "another direction", try(db, PageQuery[control]{Reverse: true}, cursor), ErrBadCursor)
	is(t, "another index", try(db, PageQuery[control]{Index: "by_tag"}, cursor), ErrBadCursor)
	is(t, "another prefix", try(db, PageQuery[control]{Prefix: K("C")}, cursor), ErrBadCursor)
	is(t, "another database", try(other, q, cursor), ErrBadCursor)
	is(t, "no such index", try(db, PageQuery[control]{Index: "by_colour"}, ""), ErrUnknownTable)

	is(t, "Close", db.Close(), nil)
	is(t, "after reopening", try(open(t, options(dir)), q, cursor), nil)
}

func FuzzCursor(f *testing.F) {
	db := &DB{meta: databaseMeta{Secret: "secret"}}
	list := []byte("list")
	f.Add(db.encodeCursor([]byte("place"), list))
	f.Add("AAAAAAAAAAAAAAAAAAAAAAAA")
	f.Fuzz(func(t *testing.T, cursor string) {
		at, err := db.decodeCursor(cursor, list)
		if err == nil && cursor != "" && db.encodeCursor(at, list) != cursor {
			t.Fatalf("%q was taken and is not ours", cursor)
		}
	})
}
