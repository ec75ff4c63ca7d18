package content

import (
	"cmp"
	"slices"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/drawing"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/engine/report/workbook"
)

// LayoutData is the data available to a user's own layout: the report in its JSON form, and the
// lists, figures and pictures of a client document, ready to print.
type LayoutData struct {
	*Data
	Client           LayoutClient      `json:"client"`
	Report           LayoutReport      `json:"report"`
	Figures          LayoutFigures     `json:"figures"`
	Headline         string            `json:"headline" doc:"The answer in a few words."`
	Answer           []string          `json:"answer" doc:"The answer in three sentences."`
	Decision         string            `json:"decision" doc:"The decision requested."`
	Posture          Posture           `json:"posture"`
	Trend            *Trend            `json:"trend" doc:"The comparison with an earlier assessment; missing without one."`
	Risks            []KeyRisk         `json:"risks" doc:"The key risks, at most 10, each with all findings that lead to it."`
	Findings         []LayoutFinding   `json:"findings" doc:"All findings, worst first."`
	DomainResults    []LayoutDomain    `json:"domain_results"`
	FrameworkResults []LayoutFramework `json:"framework_results"`
	Plan             []LayoutPlanItem  `json:"plan" doc:"All items of the plan, by priority."`
	Roadmap          []LayoutQuarter   `json:"roadmap" doc:"The open items of the plan by the quarter in which they are due."`
	Logo             *LayoutImage      `json:"logo" doc:"The organization's logo; see report branding."`
	Charts           LayoutCharts      `json:"charts"`
}

// LayoutClient is the organization that the report is about.
type LayoutClient struct {
	Name string `json:"name"`
}

// LayoutReport is the report itself.
type LayoutReport struct {
	Title      string    `json:"title"`
	Date       time.Time `json:"date" doc:"The date of the report's data."`
	Status     string    `json:"status" doc:"Draft or Final."`
	Line       string    `json:"line" doc:"The line on the title page, such as who prepared the report; see report branding."`
	Footer     string    `json:"footer" doc:"The footer; see report branding."`
	Tool       string    `json:"tool" doc:"The program and its version."`
	Catalog    string    `json:"catalog" doc:"The name of the catalog."`
	Frameworks []string  `json:"frameworks" doc:"The names of the frameworks."`
	Summary    []string  `json:"summary" doc:"The executive summary, a paragraph each."`
	Limits     string    `json:"limits" doc:"What is not approved, and what was not examined."`
}

// LayoutFigures holds the key figures.
type LayoutFigures struct {
	Controls             int      `json:"controls"`
	Applicable           int      `json:"applicable"`
	Implemented          int      `json:"implemented"`
	PartiallyImplemented int      `json:"partially_implemented"`
	Planned              int      `json:"planned"`
	NotImplemented       int      `json:"not_implemented"`
	NotEvidenced         int      `json:"not_evidenced"`
	NotAssessed          int      `json:"not_assessed"`
	Excluded             int      `json:"excluded"`
	CompliancePct        *float64 `json:"compliance_pct"`
	Findings             int      `json:"findings"`
	Critical             int      `json:"critical"`
	High                 int      `json:"high"`
	Medium               int      `json:"medium"`
	Low                  int      `json:"low"`
	Informational        int      `json:"informational"`
	Maturity             *float64 `json:"maturity" doc:"The mean level, 0 to 5."`
	MaturityTarget       *float64 `json:"maturity_target"`
	OpenPlanItems        int      `json:"open_plan_items"`
	OverduePlanItems     int      `json:"overdue_plan_items"`
	DocumentsRead        int      `json:"documents_read"`
	DocumentsNotRead     int      `json:"documents_not_read"`
}

// LayoutFinding is a finding.
type LayoutFinding struct {
	Severity        api.Severity  `json:"severity"`
	ControlCode     string        `json:"control_code"`
	ControlTitle    string        `json:"control_title"`
	Domain          string        `json:"domain"`
	Result          api.Result    `json:"result"`
	GapType         string        `json:"gap_type"`
	Requirements    string        `json:"requirements" doc:"The requirements, by framework, in one line."`
	Condition       string        `json:"condition"`
	Criteria        string        `json:"criteria"`
	Cause           string        `json:"cause"`
	Effect          string        `json:"effect"`
	Recommendation  string        `json:"recommendation"`
	MissingElements []string      `json:"missing_elements"`
	Owner           string        `json:"owner"`
	DueDate         api.Date      `json:"due_date"`
	PlanItem        string        `json:"plan_item"`
	Note            string        `json:"note"`
	Evidence        []LayoutQuote `json:"evidence"`
}

