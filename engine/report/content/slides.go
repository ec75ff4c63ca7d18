package content

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/drawing"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/engine/report/workbook"
	"github.com/scf-service/service/internal/prose"
)

// SlideTemplates are the templates that can be written as slides, because they show all deliverables.
var SlideTemplates = []string{TemplateClient, TemplateExecutiveSummary, TemplateFull}

// Slide is a slide of a presentation. The title states the slide's message.
type Slide struct {
	Title string
	// Cover is set for the first slide, whose texts are lines below the title.
	Cover bool
	Tiles []SlideTile
	Texts []SlideText
	Table *SlideTable
	Chart *workbook.Chart
	// Columns selects vertical bars; otherwise they are horizontal. ChartText describes the chart for readers who can't see it.
	Columns   bool
	ChartText string
	// Small is a line at the bottom, such as a note on what the slide omits.
	Small string
}

// SlideTile is a key figure on a slide, with its label.
type SlideTile struct{ Label, Value string }

// SlideText is a paragraph on a slide: a sentence or a list item.
type SlideText struct {
	Lead, Text string // Lead is in bold
	Bullet     bool
}

// SlideTable is a table on a slide. The widths of its columns are relative.
type SlideTable struct {
	Columns []string
	Widths  []int
	// Centered is the first column that is centered; 0 for none.
	Centered int
	Rows     [][]SlideCell
}

// SlideCell is a table cell on a slide, with an optional fill.
type SlideCell struct {
	Text   string
	Fill   drawing.ColorName
	Strong bool
}

// Limits of slides, so that their text can be read from the back of a room.
const (
	slideRisks    = 5
	slideDomains  = 12
	slideQuarters = 6
	slideText     = 150 // characters in a cell
)

// PlainCells returns cells of plain text.
func PlainCells(texts ...string) (out []SlideCell) {
	for _, t := range texts {
		out = append(out, SlideCell{Text: t})
	}
	return out
}

// shortenForCell returns the first sentence of a text, shortened to fit into a cell.
func shortenForCell(s string) string {
	return prose.Truncate(strings.TrimSuffix(FirstSentence(s), " …"), slideText)
}

// Slides returns the report's story as 8 to 12 slides.
func (v *Report) Slides() []Slide {
	s := v.Story()
	out := []Slide{v.coverSlide(), v.answerSlide(), v.postureSlide()}
	out = append(out, v.riskSlides()...)
	out = append(out, v.domainSlide(), v.maturitySlide())
	if len(v.coverage) > 0 {
		out = append(out, v.frameworkSlide())
	}
	if s.Trend != nil {
		out = append(out, v.trendSlide())
	}
	return append(out, v.roadmapSlide(), v.examinedSlide(), v.decisionSlide())
}

func (v *Report) coverSlide() Slide {
	out := Slide{Title: v.Title, Cover: true, Texts: []SlideText{{Lead: v.Story().Client}}}
	if v.Assessment.Name != v.Story().Client {
		out.Texts = append(out.Texts, SlideText{Text: v.Assessment.Name})
	}
	out.Texts = append(out.Texts, SlideText{Text: wording.FormatDate(v.AsOf)})
	if v.Brand.Line != "" {
		out.Texts = append(out.Texts, SlideText{Text: v.Brand.Line})
	}
	if len(v.DraftReasons) > 0 {
		out.Small = "DRAFT. " + strings.Join(v.DraftReasons, " ")
	}
	if v.Catalog.IsStarter {
		out.Small = strings.TrimSpace(out.Small + " " + StarterNotice)
	}
	return out
}

func (v *Report) answerSlide() Slide {
	s := v.Story()
	out := Slide{Title: s.Headline}
	for _, f := range v.answerTiles().Items {
		out.Tiles = append(out.Tiles, SlideTile{f.Label, f.Value.Text()})
	}
	for _, a := range s.Answer {
		out.Texts = append(out.Texts, SlideText{Text: a})
	}
	if s.Decision != "" {
		out.Texts = append(out.Texts, SlideText{Lead: "Decision asked for: ", Text: s.Decision})
	}
	return out
}

