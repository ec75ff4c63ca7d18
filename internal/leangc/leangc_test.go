package leangc

import (
	"runtime/debug"
	"testing"
)

// TestTargetIsRestored checks that the target is lowered while any work runs, and that one that is lower or off stays.
func TestTargetIsRestored(t *testing.T) {
	target := func() int {
		now := debug.SetGCPercent(100)
		debug.SetGCPercent(now)
		return now
	}
	defer debug.SetGCPercent(target())
	for _, c := range []struct{ before, during int }{{100, percent}, {20, 20}, {-1, -1}} {
		debug.SetGCPercent(c.before)
		first, second := Begin(), Begin()
		first()
		first()
		if now := target(); now != c.during {
			t.Errorf("from %d: %d during work, want %d", c.before, now, c.during)
		}
		if second(); target() != c.before {
			t.Errorf("from %d: %d afterwards", c.before, target())
		}
	}
}
