package store

import (
	"errors"
	"fmt"

	"github.com/scf-service/service/store/kv"
)

// Errors of the store, to be checked with errors.Is.
var (
	ErrNotFound      = kv.ErrNotFound
	ErrExists        = errors.New("already exists")
	ErrBadCursor     = errors.New("the cursor does not belong to this list; start again without a cursor")
	ErrNoTenant      = errors.New("the organization is missing")
	ErrWrongTenant   = errors.New("the record belongs to another organization")
	ErrNewerSchema   = errors.New("the database is newer than this program")
	ErrOldFormat     = errors.New("the database was created before the first release; use a new data folder")
	ErrInvalidSchema = errors.New("the schema is not valid")
	ErrUnknownTable  = errors.New("unknown table or index")

	ErrLocked     = kv.ErrLocked
	ErrDiskFull   = kv.ErrDiskFull
	ErrReadOnly   = kv.ErrReadOnly
	ErrCorrupt    = kv.ErrCorrupt
	ErrClosed     = kv.ErrClosed
	ErrTxDone     = kv.ErrTxDone
	ErrReadOnlyTx = kv.ErrReadOnlyTx
	ErrBadKey     = kv.ErrBadKey
	ErrTooLarge   = kv.ErrTooLarge

	ErrUnavailable = kv.ErrUnavailable
)

// ExistsError is an ErrExists that names the table and index concerned.
type ExistsError struct {
	Table string
	Index string // empty for the primary key
}

func (e *ExistsError) Error() string {
	if e.Index == "" {
		return fmt.Sprintf("%s: a record with this key already exists", e.Table)
	}
	return fmt.Sprintf("%s: another record has the same %s", e.Table, e.Index)
}

// Is reports whether target is ErrExists.
func (e *ExistsError) Is(target error) bool { return target == ErrExists }

// NewerSchemaError is an ErrNewerSchema with both schema versions.
type NewerSchemaError struct {
	Database, Program int
}

func (e *NewerSchemaError) Error() string {
	return fmt.Sprintf("%v: the database has schema version %d, but this program supports only %d; upgrade to a newer version or restore an older backup",
		ErrNewerSchema, e.Database, e.Program)
}

// Is reports whether target is ErrNewerSchema.
func (e *NewerSchemaError) Is(target error) bool { return target == ErrNewerSchema }
