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
	// PageLimit is the size of a page where the query doesn't say.
	PageLimit = 50
	// MaxPage is the largest page; more is asked for with the cursor.
	MaxPage = 1000

	maxCursor = 2 * kv.MaxKey * 4 / 3
)

// PageQuery asks for a stretch of a list.
type PageQuery[R any] struct {
	Index   string // order of the list; empty is the primary key
	Prefix  Key    // as in the option Prefix
	Cursor  string // Page.Next of the page before; empty is the first
	Limit   int    // 0 is PageLimit; more than MaxPage is MaxPage
	Reverse bool
	Filter  func(*R) bool // nil keeps all
	NoTotal bool          // don't count behind the page, where lists are long
}

// Page is a stretch of a list. A cursor names a place, not a number: what is
// inserted or deleted between two pages neither repeats nor hides a record.
type Page[R any] struct {
	Items []R
	Next  string // cursor of the next page; empty behind the last
	Total int    // records of the whole list after the filter; -1 with NoTotal
}

// listed is a query without the type of its records.
type listed struct {
	PageQuery[struct{}]
	keep func(any) bool // nil keeps all
}

func (q PageQuery[R]) plain() listed {
	out := listed{PageQuery: PageQuery[struct{}]{q.Index, q.Prefix, q.Cursor, q.Limit, q.Reverse, nil, q.NoTotal}}
	if q.Filter != nil {
		out.keep = func(r any) bool { return q.Filter(r.(*R)) }
	}
	return out
}

// pageOf is a page with the type of its records.
func pageOf[R any](page Page[any], err error) (Page[R], error) {
	if err != nil {
		return Page[R]{}, err
	}
	out := Page[R]{Items: make([]R, len(page.Items)), Next: page.Next, Total: page.Total}
	for i, r := range page.Items {
		out.Items[i] = *r.(*R)
	}
	return out, nil
}

// order is what a page is cut from.
func (s *shelf) order(q listed) ordered {
	if q.Index == "" {
		return s.byPrimary()
	}
	return s.by(q.Index)
}

// page is Table.Page.
func (s *shelf) page(tx *Tx, q listed) (page Page[any], err error) {
	order := s.order(q)
	if order.err != nil {
		return page, order.err
	}
	if err := tx.use(&s.def, false); err != nil {
		return page, err
	}
	after, err := tx.db.openCursor(q.Cursor, s.listName(q))
	if err != nil {
		return page, err
	}
	switch {
	case q.Limit <= 0:
		q.Limit = PageLimit
	case q.Limit > MaxPage:
		q.Limit = MaxPage
	}
	var last []byte
	in := scan{prefix: q.Prefix, reverse: q.Reverse}
	if q.NoTotal {
		in.after = after
	}
	for p, err := range order.raws(tx, in) {
		if err != nil {
			return page, err
		}
		wanted := page.Next == "" && (after == nil || beyond(p.Key, after, q.Reverse))
		if !wanted && q.NoTotal {
			break
		}
		if wanted || q.keep != nil {
			got, err := order.decode(tx, p)
			if err != nil {
				return page, err
			}
			if q.keep != nil && !q.keep(got.record) {
				continue
			}
			switch {
			case wanted && len(page.Items) < q.Limit:
				page.Items = append(page.Items, got.record)
				last = append(last[:0], p.Key...)
			case wanted: // one more than fits: there is a next page
				page.Next = tx.db.sealCursor(last, s.listName(q))
			}
		}
		page.Total++
	}
	if q.NoTotal {
		page.Total = -1
	}
	return page, nil
}

// beyond tells whether key comes behind place in the list's direction.
func beyond(key, place []byte, reverse bool) bool {
	c := bytes.Compare(key, place)
	return c != 0 && (c < 0) == reverse
}

// listName is what a cursor is bound to: everything that orders or bounds the
// list, not the filter, which may be a function of anything.
func (s *shelf) listName(q listed) []byte {
	b := binary.AppendUvarint(nil, uint64(len(s.def.name)))
	b = append(b, s.def.name...)
	b = binary.AppendUvarint(b, uint64(len(q.Index)))
	b = append(b, q.Index...)
	b = appendBool(b, q.Reverse)
	return append(b, q.Prefix.b...)
}

const sealLen = 12

// sealCursor makes the place of a list opaque: seal, key.
func (db *DB) sealCursor(at, list []byte) string {
	return base64.RawURLEncoding.EncodeToString(append(db.seal(at, list), at...))
}

func (db *DB) seal(at, list []byte) []byte {
	m := hmac.New(sha256.New, []byte(db.meta.Secret))
	m.Write(binary.AppendUvarint([]byte("cursor 1"), uint64(len(list))))
	m.Write(list)
	m.Write(at)
	return m.Sum(nil)[:sealLen]
}

// openCursor undoes sealCursor; nil is the place before the first.
func (db *DB) openCursor(cursor string, list []byte) ([]byte, error) {
	if cursor == "" {
		return nil, nil
	}
	if len(cursor) > maxCursor {
		return nil, fmt.Errorf("%w: it is too long", ErrBadCursor)
	}
	b, err := unwrap(cursor)
	if err != nil || len(b) <= sealLen || !hmac.Equal(b[:sealLen], db.seal(b[sealLen:], list)) {
		return nil, ErrBadCursor
	}
	return b[sealLen:], nil
}

// unwrap decodes a cursor. The decoder would pass over line breaks, so that one cursor
// could be written in many ways.
func unwrap(cursor string) ([]byte, error) {
	if strings.ContainsAny(cursor, "\r\n") {
		return nil, ErrBadCursor
	}
	return base64.RawURLEncoding.Strict().DecodeString(cursor)
}
