package store

import (
	"context"
	"errors"

	"github.com/scf-service/service/engine/api"
)

// List answers a page of a tenant table as the contract words it.
func List[R any](ctx context.Context, db *DB, t *TenantTable[R], org string, p api.Paging, q PageQuery[R]) (*api.List[R], error) {
	var out *api.List[R]
	err := db.View(ctx, func(tx *Tx) error {
		q.Cursor, q.Limit = p.Cursor, p.Limit
		page, err := t.Page(tx, org, q)
		out = listOf(page, p)
		return err
	})
	return out, badCursor(err)
}

// ListAll is List for a table that belongs to no organization.
func ListAll[R any](ctx context.Context, db *DB, t *Table[R], p api.Paging, q PageQuery[R]) (*api.List[R], error) {
	var out *api.List[R]
	err := db.View(ctx, func(tx *Tx) error {
		q.Cursor, q.Limit = p.Cursor, p.Limit
		page, err := t.Page(tx, q)
		out = listOf(page, p)
		return err
	})
	return out, badCursor(err)
}

func listOf[R any](page Page[R], p api.Paging) *api.List[R] {
	l := &api.List[R]{Data: page.Items, Pagination: api.Pagination{Total: page.Total, Limit: p.Limit, HasMore: page.Next != ""}}
	if page.Next != "" {
		l.Pagination.NextCursor = &page.Next
	}
	return l
}

func badCursor(err error) error {
	if errors.Is(err, ErrBadCursor) {
		return api.Invalid("cursor", "%v", ErrBadCursor)
	}
	return err
}

// Missing turns ErrNotFound into the contract's NOT_FOUND about a kind of record.
func Missing(err error, kind, id string) error {
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrBadKey) {
		return api.NotFound(kind, id)
	}
	return err
}
