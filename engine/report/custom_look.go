package report

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/render"
	"github.com/scf-service/service/engine/report/render/officelayout"
	"github.com/scf-service/service/engine/report/render/usertemplate"
	"github.com/scf-service/service/engine/report/wording"
)

// Names of the entries in a report's sources for the hashes of a custom template and of custom
// styles. The template and styles themselves are not stored.
const (
	sourceTemplateHash = "layout_sha256"
	sourceStyleHash    = "style_sha256"
)

// checkCustomLook returns an error if a request has a custom template or styles that the requested kind of
// report can't use.
func checkCustomLook(b api.ReportBody) error {
	switch {
	case b.Layout != "" && b.Template == auditPackage:
		return api.Invalid("layout", "an audit package can't use a custom template; create a separate report with the template")
	case isOfficeLayout(b):
		if b.Style != "" {
			return api.Invalid("style", "the layout contains its own styles; omit the style document")
		}
		return checkOfficeLayout(b.Layout)
	case b.Layout != "":
		if err := usertemplate.CheckSyntax(b.Layout, b.Format); err != nil {
			return err
		}
	}
	if b.Paper != "" && (b.Layout != "" || !slices.Contains([]string{render.FormatPDF, render.FormatDOCX, render.FormatXLSX}, b.Format)) {
		return api.Invalid("paper", "the paper size can only be set for pdf, docx and xlsx reports that don't use a layout")
	}
	if b.Style != "" && b.Format != render.FormatDOCX {
		return api.Invalid("style", "a style document can only be used for docx reports, not for %s", b.Format)
	}
	return nil
}

// addCustomLookHashes adds the hashes of a request's custom template and styles, if it has any, to a report's
// sources.
func addCustomLookHashes(sources map[string]string, b api.ReportBody) map[string]string {
	for name, text := range map[string]string{sourceTemplateHash: b.Layout, sourceStyleHash: b.Style} {
		if text == "" {
			continue
		}
		var file io.Reader = strings.NewReader(text)
		if name == sourceTemplateHash && isOfficeLayout(b) {
			file = base64.NewDecoder(base64.StdEncoding, file)
		}
		h := sha256.New()
		_, _ = io.Copy(h, file) // the layout is valid, because the report was written with it
		sources[name] = hex.EncodeToString(h.Sum(nil))
	}
	return sources
}

// isOfficeLayout reports whether a request's layout is an Office document, which is encoded as Base64.
func isOfficeLayout(b api.ReportBody) bool {
	return b.Layout != "" && officeFormats[b.Format]
}

// officeFormats lists the formats whose layouts are Office documents.
var officeFormats = map[string]bool{render.FormatDOCX: true, render.FormatPPTX: true}

// checkOfficeLayout returns an error if a layout's file is too large or not valid Base64. It doesn't keep the file
// in memory.
func checkOfficeLayout(text string) error {
	size, err := io.Copy(io.Discard, base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
	if err != nil {
		return api.Invalid("layout", "the layout is not valid Base64; encode the file as Base64")
	}
	if size > api.MaxOfficeLayoutBytes {
		return api.Invalid(
			"layout", "the layout is too large (%s; the maximum is %s); reduce the size of its images",
			wording.FormatByteSize(size), wording.FormatByteSize(api.MaxOfficeLayoutBytes),
		)
	}
	return nil
}

func decodeOfficeLayout(text string) ([]byte, error) {
	if err := checkOfficeLayout(text); err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(text)
}

// LintLayout checks a layout without writing a report.
func (s *Service) LintLayout(_ context.Context, _ api.Caller, in *api.LintLayoutInput) (*api.LayoutLint, error) {
	out := &api.LayoutLint{OK: true, Problems: []api.LayoutProblem{}}
	if !officeFormats[in.Body.Format] {
		if err := usertemplate.CheckSyntax(in.Body.Layout, in.Body.Format); err != nil {
			out.OK = false
			out.Problems = append(out.Problems, api.LayoutProblem{Level: "error", Place: "template", Message: err.Error()})
		}
		return out, nil
	}
	file, err := decodeOfficeLayout(in.Body.Layout)
	if err != nil {
		return nil, err
	}
	l, err := officelayout.Read(file, in.Body.Format)
	if err != nil {
		return nil, err
	}
	problems, n := l.Problems()
	out.Placeholders = n
	for _, p := range problems {
		one := api.LayoutProblem{
			Level: "error", Part: p.Part, Place: p.Place, Placeholder: p.Tag, Message: p.Message, Suggestion: p.Suggestion,
		}
		if p.Warning {
			one.Level = "warning"
		} else {
			out.OK = false
		}
		out.Problems = append(out.Problems, one)
	}
	return out, nil
}

// ExampleLayout returns a layout that demonstrates everything a layout can contain.
func (s *Service) ExampleLayout(_ context.Context, _ api.Caller, in *api.ExampleLayoutInput) (*api.ExampleLayout, error) {
	format := cmp.Or(in.Format, render.FormatDOCX)
	b, err := officelayout.Example(format)
	if err != nil {
		return nil, err
	}
	return &api.ExampleLayout{Format: format, Layout: base64.StdEncoding.EncodeToString(b)}, nil
}

// hasCustomLook reports whether a report was written with a custom template or custom styles. These are not
// stored, so such a report can't be reproduced.
func hasCustomLook(r *api.Report) bool {
	return r.Sources[sourceTemplateHash]+r.Sources[sourceStyleHash] != ""
}
