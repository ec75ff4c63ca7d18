package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/scf-service/service/internal/regularfile"
	"github.com/scf-service/service/store/internal/disk"
)

// Blob identifies a file by its content.
type Blob struct {
	SHA256 string `json:"sha256"` // 64 lowercase hexadecimal digits
	Size   int64  `json:"size"`   // in bytes
}

// Blobs holds the files of a store. A blob is stored completely and durably, or not at all. Equal content is
// stored once, no matter who puts it: a blob belongs to an organization only through the records that reference
// it. Blobs is safe for concurrent use.
type Blobs struct {
	dir   string
	temp  func() string
	clock func() time.Time
	files disk.Files // used by Put
	// objects holds the blobs. If it is nil, they are files in dir.
	objects Objects

	// A backup holds backupLock for reading, and a Put holds putLock for reading, so that no blob disappears
	// while they run. Removing a blob locks both for writing, backupLock first. There are two locks so that a
	// removal that waits for a backup does not block every Put.
	backupLock, putLock sync.RWMutex
}

// lockForRemoval blocks backups and calls to Put until the returned function is called.
func (b *Blobs) lockForRemoval() (undo func()) {
	b.backupLock.Lock()
	b.putLock.Lock()
	return func() {
		b.putLock.Unlock()
		b.backupLock.Unlock()
	}
}

// Put stores the content of r, which may have at most limit bytes (otherwise, it returns ErrTooLarge). Put a
// blob before starting the transaction that references it. Until then, DeleteUnused doesn't delete the blob,
// because it is recent.
func (b *Blobs) Put(ctx context.Context, r io.Reader, limit int64) (Blob, error) {
	return b.put(ctx, r, limit, "")
}

// put works like Put. If want is not "", it returns ErrCorrupt unless want is the SHA-256 of the content.
func (b *Blobs) put(ctx context.Context, r io.Reader, limit int64, want string) (blob Blob, err error) {
	if err := ctx.Err(); err != nil {
		return Blob{}, err
	}
	temp := b.temp()
	err = b.files.WriteTemp(temp, 0o600, func(w io.Writer) (err error) {
		blob, err = writeBlob(w, io.LimitReader(disk.ContextReader(ctx, r), max(limit, 0)+1))
		switch {
		case err != nil:
		case blob.Size > limit:
			err = fmt.Errorf("%w: at most %d bytes are allowed", ErrTooLarge, limit)
		case want != "" && blob.SHA256 != want:
			err = fmt.Errorf("%w: blob %s has other content", ErrCorrupt, want)
		}
		return err
	})
	if err != nil {
		return Blob{}, err
	}
	if b.objects != nil {
		if err := b.uploadAndRemoveTemp(ctx, temp, blob); err != nil {
			return Blob{}, err
		}
		return blob, nil
	}
	if err := b.moveIntoPlace(temp, blob); err != nil {
		return Blob{}, errors.Join(disk.ClassifyError(err), os.Remove(temp))
	}
	return blob, nil
}

// writeBlob writes the content of r in its stored form.
func writeBlob(w io.Writer, r io.Reader) (Blob, error) {
	h := sha256.New()
	r = io.TeeReader(r, h)
	var first bytes.Buffer
	n, err := io.CopyN(&first, r, maxCompressedContent+1)
	switch {
	case err == nil: // there may be more
		var more int64
		if _, err = w.Write(first.Bytes()); err == nil {
			more, err = io.Copy(w, r)
		}
		n += more
	case errors.Is(err, io.EOF):
		_, err = w.Write(compressBlob(first.Bytes()))
	}
	return Blob{SHA256: hex.EncodeToString(h.Sum(nil)), Size: n}, err
}

// moveIntoPlace renames a finished file to the blob's final name. If the blob already exists, it is replaced. This
// repairs damage and makes the blob recent for DeleteUnused.
func (b *Blobs) moveIntoPlace(temp string, blob Blob) error {
	path, err := b.path(blob.SHA256)
	if err != nil {
		return err
	}
	b.putLock.RLock()
	defer b.putLock.RUnlock()
	now := b.clock()
	if err := os.Chtimes(temp, now, now); err != nil {
		return err
	}
	folder := filepath.Dir(path)
	if err := os.Mkdir(folder, 0o700); err == nil {
		if err := b.files.SyncDir(b.dir); err != nil {
			return err
		}
	} else if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := b.files.Rename(temp, path); err != nil {
		return err
	}
	return b.files.SyncDir(folder)
}

