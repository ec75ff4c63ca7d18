package store

import (
	"fmt"
	"slices"

	"github.com/scf-service/service/store/kv"
)

// ScanOption limits or reverses a scan. Without options it covers everything in ascending order.
type ScanOption func(*scanOptions)

// scanOptions holds the options of a scan; toRange turns them into a byte range.
type scanOptions struct {
	prefix, from, before, through Key
	textPrefix                    *string
	after                         []byte // a place of this scan to go on behind
	reverse                       bool
}

func newScan(options []ScanOption) scanOptions {
	var s scanOptions
	for _, o := range options {
		o(&s)
	}
	return s
}

// Prefix limits the scan to keys that begin with these parts. Repeating it narrows further.
func Prefix(parts ...any) ScanOption {
	return func(s *scanOptions) { s.prefix = s.prefix.Join(K(parts...)) }
}

// From limits the scan to keys that, after the prefix, are not before these parts.
func From(parts ...any) ScanOption { return func(s *scanOptions) { s.from = K(parts...) } }

// Before limits the scan to keys that, after the prefix, are before these parts.
func Before(parts ...any) ScanOption { return func(s *scanOptions) { s.before = K(parts...) } }

// Through limits the scan to keys that, after the prefix, are before these parts or begin with
// them.
func Through(parts ...any) ScanOption { return func(s *scanOptions) { s.through = K(parts...) } }

// TextPrefix limits the scan to keys whose next part after the prefix is a text that begins with
// this one. It can't be combined with From, Before and Through.
func TextPrefix(text string) ScanOption { return func(s *scanOptions) { s.textPrefix = &text } }

// Reverse scans in descending order. It is an option itself: Scan(tx, store.Reverse).
func Reverse(s *scanOptions) { s.reverse = true }

// toRange returns the driver's range for the scan.
func (s scanOptions) toRange() (kv.Range, error) {
	for _, k := range []Key{s.prefix, s.from, s.before, s.through} {
		if k.err != nil {
			return kv.Range{}, k.err
		}
	}
	r := kv.Range{Reverse: s.reverse}
	if s.textPrefix != nil {
		if len(s.from.b)+len(s.before.b)+len(s.through.b) > 0 {
			return kv.Range{}, fmt.Errorf("%w: TextPrefix can't be combined with From, Before and Through", ErrBadKey)
		}
		text := appendEscaped(append(slices.Clone(s.prefix.b), tagText), *s.textPrefix)
		r.Start = text[:len(text)-1] // the text goes on
		r.End = prefixEnd(r.Start)
		return r, nil
	}
	r.Start = s.prefix.Join(s.from).b
	switch {
	case len(s.before.b) > 0:
		r.End = s.prefix.Join(s.before).b
	default:
		r.End = append(slices.Clone(s.prefix.Join(s.through).b), tagUpperBound)
	}
	switch {
	case s.after != nil && s.reverse:
		r.End = s.after
	case s.after != nil:
		r.Start = append(slices.Clone(s.after), 0)
	}
	return r, nil
}

// prefixEnd returns the first key after all that begin with b. The tag of a text ensures that b is
// not all FF.
func prefixEnd(b []byte) []byte {
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
