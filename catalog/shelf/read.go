package shelf

import (
	"context"

	"github.com/scf-service/service/catalog"
	"github.com/scf-service/service/engine/api"
	"github.com/scf-service/service/store"
)

// ListVersions lists catalog versions, newest first.
func (s *Service) ListVersions(ctx context.Context, _ api.Caller, in *api.Paging) (*api.List[api.CatalogVersion], error) {
	recs, err := s.versions(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]api.CatalogVersion, len(recs))
	for i, r := range recs {
		out[i] = r.CatalogVersion
	}
	return page(out, *in)
}

// GetLatest is the latest active version.
func (s *Service) GetLatest(ctx context.Context, _ api.Caller, _ *api.None) (*api.CatalogVersion, error) {
	rec, err := s.find(ctx, "")
	return &rec.CatalogVersion, err
}

// GetVersion is one version.
func (s *Service) GetVersion(ctx context.Context, _ api.Caller, in *api.VersionInput) (*api.CatalogVersion, error) {
	rec, err := s.find(ctx, in.SCFVersionID)
	return &rec.CatalogVersion, err
}

// ListVersionDomains lists a version's domains.
func (s *Service) ListVersionDomains(ctx context.Context, _ api.Caller, in *api.VersionDomainsInput) (*api.List[api.Domain], error) {
	return s.domains(ctx, in.SCFVersionID, in.Paging)
}

// ListDomains lists domains.
func (s *Service) ListDomains(ctx context.Context, _ api.Caller, in *api.DomainsInput) (*api.List[api.Domain], error) {
	return s.domains(ctx, in.Version, in.Paging)
}

func (s *Service) domains(ctx context.Context, version string, p api.Paging) (*api.List[api.Domain], error) {
	snap, err := s.Snapshot(ctx, version)
	if err != nil {
		return nil, err
	}
	return page(snap.Domains(), p)
}

// ListVersionControls lists a version's controls.
func (s *Service) ListVersionControls(ctx context.Context, _ api.Caller, in *api.VersionControlsInput) (*api.List[api.Control], error) {
	return s.controls(ctx, in.SCFVersionID, catalog.ControlFilter{Code: in.ControlCode, Domain: in.DomainCode, Query: in.Q, Tags: in.Tags}, in.Paging)
}

// ListControls lists controls; with a question, best first.
func (s *Service) ListControls(ctx context.Context, _ api.Caller, in *api.ControlsInput) (*api.List[api.Control], error) {
	return s.controls(ctx, in.Version, catalog.ControlFilter{Domain: in.Domain, Framework: in.Framework, Query: in.Q}, in.Paging)
}

func (s *Service) controls(ctx context.Context, version string, f catalog.ControlFilter, p api.Paging) (*api.List[api.Control], error) {
	snap, err := s.Snapshot(ctx, version)
	if err != nil {
		return nil, err
	}
	if f.Query != "" {
		ranked, err := rank(snap, f)
		if err != nil {
			return nil, explain(err)
		}
		return page(ranked, p)
	}
	out, err := snap.Controls(f)
	if err != nil {
		return nil, explain(err)
	}
	return page(out, p)
}

// rank lists the controls that a question finds, best first, within the other filters.
func rank(snap *catalog.Snapshot, f catalog.ControlFilter) ([]api.Control, error) {
	query := f.Query
	f.Query = ""
	within, err := snap.Controls(f)
	if err != nil {
		return nil, err
	}
	allowed := make(map[string]api.Control, len(within))
	for _, c := range within {
		allowed[c.ID] = c
	}
	out := []api.Control{}
	take := func(id string) {
		if c, ok := allowed[id]; ok {
			out = append(out, c)
			delete(allowed, id)
		}
	}
	for _, hit := range snap.Search(query, len(within)) {
		if hit.Kind == "control" {
			take(hit.ID)
			continue
		}
		mappings, err := snap.RequirementMappings(hit.ID)
		if err != nil {
			return nil, err
		}
		for _, m := range mappings {
			take(m.ControlID)
		}
	}
	return out, nil
}

// GetControl is one control, by id or code.
func (s *Service) GetControl(ctx context.Context, _ api.Caller, in *api.ControlInput) (*api.Control, error) {
	return one(ctx, s, in.Version, func(snap *catalog.Snapshot) (api.Control, error) { return snap.Control(in.ControlID) })
}