// OpenFileOf works like Open for the blob of a record, such as document "policy.md". An error names the record
// and says what to do. A missing file is an ErrCorrupt.
func (b *Blobs) OpenFileOf(ctx context.Context, recordName, sha string) (content io.ReadSeekCloser, length int64, _ error) {
	f, size, err := b.Open(ctx, sha)
	return f, size, addRecordName(recordName, err)
}

// VerifyFileOf returns the errors of OpenFileOf. Call it for all files in a streamed response before the response
// begins, because a later error can only abort the response.
func (b *Blobs) VerifyFileOf(ctx context.Context, recordName, sha string) error {
	return addRecordName(recordName, b.Verify(ctx, sha))
}

// addRecordName adds the name of a record to an error about its blob. A missing blob becomes an ErrCorrupt.
func addRecordName(name string, err error) error {
	switch {
	case errors.Is(err, ErrNotFound):
		return fmt.Errorf("%w: the file for %s is missing from the data folder or the bucket; restore a backup, "+
			"or delete the item and add it again", ErrCorrupt, name)
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Verify reads the whole blob and returns the same errors as Open.
func (b *Blobs) Verify(ctx context.Context, sha string) error {
	f, _, err := b.Open(ctx, sha)
	if err != nil {
		return err
	}
	return f.Close()
}

// Open returns a blob's content and size. The error is ErrNotFound if there is no such blob, or ErrCorrupt if
// the content no longer matches its hash. The caller must close the content, which stays readable even if the
// blob is deleted in the meantime.
func (b *Blobs) Open(ctx context.Context, sha string) (content io.ReadSeekCloser, length int64, _ error) {
	f, size, err := b.openUnverified(ctx, sha)
	if err != nil {
		return nil, 0, err
	}
	if err := verifyBlob(ctx, sha, f); err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, size, nil
}

// verifyBlob reads r to its end and returns ErrCorrupt if it isn't the content of the blob.
func verifyBlob(ctx context.Context, sha string, r io.Reader) error {
	h := sha256.New()
	if _, err := io.Copy(h, disk.ContextReader(ctx, r)); err != nil {
		return err
	}
	if hex.EncodeToString(h.Sum(nil)) != sha {
		return fmt.Errorf("%w: the content of %s/%s/%s in the data folder or the bucket was changed; restore a backup"+
			", or delete the item that the content belongs to and create it again",
			ErrCorrupt, dirBlobs, sha[:2], sha[2:])
	}
	return nil
}

// openUnverified returns a blob's content and its size. The caller must compare the content with the hash.
func (b *Blobs) openUnverified(ctx context.Context, sha string) (io.ReadSeekCloser, int64, error) {
	path, err := b.path(sha)
	if err != nil {
		return nil, 0, err
	}
	var f *os.File
	var stored io.ReadSeekCloser
	if b.objects != nil {
		if f, err = b.download(ctx, sha); err != nil {
			return nil, 0, err
		}
		stored = temporaryFile{f}
	} else {
		if f, err = regularfile.OpenFile(path, os.O_RDONLY, 0); err != nil {
			return nil, 0, toBlobError(sha, err)
		}
		stored = f
	}
	content, isCompressed, err := decompressBlob(f)
	if err != nil {
		return nil, 0, errors.Join(err, stored.Close())
	}
	if sum := sha256.Sum256(content); isCompressed && hex.EncodeToString(sum[:]) == sha {
		return memoryFile{bytes.NewReader(content)}, int64(len(content)), stored.Close()
	}
	info, err := f.Stat()
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, 0, errors.Join(err, stored.Close())
	}
	return stored, info.Size(), nil
}

// Size returns the size of a blob's content, or ErrNotFound. Unlike Open, it does not verify the blob, so the
// size of a damaged blob may be wrong.
func (b *Blobs) Size(ctx context.Context, sha string) (int64, error) {
	path, err := b.path(sha)
	if err != nil {
		return 0, err
	}
	if b.objects != nil {
		return b.objectSize(ctx, sha)
	}
	f, err := regularfile.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return 0, toBlobError(sha, err)
	}
	defer f.Close()
	return contentSize(f, sha)
}

