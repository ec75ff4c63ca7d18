package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"github.com/scf-service/service/cli"
	"github.com/scf-service/service/internal/filelock"
	"github.com/scf-service/service/store"
	"github.com/scf-service/service/store/postgres"
	"github.com/scf-service/service/store/s3"
)

// storage specifies where records and files are stored. The zero value is the data folder.
type storage struct {
	database string // URL of a PostgreSQL database
	bucket   string // URL of a bucket for files; only with a database
}

// open opens the store and returns it together with the clock that is used for its records. Several processes can use
// the same database, but not the same data folder.
func (s storage) open(ctx context.Context, dir string, log *slog.Logger) (*store.DB, func() time.Time, error) {
	o := storeOptions(dir, log)
	if s.database == "" {
		if s.bucket != "" {
			return nil, nil, errBucketWithoutDatabase
		}
		db, err := store.Open(ctx, o)
		return db, o.Clock, err
	}
	driver, objects, err := s.connect(ctx, dir, log)
	if err != nil {
		return nil, nil, err
	}
	o.Driver, o.Objects, o.Clock = driver, objects, driver.Now
	o.NewID = func() string { return newIDAt(driver.Now()) }
	db, err := store.Open(ctx, o)
	return db, o.Clock, err
}

// connect connects to the database and to the bucket, if there is one. Unless dir is empty, it locks dir until the
// database is closed.
func (s storage) connect(ctx context.Context, dir string, log *slog.Logger) (d *unlockingDriver, objects store.Objects, err error) {
	unlock := func() {}
	if dir != "" {
		if unlock, err = lockSharedFolder(dir); err != nil {
			return nil, nil, err
		}
	}
	if s.bucket != "" {
		if objects, err = s3.Open(ctx, s.bucket, os.Getenv); err != nil {
			unlock()
			return nil, nil, &bucketError{err}
		}
	}
	driver, err := postgres.Open(ctx, postgres.Options{URL: s.database, Logger: log})
	if err != nil {
		unlock()
		return nil, nil, err
	}
	return &unlockingDriver{DB: driver, unlock: unlock}, objects, nil
}

var errBucketWithoutDatabase = errors.New("SERVICE_BLOBS or the configuration file specifies a bucket for files, but no database for records is specified; " +
	"set SERVICE_STORE too, or unset SERVICE_BLOBS to keep files and records in the data folder")

// bucketError is an error from opening the bucket.
type bucketError struct{ error }

func (e *bucketError) Unwrap() error { return e.error }

// unlockingDriver is a database driver that releases the data folder when the database is closed.
type unlockingDriver struct {
	*postgres.DB
	unlock func()
}

func (d *unlockingDriver) Close() error {
	defer d.unlock()
	return d.DB.Close()
}

// lockSharedFolder locks the data folder of a process whose database is elsewhere, in the same way as a database file
// is locked. On systems without file locks, it does nothing.
func lockSharedFolder(dir string) (unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "service.lock")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return nil, err
	}
	unlock, err = filelock.TryLock(path)
	if errors.Is(err, filelock.ErrLocked) {
		return nil, store.ErrLocked
	}
	return unlock, nil
}

// newIDAt returns a new ID that begins with the time of the database's clock, so that IDs from several processes are
// in order.
func newIDAt(now time.Time) string {
	id := uuid.Must(uuid.NewV7())
	for i, ms := 5, now.UnixMilli(); i >= 0; i, ms = i-1, ms>>8 {
		id[i] = byte(ms)
	}
	return id.String()
}

// name returns the database's name for messages, without a password.
func (s storage) name() string {
	u, err := url.Parse(s.database)
	if err != nil {
		return "given with --store"
	}
	return u.Scheme + "://" + u.Host + u.Path
}

// explainOpenError adds advice to an error from opening the store.
func (s storage) explainOpenError(dir string, err error) error {
	var bucket *bucketError
	switch {
	case errors.Is(err, errBucketWithoutDatabase):
		return err
	case errors.As(err, &bucket):
		return fmt.Errorf("can't open the bucket for files: %w", err)
	case errors.Is(err, store.ErrLocked):
		return fmt.Errorf(
			"another process is using the data folder %s but doesn't respond. If a new version was just started, the process may be "+
				"upgrading the database or restoring a backup; wait a few minutes. Otherwise, stop the process or choose another folder with --data: %w",
			dir,
			err,
		)
	case errors.Is(err, store.ErrUnavailable):
		return fmt.Errorf("can't open the database %s; check that the database is running and that the host, port, user, password and TLS settings "+
			"are correct: %w", s.name(), err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, store.ErrReadOnly) && s.database == "":
		return fmt.Errorf("the data folder %s is not writable; choose another folder with --data or SERVICE_DATA: %w", dir, err)
	case s.database != "":
		return fmt.Errorf("can't open the database %s: %w", s.name(), err)
	}
	return fmt.Errorf("can't open the data folder %s: %w", dir, err)
}

// openPlace opens a location from which or to which a store is copied. The caller must close its driver, if it has
// one.
func openPlace(ctx context.Context, at cli.StorePlace, log *slog.Logger) (p store.Place, err error) {
	if at.Data != "" {
		if p.Dir, err = resolveDataDir(at.Data); err != nil {
			return p, err
		}
	}
	if at.Store == "" {
		return p, nil
	}
	driver, objects, err := storage{at.Store, at.Blobs}.connect(ctx, p.Dir, log)
	if err != nil {
		return p, err
	}
	p.Driver, p.Objects = driver, objects
	return p, nil
}

// copyStore copies all records and files from one installation to another.
func copyStore(ctx context.Context, from, to cli.StorePlace, progress func(records, files int64)) (_ *cli.CopiedStore, err error) {
	log := newCommandLogger(false)
	o := store.CopyOptions{Clock: time.Now, NewID: newID, Progress: progress}
	for _, one := range []struct {
		at cli.StorePlace
		to *store.Place
	}{{from, &o.From}, {to, &o.To}} {
		p, err := openPlace(ctx, one.at, log)
		if err != nil {
			return nil, storage{database: one.at.Store}.explainOpenError(one.at.Data, err)
		}
		*one.to = p
		if p.Driver != nil {
			defer func() { err = errors.Join(err, p.Driver.Close()) }()
		}
	}
	if d, ok := o.From.Driver.(*unlockingDriver); ok {
		o.Clock = d.Now // the clock that daemons use to record until when they use the source
	}
	if from.Store == "" {
		if release, lockErr := filelock.TryLock(o.From.Dir); !errors.Is(lockErr, filelock.ErrLocked) {
			defer release()
		}
	}
	s, err := store.Copy(ctx, o)
	if errors.Is(err, store.ErrLocked) {
		return nil, fmt.Errorf("stop the daemon and all commands that use the source or the target: %w", err)
	}
	if err != nil {
		return nil, err
	}
	return &cli.CopiedStore{Records: s.Records, Bytes: s.Bytes, Files: s.Files}, nil
}
