package assessment

import (
	"context"
	"errors"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence"
	"github.com/scf-service/service/store"
)

// Snapshot is the content of an assessment at one point in time, with the current version of each
// deliverable. Deliverables that have not been drafted are nil.
type Snapshot struct {
	Organization api.Organization
	Assessment   api.Assessment
	Catalog      api.CatalogVersion
	Documents    []api.Document
	Scope        *api.Scope
	SoA          *api.SoAVersion
	SoAItems     []api.SoAItem
	Gap          *api.GapVersion
	Findings     []api.Finding
	Maturity     *api.MaturityVersion
	Scores       []api.MaturityScore
	Levels       *api.MaturitySummary
	POAM         *api.POAMVersion
	POAMItems    []api.POAMItem
	Approvals    []api.Approval
	Outdated     []api.Outdated
	Summary      api.AssessmentSummary
}

// Snapshot reads an assessment for a report. Its last activity doesn't include reports that were written, so that
// repeated reports are identical.
func (s *Service) Snapshot(ctx context.Context, by api.Caller, id string) (*Snapshot, error) {
	a, err := s.readAssessment(ctx, by, id)
	if err != nil {
		return nil, err
	}
	names, err := s.domainNames(ctx, &a)
	if err != nil {
		return nil, err
	}
	d := &Snapshot{}
	err = s.db.View(ctx, func(tx *store.Tx) error {
		org := by.OrganizationID
		var err error
		if d.Assessment, err = getAssessment(tx, by, id); err != nil {
			return err
		}
		if err := fillProgressAndCounts(tx, &d.Assessment); err != nil {
			return err
		}
		if d.Organization, err = store.Organizations.Get(tx, org); err != nil {
			return err
		}
		version, err := store.CatalogVersions.Get(tx, d.Assessment.SCFVersionID)
		if err != nil {
			return err
		}
		d.Catalog = version.CatalogVersion
		for doc, err := range store.Documents.By("assessment").Scan(tx, org, store.Prefix(id)) {
			if err != nil {
				return err
			}
			d.Documents = append(d.Documents, *evidence.ToAPIDocument(&doc))
		}
		scope, err := store.Scopes.By("assessment").Get(tx, org, id)
		if err == nil {
			d.Scope = &scope
		} else if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		for p, err := range store.Approvals.By("assessment").Scan(tx, org, store.Prefix(id)) {
			if err != nil {
				return err
			}
			d.Approvals = append(d.Approvals, p)
		}
		if d.Outdated, err = listOutdated(tx, &d.Assessment); err != nil {
			return err
		}
		sum, err := buildSummary(tx, &d.Assessment)
		if err != nil {
			return err
		}
		d.Summary = *sum
		if d.Summary.LastActivityAt, err = lastActivity(tx, &d.Assessment, "report"); err != nil {
			return err
		}
		d.Summary.IsStarter = d.Catalog.IsStarter
		if d.SoA, d.SoAItems, err = soaType.readCurrent(tx, &d.Assessment); err != nil {
			return err
		}
		if d.Gap, d.Findings, err = gapType.readCurrent(tx, &d.Assessment); err != nil {
			return err
		}
		if d.Maturity, d.Scores, err = maturityType.readCurrent(tx, &d.Assessment); err != nil {
			return err
		}
		d.POAM, d.POAMItems, err = poamType.readCurrent(tx, &d.Assessment)
		return err
	})
	if d.Maturity != nil {
		d.Levels = summarizeMaturity(d.Scores, names)
		d.Levels.MaturityVersionID = d.Maturity.ID
	}
	return d, err
}
