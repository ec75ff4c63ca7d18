//go:build unix

package enginetest_test

import (
	"syscall"
	"testing"
	"time"
)

// processorTime returns the CPU time of this process on all cores.
func processorTime(t testing.TB) time.Duration {
	t.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
