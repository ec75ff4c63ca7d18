package postgres

// Every statement of the driver is in this file, so that a test can check that the statements use only the SQL that the
// distributed databases speaking PostgreSQL's protocol have in common.
//
// All tables of the store are in one SQL table, because these databases can't create tables within
// transactions. Like keys, names of tables are bytes, so that no collation is needed. The table with the empty
// name, which no other table can have, contains:
//
//	v           version of this format, in decimal
//	t, name     a table that was written to and not dropped since
//	w, writer   the last transaction that the writer, an open DB, committed; see DB.settleCommit
const (
	createSchema  = `CREATE SCHEMA IF NOT EXISTS `
	createEntries = `CREATE TABLE IF NOT EXISTS entries (
		tbl bytea NOT NULL, key bytea NOT NULL, value bytea NOT NULL, PRIMARY KEY (tbl, key))`
	insertEntry = `INSERT INTO entries (tbl, key, value) VALUES ($1, $2, $3) ON CONFLICT (tbl, key) DO NOTHING`
	deleteEntry = `DELETE FROM entries WHERE tbl = $1 AND key = $2`

	disableBitmapScan = `SET enable_bitmapscan = OFF`
	disableSeqScan    = `SET enable_seqscan = OFF`
	disableSort       = `SET enable_sort = OFF`

	beginView   = `BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY`
	beginUpdate = `BEGIN ISOLATION LEVEL SERIALIZABLE, READ WRITE`
	commit      = `COMMIT`
	rollback    = `ROLLBACK`

	selectTime   = `SELECT clock_timestamp()`
	selectValue  = `SELECT value FROM entries WHERE tbl = $1 AND key = $2`
	selectValues = `SELECT key, value FROM entries WHERE tbl = $1 AND key = ANY($2::bytea[])`

	selectMarks = `SELECT key, value FROM entries WHERE tbl = ''::bytea AND key >= 'w'::bytea AND key < 'x'::bytea ORDER BY key`

	// These statements return the keys adjacent to one that doesn't exist.
	selectKeyBefore = `SELECT key FROM entries WHERE tbl = $1 AND key < $2 ORDER BY key DESC LIMIT 1`
	selectKeyAfter  = `SELECT key FROM entries WHERE tbl = $1 AND key > $2 ORDER BY key LIMIT 1`

	selectTables = `SELECT key FROM entries WHERE tbl = ''::bytea AND key >= 't'::bytea AND key < 'u'::bytea ORDER BY key`

	scanUp         = `SELECT key, value FROM entries WHERE tbl = $1 AND key >= $3 AND key < $4 ORDER BY key LIMIT $2`
	scanUpToEnd    = `SELECT key, value FROM entries WHERE tbl = $1 AND key >= $3 ORDER BY key LIMIT $2`
	scanDown       = `SELECT key, value FROM entries WHERE tbl = $1 AND key >= $3 AND key < $4 ORDER BY key DESC LIMIT $2`
	scanDownAtEnd  = `SELECT key, value FROM entries WHERE tbl = $1 AND key >= $3 ORDER BY key DESC LIMIT $2`
	deleteTable    = `DELETE FROM entries WHERE tbl = $1`
	deleteKeys     = `DELETE FROM entries WHERE tbl = $1 AND key = ANY($2::bytea[])`
	insertOrUpdate = `INSERT INTO entries (tbl, key, value)
		SELECT new.tbl, new.key, new.value FROM unnest($1::bytea[], $2::bytea[], $3::bytea[]) AS new (tbl, key, value)
		ON CONFLICT (tbl, key) DO UPDATE SET value = excluded.value`

	// This statement reads before inserting, so that a concurrent Drop of the table becomes a conflict.
	insertTables = `INSERT INTO entries (tbl, key, value)
		SELECT ''::bytea, new.key, ''::bytea FROM unnest($1::bytea[]) AS new (key)
		WHERE NOT EXISTS (SELECT 1 FROM entries AS old WHERE old.tbl = ''::bytea AND old.key = new.key)
		ON CONFLICT (tbl, key) DO NOTHING`

	// This statement fails if the value isn't the expected one, because the value then becomes NULL, which is not
	// allowed.
	updateMark = `UPDATE entries SET value = CASE WHEN value = $2::bytea THEN $3::bytea END WHERE tbl = ''::bytea AND key = $1`
	// This statement waits for a transaction that has changed the mark. If any transaction changes the mark later, that
	// transaction fails.
	replaceMark = `UPDATE entries SET value = $3 WHERE tbl = ''::bytea AND key = $1 AND value <> $2`
)
