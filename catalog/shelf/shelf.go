// Package shelf keeps the catalog versions of an installation: the built-in
// starter and whatever was imported. It answers every read of the catalog and
// takes imports whole or not at all.
//
// What a version holds is the library's business (package catalog); what is
// assessed with it is not known here.
package shelf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/scf-service/service/catalog"
	"github.com/scf-service/service/catalog/starter"
	"github.com/scf-service/service/engine/api"
	"github.com/scf-service/service/store"
)

// maxSnapshot bounds an encoded catalog.
const maxSnapshot = 256 << 20

// Service keeps catalog versions. A version is decoded once and then shared.
type Service struct {
	db    *store.DB
	clock func() time.Time

	mu     sync.Mutex
	loaded map[string]*catalog.Snapshot
}

// New makes the service.
func New(db *store.DB, clock func() time.Time) *Service {
	return &Service{db: db, clock: clock, loaded: map[string]*catalog.Snapshot{}}
}

// EnsureStarter puts the built-in catalog on the shelf where it, or this edition
// of it, is missing. It becomes the active version only where no other is.
func (s *Service) EnsureStarter(ctx context.Context) error {
	sum := starter.Fingerprint()
	var have bool
	err := s.db.View(ctx, func(tx *store.Tx) error {
		for v, err := range store.CatalogVersions.Scan(tx) {
			if err != nil {
				return err
			}
			have = have || (v.IsStarter && v.SourceSHA256 != nil && *v.SourceSHA256 == sum)
		}
		return nil
	})
	if err != nil || have {
		return err
	}
	src, err := starter.Load()
	if err != nil {
		return err
	}
	src.SHA256 = sum
	_, err = s.keep(ctx, src, nil)
	return err
}

// keep stores a source as a version and makes it the active one, and the run
// that brought it, in one transaction. A starter never takes the place of an
// imported version.
func (s *Service) keep(ctx context.Context, src *catalog.Source, record func(*store.Tx, *catalog.Snapshot) error) (*catalog.Snapshot, error) {
	var id string
	if err := s.db.View(ctx, func(tx *store.Tx) error { id = tx.NewID(); return nil }); err != nil {
		return nil, err
	}
	snap, err := catalog.New(src, catalog.Version{ID: id, ImportedAt: s.clock()})
	if err != nil {
		return nil, err
	}
	encoded, err := snap.Encode()
	if err != nil {
		return nil, err
	}
	blob, err := s.db.Blobs().Put(ctx, bytes.NewReader(encoded), maxSnapshot)
	if err != nil {
		return nil, fmt.Errorf("keeping the catalog: %w", err)
	}
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		rec := store.CatalogVersion{CatalogVersion: snap.Version(), SnapshotBlob: blob.SHA256}
		for old, err := range store.CatalogVersions.Scan(tx) {
			if err != nil {
				return err
			}
			if old.Status != api.CatalogActive {
				continue
			}
			if rec.IsStarter && !old.IsStarter {
				rec.Status = api.CatalogSuperseded
				continue
			}
			old.Status, old.UpdatedAt = api.CatalogSuperseded, tx.Now()
			if err := store.CatalogVersions.Put(tx, &old); err != nil {
				return err
			}
		}
		if err := store.CatalogVersions.Insert(tx, &rec); err != nil {
			return err
		}
		if record != nil {
			return record(tx, snap)
		}
		return nil
	})
	return snap, err
}

// versions are all records, newest first.
func (s *Service) versions(ctx context.Context) (out []store.CatalogVersion, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		for v, err := range store.CatalogVersions.Scan(tx, store.Reverse) {
			if err != nil {
				return err
			}
			out = append(out, v)
		}
		return nil
	})
	return out, err
}

// find is the version with an id or label; the latest active one where ref is empty.
func (s *Service) find(ctx context.Context, ref string) (store.CatalogVersion, error) {
	all, err := s.versions(ctx)
	if err != nil {
		return store.CatalogVersion{}, err
	}
	var found []store.CatalogVersion
	for _, v := range all {
		if (ref == "" && v.Status == api.CatalogActive) || ref == v.ID || (ref != "" && ref == v.Label) {
			found = append(found, v)
		}
	}
	switch {
	case len(found) == 0 && ref == "":
		return store.CatalogVersion{}, api.NotFound("catalog version", "latest")
	case len(found) == 0:
		return store.CatalogVersion{}, api.NotFound("catalog version", ref)
	case len(found) > 1 && found[0].Status != api.CatalogActive:
		return store.CatalogVersion{}, api.Invalid("version", "%d catalog versions are labelled %q, among them %s and %s: name one by id",
			len(found), ref, found[0].ID, found[1].ID)
	}
	return found[0], nil
}

// Snapshot is the catalog version with an id or label, in memory; the latest
// active one where ref is empty.
func (s *Service) Snapshot(ctx context.Context, ref string) (*catalog.Snapshot, error) {
	rec, err := s.find(ctx, ref)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if snap := s.loaded[rec.ID]; snap != nil {
		return snap, nil
	}
	f, _, err := s.db.Blobs().Open(rec.SnapshotBlob)
	if err != nil {
		return nil, fmt.Errorf("catalog %s: %w", rec.Label, err)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("catalog %s: %w", rec.Label, err)
	}
	snap, err := catalog.Decode(data, catalog.Version{ID: rec.ID, ImportedAt: rec.ImportedAt, Status: rec.Status})
	if err != nil {
		return nil, fmt.Errorf("catalog %s: %w", rec.Label, err)
	}
	s.loaded[rec.ID] = snap
	return snap, nil
}

// explain gives what the library says of an id or code the contract's code.
func explain(err error) error {
	var missing *catalog.NotFound
	var unclear *catalog.Ambiguous
	switch {
	case errors.As(err, &missing):
		return (&api.Error{Code: api.CodeNotFound, Message: missing.Error(), Details: []api.ErrorDetail{}}).Because(err)
	case errors.As(err, &unclear):
		return api.Invalid(unclear.Kind, "%s", unclear.Error())
	}
	return err
}

// page cuts a list that is in memory. The cursor is the place of the next record.
func page[T any](all []T, p api.Paging) (*api.List[T], error) {
	start := 0
	if p.Cursor != "" {
		if _, err := fmt.Sscanf(p.Cursor, "at-%d", &start); err != nil || start < 0 || start > len(all) {
			return nil, api.Invalid("cursor", "the cursor is not one of this list; begin again without it")
		}
	}
	limit := p.Limit
	if limit <= 0 {
		limit = api.DefaultListLimit
	}
	end := min(start+limit, len(all))
	out := &api.List[T]{Data: slices.Clone(all[start:end]), Pagination: api.Pagination{Total: len(all), Limit: limit, HasMore: end < len(all)}}
	if end < len(all) {
		next := fmt.Sprintf("at-%d", end)
		out.Pagination.NextCursor = &next
	}
	return out, nil
}
