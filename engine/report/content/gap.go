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
	forms := v.findingForms()
	counts, met := map[findingForm]int{}, 0
	for i, form := range forms {
		counts[form]++
		if v.Findings[i].Result == api.Met {
			met++
		}
	}
	out := []block.Block{
		block.NewPara("lead", v.describeFindings()+v.evidenceLimits()),
		block.Heading{ID: v.anchors.assign("gap", "cause"), Text: "By root cause"},
		v.rootCauseTable(),
		block.Heading{ID: v.anchors.assign("gap", "severity"), Text: "By severity and domain"},
		v.severityTable(), v.domainSeverityTable(), v.heatMapPicture(),
		block.Heading{ID: v.anchors.assign("gap", "index"), Text: "Findings, worst first"},
	}
	if met > 0 {
		out = append(
			out,
			block.NewPara(
				"",
				fmt.Sprintf(
					"%s of the %s findings concern implemented controls. These findings only identify missing evidence; "+
						"no plan item was created for them.",
					prose.GroupThousands(met),
					prose.GroupThousands(len(v.Findings)),
				),
			),
		)
	}
	if v.isForClients() {
		out = append(out, block.NewPara("", describeFindingForms(counts)))
	}
	if !v.isForClients() || counts[inFull] > 0 {
		out = append(out, v.findingIndexTable(forms))
	}
	out = append(out, v.findingsByCause(func(i int) bool { return forms[i] == inFull })...)
	if counts[asRow] > 0 {
		out = append(out, block.Heading{ID: v.anchors.assign("gap", "further"), Text: "Further findings"}, v.furtherFindingsTable(forms))
	}
	if n := counts[asRequest]; n > 0 {
		note := fmt.Sprintf(
			"There was too little evidence to judge %s; this does not mean that they are not implemented. The next step is always "+
				"the same: ask the owner for evidence of the listed points, and implement what is missing. The locations of related "+
				"passages are listed; the Statement of Applicability workbook quotes the passages.",
			prose.Count(n, "control", "controls"),
		)
		if !v.isForClients() {
			note += " The number next to each severity is its score in points."
		}
		out = append(
			out,
			block.Heading{ID: v.anchors.assign("gap", "unseen"), Text: "Controls with too little evidence"},
			block.NewPara("", note),
			v.notEvidencedTable(forms),
		)
	}
	return out
}

// findingForm is the way in which a report shows a finding.
type findingForm int

const (
	inFull    findingForm = iota // a card with all details
	asRow                        // a row of the table of further findings
	asRequest                    // a row of the table of evidence to request
)

// maxFindingsInFull is the maximum number of findings that a report for clients shows in full, not counting those
// that a person added, edited or annotated.
const maxFindingsInFull = 60

// findingForms returns how to show each finding. If so little was found that the report can only request evidence,
// the finding is shown as a row. A report for clients shows in full the worst findings that are at least of medium
// severity and have an action of their own, and lists the others.
func (v *Report) findingForms() []findingForm {
	forms, full := make([]findingForm, len(v.Findings)), 0
	for i := range v.Findings {
		f := &v.Findings[i]
		switch it := v.planByControl[f.ControlCode]; {
		case f.Source == "manual" || f.EditedBy != nil || f.Note != nil || !f.InCatalog:
		case f.Result == api.ResultNoEvid:
			forms[i] = asRequest
		case !v.isForClients():
		case isAtLeastMedium(f.Severity) && (it == nil || it.ControlCode == f.ControlCode || isGrave(f.Severity)) && full < maxFindingsInFull:
			full++
		default:
			forms[i] = asRow
		}
	}
	return forms
}

func isAtLeastMedium(s api.Severity) bool { return s.Rank() <= api.SeverityMedium.Rank() }

// describeFindingForms says which findings a report for clients describes in full, and where to find the others.
func describeFindingForms(counts map[findingForm]int) string {
	rows := counts[asRow] + counts[asRequest]
	if rows == 0 {
		return "All findings are described in full."
	}
	s := fmt.Sprintf(
		"Described in full: %s. These are the worst findings shown by the evidence that have their own action, and all findings "+
			"that a person added, edited or annotated. The other %s are listed in the tables below",
		prose.Count(counts[inFull], "finding", "findings"), prose.GroupThousands(rows),
	)
	if a, b := counts[asRow], counts[asRequest]; a > 0 && b > 0 {
		s += fmt.Sprintf(" (%s further findings, %s with too little evidence)", prose.GroupThousands(a), prose.GroupThousands(b))
	}
	return s + ". The gap analysis workbook contains all findings in full, with all quotes."
}

