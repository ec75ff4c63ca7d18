//go:build !unix

package enginetest_test

import (
	"testing"
	"time"
)

// processorTime returns 0; CPU time is not available on this system.
func processorTime(testing.TB) time.Duration { return 0 }
