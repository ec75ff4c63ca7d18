//go:build !(linux || darwin)

package engine

// diskFree is not known here.
func diskFree(string) (uint64, bool) { return 0, false }
