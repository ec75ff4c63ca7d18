// Package disk writes files so that a crash or a full disk leaves either the old or the new state,
// and explains system errors.
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

// ClassifyError wraps errors about a full disk in kv.ErrDiskFull, those about missing write permission in
// kv.ErrReadOnly, and returns all others unchanged.
func ClassifyError(err error) error {
	switch {
	case err == nil, errors.Is(err, kv.ErrDiskFull), errors.Is(err, kv.ErrReadOnly):
		return err
	// EFBIG is a file size limit, EDQUOT a quota: for the user both mean a full disk.
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return fmt.Errorf("%w; free some space and try again: %w", kv.ErrDiskFull, err)
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w; check its owner and permissions: %w", kv.ErrReadOnly, err)
	}
	return err
}

// SyncDir makes names created or removed in dir durable.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" { // a directory can't be synced there
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// WriteTemp writes the output of write to a file under an unused name, and syncs it. A failure
// leaves no file behind.
func WriteTemp(temp string, mode fs.FileMode, write func(io.Writer) error) (err error) {
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return ClassifyError(err)
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			os.Remove(temp)
			err = ClassifyError(err)
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}

// RenameDurably renames a synced file within a file system and makes the new name durable. If renaming fails,
// it removes temp and leaves path unchanged.
func RenameDurably(temp, path string) error {
	if err := os.Rename(temp, path); err != nil {
		os.Remove(temp)
		return ClassifyError(err)
	}
	return ClassifyError(SyncDir(filepath.Dir(path)))
}

// ContextReader stops reading when ctx ends.
func ContextReader(ctx context.Context, r io.Reader) io.Reader { return contextReader{ctx, r} }

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

// ContextWriter stops writing when ctx ends.
func ContextWriter(ctx context.Context, w io.Writer) io.Writer { return contextWriter{ctx, w} }

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
