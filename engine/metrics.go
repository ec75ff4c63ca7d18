package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/store"
)

// ListMetrics lists the metrics of the caller's organization and of the process, which don't belong
// to any organization.
func (e *Engine) ListMetrics(ctx context.Context, by caller, in *api.Paging, process []api.Metric) (*api.List[api.Metric], error) {
	own, err := e.organizationMetrics(ctx, by)
	if err != nil {
		return nil, err
	}
	all := append(own, process...)
	slices.SortFunc(all, func(a, b api.Metric) int { return strings.Compare(metricKey(&a), metricKey(&b)) })
	return store.PageSlice(all, *in, metricKey)
}

// metricKey returns a metric's name with its labels in a fixed order.
func metricKey(m *api.Metric) string {
	var b strings.Builder
	b.WriteString(m.Name)
	for _, l := range slices.Sorted(maps.Keys(m.Labels)) {
		b.WriteString("\x00" + l + "=" + m.Labels[l])
	}
	return b.String()
}

// organizationMetrics counts the records of the caller's organization. States without records are
// omitted.
func (e *Engine) organizationMetrics(ctx context.Context, by caller) ([]api.Metric, error) {
	var totals assessment.Totals
	var documents map[api.DocumentState]int
	var stale, failed, overdue, pending int
	today := api.DateOf(e.clock())
	err := e.db.View(ctx, func(tx *store.Tx) (err error) {
		org := by.OrganizationID
		if totals, err = assessment.ReadTotals(tx, org); err != nil {
			return err
		}
		if overdue, err = assessment.CountOverdue(tx, org, today); err != nil {
			return err
		}
		if documents, stale, err = assessment.CountDocuments(tx, org, staleEvidenceCutoff(today)); err != nil {
			return err
		}
		if failed, err = store.WorkflowRuns.Tally("sums").Get(tx, org, api.RunFailed); err != nil {
			return err
		}
		pending, err = store.Approvals.By("pending").Count(tx, org)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := newGaugesByLabel("organization_assessments", "state", totals.AssessmentsByState)
	out = append(out, newGaugesByLabel("organization_documents", "status", documents)...)
	out = append(out, newGaugesByLabel("organization_open_findings", "severity", totals.OpenGaps)...)
	out = append(out, newGaugesByLabel(newFindingsMetric, "severity", totals.NewGaps)...)
	out = append(
		out,
		newGauge("organization_open_poam_items", float64(totals.OpenPOAMItems), nil),
		newGauge(
			"organization_pending_approvals",
			float64(pending),
			nil,
		),
		newGauge("organization_overdue_poam_items", float64(overdue), nil),
		newGauge("organization_stale_documents", float64(stale), nil),
		newGauge("organization_failed_workflows", float64(failed), nil),
	)
	compliance := 0.0
	if totals.CompliancePct != nil {
		compliance = *totals.CompliancePct
	}
	return append(
		out,
		api.Metric{
			Name:   "organization_compliance",
			Type:   "gauge",
			Unit:   "percent",
			Value:  compliance,
			Labels: map[string]string{},
		},
	), nil
}

// newGaugesByLabel returns one gauge per count, with the count's key as the value of the label.
func newGaugesByLabel[K ~string](name, label string, counts map[K]int) (out []api.Metric) {
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, newGauge(name, float64(counts[k]), map[string]string{label: string(k)}))
	}
	return out
}

func newGauge(name string, value float64, labels map[string]string) api.Metric {
	if labels == nil {
		labels = map[string]string{}
	}
	return api.Metric{Name: name, Type: "gauge", Unit: "count", Value: value, Labels: labels}
}

// zeroWhenAbsent are the organization's metrics that are omitted while their value is zero.
var zeroWhenAbsent = []string{"organization_assessments", "organization_documents", "organization_open_findings", newFindingsMetric}

// staleEvidenceCutoff returns the day before which evidence is too old to rely on.
func staleEvidenceCutoff(today api.Date) api.Date {
	t, err := today.Time()
	if err != nil {
		return "" // can't happen: today is always a valid date
	}
	return api.DateOf(t.AddDate(0, 0, -judge.StaleDays))
}

// ObserveTransactions makes the store call f with the duration of each transaction that writes.
func (e *Engine) ObserveTransactions(f func(time.Duration)) { e.db.ObserveUpdates(f) }

// SetProcessMetrics sets the function that returns the process metrics of a front end, so that
// alert rules can use them.
func (e *Engine) SetProcessMetrics(figures func() ([]api.Metric, error)) {
	e.processMetrics.Store(&figures)
}

// alertMetrics returns the metrics that an organization's alert rules may watch.
func (e *Engine) alertMetrics(ctx context.Context, org string) ([]api.Metric, error) {
	all, err := e.organizationMetrics(ctx, caller{OrganizationID: org})
	if figures := e.processMetrics.Load(); figures != nil && err == nil {
		var process []api.Metric
		process, err = (*figures)()
		all = append(all, process...)
	}
	return all, err
}

// overdueItemLines returns one line per overdue item for the daily email.
func overdueItemLines(tx *store.Tx, org string, today api.Date) ([]string, error) {
	late, err := assessment.ListOverdue(tx, org, today)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(late))
	for i, o := range late {
		out[i] = fmt.Sprintf("%s  %s  %s  due %s", o.Code, o.Control, strings.Join(strings.Fields(o.Assessment), " "), o.Due)
	}
	return out, nil
}
