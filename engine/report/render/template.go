package render

import (
	"io"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/workbook"
)

// Names of the available templates.
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

// Names of the available formats.
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

// format describes an output format.
type format struct {
	name, mediaType string
	// extension is the file name extension with its dot.
	extension string
	write     func(w io.Writer, v *reportData) error
	// needsItems restricts the format to templates that list items.
	needsItems bool
}

// allFormats returns the formats in the order of the documentation. It is a function to avoid an
// initialization cycle.
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

// findFormat returns the format with a name; ok is false if there is none.
func findFormat(name string) (format, bool) {
	for _, f := range allFormats() {
		if f.name == name {
			return f, true
		}
	}
	return format{}, false
}

// sectionID identifies a section of a report.
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

// reportTemplate defines which sections a template shows, in order, and which deliverables' items
// it lists.
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

// Templates returns the names of the available templates.
func Templates() []string {
	names := make([]string, len(templates))
	for i, t := range templates {
		names[i] = t.name
	}
	return names
}

// findTemplate returns the template with a name; ok is false if there is none.
func findTemplate(name string) (reportTemplate, bool) {
	i := slices.IndexFunc(templates, func(t reportTemplate) bool { return t.name == name })
	if i < 0 {
		return reportTemplate{}, false
	}
	return templates[i], true
}

func (t reportTemplate) hasSection(p sectionID) bool { return slices.Contains(t.sections, p) }

func (t reportTemplate) hasDeliverable(g api.Gate) bool { return slices.Contains(t.gates, g) }

// prescribedLayout returns the layout of a template with a prescribed form, which can only be
// written as a workbook.
func (t reportTemplate) prescribedLayout() (workbook.Layout, bool) {
	l, ok := workbook.FindLayout(t.name)
	return l, ok && l.IsPrescribed()
}

func (t reportTemplate) formatNames() (names []string) {
	if _, ok := t.prescribedLayout(); ok {
		return []string{FormatXLSX}
	}
	if t.name == TemplateAssessmentPlan {
		return []string{FormatOSCAL} // a document for tools; the readable form is the scope and the Statement of Applicability
	}
	for _, f := range allFormats() {
		if (t.supportsCSV || !f.needsItems) && (f.name != FormatOSCAL || slices.Contains(oscalTemplates, t.name)) {
			names = append(names, f.name)
		}
	}
	return names
}

// CheckSupported returns nil if the template can be written in the format, or else a
// VALIDATION_ERROR that lists the alternatives.
func CheckSupported(template, format string) error {
	t, ok := findTemplate(template)
	if !ok {
		if template == "" {
			return api.Invalid("template", "a template is required; choose one of %s", strings.Join(Templates(), ", "))
		}
		return api.Invalid("template", "unknown template %q; choose one of %s", template, strings.Join(Templates(), ", "))
	}
	if !slices.Contains(t.formatNames(), format) {
		return api.Invalid(
			"format",
			"template %s does not support the format %q; choose one of %s",
			template,
			format,
			strings.Join(t.formatNames(), ", "),
		)
	}
	return nil
}

// ReadableTemplate returns the template that shows the same content as a page: usually the template
// itself; for a workbook with a prescribed layout the plan it contains; for machine-readable
// documents the closest equivalent.
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

// ContentType returns the media type of a format, or application/octet-stream if it is unknown.
func ContentType(name string) string {
	if f, ok := findFormat(name); ok {
		return f.mediaType
	}
	return "application/octet-stream"
}

// Extension returns the file name extension of a format with its dot, or "" if it is unknown.
func Extension(name string) string {
	f, _ := findFormat(name)
	return f.extension
}
