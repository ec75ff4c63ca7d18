package judge

import (
	"cmp"
	"slices"

	"github.com/scf-service/service/api"
)

// Changes compares the findings of two versions of a gap analysis: what was opened and
// closed, and what became worse or better, each with why. causes are what may have
// moved a finding that no person touched, in the order in which they are told: what
// differs in what the two versions were made from. The result is worst first.
func Changes(before, after []api.Finding, causes []string) []api.GapChange {
	out := []api.GapChange{}
	old, now := byControl(before), byControl(after)
	for code, f := range now {
		was, had := old[code]
		c := api.GapChange{ControlCode: code, ControlTitle: f.ControlTitle, After: state(f), Severity: f.Severity}
		switch {
		case !had:
			c.Change = api.GapOpened
		case rank(f.Severity) < rank(was.Severity) || f.Severity == was.Severity && resultRank(f.Result) > resultRank(was.Result):
			c.Change, c.Before = api.GapWorse, state(was)
		case f.Severity != was.Severity || f.Result != was.Result:
			c.Change, c.Before = api.GapBetter, state(was)
		default:
			continue
		}
		c.Why = why(f, was, causes)
		out = append(out, c)
	}
	for code, f := range old {
		if _, still := now[code]; !still {
			out = append(out, api.GapChange{ControlCode: code, ControlTitle: f.ControlTitle, Change: api.GapClosed, Before: state(f), Severity: f.Severity, Why: why(api.Finding{}, f, causes)})
		}
	}
	slices.SortFunc(out, func(a, b api.GapChange) int {
		return cmp.Or(cmp.Compare(slices.Index(api.GapChangeKinds, a.Change), slices.Index(api.GapChangeKinds, b.Change)),
			cmp.Compare(rank(a.Severity), rank(b.Severity)), compareCodes(a.ControlCode, b.ControlCode))
	})
	return out
}

// byControl keeps the worst finding of each control.
func byControl(findings []api.Finding) map[string]api.Finding {
	m := make(map[string]api.Finding)
	for _, f := range findings {
		if was, ok := m[f.ControlCode]; !ok || rank(f.Severity) < rank(was.Severity) {
			m[f.ControlCode] = f
		}
	}
	return m
}

func state(f api.Finding) string { return string(f.Severity) + ", " + words(f.Status) }

func resultRank(r api.Result) int {
	return slices.Index([]api.Result{api.Met, api.ResultNotApplic, api.PartiallyMet, api.ResultNoEvid, api.NotMet}, r)
}

func why(now, was api.Finding, causes []string) []string {
	if now.Source == "manual" || was.Source == "manual" || !slices.Equal(now.EditedFields, was.EditedFields) && len(now.EditedFields) > 0 {
		return []string{"person"}
	}
	if len(causes) == 0 {
		return []string{"person"} // nothing else differs: somebody changed the Statement of Applicability
	}
	return slices.Clone(causes)
}
