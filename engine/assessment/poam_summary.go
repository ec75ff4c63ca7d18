package assessment

import (
	"context"
	"maps"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/plan"
	"github.com/scf-service/service/store"
)

// maxPlanDays is the maximum duration of a plan of action in days, as set by several assessment schemes.
const maxPlanDays = 180

// GetPOAMSummary returns the counts and due dates of a version's items.
func (s *Service) GetPOAMSummary(ctx context.Context, by api.Caller, in *api.POAMInput) (*api.POAMSummary, error) {
	out := &api.POAMSummary{
		POAMVersionID: in.POAMVersionID, BySeverity: map[api.Severity]int{}, ByStatus: map[string]int{}, ByEffort: map[string]int{},
		ExpiredAcceptances: []string{}, BeyondHalfYear: []string{}, BurnDown: []api.BurnDown{},
	}
	today := s.today()
	err := s.db.View(ctx, func(tx *store.Tx) error {
		v, err := poamType.getVersion(tx, by.OrganizationID, in.POAMVersionID)
		if err != nil {
			return err
		}
		items, err := poamType.readItems(tx, by.OrganizationID, v.ID)
		if err != nil {
			return err
		}
		fillPOAMSummary(out, items, today)
		statement, err := soaItemsForPOAM(tx, by.OrganizationID, &v)
		out.CMMC = plan.CheckCMMCEligibility(statement, items, today)
		return err
	})
	return out, err
}

// soaItemsForPOAM returns the items of the Statement of Applicability that a plan is indirectly based
// on, or none if its gap analysis was created manually.
func soaItemsForPOAM(tx *store.Tx, org string, v *api.POAMVersion) ([]api.SoAItem, error) {
	id := v.Inputs["gap_version_id"]
	if id == "" {
		return nil, nil
	}
	g, err := gapType.getVersion(tx, org, id)
	if err != nil || g.Inputs["soa_version_id"] == "" {
		return nil, err
	}
	return soaType.readItems(tx, org, g.Inputs["soa_version_id"])
}

func fillPOAMSummary(out *api.POAMSummary, items []api.POAMItem, today api.Date) {
	var last api.Date
	if t, err := today.Time(); err == nil {
		last = api.DateOf(t.AddDate(0, 0, maxPlanDays))
	}
	due := map[api.Date]int{}
	for _, i := range items {
		out.Items++
		out.BySeverity[i.Severity]++
		out.ByStatus[i.Status]++
		out.ByEffort[i.Effort]++
		if i.Status == "completed" {
			out.Completed++
		}
		if isRiskAcceptanceExpired(&i, today) {
			out.ExpiredAcceptances = append(out.ExpiredAcceptances, i.POAMCode)
		} else if isClosedStatus(i.Status) {
			continue
		}
		out.Open++
		if isOverdue(&i, today) {
			out.Overdue++
		}
		if last != "" && i.CurrentDueDate() > last {
			out.BeyondHalfYear = append(out.BeyondHalfYear, i.POAMCode)
		}
		if day := i.CurrentDueDate(); day != "" {
			due[day]++
		}
	}
	open := out.Open
	for _, d := range slices.Sorted(maps.Keys(due)) {
		open -= due[d]
		out.BurnDown = append(out.BurnDown, api.BurnDown{Date: d, Due: due[d], Open: open})
	}
	if n := len(out.BurnDown); n > 0 {
		out.FirstDue, out.LastDue = &out.BurnDown[0].Date, &out.BurnDown[n-1].Date
	}
}
