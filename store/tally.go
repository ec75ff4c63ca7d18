package store

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/scf-service/service/store/kv"
)

// tally is a set of numbers that a table maintains by key. It is for counts and sums that must not take longer to read
// when there are more records. A change to a record updates the numbers in the same transaction. They are stored like
// an index:
//
//	assessments.count            organization         → number of assessments
//	assessments.count_by_state   organization, state  → number of assessments
type tally struct {
	name  string
	table string // name of the driver's table
	// amounts returns what a record adds; it is nil if the tally counts the keys of an order.
	amounts func(any) []Amount
	// order is the index whose keys are counted by their first parts; "" is the primary key.
	order string
	parts int
}

// Amount is the amount that a record contributes to the number under a key of a tally.
type Amount struct {
	Key Key
	N   int
}

// Tally maintains, for each key, the sum of the amounts that records contribute. amounts must depend only on the
// record. If the function changes, rename the tally, so that Open computes it again.
func Tally[R any](name string, amounts func(*R) []Amount) Option[R] {
	return func(t *Table[R]) {
		t.untyped.addTally(&tally{name: name, amounts: func(r any) []Amount { return amounts(r.(*R)) }})
	}
}

// CountBy maintains counts of records by the first parts of their keys in an order, which is an index or, if order is
// "", the primary key. Counts and list totals for such a prefix can then be read instead of being counted. For a
// TenantTable, the organization isn't one of the parts. Declare shorter prefixes of an order before longer ones.
func CountBy[R any](order string, parts int) Option[R] {
	return func(t *Table[R]) {
		name := "count"
		if order != "" {
			name += "_by_" + order
		}
		if t.untyped.findTally(name) != nil {
			name += fmt.Sprintf("_%d", parts)
		}
		t.untyped.addTally(&tally{name: name, order: order, parts: parts})
	}
}

func (s *untypedTable) addTally(y *tally) {
	y.table = indexTableName(s.def.name, y.name)
	switch {
	case !indexNamePattern.MatchString(y.name):
		s.def.err = fmt.Errorf("tally name %q must consist of at most 63 lowercase letters, digits and underscores", y.name)
	case s.index(y.name) != nil || s.findTally(y.name) != nil:
		s.def.err = fmt.Errorf("two indexes or tallies are named %s", y.name)
	}
	s.tallies = append(s.tallies, y)
}

// describe returns the description of a tally in the list of indexes.
func (y *tally) describe() string {
	if y.amounts != nil {
		return y.name + " tally"
	}
	return fmt.Sprintf("%s first %d", y.name, y.parts)
}

func (s *untypedTable) findTally(name string) *tally {
	for _, y := range s.tallies {
		if y.name == name {
			return y
		}
	}
	return nil
}

// findCountTally returns a tally that counts the keys of an order by at least the given number of parts. If there are
// several, it returns the one with the fewest parts; if there is none, it returns nil.
func (s *untypedTable) findCountTally(order string, parts int) *tally {
	for _, y := range s.tallies {
		if y.amounts == nil && y.order == order && y.parts >= parts {
			return y
		}
	}
	return nil
}

// tallyRef identifies a number of a tally.
type tallyRef struct{ table, key string }

// addToTally adds n to a number when the transaction commits, or before it reads the number.
func (tx *Tx) addToTally(table string, key []byte, n int) {
	if tx.tallies == nil {
		tx.tallies = map[tallyRef]int64{}
	}
	tx.tallies[tallyRef{table, string(key)}] += int64(n)
}

// forgetTally drops the pending changes to a tally's numbers.
func (tx *Tx) forgetTally(table string) {
	maps.DeleteFunc(tx.tallies, func(ref tallyRef, _ int64) bool { return ref.table == table })
}

