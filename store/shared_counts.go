package store

import "context"

// sharedCounts are the numbers of one process.
type sharedCounts struct {
	Period int64          `json:"period"`
	Counts map[string]int `json:"counts"`
}

// ExchangeCounts makes numbers known to the other processes that share the database, and returns the sums of theirs for the same
// period. A sole writer gets none.
func (db *DB) ExchangeCounts(ctx context.Context, name string, period int64, own map[string]int) (others map[string]int, err error) {
	if db.soleWriter {
		return nil, nil
	}
	if db.processes.hasCounts(name, len(own) > 0) {
		err := db.Update(ctx, func(tx *Tx) error {
			return tx.putMeta(K("counts", name, db.processes.id), sharedCounts{Period: period, Counts: own})
		})
		if err != nil {
			return nil, err
		}
	}
	err = db.View(ctx, func(tx *Tx) error {
		others = map[string]int{}
		r, err := newScanOptions([]ScanOption{Prefix("counts", name)}).toRange()
		if err != nil {
			return err
		}
		for p, err := range tx.kv.Scan(metaTable, r) {
			if err != nil {
				return err
			}
			k := Key{b: append([]byte(nil), p.Key...)}
			var c sharedCounts
			if _, err := tx.getMeta(k, &c); err != nil {
				return err
			}
			parts, err := k.Parts()
			if err != nil || len(parts) != 3 || parts[2] == db.processes.id || c.Period != period {
				continue
			}
			process, _ := parts[2].(string)
			if running, err := tx.IsRunning(process); err != nil || !running {
				if err != nil {
					return err
				}
				continue
			}
			for key, n := range c.Counts {
				others[key] += n
			}
		}
		return nil
	})
	return others, err
}

// hasCounts reports whether there is something to write: numbers, or the end of those written last.
func (p *processes) hasCounts(name string, some bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.counted[name]
	if p.counted == nil {
		p.counted = map[string]bool{}
	}
	p.counted[name] = some
	return some || before
}
