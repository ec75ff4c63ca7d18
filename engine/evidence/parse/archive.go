package parse

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"path"
	"strings"

	"golang.org/x/text/encoding/charmap"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/engine/evidence/parse/zipfile"
	"github.com/scf-service/service/internal/regularfile"
)

// readArchive reads the files in a zip archive, each as a part of one document. File names are only
// displayed, and nothing is unpacked to disk.
func (r *Reader) readArchive(b *document.Builder, content io.ReaderAt, size int64) error {
	z, err := zipfile.OpenWithPartLimit(content, size)
	if err != nil {
		return err
	}
	if isOwnArchive(z) {
		return errOwnReport
	}
	c := b.NewContainer()
	for _, f := range z.File {
		if err := b.Context().Err(); err != nil {
			return err
		}
		name := decodeEntryName(f)
		if f.FileInfo().IsDir() || strings.HasSuffix(name, "/") || isSystemFile(name) {
			continue
		}
		if err := r.addEntry(b, c, name, f); err != nil {
			return err
		}
	}
	return c.RequireAnyRead("archive")
}

// addEntry reads one entry of an archive and adds its content to the document.
func (r *Reader) addEntry(b *document.Builder, c *document.Container, name string, f *zip.File) error {
	label, err := c.NextMemberLabel(name)
	if err != nil {
		return err
	}
	n := f.UncompressedSize64
	if n > uint64(r.opt.MaxBytes) {
		c.SkipMember(label, document.NewError(document.ErrTooLarge, "", "the file has %d bytes (the limit is %d)", n, r.opt.MaxBytes))
		return nil
	}
	if err := b.ConsumeUnpackedBudget(int64(n)); err != nil {
		return err
	}
	if err := zipfile.RefuseBomb(f); err != nil {
		return err
	}
	if zipfile.IsEncrypted(f) {
		c.SkipMember(label, document.NewError(document.ErrEncrypted, "", ""))
		return nil
	}
	raw, err := zipfile.ReadEntry(f, int64(n))
	if err != nil {
		c.SkipMember(label, err)
		return nil
	}
	return c.AddMember(label, raw)
}

// readTar reads the files in a tar archive, each as a part of one document.
func (r *Reader) readTar(b *document.Builder, content io.ReaderAt, size int64) error {
	t := tar.NewReader(io.NewSectionReader(content, 0, size))
	c := b.NewContainer()
	for {
		if err := b.Context().Err(); err != nil {
			return err
		}
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return c.RequireAnyRead("archive")
		}
		if err != nil {
			return document.DamagedError("", err)
		}
		name := strings.ToValidUTF8(h.Name, "\uFFFD")
		if h.Typeflag != tar.TypeReg || isSystemFile(name) {
			continue
		}
		raw, err := r.unpack(t)
		if err != nil {
			return err
		}
		if err := c.Add(name, raw); err != nil {
			return err
		}
	}
}

// readGzip reads the file in a gzip archive as a part of the document.
func (r *Reader) readGzip(b *document.Builder, name string, content io.ReaderAt, size int64) error {
	z, err := gzip.NewReader(io.NewSectionReader(content, 0, size))
	if err != nil {
		return document.DamagedError("", err)
	}
	if err := b.BeginHeavy(); err != nil { // the unpacked size isn't known
		return err
	}
	raw, err := r.unpack(z)
	if err != nil {
		return err
	}
	inner, isTar := strings.CutSuffix(path.Base(name), ".tgz")
	if inner = strings.TrimSuffix(inner, ".gz"); isTar {
		inner += ".tar"
	}
	c := b.NewContainer()
	if err := c.Add(inner, raw); err != nil {
		return err
	}
	return c.RequireAnyRead("archive")
}

// unpack reads a file from an archive. It returns an error if the file exceeds the size limit.
func (r *Reader) unpack(from io.Reader) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(from, r.opt.MaxBytes+1))
	if err != nil {
		return nil, document.DamagedError("", err)
	}
	if int64(len(raw)) > r.opt.MaxBytes {
		return nil, document.NewError(document.ErrTooLarge, "", "the archive contains a file of more than %d bytes", r.opt.MaxBytes)
	}
	return raw, nil
}

// decodeEntryName decodes the name of an entry. In old archives, names are encoded in the DOS code page.
func decodeEntryName(f *zip.File) string {
	if f.NonUTF8 {
		if s, err := charmap.CodePage437.NewDecoder().String(f.Name); err == nil {
			return s
		}
	}
	return strings.ToValidUTF8(f.Name, "\uFFFD")
}

// isSystemFile reports whether an entry is one of the files that operating systems add to archives and folders.
func isSystemFile(name string) bool {
	slashed := strings.ReplaceAll(name, `\`, "/")
	return strings.HasPrefix(name, "__MACOSX/") || strings.HasPrefix(path.Base(slashed), ".") || regularfile.IsLeftover(slashed)
}
