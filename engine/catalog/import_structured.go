package catalog

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/custom"
	"github.com/scf-service/service/engine/catalog/oscal"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/internal/lazyregexp"
	"github.com/scf-service/service/store"
)

// ImportStructured imports a catalog from JSON and makes it the active version. If the same source was
// already imported under the same label, no new version is created, and the run refers to the existing one.
func (s *Service) ImportStructured(ctx context.Context, by api.Caller, in *api.ImportSourceInput) (*api.ImportRun, error) {
	began := s.clock()
	release, err := s.acquireImportSlot(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if run, err := s.runIfAlreadyImported(ctx, &in.Body, began); run != nil || err != nil {
		if err != nil {
			return nil, err
		}
		return run, s.reactivateAndRecordRun(ctx, by, run)
	}
	src, err := s.readStructured(ctx, &in.Body)
	if err != nil {
		return nil, err
	}
	run, err := s.newImportRun(ctx, src, "", in.Body.DryRun, began)
	if err != nil {
		return nil, api.Invalid("source", "%v", err).WithCause(err)
	}
	if run.DryRun || run.VersionID != nil {
		return run, s.reactivateAndRecordRun(ctx, by, run)
	}
	_, err = s.saveAndActivateVersion(ctx, versionEntry{src: src, recordRun: func(tx *store.Tx, snap *scf.Snapshot) error {
		id := snap.Version().ID
		run.VersionID = &id
		return s.recordRun(tx, by, run)
	}})
	return run, err
}

// runIfAlreadyImported returns an import run for the existing version if the same source was already imported
// under the requested label, or nil if it wasn't. It doesn't read the source, because reading it again could fail:
// the active version already includes the source's additions.
func (s *Service) runIfAlreadyImported(ctx context.Context, b *api.ImportSource, began time.Time) (*api.ImportRun, error) {
	if b.Label == "" {
		return nil, nil
	}
	sum, err := custom.CheckAndHashJSON(b.Source)
	if err != nil {
		return nil, nil //nolint:nilerr // reading the source will report the error with its location
	}
	all, err := s.allVersions(ctx)
	if err != nil {
		return nil, err
	}
	for _, v := range all {
		if v.Label != b.Label || v.SourceSHA256 == nil || *v.SourceSHA256 != sum {
			continue
		}
		n := v.Counts
		return &api.ImportRun{
			Status: api.ImportSucceeded, DryRun: b.DryRun, SourceFilename: b.Filename, SourceSHA256: sum, VersionID: &v.ID, StartedAt: began,
			Statistics: api.ImportStatistics{
				Controls:     n.Controls,
				Domains:      n.Domains,
				Frameworks:   n.Frameworks,
				Requirements: n.Requirements,
				Mappings:     n.Mappings,
			},
			Warnings: []api.ImportWarning{{Message: "this source was already imported as version " + v.Label}},
		}, nil
	}
	return nil, nil
}

var singleLine = lazyregexp.New(`^\S(.*\S)?$`)

// readStructured reads a source in the format that the request names, or in the detected one if it names
// none.
func (s *Service) readStructured(ctx context.Context, b *api.ImportSource) (*scf.Source, error) {
	if len(b.Source) == 0 {
		return nil, api.Invalid("source", "this field is required")
	}
	if len(b.Label) > 40 || b.Label != "" && !singleLine.MatchString(b.Label) {
		return nil, api.Invalid("label", "a label must be a single line of at most 40 characters")
	}
	format := b.Format
	if format == "" {
		format = api.FormatService
		if custom.OSCALModel(b.Source) != "" {
			format = api.FormatOSCAL
		}
	}
	var src *scf.Source
	var err error
	switch format {
	case api.FormatService:
		src, err = custom.ReadCatalog(b.Source)
	case api.FormatOSCAL:
		var active *scf.Snapshot
		if active, err = s.Snapshot(ctx, ""); err != nil {
			return nil, err
		}
		src, err = oscal.Read(b.Source, active.Source())
	default:
		return nil, api.Invalid("format", "unknown format %q; use service or oscal", format)
	}
	var at *custom.PathError
	if errors.As(err, &at) {
		return nil, api.Invalid(strings.TrimSuffix("source."+at.Path, "."), "%s", at.Error()).WithCause(err)
	}
	if err != nil {
		return nil, err
	}
	if src.Label = cmp.Or(b.Label, src.Label); src.Label == "" {
		return nil, api.Invalid(
			"label",
			"this import extends the active catalog; specify a label for the resulting version, such as 2026.1.1+baselines",
		)
	}
	if len(src.Label) > 40 || !singleLine.MatchString(src.Label) {
		return nil, api.Invalid(
			"label",
			"the document's version can't be used as a label (a single line of at most 40 characters); specify a label",
		)
	}
	src.Filename = cmp.Or(b.Filename, format+".json")
	return src, nil
}

// Export returns a catalog version as a file that can be imported again.
func (s *Service) Export(ctx context.Context, _ api.Caller, in *api.ExportCatalogInput) (*api.File, error) {
	snap, err := s.Snapshot(ctx, in.SCFVersionID)
	if err != nil {
		return nil, err
	}
	format := cmp.Or(in.Format, api.FormatService)
	if format != api.FormatOSCAL && (in.Model != "" || in.Framework != "") {
		return nil, api.Invalid("model", "model and framework can only be used with the format oscal")
	}
	var data []byte
	name := format
	switch format {
	case api.FormatService:
		data, err = custom.WriteCatalog(snap.Source())
	case api.FormatOSCAL:
		data, err = exportOSCAL(snap, in)
		name = strings.TrimPrefix(in.Model+"."+format, ".")
	default:
		return nil, api.Invalid("format", "unknown format %q; use service or oscal", format)
	}
	var at *custom.PathError
	if errors.As(err, &at) {
		return nil, api.Invalid("model", "catalog %s can't be exported as OSCAL: %s", snap.Version().Label, at.Error()).WithCause(err)
	}
	if err != nil {
		return nil, fmt.Errorf("exporting catalog %s: %w", snap.Version().Label, err)
	}
	sum := sha256.Sum256(data)
	return &api.File{
		Filename:    "catalog-" + strings.Trim(unsafeNameChars.ReplaceAllString(snap.Version().Label, "-"), "-") + "." + name + ".json",
		ContentType: "application/json", Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:]), Content: memoryFile{bytes.NewReader(data)},
	}, nil
}

