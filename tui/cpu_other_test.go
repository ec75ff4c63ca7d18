//go:build !unix

package tui

import (
	"testing"
	"time"
)

// spent isn't known here.
func spent(*testing.B) time.Duration { return 0 }
