// Package filelock locks files and folders across processes. The operating system releases a lock when its process
// ends for any reason.
package filelock

import "errors"

// ErrLocked is returned if the file is already locked.
var ErrLocked = errors.New("the file is locked")