// exportOSCAL returns a catalog as an OSCAL document, in the model that the request names.
func exportOSCAL(snap *scf.Snapshot, in *api.ExportCatalogInput) ([]byte, error) {
	src, modified := snap.Source(), snap.Version().ImportedAt
	var chosen []int
	if in.Framework != "" {
		f, err := snap.Framework(in.Framework)
		if err != nil {
			return nil, err
		}
		chosen = []int{slices.IndexFunc(src.Frameworks, func(one scf.Framework) bool { return one.Code == f.Code })}
		if chosen[0] < 0 {
			return nil, api.Invalid("framework", "framework %s is a custom framework and not part of the catalog", f.Code)
		}
	}
	switch cmp.Or(in.Model, "catalog") {
	case "catalog":
		if in.Framework != "" {
			return nil, api.Invalid(
				"framework",
				"the model catalog always exports the whole catalog; to export a single framework, use the model profile or mapping-collection",
			)
		}
		return oscal.WriteCatalog(src, modified)
	case "profile":
		if chosen == nil {
			return nil, api.Invalid("framework", "a profile needs a framework")
		}
		return oscal.WriteProfile(src, chosen[0], modified)
	case "mapping-collection":
		if chosen == nil {
			for i := range src.Frameworks {
				chosen = append(chosen, i)
			}
		}
		return oscal.WriteMappings(src, chosen, modified)
	}
	return nil, api.Invalid("model", "unknown model %q; use catalog, profile or mapping-collection", in.Model)
}

var unsafeNameChars = lazyregexp.New(`[^A-Za-z0-9._-]+`)

// memoryFile is a file in memory. Its Close method does nothing.
type memoryFile struct{ *bytes.Reader }

func (memoryFile) Close() error { return nil }
