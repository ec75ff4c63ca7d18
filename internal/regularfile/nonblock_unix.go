//go:build unix

package regularfile

import "syscall"

// nonBlocking prevents opening a named pipe from waiting for a writer.
const nonBlocking = syscall.O_NONBLOCK
