// Package render writes a report in a format: HTML, PDF, Word, Markdown, workbook, CSV, JSON or OSCAL.
// Package content decides what the report says.
//
// It is a pure library: the caller collects the Source at one moment and stores the output. The same
// Source gives the same bytes. The package must not access a store, a clock or the network.
package render

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/render/officelayout"
	"github.com/scf-service/service/engine/report/render/pdf"
	"github.com/scf-service/service/engine/report/render/usertemplate"
)

// Request specifies a report to write. If Title is empty, the report has the default title of its template.
type Request struct {
	Template, Format, Title string
	// WithAppendices binds the appendices into a report for a client.
	WithAppendices bool
	// Paper is the page size: letter; any other value means A4.
	Paper string
	// Fonts are for characters missing from the built-in PDF fonts.
	Fonts pdf.Fonts
	// CustomTemplate is a user's Go template for HTML or Markdown; if empty, the built-in one is
	// used.
	CustomTemplate string
	// Layout is an optional DOCX file that is filled in with the report's data.
	Layout []byte
	// Style is an optional DOCX file whose styles a DOCX report uses.
	Style []byte
}

// Write writes a report to w. It returns a VALIDATION_ERROR if the template or the format is not supported, ctx's
// error if ctx ends, or the error of a failed write.
func Write(ctx context.Context, w io.Writer, src *content.Source, r Request) error {
	if err := CheckSupported(r.Template, r.Format); err != nil {
		return err
	}
	if src == nil {
		return fmt.Errorf("the report has no source")
	}
	if err := src.Brand.Validate(); err != nil {
		return err
	}
	v := content.New(src, r.Template, r.Title, r.Format == FormatJSON)
	v.Paper = block.Paper(r.Paper)
	if r.WithAppendices {
		v.BindAppendices()
	}
	out := bufio.NewWriterSize(&contextWriter{ctx: ctx, w: w}, 1<<16)
	f, _ := findFormat(r.Format)
	var err error
	switch {
	case r.CustomTemplate != "":
		if err = usertemplate.Write(ctx, out, v.LayoutData(), r.CustomTemplate, r.Format); err == nil {
			_, err = fmt.Fprintf(out, "\n<!-- Written by %s. -->\n", v.Tool) // lets the evidence reader recognize it
		}
	case r.Layout != nil:
		err = officelayout.Write(ctx, out, r.Layout, r.Format, v)
	default:
		err = f.write(out, v, r)
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return fmt.Errorf("write the %s report as %s: %w", r.Template, r.Format, err)
	}
	return nil
}

// contextWriter is an io.Writer that fails as soon as its context has ended.
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

// writeJSON writes the content of the report as JSON.
func writeJSON(w io.Writer, v *content.Report) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return enc.Encode(v.Data())
}
