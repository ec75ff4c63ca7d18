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

// answerBlocks returns the first page of a client's report: the answer, the key figures, and the
// decision to be made.
func (v *Report) answerBlocks() []block.Block {
	s := v.Story()
	out := []block.Block{block.Para{Class: "headline", Text: block.Cell{{Text: s.Headline + ".", Strong: true}}}}
	for _, sentence := range s.Answer {
		out = append(out, block.Para{Class: "lead", Text: block.UserText(sentence)})
	}
	out = append(out, v.answerTiles())
	if t := s.Trend; t != nil {
		out = append(out, labeledPara("lead", "Trend:", t.Summary))
	}
	out = append(out, labeledPara("decision", "Decision asked for:", s.Decision))
	if s.Posture.Applicable > 0 {
		out = append(out, v.postureTable())
	}
	if names := v.approvedByPeople(); len(names) > 0 {
		out = append(out, block.NewPara("empty", "Approved: "+strings.Join(names, "; ")+"."))
	}
	if names := v.approvedInAdvance(); len(names) > 0 {
		out = append(out, block.NewPara("empty", "Approved in advance, before anyone had seen the content: "+prose.JoinAnd(names)+"."))
	}
	return out
}

// labeledPara returns a paragraph that begins with a label in bold.
func labeledPara(class, label, text string) block.Para {
	return block.Para{Class: class, Text: block.Cell{{Text: label, Strong: true}, {Text: " " + text, UserText: true}}}
}

// approvedByPeople returns the deliverables that a person approved after they were drafted, each
// with the approver and the date.
func (v *Report) approvedByPeople() (out []string) {
	for _, g := range v.Template.Gates {
		if st := v.approvalStatus(g); st.approved && !st.wasGivenInAdvance() {
			s := plainDeliverableName(g)
			if by := v.approverName(st); by != "" {
				s += " by " + by
			}
			if on := wording.ISODateOrEmpty(approvedAt(st)); on != "" {
				s += " on " + on
			}
			out = append(out, s)
		}
	}
	return out
}

// approvedInAdvance returns the names of the deliverables whose approval was given in advance.
func (v *Report) approvedInAdvance() (names []string) {
	for _, g := range v.Template.Gates {
		if v.approvalStatus(g).wasGivenInAdvance() {
			names = append(names, plainDeliverableName(g))
		}
	}
	return names
}

// plainDeliverableName returns the name of a deliverable in terms that a board understands.
func plainDeliverableName(g api.Gate) string {
	if g == api.GatePOAM {
		return "plan of action"
	}
	return g.Title()
}

// answerTiles returns the key figures for the first page.
func (v *Report) answerTiles() block.Facts {
	s := v.Story()
	p := s.Posture
	f := block.Facts{Tiles: true}
	f.Add("Overall", block.Text(prose.Capitalize(p.Rating)))
	if p.Applicable > 0 {
		label := "In place"
		if p.Partially > 0 {
			label += fmt.Sprintf("; a further %s partly", wording.FormatPercent(p.Partially, p.Applicable))
		}
		f.Add(label, block.Text(wording.FormatPercent(p.Implemented, p.Applicable)))
	}
	if p.Maturity != nil {
		label := "Maturity (of 5)"
		if p.Target != nil {
			label = "Maturity; target " + prose.Decimal(*p.Target)
		}
		if p.Rating == "unproven" {
			label += fmt.Sprintf("; only %s of %s rated",
				prose.GroupThousands(v.MaturitySummary.Overall.Assessed), prose.GroupThousands(v.MaturitySummary.Overall.Controls))
		}
		f.Add(label, block.Text(prose.Decimal(*p.Maturity)))
	}
	if v.Gap != nil {
		f.Add(fmt.Sprintf("Critical and high findings; %s shown by evidence", prose.GroupThousands(p.shownGrave)),
			block.Number(p.Critical+p.High))
	}
	if v.POAM != nil {
		f.Add("Open actions", block.Number(v.countOpenActions()))
	}
	return f
}

