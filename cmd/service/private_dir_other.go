//go:build !unix

package main

import "os"

// isPrivateDir reports whether dir is a folder. It checks nothing else, because a user's temporary folder is always
// private on this system.
func isPrivateDir(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir()
}
