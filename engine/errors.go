package engine

import (
	"context"
	"errors"
	"syscall"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// retryUnavailableAfter is how many seconds a client is asked to wait before it repeats a request that failed because the
// database or the files were not available.
const retryUnavailableAfter = 5

// unavailableMessage returns the message that a caller gets for an ErrUnavailable. It omits the
// cause, which may name the operator's hosts.
func unavailableMessage(err error) string {
	var known interface{ PublicMessage() string }
	if errors.As(err, &known) {
		return known.PublicMessage()
	}
	return store.ErrUnavailable.Error()
}

// ToAPIError converts an error to the one the caller sees. Internal errors are replaced with a
// general message; data damage and a full disk are reported as such.
func ToAPIError(err error) *api.Error {
	e := api.AsError(err)
	if e.Code != api.CodeInternal {
		return e
	}
	var damaged *store.DamagedRecordError
	switch {
	case errors.As(err, &damaged):
		return api.Internal("%s is damaged in the database; run `service doctor` on the machine with the data folder, then restore a backup",
			damaged.Record()).WithCause(err)
	case errors.Is(err, store.ErrCorrupt):
		return api.Internal("%v", err).WithCause(err)
	case errors.Is(err, store.ErrDiskFull), errors.Is(err, store.ErrReadOnly):
		return api.Internal("%v; previously stored data is unchanged", err).WithCause(err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return api.Internal("the disk is full; free some space and try again: %v", err).WithCause(err)
	case errors.Is(err, store.ErrUnavailable):
		return api.Unavailable(retryUnavailableAfter, "%s", unavailableMessage(err)).WithCause(err)
	case errors.Is(err, store.ErrClosed):
		return api.Internal("the program is shutting down; try again").WithCause(err)
	case errors.Is(err, context.Canceled):
		return api.Internal("the request was cancelled").WithCause(err)
	}
	return e
}
