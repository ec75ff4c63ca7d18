package render

import (
	"io"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/workbook"
)

// The templates that can be written.
const (
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

// The formats that can be written.
const (
	FormatHTML     = "html"
	FormatPDF      = "pdf"
	FormatJSON     = "json"
	FormatMarkdown = "md"
	FormatCSV      = "csv"
	FormatXLSX     = "xlsx"
	FormatOSCAL    = "oscal"
	FormatDOCX     = "docx"
)

// format is how a report can be written.
type format struct {
	name, mediaType string
	// extension is of the file's name, with its dot.
	extension string
	write     func(w io.Writer, v *reportData) error
	// needsItems: only templates that list items can be written so.
	needsItems bool
}

// allFormats are in the order of the documentation; a function since the writers know the templates, which know their formats.
func allFormats() []format {
	return []format{
		{
			FormatPDF,
			"application/pdf",
			".pdf",
			func(w io.Writer, v *reportData) error { return writePDF(w, v.buildDocument(), v.AsOf, v.fallbackFont) },
			false,
		},
		{
			FormatHTML,
			"text/html; charset=utf-8",
			".html",
			func(w io.Writer, v *reportData) error { return writeHTML(w, v.buildDocument()) },
			false,
		},
		{
			FormatDOCX, "application/vnd.openxmlformats-officedocument.wordprocessingml.document", ".docx",
			func(w io.Writer, v *reportData) error { return writeDOCX(w, v.buildDocument(), v.AsOf, v.styleFile) }, false,
		},
		{FormatXLSX, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ".xlsx", writeXLSX, false},
		{
			FormatMarkdown,
			"text/markdown; charset=utf-8",
			".md",
			func(w io.Writer, v *reportData) error { return writeMarkdown(w, v.buildDocument()) },
			false,
		},
		{
			FormatCSV,
			"text/csv; charset=utf-8; header=present",
			".csv",
			func(w io.Writer, v *reportData) error { return writeCSV(w, v) },
			true,
		},
		{FormatJSON, "application/json", ".json", func(w io.Writer, v *reportData) error { return writeJSON(w, v) }, false},
		{FormatOSCAL, "application/json", ".oscal.json", writeOSCAL, false},
	}
}

// findFormat is the format of that name; false for none.
func findFormat(name string) (format, bool) {
	for _, f := range allFormats() {
		if f.name == name {
			return f, true
		}
	}
	return format{}, false
}

// sectionID is a section of a report.
type sectionID string

const (
	sectionSummary   sectionID = "summary"
	sectionScope     sectionID = "scope"
	sectionCoverage  sectionID = "coverage"
	sectionSoA       sectionID = "soa"
	sectionGap       sectionID = "gap-analysis"
	sectionMaturity  sectionID = "maturity"
	sectionPOAM      sectionID = "poam"
	sectionDocuments sectionID = "documents"
	sectionApprovals sectionID = "approvals"
	sectionBasis     sectionID = "basis"
)

// reportTemplate is what a template shows, in order, and whose items it tells.
type reportTemplate struct {
	name, title string
	sections    []sectionID
	gates       []api.Gate
	supportsCSV bool
}

var templates = []reportTemplate{
	{
		TemplateExecutiveSummary, "Executive summary",
		[]sectionID{sectionSummary, sectionCoverage, sectionBasis},
		api.Gates, false,
	},
	{
		TemplateFull, "Assessment report",
		[]sectionID{
			sectionSummary,
			sectionCoverage,
			sectionScope,
			sectionSoA,
			sectionGap,
			sectionMaturity,
			sectionPOAM,
			sectionDocuments,
			sectionApprovals,
			sectionBasis,
		},
		api.Gates, false,
	},
	{
		TemplateSoA, "Statement of Applicability",
		[]sectionID{sectionScope, sectionCoverage, sectionSoA, sectionDocuments, sectionApprovals, sectionBasis},
		[]api.Gate{api.GateSoA},
		true,
	},
	{
		TemplateGapAnalysis, "Gap analysis",
		[]sectionID{sectionGap, sectionDocuments, sectionApprovals, sectionBasis},
		[]api.Gate{api.GateGapAnalysis},
		true,
	},
	{
		TemplateMaturity, "Maturity assessment",
		[]sectionID{sectionMaturity, sectionDocuments, sectionApprovals, sectionBasis},
		[]api.Gate{api.GateMaturity},
		true,
	},
	{
		TemplatePOAM, "Plan of action and milestones",
		[]sectionID{sectionPOAM, sectionApprovals, sectionBasis},
		[]api.Gate{api.GatePOAM},
		true,
	},
	{
		TemplateFedRAMPPOAM, "FedRAMP plan of action and milestones",
		[]sectionID{sectionPOAM, sectionApprovals, sectionBasis},
		[]api.Gate{api.GatePOAM},
		false,
	},
	{
		TemplateEMASSPOAM, "eMASS plan of action and milestones",
		[]sectionID{sectionPOAM, sectionApprovals, sectionBasis},
		[]api.Gate{api.GatePOAM},
		false,
	},
	{
		TemplateAssessmentPlan, "Assessment plan",
		[]sectionID{sectionScope, sectionBasis},
		[]api.Gate{api.GateSoA},
		false,
	},
}

// Templates are the names of what can be written, in their order.
func Templates() []string {
	names := make([]string, len(templates))
	for i, t := range templates {
		names[i] = t.name
	}
	return names
}

// findTemplate is the template of that name; false for none.
func findTemplate(name string) (reportTemplate, bool) {
	i := slices.IndexFunc(templates, func(t reportTemplate) bool { return t.name == name })
	if i < 0 {
		return reportTemplate{}, false
	}
	return templates[i], true
}

func (t reportTemplate) hasSection(p sectionID) bool { return slices.Contains(t.sections, p) }

func (t reportTemplate) hasDeliverable(g api.Gate) bool { return slices.Contains(t.gates, g) }

// prescribedLayout is the layout of a template that others have laid out: a workbook, nothing else.
func (t reportTemplate) prescribedLayout() (workbook.Layout, bool) {
	l, ok := workbook.FindLayout(t.name)
	return l, ok && l.IsPrescribed()
}

func (t reportTemplate) formatNames() (names []string) {
	if _, ok := t.prescribedLayout(); ok {
		return []string{FormatXLSX}
	}
	if t.name == TemplateAssessmentPlan {
		return []string{FormatOSCAL} // a document for tools; people read the scope and the Statement of Applicability
	}
	for _, f := range allFormats() {
		if (t.supportsCSV || !f.needsItems) && (f.name != FormatOSCAL || slices.Contains(oscalTemplates, t.name)) {
			names = append(names, f.name)
		}
	}
	return names
}

// CheckSupported is nil where the template can be written in the format, else a
// VALIDATION_ERROR that names what can.
func CheckSupported(template, format string) error {
	t, ok := findTemplate(template)
	if !ok {
		if template == "" {
			return api.Invalid("template", "say which template; choose one of %s", strings.Join(Templates(), ", "))
		}
		return api.Invalid("template", "the template %q can't be written; choose one of %s", template, strings.Join(Templates(), ", "))
	}
	if !slices.Contains(t.formatNames(), format) {
		return api.Invalid(
			"format",
			"the template %s can't be written as %q; choose one of %s",
			template,
			format,
			strings.Join(t.formatNames(), ", "),
		)
	}
	return nil
}

// ReadableTemplate is the template that shows as a page what the named one shows: itself, or for
// a workbook that others have laid out the plan in it, or for a document of tools the closest.
func ReadableTemplate(template string) string {
	if t, ok := findTemplate(template); ok {
		if _, ok := t.prescribedLayout(); ok {
			return TemplatePOAM
		}
		if t.name == TemplateAssessmentPlan {
			return TemplateSoA
		}
	}
	return template
}

// ContentType is the media type of a format; for an unknown one that of plain bytes.
func ContentType(name string) string {
	if f, ok := findFormat(name); ok {
		return f.mediaType
	}
	return "application/octet-stream"
}

// Extension is the end of a file name in the format, with its dot; empty for an unknown one.
func Extension(name string) string {
	f, _ := findFormat(name)
	return f.extension
}
