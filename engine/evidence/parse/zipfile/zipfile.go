// Package zipfile opens zip archives and reads their parts, with limits on number, size and
// compression ratio: because they may be crafted to exhaust memory.
package zipfile

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

// Limits for archives. Real archives are far below them.
const (
	MaxParts    = 10_000
	MaxPart     = 256 << 20 // bytes of one part, unpacked
	MaxUnpacked = 512 << 20 // bytes of all parts, unpacked
	maxRatio    = 200       // maximum ratio of unpacked to packed size, for parts larger than ratioFrom
	ratioFrom   = 16 << 20
)

// OpenWithPartLimit opens a zip archive. It returns an error if the archive has more than MaxParts parts.
func OpenWithPartLimit(content io.ReaderAt, size int64) (*zip.Reader, error) {
	z, err := zip.NewReader(content, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // insecure names are harmless, because names are never used as paths
		return nil, document.DamagedError("the zip directory", err)
	}
	if len(z.File) > MaxParts {
		return nil, document.NewError(document.ErrTooLarge, "", "the archive has %d files (the limit is %d)", len(z.File), MaxParts)
	}
	return z, nil
}

// OpenOfficeDocument opens an Office document. It returns an error if a part is encrypted or the sizes in the
// directory exceed the limits. The actual sizes are limited when parts are read.
func OpenOfficeDocument(b *document.Builder, content io.ReaderAt, size int64) (*zip.Reader, error) {
	z, err := OpenWithPartLimit(content, size)
	if err != nil {
		return nil, err
	}
	var total uint64
	for _, f := range z.File {
		if IsEncrypted(f) {
			return nil, document.NewError(document.ErrEncrypted, f.Name, "")
		}
		if n := f.UncompressedSize64; n > MaxPart {
			return nil, document.NewError(document.ErrTooLarge, f.Name, "the file unpacks to %d bytes", n)
		}
		if err := RefuseBomb(f); err != nil {
			return nil, err
		}
		if total += f.UncompressedSize64; total > MaxUnpacked {
			return nil, document.NewError(document.ErrTooLarge, "", "the archive unpacks to more than %d bytes", int64(MaxUnpacked))
		}
	}
	return z, b.ReserveMemory(int64(total))
}

// IsEncrypted reports whether an entry is protected by a password.
func IsEncrypted(f *zip.File) bool { return f.Flags&0x1 != 0 }

// RefuseBomb returns an error if a large entry has an implausible compression ratio, like a zip bomb.
func RefuseBomb(f *zip.File) error {
	if n := f.UncompressedSize64; n > ratioFrom && n/max(f.CompressedSize64, 1) > maxRatio {
		return document.NewError(document.ErrTooLarge, f.Name, "the file unpacks to %d times its size, like a zip bomb",
			n/max(f.CompressedSize64, 1))
	}
	return nil
}

// ErrNoPart is returned for a part that the archive does not contain.
var ErrNoPart = errors.New("the part is missing")

// FindPart returns the part with the given name, or nil.
func FindPart(z *zip.Reader, name string) *zip.File {
	for _, f := range z.File {
		if strings.EqualFold(strings.TrimPrefix(f.Name, "/"), strings.TrimPrefix(name, "/")) {
			return f
		}
	}
	return nil
}

// OpenPart opens a part for reading. Reading more than limit bytes is an error, whatever size the
// directory states.
func OpenPart(z *zip.Reader, name string, limit int64) (io.ReadCloser, error) {
	f := FindPart(z, name)
	if f == nil {
		return nil, fmt.Errorf("%s: %w", name, ErrNoPart)
	}
	if IsEncrypted(f) {
		return nil, document.NewError(document.ErrEncrypted, name, "")
	}
	return openEntry(f, name, limit)
}

func openEntry(f *zip.File, place string, limit int64) (io.ReadCloser, error) {
	r, err := f.Open()
	if err != nil {
		return nil, document.DamagedError(place, err)
	}
	return &partReader{ReadCloser: r, place: place, remaining: limit}, nil
}

// ReadPart returns the content of a part, which may be at most limit bytes long.
func ReadPart(z *zip.Reader, name string, limit int64) ([]byte, error) {
	r, err := OpenPart(z, name, limit)
	if err != nil {
		return nil, err
	}
	return readAll(r, name)
}

// ReadEntry returns the content of an entry, which may be at most limit bytes long.
func ReadEntry(f *zip.File, limit int64) ([]byte, error) {
	r, err := openEntry(f, "", limit)
	if err != nil {
		return nil, err
	}
	return readAll(r, "")
}

func readAll(r io.ReadCloser, place string) ([]byte, error) {
	defer r.Close()
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, document.DamagedError(place, err)
	}
	return raw, nil
}

// partReader reads a part of an archive. If the part is longer than allowed, it returns an error instead of
// io.EOF.
type partReader struct {
	io.ReadCloser
	place     string
	remaining int64
}

func (p *partReader) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	if p.remaining -= int64(n); p.remaining < 0 {
		return 0, document.NewError(document.ErrTooLarge, p.place, "the file unpacks to more than the allowed size")
	}
	return n, err
}