// tallyChange updates the tallies for a changed record, given the index entries that were added and removed. old is
// nil for a new record, and fresh is nil for a deleted one.
func (s *untypedTable) tallyChange(tx *Tx, primary []byte, old, fresh any, added, removed []indexEntry) error {
	for _, y := range s.tallies {
		if y.amounts != nil {
			for sign, r := range map[int]any{-1: old, 1: fresh} {
				if r == nil {
					continue
				}
				for _, a := range y.amounts(r) {
					if err := s.checkKey(a.Key); err != nil {
						return fmt.Errorf("tally %s: %w", y.name, err)
					}
					tx.addToTally(y.table, a.Key.b, sign*a.N)
				}
			}
			continue
		}
		if y.order == "" {
			if (old == nil) != (fresh == nil) {
				if err := y.updateCount(tx, primary, fresh != nil); err != nil {
					return err
				}
			}
			continue
		}
		for _, e := range added {
			if e.index == y.order {
				if err := y.updateCount(tx, e.key, true); err != nil {
					return err
				}
			}
		}
		for _, e := range removed {
			if e.index == y.order {
				if err := y.updateCount(tx, e.key, false); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// updateCount adds 1 to the number for a key of the order, or subtracts 1 from it.
func (y *tally) updateCount(tx *Tx, key []byte, add bool) error {
	n, err := lengthOfParts(key, y.parts)
	if err != nil {
		return err
	}
	by := -1
	if add {
		by = 1
	}
	if n == 0 {
		tx.addToTally(y.table, wholeTable.b, by)
	} else {
		tx.addToTally(y.table, key[:n], by)
	}
	return nil
}

// wholeTable is the key of the count for a whole table.
var wholeTable = K(true)

// lengthOfParts returns the length of the given number of parts at the beginning of a key.
func lengthOfParts(key []byte, parts int) (int, error) {
	rest := key
	for range parts {
		if len(rest) == 0 {
			return 0, fmt.Errorf("%w: %s has less than %d parts", ErrBadKey, Key{b: key}, parts)
		}
		size, err := partSize(rest)
		if err != nil {
			return 0, err
		}
		rest = rest[size:]
	}
	return len(key) - len(rest), nil
}

// partSize returns the size of the first part of a key.
func partSize(b []byte) (int, error) {
	size := 1
	switch b[0] {
	case tagBytes, tagText:
		for ; size < len(b); size++ {
			if b[size] != 0 {
				continue
			}
			if size+1 == len(b) || b[size+1] != 0xFF {
				return size + 1, nil
			}
			size++
		}
		return 0, fmt.Errorf("%w: unterminated text", ErrBadKey)
	case tagFalse, tagTrue:
	case tagInt:
		size += 8
	case tagTime:
		size += 12
	default:
		return 0, fmt.Errorf("%w: a part of a key can't begin with %#02x", ErrBadKey, b[0])
	}
	if size > len(b) {
		return 0, fmt.Errorf("%w: a part of the key is truncated", ErrBadKey)
	}
	return size, nil
}

// flushTallies writes the numbers that this transaction has changed.
func (tx *Tx) flushTallies() error {
	if len(tx.tallies) == 0 {
		return nil
	}
	changed := make([]tallyRef, 0, len(tx.tallies))
	for ref, n := range tx.tallies {
		if n != 0 {
			changed = append(changed, ref)
		}
	}
	slices.SortFunc(changed, func(a, b tallyRef) int {
		return cmp.Or(strings.Compare(a.table, b.table), strings.Compare(a.key, b.key))
	})
	refs := make([]kv.Ref, len(changed))
	for i, ref := range changed {
		refs[i] = kv.Ref{Table: ref.table, Key: []byte(ref.key)}
		tx.assumeMissingIfNew(ref.table, Key{b: refs[i].Key})
	}
	if err := tx.kv.remote.Prefetch(refs...); err != nil {
		return err
	}
	for _, ref := range changed {
		key := []byte(ref.key)
		n, err := tx.readTally(ref.table, key)
		if err != nil {
			return err
		}
		switch n += tx.tallies[ref]; {
		case n < 0:
			return fmt.Errorf("%w: %s of %s would be %d", ErrCorrupt, ref.table, Key{b: key}, n)
		case n == 0:
			err = tx.kv.Delete(ref.table, key)
		default:
			err = tx.kv.Put(ref.table, key, binary.AppendUvarint(nil, uint64(n)))
		}
		if err != nil {
			return err
		}
	}
	clear(tx.tallies)
	return nil
}

func (tx *Tx) readTally(table string, key []byte) (int64, error) {
	b, err := tx.kv.Get(table, key)
	if err != nil || b == nil {
		return 0, err
	}
	return decodeTally(table, key, b)
}

func decodeTally(table string, key, value []byte) (int64, error) {
	n, size := binary.Uvarint(value)
	if size != len(value) || n > 1<<62 {
		return 0, fmt.Errorf("%w: %s %s is not a number", ErrCorrupt, table, Key{b: key})
	}
	return int64(n), nil
}

// countFromTally returns the number of keys with a prefix in an order, as counted by a tally. kept is false if no tally
// counts them.
func (o orderedTable) countFromTally(tx *Tx, prefix Key) (n int, kept bool, err error) {
	order := ""
	if o.ix != nil {
		order = o.ix.name
	}
	have := 0
	for rest := prefix.b; len(rest) > 0; have++ {
		size, err := partSize(rest)
		if err != nil {
			return 0, false, err
		}
		rest = rest[size:]
	}
	y := o.findCountTally(order, have)
	if y == nil || o.err != nil || prefix.err != nil {
		return 0, false, nil
	}
	if err := tx.checkTable(&o.def, false); err != nil {
		return 0, false, err
	}
	if err := tx.flushTallies(); err != nil {
		return 0, false, err
	}
	if have == y.parts {
		key := prefix.b
		if have == 0 {
			key = wholeTable.b
		}
		n, err := tx.readTally(y.table, key)
		return int(n), true, err
	}
	for a, err := range tx.scanTally(y, scanOptions{prefix: prefix}) {
		if err != nil {
			return 0, false, err
		}
		n += a.N
	}
	return n, true, nil
}

// scanTally yields the numbers of a tally.
func (tx *Tx) scanTally(y *tally, in scanOptions) iter.Seq2[Amount, error] {
	return func(yield func(Amount, error) bool) {
		r, err := in.toRange()
		if err == nil {
			err = tx.flushTallies()
		}
		if err != nil {
			yield(Amount{}, fmt.Errorf("%s: %w", y.table, err))
			return
		}
		for p, err := range tx.kv.Scan(y.table, r) {
			var n int64
			var value []byte
			if err == nil {
				value, err = tx.kv.verifiedValue(y.table, p)
			}
			if err == nil {
				n, err = decodeTally(y.table, p.Key, value)
			}
			if !yield(Amount{Key: Key{b: p.Key}, N: int(n)}, err) || err != nil {
				return
			}
		}
	}
}

// TallyView gives access to a tally of a TenantTable.
type TallyView[R any] struct {
	table *TenantTable[R]
	name  string
}

// Tally selects a tally. If the tally is not declared, using the result returns ErrUnknownTable.
func (t *TenantTable[R]) Tally(name string) TallyView[R] { return TallyView[R]{t, name} }

// find returns the tally, or ErrUnknownTable if it is not declared.
func (v TallyView[R]) find(tx *Tx) (*tally, error) {
	s := v.table.table.untyped
	if y := s.findTally(v.name); y != nil {
		return y, tx.checkTable(&s.def, false)
	}
	return nil, fmt.Errorf("%w: %s has no tally %s", ErrUnknownTable, s.def.name, v.name)
}

// Get returns the organization's number for a complete key.
func (v TallyView[R]) Get(tx *Tx, org string, key ...any) (int, error) {
	y, err := v.find(tx)
	if err != nil {
		return 0, err
	}
	if org == "" {
		return 0, noTenantError(v.table.Name())
	}
	k := K(org).Join(K(key...))
	if k.err != nil {
		return 0, k.err
	}
	if err := tx.flushTallies(); err != nil {
		return 0, err
	}
	n, err := tx.readTally(y.table, k.b)
	return int(n), err
}

// SumsAcrossTenants returns the sums over all organizations, by the first part of the key, which must be a text. It
// reads the numbers of all organizations that have any.
func (v TallyView[R]) SumsAcrossTenants(tx *Tx) (map[string]int, error) {
	y, err := v.find(tx)
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	for a, err := range tx.scanTally(y, scanOptions{}) {
		if err != nil {
			return nil, err
		}
		parts, err := a.Key.Parts()
		if err != nil {
			return nil, err
		}
		if name, ok := parts[1].(string); ok {
			out[name] += a.N
		}
	}
	return out, nil
}

// Scan iterates over the organization's numbers other than 0 in key order. The keys don't include the
// organization. The options apply to the key parts after it.
func (v TallyView[R]) Scan(tx *Tx, org string, options ...ScanOption) iter.Seq2[Amount, error] {
	return func(yield func(Amount, error) bool) {
		y, err := v.find(tx)
		if err == nil {
			options, err = v.table.table.untyped.scopeToTenant(org, options)
		}
		if err != nil {
			yield(Amount{}, err)
			return
		}
		for a, err := range tx.scanTally(y, newScanOptions(options)) {
			if err == nil {
				var rest []byte
				_, rest, err = splitKey(a.Key.b)
				a.Key = Key{b: rest}
			}
			if !yield(a, err) || err != nil {
				return
			}
		}
	}
}
