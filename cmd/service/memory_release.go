package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// idleInterval is the time between two checks for idleness; an interval with less than idleBytes
	// allocated counts as idle.
	idleInterval = 15 * time.Second
	idleBytes    = 4 << 20
	// minReleaseBytes is the number of bytes that must have been allocated since the last release to make another
	// release worthwhile.
	minReleaseBytes = 16 << 20
)

// releaseMemoryPeriodically returns memory to the operating system after work has ended. An import uses hundreds of
// megabytes for seconds, and the runtime would keep this memory for minutes. trimCaches evicts entries that have not
// been used for 15 minutes, and reports whether there were any.
func releaseMemoryPeriodically(ctx context.Context, trimCaches func() bool) {
	tick := time.NewTicker(idleInterval)
	defer tick.Stop()
	debug.FreeOSMemory() // memory used during startup
	before, lastReleased := totalAllocatedBytes(), totalAllocatedBytes()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		rested := trimCaches()
		now := totalAllocatedBytes()
		if rested || now-before < idleBytes && now-lastReleased > minReleaseBytes {
			debug.FreeOSMemory()
			lastReleased = now
		}
		before = now
	}
}

// totalAllocatedBytes returns the total number of bytes ever allocated.
func totalAllocatedBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
