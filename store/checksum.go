package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"iter"

	"github.com/scf-service/service/store/bolt"
	"github.com/scf-service/service/store/kv"
)

// Every stored value, including index entries, ends with a CRC-32C of its table, key and value, so that a damaged
// or misplaced value is detected when it is read. These checksums can't reveal that a value is missing
// or outdated, for example after the database was copied while in use. Therefore, "total" in _meta combines the
// checksums of all keys and values. It is verified when the database is opened. Databases of drivers other than
// bbolt have no total.
const (
	checksumSize = 4
	maxValue     = kv.MaxValue - checksumSize
)

var (
	totalKey   = K("total")
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// checkedTable is a table's name with its checksum, from which the checksums of the table's pairs are
// computed.
type checkedTable struct {
	name string
	sum  uint32
}

// newCheckedTable returns a checkedTable. This takes half as long as verifying a small record, so reuse the
// result.
func newCheckedTable(name string) checkedTable {
	sum := uint32(len(name)) // otherwise, keys of tables whose names begin alike could be confused
	for i := range len(name) {
		sum = castagnoli[byte(sum)^name[i]] ^ sum>>8 // because crc32.Update would allocate
	}
	return checkedTable{name: name, sum: sum}
}

// appendChecksum returns a copy of value, followed by its checksum.
func appendChecksum(table checkedTable, key, value []byte) []byte {
	stored := append(make([]byte, 0, len(value)+checksumSize), value...)
	return binary.BigEndian.AppendUint32(stored, crc32.Update(crc32.Update(table.sum, castagnoli, key), castagnoli, value))
}

// verifyChecksum returns a stored value without its checksum, or a DamagedRecordError.
func verifyChecksum(table checkedTable, key, stored []byte) ([]byte, error) {
	if n := len(stored) - checksumSize; n >= 0 {
		value := stored[:n:n]
		if crc32.Update(crc32.Update(table.sum, castagnoli, key), castagnoli, value) == binary.BigEndian.Uint32(stored[n:]) {
			return value, nil
		}
	}
	return nil, &DamagedRecordError{Table: table.name, Key: Key{b: bytes.Clone(key)}}
}

// pairChecksum returns what a key and its stored value contribute to the total checksum of the database.
func pairChecksum(table checkedTable, key, stored []byte) uint64 {
	sum := uint64(crc32.Update(table.sum, castagnoli, key)) << 32
	if n := len(stored) - checksumSize; n >= 0 {
		sum |= uint64(binary.BigEndian.Uint32(stored[n:]))
	}
	// CRCs of consecutive keys cancel each other out under XOR, unless they are mixed as in SplitMix64.
	sum = (sum ^ sum>>30) * 0xbf58476d1ce4e5b9
	sum = (sum ^ sum>>27) * 0x94d049bb133111eb
	return sum ^ sum>>31
}

// isTotal reports whether a pair contains the total checksum, which does not include itself.
func isTotal(table string, key []byte) bool {
	return table == metaTable && bytes.Equal(key, totalKey.b)
}

// checkedKV adds checksums to the values of a driver's transaction and verifies them.
type checkedKV struct {
	driver kv.KV
	remote kv.Remote    // the driver's, or one that does nothing
	table  checkedTable // the last table used
	// change accumulates the effect of all writes so far on the total.
	change uint64
	// withoutTotal is set if the database has no total, because it isn't a file that could be copied while in
	// use. With a total, all transactions would conflict over it, and would have to read each value that they
	// replace.
	withoutTotal bool
}

func (c *checkedKV) checkedTable(name string) checkedTable {
	if c.table.name != name {
		c.table = newCheckedTable(name)
	}
	return c.table
}

func (c *checkedKV) Get(table string, key []byte) ([]byte, error) {
	stored, err := c.driver.Get(table, key)
	if err != nil || stored == nil {
		return nil, err
	}
	return verifyChecksum(c.checkedTable(table), key, stored)
}

func (c *checkedKV) Put(table string, key, value []byte) error {
	old, err := c.existingChecksum(table, key)
	if err != nil {
		return err
	}
	stored := appendChecksum(c.checkedTable(table), key, value)
	if err := c.driver.Put(table, key, stored); err != nil {
		return err
	}
	if !c.withoutTotal {
		c.change ^= old ^ pairChecksum(c.checkedTable(table), key, stored)
	}
	return nil
}

func (c *checkedKV) Delete(table string, key []byte) error {
	old, err := c.existingChecksum(table, key)
	if err != nil {
		return err
	}
	if err := c.driver.Delete(table, key); err != nil {
		return err
	}
	c.change ^= old
	return nil
}

// existingChecksum returns what the pair about to be replaced contributes to the total, or 0 if there is none.
func (c *checkedKV) existingChecksum(table string, key []byte) (uint64, error) {
	if c.withoutTotal {
		return 0, nil
	}
	stored, err := c.driver.Get(table, key)
	if err != nil || stored == nil {
		return 0, err
	}
	return pairChecksum(c.checkedTable(table), key, stored), nil
}

// Scan yields pairs whose values still include their checksums. Pass each pair to verifiedValue. Wrapping the iterator
// to verify the pairs here would cost more than the verification itself.
func (c *checkedKV) Scan(table string, r kv.Range) iter.Seq2[kv.Pair, error] {
	return c.driver.Scan(table, r)
}

// scanAhead works like Scan; see kv.Remote.
func (c *checkedKV) scanAhead(table string, r kv.Range, first int, ahead func([]kv.Pair) error) iter.Seq2[kv.Pair, error] {
	if _, isLocal := c.remote.(localKV); isLocal || ahead == nil && first == 0 {
		return c.driver.Scan(table, r)
	}
	return c.remote.ScanAhead(table, r, first, ahead)
}

// localKV implements kv.Remote for a driver that doesn't implement it itself.
type localKV struct{ kv.KV }

func (localKV) Prefetch(...kv.Ref) error     { return nil }
func (localKV) Expect(...kv.Ref)             {}
func (localKV) AssumeMissing(string, []byte) {}
func (localKV) ReadAhead(string)             {}
func (l localKV) ScanAhead(table string, r kv.Range, _ int, _ func([]kv.Pair) error) iter.Seq2[kv.Pair, error] {
	return l.Scan(table, r)
}

// verifiedValue verifies the value of a pair from Scan, and returns it without its checksum.
func (c *checkedKV) verifiedValue(table string, p kv.Pair) ([]byte, error) {
	return verifyChecksum(c.checkedTable(table), p.Key, p.Value)
}

func (c *checkedKV) Tables() ([]string, error) { return c.driver.Tables() }

func (c *checkedKV) Drop(table string) error {
	if c.withoutTotal {
		return c.driver.Drop(table)
	}
	old := uint64(0)
	for p, err := range c.driver.Scan(table, kv.Range{}) {
		if err != nil {
			return err
		}
		old ^= pairChecksum(c.checkedTable(table), p.Key, p.Value)
	}
	if err := c.driver.Drop(table); err != nil {
		return err
	}
	c.change ^= old
	return nil
}

// updateTotal applies the changes of this transaction to the stored total checksum.
func (c *checkedKV) updateTotal() error {
	if c.change == 0 {
		return nil
	}
	total, _, err := c.total()
	if err != nil {
		return err
	}
	b := binary.BigEndian.AppendUint64(nil, total^c.change)
	c.change = 0
	return c.driver.Put(metaTable, totalKey.b, appendChecksum(c.checkedTable(metaTable), totalKey.b, b))
}

// addChecksums adds checksums to all values of a database that was written before checksums were introduced.
func (c *checkedKV) addChecksums(ctx context.Context) error {
	tables, err := c.driver.Tables()
	if err != nil {
		return err
	}
	for _, table := range tables {
		for p, err := range c.driver.Scan(table, kv.Range{}) {
			if err := cmp.Or(err, ctx.Err()); err != nil {
				return err
			}
			key := bytes.Clone(p.Key)
			stored := appendChecksum(c.checkedTable(table), key, p.Value)
			if err := c.driver.Put(table, key, stored); err != nil {
				return err
			}
			c.change ^= pairChecksum(c.checkedTable(table), key, stored)
		}
	}
	return nil
}

// total returns the stored total checksum.
func (c *checkedKV) total() (total uint64, found bool, err error) {
	b, err := c.Get(metaTable, totalKey.b)
	if err != nil || b == nil {
		return 0, false, err
	}
	if len(b) != 8 {
		return 0, false, &DamagedRecordError{Table: metaTable, Key: totalKey}
	}
	return binary.BigEndian.Uint64(b), true, nil
}

// totalChecker computes the total checksum of a database file. It implements bolt.PairChecker.
type totalChecker struct {
	table  checkedTable // the table of the last pair
	total  uint64
	stored []byte // the stored total; nil if there is none
}

func newTotalChecker() bolt.PairChecker { return &totalChecker{} }

func (c *totalChecker) Pair(table string, key, stored []byte) {
	if c.table.name != table {
		c.table = newCheckedTable(table)
	}
	if isTotal(table, key) {
		c.stored = bytes.Clone(stored)
		return
	}
	c.total ^= pairChecksum(c.table, key, stored)
}

// Err returns an error if records are missing or outdated, or if the stored total is damaged. Values are
// compared with their own checksums only when they are read. A database without a total is accepted here,
// because it is empty or has an older format; loadMeta rejects any other.
func (c *totalChecker) Err() error {
	if c.stored == nil {
		return nil
	}
	b, err := verifyChecksum(newCheckedTable(metaTable), totalKey.b, c.stored)
	if err != nil || !bytes.Equal(b, binary.BigEndian.AppendUint64(nil, c.total)) {
		return errWrongTotal
	}
	return nil
}

var errWrongTotal = fmt.Errorf("%w: records are missing, outdated or damaged; this can happen if a database is copied while it is in use",
	ErrCorrupt)

// damageFinder finds damaged records. It implements bolt.PairChecker.
type damageFinder struct {
	DamageCheck

	table checkedTable // the table of the last pair
}

func (f *damageFinder) Pair(table string, key, stored []byte) {
	if f.table.name != table {
		f.table = newCheckedTable(table)
	}
	f.Checked++
	if _, err := verifyChecksum(f.table, key, stored); err != nil {
		f.add(table, fmt.Sprintf("%s %s (table %s)", recordKindLabel(table), Key{b: key}, table))
	}
}

// Err implements bolt.PairChecker.
func (f *damageFinder) Err() error { return nil }
