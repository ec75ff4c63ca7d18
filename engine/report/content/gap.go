package content

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/internal/prose"
)

func (v *Report) gapSection() []block.Block {
	if v.Gap == nil {
		return []block.Block{block.NewPara("empty", "No gap analysis has been drafted yet.")}
	}
	if len(v.Findings) == 0 {
		return []block.Block{block.NewPara("empty", "The gap analysis has no findings: every assessed control is met or excluded.")}
	}
	out := []block.Block{
		block.NewPara("lead", v.describeFindings()+v.evidenceLimits()),
		block.Heading{ID: v.anchors.assign("gap", "cause"), Text: "By root cause"},
		v.rootCauseTable(),
		block.Heading{ID: v.anchors.assign("gap", "severity"), Text: "By severity and domain"},
		v.severityTable(), v.domainSeverityTable(), v.heatMapPicture(),
		block.Heading{ID: v.anchors.assign("gap", "index"), Text: "Findings, worst first"},
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
			block.NewPara(
				"",
				fmt.Sprintf(
					"%s of the %s findings concern implemented controls. They identify missing evidence only; "+
						"no plan item was created for them.",
					prose.GroupThousands(met),
					prose.GroupThousands(len(v.Findings)),
				),
			),
		)
	}
	out = append(out, v.findingIndexTable())
	unseen := v.notEvidencedTable()
	rows := map[string]bool{}
	for _, r := range unseen.Rows {
		rows[r.ID] = true
	}
	out = append(out, v.findingsByCause(func(i int) bool { return !rows[v.ids.findings[i]] })...)
	if n := len(unseen.Rows); n > 0 {
		out = append(
			out,
			block.Heading{ID: v.anchors.assign("gap", "unseen"), Text: "Controls with too little evidence"},
			block.NewPara(
				"",
				fmt.Sprintf(
					"For %s there was too little evidence to judge, which does not mean they are not implemented. The next step is the same "+
						"for each: ask the owner for evidence of the listed points, and implement what is missing. Locations of related passages "+
						"are given; the workbook of the Statement of Applicability quotes the passages. The number next to a severity is its points.",
					prose.Count(n, "control", "controls"),
				),
			),
			unseen,
		)
	}
	return out
}

// notEvidencedTable returns a table of the findings for which only a request for evidence can be
// shown, because too little evidence was found and nobody has edited them or added a note.
func (v *Report) notEvidencedTable() block.Table {
	t := block.Table{Caption: "Not evidenced: evidence to request, worst first", Columns: []block.Column{
		{Name: "Severity", Width: 5}, {Name: "Control", Width: 8}, {Name: "Requirements", Width: 9}, {Name: "Evidence needed", Width: 18},
	}}
	for i := range v.Findings {
		f := &v.Findings[i]
		if f.Result != api.ResultNoEvid || f.Source == "manual" || f.EditedBy != nil || f.Note != nil || !f.InCatalog {
			continue
		}
		requested := f.MissingElements
		if len(requested) == 0 {
			requested = []string{f.Criteria}
		}
		ask := block.Prose("• " + strings.Join(requested, "\n• "))
		if f.Owner != nil {
			ask = ask.With(block.Span{Text: "\nAsk: " + *f.Owner, UserText: true})
		}
		if plan := v.planItemCell(f); plan != nil {
			ask = ask.With(block.Span{Text: "\nPlan: ", Prose: true}).With(plan...)
		}
		t.Rows = append(t.Rows, block.Row{ID: v.ids.findings[i], Cells: []block.Cell{
			block.Badge(string(f.Severity), wording.Label(string(f.Severity))).With(block.Span{Text: fmt.Sprintf(" %.1f", f.SeverityPoints)}),
			v.controlCell(block.Span{Text: f.ControlCode}, f.ControlTitle), v.requirementsCell(f.RequirementCodes),
			ask.With(relatedPassagesCell(f.Evidence)...),
		}})
	}
	return t
}

