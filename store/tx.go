package store

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/scf-service/service/store/kv"
)

// Tx is a transaction: all reads see one snapshot of the database, and either all writes happen or none. It is
// not safe for concurrent use and must not be used after its function has returned.
type Tx struct {
	ctx         context.Context
	kv          checkedKV
	db          *DB
	now         time.Time
	writable    bool
	ended       bool
	afterCommit []func()
	// idIssued is true if the transaction has issued an ID; issued holds these IDs, up to maxIssued.
	idIssued bool
	issued   map[string]bool
	// changedTables are the tables that were written to.
	changedTables map[string]bool
	// syncChanges holds the changed records to log, with their changed fields; actor is the author.
	syncChanges map[syncRecordRef][]string
	actor       string
	syncLogOff  bool
	packs       []cachedPack // the most recently used packs
	// tallies holds the changes to numbers that have not been written yet; figures holds the assessments whose
	// figures have changed.
	tallies map[tallyRef]int64
	figures map[assessmentRef]figureParts
}

// Context returns the context the transaction was started with.
func (tx *Tx) Context() context.Context { return tx.ctx }

// Now returns the start time of the transaction.
func (tx *Tx) Now() time.Time { return tx.now }

// NewID returns a new ID. IDs sort in the order in which they were issued.
func (tx *Tx) NewID() string {
	tx.idIssued = tx.writable
	id := tx.db.idGenerator.next()
	if tx.writable && !tx.db.soleWriter && len(tx.issued) < maxIssued {
		if tx.issued == nil {
			tx.issued = map[string]bool{}
		}
		tx.issued[id] = true
	}
	return id
}

// FollowID makes subsequent IDs of this process greater than id, which another process may have issued when its
// clock was ahead of this one's.
func (tx *Tx) FollowID(id string) { tx.db.idGenerator.follow(id) }

// ReadAhead announces that the Update will probably read the same data from now on as the last Update that called
// ReadAhead with the same name. A database on another machine is then asked for all of it at once.
func (tx *Tx) ReadAhead(name string) { tx.kv.remote.ReadAhead(name) }

// maxIssued limits the memory that Tx.issued takes.
const maxIssued = 1000

// assumeMissingIfNew avoids reading a key that can't have existed before this transaction, because it contains an ID
// that the transaction issued.
func (tx *Tx) assumeMissingIfNew(table string, k Key) {
	for rest := k.b; len(tx.issued) > 0 && len(rest) > 0; {
		size, err := partSize(rest)
		if err != nil {
			return
		}
		if rest[0] == tagText && tx.issued[string(rest[1:size-1])] { // IDs contain no byte that keys escape
			tx.kv.remote.AssumeMissing(table, k.b)
			return
		}
		rest = rest[size:]
	}
}

// IsWritable reports whether the transaction is an Update rather than a View.
func (tx *Tx) IsWritable() bool { return tx.writable }

// AfterCommit calls fn once the transaction is durable, but not if the transaction fails. Use it to notify a worker
// rather than to do work.
func (tx *Tx) AfterCommit(fn func()) { tx.afterCommit = append(tx.afterCommit, fn) }

// NextSequence returns the next number of the named sequence: 1, 2, 3 and so on. A number is only reused if its
// transaction was rolled back.
func (tx *Tx) NextSequence(name string) (int64, error) {
	if err := tx.checkUsable(true); err != nil {
		return 0, err
	}
	last, err := tx.lastSequence(name)
	if err != nil {
		return 0, err
	}
	return last + 1, tx.kv.Put(sequencesTable, K(name).b, binary.BigEndian.AppendUint64(nil, uint64(last+1)))
}

// LastSequence returns the last number of the named sequence, or 0 if there is none.
func (tx *Tx) LastSequence(name string) (int64, error) {
	if err := tx.checkUsable(false); err != nil {
		return 0, err
	}
	return tx.lastSequence(name)
}

func (tx *Tx) lastSequence(name string) (int64, error) {
	b, err := tx.kv.Get(sequencesTable, K(name).b)
	if err != nil || b == nil {
		return 0, err
	}
	if len(b) != 8 {
		return 0, fmt.Errorf("sequence %s: %w", name, ErrCorrupt)
	}
	return int64(binary.BigEndian.Uint64(b)), nil
}

// checkUsable returns an error if the transaction has ended. It also returns an error if write is set and the
// transaction is a View.
func (tx *Tx) checkUsable(write bool) error {
	switch {
	case tx == nil || tx.ended:
		return ErrTxDone
	case write && !tx.writable:
		return ErrReadOnlyTx
	}
	return nil
}

