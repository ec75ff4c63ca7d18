//go:build !unix

package main

import "os"

// isPrivateDir reports whether dir is a folder. On this system, a user's temporary folder is private
// anyway.
func isPrivateDir(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir()
}
