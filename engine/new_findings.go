package engine

import (
	"fmt"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

const newFindingsMetric = "organization_new_findings"

// forEachNewOrWorseFinding visits the gaps in an assessment's newest analysis that are new or more severe
// than any gap the control had in the baseline. The baseline is the last approved analysis or, if
// none is approved, the first one. A gap therefore stays new across drafts until it is fixed or an
// analysis containing it is approved. The first analysis has no new gaps.
func forEachNewOrWorseFinding(tx *store.Tx, a *api.Assessment, visit func(*api.Finding)) error {
	if a.State == api.StateClosed {
		return nil
	}
	var newest, before *api.GapVersion
	for v, err := range store.GapVersions.By("assessment").Scan(tx, a.OrganizationID, store.Prefix(a.ID), store.Reverse) {
		if err != nil {
			return err
		}
		if newest == nil {
			newest = &v
		}
		if before = &v; v.ApprovedAt != nil {
			break
		}
	}
	if newest == nil || newest.ID == before.ID {
		return nil
	}
	was := map[string]int{} // the severity rank of each control's worst gap
	for f, err := range store.Findings.By("version").Scan(tx, a.OrganizationID, store.Prefix(before.ID)) {
		if err != nil {
			return err
		}
		if isOpenFinding(&f) {
			rank := f.Severity.Rank()
			if r, ok := was[f.ControlCode]; !ok || rank < r {
				was[f.ControlCode] = rank
			}
		}
	}
	for f, err := range store.Findings.By("version").Scan(tx, a.OrganizationID, store.Prefix(newest.ID)) {
		if err != nil {
			return err
		}
		if r, ok := was[f.ControlCode]; isOpenFinding(&f) && (!ok || f.Severity.Rank() < r) {
			visit(&f)
		}
	}
	return nil
}

func isOpenFinding(f *api.Finding) bool {
	return f.Result != api.Met && f.Result != api.ResultNotApplic
}

// maxListedFindings is the maximum number of gaps listed in an alert.
const maxListedFindings = 20

// newFindingLines returns the lines of an alert that list the new gaps of all assessments. labels are
// those of the alert rule: a severity among them selects the gaps. For any other metric, it returns nil.
func newFindingLines(tx *store.Tx, org, metric string, labels map[string]string) (lines []string, err error) {
	if metric != newFindingsMetric {
		return nil, nil
	}
	more := 0
	for a, err := range store.Assessments.Scan(tx, org) {
		if err != nil {
			return nil, err
		}
		err = forEachNewOrWorseFinding(tx, &a, func(f *api.Finding) {
			if s := labels["severity"]; s != "" && s != string(f.Severity) {
				return
			}
			if len(lines) == maxListedFindings {
				more++
				return
			}
			lines = append(lines, fmt.Sprintf("%s  %s  %s", f.ControlCode, f.Severity, strings.Join(strings.Fields(a.Name), " ")))
		})
		if err != nil {
			return nil, err
		}
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return lines, nil
}
