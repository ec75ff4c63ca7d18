package store

import "bytes"

// maxSkippedInGroup is the number of records that ScanGroups reads past before it seeks to the next group. Reading on is
// cheaper than seeking.
const maxSkippedInGroup = 8

// ScanGroups reads an index in order and calls use with the records of one group after the other, until it returns
// false or an error; the rest of that group is skipped. The records of a group have the same first key parts, as
// returned by the function group. The organization is the first part of the keys of an index across tenants.
func ScanGroups[R any](tx *Tx, index IndexView[R], group func(*R) []any, use func(*R) (more bool, err error)) error {
	var options []ScanOption
	for again := true; again; {
		var done Key // group of which no more is wanted
		skipped := 0
		again = false
		for r, err := range index.Scan(tx, options...) {
			if err != nil {
				return err
			}
			key := K(group(&r)...)
			if !done.IsZero() && bytes.Equal(key.b, done.b) {
				if skipped++; skipped > maxSkippedInGroup {
					options, again = []ScanOption{after(key)}, true
					break
				}
				continue
			}
			more, err := use(&r)
			if err != nil {
				return err
			}
			if skipped, done = 0, (Key{}); !more {
				done = key
			}
		}
	}
	return nil
}

// after limits the scan to keys that sort after all keys beginning with the given key.
func after(key Key) ScanOption {
	return func(s *scanOptions) { s.afterGroup = key }
}
