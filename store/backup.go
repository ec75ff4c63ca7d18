package store

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/scf-service/service/store/internal/disk"
)

// BackupSuffix is the suffix of backup names.
const BackupSuffix = ".backup"

// A backup is a zstd-compressed tar of
//
//	manifest.json   what it is
//	database        the driver's backup
//	blobs/<sha256>  every blob; none before a migration
const (
	entryManifest   = "manifest.json"
	entryDatabase   = "database"
	entryBlobs      = "blobs/"
	maxManifestSize = 64 << 10
)

// Manifest is the header of a backup.
type Manifest struct {
	Format  int       `json:"format"`  // of the backup file
	Created time.Time `json:"created"` //
	Schema  int       `json:"schema"`  // version of the database in it
	Blobs   bool      `json:"blobs"`   // false: the database alone
}

const backupFormat = 1

// Backup writes the whole store to path while it is in use. The file appears under its name once it
// is complete and durable. If it already exists, the error is ErrExists.
func (db *DB) Backup(ctx context.Context, path string) error {
	if err := db.backup(ctx, path, true); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	return nil
}

func (db *DB) backup(ctx context.Context, path string, includeBlobs bool) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%w: %s", ErrExists, path)
	}
	// Blobs that exist before the snapshot are kept until they are copied.
	db.blobs.backupLock.RLock()
	defer db.blobs.backupLock.RUnlock()

	// Write to a local file first, so that the transaction is short.
	snapshot := db.tempPath()
	if err := disk.WriteTemp(snapshot, 0o600, func(w io.Writer) error { return db.driver.Backup(ctx, w) }); err != nil {
		return err
	}
	defer os.Remove(snapshot)

	temp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+db.newID())
	err := disk.WriteTemp(temp, 0o600, func(w io.Writer) error {
		z, err := zstd.NewWriter(disk.ContextWriter(ctx, w), zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
		if err != nil {
			return err
		}
		a := backupWriter{tar: tar.NewWriter(z), now: db.clock().UTC()}
		err = a.writeEntries(ctx, db, snapshot, includeBlobs)
		return errors.Join(err, a.tar.Close(), z.Close())
	})
	if err != nil {
		return err
	}
	return disk.RenameDurably(temp, path)
}

type backupWriter struct {
	tar *tar.Writer
	now time.Time
}

func (a backupWriter) writeEntries(ctx context.Context, db *DB, snapshot string, includeBlobs bool) error {
	m, err := json.Marshal(Manifest{Format: backupFormat, Created: a.now, Schema: db.meta.Schema, Blobs: includeBlobs})
	if err != nil {
		return err
	}
	if err := a.writeHeader(entryManifest, int64(len(m))); err != nil {
		return err
	}
	if _, err := a.tar.Write(m); err != nil {
		return err
	}
	f, err := os.Open(snapshot)
	if err != nil {
		return err
	}
	if err := a.addFile(entryDatabase, f); err != nil || !includeBlobs {
		return err
	}
	return db.blobs.ForEach(ctx, func(b Blob) error {
		f, _, err := db.blobs.Open(b.SHA256)
		if err != nil {
			return err
		}
		return a.addFile(entryBlobs+b.SHA256, f)
	})
}

// addFile adds and closes f.
func (a backupWriter) addFile(name string, f io.ReadSeekCloser) error {
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if err := a.writeHeader(name, size); err != nil {
		return err
	}
	_, err = io.CopyN(a.tar, f, size)
	return err
}

func (a backupWriter) writeHeader(name string, size int64) error {
	return a.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, ModTime: a.now})
}
