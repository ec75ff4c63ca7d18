package store

import "path/filepath"

// ID returns the database's ID, which its backups have too.
func (db *DB) ID() string { return db.meta.ID }

// TrialOptions returns the options for VerifyBackup to restore a backup in the temporary folder, which the
// next start empties.
func (db *DB) TrialOptions() Options {
	return Options{Dir: filepath.Join(db.dir, dirTemp), Schema: db.schema, Clock: db.clock, NewID: db.newID, Logger: db.log}
}