// postureTable returns a table with a single bar, which shows the status of all applicable controls.
func (v *Report) postureTable() block.Table {
	p := v.Story().Posture
	t := block.Table{
		Caption: fmt.Sprintf("Status of the %s in scope, based on the evidence", prose.Count(p.Applicable, "measure", "measures")),
		Columns: []block.Column{
			{Name: "Status", Width: 5},
			{Name: "Measures", Width: 3, Number: true},
			{Name: "Share", Width: 2, Number: true},
			{Name: "Chart", Width: 9, Picture: true},
		},
	}
	rest := p.Applicable - p.Implemented - p.Partially - p.Planned - p.NotImplemented - p.NotEvidenced
	for _, r := range []struct {
		status coverageStatus
		name   string
		n      int
	}{
		{statusImplemented, "In place", p.Implemented},
		{statusPartly, "Partly in place", p.Partially},
		{statusPlanned, "Planned", p.Planned},
		{statusMissing, "Not in place", p.NotImplemented},
		{statusNotEvidenced, "Too little evidence to judge", p.NotEvidenced},
		{statusNotAssessed, "Not assessed", rest},
	} {
		if r.n == 0 {
			continue
		}
		t.Rows = append(t.Rows, block.Row{Cells: []block.Cell{
			block.Text(r.name), block.Number(r.n), block.Text(wording.FormatPercent(r.n, p.Applicable)),
			{{Bar: &block.Bar{
				Label: fmt.Sprintf("%s: %d", r.name, r.n), Parts: []block.BarPart{{Fill: string(r.status), Value: float64(r.n)}},
				Max: float64(p.Applicable), Mark: -1,
			}}},
		}})
	}
	return t
}

// briefSection returns the second page of an executive summary: the key risks with their first steps, and the plan by
// quarter.
func (v *Report) briefSection() []block.Block {
	s := v.Story()
	t := block.Table{
		Caption: v.riskTableCaption(), Empty: v.explainNoRisks(),
		Columns: []block.Column{
			{Name: "Risk", Width: 6},
			{Name: "Worst", Width: 4},
			{Name: "Findings", Width: 4, Number: true},
			{Name: "What may happen", Width: 10},
			{Name: "Main action", Width: 10},
			{Name: "Due", Width: 5},
		},
	}
	for _, r := range s.Risks {
		t.Rows = append(t.Rows, block.Row{Cells: []block.Cell{
			{{Text: r.Title, Strong: true}},
			block.Badge(string(r.Severity), wording.Label(string(r.Severity))), block.Number(len(r.Controls)),
			block.Text(prose.Capitalize(r.Event) + "."), block.UserText(prose.Truncate(wording.OrDefault(r.firstAction, "–"), maxBriefAction)),
			block.NoBreak(wording.OrDefault(string(r.StepDue), "–")),
		}})
	}
	out := []block.Block{t}
	if len(s.Roadmap) > 0 {
		out = append(out, v.roadmapTable())
	}
	left := []string{"the method"}
	if v.POAM != nil {
		left = append([]string{fmt.Sprintf("the %s of the plan", prose.Count(len(v.POAMItems), "action", "actions"))}, left...)
	}
	if v.Gap != nil {
		left = append([]string{fmt.Sprintf("the %s", prose.Count(len(v.Findings), "finding", "findings"))}, left...)
	}
	where := "them"
	if len(left) == 1 {
		where = "it"
	}
	return append(out, block.NewPara("", fmt.Sprintf("Not shown here: %s. See the client report for %s.", prose.JoinAnd(left), where)),
		block.NewPara("empty", v.versionsSentence()))
}

// maxBriefAction is the maximum length, in characters, of an action in a two-page report.
const maxBriefAction = 110

