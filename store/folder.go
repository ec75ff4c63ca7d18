package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/scf-service/service/internal/regularfile"
	"github.com/scf-service/service/store/bolt"
	"github.com/scf-service/service/store/internal/disk"
)

// Layout of the data folder.
const (
	fileDatabase = "service.db"
	// fileID is the file that contains the database's ID. It makes it possible to detect that a database is missing or
	// was replaced by another one.
	fileID     = "service.id"
	dirBlobs   = "blobs"
	dirBackups = "backups"
	dirTemp    = "tmp"
)

// HoldsNoData reports whether a data folder holds no data. It may exist and contain other files.
func HoldsNoData(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, fileDatabase))
	return errors.Is(err, fs.ErrNotExist) && traceOfDatabase(dir) == ""
}

// traceOfDatabase returns the name of a file that is in the folder only if the folder has or had a database, or "" if
// there is no such file. Files that may exist before the first start are ignored: secret.key, .gitkeep, lost+found.
func traceOfDatabase(dir string) (name string) {
	if _, err := os.Lstat(filepath.Join(dir, fileID)); err == nil {
		return fileID
	}
	blobs := Blobs{dir: filepath.Join(dir, dirBlobs)}
	_ = blobs.ForEach(context.Background(), func(sha string) error {
		name = filepath.Join(dirBlobs, sha[:2], sha[2:])
		return fs.SkipAll
	})
	if name != "" {
		return name
	}
	backups, _ := os.ReadDir(filepath.Join(dir, dirBackups))
	for _, f := range backups {
		if !strings.HasPrefix(f.Name(), ".") {
			name = filepath.Join(dirBackups, f.Name())
		}
	}
	return name
}

func missingDatabaseError(dir, trace string) error {
	return fmt.Errorf("%w: %s is missing or empty, but %s shows that this folder had a database, or that a restore was interrupted; "+
		"restore a backup of the whole folder, or move everything in the folder elsewhere to start again without the old data",
		ErrCorrupt, filepath.Join(dir, fileDatabase), trace)
}

// newEmptyDatabaseError returns the error for an empty database in a folder that used to contain another database.
func (db *DB) newEmptyDatabaseError(trace string) error {
	if db.soleWriter {
		return missingDatabaseError(db.dir, trace)
	}
	return fmt.Errorf("%w: the database is empty, but %s in %s shows that this folder belongs to another database. Choose a new data folder, "+
		"or copy the records to this database with `service store copy`", ErrExists, trace, db.dir)
}

// openDatabase opens service.db, or creates it in an unused folder.
func openDatabase(ctx context.Context, o Options) (*bolt.DB, error) {
	path := filepath.Join(o.Dir, fileDatabase)
	// The order matters, because another process may be creating both.
	trace := traceOfDatabase(o.Dir)
	info, err := os.Stat(path)
	missing := errors.Is(err, fs.ErrNotExist)
	if (missing || err == nil && info.Size() == 0) && trace != "" {
		return nil, missingDatabaseError(o.Dir, trace)
	}
	if err := createDataFolders(o.Dir); err != nil {
		return nil, err
	}
	if missing {
		if err := bolt.Create(path, tempPath(o.Dir, o.NewID())); err != nil {
			return nil, err
		}
	}
	driver, err := bolt.Open(ctx, path, bolt.Options{LockTimeout: o.LockTimeout, Logger: o.Logger, NewChecker: newTotalChecker})
	if errors.Is(err, errWrongTotal) {
		var found damageFinder
		_ = bolt.Verify(ctx, path, func() bolt.PairChecker { return &found })
		if found.Damaged > 0 {
			err = fmt.Errorf("%w; %s", err, found.DamageCheck)
		}
	}
	if err != nil {
		return nil, err
	}
	// This process holds the file lock, so no other process is using tmp.
	if err := deleteTempFiles(filepath.Join(o.Dir, dirTemp)); err != nil {
		return nil, errors.Join(disk.ClassifyError(err), driver.Close())
	}
	return driver, nil
}

// prepareSharedFolder creates the folders that a store needs in addition to a database elsewhere. No other
// process may use dir. It returns an error for a folder that has its own database, because the folder's files
// belong to that database.
func prepareSharedFolder(dir string) error {
	path := filepath.Join(dir, fileDatabase)
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%w: %s has its own database, %s, but another database was specified; choose another data folder, "+
			"or leave out the other database", ErrExists, dir, fileDatabase)
	}
	if err := createDataFolders(dir); err != nil {
		return err
	}
	return disk.ClassifyError(deleteTempFiles(filepath.Join(dir, dirTemp)))
}

const maxIDSize = 1 << 10 // in bytes

// checkOrWriteFolderID returns an error if the IDs show that the database belongs to another folder. If the
// folder has no ID, as after a restore, it gets the database's ID.
func (db *DB) checkOrWriteFolderID() error {
	path := filepath.Join(db.dir, fileID)
	b, err := regularfile.Read(path, maxIDSize)
	switch id := strings.TrimSpace(string(b)); {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return disk.ClassifyError(err)
	case id == db.meta.ID:
		return nil
	case id != "":
		if !db.soleWriter {
			return fmt.Errorf("%w: the data folder %s belongs to another database: the database's ID is %q, but %s contains %.80q. "+
				"Choose another data folder. If you moved the records to this database on purpose, delete that file instead", ErrExists, db.dir, db.meta.ID, path, id)
		}
		return fmt.Errorf("%w: %s belongs to another data folder, or is an older database of this folder: its ID is %q, but %s contains %.80q. Put back this folder's own "+
			"database, or restore a backup of the whole folder. If you replaced the database on purpose, delete %[4]s",
			ErrCorrupt, filepath.Join(db.dir, fileDatabase), db.meta.ID, path, id)
	}
	temp := db.tempPath()
	if err := disk.WriteTemp(temp, 0o600, func(w io.Writer) error { _, err := fmt.Fprintln(w, db.meta.ID); return err }); err != nil {
		return err
	}
	return disk.RenameDurably(temp, path)
}
