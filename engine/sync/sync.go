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

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/evidence"
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
	For(ctx context.Context, organization, version string, own int) (*scf.Snapshot, error)
	Carry(ctx context.Context, by api.Caller, snapshot []byte) (string, error)
	CarryOwn(ctx context.Context, by api.Caller, content []byte) error
}

// Documents keeps documents that were read elsewhere: Arrive as they were read there, Read
// as they are read here.
type Documents interface {
	Read(ctx context.Context, org, version string, doc store.Document, came []api.Chunk) (a *evidence.Arrival, strange int, err error)
	Arrive(ctx context.Context, org, version string, doc store.Document, chunks []api.Chunk) (*evidence.Arrival, error)
	Keep(tx *store.Tx, by api.Caller, a *evidence.Arrival, told bool) error
	Leave(tx *store.Tx, by api.Caller, doc *store.Document, told bool) error
	Arrived(assessment string)
}

var (
	_ Catalogs  = (*catalog.Service)(nil)
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

// used is which catalog an assessment uses, by content: what ids and revisions mean differs from
// one installation to another.
type used struct {
	store.CatalogVersion
	// own is the SHA-256 of the organization's own frameworks and controls; empty for none.
	own string
}

// catalogOf is the catalog of an assessment.
func catalogOf(tx *store.Tx, a *api.Assessment) (u used, err error) {
	if u.CatalogVersion, err = store.CatalogVersions.Get(tx, a.SCFVersionID); err != nil {
		return u, err
	}
	_, u.own, err = catalog.OwnContent(tx, a.OrganizationID, a.CustomRevision)
	return u, err
}

// place is where records come to: what ids mean differs from one installation to another,
// codes don't.
type place struct {
	org, assessment, version string
	// own is the revision of the organization's own frameworks and controls; 0 for none.
	own      int
	snapshot *scf.Snapshot
}

func (s *Service) placeOf(ctx context.Context, by api.Caller, assessment, snapshot, own string) (*place, error) {
	p := &place{org: by.OrganizationID, assessment: assessment}
	err := s.DB.View(ctx, func(tx *store.Tx) error {
		v, revision, err := catalogWith(tx, p.org, snapshot, own)
		if err == nil {
			p.version, p.own = v.ID, revision
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	p.snapshot, err = s.Catalog.For(ctx, p.org, p.version, p.own)
	return p, err
}

// catalogWith is the catalog here with that content; a refusal that says what to do where it is lacking.
func catalogWith(tx *store.Tx, org, snapshot, own string) (*store.CatalogVersion, int, error) {
	v, err := versionWith(tx, snapshot)
	if err != nil {
		return nil, 0, err
	}
	if v == nil {
		return nil, 0, missingCatalog(snapshot)
	}
	revision, found, err := catalog.OwnWith(tx, org, own)
	if err == nil && !found {
		err = api.Conflict("the assessment uses own frameworks or controls that are not here (content %.12s…): carry them over with the catalog (`service sync clone` and `publish` with --carry-catalog)", own)
	}
	return v, revision, err
}

func missingCatalog(snapshot string) error {
	return api.Conflict("the catalog version of the assessment is not where it is to come (content %.12s…): import the same release there, or carry it over (`service sync clone` and `publish` with --carry-catalog)", snapshot)
}

func (p *place) control(code string) string {
	if p.snapshot == nil {
		return ""
	}
	return p.snapshot.ControlID(code)
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
