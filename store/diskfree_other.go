//go:build !(linux || darwin)

package store

// DiskFree always returns false on this system, where the free space is unknown.
func DiskFree(string) (uint64, bool) { return 0, false }
