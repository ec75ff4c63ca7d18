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
		return []block{newPara("empty", "The gap analysis has no findings: every assessed control is met or excluded.")}
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
					"%s of the %s findings concern controls that count as implemented: they describe what would complete the evidence, "+
						"and the plan contains no work for them.",
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
		out = append(append(out, heading{ID: v.anchors.assign("gap", "findings"), Text: "Findings in detail"}), full...)
	}
	if n := len(unseen.Rows); n > 0 {
		out = append(
			out,
			heading{ID: v.anchors.assign("gap", "unseen"), Text: "Controls with too little evidence"},
			newPara(
				"",
				fmt.Sprintf(
					"Controls: %s. There is too little evidence to judge them, which does not mean they are not implemented. The step is the same "+
						"for each: ask the owner for evidence of the listed points, and implement what is missing. Locations of related passages are given. "+
						"The number next to a severity is its points; the program shows how they add up. The passages themselves are quoted "+
						"in the separate Statement of Applicability report.",
					formatCount(n),
				),
			),
			unseen,
		)
	}
	return out
}

// notEvidencedTable lists the findings that only call for evidence: too little was found, and
// nobody has edited or added text.
func (v *reportData) notEvidencedTable() table {
	t := table{Caption: "Not evidenced: evidence to request, worst first", Columns: []column{
		{Name: "Severity", Width: 5}, {Name: "Control", Width: 8}, {Name: "Requirements", Width: 9}, {Name: "Evidence needed", Width: 18},
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
		},
		{Name: "Control", Width: 9},
		{Name: "Result", Width: 4},
		{Name: "Gap type", Width: 5},
		{Name: "Owner", Width: 7},
		{Name: "Due", Width: 4},
	}}
	for i := range v.Findings {
		f := &v.Findings[i]
		// Owner and due date of the finding itself, or else of its plan item.
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
				"an unspecified area",
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
		d.add("Source", plainCell("added manually"))
	} else {
		d.add("Confidence", plainCell(formatConfidence(f.Confidence, f.IsOverruled())))
	}
	if !f.InCatalog {
		d.add("Catalog", plainCell("the catalog has no control with this code"))
	}
	v.addEdits(&d, &f.Item)
	c.Blocks = append(c.Blocks, d)
	if len(f.Evidence) == 0 {
		c.Blocks = append(c.Blocks, newPara("empty", "No supporting passage was found."))
	}
	c.Blocks = append(c.Blocks, evidenceBlocks(f.Evidence)...)
	return c
}

// maxNearbyPlaces is the maximum number of related locations in a row.
const maxNearbyPlaces = 3

// nearbyPlacesCell lists the locations of related passages in short form.
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
	return cell{{Text: "\nRelated: " + strings.Join(at, "; "), Prose: true}}
}
