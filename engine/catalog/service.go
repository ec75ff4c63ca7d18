// Package catalog manages the catalog versions of an installation: the built-in starter and all
// imported versions. It serves all reads of the catalog and applies imports completely or not at
// all.
//
// The content of a version is handled by package scf; the package knows nothing about assessments.
package catalog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/catalog/starter"
	"github.com/scf-service/service/engine/catalog/strm"
	"github.com/scf-service/service/store"
)

// maxSnapshotBytes is the maximum size of an encoded catalog.
const maxSnapshotBytes = 256 << 20

// Service stores catalog versions and answers queries about them. Each version is decoded once and then
// shared.
type Service struct {
	db      *store.DB
	clock   func() time.Time
	readPDF PDFReader
	// onImported is called with the id of a version that an import activated; may be nil.
	onImported func(version string)
	// trainingProgress returns how far the training on a version is, in percent, or nil if none is running; may be nil.
	trainingProgress func(version string) *int

	// importSlot is held by the running import; others wait. Two concurrent imports would need
	// twice the memory and could store the same source twice.
	importSlot chan struct{}

	versionList     *store.Cache[[]store.CatalogVersion]
	latestRevisions *store.Cache[int] // latest revision of each organization

	mu              sync.Mutex
	snapshots       map[string]*scf.Snapshot
	customSnapshots customSnapshotCache
}

// PDFReader extracts the text of a PDF as lines, in reading order. A line is a row of a table or a paragraph.
type PDFReader func(ctx context.Context, name string, content io.ReaderAt, size int64) ([]strm.Line, error)

// Option configures a Service.
type Option func(*Service)

// WithPDFReader allows the service to import PDF documents.
func WithPDFReader(read PDFReader) Option { return func(s *Service) { s.readPDF = read } }

// WithImportHook sets a function to be called with the ID of each version that an import activates. It is
// called after the import and should return quickly.
func WithImportHook(hook func(version string)) Option {
	return func(s *Service) { s.onImported = hook }
}

// WithTrainingProgress sets the function that returns how far the training of search on a version is, in percent, or
// nil if none is running.
func WithTrainingProgress(progress func(version string) *int) Option {
	return func(s *Service) { s.trainingProgress = progress }
}

// New returns a Service that stores catalog versions in db.
func New(db *store.DB, clock func() time.Time, options ...Option) *Service {
	s := &Service{
		db: db, clock: clock, importSlot: make(chan struct{}, 1), snapshots: map[string]*scf.Snapshot{},
		versionList: store.NewCache[[]store.CatalogVersion](
			db,
			1,
			store.CatalogVersions,
		), latestRevisions: store.NewCache[int](db, maxCachedRevisions, store.CustomCatalogHeads),
	}
	for _, o := range options {
		o(s)
	}
	return s
}

// EnsureStarterEdition stores the built-in starter catalog, unless this edition of it is already stored. The
// new version becomes active only if there is no imported one.
func (s *Service) EnsureStarterEdition(ctx context.Context) error {
	sum := starter.EditionSHA256()
	isStored := func() (have bool, err error) {
		err = s.db.View(ctx, func(tx *store.Tx) error {
			for v, err := range store.CatalogVersions.Scan(tx) {
				if err != nil {
					return err
				}
				have = have || (v.IsStarter && v.SourceSHA256 != nil && *v.SourceSHA256 == sum)
			}
			return nil
		})
		return have, err
	}
	if have, err := isStored(); err != nil || have {
		return err
	}
	src, err := starter.Load()
	if err != nil {
		return err
	}
	src.SHA256 = sum
	if _, err = s.saveAndActivateVersion(ctx, versionEntry{src: src}); err != nil {
		if have, _ := isStored(); have { // another process on the same database stored it first
			return nil
		}
	}
	return err
}