// GetControlByCode is one control by code.
func (s *Service) GetControlByCode(ctx context.Context, _ api.Caller, in *api.ControlByCodeInput) (*api.Control, error) {
	return one(ctx, s, in.Version, func(snap *catalog.Snapshot) (api.Control, error) { return snap.Control(in.ControlCode) })
}

// GetFramework is one framework, by id or code.
func (s *Service) GetFramework(ctx context.Context, _ api.Caller, in *api.FrameworkInput) (*api.Framework, error) {
	return one(ctx, s, in.Version, func(snap *catalog.Snapshot) (api.Framework, error) { return snap.Framework(in.FrameworkID) })
}

// GetCoverage tells how much of a framework the catalog covers.
func (s *Service) GetCoverage(ctx context.Context, _ api.Caller, in *api.CoverageInput) (*api.Coverage, error) {
	return one(ctx, s, in.SCFVersion, func(snap *catalog.Snapshot) (api.Coverage, error) { return snap.Coverage(in.FrameworkID) })
}

// GetCrosswalk is the crosswalk of a framework, or between two.
func (s *Service) GetCrosswalk(ctx context.Context, _ api.Caller, in *api.CrosswalkInput) (*api.Crosswalk, error) {
	return one(ctx, s, in.Version, func(snap *catalog.Snapshot) (api.Crosswalk, error) {
		return snap.Crosswalk(in.Framework, in.Target)
	})
}

func one[T any](ctx context.Context, s *Service, version string, read func(*catalog.Snapshot) (T, error)) (*T, error) {
	snap, err := s.Snapshot(ctx, version)
	if err != nil {
		return nil, err
	}
	out, err := read(snap)
	if err != nil {
		return nil, explain(err)
	}
	return &out, nil
}

// ListControlMappings lists the mappings of a control.
func (s *Service) ListControlMappings(ctx context.Context, _ api.Caller, in *api.ControlMappingsInput) (*api.List[api.Mapping], error) {
	return many(ctx, s, in.Version, in.Paging, func(snap *catalog.Snapshot) ([]api.Mapping, error) { return snap.ControlMappings(in.ControlID) })
}

// ListRequirements lists the requirements of a framework.
func (s *Service) ListRequirements(ctx context.Context, _ api.Caller, in *api.RequirementsInput) (*api.List[api.Requirement], error) {
	return many(ctx, s, in.Version, in.Paging, func(snap *catalog.Snapshot) ([]api.Requirement, error) { return snap.Requirements(in.FrameworkID) })
}

// ListRequirementMappings lists the mappings of a requirement.
func (s *Service) ListRequirementMappings(ctx context.Context, _ api.Caller, in *api.RequirementMappingsInput) (*api.List[api.Mapping], error) {
	return many(ctx, s, in.Version, in.Paging, func(snap *catalog.Snapshot) ([]api.Mapping, error) {
		return snap.RequirementMappings(in.RequirementID)
	})
}

// ListFrameworks lists frameworks, those whose code or name holds q.
func (s *Service) ListFrameworks(ctx context.Context, _ api.Caller, in *api.FrameworksInput) (*api.List[api.Framework], error) {
	return many(ctx, s, in.Version, in.Paging, func(snap *catalog.Snapshot) ([]api.Framework, error) {
		all := snap.Frameworks()
		if in.Q == "" {
			return all, nil
		}
		var out []api.Framework
		for _, f := range all {
			if holds(in.Q, f.Code, f.Name, f.Column, f.Title) {
				out = append(out, f)
			}
		}
		return out, nil
	})
}

func many[T any](ctx context.Context, s *Service, version string, p api.Paging, read func(*catalog.Snapshot) ([]T, error)) (*api.List[T], error) {
	snap, err := s.Snapshot(ctx, version)
	if err != nil {
		return nil, err
	}
	out, err := read(snap)
	if err != nil {
		return nil, explain(err)
	}
	return page(out, p)
}

// ListImportRuns lists import runs, newest first.
func (s *Service) ListImportRuns(ctx context.Context, _ api.Caller, in *api.Paging) (*api.List[api.ImportRun], error) {
	return store.ListAll(ctx, s.db, store.ImportRuns, *in, store.PageQuery[api.ImportRun]{Reverse: true})
}

// GetImportRun is one import run.
func (s *Service) GetImportRun(ctx context.Context, _ api.Caller, in *api.ImportRunInput) (*api.ImportRun, error) {
	var out api.ImportRun
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		out, err = store.ImportRuns.Get(tx, in.ImportRunID)
		return store.Missing(err, "import run", in.ImportRunID)
	})
	return &out, err
}
