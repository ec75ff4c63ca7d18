package bolt

import (
	"bytes"
	"context"
	"fmt"
	"iter"

	"go.etcd.io/bbolt"

	"github.com/scf-service/service/store/kv"
)

// tx implements kv.KV over a bbolt transaction.
type tx struct {
	ctx     context.Context
	bolt    *bbolt.Tx
	last    *table            // the last table used
	tables  map[string]*table // nil until a second table is used
	changed bool
	damaged bool // the file was found to be damaged
	ended   bool
	journal *journal // nil if undo is not needed
}

// table is a table within a transaction.
type table struct {
	name    string
	bucket  *bbolt.Bucket // nil while the table does not exist
	reader  bbolt.Cursor  // used by get; kept to save allocations
	changes int           // number of changes; each invalidates the cursors of scans
	lastPut []byte        // the last key put
	back    int           // number of keys that sorted before the key put previously
	deleted bool          // keys were deleted in this transaction, so there may be empty pages
}

// setFillPercent makes bbolt fill pages before it splits them if keys arrive in order. Most do, because they
// begin with a time, and splitting in the middle would leave every page half empty. If keys arrive in random
// order, filling would instead leave a nearly empty page after each full one, and the full one would be split
// next.
func (tb *table) setFillPercent() {
	if tb.bucket != nil {
		tb.bucket.FillPercent = 0.9
		if tb.back > tb.changes/4 {
			tb.bucket.FillPercent = 0.5
		}
	}
}

func newTx(ctx context.Context, b *bbolt.Tx) *tx {
	return &tx{ctx: ctx, bolt: b}
}

func (t *tx) end() { t.ended = true }

func (t *tx) checkUsable(write bool) error {
	switch {
	case t.ended:
		return kv.ErrTxDone
	case write && !t.bolt.Writable():
		return kv.ErrReadOnlyTx
	}
	return t.ctx.Err()
}

func (t *tx) table(name string) *table {
	var tb *table
	if t.last != nil {
		if t.last.name == name {
			return t.last
		}
		if t.tables == nil {
			t.tables = map[string]*table{t.last.name: t.last}
		}
	}
	if t.tables != nil {
		tb = t.tables[name]
	}
	if tb == nil {
		tb = &table{name: name, bucket: t.bolt.Bucket([]byte(name))}
		tb.setFillPercent()
		if t.tables != nil {
			t.tables[name] = tb
		}
	}
	t.last = tb
	return tb
}

func (t *tx) Get(name string, key []byte) ([]byte, error) {
	if err := t.checkUsable(false); err != nil {
		return nil, err
	}
	if err := kv.CheckKey(name, key); err != nil {
		return nil, err
	}
	tb := t.table(name)
	if tb.bucket == nil {
		return nil, nil
	}
	return tb.get(key), nil
}

func (tb *table) get(key []byte) []byte {
	if tb.reader.Bucket() != tb.bucket {
		tb.reader = *tb.bucket.Cursor()
	}
	k, v := tb.reader.Seek(key)
	switch {
	case !bytes.Equal(k, key):
		return nil
	case v == nil:
		return []byte{}
	}
	return v
}

func (t *tx) Put(name string, key, value []byte) error {
	if err := t.checkUsable(true); err != nil {
		return err
	}
	if err := kv.CheckPut(name, key, value); err != nil {
		return err
	}
	tb := t.table(name)
	if tb.bucket == nil {
		b, err := t.bolt.CreateBucket([]byte(name))
		if err != nil {
			return fmt.Errorf("table %s: %w", name, err)
		}
		tb.bucket = b
		if t.journal != nil {
			t.journal.entries = append(t.journal.entries, journalEntry{table: name})
		}
	}
	t.rememberForUndo(tb, key)
	if value == nil {
		value = []byte{} // because nil would make Get report a missing key
	}
	tb.changes++
	if bytes.Compare(key, tb.lastPut) < 0 {
		tb.back++
	}
	tb.lastPut = append(tb.lastPut[:0], key...)
	tb.setFillPercent()
	t.changed = true
	return tb.bucket.Put(key, value)
}

