package store

import "path/filepath"

// ID returns the database's ID, which its backups also contain.
func (db *DB) ID() string { return db.meta.ID }

// TrialRestoreOptions returns the options that make VerifyBackup restore a backup to the folder for temporary files,
// which is emptied at the next start.
func (db *DB) TrialRestoreOptions() Options {
	return Options{Dir: filepath.Join(db.dir, dirTemp), Schema: db.schema, Clock: db.clock, NewID: db.newID, Logger: db.log}
}