// versionEntry is a source that is to be stored as a catalog version.
type versionEntry struct {
	src *scf.Source
	// rootID is the version whose record IDs the new version uses; if empty, it gets IDs of its own.
	// supersedes is the version that it revises; empty if it revises none.
	rootID, supersedes string
	// fillRecord adds fields to the record that the source doesn't contain; may be nil.
	fillRecord func(*store.CatalogVersion)
	// recordRun stores the import run; may be nil.
	recordRun func(*store.Tx, *scf.Snapshot) error
}

// saveAndActivateVersion stores a source as a version, records its import run and makes the version the
// active one, all in one transaction. Two kinds of versions do not become active: the built-in starter
// catalog while an imported version is active, and a revision while another version than the one it revises
// is active.
func (s *Service) saveAndActivateVersion(ctx context.Context, e versionEntry) (*scf.Snapshot, error) {
	var id string
	if err := s.db.View(ctx, func(tx *store.Tx) error { id = tx.NewID(); return nil }); err != nil {
		return nil, err
	}
	snap, err := scf.NewSnapshot(e.src, scf.Version{ID: id, RootID: e.rootID, ImportedAt: s.clock()})
	if err != nil {
		return nil, err
	}
	encoded, err := snap.Encode()
	if err != nil {
		return nil, err
	}
	blob, err := s.db.Blobs().Put(ctx, bytes.NewReader(encoded), maxSnapshotBytes)
	if err != nil {
		return nil, fmt.Errorf("storing the catalog: %w", err)
	}
	active := false
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		rec := store.CatalogVersion{CatalogVersion: snap.Version(), SnapshotBlob: blob.SHA256, RootID: e.rootID}
		if e.fillRecord != nil {
			e.fillRecord(&rec)
		}
		for old, err := range store.CatalogVersions.Scan(tx) {
			if err != nil {
				return err
			}
			if old.Status != api.CatalogActive {
				continue
			}
			// A starter catalog that a user has imported explicitly does replace it.
			if rec.IsStarter && !old.IsStarter && e.recordRun == nil || e.supersedes != "" && e.supersedes != old.ID {
				rec.Status = api.CatalogSuperseded
				continue
			}
			old.Status, old.UpdatedAt = api.CatalogSuperseded, tx.Now()
			if err := store.CatalogVersions.Put(tx, &old); err != nil {
				return err
			}
		}
		active = rec.Status == api.CatalogActive
		if err := store.CatalogVersions.Insert(tx, &rec); err != nil {
			return err
		}
		if e.recordRun != nil {
			return e.recordRun(tx, snap)
		}
		return nil
	})
	if err == nil && active && e.recordRun != nil {
		s.notifyImported(snap.Version().ID)
	}
	if errors.Is(err, store.ErrExists) { // another process on the same database
		return nil, api.Conflict(
			"someone else has just imported version %s; repeat the import to see its content",
			e.src.Label,
		).WithCause(
			err,
		)
	}
	return snap, err
}

// StoreReceivedSnapshot stores a catalog version received as snapshot bytes from another
// installation, and returns its id. It doesn't replace any other version.
func (s *Service) StoreReceivedSnapshot(ctx context.Context, by api.Caller, snapshot []byte) (string, error) {
	if err := by.Require(api.SCFImport); err != nil {
		return "", err
	}
	if len(snapshot) > maxSnapshotBytes {
		return "", api.Invalid("file", "a catalog can be up to %d MiB", maxSnapshotBytes>>20)
	}
	release, err := s.acquireImportSlot(ctx)
	if err != nil {
		return "", err
	}
	defer release()
	var id string
	if err := s.db.View(ctx, func(tx *store.Tx) error { id = tx.NewID(); return nil }); err != nil {
		return "", err
	}
	received, err := scf.DecodeSnapshot(snapshot, scf.Version{ID: id, ImportedAt: s.clock()})
	if err != nil {
		return "", api.Invalid("file", "the catalog can't be read: %v", err)
	}
	// A version with the same label and source may exist with different content, for example if
	// another release of the program read the source.
	sum := sha256.Sum256(snapshot)
	variant := "carried " + hex.EncodeToString(sum[:8])
	saved, err := s.saveAndActivateVersion(
		ctx,
		versionEntry{src: received.Source(), supersedes: id, fillRecord: func(rec *store.CatalogVersion) { rec.Variant = variant }},
	)
	if err != nil {
		return "", err
	}
	return saved.Version().ID, nil
}

