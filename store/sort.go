package store

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
)

// SortBy is a field that a list can be sorted by. Value returns a part of a Key: a text, an integer, a time or
// a bool.
type SortBy[R any] struct {
	Name  string
	Value func(*R) any
}

// SortedList is like List, but in the order that sort specifies (see api.ParseSort), unless sort is empty. It
// reads the whole list for each page.
//
// A cursor is a position in the order, not a record: if records are added, changed or deleted between two
// pages, no other record is repeated or omitted.
func SortedList[R any](
	ctx context.Context,
	db *DB,
	t *TenantTable[R],
	org string,
	p api.Paging,
	sort string,
	by []SortBy[R],
	q PageQuery[R],
) (*api.List[R], error) {
	if sort == "" {
		return List(ctx, db, t, org, p, q)
	}
	if org == "" {
		return nil, noTenantError(t.Name())
	}
	if p.Limit <= 0 {
		p.Limit = DefaultPageLimit
	}
	q.Prefix, q.Cursor, q.Limit = K(org).Join(q.Prefix), p.Cursor, p.Limit
	page, err := typedPage[R](t.table.untyped.sortedPage(ctx, db, sort, sortFields(by), q.untyped()))
	if err != nil {
		return nil, toCursorError(err)
	}
	return toList(page, p), nil
}

// sortField is a SortBy without the type of its records.
type sortField struct {
	name  string
	value func(any) any
}

func sortFields[R any](by []SortBy[R]) []sortField {
	out := make([]sortField, len(by))
	for i, f := range by {
		out[i] = sortField{f.Name, func(r any) any { return f.Value(r.(*R)) }}
	}
	return out
}

// sortedPage implements SortedList. The limit must already be set in the query.
func (s *untypedTable) sortedPage(ctx context.Context, db *DB, sort string, by []sortField, q untypedQuery) (page Page[any], err error) {
	order, err := newSortKeyFunc(sort, by)
	if err != nil {
		return page, err
	}
	name := append(s.cursorScope(q), sort...)
	after, err := db.decodeCursor(q.Cursor, name)
	if err != nil {
		return page, err
	}
	var all []sortedRecord
	err = db.View(ctx, func(tx *Tx) error {
		for p, err := range s.orderFor(q).scanRecords(tx, func(in *scanOptions) { in.prefix = q.Prefix }) {
			if err != nil {
				return err
			}
			if q.match != nil && !q.match(p.record) {
				continue
			}
			page.Total++
			place, err := order(p.record, s.key(p.record))
			if err != nil {
				return fmt.Errorf("%s: %w", s.def.name, err)
			}
			if after == nil || bytes.Compare(place, after) > 0 {
				all = append(all, sortedRecord{place, p.record})
			}
		}
		return nil
	})
	if err != nil {
		return page, err
	}
	slices.SortFunc(all, func(a, b sortedRecord) int { return bytes.Compare(a.sortKey, b.sortKey) })
	for _, one := range all[:min(q.Limit, len(all))] {
		page.Items = append(page.Items, one.record)
	}
	if len(all) > q.Limit {
		page.Next = db.encodeCursor(all[q.Limit-1].sortKey, name)
	}
	return page, nil
}

// SortSlice sorts records in memory in the same order as SortedList. The sort is stable. If sort is empty, the order
// doesn't change.
func SortSlice[R any](all []R, sort string, by []SortBy[R]) error {
	if sort == "" {
		return nil
	}
	order, err := newSortKeyFunc(sort, sortFields(by))
	if err != nil {
		return err
	}
	was := slices.Clone(all)
	sorted := make([]sortedRecord, len(all))
	for i := range was {
		place, err := order(&was[i], Key{})
		if err != nil {
			return err
		}
		sorted[i] = sortedRecord{place, &was[i]}
	}
	slices.SortStableFunc(sorted, func(a, b sortedRecord) int { return bytes.Compare(a.sortKey, b.sortKey) })
	for i := range all {
		all[i] = *sorted[i].record.(*R)
	}
	return nil
}

// sortedRecord is a record with its sort key.
type sortedRecord struct {
	sortKey []byte
	record  any
}

// newSortKeyFunc returns a function that computes a record's sort key. The key consists of the fields to sort by,
// followed by the primary key. The bytes of fields in descending order are inverted.
func newSortKeyFunc(sort string, by []sortField) (func(any, Key) ([]byte, error), error) {
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
			k := K(by[slices.Index(names, f.Name)].value(r))
			if k.err != nil {
				return nil, fmt.Errorf("sorting by %s: %w", f.Name, k.err)
			}
			for _, b := range k.b {
				if f.Descending {
					b = ^b
				}
				place = append(place, b)
			}
			if f.Descending { // so that a text sorts after its extensions
				place = append(place, 0xFF)
			}
		}
		return append(place, primary.b...), primary.err
	}, nil
}

// NaturalSortKey returns a key that sorts numbers by value ("GOV-2" before "GOV-10") and ignores
// case.
func NaturalSortKey(s string) string {
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
