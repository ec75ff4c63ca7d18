package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/scf-service/service/store/internal/disk"
)

// Objects is a bucket that holds the blobs of several processes, instead of files in the data folder of each:
//
//	ab/cdef…        a blob, as it would be stored in a file
//	trash/ab/cdef…  a blob that was deleted because nothing referred to it
//
// A process may put a blob again and refer to it at the moment when another process deletes it. Therefore, a deleted
// blob stays in the trash for a while, where readers still find it.
type Objects interface {
	// Put stores a file. contentSize is the size of its decompressed content.
	Put(ctx context.Context, name string, file *os.File, contentSize int64) error
	// Get writes an object to w, or returns ErrNotFound.
	Get(ctx context.Context, name string, w io.Writer) error
	// Stat returns the time at which an object was put and the size of its content, or -1 if the size is
	// unknown. It returns ErrNotFound if there is no such object.
	Stat(ctx context.Context, name string) (put time.Time, contentSize int64, err error)
	// Copy copies an object, or returns ErrNotFound.
	Copy(ctx context.Context, from, to string) error
	// Delete removes an object. It is not an error if it doesn't exist.
	Delete(ctx context.Context, name string) error
	// List calls fn with the names of objects that begin with prefix, in order, until it returns an error.
	List(ctx context.Context, prefix string, fn func(name string, put time.Time) error) error
}

const (
	trashPrefix = "trash/"
	// trashPeriod is how long a deleted blob stays in the trash.
	trashPeriod = 7 * 24 * time.Hour
)

// objectName returns the name of a blob's object.
func objectName(sha string) string { return sha[:2] + "/" + sha[2:] }

// blobOfObject returns the hash of the blob that an object holds, or false if the object holds something else.
func blobOfObject(name string) (sha string, ok bool) {
	if len(name) < 3 || name[2] != '/' {
		return "", false
	}
	sha = name[:2] + name[3:]
	return sha, isSHA256(sha)
}

// uploadAndRemoveTemp stores a finished file as the object of a blob, and removes the file.
func (b *Blobs) uploadAndRemoveTemp(ctx context.Context, temp string, blob Blob) error {
	f, err := os.Open(temp)
	if err != nil {
		return err
	}
	err = b.objects.Put(ctx, objectName(blob.SHA256), f, blob.Size)
	return errors.Join(err, f.Close(), os.Remove(temp))
}

// download downloads the object of a blob to a temporary file, which is removed when it is closed.
func (b *Blobs) download(ctx context.Context, sha string) (*os.File, error) {
	f, err := os.OpenFile(b.temp(), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, disk.ClassifyError(err)
	}
	if err := b.retryUntrashed(ctx, sha, func(name string) error { return b.objects.Get(ctx, name, f) }); err != nil {
		return nil, errors.Join(disk.ClassifyError(err), f.Close(), os.Remove(f.Name()))
	}
	return f, nil
}

// retryUntrashed calls fn with the name of a blob's object. If the object doesn't exist because the blob was moved to
// the trash in the meantime, retryUntrashed restores the blob and calls fn again.
func (b *Blobs) retryUntrashed(ctx context.Context, sha string, fn func(name string) error) error {
	name := objectName(sha)
	err := fn(name)
	if errors.Is(err, ErrNotFound) {
		if err = b.objects.Copy(ctx, trashPrefix+name, name); err == nil {
			err = fn(name)
		}
	}
	return addHashToNotFound(sha, err)
}

// addHashToNotFound adds a blob's hash to ErrNotFound. It returns other errors unchanged.
func addHashToNotFound(sha string, err error) error {
	if errors.Is(err, ErrNotFound) {
		return fmt.Errorf("blob %s: %w", sha, ErrNotFound)
	}
	return err
}

// temporaryFile is a file that is removed when it is closed.
type temporaryFile struct{ *os.File }

func (f temporaryFile) Close() error { return errors.Join(f.File.Close(), os.Remove(f.Name())) }

// objectSize returns the size of a blob's content.
func (b *Blobs) objectSize(ctx context.Context, sha string) (size int64, err error) {
	err = b.retryUntrashed(ctx, sha, func(name string) (err error) {
		_, size, err = b.objects.Stat(ctx, name)
		return err
	})
	if err != nil || size >= 0 {
		return size, err
	}
	f, err := b.download(ctx, sha) // another program put it there, without a size
	if err != nil {
		return 0, err
	}
	defer temporaryFile{f}.Close()
	return contentSize(f, sha)
}

// trash deletes a blob, but keeps a copy in the trash for trashPeriod.
func (b *Blobs) trash(ctx context.Context, sha string) error {
	if err := b.objects.Copy(ctx, objectName(sha), trashPrefix+objectName(sha)); err != nil {
		return addHashToNotFound(sha, err)
	}
	return b.objects.Delete(ctx, objectName(sha))
}

// emptyTrash deletes blobs that have been in the trash for longer than trashPeriod. A blob that is used again
// is put back.
func (b *Blobs) emptyTrash(ctx context.Context, isUsed func(sha string) bool) error {
	before := b.clock().Add(-trashPeriod)
	return b.objects.List(ctx, trashPrefix, func(name string, put time.Time) error {
		sha, ok := blobOfObject(strings.TrimPrefix(name, trashPrefix))
		if !ok || !put.Before(before) {
			return nil
		}
		if isUsed(sha) {
			err := b.retryUntrashed(ctx, sha, func(name string) error {
				_, _, err := b.objects.Stat(ctx, name)
				return err
			})
			if err != nil {
				return err
			}
		}
		return b.objects.Delete(ctx, name)
	})
}

// trashUnused implements DeleteUnused for objects.
func (b *Blobs) trashUnused(ctx context.Context, isUsed func(sha string) bool, before time.Time) (trashed []string, err error) {
	err = b.objects.List(ctx, "", func(name string, put time.Time) error {
		sha, ok := blobOfObject(name)
		if !ok || isUsed(sha) || !put.Before(before) {
			return nil
		}
		if err := b.trash(ctx, sha); err != nil {
			return err
		}
		trashed = append(trashed, sha)
		return nil
	})
	if err != nil {
		return trashed, err
	}
	return trashed, b.emptyTrash(ctx, isUsed)
}
