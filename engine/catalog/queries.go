package catalog

import (
	"context"
	"slices"
	"strconv"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/store"
)

// ListVersions lists catalog versions, newest first.
func (s *Service) ListVersions(ctx context.Context, _ api.Caller, in *api.Paging) (*api.List[api.InstalledCatalog], error) {
	recs, err := s.allVersions(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]api.InstalledCatalog, len(recs))
	for i, r := range recs {
		out[i] = s.withSearchStatus(&r)
	}
	return paginate(out, *in, func(v *api.InstalledCatalog) string { return v.ID })
}

// GetLatest returns the catalog version that is used by default: the newest active one.
func (s *Service) GetLatest(ctx context.Context, _ api.Caller, _ *api.None) (*api.InstalledCatalog, error) {
	return s.GetVersion(ctx, api.Caller{}, &api.VersionInput{})
}

// GetVersion returns one catalog version.
func (s *Service) GetVersion(ctx context.Context, _ api.Caller, in *api.VersionInput) (*api.InstalledCatalog, error) {
	rec, err := s.findVersion(ctx, in.SCFVersionID)
	if err != nil {
		return nil, err
	}
	out := s.withSearchStatus(&rec)
	return &out, nil
}

// withSearchStatus adds the status of the embedder's training to a catalog version.
func (s *Service) withSearchStatus(rec *store.CatalogVersion) api.InstalledCatalog {
	out := api.InstalledCatalog{CatalogVersion: rec.CatalogVersion, SearchStatus: api.SearchReady}
	if rec.EmbedderBlob == "" {
		out.SearchStatus = api.SearchUntrained
		if s.trainingProgress != nil {
			out.TrainingProgress = s.trainingProgress(rec.ID)
		}
		if out.TrainingProgress != nil {
			out.SearchStatus = api.SearchTraining
		}
	}
	return out
}

// ListVersionDomains lists a version's domains.
func (s *Service) ListVersionDomains(ctx context.Context, by api.Caller, in *api.VersionDomainsInput) (*api.List[api.Domain], error) {
	return s.listDomains(ctx, by, in.SCFVersionID, in.Paging)
}

// ListDomains lists the domains (families of controls) of a catalog version.
func (s *Service) ListDomains(ctx context.Context, by api.Caller, in *api.DomainsInput) (*api.List[api.Domain], error) {
	return s.listDomains(ctx, by, in.Version, in.Paging)
}

func (s *Service) listDomains(ctx context.Context, by api.Caller, version string, p api.Paging) (*api.List[api.Domain], error) {
	snap, err := s.callerSnapshot(ctx, by, version)
	if err != nil {
		return nil, err
	}
	return paginate(snap.Domains(), p, func(d *api.Domain) string { return d.ID })
}

// DiffVersions returns the changes from one catalog version to another.
func (s *Service) DiffVersions(ctx context.Context, _ api.Caller, in *api.DiffInput) (*api.CatalogDiff, error) {
	to, err := s.Snapshot(ctx, in.SCFVersionID)
	if err != nil {
		return nil, err
	}
	from, err := s.Snapshot(ctx, in.From)
	if err != nil {
		return nil, err
	}
	diff := scf.Diff(from, to)
	return &diff, nil
}

// ListVersionEvidence lists a version's evidence requests.
func (s *Service) ListVersionEvidence(ctx context.Context, _ api.Caller, in *api.VersionListInput) (*api.List[api.EvidenceItem], error) {
	return listVersionRecords(ctx, s, in, evidenceName, (*scf.Snapshot).EvidenceItems)
}

// ListVersionRisks lists the risks in a version's risk catalog.
func (s *Service) ListVersionRisks(ctx context.Context, _ api.Caller, in *api.VersionListInput) (*api.List[api.Hazard], error) {
	return listVersionRecords(ctx, s, in, hazardCode, (*scf.Snapshot).Risks)
}

// ListVersionThreats lists the threats in a version's threat catalog.
func (s *Service) ListVersionThreats(ctx context.Context, _ api.Caller, in *api.VersionListInput) (*api.List[api.Hazard], error) {
	return listVersionRecords(ctx, s, in, hazardCode, (*scf.Snapshot).Threats)
}

// ListVersionPrinciples lists a version's privacy management principles.
func (s *Service) ListVersionPrinciples(ctx context.Context, _ api.Caller, in *api.VersionListInput) (*api.List[api.Principle], error) {
	return listVersionRecords(ctx, s, in, func(p *api.Principle) string { return p.Number + " " + p.Name }, (*scf.Snapshot).Principles)
}

