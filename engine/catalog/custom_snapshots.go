package catalog

import (
	"context"
	"errors"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/store"
)

// maxCustomSnapshots is the maximum number of cached catalogs with an organization's additions.
const maxCustomSnapshots = 8

// customSnapshotKey identifies a catalog version that includes one organization's additions.
type customSnapshotKey struct {
	version, organization string
	revision              int
}

// customSnapshot is a catalog that includes an organization's additions, with the references in the
// additions that could not be resolved.
type customSnapshot struct {
	snap    *scf.Snapshot
	missing map[string][]string
}

// customSnapshotCache caches snapshots. It lists their keys in order of use, the most recent one last. It is
// guarded by Service.mu.
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

// SnapshotWithCustom returns a catalog version including the given revision of an organization's own
// frameworks and controls. Revision 0 has none.
func (s *Service) SnapshotWithCustom(ctx context.Context, organization, version string, revision int) (*scf.Snapshot, error) {
	base, err := s.Snapshot(ctx, version)
	if err != nil || revision == 0 || organization == "" {
		return base, err
	}
	own, err := s.loadCustomSnapshot(ctx, base, organization, revision)
	return own.snap, err
}

// SnapshotWithLatestCustom returns a catalog version including the latest revision of an organization's own
// frameworks and controls. It also returns the number of that revision.
func (s *Service) SnapshotWithLatestCustom(
	ctx context.Context,
	organization, version string,
) (snap *scf.Snapshot, revision int, err error) {
	revision, err = s.withLatestRevision(ctx, organization, func(revision int) error {
		snap, err = s.SnapshotWithCustom(ctx, organization, version, revision)
		return err
	})
	return snap, revision, err
}

// withLatestRevision calls read with the number of the latest revision. If a concurrent change deletes that
// revision before it is read, it calls read again with the next one.
func (s *Service) withLatestRevision(ctx context.Context, organization string, read func(revision int) error) (int, error) {
	revision, err := s.latestRevision(ctx, organization)
	for err == nil {
		failed := read(revision)
		if !errors.Is(failed, store.ErrNotFound) {
			return revision, failed
		}
		last := revision
		// The cached number may be outdated right after a change, so read it from the store.
		if revision, err = s.readLatestRevision(ctx, organization); err == nil && revision == last {
			return revision, failed
		}
	}
	return 0, err
}

// callerSnapshot returns a catalog version including what the caller's organization has added to it.
func (s *Service) callerSnapshot(ctx context.Context, by api.Caller, version string) (*scf.Snapshot, error) {
	snap, _, err := s.SnapshotWithLatestCustom(ctx, by.OrganizationID, version)
	return snap, err
}

// maxCachedRevisions is the maximum number of organizations for which the number of the latest revision is
// cached.
const maxCachedRevisions = 10_000

// latestRevision returns the number of an organization's latest revision, or 0 if the organization has never
// added anything.
func (s *Service) latestRevision(ctx context.Context, organization string) (int, error) {
	if organization == "" {
		return 0, nil
	}
	return s.latestRevisions.GetOrCompute(organization, func() (int, error) { return s.readLatestRevision(ctx, organization) })
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

// loadCustomSnapshot returns a catalog that includes a revision of an organization's additions. It uses the
// cache if possible.
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

// readCustomRevision returns a stored revision of an organization's additions. Revision 0 is always empty.
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