// maxListedElements returns how many missing elements of a finding a row in a report for clients lists. Other
// reports list all of them.
func maxListedElements(s api.Severity) int {
	switch {
	case isGrave(s):
		return 3
	case isAtLeastMedium(s):
		return 2
	}
	return 1
}

// elementsCell returns a cell that lists what is missing for a finding.
func (v *Report) elementsCell(f *api.Finding) block.Cell {
	all := v.missingElements(f.MissingElements)
	if len(all) == 0 {
		all = []string{wording.OrDefault(f.Criteria, f.Condition)}
	}
	more := 0
	if v.isForClients() {
		n := min(len(all), maxListedElements(f.Severity))
		all, more = slices.Clone(all[:n]), len(all)-n
	}
	if len(all) == 1 && more == 0 {
		return block.Prose(all[0])
	}
	if more > 0 {
		all[len(all)-1] += fmt.Sprintf(" (and %d more)", more)
	}
	return block.Prose("• " + strings.Join(all, "\n• "))
}

// findingRow returns the first cells of a finding's row: severity, control and requirements.
func (v *Report) findingRow(i int) block.Row {
	f := &v.Findings[i]
	severity := block.Badge(string(f.Severity), wording.Label(string(f.Severity)))
	if !v.isForClients() {
		severity = severity.With(block.Span{Text: fmt.Sprintf(" %.1f", f.SeverityPoints)})
	}
	return block.Row{ID: v.ids.findings[i], Cells: []block.Cell{
		severity, v.controlCell(block.Span{Text: f.ControlCode}, f.ControlTitle), v.requirementsCell(f.RequirementCodes),
	}}
}

// rowPlanCell returns a cell with the plan item that closes a finding, its due date and its owner. If there is no
// plan item, the cell names the owner of the finding.
func (v *Report) rowPlanCell(f *api.Finding) block.Cell {
	it := v.planByControl[f.ControlCode]
	if it == nil {
		return block.UserText(wording.OrDefault(wording.OrEmpty(f.Owner), "–"))
	}
	due := wording.OrDefault(string(it.CurrentDueDate()), "no date")
	if !it.IsOpen() {
		due = wording.Humanize(it.Status)
	}
	return block.Cell{v.anchors.link("plan", it.POAMCode), {Text: ", "}, {Text: due, NoBreak: true}, {Text: ownerName(it), Prose: true}}
}

// furtherFindingsTable returns a table of the findings that the evidence supports but that are not described in
// full.
func (v *Report) furtherFindingsTable(forms []findingForm) block.Table {
	t := block.Table{Caption: "Further findings, worst first", Columns: []block.Column{
		{Name: "Severity", Width: 5},
		{Name: "Control", Width: 8},
		{Name: "Requirements", Width: 7},
		{Name: "Result", Width: 4},
		{Name: "Missing", Width: 12},
		{Name: "Plan", Width: 7},
	}}
	for i := range v.Findings {
		if forms[i] != asRow {
			continue
		}
		f, r := &v.Findings[i], v.findingRow(i)
		r.Cells = append(r.Cells, block.Text(wording.Label(string(f.Result))), v.elementsCell(f), v.rowPlanCell(f))
		t.Rows = append(t.Rows, r)
	}
	return t.WithoutEmptyColumn("Requirements")
}