// evidenceName returns the code of an evidence request, or the name of its artifact if the catalog release
// has no codes.
func evidenceName(e *api.EvidenceItem) string {
	if e.Code != nil {
		return *e.Code
	}
	return e.Artifact
}

func hazardCode(h *api.Hazard) string { return h.Code }

func listVersionRecords[T any](
	ctx context.Context,
	s *Service,
	in *api.VersionListInput,
	id func(*T) string,
	read func(*scf.Snapshot) []T,
) (*api.List[T], error) {
	snap, err := s.Snapshot(ctx, in.SCFVersionID)
	if err != nil {
		return nil, err
	}
	return paginate(read(snap), in.Paging, id)
}

// ListVersionControls lists the controls of a catalog version.
func (s *Service) ListVersionControls(ctx context.Context, by api.Caller, in *api.VersionControlsInput) (*api.List[api.Control], error) {
	return s.listControls(
		ctx,
		by,
		in.SCFVersionID,
		scf.ControlFilter{Code: in.ControlCode, Domain: in.DomainCode, Query: in.Q, Tags: in.Tags},
		in.Paging,
	)
}

// ListControls lists the controls that match the filters. If there is a search query, the best matches come
// first.
func (s *Service) ListControls(ctx context.Context, by api.Caller, in *api.ControlsInput) (*api.List[api.Control], error) {
	return s.listControls(ctx, by, in.Version, scf.ControlFilter{Domain: in.Domain, Framework: in.Framework, Query: in.Q}, in.Paging)
}

func (s *Service) listControls(
	ctx context.Context,
	by api.Caller,
	version string,
	f scf.ControlFilter,
	p api.Paging,
) (*api.List[api.Control], error) {
	snap, err := s.callerSnapshot(ctx, by, version)
	if err != nil {
		return nil, err
	}
	find := snap.ControlIndexes
	if f.Query != "" {
		find = snap.RankControls
	}
	found, err := find(f)
	if err != nil {
		return nil, lookupToAPIError(err)
	}
	some, err := paginate(found, p, func(index *int32) string { return snap.ControlAt(*index).ID })
	if err != nil {
		return nil, err
	}
	out := &api.List[api.Control]{Data: make([]api.Control, len(some.Data)), Pagination: some.Pagination}
	for i, c := range some.Data {
		out.Data[i] = snap.ControlAt(c)
	}
	return out, nil
}

// GetControl returns one control, by id or code.
func (s *Service) GetControl(ctx context.Context, by api.Caller, in *api.ControlInput) (*api.Control, error) {
	return getRecord(ctx, s, by, in.Version, func(snap *scf.Snapshot) (api.Control, error) { return snap.Control(in.ControlID) })
}

// GetControlByCode returns one control by code.
func (s *Service) GetControlByCode(ctx context.Context, by api.Caller, in *api.ControlByCodeInput) (*api.Control, error) {
	return getRecord(ctx, s, by, in.Version, func(snap *scf.Snapshot) (api.Control, error) { return snap.Control(in.ControlCode) })
}

// GetFramework returns one framework, by id or code.
func (s *Service) GetFramework(ctx context.Context, by api.Caller, in *api.FrameworkInput) (*api.Framework, error) {
	return getRecord(ctx, s, by, in.Version, func(snap *scf.Snapshot) (api.Framework, error) { return snap.Framework(in.FrameworkID) })
}

// GetCoverage returns how much of a framework the catalog covers.
func (s *Service) GetCoverage(ctx context.Context, by api.Caller, in *api.CoverageInput) (*api.Coverage, error) {
	return getRecord(ctx, s, by, in.SCFVersion, func(snap *scf.Snapshot) (api.Coverage, error) {
		out, err := snap.Coverage(in.FrameworkID)
		if err == nil && len(in.Have) > 0 {
			out.Addition, err = snap.CoverageAddition(in.FrameworkID, in.Have)
		}
		return out, err
	})
}

// GetCrosswalk returns the controls that map to a framework, with the requirements they map to. If a second
// framework is given, it returns only the controls that map to both.
func (s *Service) GetCrosswalk(ctx context.Context, by api.Caller, in *api.CrosswalkInput) (*api.Crosswalk, error) {
	return getRecord(ctx, s, by, in.Version, func(snap *scf.Snapshot) (api.Crosswalk, error) {
		return snap.Crosswalk(in.Framework, in.Target)
	})
}

func getRecord[T any](ctx context.Context, s *Service, by api.Caller, version string, read func(*scf.Snapshot) (T, error)) (*T, error) {
	snap, err := s.callerSnapshot(ctx, by, version)
	if err != nil {
		return nil, err
	}
	out, err := read(snap)
	if err != nil {
		return nil, lookupToAPIError(err)
	}
	return &out, nil
}

