package store

import "bytes"

// maxSkippedInGroup is the number of records that ScanGroups skips one by one before it seeks the next group. Reading
// on is cheaper than seeking.
const maxSkippedInGroup = 8

// ScanGroups reads an index in order and calls use for each record, one group after the other. If use returns false,
// the rest of the group is skipped. If use returns an error, the scan ends. The records of a group have the same first
// key parts, which the function group returns. In an index across tenants, the first key part is the organization.
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
