//go:build unix

package regularfile

import "syscall"

// nonBlocking is the flag that keeps an open call on a named pipe from waiting for a writer.
const nonBlocking = syscall.O_NONBLOCK
