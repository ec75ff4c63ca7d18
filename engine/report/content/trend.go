package content

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/internal/prose"
)

// Trend compares the assessment with an earlier one.
type Trend struct {
	Earlier string `json:"earlier"` // name of the earlier assessment
	AsOf    string `json:"as_of"`   // its date
	// Summary is the trend in one sentence.
	Summary        string      `json:"summary"`
	CompliancePct  [2]*float64 `json:"compliance_pct"` // before and now
	Maturity       [2]*float64 `json:"maturity"`
	CriticalOrHigh [2]int      `json:"critical_or_high"`
	Improved       []Change    `json:"improved"`
	Slipped        []Change    `json:"slipped"`
	// Decided lists the changes that result from a person's decision in either assessment. They are neither improvements
	// nor setbacks.
	Decided []Change `json:"decided"`
	// Added and Removed count the controls that apply only now and those that no longer apply.
	Added   int `json:"added"`
	Removed int `json:"removed"`
	Same    int `json:"unchanged"`
}

// Change is a control whose status differs between the two assessments.
type Change struct {
	ControlCode  string `json:"control_code"`
	ControlTitle string `json:"control_title"`
	Before       string `json:"before"`
	After        string `json:"after"`
	Why          string `json:"why"`
}

// statusRank orders the statuses of applicable controls, best first.
var statusRank = map[coverageStatus]int{
	statusImplemented: 0, statusPartly: 1, statusPlanned: 2, statusNotEvidenced: 3, statusMissing: 4, statusNotAssessed: 5,
}

// newTrend compares the report with the earlier assessment, or returns nil if there is none to compare with.
func (v *Report) newTrend() *Trend {
	e := v.Earlier
	if e == nil || v.SoA == nil || e.SoA == nil {
		return nil
	}
	t := &Trend{
		Earlier: e.Assessment.Name, AsOf: wording.FormatDate(e.AsOf), Improved: []Change{}, Slipped: []Change{}, Decided: []Change{},
		CompliancePct:  [2]*float64{e.Summary.CompliancePct, v.Summary.CompliancePct},
		CriticalOrHigh: [2]int{countGrave(e.Findings), countGrave(v.Findings)},
	}
	for i, m := range []*api.MaturitySummary{e.MaturitySummary, v.MaturitySummary} {
		if m != nil {
			t.Maturity[i] = m.Overall.Mean
		}
	}
	before := map[string]*api.SoAItem{}
	for i := range e.SoAItems {
		if it := &e.SoAItems[i]; it.Applicability.IsApplicable() {
			before[it.ControlCode] = it
		}
	}
	for i := range v.SoAItems {
		now := &v.SoAItems[i]
		if !now.Applicability.IsApplicable() {
			continue
		}
		was := before[now.ControlCode]
		delete(before, now.ControlCode)
		if was == nil {
			t.Added++
			continue
		}
		a, b := controlStatus(was), controlStatus(now)
		if a == b {
			t.Same++
			continue
		}
		c := Change{
			ControlCode: now.ControlCode, ControlTitle: now.ControlTitle, Before: plainStatusName(a), After: plainStatusName(b),
			Why: v.whyChanged(was, now, statusRank[b] < statusRank[a]),
		}
		switch {
		case isStatusDecided(was) || isStatusDecided(now):
			t.Decided = append(t.Decided, c)
		case statusRank[b] < statusRank[a]:
			t.Improved = append(t.Improved, c)
		default:
			t.Slipped = append(t.Slipped, c)
		}
	}
	t.Removed = len(before)
	t.Summary = t.describe()
	return t
}

func (t *Trend) describe() string {
	counts := []string{
		prose.Count(len(t.Improved), "measure", "measures") + " improved", prose.GroupThousands(len(t.Slipped)) + " got worse",
	}
	if n := len(t.Decided); n > 0 {
		counts = append(counts, prose.GroupThousands(n)+" changed by a person's decision")
	}
	s := fmt.Sprintf("since %s (%s), %s", t.Earlier, t.AsOf, prose.JoinAnd(counts))
	if a, b := t.CompliancePct[0], t.CompliancePct[1]; a != nil && b != nil {
		change := fmt.Sprintf("changed from %s%% to %s%%", prose.Decimal(*a), prose.Decimal(*b))
		if prose.Decimal(*a) == prose.Decimal(*b) {
			change = fmt.Sprintf("remained at %s%%", prose.Decimal(*b))
		}
		s += "; the share of measures in place, with partly implemented measures counted as half, " + change
	}
	if t.Added+t.Removed > 0 {
		s += fmt.Sprintf("; %s newly in scope and %s no longer in scope",
			prose.Count(t.Added, "measure is", "measures are"), prose.GroupThousands(t.Removed))
	}
	return prose.Capitalize(s) + "."
}

