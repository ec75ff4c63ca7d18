package engine

import (
	"context"
	"errors"
	"syscall"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// ToAPIError converts an error to the one the caller sees. Internal errors stay hidden behind a
// general message; damage and a full disk do not.
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
	case errors.Is(err, store.ErrClosed):
		return api.Internal("the program is shutting down; try again").WithCause(err)
	case errors.Is(err, context.Canceled):
		return api.Internal("the request was cancelled").WithCause(err)
	}
	return e
}
