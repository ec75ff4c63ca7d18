package parse

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Limits of an Office document. Real ones are far below.
const (
	maxParts     = 10_000
	maxPart      = 256 << 20 // bytes of one part, unpacked
	maxUnpacked  = 512 << 20 // bytes of all parts, unpacked
	maxRatio     = 200       // unpacked to packed, for parts over ratioFrom
	ratioFrom    = 16 << 20
	maxTypesPart = 4 << 20
	zipEncrypted = 0x1
)

// zipDirectory opens an archive with a limited number of parts.
func zipDirectory(content io.ReaderAt, size int64) (*zip.Reader, error) {
	z, err := zip.NewReader(content, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // names are never used as paths
		return nil, damagedError("the zip directory", err)
	}
	if len(z.File) > maxParts {
		return nil, newError(ErrTooLarge, "", "the archive has %d parts, the limit is %d", len(z.File), maxParts)
	}
	return z, nil
}

// openOfficeZip opens an Office document and rejects one whose directory exceeds the size limits.
// The actual size of parts is limited when they are read.
func openOfficeZip(content io.ReaderAt, size int64) (*zip.Reader, error) {
	z, err := zipDirectory(content, size)
	if err != nil {
		return nil, err
	}
	var total uint64
	for _, f := range z.File {
		if f.Flags&zipEncrypted != 0 {
			return nil, newError(ErrEncrypted, f.Name, "")
		}
		if n := f.UncompressedSize64; n > maxPart {
			return nil, newError(ErrTooLarge, f.Name, "unpacks to %d bytes", n)
		}
		if err := refuseBomb(f); err != nil {
			return nil, err
		}
		if total += f.UncompressedSize64; total > maxUnpacked {
			return nil, newError(ErrTooLarge, "", "the archive unpacks to more than %d bytes", int64(maxUnpacked))
		}
	}
	return z, nil
}

// refuseBomb rejects an entry with an implausible compression ratio.
func refuseBomb(f *zip.File) error {
	if n := f.UncompressedSize64; n > ratioFrom && n/max(f.CompressedSize64, 1) > maxRatio {
		return newError(ErrTooLarge, f.Name, "unpacks to %d times its size, like a zip bomb", n/max(f.CompressedSize64, 1))
	}
	return nil
}

// contentTypes returns the list of content types of an Office document, or "".
func contentTypes(z *zip.Reader) (string, error) {
	raw, err := readPart(z, "[Content_Types].xml", maxTypesPart)
	if errors.Is(err, errNoPart) {
		return "", nil
	}
	return string(raw), err
}

var errNoPart = errors.New("the part is missing")

func findPart(z *zip.Reader, name string) *zip.File {
	for _, f := range z.File {
		if strings.EqualFold(strings.TrimPrefix(f.Name, "/"), strings.TrimPrefix(name, "/")) {
			return f
		}
	}
	return nil
}

// openPart opens a part for reading at most limit bytes, whatever its directory entry says.
func openPart(z *zip.Reader, name string, limit int64) (io.ReadCloser, error) {
	f := findPart(z, name)
	if f == nil {
		return nil, fmt.Errorf("%s: %w", name, errNoPart)
	}
	if f.Flags&zipEncrypted != 0 {
		return nil, newError(ErrEncrypted, name, "")
	}
	r, err := f.Open()
	if err != nil {
		return nil, damagedError(name, err)
	}
	return &partReader{ReadCloser: r, name: name, remaining: limit}, nil
}

func readPart(z *zip.Reader, name string, limit int64) ([]byte, error) {
	r, err := openPart(z, name, limit)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var buf bytes.Buffer
	if _, err := buf.ReadFrom(r); err != nil {
		return nil, damagedError(name, err)
	}
	return buf.Bytes(), nil
}

// partReader returns an error, rather than EOF, if a part is longer than allowed.
type partReader struct {
	io.ReadCloser
	name      string
	remaining int64
}

func (p *partReader) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	if p.remaining -= int64(n); p.remaining < 0 {
		return 0, newError(ErrTooLarge, p.name, "unpacks to more than allowed")
	}
	return n, err
}
