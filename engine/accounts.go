package engine

import (
	"context"

	"github.com/scf-service/service/store"
)

// HasAccounts reports whether any user can sign in with a password.
func (e *Engine) HasAccounts(ctx context.Context) (bool, error) {
	n := 0
	err := e.db.View(ctx, func(tx *store.Tx) (err error) {
		n, err = store.Passwords.Count(tx)
		return err
	})
	return n > 0, err
}
