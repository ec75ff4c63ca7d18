package store

import "context"

// sharedCounts are the numbers that one process shares with the others.
type sharedCounts struct {
	Period int64          `json:"period"`
	Counts map[string]int `json:"counts"`
}

// ExchangeCounts shares numbers with the other processes that use the database, and returns the sums of the other
// processes' numbers for the same period. For a sole writer, there are no such sums.
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
		running := map[string]bool{}
		for p, err := range scanProcessMeta[processRecord](tx, "process") {
			if err != nil {
				return err
			}
			running[p.subject] = p.subject != db.processes.id && tx.now.Before(p.value.Until)
		}
		for c, err := range scanProcessMeta[sharedCounts](tx, "counts", name) {
			if err != nil {
				return err
			}
			if !running[c.subject] || c.value.Period != period {
				continue
			}
			for key, n := range c.value.Counts {
				others[key] += n
			}
		}
		return nil
	})
	return others, err
}

// hasCounts reports whether there is something to write: new numbers, or the removal of the numbers written last time.
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