// postureSlide returns a slide that shows the status of the controls in the weakest domains.
func (v *Report) postureSlide() Slide {
	s := v.Story()
	if v.SoA == nil || len(s.Domains) == 0 {
		return Slide{
			Title: "The organization's status is not known yet",
			Texts: []SlideText{{Text: "No Statement of Applicability has been drafted yet, so nothing can be shown yet."}},
		}
	}
	shown := coverageStatuses[:5]
	chart := newStatusChart("Controls by domain and status", "Domain", shown)
	for i, o := range shown {
		chart.Series[i].Name = plainStatusName(o)
	}
	var text []string
	domains := slices.Clone(s.Domains[:min(slideDomains, len(s.Domains))])
	strongest := ""
	if len(s.Domains) > slideDomains && s.Strongest != "" { // the title names it
		for _, d := range s.Domains[slideDomains:] {
			if d.Name == s.Strongest {
				domains[slideDomains-1], strongest = d, " and the strongest"
			}
		}
	}
	for _, d := range domains {
		row := workbook.ChartRow{Name: d.Name}
		for _, o := range shown {
			row.Values = append(row.Values, intToFloatPointer(d.Counts[o]))
		}
		chart.Rows = append(chart.Rows, row)
		text = append(text, fmt.Sprintf("%s: %d of %d in place", d.Name, d.Counts[statusImplemented], d.Applicable))
	}
	out := Slide{Title: s.describeExtremes(), Chart: &chart, ChartText: strings.Join(text, "; ") + "."}
	if more := len(s.Domains) - slideDomains; more > 0 {
		weakest := slideDomains
		if strongest != "" {
			weakest--
		}
		out.Small = fmt.Sprintf("The %d weakest%s of %d domains. See %s for all domains.",
			weakest, strongest, len(s.Domains), s.appendixName(TemplateSoA))
		if s.Weakest == "" {
			out.Small = fmt.Sprintf("%d of %d domains. See %s for all domains.", slideDomains, len(s.Domains), s.appendixName(TemplateSoA))
		}
	}
	return out
}

// riskSlides returns one slide with the key risks, or two if there are many.
func (v *Report) riskSlides() (out []Slide) {
	risks := v.Story().Risks
	if len(risks) == 0 {
		title := "No key risks"
		if v.Gap == nil {
			title = "The key risks are not known yet"
		}
		return []Slide{{Title: title, Texts: []SlideText{{Text: v.explainNoRisks()}}}}
	}
	slides := (len(risks) + slideRisks - 1) / slideRisks
	each := (len(risks) + slides - 1) / slides // so that the last slide isn't almost empty
	for from := 0; from < len(risks); from += each {
		part := risks[from:min(from+each, len(risks))]
		t := &SlideTable{Columns: []string{"Risk", "Severity", "What may happen", "Main action", "Owner"}, Widths: []int{23, 12, 30, 30, 21}}
		for _, r := range part {
			t.Rows = append(t.Rows, []SlideCell{
				{Text: fmt.Sprintf("%d. %s", r.Number, r.Title), Strong: true},
				{Text: wording.Label(string(r.Severity)), Fill: drawing.FillOrDefault(string(r.Severity)), Strong: true},
				{Text: prose.Truncate(prose.Capitalize(r.Consequence), slideText)},
				{Text: shortenForCell(wording.OrDefault(r.FirstStep, "–"))},
				{Text: prose.Truncate(wording.OrDefault(r.Owner, "open"), 60)},
			})
		}
		slide := Slide{Title: "Top risks: " + wording.LowerFirst(part[0].Title), Table: t}
		if from > 0 {
			slide.Title = "Also to watch: " + wording.LowerFirst(part[0].Title)
		}
		if n := len(v.Story().MinorRisks); n > 0 && from+each >= len(risks) {
			slide.Small = fmt.Sprintf("Not shown: %s. See %s for all findings.",
				prose.Count(n, "smaller risk", "smaller risks"), v.Story().appendixName(TemplateGapAnalysis))
		}
		out = append(out, slide)
	}
	return out
}