// risksSection describes the key risks: cause, event and consequence, and what to do first.
func (v *Report) risksSection() []block.Block {
	s := v.Story()
	if len(s.Risks) == 0 {
		return []block.Block{block.NewPara("empty", v.explainNoRisks())}
	}
	findings := 0
	for _, r := range s.Risks {
		findings += r.Shown + r.Unknown
	}
	smaller, last := "", " Gaps shown by the evidence weigh more than gaps where evidence is merely missing."
	if len(s.Risks) == 1 && s.Risks[0].Shown == 0 {
		last = " There is too little evidence to confirm any of these findings."
	}
	if n := len(s.MinorRisks); n > 0 {
		smaller = fmt.Sprintf(" and %s", prose.Count(n, "smaller one", "smaller ones"))
	}
	if n := len(s.Risks); n > 1 && s.Risks[n-1].ID == unprovenRisk {
		last = strings.TrimSuffix(last, ".") + ", so missing evidence comes last."
	} else if n > 1 && s.Risks[0].ID == unprovenRisk {
		last = " Most measures could not be judged, so missing evidence comes first; what the evidence shows follows, worst first."
	}
	out := []block.Block{
		block.NewPara("", fmt.Sprintf("The gap analysis has %s requiring action, leading to %s%s.%s",
			prose.Count(findings+s.minorFindings, "finding", "findings"), prose.Count(len(s.Risks), "key risk", "key risks"), smaller, last)),
		v.riskTable(),
	}
	for i := range s.Risks {
		out = append(out, v.riskCard(&s.Risks[i]))
	}
	var left []string
	if n := len(s.MinorRisks); n > 0 {
		left = append(left, fmt.Sprintf("%s (%s; %s)", prose.Count(n, "smaller risk", "smaller risks"),
			strings.Join(s.MinorRisks, ", "), prose.Count(s.minorFindings, "finding", "findings")))
	}
	if n := len(v.Findings) - findings - s.minorFindings; n > 0 {
		left = append(left, prose.Count(n, "finding that needs", "findings that need")+" only better records")
	}
	left = append(left, fmt.Sprintf("the details of all %s", prose.Count(len(v.Findings), "finding", "findings")))
	if len(v.Findings) == 1 {
		left[len(left)-1] = "the details of the finding"
	}
	return append(out, block.NewPara("", fmt.Sprintf("Not shown here: %s. See %s.",
		prose.JoinAnd(left), s.appendixName(TemplateGapAnalysis))))
}

// riskTableCaption returns the caption of a table of the key risks, which states their order.
func (v *Report) riskTableCaption() string {
	if all := v.Story().Risks; len(all) > 1 && all[0].ID == unprovenRisk {
		return "Key risks: first what could not be judged, then the others, worst first"
	}
	return "Key risks, worst first"
}

// riskTable returns a table of the key risks, with one row for each.
func (v *Report) riskTable() block.Table {
	t := block.Table{Caption: v.riskTableCaption(), Columns: []block.Column{
		{Name: "No.", Width: 2, Number: true},
		{Name: "Risk", Width: 8},
		{Name: "Worst finding", Width: 4},
		{Name: "Shown by evidence", Width: 4, Number: true},
		{Name: "No evidence", Width: 3, Number: true},
		{Name: "Actions", Width: 3, Number: true},
		{Name: "First result due", Width: 4},
	}}
	for _, r := range v.Story().Risks {
		t.Rows = append(t.Rows, block.Row{Cells: []block.Cell{
			block.Number(r.Number),
			{{Text: r.Title, Strong: true}},
			block.Badge(string(r.Severity), wording.Label(string(r.Severity))),
			block.Number(r.Shown), block.Number(r.Unknown), block.Number(r.Actions),
			block.NoBreak(wording.OrDefault(string(r.FirstDue), "–")),
		}})
	}
	return t
}

