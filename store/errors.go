package store

import (
	"errors"
	"fmt"

	"github.com/scf-service/service/store/kv"
)

// What can go wrong, to be asked with errors.Is.
var (
	ErrNotFound      = errors.New("not found")
	ErrExists        = errors.New("already exists")
	ErrBadCursor     = errors.New("the cursor is not one of this list; begin again without it")
	ErrNoTenant      = errors.New("the organization is missing")
	ErrWrongTenant   = errors.New("the record belongs to another organization")
	ErrNewerSchema   = errors.New("the database is newer than this program")
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
)

// ExistsError is ErrExists with where it was met.
type ExistsError struct {
	Table string
	Index string // empty: the primary key
}

func (e *ExistsError) Error() string {
	if e.Index == "" {
		return fmt.Sprintf("%s: a record with this key already exists", e.Table)
	}
	return fmt.Sprintf("%s: another record has the same %s", e.Table, e.Index)
}

// Is makes it an ErrExists.
func (e *ExistsError) Is(target error) bool { return target == ErrExists }

// NewerSchemaError is ErrNewerSchema with both schema versions.
type NewerSchemaError struct {
	Database, Program int
}

func (e *NewerSchemaError) Error() string {
	return fmt.Sprintf("%v: it has schema version %d, the program knows %d; use a newer program or restore an older backup",
		ErrNewerSchema, e.Database, e.Program)
}

// Is makes it an ErrNewerSchema.
func (e *NewerSchemaError) Is(target error) bool { return target == ErrNewerSchema }
