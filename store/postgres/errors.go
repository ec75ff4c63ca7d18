package postgres

import (
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/scf-service/service/store/kv"
)

// databaseError is an error of the database or of the connection.
type databaseError struct {
	kind  error // the corresponding error of package kv
	text  string
	cause error
	// repeat is set if the transaction had no effect and may succeed if it is repeated.
	repeat bool
}

func (e *databaseError) Error() string { return e.text + " (" + e.cause.Error() + ")" }

// PublicMessage returns the error without its cause.
func (e *databaseError) PublicMessage() string { return e.text }

func (e *databaseError) Unwrap() []error { return []error{e.kind, e.cause} }

// toKVError converts a pgx error to an error of package kv.
func toKVError(err error) error {
	var known *databaseError
	if err == nil || errors.As(err, &known) {
		return err
	}
	code := sqlState(err)
	e := &databaseError{kind: kv.ErrUnavailable, cause: err}
	switch {
	case code == "":
		e.text, e.repeat = "the connection to the database failed; try again", true
	case code == "40001", code == "40P01", code == "23505":
		// A unique violation (23505) is included, because concurrent inserts of the same key may be reported
		// that way. No statement of ours violates a constraint otherwise.
		e.text, e.repeat = "other changes were made at the same time; try again", true
	case code == "42P06", code == "42P07", code == "42710", code == "XX000" && strings.Contains(err.Error(), "concurrently"):
		e.text, e.repeat = "another process is creating the tables; try again", true
	case code == "57014":
		e.text = "the operation took longer than the database allows (statement_timeout); try again later"
	case code == "55P03":
		e.text, e.repeat = "the operation waited longer than the database allows (lock_timeout); try again", true
	case strings.HasPrefix(code, "08"), strings.HasPrefix(code, "57P"), code == "53300", code == "25P03":
		e.text, e.repeat = "the database is not available; try again", true
	case strings.HasPrefix(code, "53") && code != "53100":
		e.text = "the database lacks memory or other resources; try again later"
	case code == "53100":
		e.kind, e.text = kv.ErrDiskFull, "the database server's disk is full"
	case code == "25006":
		e.kind, e.text = kv.ErrReadOnly, "the database does not accept changes; connect to the primary server"
	case code == "42501":
		e.kind, e.text = kv.ErrReadOnly, "the database role lacks privileges. Grant it USAGE on the schema, and SELECT, INSERT, UPDATE and DELETE "+
			"on the table “entries” in that schema, or allow the role to create both"
	case code == "XX001", code == "XX002":
		e.kind, e.text = kv.ErrCorrupt, "the database is damaged; restore a backup"
	default:
		return err
	}
	return e
}

// isOutcomeKnown reports whether it is certain that a transaction was rolled back if its commit ended with this error.
func isOutcomeKnown(err error) bool {
	var e *pgconn.PgError
	if !errors.As(err, &e) || e.Code == "40003" || strings.HasPrefix(e.Code, "08") { // 40003: completion unknown
		return false
	}
	return e.SeverityUnlocalized == "ERROR" || e.SeverityUnlocalized == "" && e.Severity == "ERROR"
}