func (v *Report) riskCard(r *KeyRisk) block.Card {
	c := block.Card{
		ID: v.anchors.assign("risk", r.ID),
		Title: block.Badge(string(r.Severity), wording.Label(string(r.Severity))).With(
			block.Span{Text: fmt.Sprintf(" %d. %s", r.Number, r.Title)}),
	}
	var f block.Facts
	f.AddText("Cause", prose.Capitalize(r.Cause)+".")
	f.AddText("Event", prose.Capitalize(r.Event)+".")
	f.AddText("Consequence", prose.Capitalize(r.Consequence)+".")
	f.AddList("Risks that can't be ruled out", r.Includes)
	for _, e := range r.Evidence {
		f.Add("Evidence", block.Prose("“"+prose.Truncate(strings.Join(strings.Fields(e.Quote), " "), 220)+"”").With(
			block.Span{Text: " " + citation(e), UserText: true}))
	}
	if r.Actions > 0 {
		f.AddText("Main action", describeStep(r.FirstStep, r.Owner, r.StepDue))
		f.AddText("Why this date", r.dateReason)
		if r.Proof != "" {
			f.AddText("Proof of success", r.Proof+".")
		}
		if r.Actions > 1 {
			f.AddText("All actions", fmt.Sprintf("%s; results are due from %s to %s.", prose.Count(r.Actions, "action", "actions"),
				wording.OrDefault(string(r.FirstDue), "an open date"), wording.OrDefault(string(r.LastDue), "an open date")))
		}
	}
	f.AddText("Behind it", fmt.Sprintf("%s: %s", prose.Count(len(r.Controls), "finding", "findings"), formatFirstCodes(r.Controls, 12)))
	c.Blocks = append(c.Blocks, f)
	return c
}

// describeStep describes a step with its owner and due date.
func describeStep(step, owner string, due api.Date) string {
	return fmt.Sprintf("%s. Owner: %s. Due: %s.", step, owner, wording.OrDefault(string(due), "no date"))
}

// citation returns the document that contains a passage and the place in it, in parentheses.
func citation(e api.Evidence) string {
	s := wording.OrDefault(e.DocumentTitle, e.Filename)
	if at := wording.FormatLocator(e.Locator); at != "" {
		s += ", " + at
	}
	return "(" + s + ")"
}

// formatFirstCodes lists the first n codes, followed by the number of others.
func formatFirstCodes(codes []string, n int) string {
	return strings.Join(codes[:min(n, len(codes))], ", ") + formatMore(len(codes)-n)
}

// postureSection shows the status of the controls by domain as a heat map, and the maturity
// compared with the target.
func (v *Report) postureSection() []block.Block {
	s := v.Story()
	if v.SoA == nil || len(s.Domains) == 0 {
		return []block.Block{block.NewPara("empty", "No Statement of Applicability has been drafted yet, so nothing can be shown yet.")}
	}
	order := "starting with the domain with the smallest share of measures in place"
	if s.Weakest != "" {
		order = fmt.Sprintf("weakest first; domains with fewer than %d measures, or with too little evidence for most of them, are last",
			minComparedControls)
	}
	out := []block.Block{
		block.Heading{ID: v.anchors.assign("posture", "heat"), Text: "By domain"},
		block.NewPara("", "Each row is a domain, "+order+". "+
			"Each cell shows a number of measures; the darker the cell, the larger their share of the domain."),
		v.statusHeatMap(),
	}
	if m := v.MaturitySummary; m != nil && m.Overall.Mean != nil {
		out = append(out, block.Heading{ID: v.anchors.assign("posture", "maturity"), Text: "Maturity against the target"})
		out = append(out, block.NewPara("", v.describeMaturityOf("measure", "measures")+v.describeRadar(radarDomains(m.Domains))))
		if r, ok := radarChart(m.Domains); ok {
			r.Title = v.maturityMessage(radarDomains(m.Domains))
			out = append(out, r)
		}
		out = append(out, v.maturityGapTable())
	}
	return out
}