// ListControlMappings lists the mappings of a control.
func (s *Service) ListControlMappings(ctx context.Context, by api.Caller, in *api.ControlMappingsInput) (*api.List[api.Mapping], error) {
	return listRecords(ctx, s, by, in.Version, in.Paging, mappingID, func(snap *scf.Snapshot) ([]api.Mapping, error) {
		all, err := snap.ControlMappings(in.ControlID)
		if err != nil || in.Framework == "" {
			return all, err
		}
		f, err := snap.Framework(in.Framework)
		if err != nil {
			return nil, err
		}
		return slices.DeleteFunc(all, func(m api.Mapping) bool { return m.FrameworkID != f.ID }), nil
	})
}

// ListRequirements lists the requirements of a framework.
func (s *Service) ListRequirements(ctx context.Context, by api.Caller, in *api.RequirementsInput) (*api.List[api.Requirement], error) {
	return listRecords(
		ctx,
		s,
		by,
		in.Version,
		in.Paging,
		func(r *api.Requirement) string { return r.ID },
		func(snap *scf.Snapshot) ([]api.Requirement, error) {
			all, err := snap.Requirements(in.FrameworkID)
			return slices.DeleteFunc(all, func(r api.Requirement) bool { return !anyContains(in.Q, r.Code, r.Title, r.Text) }), err
		},
	)
}

// ListRequirementMappings lists the mappings of a requirement.
func (s *Service) ListRequirementMappings(
	ctx context.Context,
	by api.Caller,
	in *api.RequirementMappingsInput,
) (*api.List[api.Mapping], error) {
	return listRecords(ctx, s, by, in.Version, in.Paging, mappingID, func(snap *scf.Snapshot) ([]api.Mapping, error) {
		return snap.RequirementMappings(in.RequirementID)
	})
}

// ListFrameworks lists the frameworks whose code, name, title or workbook column contains the search text.
func (s *Service) ListFrameworks(ctx context.Context, by api.Caller, in *api.FrameworksInput) (*api.List[api.Framework], error) {
	return listRecords(
		ctx,
		s,
		by,
		in.Version,
		in.Paging,
		func(f *api.Framework) string { return f.ID },
		func(snap *scf.Snapshot) ([]api.Framework, error) {
			all := slices.DeleteFunc(
				snap.Frameworks(),
				func(f api.Framework) bool { return !anyContains(in.Q, f.Code, f.Name, f.Column, f.Title) },
			)
			return all, store.SortSlice(all, in.Sort, frameworkSortFields)
		},
	)
}

// frameworkSortFields lists the fields that frameworks can be sorted by.
var frameworkSortFields = []store.SortBy[api.Framework]{
	{Name: "code", Value: func(f *api.Framework) any { return store.NaturalSortKey(f.Code) }},
	{Name: "name", Value: func(f *api.Framework) any { return store.NaturalSortKey(f.Name) }},
	{Name: "requirement_count", Value: func(f *api.Framework) any { return f.RequirementCount }},
	{Name: "mapping_count", Value: func(f *api.Framework) any { return f.MappingCount }},
}

func mappingID(m *api.Mapping) string { return m.ID }

func listRecords[T any](
	ctx context.Context,
	s *Service,
	by api.Caller,
	version string,
	p api.Paging,
	id func(*T) string,
	read func(*scf.Snapshot) ([]T, error),
) (*api.List[T], error) {
	snap, err := s.callerSnapshot(ctx, by, version)
	if err != nil {
		return nil, err
	}
	out, err := read(snap)
	if err != nil {
		return nil, lookupToAPIError(err)
	}
	return paginate(out, p, id)
}

// ListImportRuns lists import runs, newest first.
func (s *Service) ListImportRuns(ctx context.Context, _ api.Caller, in *api.ImportRunsInput) (*api.List[api.ImportRun], error) {
	return store.ListGlobal(
		ctx,
		s.db,
		store.ImportRuns,
		in.Paging,
		store.PageQuery[api.ImportRun]{Reverse: true, Filter: store.FilterIf(api.HasFilters(in), func(r *api.ImportRun) bool {
			return (in.Status == "" || r.Status == in.Status) && (in.DryRun == "" || strconv.FormatBool(r.DryRun) == in.DryRun)
		})},
	)
}

// GetImportRun returns one import run.
func (s *Service) GetImportRun(ctx context.Context, _ api.Caller, in *api.ImportRunInput) (*api.ImportRun, error) {
	var out api.ImportRun
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		out, err = store.ImportRuns.Get(tx, in.ImportRunID)
		return store.ToNotFound(err, "import run", in.ImportRunID)
	})
	return &out, err
}
