//go:build !unix

package main

import "os"

// isPrivateDir reports whether only this user can access a folder; here the temporary folder
// already is private.
func isPrivateDir(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir()
}
