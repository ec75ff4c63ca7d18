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
	ExecutiveSummary = "executive_summary"
	Full             = "full"
	SoA              = "soa"
	GapAnalysis      = "gap_analysis"
	Maturity         = "maturity"
	POAM             = "poam"
	FedRAMPPOAM      = "fedramp_poam"
	EMASSPOAM        = "emass_poam"
	AssessmentPlan   = "assessment_plan"
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
	name, media string
	// ending is of the file's name, with its dot.
	ending string
	write  func(w io.Writer, v *view) error
	// tables: only templates that list items can be written so.
	tables bool
}

// formats are in the order of the documentation; a function since the writers know the templates, which know their formats.
func formats() []format {
	return []format{
		{FormatPDF, "application/pdf", ".pdf", func(w io.Writer, v *view) error { return writePDF(w, v.document(), v.AsOf, v.font) }, false},
		{FormatHTML, "text/html; charset=utf-8", ".html", func(w io.Writer, v *view) error { return writeHTML(w, v.document()) }, false},
		{FormatDOCX, "application/vnd.openxmlformats-officedocument.wordprocessingml.document", ".docx",
			func(w io.Writer, v *view) error { return writeDOCX(w, v.document(), v.AsOf, v.style) }, false},
		{FormatXLSX, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ".xlsx", writeXLSX, false},
		{FormatMarkdown, "text/markdown; charset=utf-8", ".md", func(w io.Writer, v *view) error { return writeMarkdown(w, v.document()) }, false},
		{FormatCSV, "text/csv; charset=utf-8; header=present", ".csv", func(w io.Writer, v *view) error { return writeCSV(w, v) }, true},
		{FormatJSON, "application/json", ".json", func(w io.Writer, v *view) error { return writeJSON(w, v) }, false},
		{FormatOSCAL, "application/json", ".oscal.json", writeOSCAL, false},
	}
}

// formatNamed is the format of that name; false for none.
func formatNamed(name string) (format, bool) {
	for _, f := range formats() {
		if f.name == name {
			return f, true
		}
	}
	return format{}, false
}

// part is a section of a report.
type part string

const (
	partSummary   part = "summary"
	partScope     part = "scope"
	partCoverage  part = "coverage"
	partSoA       part = "soa"
	partGap       part = "gap-analysis"
	partMaturity  part = "maturity"
	partPOAM      part = "poam"
	partDocuments part = "documents"
	partApprovals part = "approvals"
	partBasis     part = "basis"
)

// templateKind is what a template shows, in order, and whose items it tells.
type templateKind struct {
	name, title string
	parts       []part
	gates       []api.Gate
	csv         bool
}

var templates = []templateKind{
	{ExecutiveSummary, "Executive summary",
		[]part{partSummary, partCoverage, partBasis}, api.Gates, false},
	{Full, "Assessment report",
		[]part{partSummary, partCoverage, partScope, partSoA, partGap, partMaturity, partPOAM, partDocuments, partApprovals, partBasis}, api.Gates, false},
	{SoA, "Statement of Applicability",
		[]part{partScope, partCoverage, partSoA, partDocuments, partApprovals, partBasis}, []api.Gate{api.GateSoA}, true},
	{GapAnalysis, "Gap analysis",
		[]part{partGap, partDocuments, partApprovals, partBasis}, []api.Gate{api.GateGapAnalysis}, true},
	{Maturity, "Maturity assessment",
		[]part{partMaturity, partDocuments, partApprovals, partBasis}, []api.Gate{api.GateMaturity}, true},
	{POAM, "Plan of action and milestones",
		[]part{partPOAM, partApprovals, partBasis}, []api.Gate{api.GatePOAM}, true},
	{FedRAMPPOAM, "FedRAMP plan of action and milestones",
		[]part{partPOAM, partApprovals, partBasis}, []api.Gate{api.GatePOAM}, false},
	{EMASSPOAM, "eMASS plan of action and milestones",
		[]part{partPOAM, partApprovals, partBasis}, []api.Gate{api.GatePOAM}, false},
	{AssessmentPlan, "Assessment plan",
		[]part{partScope, partBasis}, []api.Gate{api.GateSoA}, false},
}

// Templates are the names of what can be written, in their order.
func Templates() []string {
	names := make([]string, len(templates))
	for i, t := range templates {
		names[i] = t.name
	}
	return names
}

// templateNamed is the template of that name; false for none.
func templateNamed(name string) (templateKind, bool) {
	i := slices.IndexFunc(templates, func(t templateKind) bool { return t.name == name })
	if i < 0 {
		return templateKind{}, false
	}
	return templates[i], true
}

func (t templateKind) shows(p part) bool { return slices.Contains(t.parts, p) }

func (t templateKind) tells(g api.Gate) bool { return slices.Contains(t.gates, g) }

// prescribed is the layout of a template that others have laid out: a workbook, nothing else.
func (t templateKind) prescribed() (workbook.Layout, bool) {
	l, ok := workbook.Named(t.name)
	return l, ok && l.Prescribed()
}

func (t templateKind) formats() (names []string) {
	if _, ok := t.prescribed(); ok {
		return []string{FormatXLSX}
	}
	if t.name == AssessmentPlan {
		return []string{FormatOSCAL} // a document for tools; people read the scope and the Statement of Applicability
	}
	for _, f := range formats() {
		if (t.csv || !f.tables) && (f.name != FormatOSCAL || slices.Contains(oscalTemplates, t.name)) {
			names = append(names, f.name)
		}
	}
	return names
}

// Supported is nil where the template can be written in the format, else a
// VALIDATION_ERROR that names what can.
func Supported(template, format string) error {
	t, ok := templateNamed(template)
	if !ok {
		if template == "" {
			return api.Invalid("template", "say which template; choose one of %s", strings.Join(Templates(), ", "))
		}
		return api.Invalid("template", "the template %q can't be written; choose one of %s", template, strings.Join(Templates(), ", "))
	}
	if !slices.Contains(t.formats(), format) {
		return api.Invalid("format", "the template %s can't be written as %q; choose one of %s", template, format, strings.Join(t.formats(), ", "))
	}
	return nil
}

// Readable is the template that shows as a page what the named one shows: itself, or for
// a workbook that others have laid out the plan in it, or for a document of tools the closest.
func Readable(template string) string {
	if t, ok := templateNamed(template); ok {
		if _, ok := t.prescribed(); ok {
			return POAM
		}
		if t.name == AssessmentPlan {
			return SoA
		}
	}
	return template
}

// ContentType is the media type of a format; for an unknown one that of plain bytes.
func ContentType(name string) string {
	if f, ok := formatNamed(name); ok {
		return f.media
	}
	return "application/octet-stream"
}

// Extension is the end of a file name in the format, with its dot; empty for an unknown one.
func Extension(name string) string {
	f, _ := formatNamed(name)
	return f.ending
}
