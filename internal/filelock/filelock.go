// Package filelock locks files and folders among processes. The system releases a lock when its process ends, however it
// ends.
package filelock

import "errors"

// ErrLocked is the error if the file is locked already.
var ErrLocked = errors.New("the file is locked")
