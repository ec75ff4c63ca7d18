package engine

import (
	"context"
	"errors"
	"syscall"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// ToAPIError is what a caller is told of an error. What only the program's makers can
// mend stays hidden behind a general sentence; a full disk does not.
func ToAPIError(err error) *api.Error {
	e := api.AsError(err)
	if e.Code != api.CodeInternal {
		return e
	}
	switch {
	case errors.Is(err, store.ErrDiskFull), errors.Is(err, store.ErrReadOnly):
		return api.Internal("%v; what was stored before is unchanged", err).WithCause(err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return api.Internal("the disk is full; free some space and try again: %v", err).WithCause(err)
	case errors.Is(err, store.ErrClosed):
		return api.Internal("the program is ending; do it again").WithCause(err)
	case errors.Is(err, context.Canceled):
		return api.Internal("the request was called off").WithCause(err)
	}
	return e
}
