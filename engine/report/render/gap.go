package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
)

func (v *reportData) gapSection() []block {
	if v.Gap == nil {
		return []block{newPara("empty", "No gap analysis has been drafted yet.")}
	}
	if len(v.Findings) == 0 {
		return []block{newPara("empty", "The gap analysis has no findings: every control that was assessed is met, or excluded.")}
	}
	out := []block{
		heading{ID: v.anchors.assign("gap", "severity"), Text: "By severity and domain"},
		v.severityTable(), v.domainSeverityTable(), v.heatMapPicture(),
		heading{ID: v.anchors.assign("gap", "index"), Text: "Findings, worst first"},
	}
	met := 0
	for i := range v.Findings {
		if v.Findings[i].Result == api.Met {
			met++
		}
	}
	if met > 0 {
		out = append(
			out,
			newPara(
				"",
				fmt.Sprintf(
					"%s of the %s findings are of controls that count as implemented: they tell what would make the evidence whole, and the plan has no work for them.",
					formatCount(met),
					formatCount(len(v.Findings)),
				),
			),
		)
	}
	out = append(out, v.findingIndexTable())
	var full []block
	unseen := v.notEvidencedTable()
	for i := range v.Findings {
		if !unseen.hasRow(v.ids.findings[i]) {
			full = append(full, v.findingCard(i))
		}
	}
	if len(full) > 0 {
		out = append(append(out, heading{ID: v.anchors.assign("gap", "findings"), Text: "Findings in full"}), full...)
	}
	if n := len(unseen.Rows); n > 0 {
		out = append(
			out,
			heading{ID: v.anchors.assign("gap", "unseen"), Text: "Controls that too little was found for"},
			newPara(
				"",
				fmt.Sprintf(
					"Controls: %s. What was found of them is too little to count, which doesn't say that they aren't done. The step is the same for each: ask who owns it for evidence of what is listed; what is not done has to be put in place. Where a passage comes near, its place is named. The figure beside a severity is its points, whose sum the finding of a control tells in the program; the passages stand in the Statement of Applicability as a report of its own.",
					formatCount(n),
				),
			),
			unseen,
		)
	}
	return out
}

// notEvidencedTable are the findings on which there is little to tell but what to ask for: too little
// was found, and nobody changed or added a word.
func (v *reportData) notEvidencedTable() table {
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
		ask := proseCell("• " + strings.Join(asked, "\n• "))
		if f.Owner != nil {
			ask = ask.with(span{Text: "\nAsk: " + *f.Owner, UserText: true})
		}
		if plan := v.planItemCell(f); plan != nil {
			ask = ask.with(span{Text: "\nPlan: ", Prose: true}).with(plan...)
		}
		t.Rows = append(t.Rows, row{ID: v.ids.findings[i], Cells: []cell{
			badgeCell(string(f.Severity), displayLabel(string(f.Severity))).with(span{Text: fmt.Sprintf(" %.1f", f.SeverityPoints)}),
			v.controlCell(span{Text: f.ControlCode}, f.ControlTitle), v.requirementsCell(f.RequirementCodes),
			ask.with(nearbyPlacesCell(f.Evidence)...),
		}})
	}
	return t
}

