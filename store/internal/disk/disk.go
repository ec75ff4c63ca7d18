// Package disk writes files so that a crash or a full disk leaves either the old or the new state, and
// classifies system errors.
package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/scf-service/service/store/kv"
)

// ClassifyError wraps errors about a full disk in kv.ErrDiskFull and errors about missing write permission
// in kv.ErrReadOnly. It returns all other errors unchanged.
func ClassifyError(err error) error {
	switch {
	case err == nil, errors.Is(err, kv.ErrDiskFull), errors.Is(err, kv.ErrReadOnly):
		return err
	// EFBIG is a file size limit, EDQUOT a quota: for the user both mean a full disk.
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return fmt.Errorf("%w; free some space and try again: %w", kv.ErrDiskFull, err)
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w; check the owner and permissions: %w", kv.ErrReadOnly, err)
	}
	return err
}

// Files performs file operations that tests can make fail.
type Files struct {
	// Before, if set, is called before each operation. If it returns an error, the operation fails with this
	// error; a failed write has written half of its bytes. It is for tests.
	Before func(operation, path string) error
	// WithoutSync skips syncing, for files that SyncTree will sync later or that will soon be deleted.
	WithoutSync bool
}

// before calls the Before hook, if it is set.
func (f Files) before(operation, path string) error {
	if f.Before == nil {
		return nil
	}
	return f.Before(operation, path)
}

// SyncDir makes the creation and removal of files in dir durable.
func SyncDir(dir string) error { return Files{}.SyncDir(dir) }

// SyncDir makes the creation and removal of files in dir durable.
func (f Files) SyncDir(dir string) error {
	if err := f.before("sync folder", dir); err != nil {
		return err
	}
	if f.WithoutSync || runtime.GOOS == "windows" { // Windows can't sync a directory
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// WriteTemp creates the file temp, calls write to write its content, and syncs it. It fails if temp exists, and leaves
// no file behind on failure.
func WriteTemp(temp string, mode fs.FileMode, write func(io.Writer) error) error {
	return Files{}.WriteTemp(temp, mode, write)
}

// WriteTemp creates the file temp, calls write to write its content, and syncs it. It fails if temp exists, and leaves
// no file behind on failure.
func (f Files) WriteTemp(temp string, mode fs.FileMode, write func(io.Writer) error) (err error) {
	if err := f.before("create", temp); err != nil {
		return ClassifyError(err)
	}
	file, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return ClassifyError(err)
	}
	defer func() {
		if err != nil {
			_ = file.Close()
			os.Remove(temp)
			err = ClassifyError(err)
		}
	}()
	if err := write(&fileWriter{files: f, file: file}); err != nil {
		return err
	}
	if err := f.sync(file); err != nil {
		return err
	}
	if err := f.before("close", temp); err != nil {
		return err
	}
	return file.Close()
}

func (f Files) sync(file *os.File) error {
	if err := f.before("sync", file.Name()); err != nil || f.WithoutSync {
		return err
	}
	return file.Sync()
}

// SyncTree makes a folder and all its files durable.
func (f Files) SyncTree(dir string) error {
	return ClassifyError(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return f.SyncDir(path)
		}
		file, err := os.OpenFile(path, os.O_RDWR, 0) // Windows can only sync files opened for writing
		if err != nil {
			return err
		}
		return errors.Join(f.sync(file), file.Close())
	}))
}

// writeOutSize is the size of the parts in which a long file is written to disk while it grows. If everything were
// left to the sync at the end, syncing any other file would take just as long.
const writeOutSize = 4 << 20

// fileWriter writes to a file. It makes the system write completed parts to disk while later parts are still being
// written.
type fileWriter struct {
	files         Files
	file          *os.File
	size          int64
	done, started int64 // everything before done is on disk, and everything before started is being written
}

func (w *fileWriter) Write(p []byte) (int, error) {
	if failure := w.files.before("write", w.file.Name()); failure != nil {
		n, err := w.file.Write(p[:len(p)/2])
		return n, errors.Join(failure, err)
	}
	n, err := w.file.Write(p)
	w.size += int64(n)
	if err != nil || w.files.WithoutSync || w.size-w.started < writeOutSize {
		return n, err
	}
	// The disk writes one part while the next one is being produced.
	err = errors.Join(writeOut(w.file, w.done, w.started-w.done, true), writeOut(w.file, w.started, w.size-w.started, false))
	w.done, w.started = w.started, w.size
	return n, err
}

// Rename renames a file within a file system.
func (f Files) Rename(from, to string) error {
	if err := f.before("rename", to); err != nil {
		return err
	}
	return os.Rename(from, to)
}

// Link gives a file a second name on the same file system.
func (f Files) Link(from, to string) error {
	if err := f.before("link", to); err != nil {
		return err
	}
	return os.Link(from, to)
}

// RenameDurably renames a synced file within a file system and makes the new name durable. If renaming fails,
// it removes temp and leaves path unchanged.
func RenameDurably(temp, path string) error { return Files{}.RenameDurably(temp, path) }

// RenameDurably renames a synced file within a file system and makes the new name durable. If renaming fails,
// it removes temp and leaves path unchanged.
func (f Files) RenameDurably(temp, path string) error {
	if err := f.Rename(temp, path); err != nil {
		os.Remove(temp)
		return ClassifyError(err)
	}
	return ClassifyError(f.SyncDir(filepath.Dir(path)))
}

// LinkDurably moves temp to path, which must be on the same file system, and syncs the folder. It returns fs.ErrExist
// if path exists. temp is always removed. On a file system without hard links, it replaces a file that another process
// creates at path at the same time.
func (f Files) LinkDurably(temp, path string) error {
	defer os.Remove(temp)
	err := f.Link(temp, path)
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	if err != nil { // for example because the file system has no hard links
		if _, err := os.Lstat(path); err == nil {
			return fs.ErrExist
		}
		err = f.Rename(temp, path)
	}
	if err != nil {
		return ClassifyError(err)
	}
	if err := f.SyncDir(filepath.Dir(path)); err != nil {
		os.Remove(path)
		return ClassifyError(err)
	}
	return nil
}

// ContextReader returns a reader that fails once ctx has ended.
func ContextReader(ctx context.Context, r io.Reader) io.Reader { return contextReader{ctx, r} }

// contextReader is a reader that fails once ctx has ended.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// ContextWriter returns a writer that fails once ctx has ended.
func ContextWriter(ctx context.Context, w io.Writer) io.Writer { return contextWriter{ctx, w} }

// contextWriter is a writer that fails once ctx has ended.
type contextWriter struct {
	ctx context.Context
	w   io.Writer
}

func (w contextWriter) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.w.Write(p)
}