// notEvidencedTable returns a table of the findings for which the report can only request evidence.
func (v *Report) notEvidencedTable(forms []findingForm) block.Table {
	t := block.Table{Caption: "Not evidenced: evidence to request, worst first", Columns: []block.Column{
		{Name: "Severity", Width: 5},
		{Name: "Control", Width: 8},
		{Name: "Requirements", Width: 7},
		{Name: "Evidence needed", Width: 14},
		{Name: "Plan", Width: 7},
	}}
	for i := range v.Findings {
		if forms[i] != asRequest {
			continue
		}
		f, r := &v.Findings[i], v.findingRow(i)
		places := maxNearbyPlaces
		if v.isForClients() {
			places = 1
		}
		r.Cells = append(r.Cells, v.elementsCell(f).With(relatedPassagesCell(f.Evidence, places)...), v.rowPlanCell(f))
		t.Rows = append(t.Rows, r)
	}
	return t.WithoutEmptyColumn("Requirements")
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

// findingIndexTable returns an index of findings. In a report for clients, it contains only the findings described
// in full, because the others are listed in tables anyway.
func (v *Report) findingIndexTable(forms []findingForm) block.Table {
	t := block.Table{Caption: "Index of findings", Columns: []block.Column{
		{Name: "Severity", Width: 5},
		{Name: "Control", Width: 9},
		{Name: "Result", Width: 5},
		{Name: "Gap type", Width: 6},
		{Name: "Owner", Width: 7},
		{Name: "Due", Width: 4},
	}}
	for i := range v.Findings {
		f := &v.Findings[i]
		if v.isForClients() && forms[i] != inFull {
			continue
		}
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
	if f.RequirementCodes.Count() > 0 {
		d.Add("Requirements", v.requirementsCell(f.RequirementCodes))
	}
	d.AddText("Condition", f.Condition)
	d.AddText("Criteria", f.Criteria)
	d.AddText("Proof", v.describeSharedProof(f))
	d.AddText("Cause", f.Cause)
	effect := f.Effect
	if v.isForClients() && f.Source != "manual" && !f.IsManual("effect") {
		effect = withoutRiskCodes(effect)
	}
	d.AddText("Effect", effect)
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
		d.Add("Catalog", block.Text("the catalog doesn't contain this control code"))
	}
	v.addEditFact(&d, &f.Item)
	c.Blocks = append(c.Blocks, d)
	if len(f.Evidence) == 0 {
		c.Blocks = append(c.Blocks, block.NewPara("empty", "No supporting passage was found."))
	}
	unquoted := f.Evidence
	if v.isForClients() {
		unquoted = quotesNotIn(f.Condition, f.Evidence)
	}
	quoted := unquoted[:v.maxQuotes(len(unquoted), maxFindingQuotes)]
	c.Blocks = append(c.Blocks, v.evidenceBlocks(quoted)...)
	if more := len(unquoted) - len(quoted); more > 0 {
		c.Blocks = append(c.Blocks, block.NewPara("empty",
			fmt.Sprintf("%s in the gap analysis workbook.", prose.Count(more, "more passage is", "more passages are"))))
	}
	return c
}

// soleProof identifies the only passage that shows the status of a finding that is planned or not implemented. It returns
// "" if there is none, or more than one.
func soleProof(f *api.Finding) string {
	stance := map[api.Implementation]string{api.Planned: "plans", api.NotImplemented: "denies"}[f.Status]
	key := ""
	for _, e := range f.Evidence {
		switch k := e.SHA256 + "\x00" + e.Quote; {
		case e.Stance != stance || k == key:
		case key != "":
			return ""
		default:
			key = k
		}
	}
	return key
}

// describeSharedProof returns a sentence that names the other findings whose status rests on the same single passage, or
// "" if there are none.
func (v *Report) describeSharedProof(f *api.Finding) string {
	if v.soleProofs == nil {
		v.soleProofs = map[string][]string{}
		for i := range v.Findings {
			if key := soleProof(&v.Findings[i]); key != "" {
				v.soleProofs[key] = append(v.soleProofs[key], v.Findings[i].ControlCode)
			}
		}
	}
	others := slices.DeleteFunc(slices.Clone(v.soleProofs[soleProof(f)]), func(code string) bool { return code == f.ControlCode })
	if len(others) == 0 {
		return ""
	}
	return fmt.Sprintf("The only passage that shows this status is also the only one for %s.", formatFirstCodes(others, 6))
}

// withoutRiskCodes returns a drafted effect without the sentence that lists the codes of risks in the catalog,
// because these codes mean nothing to a client.
func withoutRiskCodes(effect string) string {
	before, codes, found := strings.Cut(effect, " Catalog risks: ")
	if !found {
		return effect
	}
	_, after, more := strings.Cut(codes, ". ")
	if !more {
		return before
	}
	return before + " " + after
}

// maxFindingQuotes is the maximum number of passages quoted for a finding in a report for clients.
const maxFindingQuotes = 3

// quotesNotIn returns the passages that are not quoted in the text of a condition.
func quotesNotIn(condition string, all []api.Evidence) []api.Evidence {
	return slices.DeleteFunc(slices.Clone(all), func(e api.Evidence) bool {
		return strings.Contains(condition, "“"+strings.TrimRight(strings.TrimSpace(e.Quote), ".")+"”")
	})
}

// maxNearbyPlaces is the maximum number of locations of related passages that a row lists.
const maxNearbyPlaces = 3

// relatedPassagesCell returns a cell that names up to limit locations of related passages in short form.
func relatedPassagesCell(all []api.Evidence, limit int) block.Cell {
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
	if n := len(at) - limit; n > 0 {
		at = append(at[:limit], fmt.Sprintf("and %d more", n))
	}
	return block.Cell{{Text: "\nRelated: " + strings.Join(at, "; "), Prose: true}}
}
