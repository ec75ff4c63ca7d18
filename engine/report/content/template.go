package content

import (
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/workbook"
)

// Names of the available templates.
const (
	TemplateClient           = "client"
	TemplateExecutiveSummary = "executive_summary"
	TemplateFull             = "full"
	TemplateSoA              = "soa"
	TemplateGapAnalysis      = "gap_analysis"
	TemplateMaturity         = "maturity"
	TemplatePOAM             = "poam"
	TemplateFedRAMPPOAM      = "fedramp_poam"
	TemplateEMASSPOAM        = "emass_poam"
	TemplateAssessmentPlan   = "assessment_plan"
)

// SectionID identifies a section of a report.
type SectionID string

const (
	SectionSummary   SectionID = "summary"
	SectionScope     SectionID = "scope"
	SectionCoverage  SectionID = "coverage"
	SectionSoA       SectionID = "soa"
	SectionGap       SectionID = "gap-analysis"
	SectionMaturity  SectionID = "maturity"
	SectionPOAM      SectionID = "poam"
	SectionDocuments SectionID = "documents"
	SectionApprovals SectionID = "approvals"
	SectionBasis     SectionID = "basis"
	SectionAnnex     SectionID = "annex-a"
	SectionBrief     SectionID = "risks-and-plan"

	// Sections of a client's report. They summarize what other sections list.
	SectionRisks      SectionID = "key-risks"
	SectionPosture    SectionID = "posture"
	SectionTrend      SectionID = "trend"
	SectionStandards  SectionID = "standards"
	SectionRoadmap    SectionID = "roadmap"
	SectionProfiles   SectionID = "domains"
	SectionExamined   SectionID = "examined"
	SectionMethod     SectionID = "method"
	SectionAppendices SectionID = "appendices"
)

// Template defines the content of a report: which sections it has, in which order, and from which
// deliverables.
type Template struct {
	Name, Title string
	Sections    []SectionID
	Gates       []api.Gate
	ListsItems  bool
}

var Templates = []Template{
	{
		TemplateClient, "Assessment report",
		[]SectionID{
			SectionRisks,
			SectionPosture,
			SectionTrend,
			SectionRoadmap,
			SectionStandards,
			SectionProfiles,
			SectionExamined,
			SectionMethod,
			SectionAppendices,
		},
		api.Gates, false,
	},
	{
		TemplateExecutiveSummary, "Executive summary",
		[]SectionID{SectionBrief},
		api.Gates, false,
	},
	{
		TemplateFull, "Assessment report",
		[]SectionID{
			SectionSummary,
			SectionCoverage,
			SectionScope,
			SectionSoA,
			SectionGap,
			SectionMaturity,
			SectionPOAM,
			SectionDocuments,
			SectionApprovals,
			SectionBasis,
		},
		api.Gates, false,
	},
	{
		TemplateSoA, "Statement of Applicability",
		[]SectionID{SectionAnnex, SectionScope, SectionCoverage, SectionSoA, SectionDocuments, SectionApprovals, SectionBasis},
		[]api.Gate{api.GateSoA},
		true,
	},
	{
		TemplateGapAnalysis, "Gap analysis",
		[]SectionID{SectionGap, SectionDocuments, SectionApprovals, SectionBasis},
		[]api.Gate{api.GateGapAnalysis},
		true,
	},
	{
		TemplateMaturity, "Maturity assessment",
		[]SectionID{SectionMaturity, SectionDocuments, SectionApprovals, SectionBasis},
		[]api.Gate{api.GateMaturity},
		true,
	},
	{
		TemplatePOAM, "Plan of action and milestones",
		[]SectionID{SectionPOAM, SectionApprovals, SectionBasis},
		[]api.Gate{api.GatePOAM},
		true,
	},
	{
		TemplateFedRAMPPOAM, "FedRAMP plan of action and milestones",
		[]SectionID{SectionPOAM, SectionApprovals, SectionBasis},
		[]api.Gate{api.GatePOAM},
		false,
	},
	{
		TemplateEMASSPOAM, "eMASS plan of action and milestones",
		[]SectionID{SectionPOAM, SectionApprovals, SectionBasis},
		[]api.Gate{api.GatePOAM},
		false,
	},
	{
		TemplateAssessmentPlan, "Assessment plan",
		[]SectionID{SectionScope, SectionBasis},
		[]api.Gate{api.GateSoA},
		false,
	},
}

// TemplateNames returns the names of the available templates.
func TemplateNames() []string {
	names := make([]string, len(Templates))
	for i, t := range Templates {
		names[i] = t.Name
	}
	return names
}

// FindTemplate returns the template with the given name. ok is false if there is none.
func FindTemplate(name string) (Template, bool) {
	i := slices.IndexFunc(Templates, func(t Template) bool { return t.Name == name })
	if i < 0 {
		return Template{}, false
	}
	return Templates[i], true
}

func (t Template) hasSection(p SectionID) bool { return slices.Contains(t.Sections, p) }

func (t Template) HasDeliverable(g api.Gate) bool { return slices.Contains(t.Gates, g) }

// PrescribedLayout returns the workbook layout of a template whose form is prescribed by a third party. Such
// a template can only be written as a workbook. For other templates, it returns false.
func (t Template) PrescribedLayout() (workbook.Layout, bool) {
	l, ok := workbook.FindLayout(t.Name)
	return l, ok && l.IsPrescribed()
}

// Layouts returns the layouts of the workbook sheets that list the template's items.
func (t Template) Layouts() (out []workbook.Layout) {
	if l, ok := t.PrescribedLayout(); ok {
		return []workbook.Layout{l}
	}
	for _, p := range t.Sections {
		if l, ok := p.Layout(); ok {
			out = append(out, l)
		}
	}
	return out
}

// Layout returns the workbook layout for a section that lists items. For other sections, ok is false.
func (p SectionID) Layout() (l workbook.Layout, ok bool) {
	return workbook.FindLayout(map[SectionID]string{
		SectionSoA: TemplateSoA, SectionGap: TemplateGapAnalysis, SectionMaturity: TemplateMaturity, SectionPOAM: TemplatePOAM,
	}[p])
}

// ReadableTemplateFor returns the template to use for showing a report as a readable page. Usually
// it is the same template. For a workbook with a prescribed layout it is the plan that the workbook
// contains, and for a purely machine-readable document it is the closest equivalent.
func ReadableTemplateFor(template string) string {
	if t, ok := FindTemplate(template); ok {
		if _, ok := t.PrescribedLayout(); ok {
			return TemplatePOAM
		}
		if t.Name == TemplateAssessmentPlan {
			return TemplateSoA
		}
	}
	return template
}
