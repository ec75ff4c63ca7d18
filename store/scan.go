package store

import (
	"slices"

	"github.com/scf-service/service/store/kv"
)

// ScanOption limits or reverses a scan. Without options, a scan covers everything in ascending order.
type ScanOption func(*scanOptions)

// scanOptions holds the options of a scan; toRange converts them to a byte range.
type scanOptions struct {
	prefix, from, through Key
	after                 []byte // stored key after which the scan continues
	afterGroup            Key    // beginning of keys after which the scan starts
	reverse               bool
	expected              int // number of pairs that will be read; 0 if unknown
}

func newScanOptions(options []ScanOption) scanOptions {
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

// Through limits the scan to keys that, after the prefix, are before these parts or begin with them.
func Through(parts ...any) ScanOption { return func(s *scanOptions) { s.through = K(parts...) } }

// Reverse is an option that scans in descending order: Scan(tx, store.Reverse).
func Reverse(s *scanOptions) { s.reverse = true }

// ExpectOne is an option for scans whose caller uses only the first record, so that no further records are read ahead.
func ExpectOne(s *scanOptions) { s.expected = 1 }

// toRange returns the driver's range for the scan.
func (s scanOptions) toRange() (kv.Range, error) {
	for _, k := range []Key{s.prefix, s.from, s.through, s.afterGroup} {
		if k.err != nil {
			return kv.Range{}, k.err
		}
	}
	r := kv.Range{Reverse: s.reverse}
	r.Start = s.prefix.Join(s.from).b
	r.End = append(slices.Clone(s.prefix.Join(s.through).b), tagUpperBound)
	switch {
	case !s.afterGroup.IsZero():
		r.Start = append(slices.Clone(s.prefix.Join(s.afterGroup).b), tagUpperBound)
	case s.after != nil && s.reverse:
		r.End = s.after
	case s.after != nil:
		r.Start = append(slices.Clone(s.after), 0)
	}
	return r, nil
}
