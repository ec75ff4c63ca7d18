// Package sync brings together what was done to copies of an assessment apart.
//
// An assessment has one home; clones of it work without a network and bring their changes
// home. The home decides, in the order in which they come: a change whose field is still as
// the clone found it is taken, one whose field was changed meanwhile is a conflict with both
// values, and submissions, decisions and moves are done again under the home's own rules, as
// the person who brings them. Then the clone reads what the home has, so that both are the
// same. What a clone has not sent yet is never overwritten by what it reads.
//
// The package opens no connection: whoever runs it carries its files between two engines.
package sync

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/scf-service/service/catalog"
	"github.com/scf-service/service/catalog/shelf"
	"github.com/scf-service/service/engine/api"
	"github.com/scf-service/service/evidence"
	"github.com/scf-service/service/store"
)

// Options are what the service is made of.
type Options struct {
	DB       *store.DB
	Catalog  Catalogs
	Evidence Documents
	Clock    func() time.Time
	// Seal and Open encrypt the secret halves of keys, with the installation's key.
	Seal func(secret string) ([]byte, error)
	Open func(sealed []byte) (string, error)
}

// Catalogs is the shelf, as far as it is needed here.
type Catalogs interface {
	Snapshot(ctx context.Context, version string) (*catalog.Snapshot, error)
	Carry(ctx context.Context, by api.Caller, snapshot []byte) (string, error)
}

// Documents keeps documents that were read elsewhere.
type Documents interface {
	Arrive(ctx context.Context, org, version string, doc store.Document, chunks []api.Chunk) (*evidence.Arrival, error)
	Keep(tx *store.Tx, by api.Caller, a *evidence.Arrival, told bool) error
	Leave(tx *store.Tx, by api.Caller, doc *store.Document, told bool) error
	Arrived(assessment string)
}

var (
	_ Catalogs  = (*shelf.Service)(nil)
	_ Documents = (*evidence.Service)(nil)
)

// Service answers the operations of synchronisation.
type Service struct{ Options }

// New makes the service.
func New(o Options) *Service { return &Service{o} }

// link is how an assessment is synchronised; NOT_FOUND where it isn't.
func link(tx *store.Tx, org, assessment string) (store.SyncLink, error) {
	l, err := store.SyncLinks.Get(tx, org, assessment)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrBadKey) {
		return l, api.NotFound("synchronised assessment", assessment)
	}
	return l, err
}

// as is link where the assessment has this role.
func as(tx *store.Tx, org, assessment, role string) (store.SyncLink, error) {
	l, err := link(tx, org, assessment)
	if err == nil && l.Role != role {
		if role == store.SyncHome {
			return l, api.Conflict("this is a clone of the assessment; its home is %s", homeName(&l))
		}
		return l, api.Conflict("this is the assessment's home, not a clone of it")
	}
	return l, err
}

// homeName is where a clone's home is, in words.
func homeName(l *store.SyncLink) string {
	return cmp.Or(l.Server, "reached by bundles only")
}

// versionWith is the catalog version here with that content; nil where there is none.
func versionWith(tx *store.Tx, snapshot string) (*store.CatalogVersion, error) {
	for v, err := range store.CatalogVersions.Scan(tx) {
		if err != nil {
			return nil, err
		}
		if v.SnapshotBlob == snapshot {
			return &v, nil
		}
	}
	return nil, nil
}

// catalogOf is the catalog version of an assessment.
func catalogOf(tx *store.Tx, a *api.Assessment) (store.CatalogVersion, error) {
	if a.CustomRevision != 0 {
		return store.CatalogVersion{}, api.Conflict("%s uses your own frameworks or controls, which are not synchronised; take an assessment of the catalog alone", a.Name)
	}
	return store.CatalogVersions.Get(tx, a.SCFVersionID)
}

// place is where records come to: what ids mean differs from one installation to another,
// codes don't.
type place struct {
	org, assessment, version string
	snapshot                 *catalog.Snapshot
}

func (s *Service) placeOf(ctx context.Context, by api.Caller, assessment, snapshot string) (*place, error) {
	var v *store.CatalogVersion
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) { v, err = versionWith(tx, snapshot); return err })
	if err != nil {
		return nil, err
	}
	if v == nil {
		return nil, missingCatalog(snapshot)
	}
	p := &place{org: by.OrganizationID, assessment: assessment, version: v.ID}
	p.snapshot, err = s.Catalog.Snapshot(ctx, v.ID)
	return p, err
}

func missingCatalog(snapshot string) error {
	return api.Conflict("the catalog version of the assessment is not here (content %.12s…): import the same release, or have it carried over", snapshot)
}

func (p *place) control(code string) string {
	if p.snapshot == nil {
		return ""
	}
	c, err := p.snapshot.Control(code)
	if err != nil {
		return ""
	}
	return c.ID
}

func (p *place) framework(code string) string {
	if p.snapshot == nil {
		return ""
	}
	f, err := p.snapshot.Framework(code)
	if err != nil {
		return ""
	}
	return f.ID
}
