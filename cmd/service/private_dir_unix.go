//go:build unix

package main

import (
	"os"
	"syscall"
)

// isPrivateDir reports whether only this user can access a folder; a symbolic link to one does not
// count.
func isPrivateDir(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || info.Mode().Perm()&0o077 != 0 {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}
