package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// quietFor is the time between two looks; one with less than quiet bytes allocated was idle.
	quietFor = 15 * time.Second
	quiet    = 4 << 20
	// worthIt is how much must have been allocated since the last time.
	worthIt = 16 << 20
)

// giveBack returns memory to the system when work is done: an import takes hundreds of
// megabytes for seconds, and the runtime would keep them for minutes. rest lets go of what
// nobody has asked for in a quarter of an hour, and tells whether there was any.
func giveBack(ctx context.Context, rest func() bool) {
	tick := time.NewTicker(quietFor)
	defer tick.Stop()
	debug.FreeOSMemory() // what the start took
	before, given := allocated(), allocated()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		rested := rest()
		now := allocated()
		if rested || now-before < quiet && now-given > worthIt {
			debug.FreeOSMemory()
			given = now
		}
		before = now
	}
}

// allocated is how many bytes were ever allocated.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
