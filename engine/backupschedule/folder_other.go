//go:build !linux

package backupschedule

// creationTime always returns "" on this system.
func creationTime(string) string { return "" }
