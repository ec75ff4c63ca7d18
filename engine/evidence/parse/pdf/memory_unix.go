//go:build unix

package pdf

import "syscall"

// mapMemory reserves memory whose pages are allocated when they are first written.
func mapMemory(size int) ([]byte, error) {
	return syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
}

func commitMemory([]byte) bool { return true }

func unmapMemory(mapped []byte) { _ = syscall.Munmap(mapped) }
