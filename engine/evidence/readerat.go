package evidence

import "io"

// readerAt adapts a blob to io.ReaderAt. It is not safe for concurrent use.
type readerAt struct{ f io.ReadSeeker }

func (r readerAt) ReadAt(p []byte, off int64) (int, error) {
	if at, ok := r.f.(io.ReaderAt); ok {
		return at.ReadAt(p, off)
	}
	if _, err := r.f.Seek(off, io.SeekStart); err != nil {
		return 0, err
	}
	n, err := io.ReadFull(r.f, p)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return n, err
}
