// Package cfb reads the directory and the streams of an OLE2 compound file, the container of Office
// files before 2007, of encrypted newer ones and of Outlook messages. Files are untrusted: sector
// chains that loop or leave the file end in an error, and no more data is read than the file's
// length.
package cfb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
)

// Magic is the signature at the start of a compound file.
const Magic = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

// ErrDamaged is wrapped by all errors about the content of a file.
var ErrDamaged = errors.New("the compound file is damaged")

const (
	freeSector       = 0xFFFFFFFF
	endOfChain       = 0xFFFFFFFE
	maxSectorID      = 0xFFFFFFFA
	entrySize        = 128
	maxEntries       = 100_000
	headerFATSectors = 109
)

// Entry is a storage (a folder) or a stream (a file).
type Entry struct {
	Name      string
	IsStorage bool
	Size      int64
	Children  []*Entry // of a storage, in no particular order

	startSector uint32
}

// Child returns the child with the given name, or nil. Names are compared byte by byte.
func (e *Entry) Child(name string) *Entry {
	for _, c := range e.Children {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// File is an open compound file.
type File struct {
	Root *Entry

	r              io.ReaderAt
	size           int64
	sectorSize     int64 // bytes of a sector
	miniSectorSize int64 // bytes of a small sector
	cutoff         int64 // shorter streams are stored in small sectors
	fat            []uint32
	miniFat        []uint32
	miniStream     []byte // the stream that contains the small sectors
}

func damagedError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// Open reads the tables and the directory of a compound file of size bytes.
func Open(r io.ReaderAt, size int64) (*File, error) {
	head := make([]byte, 512)
	if _, err := r.ReadAt(head, 0); err != nil {
		return nil, damagedError("the file is shorter than its header")
	}
	if !bytes.HasPrefix(head, []byte(Magic)) {
		return nil, damagedError("the file has the wrong signature")
	}
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(head[at:]) }
	shift, miniShift := binary.LittleEndian.Uint16(head[30:]), binary.LittleEndian.Uint16(head[32:])
	if shift != 9 && shift != 12 || miniShift < 3 || miniShift > shift {
		return nil, damagedError("the sector size 2^%d is not valid", shift)
	}
	f := &File{r: r, size: size, sectorSize: 1 << shift, miniSectorSize: 1 << miniShift, cutoff: int64(u32(56))}
	if f.cutoff > 1<<20 {
		return nil, damagedError("the size limit for small streams, %d bytes, is not valid", f.cutoff)
	}
	if err := f.readFAT(head, u32(68)); err != nil {
		return nil, err
	}
	dir, err := f.readChain(u32(48), -1)
	if err != nil {
		return nil, err
	}
	if err := f.readDirectory(dir); err != nil {
		return nil, err
	}
	raw, err := f.readChain(u32(60), -1)
	if err != nil {
		return nil, err
	}
	f.miniFat = toUint32s(raw)
	f.miniStream, err = f.readChain(f.Root.startSector, f.Root.Size)
	return f, err
}

func toUint32s(raw []byte) []uint32 {
	out := make([]uint32, len(raw)/4)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(raw[4*i:])
	}
	return out
}

// sectorCount returns the number of sectors that fit in the file.
func (f *File) sectorCount() int64 { return f.size / f.sectorSize }

func (f *File) readSector(n uint32) ([]byte, error) {
	if n >= maxSectorID || int64(n)+1 > f.sectorCount() {
		return nil, damagedError("sector %d is outside the file", n)
	}
	buf := make([]byte, f.sectorSize)
	got, err := f.r.ReadAt(buf, (int64(n)+1)*f.sectorSize)
	if err != nil && !(errors.Is(err, io.EOF) && got > 0) { // only the last sector may be truncated
		return nil, damagedError("sector %d can't be read", n)
	}
	return buf, nil
}

// readFAT reads the sector allocation table. Its sectors are listed in the header and in a chain of further
// sectors that begins at next.
func (f *File) readFAT(head []byte, next uint32) error {
	list := toUint32s(head[76 : 76+4*headerFATSectors])
	for seen := int64(0); next < maxSectorID; seen++ {
		if seen > f.sectorCount() {
			return damagedError("the list of sector tables is circular")
		}
		raw, err := f.readSector(next)
		if err != nil {
			return err
		}
		w := toUint32s(raw)
		list, next = append(list, w[:len(w)-1]...), w[len(w)-1]
	}
	for _, n := range list {
		if n >= maxSectorID {
			continue
		}
		if int64(len(f.fat)) > f.sectorCount()+f.sectorSize {
			return damagedError("the sector tables are larger than the file")
		}
		raw, err := f.readSector(n)
		if err != nil {
			return err
		}
		f.fat = append(f.fat, toUint32s(raw)...)
	}
	return nil
}

