package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
)

func (v *view) gapSection() []block {
	if v.Gap == nil {
		return []block{say("empty", "No gap analysis has been drafted yet.")}
	}
	if len(v.Findings) == 0 {
		return []block{say("empty", "The gap analysis has no findings: every control that was assessed is met, or excluded.")}
	}
	out := []block{
		heading{ID: v.anchors.add("gap", "severity"), Text: "By severity and domain"}, v.severityTable(), v.domainSeverityTable(), v.heatMap(),
		heading{ID: v.anchors.add("gap", "index"), Text: "Findings, worst first"},
	}
	met := 0
	for i := range v.Findings {
		if v.Findings[i].Result == api.Met {
			met++
		}
	}
	if met > 0 {
		out = append(out, say("", fmt.Sprintf("%s of the %s findings are of controls that count as implemented: they tell what would make the evidence whole, and the plan has no work for them.", count(met), count(len(v.Findings)))))
	}
	out = append(out, v.findingIndex())
	var full []block
	unseen := v.unseenTable()
	for i := range v.Findings {
		if !unseen.has(v.ids.findings[i]) {
			full = append(full, v.finding(i))
		}
	}
	if len(full) > 0 {
		out = append(append(out, heading{ID: v.anchors.add("gap", "findings"), Text: "Findings in full"}), full...)
	}
	if n := len(unseen.Rows); n > 0 {
		out = append(out, heading{ID: v.anchors.add("gap", "unseen"), Text: "Controls that too little was found for"},
			say("", fmt.Sprintf("Controls: %s. What was found of them is too little to count, which doesn't say that they aren't done. The step is the same for each: ask who owns it for evidence of what is listed; what is not done has to be put in place. Where a passage comes near, its place is named. The figure beside a severity is its points, whose sum the finding of a control tells in the program; the passages stand in the Statement of Applicability as a report of its own.", count(n))), unseen)
	}
	return out
}

// unseenTable are the findings on which there is little to tell but what to ask for: too little
// was found, and nobody changed or added a word.
func (v *view) unseenTable() table {
	t := table{Caption: "Not evidenced: what to ask for, worst first", Columns: []column{
		{Name: "Severity", Width: 5}, {Name: "Control", Width: 8}, {Name: "Requirements", Width: 9}, {Name: "To be shown", Width: 18},
	}}
	for i := range v.Findings {
		f := &v.Findings[i]
		if f.Result != api.ResultNoEvid || f.Source == "manual" || f.EditedBy != nil || f.Note != nil || !f.InCatalog {
			continue
		}
		asked := f.MissingElements
		if len(asked) == 0 {
			asked = []string{f.Criteria}
		}
		ask := prose("• " + strings.Join(asked, "\n• "))
		if f.Owner != nil {
			ask = ask.and(span{Text: "\nAsk: " + *f.Owner, Free: true})
		}
		if plan := v.planOf(f); plan != nil {
			ask = ask.and(span{Text: "\nPlan: ", Prose: true}).and(plan...)
		}
		t.Rows = append(t.Rows, row{ID: v.ids.findings[i], Cells: []cell{
			badge(string(f.Severity), label(string(f.Severity))).and(span{Text: fmt.Sprintf(" %.1f", f.SeverityPoints)}),
			v.controlCell(span{Text: f.ControlCode}, f.ControlTitle), v.requirements(f.RequirementCodes),
			ask.and(nearby(f.Evidence)...),
		}})
	}
	return t
}

