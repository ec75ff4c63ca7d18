// Package regularfile opens files whose names come from a user, a setting or a folder.
//
// Opening a named pipe waits for a writer, and reading a device may never end. Therefore, only regular files are
// opened, without waiting, and the check is made on the open file rather than its path. Reading stops at a limit,
// whatever size the file claims to have, and when a context ends.
package regularfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"strings"
)

// NoLimit is the limit for files that are read piece by piece and can have any size.
const NoLimit = math.MaxInt64

// ErrTooLarge is returned when reading beyond the limit.
var ErrTooLarge = errors.New("the file is larger than the limit")

// File is a regular file that is open for reading.
type File struct {
	ctx         context.Context
	file        *os.File
	limit, left int64
}

// Open opens a regular file of at most limit bytes. Reads fail once ctx ends or the file turns out to be
// larger.
func Open(ctx context.Context, path string, limit int64) (*File, error) {
	f, err := OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	return newFile(ctx, f, limit), nil
}

func newFile(ctx context.Context, f *os.File, limit int64) *File {
	return &File{ctx: ctx, file: f, limit: limit, left: limit}
}

// OpenFile works like os.OpenFile, but returns an error if path is not a regular file.
func OpenFile(path string, flag int, mode fs.FileMode) (*os.File, error) {
	isNew := flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL // no existing file is opened
	if info, err := os.Stat(path); err == nil && !isNew {          // opening some devices has side effects
		if err := CheckMode(path, info.Mode()); err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(path, flag|nonBlocking, mode) //nolint:forbidigo // checked next
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = CheckMode(path, info.Mode())
	}
	if err == nil {
		err = checkFileSystem(f)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Read returns the content of a regular file of at most limit bytes.
func Read(path string, limit int64) ([]byte, error) {
	f, err := Open(context.Background(), path, limit)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// ReadAll reads r to the end. It returns an error if r has more than limit bytes.
func ReadAll(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, min(limit, NoLimit-1)+1))
	if err == nil && int64(len(data)) > limit {
		err = tooLarge(limit)
	}
	return data, err
}

// CheckMode returns an error that describes what path is, unless it is a regular file.
func CheckMode(path string, mode fs.FileMode) error {
	reason := ""
	switch {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		reason = "this is a folder, not a file"
	case mode&fs.ModeNamedPipe != 0:
		reason = "this is a named pipe; save its content to a file and use that file"
	case mode&fs.ModeSocket != 0:
		reason = "this is a socket, not a file"
	case mode&fs.ModeDevice != 0:
		reason = "this is a device, not a file"
	default:
		reason = "this is not a regular file"
	}
	return &fs.PathError{Op: "open", Path: path, Err: errors.New(reason)}
}

// IsLeftover reports whether a file's name is typical of files that operating systems and programs leave in folders,
// such as folder settings, thumbnails, and lock files of open documents.
func IsLeftover(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(base, "~$") || strings.EqualFold(base, "thumbs.db") || strings.EqualFold(base, "desktop.ini")
}

// tooLarge returns ErrTooLarge with the limit.
func tooLarge(limit int64) error {
	switch {
	case limit%(1<<20) == 0:
		return fmt.Errorf("%w of %d MiB", ErrTooLarge, limit>>20)
	case limit%(1<<10) == 0:
		return fmt.Errorf("%w of %d KiB", ErrTooLarge, limit>>10)
	}
	return fmt.Errorf("%w of %d bytes", ErrTooLarge, limit)
}

func (f *File) Read(p []byte) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	if int64(len(p)) > f.left {
		p = p[:f.left+1] // one byte more than allowed, to find out whether the file ends
	}
	n, err := f.file.Read(p)
	if f.left -= int64(n); f.left < 0 {
		f.left = 0
		return n - 1, f.pathError(tooLarge(f.limit))
	}
	return n, err
}

// ReadAt implements io.ReaderAt.
func (f *File) ReadAt(p []byte, offset int64) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	if offset > f.limit-int64(len(p)) {
		return 0, f.pathError(tooLarge(f.limit))
	}
	return f.file.ReadAt(p, offset)
}

func (f *File) pathError(err error) error {
	return &fs.PathError{Op: "read", Path: f.file.Name(), Err: err}
}

// Stat returns the file's properties.
func (f *File) Stat() (fs.FileInfo, error) { return f.file.Stat() }

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }
