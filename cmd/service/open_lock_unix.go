//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

import (
	"os"
	"syscall"
)

// acquireOpenLock gives one process at a time the right to try to open a data folder. Who
// tries looks through the database under a lock that others can share; a crowd of
// them would keep each other from ever having it alone.
func acquireOpenLock(dir string) (release func(), ok bool) {
	f, err := os.Open(dir)
	if err != nil { // not there yet, or not ours to open: opening it tells
		return func() {}, true
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return func() {}, err != syscall.EWOULDBLOCK // a file system without such locks keeps nobody out
	}
	return func() { _ = f.Close() }, true
}