func (t *tx) Delete(name string, key []byte) error {
	if err := t.checkUsable(true); err != nil {
		return err
	}
	if err := kv.CheckKey(name, key); err != nil {
		return err
	}
	tb := t.table(name)
	if tb.bucket == nil {
		return nil
	}
	t.rememberForUndo(tb, key)
	tb.changes++
	tb.deleted = true
	t.changed = true
	return tb.bucket.Delete(key)
}

func (t *tx) Tables() ([]string, error) {
	if err := t.checkUsable(false); err != nil {
		return nil, err
	}
	var names []string
	err := t.bolt.ForEach(func(name []byte, _ *bbolt.Bucket) error {
		names = append(names, string(name))
		return nil
	})
	return names, err
}

func (t *tx) Drop(name string) error {
	if err := t.checkUsable(true); err != nil {
		return err
	}
	if err := kv.CheckTableName(name); err != nil {
		return err
	}
	tb := t.table(name)
	if tb.bucket == nil {
		return nil
	}
	if t.journal != nil {
		for p, err := range t.Scan(name, kv.Range{}) {
			if err != nil {
				return err
			}
			t.rememberForUndo(tb, p.Key)
		}
	}
	t.changed = true
	tb.bucket = nil
	tb.deleted = false
	tb.changes++
	return t.bolt.DeleteBucket([]byte(name))
}

func (t *tx) Scan(name string, r kv.Range) iter.Seq2[kv.Pair, error] {
	return func(yield func(kv.Pair, error) bool) {
		if err := kv.CheckTableName(name); err != nil {
			yield(kv.Pair{}, err)
			return
		}
		var (
			cursor *bbolt.Cursor
			last   []byte // a copy, because the driver's bytes may move on a write
			k, v   []byte
			seen   = -1 // the table's change count when the cursor was placed
		)
		for {
			if err := t.checkUsable(false); err != nil {
				yield(kv.Pair{}, err)
				return
			}
			tb := t.table(name)
			if tb.bucket == nil {
				return
			}
			switch {
			case cursor == nil || seen != tb.changes:
				cursor, seen = tb.bucket.Cursor(), tb.changes
				k, v = tb.seekFirstAfter(cursor, r, last)
			case r.Reverse:
				k, v = tb.seekPrevious(cursor, last)
			default:
				k, v = cursor.Next()
			}
			if k == nil || !r.Reverse && r.End != nil && bytes.Compare(k, r.End) >= 0 ||
				r.Reverse && bytes.Compare(k, r.Start) < 0 {
				return
			}
			if t.bolt.Writable() { // in a view, cursors remain valid
				last = append(last[:0], k...)
			}
			if v == nil {
				v = []byte{}
			}
			if !yield(kv.Pair{Key: k, Value: v}, nil) {
				return
			}
		}
	}
}

// maxKeyBound sorts after every key.
var maxKeyBound = bytes.Repeat([]byte{0xFF}, kv.MaxKey+1)

// seekFirstAfter moves the cursor to the pair that follows last in the scan's direction or, if last is
// empty, to the first pair of the range.
func (tb *table) seekFirstAfter(c *bbolt.Cursor, r kv.Range, last []byte) (k, v []byte) {
	if r.Reverse {
		below := r.End
		switch {
		case len(last) > 0:
			below = last
		case below == nil:
			below = maxKeyBound // not Last, which loops forever if all pages are empty
		case len(below) == 0:
			return nil, nil // nothing sorts before the empty key
		}
		c.Seek(below)
		return tb.seekPrevious(c, below)
	}
	from := r.Start
	if len(last) > 0 {
		from = last
	}
	if len(from) == 0 {
		return c.First()
	}
	k, v = c.Seek(from)
	if len(last) > 0 && bytes.Equal(k, last) {
		return c.Next()
	}
	return k, v
}

// seekPrevious moves the cursor from its position, the key below, to the previous pair. On a page that was
// emptied in this transaction, bbolt's Prev returns nil, as it does at the beginning of the table. (Next skips
// such a page.) Only a comparison with the table's first key distinguishes the two cases.
func (tb *table) seekPrevious(c *bbolt.Cursor, below []byte) (k, v []byte) {
	if k, v = c.Prev(); k != nil || !tb.deleted {
		return k, v
	}
	if first, _ := tb.bucket.Cursor().First(); first == nil || bytes.Compare(first, below) >= 0 {
		return nil, nil
	}
	for k == nil {
		k, v = c.Prev()
	}
	return k, v
}
