package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/scf-service/service/internal/tracing"
	"github.com/scf-service/service/store/internal/disk"
	"github.com/scf-service/service/store/kv"
)

// Driver stores the tables; see package kv.
type Driver = kv.Driver

// Options configure a store.
type Options struct {
	Dir    string // the data folder; created if missing
	Schema Schema

	Clock func() time.Time // required
	NewID func() string    // required; returns IDs that are unguessable, unique and valid as file names

	// LockTimeout is how long to wait for another process that has the folder open; 0 means one second, and a
	// negative value means not at all.
	LockTimeout time.Duration
	Logger      *slog.Logger // nil disables logging

	// CheckUpdate, if set, is called before each Update commits; if it returns an error, the Update is undone.
	// It is for tests.
	CheckUpdate func(UpdateStats) error

	// Driver stores the tables instead of service.db in Dir. Other processes may use the same database. The
	// store closes the driver.
	Driver Driver

	// Objects holds the blobs instead of files in Dir.
	Objects Objects

	files disk.Files // file operations of backups and restores, for tests
}

func (o *Options) validateAndSetDefaults() error {
	switch {
	case o.Dir == "":
		return errors.New("store: no data folder was given")
	case o.Clock == nil || o.NewID == nil:
		return errors.New("store: Clock and NewID are required")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return nil
}

// DB is an open store. It is safe for concurrent use.
type DB struct {
	dir         string
	driver      Driver
	schema      Schema
	tables      *tableSet
	clock       func() time.Time
	newID       func() string
	idGenerator idGenerator
	log         *slog.Logger
	blobs       *Blobs
	files       disk.Files
	meta        databaseMeta

	changes  changeCounters
	updates  atomic.Int64 // number of Updates that changed something or may have done so
	notifier changeNotifier
	// checkUpdate is Options.CheckUpdate; observeUpdate is set by ObserveUpdates.
	checkUpdate   func(UpdateStats) error
	observeUpdate atomic.Pointer[func(time.Duration)]
	// soleWriter is true if no other process writes to this database while it is open.
	soleWriter bool
	processes  processes
}

// databaseMeta is the record that describes the database itself.
type databaseMeta struct {
	Format  int       `json:"format"` // format of the store; see formatVersion
	Schema  int       `json:"schema"` // version of the last migration
	Created time.Time `json:"created"`
	Secret  string    `json:"secret"` // authenticates cursors
	ID      string    `json:"id"`     // also stored in fileID
}

// formatVersion is the version of keys, marks, checksums and built-in tables. Versions 1 and 2 were used before
// the first release and can't be read. Versions 4 and 5 can be read without a migration. The number was raised
// because programs that only support version 4 can't read compressed blobs and records, and those that only
// support version 5 can't read packs.
const (
	formatVersion          = 6
	formatWithPlainBlobs   = 4
	formatWithoutChecksums = 3
)

var metaKey = K("database")

// Open opens the data folder and creates a database, or migrates an existing one to the program's schema after
// making a backup. Errors: ErrLocked, ErrNewerSchema, ErrOldFormat, ErrInvalidSchema, ErrUnknownTable,
// ErrCorrupt, ErrDiskFull, ErrReadOnly, or an error of a migration.
func Open(ctx context.Context, o Options) (*DB, error) {
	if err := o.validateAndSetDefaults(); err != nil {
		return nil, errors.Join(err, closeDriver(o.Driver))
	}
	tables, err := o.Schema.validate()
	if err != nil {
		return nil, errors.Join(err, closeDriver(o.Driver))
	}
	driver := o.Driver
	if driver == nil {
		driver, err = openDatabase(ctx, o)
	} else {
		err = prepareSharedFolder(o.Dir)
	}
	if err != nil {
		return nil, errors.Join(err, closeDriver(o.Driver))
	}
	db := &DB{
		dir: o.Dir, driver: driver, schema: o.Schema, tables: tables,
		clock: o.Clock, newID: o.NewID, idGenerator: idGenerator{generate: o.NewID}, log: o.Logger,
		changes: newChangeCounters(tables.byName), soleWriter: o.Driver == nil,
		checkUpdate: o.CheckUpdate, files: o.files,
	}
	db.blobs = &Blobs{
		dir: filepath.Join(o.Dir, dirBlobs), temp: db.tempPath, clock: o.Clock,
		objects: o.Objects, files: disk.Files{WithoutSync: o.Objects != nil}, // the file is deleted once it is in the bucket
	}
	if err := db.createOrMigrate(ctx); err != nil {
		return nil, errors.Join(err, driver.Close())
	}
	if err := db.View(ctx, db.loadLastID); err != nil {
		return nil, errors.Join(err, driver.Close())
	}
	db.processes.id = o.NewID()
	if err := db.joinProcesses(ctx); err != nil {
		return nil, errors.Join(err, driver.Close())
	}
	return db, nil
}

func closeDriver(d Driver) error {
	if d == nil {
		return nil
	}
	return d.Close()
}

// createDataFolders creates a data folder with its subfolders.
func createDataFolders(dir string) error {
	for _, d := range []string{"", dirBlobs, dirBackups, dirTemp} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			return fmt.Errorf("creating the data folder: %w", disk.ClassifyError(err))
		}
	}
	return nil
}

