//go:build !unix

package enginetest_test

import (
	"testing"
	"time"
)

// processorTime is not known here.
func processorTime(testing.TB) time.Duration { return 0 }
