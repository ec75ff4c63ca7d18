package catalog

import (
	"context"
	"errors"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/store"
)

// maxCustomSnapshots is the number of catalogs with custom additions cached in memory.
const maxCustomSnapshots = 8

// customSnapshotKey identifies a catalog version as an organization sees it.
type customSnapshotKey struct {
	version, organization string
	revision              int
}

// customSnapshot is a catalog with custom additions, and their unresolved references.
type customSnapshot struct {
	snap    *scf.Snapshot
	missing map[string][]string
}

// customSnapshotCache holds the most recently used snapshots, the latest last. It is guarded by
// Service.mu.
type customSnapshotCache struct {
	order []customSnapshotKey
	byKey map[customSnapshotKey]customSnapshot
}

func (o *customSnapshotCache) get(k customSnapshotKey) (customSnapshot, bool) {
	c, ok := o.byKey[k]
	return c, ok
}

func (o *customSnapshotCache) put(k customSnapshotKey, c customSnapshot) {
	if o.byKey == nil {
		o.byKey = map[customSnapshotKey]customSnapshot{}
	}
	if _, found := o.byKey[k]; !found {
		o.order = append(o.order, k)
	}
	o.byKey[k] = c
	for len(o.order) > maxCustomSnapshots {
		delete(o.byKey, o.order[0])
		o.order = o.order[1:]
	}
}

// SnapshotWithCustom returns a catalog version with one revision of an organization's additions;
// revision 0 has none.
func (s *Service) SnapshotWithCustom(ctx context.Context, organization, version string, revision int) (*scf.Snapshot, error) {
	base, err := s.Snapshot(ctx, version)
	if err != nil || revision == 0 || organization == "" {
		return base, err
	}
	own, err := s.loadCustomSnapshot(ctx, base, organization, revision)
	return own.snap, err
}

// SnapshotWithLatestCustom returns a catalog version with the latest revision of an organization's additions,
// and that revision.
func (s *Service) SnapshotWithLatestCustom(ctx context.Context, organization, version string) (snap *scf.Snapshot, revision int, err error) {
	revision, err = s.withLatestRevision(ctx, organization, func(revision int) error {
		snap, err = s.SnapshotWithCustom(ctx, organization, version, revision)
		return err
	})
	return snap, revision, err
}

// withLatestRevision calls read with the latest revision. A concurrent change may delete that
// revision before it is read; then read is called with the next one.
func (s *Service) withLatestRevision(ctx context.Context, organization string, read func(revision int) error) (int, error) {
	revision, err := s.latestRevision(ctx, organization)
	for err == nil {
		failed := read(revision)
		if !errors.Is(failed, store.ErrNotFound) {
			return revision, failed
		}
		last := revision
		// The cached revision may be briefly outdated after a change: ask the store.
		if revision, err = s.readLatestRevision(ctx, organization); err == nil && revision == last {
			return revision, failed
		}
	}
	return 0, err
}

// callerSnapshot returns the catalog as the caller sees it.
func (s *Service) callerSnapshot(ctx context.Context, by api.Caller, version string) (*scf.Snapshot, error) {
	snap, _, err := s.SnapshotWithLatestCustom(ctx, by.OrganizationID, version)
	return snap, err
}

// maxCachedRevisions is the number of organizations whose latest revision is cached.
const maxCachedRevisions = 10_000

// latestRevision returns the latest revision of an organization, or 0 if it has added nothing.
func (s *Service) latestRevision(ctx context.Context, organization string) (int, error) {
	if organization == "" {
		return 0, nil
	}
	return s.latestRevisions.Get(organization, func() (int, error) { return s.readLatestRevision(ctx, organization) })
}

func (s *Service) readLatestRevision(ctx context.Context, organization string) (revision int, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		h, err := store.CustomCatalogHeads.Get(tx, organization, "head")
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		revision = h.Revision
		return err
	})
	return revision, err
}

// loadCustomSnapshot returns a catalog merged with a revision, from the cache if possible.
func (s *Service) loadCustomSnapshot(ctx context.Context, base *scf.Snapshot, organization string, revision int) (customSnapshot, error) {
	k := customSnapshotKey{version: base.Version().ID, organization: organization, revision: revision}
	s.mu.Lock()
	c, ok := s.customSnapshots.get(k)
	s.mu.Unlock()
	if ok {
		return c, nil
	}
	rec, err := s.readCustomRevision(ctx, organization, revision)
	if err != nil {
		return c, err
	}
	if c.snap, c.missing, err = base.WithCustom(toCustom(&rec)); err != nil {
		return c, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.customSnapshots.put(k, c)
	return c, nil
}

// readCustomRevision returns a stored revision; revision 0 is empty.
func (s *Service) readCustomRevision(ctx context.Context, organization string, revision int) (rec store.CustomCatalog, err error) {
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

func toCustom(rec *store.CustomCatalog) *scf.Custom {
	out := &scf.Custom{OrganizationID: rec.OrganizationID, Revision: rec.Revision}
	for i := range rec.Frameworks {
		out.Frameworks = append(out.Frameworks, rec.Frameworks[i].CustomFrameworkBody)
	}
	for i := range rec.Controls {
		out.Controls = append(out.Controls, rec.Controls[i].CustomControlBody)
	}
	return out
}
