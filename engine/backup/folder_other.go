//go:build !linux

package backup

// creationTime always returns "" on this system.
func creationTime(string) string { return "" }
