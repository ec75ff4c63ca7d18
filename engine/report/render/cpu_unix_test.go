//go:build unix

package render

import (
	"syscall"
	"time"
)

// cpuTime returns the CPU time of this process, which, unlike the elapsed time, does not depend on
// the machine's load.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
