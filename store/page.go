package store

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/scf-service/service/store/kv"
)

const (
	// DefaultPageLimit is the page size if the query specifies none.
	DefaultPageLimit = 50
	// MaxPageLimit is the maximum page size.
	MaxPageLimit = 1000

	maxCursor = 2 * kv.MaxKey * 4 / 3
)

// PageQuery selects a page of a list.
type PageQuery[R any] struct {
	Index     string // determines the order of the list; empty for the primary key
	Prefix    Key    // see the option Prefix
	Cursor    string // Page.Next of the previous page; empty for the first
	Limit     int    // 0 means DefaultPageLimit; more than MaxPageLimit means MaxPageLimit
	Reverse   bool
	Filter    func(*R) bool // nil accepts all
	SkipTotal bool          // for long lists: don't count beyond the page
	// Hidden is the number of records that the filter excludes, if known, so that the rest of the list needn't
	// be read to compute the total.
	Hidden *int
}

// FilterIf returns the filter if it is needed, and nil otherwise. Without a filter, the total of a list need not be
// counted (see CountBy).
func FilterIf[R any](needed bool, filter func(*R) bool) func(*R) bool {
	if !needed {
		return nil
	}
	return filter
}

// Page is a part of a list. A cursor marks a position, not an index: if records are inserted or deleted between
// two pages, no others are repeated or omitted.
type Page[R any] struct {
	Items []R
	Next  string // cursor of the next page; empty after the last
	Total int    // records of the whole list that match the filter; -1 with SkipTotal
}

// untypedQuery is a query without the type of its records.
type untypedQuery struct {
	PageQuery[struct{}]
	match func(any) bool // nil accepts all
}

func (q PageQuery[R]) untyped() untypedQuery {
	out := untypedQuery{
		PageQuery: PageQuery[struct{}]{
			Index:     q.Index,
			Prefix:    q.Prefix,
			Cursor:    q.Cursor,
			Limit:     q.Limit,
			Reverse:   q.Reverse,
			Filter:    nil,
			SkipTotal: q.SkipTotal,
			Hidden:    q.Hidden,
		},
	}
	if q.Filter != nil {
		out.match = func(r any) bool { return q.Filter(r.(*R)) }
	}
	return out
}

// typedPage converts a page to its record type.
func typedPage[R any](page Page[any], err error) (Page[R], error) {
	if err != nil {
		return Page[R]{}, err
	}
	out := Page[R]{Items: make([]R, len(page.Items)), Next: page.Next, Total: page.Total}
	for i, r := range page.Items {
		out.Items[i] = *r.(*R)
	}
	return out, nil
}

// orderFor returns the order that the query pages through.
func (s *untypedTable) orderFor(q untypedQuery) orderedTable {
	if q.Index == "" {
		return s.inPrimaryOrder()
	}
	return s.inIndexOrder(q.Index)
}

// page implements Table.Page.
func (s *untypedTable) page(tx *Tx, q untypedQuery) (page Page[any], err error) {
	order := s.orderFor(q)
	if order.err != nil {
		return page, order.err
	}
	if err := tx.checkTable(&s.def, false); err != nil {
		return page, err
	}
	after, err := tx.db.decodeCursor(q.Cursor, s.cursorScope(q))
	if err != nil {
		return page, err
	}
	switch {
	case q.Limit <= 0:
		q.Limit = DefaultPageLimit
	case q.Limit > MaxPageLimit:
		q.Limit = MaxPageLimit
	}
	var last []byte
	in := scanOptions{prefix: q.Prefix, reverse: q.Reverse}
	total, isKept := -1, q.SkipTotal
	if !q.SkipTotal && (q.match == nil || q.Hidden != nil) {
		if total, isKept, err = order.countFromTally(tx, q.Prefix); err != nil {
			return page, err
		}
		if q.Hidden != nil {
			total -= *q.Hidden
		}
	}
	if isKept {
		in.after = after
	}
	if q.match == nil && isKept {
		in.expected = q.Limit + 1
	}
	for p, err := range order.scanPairsOfRecords(tx, in, true) {
		if err != nil {
			return page, err
		}
		wanted := page.Next == "" && (after == nil || isAfter(p.Key, after, q.Reverse))
		if !wanted && isKept {
			break
		}
		if wanted || q.match != nil {
			got, err := order.decodePair(tx, p)
			if err != nil {
				return page, err
			}
			if q.match != nil && !q.match(got.record) {
				continue
			}
			switch {
			case wanted && len(page.Items) < q.Limit:
				page.Items = append(page.Items, got.record)
				last = append(last[:0], p.Key...)
			case wanted: // one more record than the page can hold: there is a next page
				page.Next = tx.db.encodeCursor(last, s.cursorScope(q))
			}
		}
		page.Total++
		if page.Next != "" && isKept {
			break
		}
	}
	if isKept {
		page.Total = total
	}
	return page, nil
}

// isAfter reports whether key comes after position in the list's direction.
func isAfter(key, position []byte, reverse bool) bool {
	c := bytes.Compare(key, position)
	return c != 0 && (c < 0) == reverse
}

// cursorScope returns the data that a cursor is bound to: everything that determines the order and bounds of
// the list. The filter is not included, because it is an arbitrary function.
func (s *untypedTable) cursorScope(q untypedQuery) []byte {
	b := binary.AppendUvarint(nil, uint64(len(s.def.name)))
	b = append(b, s.def.name...)
	b = binary.AppendUvarint(b, uint64(len(q.Index)))
	b = append(b, q.Index...)
	b = appendBool(b, q.Reverse)
	return append(b, q.Prefix.b...)
}

const cursorMACLen = 12

// encodeCursor returns an opaque cursor for a position in a list. It consists of the position and a message
// authentication code.
func (db *DB) encodeCursor(position, scope []byte) string {
	return base64.RawURLEncoding.EncodeToString(append(db.cursorMAC(position, scope), position...))
}

// cursorMAC returns the code that authenticates a cursor's position and scope.
func (db *DB) cursorMAC(position, scope []byte) []byte {
	m := hmac.New(sha256.New, []byte(db.meta.Secret))
	m.Write(binary.AppendUvarint([]byte("cursor 1"), uint64(len(scope))))
	m.Write(scope)
	m.Write(position)
	return m.Sum(nil)[:cursorMACLen]
}

// decodeCursor is the inverse of encodeCursor. For an empty cursor it returns nil, the position before the
// first record.
func (db *DB) decodeCursor(cursor string, scope []byte) ([]byte, error) {
	if cursor == "" {
		return nil, nil
	}
	if len(cursor) > maxCursor {
		return nil, fmt.Errorf("%w: the cursor is too long", ErrBadCursor)
	}
	b, err := decodeCursorText(cursor)
	if err != nil || len(b) <= cursorMACLen || !hmac.Equal(b[:cursorMACLen], db.cursorMAC(b[cursorMACLen:], scope)) {
		return nil, ErrBadCursor
	}
	return b[cursorMACLen:], nil
}

// decodeCursorText decodes a cursor strictly. The standard decoder ignores line breaks, so one cursor could be
// written in many ways.
func decodeCursorText(cursor string) ([]byte, error) {
	if strings.ContainsAny(cursor, "\r\n") {
		return nil, ErrBadCursor
	}
	return base64.RawURLEncoding.Strict().DecodeString(cursor)
}