// domainSeverityTable counts findings by domain and severity.
func (v *reportData) domainSeverityTable() table {
	t := table{
		Caption: "Findings by domain and severity",
		Columns: []column{{Name: "Domain", Width: 8}, {Name: "All", Width: 2, Number: true}},
	}
	for _, s := range api.Severities {
		t.Columns = append(t.Columns, column{Name: displayLabel(string(s)), Width: 4, Number: true})
	}
	for _, d := range v.countFindingsByDomain() {
		r := row{Cells: []cell{userCell(v.domainLabel(d.code)), numberCell(d.all)}}
		for _, n := range d.bySeverity {
			r.Cells = append(r.Cells, numberCell(n))
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

func (v *reportData) findingIndexTable() table {
	t := table{Caption: "Index of findings", Columns: []column{
		{
			Name:  "Severity",
			Width: 4,
		}, {Name: "Control", Width: 9}, {Name: "Result", Width: 4}, {Name: "Kind of gap", Width: 5}, {Name: "Owner", Width: 7}, {Name: "Due", Width: 4},
	}}
	for i := range v.Findings {
		f := &v.Findings[i]
		// Who does it by when, as the finding says itself; else as the plan does.
		owner, due := stringOrEmpty(f.Owner), dateOrEmpty(f.DueDate)
		if it := v.planByControl[f.ControlCode]; it != nil {
			owner, due = orDefault(owner, ownerName(it)), orDefault(due, string(it.DueDate))
		}
		t.Rows = append(t.Rows, row{Cells: []cell{
			badgeCell(string(f.Severity), displayLabel(string(f.Severity))), v.controlCell(v.findingLink(i), f.ControlTitle),
			plainCell(
				displayLabel(string(f.Result)),
			), plainCell(displayLabel(f.GapType)), userCell(orDefault(owner, "–")), noBreakCell(orDefault(due, "–")),
		}})
	}
	return t
}

func (v *reportData) findingCard(i int) card {
	f := &v.Findings[i]
	c := card{ID: v.ids.findings[i], Title: badgeCell(string(f.Severity), displayLabel(string(f.Severity))).with(
		span{Text: " "}, span{Text: strings.TrimSpace(orDefault(f.ControlCode, "No control") + " " + f.ControlTitle), UserText: true})}
	var d facts
	d.add(
		"Result",
		plainCell(
			displayLabel(
				string(f.Result),
			)+"; status: "+humanize(
				string(f.Status),
			)+"; gap in "+orDefault(
				humanize(f.GapType),
				"what is not stated",
			),
		),
	)
	d.add("Requirements", v.requirementsCell(f.RequirementCodes))
	d.addText("Condition", f.Condition)
	d.addText("Criteria", f.Criteria)
	d.addText("Cause", f.Cause)
	d.addText("Effect", f.Effect)
	d.addText("Recommendation", f.Recommendation)
	d.addList("Missing elements", f.MissingElements)
	d.addText("Why this severity", f.SeverityReason)
	d.addText("Owner", stringOrEmpty(f.Owner))
	if f.DueDate != nil {
		d.add("Due", plainCell(dateOrEmpty(f.DueDate)))
	}
	if plan := v.planItemCell(f); plan != nil {
		d.add("Plan", plan)
	}
	d.addText("Note", stringOrEmpty(f.Note))
	if f.Source == "manual" {
		d.add("Source", plainCell("added by a person"))
	} else {
		d.add("Confidence", plainCell(formatConfidence(f.Confidence, f.IsOverruled())))
	}
	if !f.InCatalog {
		d.add("Catalog", plainCell("the catalog has no control of this code"))
	}
	v.addEdits(&d, &f.Item)
	c.Blocks = append(c.Blocks, d)
	if len(f.Evidence) == 0 {
		c.Blocks = append(c.Blocks, newPara("empty", "No passage of evidence was found for it."))
	}
	c.Blocks = append(c.Blocks, evidenceBlocks(f.Evidence)...)
	return c
}

// maxNearbyPlaces is how many places of passages that come near a row names.
const maxNearbyPlaces = 3

// nearbyPlacesCell names where the passages stand that come near a finding, in few words.
func nearbyPlacesCell(all []api.Evidence) cell {
	var at []string
	for _, e := range all {
		p := orDefault(e.DocumentTitle, e.Filename)
		where := formatLocator(e.Locator)
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
	if n := len(at) - maxNearbyPlaces; n > 0 {
		at = append(at[:maxNearbyPlaces], fmt.Sprintf("and %d more", n))
	}
	return cell{{Text: "\nNear it: " + strings.Join(at, "; "), Prose: true}}
}