// maturityMessage returns the title of a radar chart of the given domains. The title sums up what the chart shows.
func (v *Report) maturityMessage(shown []api.DomainMaturity) string {
	m := v.MaturitySummary.Overall
	if len(shown) == 0 {
		return fmt.Sprintf("Maturity could be rated for only %s of %s",
			prose.GroupThousands(m.Assessed), prose.Count(m.Controls, "measure", "measures"))
	}
	s := fmt.Sprintf("Maturity is %s of 5", prose.Decimal(*m.Mean))
	if m.TargetMean != nil {
		s += ", target " + prose.Decimal(*m.TargetMean)
	}
	if far := maturityGaps(shown); len(far) > 0 {
		s += "; furthest from it: " + wording.OrDefault(far[0].DomainName, far[0].DomainCode)
	}
	return s
}

// describeRadar returns a sentence that says which domains the radar chart leaves out, or "" if it shows all.
func (v *Report) describeRadar(shown []api.DomainMaturity) string {
	all := v.MaturitySummary.Domains
	if n := len(weakestDomains(all, len(all))); len(shown) > 0 && n > len(shown) {
		return fmt.Sprintf(" The chart shows the %d largest of the %d rated domains.", len(shown), n)
	}
	return ""
}

// maturityGaps returns the domains below their target, largest gap first.
func maturityGaps(domains []api.DomainMaturity) (out []api.DomainMaturity) {
	for _, d := range domains {
		if d.Mean != nil && d.TargetMean != nil && *d.Mean < *d.TargetMean {
			out = append(out, d)
		}
	}
	slices.SortStableFunc(out, func(a, b api.DomainMaturity) int {
		return cmp.Compare(*b.TargetMean-*b.Mean, *a.TargetMean-*a.Mean)
	})
	return out
}

// maxMaturityGaps is the maximum number of domains in the table of maturity gaps in a client's report.
const maxMaturityGaps = 15

// maturityGapTable returns a table of the domains that are furthest below their target.
func (v *Report) maturityGapTable() block.Table {
	gaps := maturityGaps(v.MaturitySummary.Domains)
	t := block.Table{
		Caption: "Domains furthest from their target", Empty: "Every rated domain reaches its target.",
		Columns: []block.Column{
			{Name: "Domain", Width: 8},
			{Name: "Level", Width: 3, Number: true},
			{Name: "Target", Width: 3, Number: true},
			{Name: "Gap", Width: 3, Number: true},
			{Name: "0 to 5", Width: 8, Picture: true},
		},
	}
	for _, d := range gaps[:min(len(gaps), maxMaturityGaps)] {
		name := wording.OrDefault(d.DomainName, v.domainLabel(d.DomainCode))
		row := domainMaturityRow(d, name)
		t.Rows = append(t.Rows, block.Row{Cells: []block.Cell{
			block.UserText(name), block.Text(prose.Decimal(*d.Mean)), block.Text(prose.Decimal(*d.TargetMean)),
			block.Text(prose.Decimal(*d.TargetMean - *d.Mean)), row.Cells[len(row.Cells)-1],
		}})
	}
	if more := len(gaps) - maxMaturityGaps; more > 0 {
		t.Caption += fmt.Sprintf("; %d more in %s", more, v.Story().appendixName(TemplateMaturity))
	}
	return t
}

