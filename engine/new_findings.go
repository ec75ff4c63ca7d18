package engine

import (
	"fmt"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

const newFindingsMetric = "organization_new_findings"

// forEachNewOrWorseFinding visits the gaps in an assessment's newest analysis that are new or more severe
// than any gap the control had in the baseline (store.GapBaseline).
func forEachNewOrWorseFinding(tx *store.Tx, a *api.Assessment, visit func(*api.Finding)) error {
	newest, before, err := store.GapBaseline(tx, a)
	if err != nil || newest == "" {
		return err
	}
	was := map[string]int{} // rank of each control's worst gap
	for f, err := range store.Findings.By("version").Scan(tx, a.OrganizationID, store.Prefix(before)) {
		if err != nil {
			return err
		}
		if worst, ok := was[f.ControlCode]; f.IsGap() && (!ok || f.Severity.Rank() < worst) {
			was[f.ControlCode] = f.Severity.Rank()
		}
	}
	for f, err := range store.Findings.By("version").Scan(tx, a.OrganizationID, store.Prefix(newest)) {
		if err != nil {
			return err
		}
		if worst, ok := was[f.ControlCode]; f.IsGap() && (!ok || f.Severity.Rank() < worst) {
			visit(&f)
		}
	}
	return nil
}

// maxListedFindings is the maximum number of gaps listed in an alert.
const maxListedFindings = 20

// newFindingLines returns the lines of an alert that list the new gaps of all assessments. If the
// rule's labels include a severity, only gaps of that severity are listed. For any other metric, it
// returns nil.
func newFindingLines(tx *store.Tx, org, metric string, labels map[string]string) (lines []string, err error) {
	if metric != newFindingsMetric {
		return nil, nil
	}
	more := 0
	for figures, err := range store.Figures.Scan(tx, org) {
		if err != nil {
			return nil, err
		}
		if len(figures.NewFindings) == 0 {
			continue
		}
		a, err := store.Assessments.Get(tx, org, figures.AssessmentID)
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
