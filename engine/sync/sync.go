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
	SnapshotWithCustom(ctx context.Context, organization, version string, own int) (*scf.Snapshot, error)
	ReceiveSnapshot(ctx context.Context, by api.Caller, snapshot []byte) (string, error)
	ReceiveCustom(ctx context.Context, by api.Caller, content []byte) error
}

// Documents keeps documents that were read elsewhere: Arrive as they were read there, Read
// as they are read here.
type Documents interface {
	ReparseForImport(
		ctx context.Context,
		org, version string,
		doc store.Document,
		came []api.Chunk,
	) (a *evidence.ImportedDocument, strange int, err error)
	PrepareImport(ctx context.Context, org, version string, doc store.Document, chunks []api.Chunk) (*evidence.ImportedDocument, error)
	SaveImport(tx *store.Tx, by api.Caller, a *evidence.ImportedDocument, told bool) error
	DeleteDocument(tx *store.Tx, by api.Caller, doc *store.Document, told bool) error
	RefreshSearch(assessment string)
}

var (
	_ Catalogs  = (*catalog.Service)(nil)
	_ Documents = (*evidence.Service)(nil)
)

// Service answers the operations of synchronisation.
type Service struct{ Options }

// New makes the service.
func New(o Options) *Service { return &Service{o} }

// syncLink is how an assessment is synchronised; NOT_FOUND where it isn't.
func syncLink(tx *store.Tx, org, assessment string) (store.SyncLink, error) {
	l, err := store.SyncLinks.Get(tx, org, assessment)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrBadKey) {
		return l, api.NotFound("synchronised assessment", assessment)
	}
	return l, err
}

// linkWithRole is link where the assessment has this role.
func linkWithRole(tx *store.Tx, org, assessment, role string) (store.SyncLink, error) {
	l, err := syncLink(tx, org, assessment)
	if err == nil && l.Role != role {
		if role == store.SyncRoleRemote {
			return l, api.Conflict("this is a clone of the assessment; its home is %s", remoteName(&l))
		}
		return l, api.Conflict("this is the assessment's home, not a clone of it")
	}
	return l, err
}

// remoteName is where a clone's home is, in words.
func remoteName(l *store.SyncLink) string {
	return cmp.Or(l.Server, "reached by bundles only")
}

// findCatalogVersion is the catalog version here with that content; nil where there is none.
func findCatalogVersion(tx *store.Tx, snapshot string) (*store.CatalogVersion, error) {
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

// assessmentCatalog is which catalog an assessment uses, by content: what ids and revisions mean differs from
// one installation to another.
type assessmentCatalog struct {
	store.CatalogVersion
	// customSHA256 is the SHA-256 of the organization's own frameworks and controls; empty for none.
	customSHA256 string
}

// loadAssessmentCatalog is the catalog of an assessment.
func loadAssessmentCatalog(tx *store.Tx, a *api.Assessment) (u assessmentCatalog, err error) {
	if u.CatalogVersion, err = store.CatalogVersions.Get(tx, a.SCFVersionID); err != nil {
		return u, err
	}
	_, u.customSHA256, err = catalog.CustomContent(tx, a.OrganizationID, a.CustomRevision)
	return u, err
}

// importTarget is where records come to: what ids mean differs from one installation to another,
// codes don't.
type importTarget struct {
	org, assessment, catalogVersionID string
	// customRevision is the revision of the organization's own frameworks and controls; 0 for none.
	customRevision int
	snapshot       *scf.Snapshot
}

func (s *Service) loadImportTarget(ctx context.Context, by api.Caller, assessment, snapshot, customSHA256 string) (*importTarget, error) {
	p := &importTarget{org: by.OrganizationID, assessment: assessment}
	err := s.DB.View(ctx, func(tx *store.Tx) error {
		v, revision, err := findCatalog(tx, p.org, snapshot, customSHA256)
		if err == nil {
			p.catalogVersionID, p.customRevision = v.ID, revision
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	p.snapshot, err = s.Catalog.SnapshotWithCustom(ctx, p.org, p.catalogVersionID, p.customRevision)
	return p, err
}

// findCatalog is the catalog here with that content; a refusal that says what to do where it is lacking.
func findCatalog(tx *store.Tx, org, snapshot, customSHA256 string) (*store.CatalogVersion, int, error) {
	v, err := findCatalogVersion(tx, snapshot)
	if err != nil {
		return nil, 0, err
	}
	if v == nil {
		return nil, 0, missingCatalogError(snapshot)
	}
	revision, found, err := catalog.FindCustomRevision(tx, org, customSHA256)
	if err == nil && !found {
		err = api.Conflict(
			"the assessment uses own frameworks or controls that are not here (content %.12s…): carry them over with the catalog (`service sync clone` and `publish` with --carry-catalog)",
			customSHA256,
		)
	}
	return v, revision, err
}

func missingCatalogError(snapshot string) error {
	return api.Conflict(
		"the catalog version of the assessment is not where it is to come (content %.12s…): import the same release there, or carry it over (`service sync clone` and `publish` with --carry-catalog)",
		snapshot,
	)
}

func (p *importTarget) controlID(code string) string {
	if p.snapshot == nil {
		return ""
	}
	return p.snapshot.ControlID(code)
}

func (p *importTarget) frameworkID(code string) string {
	if p.snapshot == nil {
		return ""
	}
	f, err := p.snapshot.Framework(code)
	if err != nil {
		return ""
	}
	return f.ID
}
