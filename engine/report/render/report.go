// Package render writes the results of an assessment as documents for executives, clients and
// auditors: HTML, PDF, Word, Markdown, workbooks, CSV, JSON and OSCAL.
//
//	Source ──► reportData (sorted, indexed) ──► document (sections of blocks) ──► HTML, Markdown
//	   │                └── rows ─────────────────────────────────────────► CSV
//	   └── copy without nulls ────────────────────────────────────────────► JSON
//
// It is a pure library: the caller collects the Source at one moment and stores the output. The
// same Source gives the same bytes; all dates come from the data. The package makes no judgments:
// figures are counted from the items given or supplied by the caller. Free text is shown in full
// and never interpreted. The package must not access a store, a clock or the network.
package render

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/scf-service/service/api"
)

// Source is the data of a report, collected at one moment. It is only read. A deliverable that does
// not exist yet is nil, and the report states so.
type Source struct {
	Organization api.Organization
	Assessment   api.Assessment
	Catalog      api.CatalogVersion
	Frameworks   []api.Framework
	// Domains maps domain codes to names.
	Domains   map[string]string
	Documents []api.Document
	Scope     *api.Scope

	SoA             *api.SoAVersion
	SoAItems        []api.SoAItem
	Gap             *api.GapVersion
	Findings        []api.Finding
	Maturity        *api.MaturityVersion
	Scores          []api.MaturityScore
	MaturitySummary *api.MaturitySummary
	POAM            *api.POAMVersion
	POAMItems       []api.POAMItem

	Approvals []api.Approval
	// Outdated lists the deliverables whose inputs have changed since they were made.
	Outdated []api.Outdated
	Summary  api.AssessmentSummary
	// Requirements holds all requirements of each framework by its code, including those to which
	// no control is mapped.
	Requirements map[string][]api.Requirement

	// AuditHead is the end of the organization's audit trail when the data was read, or nil if it
	// is not shown.
	AuditHead *api.AuditHead

	// Brand is the look of the organization's reports.
	Brand Brand

	// Tool is the program and its version, such as "service 0.1.0".
	Tool string
	// AsOf is when the data was read; whether an item is overdue is judged at this time.
	AsOf time.Time
}

// Request specifies the report to write. An empty title means the template's default.
type Request struct {
	Template, Format, Title string
	// Font is an optional TrueType font for characters missing from the built-in PDF fonts.
	Font []byte
	// CustomTemplate is a user's Go template for HTML or Markdown; if empty, the built-in one is
	// used.
	CustomTemplate string
	// Style is an optional DOCX file whose styles are used for a DOCX report.
	Style []byte
}

// Write writes the report to w. It returns a VALIDATION_ERROR for an unsupported template or
// format, ctx's error if ctx ends, and any error of w.
func Write(ctx context.Context, w io.Writer, src *Source, r Request) error {
	if err := CheckSupported(r.Template, r.Format); err != nil {
		return err
	}
	if src == nil {
		return fmt.Errorf("report: no source given")
	}
	if err := src.Brand.Validate(); err != nil {
		return err
	}
	v := newReportData(src, r)
	out := bufio.NewWriterSize(&contextWriter{ctx: ctx, w: w}, 1<<16)
	f, _ := findFormat(r.Format)
	var err error
	if r.CustomTemplate != "" {
		err = writeCustom(ctx, out, v, r.CustomTemplate, r.Format)
	} else {
		err = f.write(out, v)
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return fmt.Errorf("write the %s report as %s: %w", r.Template, r.Format, err)
	}
	return nil
}

// contextWriter fails once its context has ended.
type contextWriter struct {
	ctx context.Context
	w   io.Writer
}

func (h *contextWriter) Write(p []byte) (int, error) {
	if err := h.ctx.Err(); err != nil {
		return 0, err
	}
	return h.w.Write(p)
}
