//go:build unix

package render

import (
	"syscall"
	"time"
)

// cpuTime is what this process has had of processors: what a benchmark costs, however busy
// the machine is.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
