//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// TryLock locks an existing file or folder until release is called, or returns ErrLocked. Any other error means that
// the file can't be locked. release may be called even after an error.
func TryLock(path string) (release func(), err error) {
	// With O_NONBLOCK, opening a named pipe doesn't wait for a writer.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) //nolint:forbidigo // nothing is read
	if err != nil {
		return func() {}, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrLocked
		}
		return func() {}, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil
}