// profilesSection describes each domain in a few lines.
func (v *Report) profilesSection() []block.Block {
	s := v.Story()
	if len(s.Domains) == 0 {
		return []block.Block{block.NewPara("empty", "Nothing has been assessed yet.")}
	}
	var out []block.Block
	silent := block.Table{Caption: "Domains without enough evidence to judge any measure", Columns: []block.Column{
		{Name: "Domain", Width: 7},
		{Name: "Measures", Width: 3, Number: true},
		{Name: "First action", Width: 11},
		{Name: "Owner", Width: 8},
		{Name: "Due", Width: 4},
	}}
	for i := range s.Domains[:min(len(s.Domains), maxProfiles)] {
		d := &s.Domains[i]
		if d.Counts[statusNotEvidenced] < d.Applicable {
			out = append(out, v.profileCard(d))
			continue
		}
		r := block.Row{Cells: []block.Cell{block.UserText(d.Name), block.Number(d.Applicable), block.Text("–"), block.Text("–"), block.Text("–")}}
		if a := d.NextAction; a != nil {
			r.Cells[2], r.Cells[3] = block.UserText(a.Title+" ("+a.Code+")"), block.UserText(a.Owner)
			r.Cells[4] = block.NoBreak(wording.OrDefault(string(a.Due), "no date"))
		}
		silent.Rows = append(silent.Rows, r)
	}
	if len(silent.Rows) > 0 {
		out = append(out, silent)
	}
	if more := len(s.Domains) - maxProfiles; more > 0 {
		out = append(out, block.NewPara("", fmt.Sprintf("Not shown here: %s. See %s for all of their measures.",
			prose.Count(more, "domain", "domains"), s.appendixName(TemplateSoA))))
	}
	return out
}

func (v *Report) profileCard(d *DomainProfile) block.Card {
	c := block.Card{ID: v.anchors.assign("domain", d.Code), Title: block.Cell{{Text: d.Name, UserText: true}}}
	counts := []string{}
	for _, o := range coverageStatuses {
		if n := d.Counts[o]; n > 0 && o != statusExcluded {
			counts = append(counts, fmt.Sprintf("%s %s", prose.GroupThousands(n), strings.ToLower(plainStatusName(o))))
		}
	}
	var f block.Facts
	line := fmt.Sprintf("%s: %s.", prose.Count(d.Applicable, "measure applies", "measures apply"), strings.Join(counts, ", "))
	if d.Maturity != nil {
		line += fmt.Sprintf(" Maturity %s", prose.Decimal(*d.Maturity))
		if d.Target != nil {
			line += ", target " + prose.Decimal(*d.Target)
		}
		line += "."
	}
	f.AddText("Where it stands", line)
	if n := d.Counts[statusImplemented]; n > 0 {
		f.AddText("In place", quoteFirstNames(d.InPlace, 3)+formatMore(n-len(d.InPlace)))
	}
	if len(d.Missing) > 0 {
		f.AddText("To do", quoteFirstNames(d.Missing, 3))
	}
	if a := d.NextAction; a != nil {
		f.AddText("Next", describeStep(a.Title+" ("+a.Code+")", a.Owner, a.Due))
	}
	c.Blocks = []block.Block{f}
	return c
}

// plainStatusName returns the name of a status for readers who don't know the method.
func plainStatusName(o coverageStatus) string {
	switch o {
	case statusImplemented:
		return "In place"
	case statusPartly:
		return "Partly in place"
	case statusMissing:
		return "Not in place"
	case statusNotEvidenced:
		return "Without enough evidence"
	}
	return o.displayName()
}

// maxOpenRequirements is the maximum number of requirements without full evidence that a client's
// report lists for each framework.
const maxOpenRequirements = 20

