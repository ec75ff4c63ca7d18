//go:build !unix

package tui

import (
	"testing"
	"time"
)

// spent returns 0; CPU time is not available on this system.
func spent(*testing.B) time.Duration { return 0 }
