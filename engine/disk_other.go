//go:build !(linux || darwin)

package engine

// DiskFree is the room left where dir is; it is not known here.
func DiskFree(string) (uint64, bool) { return 0, false }
