//go:build unix

package daemon_test

import (
	"syscall"
	"testing"
	"time"
)

// cpuTime returns the CPU time of this process, which, unlike the elapsed time, does not depend on the machine's load.
func cpuTime(b testing.TB) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
