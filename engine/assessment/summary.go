package assessment

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge"
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

// buildSummary computes the dashboard from maintained counts (store.Figures), without reading items or documents.
func buildSummary(tx *store.Tx, a *api.Assessment) (*api.AssessmentSummary, error) {
	org := a.OrganizationID
	out := &api.AssessmentSummary{
		AssessmentID: a.ID, FindingsBySeverity: map[api.Severity]int{}, Reliance: judge.CountReliance(nil),
	}
	figures, err := store.ReadFigures(tx, org, a.ID)
	if err != nil {
		return nil, err
	}
	reader := ""
	if v, ok, err := soaType.newestVersion(tx, org, a.ID); err != nil {
		return nil, err
	} else if ok {
		reader = v.Inputs[readerInput]
		fillSoACounts(out, figures.SoAItems)
		if v.DecisiveDocuments != nil {
			out.Reliance = v.Reliance
		}
		out.CompliancePct, out.ComplianceFormula = compliancePercent(figures.SoAItems)
	}
	if out.UnreadEvidence, err = countUnreadEvidence(tx, org, a.ID, reader); err != nil {
		return nil, err
	}
	for _, f := range figures.Findings {
		out.FindingsBySeverity[f.Severity] += f.N
	}
	if s := figures.Scores; s.Assessed > 0 {
		out.MaturityAvg = roundedPtr(float64(s.Levels)/float64(s.Assessed), 2)
	}
	for _, i := range figures.POAMItems {
		if !api.IsClosedPOAMStatus(i.Status) {
			out.OpenPOAMItems += i.N
		}
	}
	out.LastActivityAt, err = lastActivity(tx, a, "")
	return out, err
}

// lastActivity returns the time of the newest event of an assessment, not counting events about resources of the
// given type.
func lastActivity(tx *store.Tx, a *api.Assessment, exceptResourceType string) (time.Time, error) {
	for e, err := range store.Timeline.Scan(tx, a.OrganizationID, store.Prefix(a.ID), store.Reverse) {
		if err != nil {
			return time.Time{}, err
		}
		if exceptResourceType == "" || e.ResourceType != exceptResourceType {
			return e.At, nil
		}
	}
	return a.UpdatedAt, nil
}

// countUnreadEvidence adds up the unread languages of an assessment's documents, except for languages that the reader
// of its Statement of Applicability has read.
func countUnreadEvidence(tx *store.Tx, org, assessment, reader string) (api.UnreadEvidence, error) {
	var counts api.UnreadCounts
	facts := store.Documents.Tally("facts")
	var err error
	if counts.Documents, err = facts.Get(tx, org, assessment, store.FactRead); err != nil {
		return api.UnreadEvidence{}, err
	}
	err = forEachAmount(facts, tx, org, func(parts []any, n int) {
		counts.AddDocuments(strings.Split(parts[2].(string), ","), n)
	}, assessment, store.FactUnreadSets)
	if err != nil {
		return api.UnreadEvidence{}, err
	}
	addPassages := func(parts []any, n int) { counts.AddPassages(parts[2].(string), n) }
	err = forEachAmount(facts, tx, org, addPassages, assessment, store.FactUnreadPassages)
	if err != nil {
		return api.UnreadEvidence{}, err
	}
	read, err := languagesReadBy(tx, org, reader, counts.Evidence().UnreadLanguages)
	return counts.Evidence(read...), err
}

func fillSoACounts(out *api.AssessmentSummary, counts []store.SoAItemCount) {
	for _, c := range counts {
		out.Controls += c.N
		if !c.Applicable {
			continue
		}
		out.Applicable += c.N
		switch c.Status {
		case api.Implemented:
			out.Implemented += c.N
		case api.PartiallyImplemented:
			out.PartiallyImpl += c.N
		case api.Planned:
			out.Planned += c.N
		case api.NotImplemented:
			out.NotImplemented += c.N
		case api.NotEvidenced:
			out.NotEvidenced += c.N
		default:
			out.NotAssessed += c.N
		}
	}
}

// namePossibleDeciders describes who may decide on a pending approval, whose delegates must already be set.
func namePossibleDeciders(p *api.Approval) string {
	who := "an owner or admin"
	for _, d := range p.Delegates {
		who += fmt.Sprintf(", or %s for %s", d.Name, d.DelegatorName)
	}
	return who
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
	return out, s.db.View(ctx, func(tx *store.Tx) error {
		t, err := ReadTotals(tx, by.OrganizationID)
		if err != nil {
			return err
		}
		out.AssessmentsByState, out.FindingsBySeverity, out.OpenPOAMItems = t.AssessmentsByState, t.FindingsBySeverity, t.OpenPOAMItems
		if t.CompliancePct != nil {
			out.CompliancePct, out.ComplianceFormula = *t.CompliancePct, t.ComplianceFormula
		}
		out.Waiting, err = listWaiting(tx, by.OrganizationID)
		return err
	})
}

// listWaiting lists the pending approvals of an organization, by assessment and gate.
func listWaiting(tx *store.Tx, org string) ([]api.WaitingFor, error) {
	pending := []api.Approval{}
	for p, err := range store.Approvals.By("pending").Scan(tx, org) {
		if err != nil {
			return nil, err
		}
		if last := len(pending) - 1; last >= 0 && pending[last].AssessmentID == p.AssessmentID && pending[last].Gate == p.Gate {
			pending[last] = p // the newest approval counts
			continue
		}
		pending = append(pending, p)
	}
	if len(pending) == 0 {
		return []api.WaitingFor{}, nil
	}
	if err := addDelegates(tx, org, pending); err != nil {
		return nil, err
	}
	out := make([]api.WaitingFor, len(pending))
	for i, p := range pending {
		a, err := store.Assessments.Get(tx, org, p.AssessmentID)
		if err != nil {
			return nil, err
		}
		out[i] = api.WaitingFor{
			AssessmentID: a.ID, AssessmentName: a.Name, ApprovalID: p.ID, Gate: p.Gate, Since: p.RequestedAt, Who: namePossibleDeciders(&p),
		}
	}
	return out, nil
}
