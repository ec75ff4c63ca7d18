package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Migration upgrades a database from the previous version to Version. Versions ascend from 1. A new database
// gets the last version without running any migration, so a migration must not add anything that a new database
// needs.
//
// Apply runs in the transaction that writes the new version number: after a crash or an error, the database has
// the previous version. It may use RewriteRecords, DropTable, RenameTable, and tables whose records still have
// the same form today. It must not read indexes.
type Migration struct {
	Version int
	Name    string // a few words for the log, such as "split names"
	Apply   func(context.Context, *Tx) error
}

// createOrMigrate creates the database, or migrates it to the program's schema.
func (db *DB) createOrMigrate(ctx context.Context) error {
	fresh, current, err := db.loadMeta(ctx)
	if err != nil {
		return err
	}
	want := db.schema.Version()
	if fresh {
		if trace := traceOfDatabase(db.dir); trace != "" {
			return db.newEmptyDatabaseError(trace)
		}
		created, err := db.createDatabase(ctx, want)
		if err != nil {
			return err
		}
		if !created { // another process has created it in the meantime
			return db.createOrMigrate(ctx)
		}
		return db.checkOrWriteFolderID()
	}
	if err := checkDatabaseFormat(db.meta.Format); err != nil {
		return err
	}
	if db.meta.Schema > want {
		return &NewerSchemaError{Database: db.meta.Schema, Program: want}
	}
	if err := db.checkOrWriteFolderID(); err != nil { // before anything is changed
		return err
	}
	switch {
	case db.meta.Format == formatWithoutChecksums:
		if err := db.addChecksums(ctx); err != nil {
			return err
		}
		return db.createOrMigrate(ctx)
	case db.meta.Schema == want && current:
		return nil
	case db.meta.Schema == want:
		err := db.applyMigration(ctx, Migration{Version: want}, true)
		if errors.Is(err, errMigratedMeanwhile) {
			return db.createOrMigrate(ctx)
		}
		return err
	}
	if _, err := db.backUpBefore(ctx, fmt.Sprintf("schema-%d", want)); err != nil {
		return err
	}
	for _, m := range db.schema.Migrations {
		if m.Version <= db.meta.Schema {
			continue
		}
		switch err := db.applyMigration(ctx, m, m.Version == want); {
		case errors.Is(err, errMigratedMeanwhile):
			return db.createOrMigrate(ctx)
		case err != nil:
			return fmt.Errorf("migration %d (%s) failed; the database remains at version %d: %w", m.Version, m.Name, db.meta.Schema, err)
		}
		db.log.InfoContext(ctx, "migrated", "schema", m.Version, "name", m.Name)
	}
	return nil
}

// checkDatabaseFormat returns an error for a format that this program can neither read nor migrate.
func checkDatabaseFormat(format int) error {
	switch {
	case format > formatVersion:
		return fmt.Errorf("%w: the database has format %d, but this program supports only %d; upgrade to a newer version",
			ErrNewerSchema, format, formatVersion)
	case format < formatWithoutChecksums:
		return fmt.Errorf("%w (the database has format %d, but this program supports only %d)", ErrOldFormat, format, formatVersion)
	}
	return nil
}

// backUpBefore backs up the database, without blobs, before a migration, and returns the backup's path.
func (db *DB) backUpBefore(ctx context.Context, migration string) (path string, err error) {
	path = newBackupPath(db.dir, db.clock(), "before-"+migration, BackupSuffix)
	if _, err := db.backup(ctx, path, BackupOptions{WithoutBlobs: true, AllowDamaged: true}); err != nil {
		return "", fmt.Errorf("the database was not migrated because it could not be backed up: %w", err)
	}
	db.log.InfoContext(ctx, "backup before migration", "path", path, "schema", db.meta.Schema)
	return path, nil
}

// addChecksums converts a database without checksums to formatVersion, after backing it up.
func (db *DB) addChecksums(ctx context.Context) error {
	backup, err := db.backUpBefore(ctx, fmt.Sprintf("format-%d", formatVersion))
	if err != nil {
		return err
	}
	next := db.meta
	next.Format = formatVersion
	if next.ID == "" {
		next.ID = db.newID()
	}
	err = db.Update(ctx, func(tx *Tx) error {
		if err := tx.kv.addChecksums(ctx); err != nil {
			return err
		}
		return tx.putMeta(metaKey, next)
	})
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrDiskFull) {
		err = errors.Join(err, os.Remove(backup)) // nothing was changed, and the next start makes another backup
	}
	if err != nil {
		return fmt.Errorf("checksums could not be added; the database is unchanged: %w", err)
	}
	db.meta = next
	db.log.InfoContext(ctx, "migrated", "format", formatVersion)
	return nil
}

