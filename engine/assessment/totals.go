package assessment

import (
	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/store"
)

// Totals are counts over all assessments of an organization, based on the newest version of each deliverable.
type Totals struct {
	AssessmentsByState map[api.State]int
	// FindingsBySeverity counts all findings; OpenGaps counts those of which something is missing,
	// and NewGaps those open gaps that are new or worse (store.GapBaseline).
	FindingsBySeverity, OpenGaps, NewGaps map[api.Severity]int
	OpenPOAMItems                         int
	CompliancePct                         *float64
	ComplianceFormula                     string
}

// ReadTotals reads the totals of an organization. They are maintained with each change, so the time
// doesn't depend on the number of assessments.
func ReadTotals(tx *store.Tx, org string) (Totals, error) {
	out := Totals{
		AssessmentsByState: map[api.State]int{}, FindingsBySeverity: map[api.Severity]int{}, OpenGaps: map[api.Severity]int{},
		NewGaps: map[api.Severity]int{},
	}
	err := forEachAmount(store.Assessments.Tally("count_by_state"), tx, org, func(parts []any, n int) {
		out.AssessmentsByState[api.State(parts[0].(string))] = n
	})
	if err != nil {
		return out, err
	}
	sums := store.Figures.Tally("sums")
	err = forEachAmount(sums, tx, org, func(parts []any, n int) {
		severity := api.Severity(parts[2].(string))
		out.FindingsBySeverity[severity] += n
		if parts[1].(bool) {
			out.OpenGaps[severity] += n
		}
	}, store.SumFindings)
	if err != nil {
		return out, err
	}
	err = forEachAmount(sums, tx, org, func(parts []any, n int) { out.NewGaps[api.Severity(parts[1].(string))] = n }, store.SumNewFindings)
	if err != nil {
		return out, err
	}
	if out.OpenPOAMItems, err = sums.Get(tx, org, store.SumPOAMItems, true); err != nil {
		return out, err
	}
	var items []store.SoAItemCount
	err = forEachAmount(sums, tx, org, func(parts []any, n int) {
		items = append(items, store.SoAItemCount{Applicable: parts[1].(bool), Status: api.Implementation(parts[2].(string)), N: n})
	}, store.SumSoAItems)
	out.CompliancePct, out.ComplianceFormula = compliancePercent(items)
	return out, err
}

// compliancePercent returns the same as judge.CompliancePercent, computed from item counts.
func compliancePercent(counts []store.SoAItemCount) (pct *float64, formula string) {
	var assessed, full, partly int
	for _, c := range counts {
		if !c.Applicable || c.Status == api.NotAssessed || c.Status == "" {
			continue
		}
		assessed += c.N
		switch c.Status {
		case api.Implemented:
			full += c.N
		case api.PartiallyImplemented:
			partly += c.N
		}
	}
	return judge.CompliancePercentOf(assessed, full, partly)
}

// CountOverdue returns the number of plan items that ListOverdue lists.
func CountOverdue(tx *store.Tx, org string, today api.Date) (overdue int, err error) {
	sums := store.Figures.Tally("sums")
	for _, status := range api.POAMStatuses {
		if api.IsClosedPOAMStatus(status) && status != riskAccepted {
			continue
		}
		for a, err := range sums.Scan(tx, org, store.Prefix(store.SumOpenPOAMDates, status), store.Through(today)) {
			if err != nil {
				return 0, err
			}
			parts, err := a.Key.Parts()
			if err != nil {
				return 0, err
			}
			if api.Date(parts[2].(string)) < today {
				overdue += a.N
			}
		}
	}
	return overdue, nil
}

// CountDocuments counts an organization's documents by status, and the documents of open
// assessments that are older than staleBefore.
func CountDocuments(tx *store.Tx, org string, staleBefore api.Date) (byStatus map[api.DocumentState]int, stale int, err error) {
	byStatus = map[api.DocumentState]int{}
	err = forEachAmount(store.Documents.Tally("sums"), tx, org, func(parts []any, n int) {
		byStatus[api.DocumentState(parts[1].(string))] = n
	}, store.SumDocumentStates)
	if err != nil {
		return nil, 0, err
	}
	count := func(sign int) func([]any, int) {
		return func(parts []any, n int) {
			if api.Date(parts[1].(string)) < staleBefore {
				stale += sign * n
			}
		}
	}
	if err := forEachAmount(store.Documents.Tally("sums"), tx, org, count(1), store.SumDocumentDates); err != nil {
		return nil, 0, err
	}
	return byStatus, stale, forEachAmount(store.Figures.Tally("sums"), tx, org, count(-1), store.SumClosedDocuments)
}

// forEachAmount calls visit with the remaining key parts and the amount of each entry of a tally
// under a key prefix.
func forEachAmount[R any](t store.TallyView[R], tx *store.Tx, org string, visit func(parts []any, n int), prefix ...any) error {
	for a, err := range t.Scan(tx, org, store.Prefix(prefix...)) {
		if err != nil {
			return err
		}
		parts, err := a.Key.Parts()
		if err != nil {
			return err
		}
		visit(parts, a.N)
	}
	return nil
}
