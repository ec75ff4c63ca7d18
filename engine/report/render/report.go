// Package render writes what an assessment came to, as documents for boards, clients
// and auditors: a page, a data file, Markdown, a table.
//
//	Source ──► view (sorted, indexed) ──► document (sections of blocks) ──► HTML, Markdown
//	   │                └── rows ─────────────────────────────────────────► CSV
//	   └── copy without nulls ────────────────────────────────────────────► JSON
//
// It is a pure library: the caller gathers the Source in one moment and keeps what is
// written. The same Source gives the same bytes; the only dates are the data's. It never
// judges: figures are counted from the items it is given, or are the caller's. Free text
// is shown whole and never interpreted. It must not reach a store, a clock or a network.
package render

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/scf-service/service/api"
)

// Source is everything a report may tell, gathered in one moment. It is only read.
// A deliverable that is not there yet is nil, and the report says so in words.
type Source struct {
	Organization api.Organization
	Assessment   api.Assessment
	Catalog      api.CatalogVersion
	Frameworks   []api.Framework
	// Domains are names by code.
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
	// Outdated are the deliverables that were made from something else than there is now.
	Outdated []api.Outdated
	Summary  api.AssessmentSummary
	// Requirements are all requirements of a framework, by its code: those that no
	// control reaches are listed too.
	Requirements map[string][]api.Requirement

	// AuditHead is the end of the organization's audit chain when the data was read; nil where it is not told.
	AuditHead *api.AuditHead

	// Brand is how the organization's reports look.
	Brand Brand

	// Tool is the program and its version, such as "service 0.1.0".
	Tool string
	// AsOf is the moment the data was read; what is overdue is overdue then.
	AsOf time.Time
}

// Request says which report is wanted. An empty title means the template's own.
type Request struct {
	Template, Format, Title string
	// Font is a TrueType font for characters that the built-in ones of a PDF lack; may be nil.
	Font []byte
	// CustomTemplate is a Go template of the user's, for HTML and Markdown; empty for the program's pages.
	CustomTemplate string
	// Style is a DOCX whose styles a DOCX takes; may be nil.
	Style []byte
}

// Write writes the report to w. It fails with a VALIDATION_ERROR for a template or format
// that can't be written, with ctx's error when that ends, and with w's.
func Write(ctx context.Context, w io.Writer, src *Source, r Request) error {
	if err := CheckSupported(r.Template, r.Format); err != nil {
		return err
	}
	if src == nil {
		return fmt.Errorf("report: there is no source to write from")
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

// contextWriter stops a report whose reader has gone.
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