// Delete removes a blob, or returns ErrNotFound. It waits for a running backup.
func (b *Blobs) Delete(ctx context.Context, sha string) error {
	path, err := b.path(sha)
	if err != nil {
		return err
	}
	if b.objects != nil {
		return b.trash(ctx, sha)
	}
	defer b.lockForRemoval()()
	if err := os.Remove(path); err != nil {
		return toBlobError(sha, err)
	}
	return disk.SyncDir(filepath.Dir(path))
}

// DeleteUnused removes unused blobs and returns their hashes. A blob is unused if isUsed returns false for it, it was
// last put more than olderThan ago, and it isn't kept for a database that a restore replaced and that still exists.
// Compute isUsed in a View that started after the last relevant Put. olderThan protects blobs whose transactions have
// not started yet.
func (b *Blobs) DeleteUnused(ctx context.Context, isUsed func(sha string) bool, olderThan time.Duration) (deleted []string, err error) {
	limit := b.clock().Add(-olderThan)
	if b.objects != nil {
		return b.trashUnused(ctx, isUsed, limit)
	}
	kept, err := b.blobsOfReplacedDatabases()
	if err != nil {
		return nil, err
	}
	err = b.ForEach(ctx, func(sha string) error {
		if isUsed(sha) || kept[sha] {
			return nil
		}
		removed, err := b.deleteIfOlder(sha, limit)
		if removed {
			deleted = append(deleted, sha)
		}
		return err
	})
	return deleted, err
}

// deleteIfOlder deletes a blob that was last put before cutoff. It checks this while holding the lock, because
// the same content may have been put again in the meantime.
func (b *Blobs) deleteIfOlder(sha string, cutoff time.Time) (deleted bool, _ error) {
	path, err := b.path(sha)
	if err != nil {
		return false, err
	}
	defer b.lockForRemoval()()
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil || !info.Mode().IsRegular() || !info.ModTime().Before(cutoff) {
		return false, err
	}
	if err := os.Remove(path); err != nil {
		return false, disk.ClassifyError(err)
	}
	return true, disk.SyncDir(filepath.Dir(path))
}

// ForEach calls fn with the hash of every blob in name order, until fn returns an error. Anything else with the name
// of a blob, such as a folder, counts as a damaged blob.
func (b *Blobs) ForEach(ctx context.Context, fn func(sha string) error) error {
	if b.objects != nil {
		return b.objects.List(ctx, "", func(name string, _ time.Time) error {
			if sha, ok := blobOfObject(name); ok {
				return fn(sha)
			}
			return nil
		})
	}
	folders, err := os.ReadDir(b.dir) // sorted by name
	if err != nil {
		return err
	}
	for _, d := range folders {
		dir := filepath.Join(b.dir, d.Name())
		if info, err := os.Stat(dir); len(d.Name()) != 2 || err != nil || !info.IsDir() { // it may be a symbolic link
			continue
		}
		files, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, f := range files {
			if err := ctx.Err(); err != nil {
				return err
			}
			if sha := d.Name() + f.Name(); isSHA256(sha) {
				if err := fn(sha); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// path returns the path of a blob's file, or ErrBadKey if sha is not a hash.
func (b *Blobs) path(sha string) (string, error) {
	if !isSHA256(sha) {
		return "", fmt.Errorf("%w: a blob name must have 64 lowercase hexadecimal digits", ErrBadKey)
	}
	return filepath.Join(b.dir, sha[:2], sha[2:]), nil
}

// isSHA256 reports whether s consists of 64 lowercase hexadecimal digits.
func isSHA256(s string) bool {
	if len(s) != 2*sha256.Size {
		return false
	}
	for _, c := range s {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// toBlobError converts an error about a blob's file to one of the store's errors.
func toBlobError(sha string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("blob %s: %w", sha, ErrNotFound)
	}
	return disk.ClassifyError(err)
}
