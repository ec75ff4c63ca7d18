package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

const newFindingsMetric = "organization_new_findings"

// forEachNewFinding tells of the gaps of an assessment's newest analysis whose control had none, or
// none as severe, before. They are compared with what people approved last, else with the first
// analysis; so a gap that a draft finds anew stays new while drafts come and go, until it is
// mended or somebody approves an analysis that has it. The first analysis has nothing new.
func forEachNewFinding(tx *store.Tx, a *api.Assessment, visit func(*api.Finding)) error {
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
	was := map[string]int{} // how severe each control's worst gap was
	for f, err := range store.Findings.By("version").Scan(tx, a.OrganizationID, store.Prefix(before.ID)) {
		if err != nil {
			return err
		}
		if isOpenFinding(&f) {
			was[f.ControlCode] = max(was[f.ControlCode], severityRank(&f))
		}
	}
	for f, err := range store.Findings.By("version").Scan(tx, a.OrganizationID, store.Prefix(newest.ID)) {
		if err != nil {
			return err
		}
		if isOpenFinding(&f) && severityRank(&f) > was[f.ControlCode] {
			visit(&f)
		}
	}
	return nil
}

func isOpenFinding(f *api.Finding) bool {
	return f.Result != api.Met && f.Result != api.ResultNotApplic
}

// severityRank is how severe a gap is, from 1.
func severityRank(f *api.Finding) int {
	return len(api.Severities) - slices.Index(api.Severities, f.Severity)
}

// maxListedFindings bounds the gaps that an alert names.
const maxListedFindings = 20

// newFindingLines are the lines that an alert says of what it fires for: the new gaps, by name. labels
// are those that the rule asks for.
func newFindingLines(tx *store.Tx, org, metric string, labels map[string]string) (lines []string, err error) {
	if metric != newFindingsMetric {
		return nil, nil
	}
	more := 0
	for a, err := range store.Assessments.Scan(tx, org) {
		if err != nil {
			return nil, err
		}
		err = forEachNewFinding(tx, &a, func(f *api.Finding) {
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
