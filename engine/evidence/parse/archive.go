package parse

import (
	"archive/zip"
	"io"
	"path"
	"strings"

	"golang.org/x/text/encoding/charmap"
)

// readArchive reads the files in a zip archive, each as a part of one document. Names are only
// displayed; nothing is unpacked to disk.
func (r *Reader) readArchive(b *builder, content io.ReaderAt, size int64) error {
	z, err := zipDirectory(content, size)
	if err != nil {
		return err
	}
	c := r.newContainer(b)
	for _, f := range z.File {
		if err := b.ctx.Err(); err != nil {
			return err
		}
		name := memberName(f)
		if f.FileInfo().IsDir() || strings.HasSuffix(name, "/") || isSystemFile(name) {
			continue
		}
		if err := c.addEntry(name, f); err != nil {
			return err
		}
	}
	return c.finish("archive")
}

// addEntry reads one entry of an archive.
func (c *container) addEntry(name string, f *zip.File) error {
	n := f.UncompressedSize64
	label := c.uniqueName(name)
	if n > uint64(c.r.opt.MaxBytes) {
		c.members++
		c.skipMember(label, newError(ErrTooLarge, "", "%d bytes, the limit is %d", n, c.r.opt.MaxBytes))
		return nil
	}
	if err := c.checkLimits(int64(n)); err != nil {
		return err
	}
	if err := refuseBomb(f); err != nil {
		return err
	}
	if f.Flags&zipEncrypted != 0 {
		c.skipMember(label, newError(ErrEncrypted, "", ""))
		return nil
	}
	raw, err := unpackEntry(f, int64(n))
	if err != nil {
		c.skipMember(label, err)
		return nil
	}
	return c.addMember(label, raw)
}

// unpackEntry unpacks an entry, up to the size given in the archive.
func unpackEntry(f *zip.File, limit int64) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, damagedError("", err)
	}
	defer r.Close()
	raw, err := io.ReadAll(&partReader{ReadCloser: r, name: "", remaining: limit})
	if err != nil {
		return nil, damagedError("", err)
	}
	return raw, nil
}

// memberName returns an entry's name as text. Old archives use the DOS code page.
func memberName(f *zip.File) string {
	if f.NonUTF8 {
		if s, err := charmap.CodePage437.NewDecoder().String(f.Name); err == nil {
			return s
		}
	}
	return strings.ToValidUTF8(f.Name, "\uFFFD")
}

// isSystemFile reports whether an entry is a file that operating systems add to archives and
// folders.
func isSystemFile(name string) bool {
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	return strings.HasPrefix(name, "__MACOSX/") || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "~$") ||
		strings.EqualFold(base, "thumbs.db") || strings.EqualFold(base, "desktop.ini")
}
