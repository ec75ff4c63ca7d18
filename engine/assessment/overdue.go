package assessment

import (
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// OverdueItem is a plan item that is overdue.
type OverdueItem struct {
	Assessment, Code, Control string
	Due                       api.Date
}

// ListOverdue returns the overdue items in the newest plans of an organization, oldest first. Closed
// assessments are ignored.
func ListOverdue(tx *store.Tx, org string, today api.Date) ([]OverdueItem, error) {
	var out []OverdueItem
	for a, err := range store.Assessments.Scan(tx, org) {
		if err != nil {
			return nil, err
		}
		if a.State == api.StateClosed {
			continue
		}
		v, ok, err := poamType.newestVersion(tx, org, a.ID)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		items, err := poamType.readItems(tx, org, v.ID)
		if err != nil {
			return nil, err
		}
		for _, i := range items {
			if !isOverdue(&i, today) {
				continue
			}
			due := i.CurrentDueDate()
			if isRiskAcceptanceExpired(&i, today) {
				due = *i.RiskAcceptedUntil
			}
			out = append(out, OverdueItem{Assessment: a.Name, Code: i.POAMCode, Control: i.ControlCode, Due: due})
		}
	}
	slices.SortStableFunc(out, func(a, b OverdueItem) int {
		return strings.Compare(string(a.Due)+a.Assessment+a.Code, string(b.Due)+b.Assessment+b.Code)
	})
	return out, nil
}

// DelegatesFor returns who may decide, in addition to owners and admins, on a pending approval.
func DelegatesFor(tx *store.Tx, p *api.Approval) ([]api.Delegate, error) {
	one := []api.Approval{*p}
	err := addDelegates(tx, p.OrganizationID, one)
	return one[0].Delegates, err
}
