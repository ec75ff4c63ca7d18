package pdf

import (
	"github.com/tetratelabs/wazero/experimental"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

const defaultMaxMemory = 512 << 20

// linearMemory is the memory of a PDFium instance. It is mapped outside of Go's heap, so it grows without being
// copied, only pages in use take up memory, and all of it is returned to the system when the document is closed.
type linearMemory struct {
	mapped     []byte
	beginHeavy func() error
	exhausted  bool // more memory was requested than is allowed or available
}

// newLinearMemory reserves address space for memory that can grow to maxSize. Before it grows beyond
// document.LightMemory, beginHeavy is called; if that returns an error, the memory can't grow.
func newLinearMemory(maxSize int, beginHeavy func() error) (*linearMemory, error) {
	mapped, err := mapMemory(maxSize)
	if err != nil {
		return nil, err
	}
	return &linearMemory{mapped: mapped, beginHeavy: beginHeavy}, nil
}

// release returns the memory to the system. The instance must be closed before.
func (l *linearMemory) release() { unmapMemory(l.mapped) }

// Allocate implements experimental.MemoryAllocator. It returns the instance's only memory.
func (l *linearMemory) Allocate(_, _ uint64) experimental.LinearMemory { return l }

// Reallocate implements experimental.LinearMemory. It returns nil if the memory can't grow to that size.
func (l *linearMemory) Reallocate(size uint64) []byte {
	if size > uint64(len(l.mapped)) {
		l.exhausted = true
		return nil
	}
	if size > document.LightMemory && l.beginHeavy() != nil {
		return nil
	}
	if !commitMemory(l.mapped[:size]) {
		l.exhausted = true
		return nil
	}
	return l.mapped[:size]
}

// Free implements experimental.LinearMemory. It does nothing, because wazero calls it as soon as the document's
// time is up, while the memory may still be in use. release frees the memory.
func (*linearMemory) Free() {}
