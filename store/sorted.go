package store

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
)

// SortBy is a field that a list can be sorted by. Of gives a part of a Key: text,
// an integer, a time or a bool.
type SortBy[R any] struct {
	Name string
	Of   func(*R) any
}

// SortedList is List in an order the caller asks for, as api.ParseSort reads it;
// in the table's own where that is empty. It reads the whole list for a page.
//
// A cursor names a place in the order, not a record: whatever is added, changed or
// deleted between two pages, no other record is repeated or left out.
func SortedList[R any](ctx context.Context, db *DB, t *TenantTable[R], org string, p api.Paging, sort string, by []SortBy[R], q PageQuery[R]) (*api.List[R], error) {
	if sort == "" {
		return List(ctx, db, t, org, p, q)
	}
	if org == "" {
		return nil, noTenant(t.Name())
	}
	if p.Limit <= 0 {
		p.Limit = PageLimit
	}
	q.Prefix, q.Cursor, q.Limit = K(org).Join(q.Prefix), p.Cursor, p.Limit
	page, err := pageOf[R](t.all.shelf.sorted(ctx, db, sort, fieldsOfOrder(by), q.plain()))
	if err != nil {
		return nil, badCursor(err)
	}
	return listOf(page, p), nil
}

// field is a SortBy without the type of its records.
type field struct {
	name string
	of   func(any) any
}

func fieldsOfOrder[R any](by []SortBy[R]) []field {
	out := make([]field, len(by))
	for i, f := range by {
		out[i] = field{f.Name, func(r any) any { return f.Of(r.(*R)) }}
	}
	return out
}

// sorted is SortedList; the query has its limit.
func (s *shelf) sorted(ctx context.Context, db *DB, sort string, by []field, q listed) (page Page[any], err error) {
	order, err := orderOf(sort, by)
	if err != nil {
		return page, err
	}
	name := append(s.listName(q), sort...)
	after, err := db.openCursor(q.Cursor, name)
	if err != nil {
		return page, err
	}
	var all []placed
	err = db.View(ctx, func(tx *Tx) error {
		for p, err := range s.order(q).pairs(tx, func(in *scan) { in.prefix = q.Prefix }) {
			if err != nil {
				return err
			}
			if q.keep != nil && !q.keep(p.record) {
				continue
			}
			page.Total++
			place, err := order(p.record, s.key(p.record))
			if err != nil {
				return fmt.Errorf("%s: %w", s.def.name, err)
			}
			if after == nil || bytes.Compare(place, after) > 0 {
				all = append(all, placed{place, p.record})
			}
		}
		return nil
	})
	if err != nil {
		return page, err
	}
	slices.SortFunc(all, func(a, b placed) int { return bytes.Compare(a.place, b.place) })
	for _, one := range all[:min(q.Limit, len(all))] {
		page.Items = append(page.Items, one.record)
	}
	if len(all) > q.Limit {
		page.Next = db.sealCursor(all[q.Limit-1].place, name)
	}
	return page, nil
}

// SortSlice sorts records in memory as SortedList does; equal ones stay as they
// were. An empty order changes nothing.
func SortSlice[R any](all []R, sort string, by []SortBy[R]) error {
	if sort == "" {
		return nil
	}
	order, err := orderOf(sort, fieldsOfOrder(by))
	if err != nil {
		return err
	}
	was := slices.Clone(all)
	sorted := make([]placed, len(all))
	for i := range was {
		place, err := order(&was[i], Key{})
		if err != nil {
			return err
		}
		sorted[i] = placed{place, &was[i]}
	}
	slices.SortStableFunc(sorted, func(a, b placed) int { return bytes.Compare(a.place, b.place) })
	for i := range all {
		all[i] = *sorted[i].record.(*R)
	}
	return nil
}

// placed is a record with its place in an order.
type placed struct {
	place  []byte
	record any
}

// orderOf makes the function that tells a record's place: the bytes of its fields,
// turned over where the order goes down, and of its primary key.
func orderOf(sort string, by []field) (func(any, Key) ([]byte, error), error) {
	var names []string
	for _, f := range by {
		names = append(names, f.name)
	}
	fields, err := api.ParseSort(sort, names)
	if err != nil {
		return nil, err
	}
	return func(r any, primary Key) ([]byte, error) {
		var place []byte
		for _, f := range fields {
			k := K(by[slices.Index(names, f.Name)].of(r))
			if k.err != nil {
				return nil, fmt.Errorf("sorting by %s: %w", f.Name, k.err)
			}
			for _, b := range k.b {
				if f.Descending {
					b = ^b
				}
				place = append(place, b)
			}
			if f.Descending { // behind a text that goes on with a 00
				place = append(place, 0xFF)
			}
		}
		return append(place, primary.b...), primary.err
	}, nil
}

// Natural is a text that sorts as people count: "GOV-2" before "GOV-10", and
// without regard to case.
func Natural(s string) string {
	var b strings.Builder
	digits := 0
	flush := func(end int) {
		if digits > 0 {
			b.WriteString(strings.Repeat("0", max(0, 12-digits)))
			b.WriteString(s[end-digits : end])
			digits = 0
		}
	}
	s = strings.ToLower(s)
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' {
			digits++
			continue
		}
		flush(i)
		b.WriteByte(s[i])
	}
	flush(len(s))
	return b.String()
}