// tempPrefix is the prefix of the store's temporary files. Other files in the temp folder are not deleted,
// because the user may have had a subfolder of that name before the folder became a data folder.
const tempPrefix = "service-unfinished-"

// tempPath returns the path of a temporary file of a data folder.
func tempPath(dir, id string) string { return filepath.Join(dir, dirTemp, tempPrefix+id) }

// deleteTempFiles deletes the store's own files in a folder for temporary files.
func deleteTempFiles(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), tempPrefix) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// tempPath returns an unused path in the folder of temporary files.
func (db *DB) tempPath() string { return tempPath(db.dir, db.newID()) }

// Dir returns the data folder.
func (db *DB) Dir() string { return db.dir }

// NewID returns an unused ID. Within an Update, use Tx.NewID instead.
func (db *DB) NewID() string { return db.newID() }

// Blobs returns the store's blobs.
func (db *DB) Blobs() *Blobs { return db.blobs }

// SchemaVersion returns the schema version of the open database.
func (db *DB) SchemaVersion() int { return db.meta.Schema }

// View runs fn on a snapshot of the database. fn must not write, start another transaction, or wait, because
// the space of deleted data can't be reused while it runs.
func (db *DB) View(ctx context.Context, fn func(*Tx) error) error {
	return db.driver.View(ctx, func(k kv.KV) error {
		tx := db.newTx(ctx, countReads(ctx, k), false)
		defer func() { tx.ended = true }()
		return fn(tx)
	})
}

// Update runs fn and commits its writes, or nothing if fn fails or panics, or if ctx ends before fn returns.
// Other Updates wait for it, so fn must not start another transaction or do anything slow. A driver may run fn
// again after a conflict, so fn must have no side effects other than setting variables, which it must
// initialize itself.
func (db *DB) Update(ctx context.Context, fn func(*Tx) error) error {
	var after []func()
	var touched map[string]bool
	var began time.Time
	ctx, span := tracing.Start(ctx, "store.update", tracing.Internal)
	err := db.driver.Update(ctx, func(k kv.KV) error {
		var counted *countingKV
		if db.checkUpdate != nil {
			counted = &countingKV{KV: k}
			k = counted
		}
		tx := db.newTx(ctx, countReads(ctx, k), true)
		began = tx.now
		tx.changedTables = map[string]bool{}
		defer func() { tx.ended = true }()
		tx.kv.remote.Expect(kv.Ref{Table: metaTable, Key: metaKey.b})
		err := fn(tx)
		if e := tx.checkNotMigrated(); err == nil || errors.Is(e, ErrNewerSchema) { // which explains why fn failed
			err = e
		}
		if err == nil && len(tx.syncChanges) > 0 {
			err = tx.writeSyncLog()
		}
		if err == nil {
			err = tx.updateFigures()
		}
		if err == nil {
			err = tx.flushTallies()
		}
		if err == nil {
			err = tx.saveLastID()
		}
		if err == nil {
			err = tx.kv.updateTotal()
		}
		if err == nil && counted != nil {
			err = db.checkUpdate(counted.stats)
		}
		after, touched = tx.afterCommit, tx.changedTables
		return err
	})
	span.End(err)
	if observe := db.observeUpdate.Load(); observe != nil && !began.IsZero() {
		(*observe)(db.clock().Sub(began))
	}
	db.changes.increment(touched) // even after an error, because the commit may have succeeded
	if len(touched) > 0 {
		db.updates.Add(1)
		defer db.notifier.notify()
	}
	if err != nil {
		return err
	}
	for _, f := range after {
		f()
	}
	return nil
}

func (db *DB) newTx(ctx context.Context, k kv.KV, writable bool) *Tx {
	remote, ok := k.(kv.Remote)
	if !ok {
		remote = localKV{k}
	}
	return &Tx{
		ctx: ctx, kv: checkedKV{driver: k, remote: remote, withoutTotal: !db.soleWriter}, db: db, now: db.clock(), writable: writable,
	}
}

// Close waits for running transactions and releases the data folder.
func (db *DB) Close() error {
	db.leaveProcesses()
	return db.driver.Close()
}
