//go:build !unix

package daemon_test

import (
	"testing"
	"time"
)

// cpuTime returns 0; CPU time is not available on this system.
func cpuTime(testing.TB) time.Duration { return 0 }
