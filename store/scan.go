package store

import (
	"fmt"
	"iter"
	"slices"

	"github.com/scf-service/service/store/kv"
)

// ScanOption narrows or turns a scan. Without any it goes through everything,
// upwards.
type ScanOption func(*scan)

// scan collects the options; bytes come from them in span.
type scan struct {
	prefix, from, before, through Key
	begins                        *string
	after                         []byte // a place of this scan to go on behind
	reverse                       bool
}

func newScan(options []ScanOption) scan {
	var s scan
	for _, o := range options {
		o(&s)
	}
	return s
}

// Prefix keeps the keys that begin with these parts. Repeated, it narrows.
func Prefix(parts ...any) ScanOption {
	return func(s *scan) { s.prefix = s.prefix.Join(K(parts...)) }
}

// From keeps the keys that, behind the prefix, are not before these parts.
func From(parts ...any) ScanOption { return func(s *scan) { s.from = K(parts...) } }

// Before keeps the keys that, behind the prefix, are before these parts.
func Before(parts ...any) ScanOption { return func(s *scan) { s.before = K(parts...) } }

// Through keeps the keys that, behind the prefix, are before these parts or
// begin with them.
func Through(parts ...any) ScanOption { return func(s *scan) { s.through = K(parts...) } }

// Begins keeps the keys whose next part, behind the prefix, is a text that
// begins with this one. It excludes From, Before and Through.
func Begins(text string) ScanOption { return func(s *scan) { s.begins = &text } }

// Reverse goes downwards. It is an option itself: Scan(tx, store.Reverse).
func Reverse(s *scan) { s.reverse = true }

// span is the scan as the driver wants it.
func (s scan) span() (kv.Range, error) {
	for _, k := range []Key{s.prefix, s.from, s.before, s.through} {
		if k.err != nil {
			return kv.Range{}, k.err
		}
	}
	r := kv.Range{Reverse: s.reverse}
	if s.begins != nil {
		if len(s.from.b)+len(s.before.b)+len(s.through.b) > 0 {
			return kv.Range{}, fmt.Errorf("%w: Begins excludes From, Before and Through", ErrBadKey)
		}
		text := appendEscaped(append(slices.Clone(s.prefix.b), tagText), *s.begins)
		r.Start = text[:len(text)-1] // the text goes on
		r.End = successor(r.Start)
		return r, nil
	}
	r.Start = s.prefix.Join(s.from).b
	switch {
	case len(s.before.b) > 0:
		r.End = s.prefix.Join(s.before).b
	default:
		r.End = append(slices.Clone(s.prefix.Join(s.through).b), tagPast)
	}
	switch {
	case s.after != nil && s.reverse:
		r.End = s.after
	case s.after != nil:
		r.Start = append(slices.Clone(s.after), 0)
	}
	return r, nil
}

// successor is the first key after all that begin with b. The tag of a text
// keeps it from being all FF.
func successor(b []byte) []byte {
	b = slices.Clone(b)
	for len(b) > 0 {
		if last := len(b) - 1; b[last] < 0xFF {
			b[last]++
			return b
		}
		b = b[:len(b)-1]
	}
	return nil
}

// pair is a record with the keys it was met under.
type pair[R any] struct {
	at      []byte // in the scanned table or index; valid in the loop only
	primary []byte // our own
	record  R
}

// Scan goes through the records in the order of their primary keys. The loop may
// stop early and may write to the table. After an error there is no more.
func (t *Table[R]) Scan(tx *Tx, options ...ScanOption) iter.Seq2[R, error] {
	return records(t.pairs(tx, newScan(options)))
}

func records[R any](pairs iter.Seq2[pair[R], error]) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		for p, err := range pairs {
			if !yield(p.record, err) {
				return
			}
		}
	}
}

// pairs scans by primary key.
func (t *Table[R]) pairs(tx *Tx, s scan) iter.Seq2[pair[R], error] {
	return func(yield func(pair[R], error) bool) {
		for p, err := range t.raws(tx, nil, s) {
			var out pair[R]
			if err == nil {
				out, err = t.decode(tx, nil, p)
			}
			if !yield(out, err) || err != nil {
				return
			}
		}
	}
}

