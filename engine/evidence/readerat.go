package evidence

import "io"

// readerAt reads a blob at any place; its one user reads from one place at a time.
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
