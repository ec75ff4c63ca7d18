// Package store stores everything the service knows: typed tables with transactions, blobs by their hash, an
// outbox of events, migrations, backups.
//
// A data folder:
//
//	service.db      the tables (absent if another driver is given)
//	service.id      the ID of the database
//	blobs/ab/cdef…  documents and reports, named by their SHA-256
//	backups/        made before a migration and before a restore
//	tmp/            unfinished files; emptied at start
//
// and the tables in it, as a driver sees them:
//
//	_meta            "database" → format, schema version; "indexes", table → what is built;
//	                 "total" → combined checksum of all pairs
//	                 "process", ID and "leader" → of processes that share the database (processes.go)
//	_sequences       name → last number issued
//	_outbox          sequence → event
//	_outbox_new      ID → event without a number
//	_outbox_readers  consumer → last sequence acknowledged
//	_packs           organization, pack → content of items and passages (packs.go)
//	_bodies          organization, assessment, sum → content of items of earlier versions of the program
//	<table>          primary key → record
//	<table>.<index>  index key, primary key → length of the primary key
//	                 (unique: index key → primary key)
//
// Keys are tuples in an order-preserving encoding (Key). In a tenant table, the organization is the first part
// of every key, including those of indexes. A record is a format byte followed by JSON or the output of the
// table's own codec, compressed if that saves space. Items and passages are stored in packs; an item with the
// same content in several versions stores only its header. Every value ends with a checksum (checksum.go).
//
// The store contains no domain rules and checks no permissions, and nothing slow happens in a transaction.
package store