// LayoutQuote is a passage of evidence.
type LayoutQuote struct {
	Quote    string `json:"quote"`
	Document string `json:"document"`
	Place    string `json:"place" doc:"Where in the document, such as page 3."`
	Stance   string `json:"stance"`
}

// LayoutDomain holds the results for a domain of the catalog.
type LayoutDomain struct {
	Code                 string   `json:"code"`
	Name                 string   `json:"name"`
	Controls             int      `json:"controls"`
	Implemented          int      `json:"implemented"`
	PartiallyImplemented int      `json:"partially_implemented"`
	Planned              int      `json:"planned"`
	NotImplemented       int      `json:"not_implemented"`
	NotEvidenced         int      `json:"not_evidenced"`
	NotAssessed          int      `json:"not_assessed"`
	Excluded             int      `json:"excluded"`
	Findings             int      `json:"findings"`
	Critical             int      `json:"critical"`
	High                 int      `json:"high"`
	Medium               int      `json:"medium"`
	Low                  int      `json:"low"`
	Informational        int      `json:"informational"`
	Maturity             *float64 `json:"maturity"`
	MaturityTarget       *float64 `json:"maturity_target"`
}

// LayoutFramework holds the results for a framework.
type LayoutFramework struct {
	Code                 string              `json:"code"`
	Name                 string              `json:"name"`
	Implemented          int                 `json:"implemented"`
	PartiallyImplemented int                 `json:"partially_implemented"`
	Planned              int                 `json:"planned"`
	NotImplemented       int                 `json:"not_implemented"`
	NotEvidenced         int                 `json:"not_evidenced"`
	NotAssessed          int                 `json:"not_assessed"`
	Excluded             int                 `json:"excluded"`
	NoControl            int                 `json:"no_control"`
	Requirements         []LayoutRequirement `json:"requirements"`
}

// LayoutRequirement is a requirement of a framework.
type LayoutRequirement struct {
	Code     string   `json:"code"`
	Title    string   `json:"title"`
	Status   string   `json:"status"`
	Controls []string `json:"controls"`
}

// LayoutPlanItem is an item of the plan.
type LayoutPlanItem struct {
	Code               string            `json:"code"`
	Control            string            `json:"control"`
	ControlTitle       string            `json:"control_title"`
	Controls           []string          `json:"controls" doc:"The codes of all controls that the item closes."`
	Severity           api.Severity      `json:"severity"`
	Weakness           string            `json:"weakness"`
	Action             string            `json:"action"`
	Effort             string            `json:"effort"`
	Priority           int               `json:"priority"`
	Status             string            `json:"status"`
	Owner              string            `json:"owner" doc:"Empty if nobody is named."`
	DueDate            api.Date          `json:"due_date"`
	Overdue            bool              `json:"overdue"`
	AcceptanceCriteria []string          `json:"acceptance_criteria"`
	ExpectedEvidence   []string          `json:"expected_evidence"`
	Milestones         []LayoutMilestone `json:"milestones"`
}

// LayoutMilestone is a milestone of a plan item.
type LayoutMilestone struct {
	Title   string   `json:"title"`
	DueDate api.Date `json:"due_date"`
	Status  string   `json:"status"`
}

// LayoutQuarter is a quarter of the plan.
type LayoutQuarter struct {
	Name   string           `json:"name" doc:"Such as Q1 2027; “No date” for items without one."`
	Effort string           `json:"effort" doc:"An estimate, such as 40 to 110 person-days."`
	Items  []LayoutPlanItem `json:"items"`
}

// LayoutCharts holds the charts. A chart without data is nil.
type LayoutCharts struct {
	Severity        *LayoutImage `json:"severity" doc:"Findings by severity."`
	HeatMap         *LayoutImage `json:"heat_map" doc:"Findings by domain and severity."`
	MaturityRadar   *LayoutImage `json:"maturity_radar" doc:"Maturity of up to twelve domains against the target."`
	MaturityDomains *LayoutImage `json:"maturity_domains" doc:"Maturity of all domains as bars."`
	Coverage        *LayoutImage `json:"coverage" doc:"Requirements by framework and status."`
	Timeline        *LayoutImage `json:"timeline" doc:"The open items of the plan that are due first."`
	BurnDown        *LayoutImage `json:"burn_down" doc:"Open items if each is completed by its due date."`
	ImpactEffort    *LayoutImage `json:"impact_effort" doc:"Open items by impact and effort."`
}