// loadMeta reads the description of the database. isEmpty reports whether the database is empty, and indexesCurrent
// whether its indexes match the schema. indexesCurrent is valid only if the database has the program's own schema
// version.
func (db *DB) loadMeta(ctx context.Context) (isEmpty, indexesCurrent bool, err error) {
	err = db.View(ctx, func(tx *Tx) error {
		found, err := tx.getMeta(metaKey, &db.meta)
		if errors.Is(err, ErrCorrupt) && db.loadUncheckedMeta(tx) {
			return nil
		}
		if err != nil {
			return err
		}
		if !found {
			names, err := tx.kv.Tables()
			if err == nil && len(names) > 0 {
				err = fmt.Errorf("%w: the database contains the table %s but no description of the database", ErrUnknownTable, names[0])
			}
			isEmpty = true
			return err
		}
		if db.meta.Format < formatWithPlainBlobs {
			return nil
		}
		if _, found, err := tx.kv.total(); db.soleWriter && (err != nil || !found) {
			return cmp.Or(err, fmt.Errorf("%s: %w; restore a backup", filepath.Join(db.dir, fileDatabase), errWrongTotal))
		}
		if db.meta.Format == formatVersion && db.meta.Schema == db.schema.Version() {
			indexesCurrent, err = db.tables.areIndexesCurrent(tx)
			if !indexesCurrent {
				err = nil // applyMigration will return the error again
			}
		}
		return err
	})
	return isEmpty, indexesCurrent, err
}

// loadUncheckedMeta reads the description of a database that was written before records had checksums. It
// returns false for any other database.
func (db *DB) loadUncheckedMeta(tx *Tx) (isUnchecked bool) {
	b, err := tx.kv.driver.Get(metaTable, metaKey.b)
	if err != nil || len(b) == 0 || b[0] != markJSON {
		return false
	}
	var old databaseMeta
	if json.Unmarshal(b[1:], &old) != nil || old.Format > formatWithoutChecksums {
		return false
	}
	db.meta = old
	return true
}

// createDatabase initializes a new database. created is false if another process has done so in the meantime.
func (db *DB) createDatabase(ctx context.Context, version int) (created bool, err error) {
	// Two random IDs have more entropy than the authentication code needs.
	m := databaseMeta{Format: formatVersion, Schema: version, Created: db.clock().UTC(), Secret: db.newID() + db.newID(), ID: db.newID()}
	err = db.Update(ctx, func(tx *Tx) error {
		exists, err := tx.getMeta(metaKey, &databaseMeta{})
		if created = !exists; err != nil || exists {
			return err
		}
		if err := tx.putMeta(metaKey, m); err != nil {
			return err
		}
		_, err = db.tables.rebuildStaleIndexes(ctx, tx)
		return err
	})
	if err == nil && created {
		db.meta = m
	}
	return created, err
}

// errMigratedMeanwhile is the error of applyMigration if another process has migrated the database.
var errMigratedMeanwhile = errors.New("another process has migrated the database")

// applyMigration runs one migration in a transaction that also stores the new version. After the last
// migration, the same transaction rebuilds the indexes and marks the figures of all assessments to be
// recomputed.
func (db *DB) applyMigration(ctx context.Context, m Migration, last bool) error {
	next := db.meta
	next.Schema, next.Format = m.Version, formatVersion
	var rebuilt []string
	err := db.Update(ctx, func(tx *Tx) error {
		var now databaseMeta
		if _, err := tx.getMeta(metaKey, &now); err != nil {
			return err
		}
		if now.Schema != db.meta.Schema {
			return errMigratedMeanwhile
		}
		if m.Apply != nil {
			if err := m.Apply(ctx, tx); err != nil {
				return err
			}
			if err := db.tables.forgetMissingTallies(tx); err != nil {
				return err
			}
		}
		if err := tx.putMeta(metaKey, next); err != nil {
			return err
		}
		if !last {
			clear(tx.figures) // the last migration recomputes all figures, from complete tallies
			return nil
		}
		var err error
		if rebuilt, err = db.tables.rebuildStaleIndexes(ctx, tx); err != nil {
			return err
		}
		return tx.markAllFiguresStale()
	})
	if err != nil {
		return err
	}
	db.meta = next
	for _, t := range rebuilt {
		db.log.InfoContext(ctx, "indexes built", "table", t)
	}
	return nil
}

// newBackupPath returns an unused path in the folder of backups. The file's name begins with the time, so that backups
// sort by time.
func newBackupPath(dir string, now time.Time, reason, suffix string) string {
	name := filepath.Join(dir, dirBackups, now.UTC().Format("20060102T150405.000Z")+"-"+reason)
	path := name + suffix
	for n := 2; ; n++ {
		if _, err := os.Lstat(path); err != nil {
			return path
		}
		path = fmt.Sprintf("%s-%d%s", name, n, suffix)
	}
}