// domainSlide returns a slide with the findings by domain and severity, starting with the domains
// that have the most serious findings.
func (v *Report) domainSlide() Slide {
	all := v.countFindingsByDomain()
	if v.Gap == nil || len(all) == 0 {
		return Slide{Title: "No findings", Texts: []SlideText{{Text: v.describeFindings()}}}
	}
	slices.SortStableFunc(all, func(a, b severityCounts) int {
		return cmp.Or(slices.Compare(b.bySeverity, a.bySeverity), b.all-a.all)
	})
	t := &SlideTable{Columns: []string{"Domain"}, Widths: []int{40}, Centered: 1}
	most := 1
	for _, sev := range api.Severities {
		t.Columns, t.Widths = append(t.Columns, wording.Label(string(sev))), append(t.Widths, 13)
	}
	for _, d := range all {
		most = max(most, slices.Max(d.bySeverity))
	}
	for _, d := range all[:min(slideDomains, len(all))] {
		row := []SlideCell{{Text: v.domainName(d.code), Strong: true}}
		for _, n := range d.bySeverity {
			c := SlideCell{Fill: drawing.HeatShade(heatStep(n, most))}
			if n > 0 {
				c.Text = prose.GroupThousands(n)
			}
			row = append(row, c)
		}
		t.Rows = append(t.Rows, row)
	}
	out := Slide{Title: v.domainName(all[0].code) + " has the most serious findings", Table: t}
	if !slices.ContainsFunc(v.Findings, func(f api.Finding) bool { return f.EvidencedRank() > 0 && f.Result != api.Met }) {
		out.Title = "No finding is confirmed by evidence; the potentially most serious are listed first"
	}
	if len(all) > slideDomains {
		out.Small = fmt.Sprintf("%d of %d domains with findings. See %s for all domains.",
			slideDomains, len(all), v.Story().appendixName(TemplateGapAnalysis))
	}
	return out
}

func (v *Report) maturitySlide() Slide {
	m := v.MaturitySummary
	if v.Maturity == nil || m == nil || m.Overall.Mean == nil {
		return Slide{Title: "The maturity is not known yet", Texts: []SlideText{{Text: v.describeMaturityOf("measure", "measures")}}}
	}
	shown := radarDomains(m.Domains)
	out := Slide{
		Title: v.maturityMessage(shown),
		Texts: []SlideText{{Text: v.describeMaturityOf("measure", "measures") + v.describeRadar(shown)}},
	}
	if shown == nil {
		return out
	}
	chart := maturityRadarChart(shown)
	var text []string
	for _, d := range shown {
		text = append(text, fmt.Sprintf("%s %s of 5", wording.OrDefault(d.DomainName, d.DomainCode), prose.Decimal(*d.Mean)))
	}
	out.Chart, out.ChartText = &chart, strings.Join(text, "; ")+"."
	return out
}

// maturityRadarChart returns a radar chart of the maturity of domains and their targets.
func maturityRadarChart(shown []api.DomainMaturity) workbook.Chart {
	chart := workbook.Chart{
		Title: "Maturity by domain", CategoryHeader: "Domain", Type: workbook.ChartRadar, ScaleMax: float64(maxLevel),
		Series: []workbook.Series{{Name: "Level", Color: drawing.Level}, {Name: "Target", Color: "excluded"}},
	}
	for _, d := range shown {
		chart.Rows = append(chart.Rows, workbook.ChartRow{
			Name:   prose.Truncate(wording.OrDefault(d.DomainName, d.DomainCode), 26),
			Values: []*float64{roundedPointer(d.Mean), roundedPointer(d.TargetMean)},
		})
	}
	return chart
}

