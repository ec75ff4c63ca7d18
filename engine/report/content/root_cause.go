package content

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/internal/prose"
)

// rootCause is a type of reason why a control has a gap. Findings with the same root cause need the same type of
// action.
type rootCause struct{ title, meaning string }

// Root causes, the most harmful ones first.
const (
	causeNotInPlace = iota
	causeNotFollowed
	causeNotDone
	causeDisagreement
	causeIncomplete
	causeNotWritten
	causeNotRecorded
	causeUnknown
)

var rootCauses = []rootCause{
	causeNotInPlace: {"Not in place", "The documents state that the control is not in place. Implement it."},
	causeNotFollowed: {
		"Rules not followed",
		"A rule exists, but records show that it isn't followed or doesn't work. Find out why before writing more rules.",
	},
	causeNotDone: {
		"Decided but not done",
		"The control is planned. Meet the planned dates, or move them forward where the risk is high.",
	},
	causeDisagreement: {"Documents that disagree", "The documents contradict each other. Decide which one is correct, and fix the other."},
	causeIncomplete:   {"Begun but not complete", "The control is partly in place. Extend it to everything in scope."},
	causeNotWritten:   {"Not written down", "The documents don't cover parts of the control. Document and approve the missing rules."},
	causeNotRecorded:  {"Not recorded", "A rule exists, but nothing shows that it is followed. Keep records that prove it."},
	causeUnknown:      {"Too little evidence to judge", "Ask the owner for evidence, and implement the parts that turn out to be missing."},
}

// rootCauseIndex returns the index of a finding's root cause.
func rootCauseIndex(f *api.Finding) int {
	switch {
	case f.Status == api.NotEvidenced:
		return causeUnknown
	case f.Status == api.NotImplemented:
		return causeNotInPlace
	case f.Status == api.Planned:
		return causeNotDone
	}
	switch f.GapType {
	case "effectiveness":
		return causeNotFollowed
	case "governance":
		return causeDisagreement
	case "technical", "implementation", "contractual":
		return causeIncomplete
	case "evidence", "monitoring":
		return causeNotRecorded
	}
	return causeNotWritten
}

// rootCauseTable counts the findings and actions of each root cause.
func (v *Report) rootCauseTable() block.Table {
	t := block.Table{Caption: "Findings by root cause", Columns: []block.Column{
		{Name: "Root cause", Width: 7},
		{Name: "Findings", Width: 3, Number: true},
		{Name: "Critical or high", Width: 3, Number: true},
		{Name: "Actions", Width: 3, Number: true},
		{Name: "What it means", Width: 14},
	}}
	for n, c := range rootCauses {
		findings, grave, actions := 0, 0, map[string]bool{}
		for i := range v.Findings {
			f := &v.Findings[i]
			if rootCauseIndex(f) != n {
				continue
			}
			findings++
			if isGrave(f.Severity) {
				grave++
			}
			if it := v.planByControl[f.ControlCode]; it != nil {
				actions[it.POAMCode] = true
			}
		}
		if findings > 0 {
			t.Rows = append(t.Rows, block.Row{Cells: []block.Cell{
				{{Text: c.title, Strong: true}},
				block.Number(findings), block.Number(grave), block.Number(len(actions)),
				block.Text(c.meaning),
			}})
		}
	}
	return t
}

// findingsByCause returns cards for the findings selected by show, grouped by root cause and then by the action that
// closes them.
func (v *Report) findingsByCause(show func(i int) bool) (out []block.Block) {
	for n, c := range rootCauses {
		var groups [][]int // indexes of findings by action, worst first
		at := map[string]int{}
		for i := range v.Findings {
			f := &v.Findings[i]
			if rootCauseIndex(f) != n || !show(i) {
				continue
			}
			key := fmt.Sprint(i)
			if it := v.planByControl[f.ControlCode]; it != nil {
				key = it.POAMCode
			}
			g, seen := at[key]
			if !seen {
				g = len(groups)
				at[key] = g
				groups = append(groups, nil)
			}
			groups[g] = append(groups[g], i)
		}
		if len(groups) == 0 {
			continue
		}
		out = append(out, block.Heading{ID: v.anchors.assign("cause", c.title), Text: c.title}, block.NewPara("", c.meaning))
		for _, g := range groups {
			if len(g) > 1 {
				out = append(out, v.sharedActionNote(g))
			}
			for _, i := range g {
				out = append(out, v.findingCard(i))
			}
		}
	}
	return out
}

// sharedActionNote returns a note saying that one action closes several findings.
func (v *Report) sharedActionNote(findings []int) block.Para {
	var codes []string
	for _, i := range findings {
		if code := v.Findings[i].ControlCode; !slices.Contains(codes, code) {
			codes = append(codes, code)
		}
	}
	it := v.planByControl[v.Findings[findings[0]].ControlCode]
	closes := fmt.Sprintf("One action closes %s (%s): ", prose.Count(len(findings), "finding", "findings"), strings.Join(codes, ", "))
	return block.Para{Text: block.Cell{
		{Text: closes, Strong: true},
		v.anchors.link("plan", it.POAMCode),
		{Text: ", " + actionTitle(it) + ".", UserText: true},
	}}
}
