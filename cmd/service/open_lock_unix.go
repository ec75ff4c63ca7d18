//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

import (
	"os"
	"syscall"
)

// acquireOpenLock lets one process at a time try to open a data folder. Each attempt scans the
// database under a shared lock, so many processes at once would keep each other from getting the
// exclusive lock.
func acquireOpenLock(dir string) (release func(), ok bool) {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY, 0) //nolint:forbidigo // a folder, and nothing else
	if err != nil {                                                // missing or inaccessible: opening it reports the error
		return func() {}, true
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return func() {}, err != syscall.EWOULDBLOCK // without file locks, everyone may try
	}
	return func() { _ = f.Close() }, true
}
