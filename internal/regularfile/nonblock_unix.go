//go:build unix

package regularfile

import "syscall"

// nonBlocking is the flag that prevents the opening of a named pipe from waiting for a writer.
const nonBlocking = syscall.O_NONBLOCK
