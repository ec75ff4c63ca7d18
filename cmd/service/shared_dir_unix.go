//go:build unix

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// checkNotShared returns an error if another user of the machine can change a data folder, its direct
// entries, or its parent. It returns nil for a missing folder, which is later created with mode 0700.
func checkNotShared(dir string) error {
	parents := []string{filepath.Dir(filepath.Clean(dir))}
	if target, err := filepath.EvalSymlinks(dir); err == nil {
		parents = append(parents, filepath.Dir(target))
	}
	for _, parent := range parents {
		info, err := os.Stat(parent)
		if err == nil && info.Mode()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0 {
			return sharedDataError(parent, info)
		}
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil // opening the folder reports the error
	}
	if isShared(info) {
		return sharedDataError(dir, info)
	}
	entries, _ := os.ReadDir(dir) // any error is reported when the folder is opened
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && (info.IsDir() || info.Mode().IsRegular()) && isShared(info) {
			return sharedDataError(filepath.Join(dir, e.Name()), info)
		}
	}
	return nil
}

// isShared reports whether a file can be written by anyone other than root and the user running this
// program.
func isShared(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return info.Mode().Perm()&0o022 != 0 || ok && st.Uid != 0 && int(st.Uid) != os.Geteuid()
}

// sharedDataError returns the error for a path that other users can change, with advice on how to fix it.
func sharedDataError(path string, info fs.FileInfo) error {
	owner := ""
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		owner = fmt.Sprintf(", owned by user %d", st.Uid)
	}
	return fmt.Errorf("other users of this machine can change %s (mode %#o%s) and every record in it; allow only your own user to write to this folder "+
		"(`chmod go-w`, `chown`) or, if it is a container volume, set SERVICE_ALLOW_SHARED_DATA=true "+
		"(for the daemon, --allow-shared-data also works)",
		path, info.Mode().Perm(), owner)
}
