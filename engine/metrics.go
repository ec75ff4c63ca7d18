package engine

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/scf-service/service/engine/api"
	"github.com/scf-service/service/store"
)

// ListMetrics lists the caller's organization in figures, and with them the figures
// of the process, which are of no organization.
func (e *Engine) ListMetrics(ctx context.Context, by caller, in *api.Paging, process []api.Metric) (*api.List[api.Metric], error) {
	own, err := e.organizationMetrics(ctx, by)
	if err != nil {
		return nil, err
	}
	all := append(own, process...)
	slices.SortFunc(all, func(a, b api.Metric) int { return strings.Compare(metricKey(&a), metricKey(&b)) })
	return store.PageOf(all, *in, metricKey)
}

// metricKey is a metric's name with its labels, in their order.
func metricKey(m *api.Metric) string {
	var b strings.Builder
	b.WriteString(m.Name)
	for _, l := range slices.Sorted(maps.Keys(m.Labels)) {
		b.WriteString("\x00" + l + "=" + m.Labels[l])
	}
	return b.String()
}

// organizationMetrics counts what the caller's organization has. A state that
// nothing is in is left out.
func (e *Engine) organizationMetrics(ctx context.Context, by caller) ([]api.Metric, error) {
	board, err := e.Assessments.Dashboard(ctx, by, &api.OrgInput{OrgID: by.OrganizationID})
	if err != nil {
		return nil, err
	}
	documents, findings := map[api.DocumentState]int{}, map[api.Severity]int{}
	err = e.db.View(ctx, func(tx *store.Tx) error {
		for a, err := range store.Assessments.Scan(tx, by.OrganizationID) {
			if err == nil {
				err = openFindings(tx, &a, findings)
			}
			if err != nil {
				return err
			}
		}
		for d, err := range store.Documents.Scan(tx, by.OrganizationID) {
			if err != nil {
				return err
			}
			documents[d.Status]++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := counted("organization_assessments", "state", board.AssessmentsByState)
	out = append(out, counted("organization_documents", "status", documents)...)
	out = append(out, counted("organization_open_findings", "severity", findings)...)
	out = append(out, gauge("organization_open_poam_items", float64(board.OpenPOAMItems), nil),
		gauge("organization_pending_approvals", float64(len(board.Waiting)), nil))
	return append(out, api.Metric{Name: "organization_compliance", Type: "gauge", Unit: "percent", Value: board.CompliancePct, Labels: map[string]string{}}), nil
}

// openFindings counts what an assessment's newest gap analysis found, but for what is met by now.
func openFindings(tx *store.Tx, a *api.Assessment, counts map[api.Severity]int) error {
	for v, err := range store.GapVersions.By("assessment").Scan(tx, a.OrganizationID, store.Prefix(a.ID), store.Reverse) {
		if err != nil {
			return err
		}
		for f, err := range store.Findings.By("version").Scan(tx, a.OrganizationID, store.Prefix(v.ID)) {
			if err != nil {
				return err
			}
			if f.Result != api.Met && f.Result != api.ResultNotApplic {
				counts[f.Severity]++
			}
		}
		break // the newest comes first
	}
	return nil
}

func counted[K ~string](name, label string, counts map[K]int) (out []api.Metric) {
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, gauge(name, float64(counts[k]), map[string]string{label: string(k)}))
	}
	return out
}

func gauge(name string, value float64, labels map[string]string) api.Metric {
	if labels == nil {
		labels = map[string]string{}
	}
	return api.Metric{Name: name, Type: "gauge", Unit: "count", Value: value, Labels: labels}
}