// domainSeverityTable returns a table with the number of findings for each domain and severity.
func (v *Report) domainSeverityTable() block.Table {
	t := block.Table{
		Caption: "Findings by domain and severity",
		Columns: []block.Column{{Name: "Domain", Width: 8}, {Name: "All", Width: 2, Number: true}},
	}
	for _, s := range api.Severities {
		t.Columns = append(t.Columns, block.Column{Name: wording.Label(string(s)), Width: 4, Number: true})
	}
	for _, d := range v.countFindingsByDomain() {
		r := block.Row{Cells: []block.Cell{block.UserText(v.domainLabel(d.code)), block.Number(d.all)}}
		for _, n := range d.bySeverity {
			r.Cells = append(r.Cells, block.Number(n))
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

func (v *Report) findingIndexTable() block.Table {
	t := block.Table{Caption: "Index of findings", Columns: []block.Column{
		{
			Name:  "Severity",
			Width: 6,
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
		owner, due := wording.OrEmpty(f.Owner), wording.OrEmpty(f.DueDate)
		if it := v.planByControl[f.ControlCode]; it != nil {
			owner, due = wording.OrDefault(owner, ownerName(it)), wording.OrDefault(due, string(it.DueDate))
		}
		t.Rows = append(t.Rows, block.Row{Cells: []block.Cell{
			block.Badge(string(f.Severity), wording.Label(string(f.Severity))), v.controlCell(v.findingLink(i), f.ControlTitle),
			block.Text(
				wording.Label(string(f.Result)),
			), block.Text(wording.Label(f.GapType)), block.UserText(wording.OrDefault(owner, "–")), block.NoBreak(wording.OrDefault(due, "–")),
		}})
	}
	return t
}

func (v *Report) findingCard(i int) block.Card {
	f := &v.Findings[i]
	c := block.Card{ID: v.ids.findings[i], Title: block.Badge(string(f.Severity), wording.Label(string(f.Severity))).With(
		block.Span{Text: " "}, block.Span{Text: strings.TrimSpace(wording.OrDefault(f.ControlCode, "No control") + " " + f.ControlTitle), UserText: true})}
	var d block.Facts
	recommendation := f.Recommendation
	if v.isForClients() && len(f.MissingElements) > 0 && f.Source != "manual" && !f.IsManual("recommendation") {
		recommendation, _, _ = strings.Cut(recommendation, " Evidence must show:") // what is missing follows
	}
	d.Add(
		"Result",
		block.Text(
			wording.Label(
				string(f.Result),
			)+"; status: "+wording.Humanize(
				string(f.Status),
			)+"; gap type: "+wording.OrDefault(wording.Humanize(f.GapType), "not specified"),
		),
	)
	d.Add("Requirements", v.requirementsCell(f.RequirementCodes))
	d.AddText("Condition", f.Condition)
	d.AddText("Criteria", f.Criteria)
	cause := f.Cause
	if f.Note != nil && *f.Note != "" {
		cause = strings.Replace(cause, "; ask them for the reason.", ". The note gives the reason.", 1)
	}
	d.AddText("Cause", cause)
	d.AddText("Effect", f.Effect)
	d.AddText("Recommendation", recommendation)
	d.AddList("Missing elements", v.missingElements(f.MissingElements))
	if !v.isForClients() {
		d.AddText("Why this severity", f.SeverityReason)
	}
	d.AddText("Owner", wording.OrEmpty(f.Owner))
	if f.DueDate != nil {
		d.Add("Due", block.Text(wording.OrEmpty(f.DueDate)))
	}
	if plan := v.planItemCell(f); plan != nil {
		d.Add("Plan", plan)
	}
	d.AddText("Note", wording.OrEmpty(f.Note))
	if f.Source == "manual" {
		d.Add("Source", block.Text("added manually"))
	} else if !v.isForClients() || f.IsStatusOverruled() {
		d.Add("Confidence", block.Text(formatConfidence(f.Confidence, f.IsStatusOverruled())))
	}
	if !f.InCatalog {
		d.Add("Catalog", block.Text("the catalog has no control with this code"))
	}
	v.addEditFact(&d, &f.Item)
	c.Blocks = append(c.Blocks, d)
	if len(f.Evidence) == 0 {
		c.Blocks = append(c.Blocks, block.NewPara("empty", "No supporting passage was found."))
	}
	quoted := decisiveFirst(f.Evidence)[:v.maxQuotes(len(f.Evidence), maxFindingQuotes)]
	c.Blocks = append(c.Blocks, v.evidenceBlocks(quoted)...)
	if more := len(f.Evidence) - len(quoted); more > 0 {
		c.Blocks = append(c.Blocks, block.NewPara("empty",
			fmt.Sprintf("%s in the workbook of the gap analysis.", prose.Count(more, "more passage is", "more passages are"))))
	}
	return c
}

// maxFindingQuotes is the maximum number of passages quoted for a finding in a report for clients.
const maxFindingQuotes = 3

// decisiveFirst returns the passages, those that show the gap first.
func decisiveFirst(all []api.Evidence) []api.Evidence {
	rank := map[string]int{"denies": 3, "conflicts": 2, "plans": 1}
	out := slices.Clone(all)
	slices.SortStableFunc(out, func(a, b api.Evidence) int { return rank[b.Stance] - rank[a.Stance] })
	return out
}

// maxNearbyPlaces is the maximum number of locations of related passages that a row lists.
const maxNearbyPlaces = 3

// relatedPassagesCell returns a cell that names the locations of related passages in short form.
func relatedPassagesCell(all []api.Evidence) block.Cell {
	var at []string
	for _, e := range all {
		p := wording.OrDefault(e.DocumentTitle, e.Filename)
		where := wording.FormatLocator(e.Locator)
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
	return block.Cell{{Text: "\nRelated: " + strings.Join(at, "; "), Prose: true}}
}