// raws yields the driver's pairs of the table, or of one of its indexes.
func (t *Table[R]) raws(tx *Tx, ix *indexOf[R], s scan) iter.Seq2[kv.Pair, error] {
	return func(yield func(kv.Pair, error) bool) {
		name := t.def.name
		if ix != nil {
			name = ix.table
		}
		err := tx.use(&t.def, false)
		var r kv.Range
		if err == nil {
			if r, err = s.span(); err != nil {
				err = fmt.Errorf("%s: %w", name, err)
			}
		}
		if err != nil {
			yield(kv.Pair{}, err)
			return
		}
		for p, err := range tx.kv.Scan(name, r) {
			if err != nil {
				err = fmt.Errorf("%s: %w", name, err)
			}
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}

// decode turns what raws yielded into the record.
func (t *Table[R]) decode(tx *Tx, ix *indexOf[R], p kv.Pair) (pair[R], error) {
	if ix == nil {
		out := pair[R]{at: p.Key, primary: slices.Clone(p.Key)}
		if err := t.decodeInto(tx, p.Value, &out.record); err != nil {
			return out, fmt.Errorf("%s %s: %w", t.def.name, Key{b: out.primary}, err)
		}
		return out, nil
	}
	out := pair[R]{at: p.Key, primary: slices.Clone(p.Value)}
	r, found, err := t.find(tx, Key{b: out.primary})
	if err == nil && !found {
		err = fmt.Errorf("%w: index %s names %s, which is missing", ErrCorrupt, ix.table, Key{b: out.primary})
	}
	out.record = r
	return out, err
}

// Count returns how many records have a primary key that begins with prefix,
// without reading them.
func (t *Table[R]) Count(tx *Tx, prefix ...any) (int, error) {
	return t.count(tx, nil, prefix)
}

func (t *Table[R]) count(tx *Tx, ix *indexOf[R], prefix []any) (int, error) {
	n := 0
	for _, err := range t.raws(tx, ix, newScan([]ScanOption{Prefix(prefix...)})) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// By is the view of a table through one of its indexes.
type By[R any] struct {
	t    *Table[R]
	name string
}

// By names an index. One that was not declared gives ErrUnknown when it is used.
func (t *Table[R]) By(index string) By[R] { return By[R]{t, index} }

func (b By[R]) index() (*indexOf[R], error) {
	if ix := b.t.index(b.name); ix != nil {
		return ix, nil
	}
	return nil, fmt.Errorf("%w: %s has no index %s", ErrUnknown, b.t.def.name, b.name)
}

// Scan goes through the records in the order of the index; a record with several
// keys in it comes several times.
func (b By[R]) Scan(tx *Tx, options ...ScanOption) iter.Seq2[R, error] {
	return records(func(yield func(pair[R], error) bool) {
		ix, err := b.index()
		if err != nil {
			yield(pair[R]{}, err)
			return
		}
		for p, err := range b.t.raws(tx, ix, newScan(options)) {
			var out pair[R]
			if err == nil {
				out, err = b.t.decode(tx, ix, p)
			}
			if !yield(out, err) || err != nil {
				return
			}
		}
	})
}

// Get returns the one record with this whole key in a Unique index, or
// ErrNotFound.
func (b By[R]) Get(tx *Tx, key ...any) (r R, err error) {
	ix, err := b.index()
	if err != nil {
		return r, err
	}
	if !ix.unique {
		return r, fmt.Errorf("%w: index %s of %s is not unique, scan it", ErrUnknown, b.name, b.t.def.name)
	}
	if err := tx.use(&b.t.def, false); err != nil {
		return r, err
	}
	k := K(key...)
	if err := b.t.checkKey(k); err != nil {
		return r, err
	}
	primary, err := tx.kv.Get(ix.table, k.b)
	if err != nil {
		return r, fmt.Errorf("%s: %w", ix.table, err)
	}
	if primary == nil {
		return r, fmt.Errorf("%s by %s %s: %w", b.t.def.name, b.name, k, ErrNotFound)
	}
	p, err := b.t.decode(tx, ix, kv.Pair{Key: k.b, Value: primary})
	return p.record, err
}

// Count returns how many entries of the index begin with prefix.
func (b By[R]) Count(tx *Tx, prefix ...any) (int, error) {
	ix, err := b.index()
	if err != nil {
		return 0, err
	}
	return b.t.count(tx, ix, prefix)
}
