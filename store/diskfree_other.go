//go:build !(linux || darwin)

package store

// DiskFree reports unknown free space on this system.
func DiskFree(string) (uint64, bool) { return 0, false }
