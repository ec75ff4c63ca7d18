// Package leangc lowers the garbage collector's target during work that allocates several times what it keeps, such as
// importing a catalog or a first draft. It must not be used for short work: the target applies to the whole process.
package leangc

import (
	"runtime/debug"
	"sync"
)

// percent is the target while such work runs: garbage may take up this part of what is in use.
const percent = 40

var (
	mu      sync.Mutex
	running int
	before  int // the target to restore
)

// Begin lowers the target, unless it is lower or off already, until done has been called as often as Begin.
func Begin() (done func()) {
	mu.Lock()
	defer mu.Unlock()
	if running++; running == 1 {
		if before = debug.SetGCPercent(percent); before < percent {
			debug.SetGCPercent(before)
		}
	}
	return sync.OnceFunc(func() {
		mu.Lock()
		defer mu.Unlock()
		if running--; running == 0 {
			debug.SetGCPercent(before)
		}
	})
}
