package assessment

import (
	"context"
	"fmt"
	"math"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge/plan"
	"github.com/scf-service/service/store"
)

func roundTo(v float64, digits int) float64 {
	p := math.Pow(10, float64(digits))
	return math.Round(v*p) / p
}

func roundedPtr(v float64, digits int) *float64 {
	r := roundTo(v, digits)
	return &r
}

// Summary returns an assessment's dashboard, based on the newest version of each deliverable.
func (s *Service) Summary(ctx context.Context, by api.Caller, in *api.AssessmentInput) (*api.AssessmentSummary, error) {
	var out *api.AssessmentSummary
	err := s.db.View(ctx, func(tx *store.Tx) error {
		a, err := getAssessment(tx, by, in.AssessmentID)
		if err != nil {
			return err
		}
		if out, err = buildSummary(tx, &a); err != nil {
			return err
		}
		v, err := store.CatalogVersions.Get(tx, a.SCFVersionID)
		out.IsStarter = v.IsStarter
		return err
	})
	return out, err
}

func buildSummary(tx *store.Tx, a *api.Assessment) (*api.AssessmentSummary, error) {
	org := a.OrganizationID
	out := &api.AssessmentSummary{
		AssessmentID: a.ID, FindingsBySeverity: map[api.Severity]int{}, LastActivityAt: a.UpdatedAt, Reliance: plan.CountReliance(nil),
	}
	var documents []api.Document
	for d, err := range store.Documents.By("assessment").Scan(tx, org, store.Prefix(a.ID)) {
		if err != nil {
			return nil, err
		}
		documents = append(documents, d.Document)
	}
	reader := ""
	if v, ok, err := soa.newestVersion(tx, org, a.ID); err != nil {
		return nil, err
	} else if ok {
		items, err := soa.readItems(tx, org, v.ID)
		if err != nil {
			return nil, err
		}
		reader = v.Inputs[readerInput]
		fillSoACounts(out, items)
		out.Reliance = plan.CountReliance(items)
		out.CompliancePct, out.ComplianceFormula = plan.CompliancePercent(items)
	}
	read, err := readLanguages(tx, org, reader, documents)
	if err != nil {
		return nil, err
	}
	out.UnreadEvidence = api.CountUnreadEvidence(documents, read...)
	if v, ok, err := gap.newestVersion(tx, org, a.ID); err != nil {
		return nil, err
	} else if ok {
		found, err := gap.readItems(tx, org, v.ID)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			out.FindingsBySeverity[f.Severity]++
		}
	}
	if v, ok, err := maturity.newestVersion(tx, org, a.ID); err != nil {
		return nil, err
	} else if ok {
		scores, err := maturity.readItems(tx, org, v.ID)
		if err != nil {
			return nil, err
		}
		out.MaturityAvg = summarizeDomainMaturity("", "", scores).Mean
	}
	if v, ok, err := poam.newestVersion(tx, org, a.ID); err != nil {
		return nil, err
	} else if ok {
		items, err := poam.readItems(tx, org, v.ID)
		if err != nil {
			return nil, err
		}
		for _, i := range items {
			if !isClosedStatus(i.Status) {
				out.OpenPOAMItems++
			}
		}
	}
	for e, err := range store.Timeline.Scan(tx, org, store.Prefix(a.ID), store.Reverse) {
		if err != nil {
			return nil, err
		}
		out.LastActivityAt = e.At
		break
	}
	return out, nil
}

func fillSoACounts(out *api.AssessmentSummary, items []api.SoAItem) {
	out.Controls = len(items)
	for _, i := range items {
		if !i.Applicability.IsApplicable() {
			continue
		}
		out.Applicable++
		switch i.ImplementationStatus {
		case api.Implemented:
			out.Implemented++
		case api.PartiallyImplemented:
			out.PartiallyImpl++
		case api.Planned:
			out.Planned++
		case api.NotImplemented:
			out.NotImplemented++
		case api.NotEvidenced:
			out.NotEvidenced++
		default:
			out.NotAssessed++
		}
	}
}

// describePossibleDeciders describes who may decide on a pending approval.
func describePossibleDeciders(tx *store.Tx, p api.Approval) (string, error) {
	one := []api.Approval{p}
	err := addDelegates(tx, p.OrganizationID, one)
	who := "an owner or admin"
	for _, d := range one[0].Delegates {
		who += fmt.Sprintf(", or %s for %s", d.Name, d.DelegatorName)
	}
	return who, err
}

// Dashboard returns an overview of the organization.
func (s *Service) Dashboard(ctx context.Context, by api.Caller, in *api.OrgInput) (*api.Dashboard, error) {
	if in.OrgID != by.OrganizationID {
		return nil, api.NotFound("organization", in.OrgID)
	}
	out := &api.Dashboard{
		OrganizationID:     by.OrganizationID,
		AssessmentsByState: map[api.State]int{},
		FindingsBySeverity: map[api.Severity]int{},
		Waiting:            []api.WaitingFor{},
	}
	err := s.db.View(ctx, func(tx *store.Tx) error {
		var items []api.SoAItem
		for a, err := range store.Assessments.Scan(tx, by.OrganizationID) {
			if err != nil {
				return err
			}
			out.AssessmentsByState[a.State]++
			sum, err := buildSummary(tx, &a)
			if err != nil {
				return err
			}
			out.OpenPOAMItems += sum.OpenPOAMItems
			for sev, n := range sum.FindingsBySeverity {
				out.FindingsBySeverity[sev] += n
			}
			if v, ok, err := soa.newestVersion(tx, by.OrganizationID, a.ID); err != nil {
				return err
			} else if ok {
				more, err := soa.readItems(tx, by.OrganizationID, v.ID)
				if err != nil {
					return err
				}
				items = append(items, more...)
			}
			for _, gate := range api.Gates {
				p, found, err := pendingApproval(tx, by.OrganizationID, a.ID, gate)
				if err != nil {
					return err
				}
				if found {
					who, err := describePossibleDeciders(tx, p)
					if err != nil {
						return err
					}
					out.Waiting = append(
						out.Waiting,
						api.WaitingFor{
							AssessmentID:   a.ID,
							AssessmentName: a.Name,
							ApprovalID:     p.ID,
							Gate:           gate,
							Since:          p.RequestedAt,
							Who:            who,
						},
					)
				}
			}
		}
		if pct, formula := plan.CompliancePercent(items); pct != nil {
			out.CompliancePct, out.ComplianceFormula = *pct, formula
		}
		return nil
	})
	return out, err
}