// readChain reads size bytes, or everything if size is negative, from the chain of sectors that begins at start.
func (f *File) readChain(start uint32, size int64) ([]byte, error) {
	if size > f.size {
		return nil, damagedError("a stream is longer than the file")
	}
	var out []byte
	for n := start; n != endOfChain && n != freeSector && (size < 0 || int64(len(out)) < size); {
		if int64(len(out)) > f.size {
			return nil, damagedError("a chain of sectors is circular")
		}
		raw, err := f.readSector(n)
		if err != nil {
			return nil, err
		}
		out = append(out, raw...)
		if int64(n) >= int64(len(f.fat)) {
			return nil, damagedError("sector %d is not in any sector table", n)
		}
		n = f.fat[n]
	}
	if size >= 0 && int64(len(out)) < size {
		return nil, damagedError("a stream ends after %d of %d bytes", len(out), size)
	}
	if size >= 0 {
		out = out[:size]
	}
	return out, nil
}

// readDirectory builds the tree of entries. In the file, siblings form a binary tree; links back to entries
// already visited are ignored.
func (f *File) readDirectory(raw []byte) error {
	n := len(raw) / entrySize
	if n == 0 {
		return damagedError("the file has no directory")
	}
	if n > maxEntries {
		return damagedError("the directory has too many entries (%d)", n)
	}
	seen := make([]bool, n)
	entry := func(id uint32) *Entry {
		e := raw[int(id)*entrySize:][:entrySize]
		length := min(int(binary.LittleEndian.Uint16(e[64:])), 64)
		var name []uint16
		for i := 0; i+2 < length; i += 2 {
			name = append(name, binary.LittleEndian.Uint16(e[i:]))
		}
		return &Entry{
			Name: string(utf16.Decode(name)), IsStorage: e[66] == 1 || e[66] == 5,
			Size: int64(binary.LittleEndian.Uint32(e[120:])), startSector: binary.LittleEndian.Uint32(e[116:]),
		}
	}
	// children returns the entries of the sibling tree below top; the start of a storage is in turn
	// the top of the tree of its children.
	children := func(top uint32) []*Entry {
		var out []*Entry
		stack := []uint32{top}
		for len(stack) > 0 {
			id := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if int64(id) >= int64(n) || seen[id] {
				continue
			}
			seen[id] = true
			e := raw[int(id)*entrySize:][:entrySize]
			if kind := e[66]; kind == 1 || kind == 2 {
				one := entry(id)
				if one.IsStorage {
					one.startSector = binary.LittleEndian.Uint32(e[76:])
				}
				out = append(out, one)
			}
			stack = append(stack, binary.LittleEndian.Uint32(e[72:]), binary.LittleEndian.Uint32(e[68:]))
		}
		return out
	}
	f.Root = entry(0)
	seen[0] = true
	f.Root.Children = children(binary.LittleEndian.Uint32(raw[76:]))
	// Breadth first, so that deep nesting doesn't require a deep stack.
	for todo := append([]*Entry(nil), f.Root.Children...); len(todo) > 0; todo = todo[1:] {
		if e := todo[0]; e.IsStorage {
			e.Children = children(e.startSector)
			todo = append(todo, e.Children...)
		}
	}
	return nil
}

// ReadStream returns the content of a stream.
func (f *File) ReadStream(e *Entry) ([]byte, error) {
	switch {
	case e.IsStorage:
		return nil, damagedError("%q is a folder", e.Name)
	case e.Size >= f.cutoff:
		return f.readChain(e.startSector, e.Size)
	}
	out := make([]byte, 0, e.Size)
	for n := e.startSector; int64(len(out)) < e.Size; {
		from := int64(n) * f.miniSectorSize
		if n >= maxSectorID || from+f.miniSectorSize > int64(len(f.miniStream)) || int(n) >= len(f.miniFat) {
			return nil, damagedError("the stream %q ends after %d of %d bytes", e.Name, len(out), e.Size)
		}
		out = append(out, f.miniStream[from:from+f.miniSectorSize]...)
		n = f.miniFat[n]
	}
	return out[:e.Size], nil
}