func (s *Service) notifyImported(version string) {
	if s.onImported != nil {
		s.onImported(version)
	}
}

// acquireImportSlot waits until no other import is running. The caller must then call release, so that the
// next import can start.
func (s *Service) acquireImportSlot(ctx context.Context) (release func(), err error) {
	select {
	case s.importSlot <- struct{}{}:
		return func() { <-s.importSlot }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// allVersions returns the records of all catalog versions, newest first.
func (s *Service) allVersions(ctx context.Context) ([]store.CatalogVersion, error) {
	all, err := s.versionList.GetOrCompute("", func() (out []store.CatalogVersion, err error) {
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
	})
	return slices.Clone(all), err
}

// findVersion returns the catalog version with the given ID or label. If ref is empty or "latest", it returns
// the newest active version. No version can have the label "latest".
func (s *Service) findVersion(ctx context.Context, ref string) (store.CatalogVersion, error) {
	if ref == "latest" {
		ref = ""
	}
	all, err := s.allVersions(ctx)
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
		return store.CatalogVersion{}, api.Invalid("version",
			"%d catalog versions are labeled %q, including %s and %s; specify the version by its ID",
			len(found), ref, found[0].ID, found[1].ID)
	}
	return found[0], nil
}

// Snapshot returns the decoded catalog version with the given ID or label, or the newest active version if
// ref is empty.
func (s *Service) Snapshot(ctx context.Context, ref string) (*scf.Snapshot, error) {
	rec, err := s.findVersion(ctx, ref)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if snap := s.snapshots[rec.ID]; snap != nil {
		return snap, nil
	}
	f, _, err := s.db.Blobs().Open(ctx, rec.SnapshotBlob)
	if err != nil {
		return nil, fmt.Errorf("catalog %s: %w", rec.Label, err)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("catalog %s: %w", rec.Label, err)
	}
	snap, err := scf.DecodeSnapshot(data, scf.Version{ID: rec.ID, RootID: rec.RootID, ImportedAt: rec.ImportedAt, Status: rec.Status})
	if err != nil {
		return nil, fmt.Errorf("catalog %s: %w", rec.Label, err)
	}
	s.snapshots[rec.ID] = snap
	return snap, nil
}

// lookupToAPIError converts an error from looking up a record in a catalog to an API error.
func lookupToAPIError(err error) error {
	var missing *scf.NotFoundError
	var unclear *scf.AmbiguousError
	switch {
	case errors.As(err, &missing):
		return (&api.Error{Code: api.CodeNotFound, Message: missing.Error(), Details: []api.ErrorDetail{}}).WithCause(err)
	case errors.As(err, &unclear):
		return api.Invalid(unclear.Kind, "%s", unclear.Error())
	}
	return err
}

// paginate returns one page of a list in memory. The cursor identifies the last record of the previous page,
// so records that are inserted before it do not cause repetitions.
func paginate[T any](all []T, p api.Paging, id func(*T) string) (*api.List[T], error) {
	start := 0
	if p.Cursor != "" {
		at := slices.IndexFunc(all, func(one T) bool { return "after-"+id(&one) == p.Cursor })
		if at < 0 {
			return nil, api.Invalid("cursor", "the cursor is from a different list; start again without a cursor")
		}
		start = at + 1
	}
	limit := p.Limit
	if limit <= 0 {
		limit = api.DefaultListLimit
	}
	end := min(start+limit, len(all))
	out := &api.List[T]{
		Data:       slices.Clone(all[start:end]),
		Pagination: api.Pagination{Total: len(all), Limit: limit, HasMore: end < len(all)},
	}
	if end < len(all) {
		next := "after-" + id(&all[end-1])
		out.Pagination.NextCursor = &next
	}
	return out, nil
}
