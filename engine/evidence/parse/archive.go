package parse

import (
	"archive/zip"
	"io"
	"path"
	"strings"

	"golang.org/x/text/encoding/charmap"
)

// readArchive reads the files in a zip archive, each as a part of the one document. A name
// is only ever shown; nothing is unpacked to the disk.
func (r *Reader) readArchive(b *builder, content io.ReaderAt, size int64) error {
	z, err := zipDirectory(content, size)
	if err != nil {
		return err
	}
	c := r.container(b)
	for _, f := range z.File {
		if err := b.ctx.Err(); err != nil {
			return err
		}
		name := memberName(f)
		if f.FileInfo().IsDir() || strings.HasSuffix(name, "/") || litter(name) {
			continue
		}
		if err := c.file(name, f); err != nil {
			return err
		}
	}
	return c.end("archive")
}

// file reads one entry of an archive.
func (c *container) file(name string, f *zip.File) error {
	n := f.UncompressedSize64
	label := c.label(name)
	if n > uint64(c.r.opt.MaxBytes) {
		c.members++
		c.skip(label, fail(ErrTooLarge, "", "%d bytes, the limit is %d", n, c.r.opt.MaxBytes))
		return nil
	}
	if err := c.admit(int64(n)); err != nil {
		return err
	}
	if err := refuseBomb(f); err != nil {
		return err
	}
	if f.Flags&zipEncrypted != 0 {
		c.skip(label, fail(ErrEncrypted, "", ""))
		return nil
	}
	raw, err := readEntry(f, int64(n))
	if err != nil {
		c.skip(label, err)
		return nil
	}
	return c.add(label, raw)
}

// readEntry unpacks an entry, at most as many bytes as its archive says it has.
func readEntry(f *zip.File, limit int64) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, damaged("", err)
	}
	defer r.Close()
	raw, err := io.ReadAll(&partReader{ReadCloser: r, name: "", left: limit})
	if err != nil {
		return nil, damaged("", err)
	}
	return raw, nil
}

// memberName is an entry's name as text. Old archives write names in the code page of DOS.
func memberName(f *zip.File) string {
	if f.NonUTF8 {
		if s, err := charmap.CodePage437.NewDecoder().String(f.Name); err == nil {
			return s
		}
	}
	return strings.ToValidUTF8(f.Name, "\uFFFD")
}

// litter is what systems leave in archives and folders.
func litter(name string) bool {
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	return strings.HasPrefix(name, "__MACOSX/") || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "~$") ||
		strings.EqualFold(base, "thumbs.db") || strings.EqualFold(base, "desktop.ini")
}
