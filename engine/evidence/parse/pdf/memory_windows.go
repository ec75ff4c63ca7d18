package pdf

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// mapMemory reserves memory, which commitMemory makes usable.
func mapMemory(size int) ([]byte, error) {
	start, err := windows.VirtualAlloc(0, uintptr(size), windows.MEM_RESERVE, windows.PAGE_READWRITE)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&start)), size), nil
}

func commitMemory(part []byte) bool {
	_, err := windows.VirtualAlloc(uintptr(unsafe.Pointer(&part[0])), uintptr(len(part)), windows.MEM_COMMIT, windows.PAGE_READWRITE)
	return err == nil
}

func unmapMemory(mapped []byte) {
	_ = windows.VirtualFree(uintptr(unsafe.Pointer(&mapped[0])), 0, windows.MEM_RELEASE)
}
