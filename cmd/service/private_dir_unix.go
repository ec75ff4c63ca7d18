//go:build unix

package main

import (
	"os"
	"syscall"
)

// isPrivateDir reports whether dir is a folder, not a symbolic link, that only this user can access.
func isPrivateDir(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || info.Mode().Perm()&0o077 != 0 {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}
