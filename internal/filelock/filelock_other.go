//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package filelock

import "errors"

// TryLock always returns errors.ErrUnsupported on this system.
func TryLock(string) (release func(), err error) { return func() {}, errors.ErrUnsupported }