// LayoutImage is a picture: either a drawing or a PNG image.
type LayoutImage struct {
	Title       string           `json:"title"`
	Description string           `json:"description"`
	Drawing     *drawing.Drawing `json:"-"`
	PNG         []byte           `json:"-"`
	// Chart is the chart with its numbers, for the charts in NativeCharts.
	Chart *workbook.Chart `json:"-"`
}

// NativeCharts lists the fields of LayoutCharts that PowerPoint can show as native charts, whose numbers can be
// edited. PowerPoint has no charts of the kinds in the other fields.
var NativeCharts = []string{"severity", "maturity_radar", "coverage"}

// Theme returns the colors of the report.
func (v *Report) Theme() drawing.Theme { return v.theme }

// LayoutData returns the content of the report for a user's own layout. Parts that the report's
// template doesn't show are empty.
func (v *Report) LayoutData() *LayoutData {
	story := v.Story()
	out := &LayoutData{
		Data: v.Data(), Client: LayoutClient{story.Client}, Report: v.layoutReport(), Figures: v.layoutFigures(),
		Headline: story.Headline, Answer: story.Answer, Decision: story.Decision, Posture: story.Posture, Trend: story.Trend,
		Risks: []KeyRisk{}, Findings: []LayoutFinding{}, DomainResults: v.layoutDomains(), FrameworkResults: v.layoutFrameworks(),
		Plan: []LayoutPlanItem{}, Roadmap: []LayoutQuarter{}, Charts: v.layoutCharts(),
	}
	if v.Template.HasDeliverable(api.GateGapAnalysis) && v.Gap != nil {
		for i := range v.Findings {
			out.Findings = append(out.Findings, v.layoutFinding(&v.Findings[i]))
		}
		out.Risks = story.Risks
	}
	if v.Template.HasDeliverable(api.GatePOAM) && v.POAM != nil {
		for i := range v.POAMItems {
			out.Plan = append(out.Plan, v.layoutPlanItem(&v.POAMItems[i]))
		}
		out.Roadmap = v.layoutRoadmap()
	}
	if len(v.Brand.Logo) > 0 {
		out.Logo = &LayoutImage{Title: "Logo of " + v.Organization.Name, PNG: v.Brand.Logo}
	}
	return out
}

func (v *Report) layoutReport() LayoutReport {
	r := LayoutReport{
		Title: v.Title, Date: v.AsOf, Status: "Final", Line: v.Brand.Line, Footer: v.Brand.Footer,
		Tool: v.Tool, Catalog: v.CatalogName(), Frameworks: v.frameworkNames(), Summary: v.executiveParagraphs(),
		Limits: v.describeApprovalAndLimits(),
	}
	if len(v.DraftReasons) > 0 {
		r.Status = "Draft"
	}
	return r
}

func (v *Report) layoutFigures() LayoutFigures {
	p := v.Story().Posture
	all, _ := countControlStatuses(v.SoAItems)
	f := LayoutFigures{
		Controls: len(v.SoAItems), Applicable: p.Applicable, Implemented: p.Implemented, PartiallyImplemented: p.Partially,
		Planned: p.Planned, NotImplemented: p.NotImplemented, NotEvidenced: p.NotEvidenced,
		NotAssessed: all[statusNotAssessed], Excluded: p.Excluded,
		CompliancePct: p.CompliancePct, Findings: len(v.Findings), Critical: p.Critical, High: p.High,
		Maturity: p.Maturity, MaturityTarget: p.Target, OpenPlanItems: v.countOpenActions(),
	}
	for i := range v.Findings {
		switch v.Findings[i].Severity {
		case api.SeverityMedium:
			f.Medium++
		case api.SeverityLow:
			f.Low++
		case api.SeverityInformational:
			f.Informational++
		}
	}
	for i := range v.POAMItems {
		if v.isOverdue(&v.POAMItems[i]) {
			f.OverduePlanItems++
		}
	}
	read, unread := v.partitionDocuments()
	f.DocumentsRead, f.DocumentsNotRead = read, len(unread)
	return f
}

