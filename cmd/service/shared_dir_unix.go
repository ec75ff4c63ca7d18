//go:build unix

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// checkNotShared returns an error if another user of the machine can change a data folder, or what is
// directly in it. A folder that doesn't exist yet is created for its user alone.
func checkNotShared(dir string) error {
	if parent, err := os.Stat(filepath.Dir(filepath.Clean(dir))); err == nil {
		if mode := parent.Mode(); mode&0o002 != 0 && mode&fs.ModeSticky == 0 {
			return sharedDataError(filepath.Dir(filepath.Clean(dir)), parent)
		}
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil // opening it reports the error
	}
	if isShared(info) {
		return sharedDataError(dir, info)
	}
	entries, _ := os.ReadDir(dir) // likewise
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && (info.IsDir() || info.Mode().IsRegular()) && isShared(info) {
			return sharedDataError(filepath.Join(dir, e.Name()), info)
		}
	}
	return nil
}

// isShared reports whether another user than root can write.
func isShared(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return info.Mode().Perm()&0o022 != 0 || ok && st.Uid != 0 && int(st.Uid) != os.Geteuid()
}

func sharedDataError(path string, info fs.FileInfo) error {
	owner := ""
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		owner = fmt.Sprintf(", user %d", st.Uid)
	}
	return fmt.Errorf("other users of this machine can change %s (mode %#o%s), and with it every record; make it yours alone "+
		"(`chmod go-w`, `chown`), or for the volume of a container set --allow-shared-data (SERVICE_ALLOW_SHARED_DATA=true)",
		path, info.Mode().Perm(), owner)
}