// standardsSection shows, for each framework, how many requirements are met, and lists the requirements that are
// furthest from being met. If there are no frameworks, it is empty.
func (v *Report) standardsSection() []block.Block {
	if len(v.coverage) == 0 {
		return nil
	}
	out := []block.Block{v.standardsTable()}
	if v.SoA == nil {
		return out
	}
	out = append(out, v.uncoveredNote("measure")...)
	for i := range v.coverage[:min(len(v.coverage), 5)] {
		fc := &v.coverage[i]
		name := wording.OrDefault(fc.framework.Name, fc.framework.Code)
		var open []requirementCoverage
		for _, o := range []coverageStatus{statusMissing, statusPlanned, statusPartly, statusNotEvidenced} {
			for _, r := range fc.requirements {
				if r.status == o {
					open = append(open, r)
				}
			}
		}
		if len(open) == 0 {
			continue
		}
		t := block.Table{
			Caption: fmt.Sprintf("%s: requirements that need work, worst first", name),
			Columns: []block.Column{{Name: "Requirement", Width: 9}, {Name: "Status", Width: 5}, {Name: "Measures", Width: 7}},
		}
		for _, r := range open[:min(len(open), maxOpenRequirements)] {
			var codes []string
			for _, it := range r.items {
				if it.Applicability.IsApplicable() && it.ImplementationStatus != api.Implemented {
					codes = append(codes, it.ControlCode)
				}
			}
			t.Rows = append(t.Rows, block.Row{Cells: []block.Cell{
				requirementCell(r), block.Badge(string(r.status), plainStatusName(r.status)), block.Text(formatFirstCodes(codes, 6)),
			}})
		}
		out = append(out, block.Heading{ID: v.anchors.assign("standard", fc.framework.Code), Text: name}, t)
		if more := len(open) - maxOpenRequirements; more > 0 {
			out = append(out, block.NewPara("", fmt.Sprintf("Not shown here: %s of %s. See %s for the complete list.",
				prose.Count(more, "further requirement", "further requirements"), name, v.Story().appendixName(TemplateSoA))))
		}
	}
	return out
}

// roadmapSection shows the plan by quarter, with effort and owners.
func (v *Report) roadmapSection() []block.Block {
	s := v.Story()
	if v.POAM == nil {
		return []block.Block{block.NewPara("empty", "No plan of action has been drafted yet.")}
	}
	if len(s.Roadmap) == 0 {
		return []block.Block{block.NewPara("empty", "The plan has no open actions.")}
	}
	out := []block.Block{
		block.NewPara("", fmt.Sprintf("%s open, with an estimated effort of %s. %s",
			prose.Count(v.countOpenActions(), "action remains", "actions remain"), s.Effort, effortAssumption)),
		v.roadmapPicture(),
		v.roadmapTable(),
	}
	for i := range s.Roadmap {
		q := &s.Roadmap[i]
		out = append(out, block.Heading{ID: v.anchors.assign("quarter", q.Name), Text: q.Name}, v.quarterTable(q))
		if q.More > 0 {
			out = append(out, block.NewPara("", fmt.Sprintf("Not shown here: %s due in %s. See %s for the complete list.",
				prose.Count(q.More, "further action", "further actions"), q.Name, s.appendixName(TemplatePOAM))))
		}
	}
	return out
}

