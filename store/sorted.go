package store

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/scf-service/service/engine/api"
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
	order, err := orderOf(sort, by)
	if err != nil {
		return nil, err
	}
	if org == "" {
		return nil, fmt.Errorf("%s: %w", t.Name(), ErrNoTenant)
	}
	q.Prefix = K(org).Join(q.Prefix)
	name := append(t.all.listName(q), sort...)
	after, err := db.openCursor(p.Cursor, name)
	if err != nil {
		return nil, badCursor(err)
	}
	var all []placed[R]
	out := &api.List[R]{Data: []R{}, Pagination: api.Pagination{Limit: p.Limit}}
	err = db.View(ctx, func(tx *Tx) error {
		for r, err := range q.scan(t.all, tx) {
			if err != nil {
				return err
			}
			if q.Filter != nil && !q.Filter(&r) {
				continue
			}
			out.Pagination.Total++
			place, err := order(&r, t.all.key(&r))
			if err != nil {
				return fmt.Errorf("%s: %w", t.Name(), err)
			}
			if after == nil || bytes.Compare(place, after) > 0 {
				all = append(all, placed[R]{place, r})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b placed[R]) int { return bytes.Compare(a.place, b.place) })
	limit := p.Limit
	if limit <= 0 {
		limit = PageLimit
	}
	out.Pagination.Limit = limit
	for _, one := range all[:min(limit, len(all))] {
		out.Data = append(out.Data, one.record)
	}
	if len(all) > limit {
		next := db.sealCursor(all[limit-1].place, name)
		out.Pagination.NextCursor, out.Pagination.HasMore = &next, true
	}
	return out, nil
}

// SortSlice sorts records in memory as SortedList does; equal ones stay as they
// were. An empty order changes nothing.
func SortSlice[R any](all []R, sort string, by []SortBy[R]) error {
	if sort == "" {
		return nil
	}
	order, err := orderOf(sort, by)
	if err != nil {
		return err
	}
	placedAll := make([]placed[R], len(all))
	for i := range all {
		place, err := order(&all[i], Key{})
		if err != nil {
			return err
		}
		placedAll[i] = placed[R]{place, all[i]}
	}
	slices.SortStableFunc(placedAll, func(a, b placed[R]) int { return bytes.Compare(a.place, b.place) })
	for i := range all {
		all[i] = placedAll[i].record
	}
	return nil
}

// placed is a record with its place in an order.
type placed[R any] struct {
	place  []byte
	record R
}

// scan goes through what a page is cut from.
func (q PageQuery[R]) scan(t *Table[R], tx *Tx) iter.Seq2[R, error] {
	options := []ScanOption{func(s *scan) { s.prefix = q.Prefix }}
	if q.Index != "" {
		return t.By(q.Index).Scan(tx, options...)
	}
	return t.Scan(tx, options...)
}

// orderOf makes the function that tells a record's place: the bytes of its fields,
// turned over where the order goes down, and of its primary key.
func orderOf[R any](sort string, by []SortBy[R]) (func(*R, Key) ([]byte, error), error) {
	var names []string
	for _, f := range by {
		names = append(names, f.Name)
	}
	fields, err := api.ParseSort(sort, names)
	if err != nil {
		return nil, err
	}
	return func(r *R, primary Key) ([]byte, error) {
		var place []byte
		for _, f := range fields {
			k := K(by[slices.Index(names, f.Name)].Of(r))
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
