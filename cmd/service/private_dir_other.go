//go:build !unix

package main

import "os"

// isPrivateDir reports whether a folder is this person's alone: there, the temporary folder already is.
func isPrivateDir(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir()
}