func (v *Report) frameworkSlide() Slide {
	if v.SoA == nil {
		return Slide{
			Title: "No standard has been assessed yet",
			Texts: []SlideText{{Text: "No Statement of Applicability has been drafted yet."}},
		}
	}
	chart := v.coverageChart()
	for i, o := range coverageStatuses {
		chart.Series[i].Name = plainStatusName(o)
	}
	chart.Rows = chart.Rows[:min(slideDomains, len(chart.Rows))]
	best, text := v.coverage[0], []string{}
	for _, fc := range v.coverage {
		if fc.counts[statusImplemented] > best.counts[statusImplemented] {
			best = fc
		}
		text = append(text, fmt.Sprintf("%s: %d of %d requirements in place",
			wording.OrDefault(fc.framework.Name, fc.framework.Code), fc.counts[statusImplemented], len(fc.requirements)))
	}
	out := Slide{
		Title: fmt.Sprintf("%d of %d requirements in %s are demonstrably in place", best.counts[statusImplemented], len(best.requirements),
			wording.OrDefault(best.framework.Name, best.framework.Code)),
		Chart: &chart, ChartText: strings.Join(text, "; ") + ".",
	}
	if more := len(v.coverage) - slideDomains; more > 0 {
		out.Small = fmt.Sprintf("Not shown: %s. See %s for all standards.",
			prose.Count(more, "more standard", "more standards"), v.Story().appendixName(TemplateSoA))
	}
	return out
}

func (v *Report) trendSlide() Slide {
	t := v.Story().Trend
	out := Slide{
		Title: fmt.Sprintf("%s improved, %s slipped since %s",
			prose.GroupThousands(len(t.Improved)), prose.GroupThousands(len(t.Slipped)), prose.Truncate(t.Earlier, 40)),
		Texts: []SlideText{{Text: t.Summary}},
	}
	table := &SlideTable{Columns: []string{"Measure", "Before", "Now", "Why"}, Widths: []int{34, 18, 18, 44}}
	const perKind = 4
	for _, list := range [][]Change{t.Slipped, t.Improved} {
		for _, c := range list[:min(perKind, len(list))] {
			table.Rows = append(table.Rows, PlainCells(prose.Truncate(c.ControlTitle, 60), c.Before, c.After, prose.Truncate(c.Why, 90)))
		}
	}
	if len(table.Rows) > 0 {
		out.Table = table
	}
	if more := len(t.Slipped) + len(t.Improved) + len(t.Decided) - len(table.Rows); more > 0 {
		out.Small = fmt.Sprintf("Not shown: %s.", prose.Count(more, "more change", "more changes"))
	}
	return out
}

// roadmapSlide returns a slide with the plan by quarter.
func (v *Report) roadmapSlide() Slide {
	s := v.Story()
	if len(s.Roadmap) == 0 {
		if v.POAM == nil {
			return Slide{Title: "There is no plan of action yet", Texts: []SlideText{{Text: "No plan of action has been drafted yet."}}}
		}
		return Slide{Title: "The plan has no open actions", Texts: []SlideText{{Text: v.describePlan()}}}
	}
	chart := workbook.Chart{
		Title: "Actions due by quarter", CategoryHeader: "Due in", Type: workbook.ChartStacked, Series: severitySeries()[:4],
	}
	t := &SlideTable{Columns: []string{"Due in", "First actions", "Effort"}, Widths: []int{12, 40, 18}}
	var text []string
	named := 2
	if len(s.Roadmap) >= slideQuarters {
		named = 1
	}
	for _, q := range s.Roadmap[:min(slideQuarters, len(s.Roadmap))] {
		row := workbook.ChartRow{Name: q.Name}
		for _, sev := range api.Severities[:4] {
			row.Values = append(row.Values, intToFloatPointer(q.BySeverity[sev]))
		}
		chart.Rows = append(chart.Rows, row)
		var first []string
		for _, a := range q.Actions[:min(named, len(q.Actions))] {
			first = append(first, prose.Truncate(a.Title, 70))
		}
		if more := q.Items - len(first); more > 0 {
			first = append(first, fmt.Sprintf("and %s more", prose.GroupThousands(more)))
		}
		t.Rows = append(t.Rows, []SlideCell{{Text: q.Name, Strong: true}, {Text: strings.Join(first, "\n")}, {Text: q.Effort.String()}})
		text = append(text, fmt.Sprintf("%s: %s", q.Name, prose.Count(q.Items, "action", "actions")))
	}
	open := v.countOpenActions()
	out := Slide{
		Title: fmt.Sprintf("%s take about %s", prose.Count(open, "open action", "open actions"), s.Effort),
		Chart: &chart, Columns: true, ChartText: strings.Join(text, "; ") + ".", Table: t,
		Small: effortAssumption,
	}
	if open == 1 {
		out.Title = "The open action requires about " + s.Effort.String()
	}
	if more := len(s.Roadmap) - slideQuarters; more > 0 {
		out.Small = fmt.Sprintf("Not shown: %s. See %s for the whole plan. %s",
			prose.Count(more, "later quarter", "later quarters"), s.appendixName(TemplatePOAM), effortAssumption)
	}
	return out
}