// checkTable works like checkUsable, and also checks that the table is in the schema.
func (tx *Tx) checkTable(d *tableDefinition, write bool) error {
	if err := tx.checkUsable(write); err != nil {
		return fmt.Errorf("%s: %w", d.name, err)
	}
	if tx.db.tables.byName[d.name] != d {
		return fmt.Errorf("%w: %s is not in the schema the database was opened with", ErrUnknownTable, d.name)
	}
	return nil
}

func (tx *Tx) getMeta(k Key, v any) (found bool, err error) {
	b, err := tx.kv.Get(metaTable, k.b)
	if err != nil || b == nil {
		return false, err
	}
	if err := decodeMeta(k, b, v); err != nil {
		return false, err
	}
	return true, nil
}

func decodeMeta(k Key, b []byte, v any) error {
	_, plain, err := unpackRecord(b)
	if err == nil {
		if e := json.Unmarshal(plain, v); e != nil {
			err = fmt.Errorf("%w: %w", ErrCorrupt, e)
		}
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", metaTable, k, err)
	}
	return nil
}

func (tx *Tx) putMeta(k Key, v any) error {
	plain, err := json.Marshal(v)
	if err != nil {
		return err
	}
	b, err := packRecord(markJSON, plain)
	if err != nil {
		return err
	}
	return tx.kv.Put(metaTable, k.b, b)
}

// The following methods are for migrations.

// RewriteRecords passes the encoded form of every record of a table (JSON, unless the table has its
// own codec) to change and stores the result; nil deletes the record. Keys stay the same. The
// table's indexes are rebuilt after the last migration; until then they must not be read.
func (tx *Tx) RewriteRecords(table string, change func(old []byte) ([]byte, error)) error {
	if err := tx.checkUsable(true); err != nil {
		return err
	}
	if err := tx.dropIndexesForRebuild(table); err != nil {
		return err
	}
	for p, err := range tx.kv.Scan(table, kv.Range{}) {
		if err != nil {
			return err
		}
		key := slices.Clone(p.Key)
		var mark byte
		var old, fresh []byte
		value, err := tx.kv.verifiedValue(table, p)
		if err == nil {
			value, err = tx.joinRecord(key, value)
		}
		if err == nil {
			mark, old, err = unpackRecord(value)
		}
		if err == nil {
			fresh, err = change(slices.Clone(old))
		}
		if err == nil && fresh == nil {
			err = tx.kv.Delete(table, key)
		} else if err == nil {
			var b []byte
			if b, err = packRecord(mark, fresh); err == nil {
				err = tx.kv.Put(table, key, b)
			}
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", table, Key{b: key}, err)
		}
	}
	return nil
}

// DropTable removes a table with its indexes.
func (tx *Tx) DropTable(table string) error {
	if err := tx.checkUsable(true); err != nil {
		return err
	}
	if err := tx.dropIndexesForRebuild(table); err != nil {
		return err
	}
	return tx.kv.Drop(table)
}

// RenameTable moves all records of a table to a new, unused name.
func (tx *Tx) RenameTable(from, to string) error {
	if err := tx.checkUsable(true); err != nil {
		return err
	}
	for _, err := range tx.kv.Scan(to, kv.Range{}) {
		return errors.Join(err, &ExistsError{Table: to})
	}
	for p, err := range tx.kv.Scan(from, kv.Range{}) {
		if err != nil {
			return err
		}
		value, err := tx.kv.verifiedValue(from, p)
		if err == nil {
			err = tx.kv.Put(to, slices.Clone(p.Key), value)
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(tx.DropTable(from), tx.dropIndexesForRebuild(to))
}

// dropIndexesForRebuild drops a table's indexes and marks them to be rebuilt.
func (tx *Tx) dropIndexesForRebuild(table string) error {
	var have []string
	if _, err := tx.getMeta(K("indexes", table), &have); err != nil {
		return err
	}
	for _, ix := range have {
		if err := tx.dropIndex(table, ix); err != nil {
			return err
		}
	}
	return tx.kv.Delete(metaTable, K("indexes", table).b)
}

// dropIndex drops an index or tally, given its description. It also drops the pending changes to a tally's numbers.
func (tx *Tx) dropIndex(table, description string) error {
	name := indexTableName(table, indexNameFromDescription(description))
	tx.forgetTally(name)
	return tx.kv.Drop(name)
}
