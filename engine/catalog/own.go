package catalog

import (
	"context"
	"errors"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/store"
)

// maxOwn is how many catalogs with an organization's additions are held in memory.
const maxOwn = 8

// ownKey names a catalog version as an organization sees it.
type ownKey struct {
	version, organization string
	revision              int
}

// ownCatalog is such a catalog, with what its additions name and it lacks.
type ownCatalog struct {
	snap    *scf.Snapshot
	missing map[string][]string
}

// ownCatalogs are those used last, the latest at the end. The shelf's lock guards them.
type ownCatalogs struct {
	order []ownKey
	of    map[ownKey]ownCatalog
}

func (o *ownCatalogs) get(k ownKey) (ownCatalog, bool) {
	c, ok := o.of[k]
	return c, ok
}

func (o *ownCatalogs) put(k ownKey, c ownCatalog) {
	if o.of == nil {
		o.of = map[ownKey]ownCatalog{}
	}
	if _, there := o.of[k]; !there {
		o.order = append(o.order, k)
	}
	o.of[k] = c
	for len(o.order) > maxOwn {
		delete(o.of, o.order[0])
		o.order = o.order[1:]
	}
}

// For is a catalog version with what an organization added in one revision; revision 0
// is without.
func (s *Service) For(ctx context.Context, organization, version string, revision int) (*scf.Snapshot, error) {
	base, err := s.Snapshot(ctx, version)
	if err != nil || revision == 0 || organization == "" {
		return base, err
	}
	own, err := s.own(ctx, base, organization, revision)
	return own.snap, err
}

// Newest is a catalog version with the newest of what an organization added, and that revision.
func (s *Service) Newest(ctx context.Context, organization, version string) (snap *scf.Snapshot, revision int, err error) {
	revision, err = s.atHead(ctx, organization, func(revision int) error {
		snap, err = s.For(ctx, organization, version, revision)
		return err
	})
	return snap, revision, err
}

// atHead reads what the newest revision holds. A change may drop a revision between the
// moment it is named and the moment it is read; then the next one is read.
func (s *Service) atHead(ctx context.Context, organization string, read func(revision int) error) (int, error) {
	revision, err := s.head(ctx, organization)
	for err == nil {
		failed := read(revision)
		if !errors.Is(failed, store.ErrNotFound) {
			return revision, failed
		}
		last := revision
		// What is kept in memory is behind for a moment after a change: ask the store.
		if revision, err = s.readHead(ctx, organization); err == nil && revision == last {
			return revision, failed
		}
	}
	return 0, err
}

// view is the catalog as the caller sees it.
func (s *Service) view(ctx context.Context, by api.Caller, version string) (*scf.Snapshot, error) {
	snap, _, err := s.Newest(ctx, by.OrganizationID, version)
	return snap, err
}

// maxHeads bounds how many organizations' newest revisions are kept in memory.
const maxHeads = 10_000

// head is the newest revision of an organization; 0 where it added nothing.
func (s *Service) head(ctx context.Context, organization string) (int, error) {
	if organization == "" {
		return 0, nil
	}
	return s.heads.Get(organization, func() (int, error) { return s.readHead(ctx, organization) })
}

func (s *Service) readHead(ctx context.Context, organization string) (revision int, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		h, err := store.CustomHeads.Get(tx, organization, "head")
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		revision = h.Revision
		return err
	})
	return revision, err
}

// own joins a catalog with a revision, or gives what was joined before.
func (s *Service) own(ctx context.Context, base *scf.Snapshot, organization string, revision int) (ownCatalog, error) {
	k := ownKey{base.Version().ID, organization, revision}
	s.mu.Lock()
	c, ok := s.owns.get(k)
	s.mu.Unlock()
	if ok {
		return c, nil
	}
	rec, err := s.customCatalog(ctx, organization, revision)
	if err != nil {
		return c, err
	}
	if c.snap, c.missing, err = base.With(bodies(&rec)); err != nil {
		return c, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owns.put(k, c)
	return c, nil
}

// customCatalog is one revision as it is kept; empty for revision 0.
func (s *Service) customCatalog(ctx context.Context, organization string, revision int) (rec store.CustomCatalog, err error) {
	rec.OrganizationID = organization
	if revision == 0 {
		return rec, nil
	}
	err = s.db.View(ctx, func(tx *store.Tx) error {
		rec, err = store.CustomCatalogs.Get(tx, organization, int64(revision))
		return err
	})
	return rec, err
}

func bodies(rec *store.CustomCatalog) *scf.Custom {
	out := &scf.Custom{OrganizationID: rec.OrganizationID, Revision: rec.Revision}
	for i := range rec.Frameworks {
		out.Frameworks = append(out.Frameworks, rec.Frameworks[i].CustomFrameworkBody)
	}
	for i := range rec.Controls {
		out.Controls = append(out.Controls, rec.Controls[i].CustomControlBody)
	}
	return out
}
