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
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/catalog/workbook"
	"github.com/scf-service/service/internal/leangc"
	"github.com/scf-service/service/store"
)

// maxWorkbookBytes is the maximum size of a workbook; the current official one has 5 MB.
const maxWorkbookBytes = 64 << 20

// ImportWorkbook imports an SCF workbook and makes it the active version. If the same file was already
// imported under the same label, no new version is created, and the run refers to the existing one.
func (s *Service) ImportWorkbook(ctx context.Context, by api.Caller, in *api.ImportWorkbookInput) (*api.ImportRun, error) {
	return s.importWorkbook(ctx, by, in, false)
}

// DryRunWorkbook returns what importing a workbook would change, but doesn't change anything.
func (s *Service) DryRunWorkbook(ctx context.Context, by api.Caller, in *api.ImportWorkbookInput) (*api.ImportRun, error) {
	return s.importWorkbook(ctx, by, in, true)
}

func (s *Service) importWorkbook(ctx context.Context, by api.Caller, in *api.ImportWorkbookInput, dryRun bool) (*api.ImportRun, error) {
	began := s.clock()
	data, err := io.ReadAll(io.LimitReader(in.File.Content, maxWorkbookBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading the workbook: %w", err)
	}
	if len(data) > maxWorkbookBytes {
		return nil, api.Invalid("file", "the workbook exceeds the limit of %d MiB", maxWorkbookBytes>>20)
	}
	aliases, err := scf.ParseAliases([]byte(in.Aliases))
	if err != nil {
		return nil, api.Invalid("aliases", "%v", err).WithCause(err)
	}
	release, err := s.acquireImportSlot(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	defer leangc.Begin()()
	src, err := workbook.Read(
		ctx,
		bytes.NewReader(data),
		int64(len(data)),
		workbook.Options{Label: in.Label, Filename: in.File.Filename, Aliases: aliases},
	)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, api.Invalid("file", "%s: %v", in.File.Filename, err).WithCause(err)
	}
	variant := ""
	if strings.TrimSpace(in.Aliases) != "" {
		sum := sha256.Sum256([]byte(in.Aliases))
		variant = hex.EncodeToString(sum[:])
	}
	run, err := s.newImportRun(ctx, src, variant, dryRun, began)
	if err != nil {
		return nil, err
	}
	if dryRun || run.VersionID != nil {
		return run, s.reactivateAndRecordRun(ctx, by, run)
	}
	_, err = s.saveAndActivateVersion(ctx, versionEntry{
		src: src,
		fillRecord: func(rec *store.CatalogVersion) {
			rec.Variant, rec.FrameworkAliases = variant, toFrameworkAliases(aliases)
		},
		recordRun: func(tx *store.Tx, snap *scf.Snapshot) error {
			id := snap.Version().ID
			run.VersionID = &id
			return s.recordRun(tx, by, run)
		},
	})
	return run, err
}

// toFrameworkAliases converts a user's framework aliases to the form used in the version record.
func toFrameworkAliases(a *scf.Aliases) []api.FrameworkAlias {
	out := []api.FrameworkAlias{}
	for _, e := range slices.Concat(a.Aliases, a.Laws) {
		out = append(out, api.FrameworkAlias{Code: e.Code, Names: slices.Clone(e.Names)})
	}
	return out
}

// newImportRun returns the record of an import, including the changes relative to the active version. If the
// same source was already imported, the record refers to that version.
func (s *Service) newImportRun(ctx context.Context, src *scf.Source, variant string, dryRun bool, began time.Time) (*api.ImportRun, error) {
	run := &api.ImportRun{
		Status: api.ImportSucceeded, DryRun: dryRun, SourceFilename: src.Filename, SourceSHA256: src.SHA256,
		Statistics: src.Statistics, Warnings: src.Warnings, StartedAt: began,
	}
	all, err := s.allVersions(ctx)
	if err != nil {
		return nil, err
	}
	for _, v := range all {
		if v.Label == src.Label && v.SourceSHA256 != nil && *v.SourceSHA256 == src.SHA256 && v.Variant == variant {
			run.VersionID = &v.ID
			run.Warnings = append(run.Warnings, api.ImportWarning{Message: "this workbook was already imported as version " + v.Label})
		}
	}
	active, err := s.Snapshot(ctx, "")
	if api.IsCode(err, api.CodeNotFound) {
		return run, nil
	}
	if err != nil {
		return nil, err
	}
	// The id only names the candidate in the diff; a stored version gets its own.
	candidate, err := scf.NewSnapshot(src, scf.Version{ID: active.Version().ID, ImportedAt: began})
	if err != nil {
		return nil, err
	}
	diff := scf.Diff(active, candidate)
	run.Diff = &diff
	return run, nil
}

// reactivateAndRecordRun records an import run that added no new version. If the run refers to an existing
// version and is not a dry run, that version becomes the active one again.
func (s *Service) reactivateAndRecordRun(ctx context.Context, by api.Caller, run *api.ImportRun) error {
	again := run.VersionID != nil && !run.DryRun
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		if again {
			if err := s.activateVersion(tx, *run.VersionID); err != nil {
				return err
			}
		}
		return s.recordRun(tx, by, run)
	})
	if err == nil && again {
		s.notifyImported(*run.VersionID)
	}
	return err
}

// activateVersion makes a version the active one.
func (s *Service) activateVersion(tx *store.Tx, id string) error {
	for v, err := range store.CatalogVersions.Scan(tx) {
		if err != nil {
			return err
		}
		status := api.CatalogSuperseded
		if v.ID == id {
			status = api.CatalogActive
		}
		if v.Status != status {
			v.Status, v.UpdatedAt = status, tx.Now()
			if err := store.CatalogVersions.Put(tx, &v); err != nil {
				return err
			}
		}
	}
	return nil
}

// recordRun completes and stores an import run and writes an audit record.
func (s *Service) recordRun(tx *store.Tx, by api.Caller, run *api.ImportRun) error {
	completedAt := tx.Now()
	run.ID, run.CreatedAt, run.UpdatedAt, run.CompletedAt = tx.NewID(), completedAt, completedAt, &completedAt
	if run.Diff != nil && run.VersionID != nil {
		run.Diff.ToVersionID = *run.VersionID
	}
	return errors.Join(store.ImportRuns.Insert(tx, run),
		audit.Append(tx, by, audit.Entry{
			Action: "catalog.imported", ResourceType: "import_run", ResourceID: run.ID,
			Changes: map[string]any{"filename": run.SourceFilename, "sha256": run.SourceSHA256, "dry_run": run.DryRun},
		}))
}

// anyContains reports whether one of the texts, which are strings or pointers to strings, contains
// part, ignoring case.
func anyContains(part string, texts ...any) bool {
	part = strings.ToLower(part)
	for _, t := range texts {
		switch t := t.(type) {
		case string:
			if strings.Contains(strings.ToLower(t), part) {
				return true
			}
		case *string:
			if t != nil && strings.Contains(strings.ToLower(*t), part) {
				return true
			}
		}
	}
	return false
}
