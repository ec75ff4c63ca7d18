package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// idleInterval is the time between two looks; one with less than quiet bytes allocated was idle.
	idleInterval = 15 * time.Second
	idleBytes    = 4 << 20
	// minReleaseBytes is how much must have been allocated since the last time.
	minReleaseBytes = 16 << 20
)

// releaseMemory returns memory to the system when work is done: an import takes hundreds of
// megabytes for seconds, and the runtime would keep them for minutes. rest lets go of what
// nobody has asked for in a quarter of an hour, and tells whether there was any.
func releaseMemory(ctx context.Context, trimCaches func() bool) {
	tick := time.NewTicker(idleInterval)
	defer tick.Stop()
	debug.FreeOSMemory() // what the start took
	before, lastReleased := allocatedBytes(), allocatedBytes()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		rested := trimCaches()
		now := allocatedBytes()
		if rested || now-before < idleBytes && now-lastReleased > minReleaseBytes {
			debug.FreeOSMemory()
			lastReleased = now
		}
		before = now
	}
}

// allocatedBytes is how many bytes were ever allocated.
func allocatedBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
