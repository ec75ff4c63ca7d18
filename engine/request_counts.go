package engine

import "context"

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