// isStatusDecided reports whether a person has set the status of an item, or decided what its passages show.
func isStatusDecided(i *api.SoAItem) bool { return i.IsStatusOverruled() || i.IsCorrected() }

// whyChanged returns the reason why the status of a control changed, as far as the two assessments show it.
func (v *Report) whyChanged(before, after *api.SoAItem, improved bool) string {
	switch {
	case after.IsStatusOverruled():
		return "The status was set by a person."
	case before.IsStatusOverruled():
		return "The status was previously set by a person and now follows from the evidence."
	case after.IsCorrected():
		return "A person decided what the passages show."
	case before.IsCorrected():
		return "A person had decided what the passages show; now there is other evidence."
	}
	found, lost := "", ""
	if name := documentOfNewQuote(after.Evidence, before.Evidence, v.Documents); name != "" {
		found = "New evidence: " + name + "."
	}
	if name := documentOfNewQuote(before.Evidence, after.Evidence, v.Earlier.Documents); name != "" {
		lost = "No longer found: a passage of " + name + "."
	}
	if !improved {
		found, lost = lost, found
	}
	switch {
	case found != "" || lost != "":
		return cmp.Or(found, lost)
	case v.Catalog.ID != v.Earlier.Catalog.ID:
		return "The evidence is the same, but the catalog was changed."
	case v.SoA.Method != v.Earlier.SoA.Method:
		return "The evidence is the same, but the rules for reading it have changed."
	}
	return "The same passages were cited, but other documents of the assessment changed."
}

// documentOfNewQuote returns the name of the document with the first quote that is not among the other quotes, or "" if
// there is none. documents contains those that the quotes come from. Only the words count: a document that was merely
// saved again is no new evidence.
func documentOfNewQuote(quotes, other []api.Evidence, documents []api.Document) string {
	for i := range quotes {
		words := strings.Fields(quotes[i].Quote)
		if slices.ContainsFunc(other, func(e api.Evidence) bool { return slices.Equal(strings.Fields(e.Quote), words) }) {
			continue
		}
		at := slices.IndexFunc(documents, func(d api.Document) bool { return d.ID == quotes[i].DocumentID })
		if at >= 0 {
			return wording.OrDefault(documents[at].Title, documents[at].Filename)
		}
	}
	return ""
}

// maxChanges is the maximum number of changes that a client's report lists in each direction.
const maxChanges = 30

// trendSection describes what improved, what got worse, and the reasons.
func (v *Report) trendSection() []block.Block {
	t := v.Story().Trend
	if t == nil {
		return nil
	}
	out := []block.Block{block.NewPara("lead", t.Summary)}
	f := block.Table{Caption: "Then and now", Columns: []block.Column{
		{Name: "Figure", Width: 8}, {Name: t.Earlier, Width: 5, Number: true}, {Name: "Now", Width: 5, Number: true},
	}}
	row := func(name, a, b string) {
		f.Rows = append(f.Rows, block.Row{Cells: []block.Cell{block.Text(name), block.Text(a), block.Text(b)}})
	}
	pct := func(p *float64, unit string) string {
		if p == nil {
			return "–"
		}
		return prose.Decimal(*p) + unit
	}
	row("Measures in place, with partly implemented measures counted as half", pct(t.CompliancePct[0], "%"), pct(t.CompliancePct[1], "%"))
	row("Maturity (of 5)", pct(t.Maturity[0], ""), pct(t.Maturity[1], ""))
	row("Critical and high findings", prose.GroupThousands(t.CriticalOrHigh[0]), prose.GroupThousands(t.CriticalOrHigh[1]))
	out = append(out, f)
	for _, one := range []struct {
		title string
		all   []Change
	}{{"What improved", t.Improved}, {"What slipped", t.Slipped}, {"What a person decided", t.Decided}} {
		if one.title == "What a person decided" && len(one.all) == 0 {
			continue
		}
		tab := block.Table{Caption: one.title, Empty: "Nothing.", Columns: []block.Column{
			{Name: "Measure", Width: 9}, {Name: "Before", Width: 4}, {Name: "Now", Width: 4}, {Name: "Why", Width: 8},
		}}
		for _, c := range one.all[:min(len(one.all), maxChanges)] {
			tab.Rows = append(tab.Rows, block.Row{Cells: []block.Cell{
				v.controlCell(block.Span{Text: c.ControlCode}, c.ControlTitle),
				block.Text(c.Before), block.Text(c.After), block.UserText(c.Why),
			}})
		}
		if more := len(one.all) - maxChanges; more > 0 {
			tab.Caption += fmt.Sprintf(" (the first %d of %d)", maxChanges, len(one.all))
		}
		out = append(out, tab)
	}
	return out
}