// ownerAndDueDate returns the owner and due date of a finding: the finding's own or, if they are
// not set, those of its plan item.
func (v *Report) ownerAndDueDate(f *api.Finding) (owner string, due api.Date, item string) {
	owner = wording.OrEmpty(f.Owner)
	if f.DueDate != nil {
		due = *f.DueDate
	}
	if it := v.planByControl[f.ControlCode]; it != nil {
		owner, due = wording.OrDefault(owner, wording.OrEmpty(it.Owner)), cmp.Or(due, it.CurrentDueDate())
		item = it.POAMCode
	}
	return owner, due, item
}

func (v *Report) layoutFinding(f *api.Finding) LayoutFinding {
	owner, due, item := v.ownerAndDueDate(f)
	out := LayoutFinding{
		Severity: f.Severity, ControlCode: f.ControlCode, ControlTitle: f.ControlTitle, Domain: v.domainName(f.DomainCode),
		Result: f.Result, GapType: f.GapType, Requirements: wording.FormatRequirements(f.RequirementCodes),
		Condition: f.Condition, Criteria: f.Criteria, Cause: f.Cause, Effect: f.Effect,
		Recommendation: f.Recommendation, MissingElements: f.MissingElements, Owner: owner, DueDate: due, PlanItem: item,
		Note: wording.OrEmpty(f.Note), Evidence: []LayoutQuote{},
	}
	for _, e := range f.Evidence {
		out.Evidence = append(out.Evidence, LayoutQuote{
			Quote: e.Quote, Document: wording.OrDefault(e.DocumentTitle, e.Filename), Place: wording.FormatLocator(e.Locator),
			Stance: wording.Humanize(e.Stance),
		})
	}
	return out
}

// domainName returns the name of a domain, or its code if it has no name.
func (v *Report) domainName(code string) string { return wording.OrDefault(v.Domains[code], code) }

func (v *Report) layoutDomains() []LayoutDomain {
	at := map[string]*LayoutDomain{}
	get := func(code string) *LayoutDomain {
		if at[code] == nil {
			at[code] = &LayoutDomain{Code: code, Name: v.domainName(code)}
		}
		return at[code]
	}
	if v.Template.HasDeliverable(api.GateSoA) {
		_, domains := countControlStatuses(v.SoAItems)
		for code, n := range domains {
			d := get(code)
			d.Implemented, d.PartiallyImplemented, d.Planned = n[statusImplemented], n[statusPartly], n[statusPlanned]
			d.NotImplemented, d.NotEvidenced, d.NotAssessed = n[statusMissing], n[statusNotEvidenced], n[statusNotAssessed]
			d.Excluded = n[statusExcluded]
			for _, count := range n {
				d.Controls += count
			}
		}
	}
	if v.Template.HasDeliverable(api.GateGapAnalysis) {
		for _, n := range v.countFindingsByDomain() {
			d := get(n.code)
			d.Findings = n.all
			for i, count := range []*int{&d.Critical, &d.High, &d.Medium, &d.Low, &d.Informational} {
				*count = n.bySeverity[i]
			}
		}
	}
	if v.Template.HasDeliverable(api.GateMaturity) && v.MaturitySummary != nil {
		for _, m := range v.MaturitySummary.Domains {
			d := get(m.DomainCode)
			d.Maturity, d.MaturityTarget = m.Mean, m.TargetMean
		}
	}
	out := []LayoutDomain{}
	for _, d := range at {
		out = append(out, *d)
	}
	slices.SortFunc(out, func(a, b LayoutDomain) int { return scf.CompareNatural(a.Code, b.Code) })
	return out
}

func (v *Report) layoutFrameworks() []LayoutFramework {
	out := []LayoutFramework{}
	for _, fc := range v.coverage {
		f := LayoutFramework{
			Code: fc.framework.Code, Name: wording.OrDefault(fc.framework.Name, fc.framework.Code),
			Implemented: fc.counts[statusImplemented], PartiallyImplemented: fc.counts[statusPartly], Planned: fc.counts[statusPlanned],
			NotImplemented: fc.counts[statusMissing], NotEvidenced: fc.counts[statusNotEvidenced],
			NotAssessed: fc.counts[statusNotAssessed], Excluded: fc.counts[statusExcluded],
			NoControl: fc.counts[statusUnmapped], Requirements: []LayoutRequirement{},
		}
		for _, r := range fc.requirements {
			one := LayoutRequirement{Code: r.code, Title: r.title, Status: r.status.displayName(), Controls: []string{}}
			for _, it := range r.items {
				one.Controls = append(one.Controls, it.ControlCode)
			}
			f.Requirements = append(f.Requirements, one)
		}
		out = append(out, f)
	}
	return out
}

