// Package sync synchronizes copies of an assessment that were edited independently.
//
// An assessment has one remote, the authoritative copy; its clones work offline and push their
// changes to it. The remote applies changes in the order in which they arrive. A change whose field
// still has the value the clone started from is applied; a change whose field has been edited in
// the meantime becomes a conflict with both values. Submissions, decisions and state transitions
// are replayed under the remote's own rules as the user who pushes them. The clone then pulls the
// remote's records, so that both are identical. Pulling never overwrites what a clone has not
// pushed yet.
//
// The package opens no connections: the caller carries its files between two engines.
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

// Options holds the dependencies of a Service.
type Options struct {
	DB       *store.DB
	Catalog  Catalogs
	Evidence Documents
	Clock    func() time.Time
	// Seal and Open encrypt the secret halves of keys, with the installation's key.
	Seal func(secret string) ([]byte, error)
	Open func(sealed []byte) (string, error)
}

// Catalogs is the part of the catalog service used by this package.
type Catalogs interface {
	SnapshotWithCustom(ctx context.Context, organization, version string, own int) (*scf.Snapshot, error)
	StoreReceivedSnapshot(ctx context.Context, by api.Caller, snapshot []byte) (string, error)
	StoreReceivedCustom(ctx context.Context, by api.Caller, content []byte) error
}

// Documents stores documents that another installation parsed. ReparseForImport parses a document's file again and
// counts the received passages that the file doesn't contain. EmbedForImport trusts the received passages.
type Documents interface {
	ReparseForImport(
		ctx context.Context,
		org, version string,
		doc store.Document,
		received []api.Chunk,
	) (a *evidence.ImportedDocument, foreign int, err error)
	EmbedForImport(ctx context.Context, org, version string, doc store.Document, chunks []api.Chunk) (*evidence.ImportedDocument, error)
	// ReleaseImports releases documents prepared by the two methods above, whether saved or not.
	ReleaseImports(ctx context.Context, docs []*evidence.ImportedDocument)
	SaveImport(tx *store.Tx, by api.Caller, a *evidence.ImportedDocument, publish bool) error
	DeleteDocument(tx *store.Tx, by api.Caller, doc *store.Document, publish bool) error
	DropCachedIndexAndWakeEmbedder(assessment string)
}

var (
	_ Catalogs  = (*catalog.Service)(nil)
	_ Documents = (*evidence.Service)(nil)
)

// Service implements the sync operations.
type Service struct{ Options }

// New returns a Service with the given dependencies.
func New(o Options) *Service { return &Service{o} }

// syncLink returns the record that makes an assessment a remote or a clone, or a NOT_FOUND error if the
// assessment is not synced.
func syncLink(tx *store.Tx, org, assessment string) (store.SyncLink, error) {
	l, err := store.SyncLinks.Get(tx, org, assessment)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrBadKey) {
		return l, api.NotFound("synced assessment", assessment)
	}
	return l, err
}

// linkWithRole is like syncLink but returns a conflict error if the assessment doesn't have the given
// role.
func linkWithRole(tx *store.Tx, org, assessment, role string) (store.SyncLink, error) {
	l, err := syncLink(tx, org, assessment)
	if err == nil && l.Role != role {
		if role == store.SyncRoleRemote {
			return l, api.Conflict("this copy is a clone; perform this action on its remote (%s)", remoteAddressText(&l))
		}
		return l, api.Conflict("this copy is the remote, not a clone; perform this action on a clone")
	}
	return l, err
}

// remoteAddressText describes where the clone's remote is, for use in messages.
func remoteAddressText(l *store.SyncLink) string {
	return cmp.Or(l.Server, "reachable only by bundle")
}

// findCatalogVersion returns the installed catalog version with the given content hash, or nil if there is none.
func findCatalogVersion(tx *store.Tx, snapshotSHA256 string) (*store.CatalogVersion, error) {
	for v, err := range store.CatalogVersions.Scan(tx) {
		if err != nil {
			return nil, err
		}
		if v.SnapshotBlob == snapshotSHA256 {
			return &v, nil
		}
	}
	return nil, nil
}

// assessmentCatalog identifies an assessment's catalog by content hashes, because IDs and revisions
// differ between installations.
type assessmentCatalog struct {
	store.CatalogVersion
	// customSHA256 is the SHA-256 of the organization's custom frameworks and controls, or "".
	customSHA256 string
}

// loadAssessmentCatalog returns which catalog an assessment uses.
func loadAssessmentCatalog(tx *store.Tx, a *api.Assessment) (u assessmentCatalog, err error) {
	if u.CatalogVersion, err = store.CatalogVersions.Get(tx, a.SCFVersionID); err != nil {
		return u, err
	}
	_, u.customSHA256, err = catalog.CustomContent(tx, a.OrganizationID, a.CustomRevision)
	return u, err
}

// importTarget describes where received records are stored. IDs differ between installations, but codes
// don't.
type importTarget struct {
	org, assessment, catalogVersionID string
	// customRevision is the revision of the organization's custom frameworks and controls, or 0.
	customRevision int
	snapshot       *scf.Snapshot
}

func (s *Service) loadImportTarget(
	ctx context.Context,
	by api.Caller,
	assessment, snapshotSHA256, customSHA256 string,
) (*importTarget, error) {
	p := &importTarget{org: by.OrganizationID, assessment: assessment}
	err := s.DB.View(ctx, func(tx *store.Tx) error {
		v, revision, err := requireCatalog(tx, p.org, snapshotSHA256, customSHA256)
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

// requireCatalog returns the local catalog version and the custom revision with the given content. If
// one is missing, the error explains how to transfer it.
func requireCatalog(tx *store.Tx, org, snapshotSHA256, customSHA256 string) (version *store.CatalogVersion, customRevision int, _ error) {
	v, err := findCatalogVersion(tx, snapshotSHA256)
	if err != nil {
		return nil, 0, err
	}
	if v == nil {
		return nil, 0, missingCatalogError(snapshotSHA256)
	}
	revision, found, err := catalog.FindCustomRevision(tx, org, customSHA256)
	if err == nil && !found {
		err = api.Conflict(
			"the assessment uses custom frameworks or controls that are missing here (content %.12s…): "+
				"transfer them with the catalog (add --include-catalog to `service sync clone` or `publish`)",
			customSHA256,
		)
	}
	return v, revision, err
}

func missingCatalogError(snapshot string) error {
	return api.Conflict(
		"the assessment's catalog version is missing on the receiving side (content %.12s…): import the same SCF release there, "+
			"or transfer it (add --include-catalog to `service sync clone` or `publish`)",
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
