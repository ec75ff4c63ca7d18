//go:build !unix

package render

import "time"

// cpuTime returns 0; CPU time is not available on this system.
func cpuTime() time.Duration { return 0 }