func (v *Report) roadmapTable() block.Table {
	t := block.Table{Caption: "The plan by quarter", Columns: []block.Column{
		{Name: "Due in", Width: 5}, {Name: "Actions", Width: 3, Number: true}, {Name: "Effort", Width: 6},
	}}
	for _, s := range api.Severities[:4] {
		t.Columns = append(t.Columns, block.Column{Name: wording.Label(string(s)), Width: 3, Number: true})
	}
	for _, q := range v.Story().Roadmap {
		r := block.Row{Cells: []block.Cell{{{Text: q.Name, Strong: true}}, block.Number(q.Items), block.Text(q.Effort.String())}}
		for _, s := range api.Severities[:4] {
			r.Cells = append(r.Cells, block.Number(q.BySeverity[s]))
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

func (v *Report) quarterTable(q *Quarter) block.Table {
	t := block.Table{
		Caption: fmt.Sprintf("%s: %s, %s", q.Name, prose.Count(q.Items, "action", "actions"), q.Effort),
		Columns: []block.Column{
			{Name: "Due", Width: 4},
			{Name: "Action", Width: 12},
			{Name: "Severity", Width: 3},
			{Name: "Closes", Width: 3, Number: true},
			{Name: "Effort", Width: 4},
			{Name: "Owner", Width: 9},
		},
	}
	for _, a := range q.Actions {
		t.Rows = append(t.Rows, block.Row{Cells: []block.Cell{
			block.NoBreak(wording.OrDefault(string(a.Due), "no date")),
			block.UserText(a.Title).With(block.Span{Text: " (" + a.Code + ")"}),
			block.Badge(string(a.Severity), wording.Label(string(a.Severity))), block.Number(a.Controls),
			block.Text(wording.Label(a.Effort)), block.UserText(a.Owner),
		}})
	}
	return t
}

// methodSection describes the method and its limits in half a page.
func (v *Report) methodSection() []block.Block {
	out := []block.Block{
		block.NewPara("", fmt.Sprintf(
			"The assessment compares the documents provided with what an assessor looks for in each measure (control) of %s. "+
				"A measure counts as in place only if passages of valid documents show it; "+
				"a draft, a plan or an outdated text does not suffice. Every verdict quotes its passages.", v.CatalogName())),
		block.NewPara("", postureRule+v.describeScore()),
	}
	var l block.List
	add := func(s string) { l.Items = append(l.Items, block.UserText(s)) }
	for _, note := range v.modelReaderNotes() {
		add(note)
	}
	if note := v.reviewNote(); note != "" {
		add(note)
	}
	add("Documents describe what should be done; practice may differ. Records of practice take precedence over documents.")
	add("“Too little evidence” does not mean that a measure is missing.")
	add("Severity combines the weight of the measure, the share of it that is missing, and the number of requirements " +
		"that depend on it. Costs are not estimated.")
	if v.Catalog.IsStarter {
		add(StarterNotice)
	}
	return append(out, l)
}

// reviewNote returns a sentence that says how many verdicts people reviewed, or "" if they reviewed none.
func (v *Report) reviewNote() string {
	all := len(v.SoAItems)
	if v.SoA == nil || all == 0 {
		return ""
	}
	reviewed := all - v.SoA.LinesNotReviewed
	if reviewed == 0 {
		return fmt.Sprintf("None of the %s have been reviewed by a person.", prose.Count(all, "verdict", "verdicts"))
	}
	return fmt.Sprintf("A person reviewed %s of %s.", prose.GroupThousands(reviewed), prose.Count(all, "verdict", "verdicts"))
}

// describeScore returns a sentence that states the percentage on which the overall rating is based, or "" if there
// is none.
func (v *Report) describeScore() string {
	if pct := v.Story().Posture.CompliancePct; pct != nil {
		return fmt.Sprintf(" In this assessment, that share is %s%%.", prose.Decimal(*pct))
	}
	return ""
}

// appendicesSection returns a list of the appendices with their letters.
func (v *Report) appendicesSection() []block.Block {
	t := block.Table{Caption: "Content of the appendices", Columns: []block.Column{
		{Name: "Appendix", Width: 3},
		{Name: "Title", Width: 7},
		{Name: "Lines", Width: 2, Number: true},
		{Name: "Content", Width: 10},
		{Name: "Where", Width: 9},
	}}
	for _, a := range v.Story().Appendices {
		where := block.Text(a.filename)
		if a.Items == 0 {
			where = block.Text("not drafted yet or empty")
		}
		if v.Template.hasSection(a.section) {
			where = block.Cell{{Text: "in this document", Ref: string(a.section)}}
		}
		t.Rows = append(t.Rows, block.Row{Cells: []block.Cell{
			{{Text: a.Letter, Strong: true}},
			block.Text(a.Title), block.Number(a.Items),
			block.Text(prose.Capitalize(a.Content) + "."), where,
		}})
	}
	return []block.Block{t}
}

// BindAppendices adds the appendices to the end of the report as further sections.
func (v *Report) BindAppendices() {
	if v.Template.Name != TemplateClient {
		return
	}
	v.Template.Sections = append(slices.Clone(v.Template.Sections),
		SectionSoA, SectionGap, SectionPOAM, SectionMaturity, SectionDocuments, SectionApprovals)
}