// domainSeverityTable counts findings by domain and severity.
func (v *view) domainSeverityTable() table {
	t := table{Caption: "Findings by domain and severity", Columns: []column{{Name: "Domain", Width: 8}, {Name: "All", Width: 2, Number: true}}}
	for _, s := range api.Severities {
		t.Columns = append(t.Columns, column{Name: label(string(s)), Width: 4, Number: true})
	}
	for _, d := range v.findingsByDomain() {
		r := row{Cells: []cell{free(v.domain(d.code)), number(d.all)}}
		for _, n := range d.by {
			r.Cells = append(r.Cells, number(n))
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

func (v *view) findingIndex() table {
	t := table{Caption: "Index of findings", Columns: []column{
		{Name: "Severity", Width: 4}, {Name: "Control", Width: 9}, {Name: "Result", Width: 4}, {Name: "Kind of gap", Width: 5}, {Name: "Owner", Width: 7}, {Name: "Due", Width: 4},
	}}
	for i := range v.Findings {
		f := &v.Findings[i]
		// Who does it by when, as the finding says itself; else as the plan does.
		owner, due := text(f.Owner), date(f.DueDate)
		if it := v.plans[f.ControlCode]; it != nil {
			owner, due = or(owner, ownerOf(it)), or(due, string(it.DueDate))
		}
		t.Rows = append(t.Rows, row{Cells: []cell{
			badge(string(f.Severity), label(string(f.Severity))), v.controlCell(v.findingRef(i), f.ControlTitle),
			plain(label(string(f.Result))), plain(label(f.GapType)), free(or(owner, "–")), keep(or(due, "–")),
		}})
	}
	return t
}

func (v *view) finding(i int) card {
	f := &v.Findings[i]
	c := card{ID: v.ids.findings[i], Title: badge(string(f.Severity), label(string(f.Severity))).and(
		span{Text: " "}, span{Text: strings.TrimSpace(or(f.ControlCode, "No control") + " " + f.ControlTitle), Free: true})}
	var d facts
	d.add("Result", plain(label(string(f.Result))+"; status: "+words(string(f.Status))+"; gap in "+or(words(f.GapType), "what is not stated")))
	d.add("Requirements", v.requirements(f.RequirementCodes))
	d.addText("Condition", f.Condition)
	d.addText("Criteria", f.Criteria)
	d.addText("Cause", f.Cause)
	d.addText("Effect", f.Effect)
	d.addText("Recommendation", f.Recommendation)
	d.addList("Missing elements", f.MissingElements)
	d.addText("Why this severity", f.SeverityReason)
	d.addText("Owner", text(f.Owner))
	if f.DueDate != nil {
		d.add("Due", plain(date(f.DueDate)))
	}
	if plan := v.planOf(f); plan != nil {
		d.add("Plan", plan)
	}
	d.addText("Note", text(f.Note))
	if f.Source == "manual" {
		d.add("Source", plain("added by a person"))
	} else {
		d.add("Confidence", plain(sureness(f.Confidence, f.Overruled())))
	}
	if !f.InCatalog {
		d.add("Catalog", plain("the catalog has no control of this code"))
	}
	v.edited(&d, &f.Item)
	c.Blocks = append(c.Blocks, d)
	if len(f.Evidence) == 0 {
		c.Blocks = append(c.Blocks, say("empty", "No passage of evidence was found for it."))
	}
	c.Blocks = append(c.Blocks, evidence(f.Evidence)...)
	return c
}

// maxNearby is how many places of passages that come near a row names.
const maxNearby = 3

// nearby names where the passages stand that come near a finding, in few words.
func nearby(all []api.Evidence) cell {
	var at []string
	for _, e := range all {
		p := or(e.DocumentTitle, e.Filename)
		where := place(e.Locator)
		if n := len(e.HeadingPath); where == "" && n > 0 {
			where = "“" + e.HeadingPath[n-1] + "”"
		}
		if where != "" {
			p += " (" + where + ")"
		}
		if !slices.Contains(at, p) {
			at = append(at, p)
		}
	}
	if len(at) == 0 {
		return nil
	}
	if n := len(at) - maxNearby; n > 0 {
		at = append(at[:maxNearby], fmt.Sprintf("and %d more", n))
	}
	return cell{{Text: "\nNear it: " + strings.Join(at, "; "), Prose: true}}
}
