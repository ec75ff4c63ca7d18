package engine

import (
	"context"
	"time"
)

// adoptInterval is the time between two checks for work that killed processes left unfinished.
const adoptInterval = 10 * time.Second

// adoptPeriodically continues what other processes on the same database have left behind, until ctx ends. Workflow runs have
// leases of their own.
func (e *Engine) adoptPeriodically(ctx context.Context) {
	ticks, stop := e.newTicker(adoptInterval)
	defer stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
		if !e.db.IsLeader() {
			continue
		}
		for what, do := range map[string]func(context.Context) error{
			"documents": e.Evidence.EnqueueUnread, "agent runs": e.Agents.FailAbandonedRuns,
		} {
			if err := do(ctx); err != nil && ctx.Err() == nil {
				e.log.Warn("taking over the work of other processes failed", "what", what, "error", err)
			}
		}
	}
}

// ExchangeRequestCounts returns a function that reports this process's request counts in a window
// to the other processes on the same database and returns theirs. It returns nil if no other
// process can use the database.
func (e *Engine) ExchangeRequestCounts() func(ctx context.Context, window int64, own map[string]int) (map[string]int, error) {
	if e.db.IsSoleWriter() {
		return nil
	}
	return func(ctx context.Context, window int64, own map[string]int) (map[string]int, error) {
		return e.db.ExchangeCounts(ctx, "requests", window, own)
	}
}
