//go:build linux || darwin

package store

import "syscall"

// DiskFree returns the space available to this user on dir's disk, in bytes.
func DiskFree(dir string) (free uint64, known bool) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, false
	}
	return st.Bavail * uint64(st.Bsize), true
}
