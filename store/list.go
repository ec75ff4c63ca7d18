package store

import (
	"context"
	"encoding/base64"
	"errors"

	"github.com/scf-service/service/api"
)

// List returns a page of a tenant table as an API list.
func List[R any](ctx context.Context, db *DB, t *TenantTable[R], org string, p api.Paging, q PageQuery[R]) (*api.List[R], error) {
	var out *api.List[R]
	err := db.View(ctx, func(tx *Tx) (err error) {
		out, err = ListInTx(tx, t, org, p, q)
		return err
	})
	return out, err
}

// ListInTx works like List in a running transaction.
func ListInTx[R any](tx *Tx, t *TenantTable[R], org string, p api.Paging, q PageQuery[R]) (*api.List[R], error) {
	q.Cursor, q.Limit = p.Cursor, p.Limit
	page, err := t.Page(tx, org, q)
	return toList(page, p), toCursorError(err)
}

// ListGlobal works like List for a table that belongs to no organization.
func ListGlobal[R any](ctx context.Context, db *DB, t *Table[R], p api.Paging, q PageQuery[R]) (*api.List[R], error) {
	var out *api.List[R]
	err := db.View(ctx, func(tx *Tx) (err error) {
		out, err = ListGlobalInTx(tx, t, p, q)
		return err
	})
	return out, err
}

// ListGlobalInTx works like ListGlobal in a running transaction.
func ListGlobalInTx[R any](tx *Tx, t *Table[R], p api.Paging, q PageQuery[R]) (*api.List[R], error) {
	q.Cursor, q.Limit = p.Cursor, p.Limit
	page, err := t.Page(tx, q)
	return toList(page, p), toCursorError(err)
}

// toList converts a page to an API list.
func toList[R any](page Page[R], p api.Paging) *api.List[R] {
	l := &api.List[R]{Data: page.Items, Pagination: api.Pagination{Total: page.Total, Limit: p.Limit, HasMore: page.Next != ""}}
	if page.Next != "" {
		l.Pagination.NextCursor = &page.Next
	}
	return l
}

// toCursorError converts ErrBadCursor to a validation error of the API.
func toCursorError(err error) error {
	if errors.Is(err, ErrBadCursor) {
		return api.Invalid("cursor", "%v", ErrBadCursor)
	}
	return err
}

// ToNotFound converts ErrNotFound to the API's NOT_FOUND error for the given kind of record.
func ToNotFound(err error, kind, id string) error {
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrBadKey) {
		return api.NotFound(kind, id)
	}
	return err
}

// PageSlice returns a page of a list in memory, sorted by ascending key. The cursor contains the last key,
// so that concurrent inserts and deletes don't shift the next page.
func PageSlice[R any](all []R, p api.Paging, key func(*R) string) (*api.List[R], error) {
	after, err := decodeCursorText(p.Cursor)
	if err != nil {
		return nil, toCursorError(ErrBadCursor)
	}
	limit := p.Limit
	if limit <= 0 {
		limit = DefaultPageLimit
	}
	out := &api.List[R]{Data: []R{}, Pagination: api.Pagination{Total: len(all), Limit: limit}}
	for i := range all {
		if p.Cursor != "" && key(&all[i]) <= string(after) {
			continue
		}
		if len(out.Data) == limit {
			next := base64.RawURLEncoding.EncodeToString([]byte(key(&out.Data[limit-1])))
			out.Pagination.NextCursor, out.Pagination.HasMore = &next, true
			break
		}
		out.Data = append(out.Data, all[i])
	}
	return out, nil
}
