package render

import (
	"io"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/render/docx"
	"github.com/scf-service/service/engine/report/render/html"
	"github.com/scf-service/service/engine/report/render/markdown"
	"github.com/scf-service/service/engine/report/render/oscal"
	"github.com/scf-service/service/engine/report/render/pdf"
	"github.com/scf-service/service/engine/report/render/pptx"
	"github.com/scf-service/service/engine/report/render/xlsx"
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
	FormatPPTX     = "pptx"
)

// format describes an output format.
type format struct {
	name, mediaType string
	// extension is the file name extension with its dot.
	extension string
	write     func(w io.Writer, v *content.Report, r Request) error
	// supports reports whether a template can be written in the format.
	supports func(t content.Template) bool
}

func supportsEveryTemplate(content.Template) bool { return true }

// formats lists the formats in the order in which the documentation describes them.
var formats = []format{
	{FormatPDF, "application/pdf", ".pdf", func(w io.Writer, v *content.Report, r Request) error {
		return pdf.Write(w, v.Document(), r.Fonts)
	}, supportsEveryTemplate},
	{FormatHTML, "text/html; charset=utf-8", ".html", func(w io.Writer, v *content.Report, _ Request) error {
		return html.Write(w, v.Document())
	}, supportsEveryTemplate},
	{
		FormatDOCX, "application/vnd.openxmlformats-officedocument.wordprocessingml.document", ".docx",
		func(w io.Writer, v *content.Report, r Request) error { return docx.Write(w, v.Document(), r.Style) }, supportsEveryTemplate,
	},
	{
		FormatPPTX, "application/vnd.openxmlformats-officedocument.presentationml.presentation", ".pptx",
		func(w io.Writer, v *content.Report, _ Request) error { return pptx.Write(w, pptx.New(v)) },
		func(t content.Template) bool { return slices.Contains(content.SlideTemplates, t.Name) },
	},
	{
		FormatXLSX, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ".xlsx",
		func(w io.Writer, v *content.Report, _ Request) error { return xlsx.Write(w, v) }, supportsEveryTemplate,
	},
	{FormatMarkdown, "text/markdown; charset=utf-8", ".md", func(w io.Writer, v *content.Report, _ Request) error {
		return markdown.Write(w, v.Document())
	}, supportsEveryTemplate},
	{FormatCSV, "text/csv; charset=utf-8; header=present", ".csv", func(w io.Writer, v *content.Report, _ Request) error {
		return writeCSV(w, v)
	}, func(t content.Template) bool { return t.ListsItems }},
	{FormatJSON, "application/json", ".json", func(w io.Writer, v *content.Report, _ Request) error {
		return writeJSON(w, v)
	}, supportsEveryTemplate},
	{FormatOSCAL, "application/json", ".oscal.json", func(w io.Writer, v *content.Report, _ Request) error {
		return oscal.Write(w, v)
	}, func(t content.Template) bool { return slices.Contains(oscal.Templates, t.Name) }},
}

// findFormat returns the format with the given name. ok is false if there is none.
func findFormat(name string) (format, bool) {
	i := slices.IndexFunc(formats, func(f format) bool { return f.name == name })
	if i < 0 {
		return format{}, false
	}
	return formats[i], true
}

// supportedFormatNames returns the names of the formats that are available for a template.
func supportedFormatNames(t content.Template) (names []string) {
	if _, ok := t.PrescribedLayout(); ok {
		return []string{FormatXLSX}
	}
	if t.Name == content.TemplateAssessmentPlan {
		return []string{FormatOSCAL} // a document for tools; the readable form is the scope and the Statement of Applicability
	}
	for _, f := range formats {
		if f.supports(t) {
			names = append(names, f.name)
		}
	}
	return names
}

// CheckSupported returns nil if reports with the template can be written in the format. Otherwise it returns
// a VALIDATION_ERROR that lists the alternatives.
func CheckSupported(template, format string) error {
	t, ok := content.FindTemplate(template)
	if !ok {
		if template == "" {
			return api.Invalid("template", "a template is required; choose one of %s", strings.Join(content.TemplateNames(), ", "))
		}
		return api.Invalid("template", "unknown template %q; choose one of %s", template, strings.Join(content.TemplateNames(), ", "))
	}
	if !slices.Contains(supportedFormatNames(t), format) {
		return api.Invalid(
			"format",
			"the template %s does not support the format %q; choose one of %s",
			template,
			format,
			strings.Join(supportedFormatNames(t), ", "),
		)
	}
	return nil
}

// HTMLScriptSource returns the source expression (a hash) that allows the only script in an HTML report in a content
// security policy.
func HTMLScriptSource() string { return html.ScriptSource() }

// ContentType returns the media type of a format, or application/octet-stream if it is unknown.
func ContentType(format string) string {
	if f, ok := findFormat(format); ok {
		return f.mediaType
	}
	return "application/octet-stream"
}

// Extension returns the file name extension of a format, including the dot, or "" if the format is unknown.
func Extension(format string) string {
	f, _ := findFormat(format)
	return f.extension
}
