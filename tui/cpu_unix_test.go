//go:build unix

package tui

import (
	"syscall"
	"testing"
	"time"
)

// spent is the time of the processor that this process has had: the clock tells little on
// a machine that others use too.
func spent(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
