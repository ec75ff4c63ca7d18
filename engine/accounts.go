package engine

import (
	"context"

	"github.com/scf-service/service/store"
)

// HasPasswordAccounts reports whether any user can sign in with a password.
func (e *Engine) HasPasswordAccounts(ctx context.Context) (bool, error) {
	n := 0
	err := e.db.View(ctx, func(tx *store.Tx) (err error) {
		n, err = store.Passwords.Count(tx)
		return err
	})
	return n > 0, err
}
