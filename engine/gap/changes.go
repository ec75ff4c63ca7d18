package gap

import (
	"cmp"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/internal/prose"
)

// CompareFindings compares two versions of a gap analysis. It returns the findings that were opened, closed,
// worsened or improved, worst first, each with its causes. causes lists the differences between the inputs of the
// two versions, in display order. Findings edited by a user have that user as the cause instead.
func CompareFindings(before, after []api.Finding, causes []string) []api.GapChange {
	out := []api.GapChange{}
	old, now := worstByControl(before), worstByControl(after)
	for code, f := range now {
		was, had := old[code]
		c := api.GapChange{ControlCode: code, ControlTitle: f.ControlTitle, After: formatSeverityAndStatus(f), Severity: f.Severity}
		switch {
		case !had:
			c.Change = api.GapOpened
		case f.Severity.Rank() < was.Severity.Rank() || f.Severity == was.Severity && resultRank(f.Result) > resultRank(was.Result):
			c.Change, c.Before = api.GapWorse, formatSeverityAndStatus(was)
		case f.Severity != was.Severity || f.Result != was.Result:
			c.Change, c.Before = api.GapBetter, formatSeverityAndStatus(was)
		default:
			continue
		}
		c.Causes = causesOrUser(f, was, causes)
		out = append(out, c)
	}
	for code, f := range old {
		if _, still := now[code]; !still {
			out = append(
				out,
				api.GapChange{
					ControlCode:  code,
					ControlTitle: f.ControlTitle,
					Change:       api.GapClosed,
					Before:       formatSeverityAndStatus(f),
					Severity:     f.Severity,
					Causes:       causesOrUser(api.Finding{}, f, causes),
				},
			)
		}
	}
	slices.SortFunc(out, func(a, b api.GapChange) int {
		return cmp.Or(cmp.Compare(slices.Index(api.GapChangeKinds, a.Change), slices.Index(api.GapChangeKinds, b.Change)),
			cmp.Compare(a.Severity.Rank(), b.Severity.Rank()), scf.CompareNatural(a.ControlCode, b.ControlCode))
	})
	return out
}

// worstByControl returns the most severe finding of each control.
func worstByControl(findings []api.Finding) map[string]api.Finding {
	m := make(map[string]api.Finding)
	for _, f := range findings {
		if was, ok := m[f.ControlCode]; !ok || f.Severity.Rank() < was.Severity.Rank() {
			m[f.ControlCode] = f
		}
	}
	return m
}

func formatSeverityAndStatus(f api.Finding) string {
	return string(f.Severity) + ", " + prose.Humanize(f.Status)
}

func resultRank(r api.Result) int {
	return slices.Index([]api.Result{api.Met, api.ResultNotApplic, api.PartiallyMet, api.ResultNoEvid, api.NotMet}, r)
}

// causesOrUser returns the causes of a change, or "user" if a user made it.
func causesOrUser(now, before api.Finding, causes []string) []string {
	if now.Source == "manual" || before.Source == "manual" ||
		!slices.Equal(now.EditedFields, before.EditedFields) && len(now.EditedFields) > 0 {
		return []string{"user"}
	}
	if len(causes) == 0 {
		return []string{"user"} // inputs are equal, so a user changed the Statement of Applicability
	}
	return slices.Clone(causes)
}
