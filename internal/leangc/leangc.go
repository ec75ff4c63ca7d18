// Package leangc lowers the garbage collector's target during work that allocates several times what it keeps, such as
// importing a catalog or a first draft. It must not be used for short work: the target applies to the whole process.
package leangc

import (
	"runtime/debug"
	"sync"
)

// percent is the lowered target: a collection starts when the garbage reaches this percentage of the memory in use.
const percent = 20

var (
	mu      sync.Mutex
	running int
	before  int // the target to restore
)

// Begin lowers the garbage collection target, unless it is already lower or collection is off. The target stays
// lowered until done has been called as often as Begin.
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