func (v *Report) layoutPlanItem(it *api.POAMItem) LayoutPlanItem {
	out := LayoutPlanItem{
		Code: it.POAMCode, Control: it.ControlCode, ControlTitle: it.ControlTitle,
		Controls: append([]string{it.ControlCode}, it.AlsoCloses...), Severity: it.Severity,
		Weakness: it.Weakness, Action: it.CorrectiveAction,
		Effort: it.Effort, Priority: it.Priority, Status: it.Status, Owner: wording.OrEmpty(it.Owner), DueDate: it.CurrentDueDate(),
		Overdue: v.isOverdue(it), AcceptanceCriteria: it.AcceptanceCriteria, ExpectedEvidence: it.ExpectedEvidence,
		Milestones: []LayoutMilestone{},
	}
	for i := range it.Milestones {
		m := &it.Milestones[i]
		out.Milestones = append(out.Milestones, LayoutMilestone{m.Title, m.CurrentDueDate(), m.Status})
	}
	return out
}

// layoutRoadmap returns the open plan items by quarter. Items without a date come last.
func (v *Report) layoutRoadmap() []LayoutQuarter {
	out := []LayoutQuarter{}
	var effort Effort
	for _, it := range v.openItemsByDueDate() {
		name := "No date"
		if due, ok := parseDate(it.CurrentDueDate()); ok {
			name, _ = quarterOf(due)
		}
		if len(out) == 0 || out[len(out)-1].Name != name {
			out, effort = append(out, LayoutQuarter{Name: name}), Effort{}
		}
		last := &out[len(out)-1]
		effort.add(it.Effort)
		last.Effort = effort.String()
		last.Items = append(last.Items, v.layoutPlanItem(it))
	}
	return out
}

// withNumbers adds the numbers of a chart to its picture, which may be nil.
func withNumbers(image *LayoutImage, chart workbook.Chart) *LayoutImage {
	if image != nil {
		image.Chart = &chart
	}
	return image
}

func (v *Report) layoutCharts() (c LayoutCharts) {
	ofDrawing := func(d drawing.Drawing) *LayoutImage {
		return &LayoutImage{Title: d.Title, Description: d.Description, Drawing: &d}
	}
	ofBars := func(t block.Table) *LayoutImage {
		if all := t.BarCharts(); len(all) > 0 {
			return ofDrawing(all[0])
		}
		return nil
	}
	if v.Template.HasDeliverable(api.GateGapAnalysis) && v.Gap != nil && len(v.Findings) > 0 {
		c.Severity, c.HeatMap = withNumbers(ofBars(v.severityTable()), v.severityChart()), ofDrawing(v.heatMapPicture().Drawing)
	}
	if v.Template.HasDeliverable(api.GateSoA) && v.SoA != nil && len(v.coverage) > 0 {
		c.Coverage = withNumbers(ofBars(v.coverageTable()), v.coverageChart())
	}
	if v.Template.HasDeliverable(api.GateMaturity) && v.MaturitySummary != nil && len(v.MaturitySummary.Domains) > 0 {
		if p, ok := radarChart(v.MaturitySummary.Domains); ok {
			c.MaturityRadar = withNumbers(ofDrawing(p.Drawing), maturityRadarChart(radarDomains(v.MaturitySummary.Domains)))
		}
		for _, b := range v.domainMaturityBlocks() {
			if t, ok := b.(block.Table); ok {
				c.MaturityDomains = ofBars(t)
			}
		}
	}
	if v.Template.HasDeliverable(api.GatePOAM) && v.POAM != nil {
		if rows, _ := v.ganttRows(); len(rows) > 0 {
			c.Timeline = ofDrawing(v.ganttChart(rows).Drawing)
		}
		if start, steps := v.computeBurnDown(); len(steps) > 0 {
			c.BurnDown = ofDrawing(burnDownChart(start, steps).Drawing)
		}
		if by, n := v.countBySeverityAndEffort(); n > 0 {
			c.ImpactEffort = ofDrawing(impactEffortChart(by).Drawing)
		}
	}
	return c
}