func (v *Report) examinedSlide() Slide {
	read, unread := v.partitionDocuments()
	out := Slide{Title: fmt.Sprintf("Based on %s; nothing else was examined", prose.Count(read, "document", "documents"))}
	add := func(lead, format string, args ...any) {
		out.Texts = append(out.Texts, SlideText{Lead: lead, Text: fmt.Sprintf(format, args...), Bullet: true})
	}
	byKind := map[string]int{}
	for _, d := range v.Documents {
		if d.Status == api.DocumentIngested {
			byKind[wording.OrDefault(d.Category, "other")]++
		}
	}
	var kinds []string
	mostFirst := func(a, b string) int { return cmp.Or(byKind[b]-byKind[a], cmp.Compare(a, b)) }
	for _, k := range slices.SortedFunc(maps.Keys(byKind), mostFirst) {
		name := wording.Humanize(k)
		if k == "other" {
			name = "other documents"
		}
		kinds = append(kinds, fmt.Sprintf("%s (%d)", name, byKind[k]))
	}
	if len(kinds) > 0 {
		add("Examined: ", "%s.", strings.Join(kinds[:min(8, len(kinds))], ", "))
	}
	add("Not done: ", "no systems were tested, no sites were visited and nobody was interviewed.")
	if len(unread) > 0 {
		add("Not read: ", "%s.", prose.Count(len(unread), "document", "documents"))
	}
	if n := v.describeNotRead(); n != "" {
		add("Content of documents not read: ", "%s.", n)
	}
	if v.Scope != nil && len(v.Scope.Exclusions) > 0 {
		add("Outside the scope: ", "%s.", strings.TrimRight(prose.Truncate(strings.Join(v.Scope.Exclusions, "; "), 2*slideText), "."))
	}
	if names := v.Story().silentDomains(); len(names) > 0 {
		shown := names[:min(8, len(names))]
		add("Too little evidence for: ", "%s%s.", strings.Join(shown, ", "), formatMore(len(names)-len(shown)))
	}
	return out
}

func (v *Report) decisionSlide() Slide {
	s := v.Story()
	out := Slide{Title: "The decision requested", Texts: []SlideText{{Lead: s.Decision}}}
	for _, r := range s.Risks[:min(4, len(s.Risks))] {
		if r.FirstStep == "" {
			continue
		}
		due := ""
		if r.StepDue != "" {
			due = ", by " + string(r.StepDue)
		}
		out.Texts = append(out.Texts, SlideText{
			Lead: r.Title + ": ", Text: shortenForCell(r.FirstStep) + " (" + wording.OrDefault(r.Owner, "owner open") + due + ")", Bullet: true,
		})
	}
	if v.isNothingApproved() {
		out.Texts = append(out.Texts, SlideText{Text: "Nothing in these slides has been approved yet."})
	}
	out.Small = fmt.Sprintf("Appendices: %s. Written by %s.", appendixList(s.Appendices), v.Tool)
	return out
}

// isNothingApproved reports whether no deliverable of the report is approved.
func (v *Report) isNothingApproved() bool {
	return !slices.ContainsFunc(v.Template.Gates, func(g api.Gate) bool { return v.approvalStatus(g).approved })
}

func appendixList(all []Appendix) string {
	var out []string
	for _, a := range all {
		out = append(out, a.Letter+", "+a.Title)
	}
	return wording.OrDefault(strings.Join(out, "; "), "none")
}
