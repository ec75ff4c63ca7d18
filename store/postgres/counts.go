package postgres

import (
	"context"
	"sync/atomic"
)

// Counts holds the numbers of operations that transactions have performed. It is for tests.
type Counts struct {
	RoundTrips  atomic.Int64 // messages to the database that were answered
	Repetitions atomic.Int64 // Updates that ran again after a conflict or a lost connection
}

type countsKey struct{}

// WithCounts returns a context whose transactions are counted in c.
func WithCounts(ctx context.Context, c *Counts) context.Context {
	return context.WithValue(ctx, countsKey{}, c)
}

// countsOf returns the counts of a context, or nil.
func countsOf(ctx context.Context) *Counts {
	c, _ := ctx.Value(countsKey{}).(*Counts)
	return c
}
