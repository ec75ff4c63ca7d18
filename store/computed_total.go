package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"iter"

	"github.com/scf-service/service/store/kv"
)

// computedTotal presents a database without a total checksum as if it had one and had no records of running
// processes. Its backups and copies are therefore like those of any other database.
type computedTotal struct {
	kv.KV
	stored []byte // the computed value of totalKey
}

// computeTotal reads the whole database, except for a total that an earlier version of the program may have
// left there.
func computeTotal(ctx context.Context, k kv.KV) (computedTotal, error) {
	var sum totalChecker
	n := 0
	for r, err := range allRecords(k) {
		if err != nil {
			return computedTotal{}, err
		}
		if r.Table == metaTable && isProcessMeta(r.Key) {
			continue
		}
		if n++; n%1024 == 0 && ctx.Err() != nil {
			return computedTotal{}, ctx.Err()
		}
		sum.Pair(r.Table, r.Key, r.Value)
	}
	value := binary.BigEndian.AppendUint64(nil, sum.total)
	return computedTotal{KV: k, stored: appendChecksum(newCheckedTable(metaTable), totalKey.b, value)}, nil
}

// Scan implements kv.KV for ascending ranges without bounds.
func (c computedTotal) Scan(table string, r kv.Range) iter.Seq2[kv.Pair, error] {
	if table != metaTable {
		return c.KV.Scan(table, r)
	}
	return func(yield func(kv.Pair, error) bool) {
		total := kv.Pair{Key: totalKey.b, Value: c.stored}
		passed := false
		for p, err := range c.KV.Scan(table, r) {
			if err == nil && (isTotal(table, p.Key) || isProcessMeta(p.Key)) {
				continue
			}
			if err == nil && !passed && bytes.Compare(p.Key, total.Key) > 0 {
				passed = true
				if !yield(total, nil) {
					return
				}
			}
			if !yield(p, err) || err != nil {
				return
			}
		}
		if !passed {
			yield(total, nil)
		}
	}
}
