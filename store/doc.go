// Package store keeps everything the service knows: typed tables under
// transactions, blobs by their hash, an outbox of events, migrations, backups.
//
// A data folder:
//
//	service.db      the tables (absent where another driver is given)
//	service.id      the ID of the database
//	blobs/ab/cdef…  documents and reports, named by their SHA-256
//	backups/        made before a migration and before a restore
//	tmp/            unfinished files; emptied at start
//
// and the tables in it, as a driver sees them:
//
//	_meta            "database" → format, schema version; "indexes", table → what is built;
//	                 "total" → of all checksums
//	_sequences       name → last number given
//	_outbox          sequence → event
//	_outbox_readers  consumer → last sequence it has done
//	_bodies          organization, assessment, sum → what lines of several versions say
//	<table>          primary key → record
//	<table>.<index>  index key, primary key → primary key
//	                 (unique: index key → primary key)
//
// Keys are tuples in an order-preserving encoding (Key). In a tenant table the
// organization is the first part of every key, of the indexes too. A record is
// one byte of format and then JSON, or the table's own codec, compressed where
// that pays; of a line that says what another version says, only its head is its own.
// Every value ends with a checksum (checksum.go).
//
// The store decides nothing: no rule of the domain, no permission, no slow work
// inside a transaction.
package store
