package report

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/render"
)

// auditPackage is the template that produces a zip file: the assessment's archive, which can be
// verified offline, together with readable reports.
//
//	READ-ME.txt         contents, and how to verify them
//	readable/           each template in the requested format
//	tables/             each list as CSV
//	data/full.json      the full report as data
//	the rest            the archive, as described in package archive
const auditPackage = "audit_package"

// archiveWriter writes the archive of an assessment together with additional files.
type archiveWriter interface {
	WritePackage(ctx context.Context, by api.Caller, id string, w io.Writer, more map[string][]byte) error
}

// checkSupported is like render.CheckSupported, but also accepts audit packages, which package
// render doesn't handle.
func checkSupported(template, format string) error {
	if template != auditPackage {
		return render.CheckSupported(template, format)
	}
	if render.Extension(format) == "" {
		return api.Invalid(
			"format",
			"an audit package can't contain reports in the format %q; choose one that the full report supports, such as pdf or html",
			format,
		)
	}
	return nil
}

// fileType returns the content type and file name extension of a report.
func fileType(template, format string) (contentType, ending string) {
	if template == auditPackage {
		return "application/zip", ".zip"
	}
	return render.ContentType(format), render.Extension(format)
}

// contentTemplate returns the template that defines the content of a report. For an audit package, that is
// the full report.
func contentTemplate(template string) string {
	if template == auditPackage {
		return content.TemplateFull
	}
	return template
}

func (s *Service) writeAuditPackage(ctx context.Context, by api.Caller, src *content.Source, b api.ReportBody, w io.Writer) error {
	files := map[string][]byte{}
	add := func(folder, template, format string) error {
		request, err := s.toRenderRequest(api.ReportBody{Template: template, Format: format})
		if err != nil {
			return err
		}
		var buf bytes.Buffer
		err = render.Write(ctx, &buf, src, request)
		if api.IsCode(err, api.CodeValidation) && format == render.FormatOSCAL {
			return nil // OSCAL can't represent it yet
		}
		if err != nil {
			return err
		}
		files[folder+"/"+template+render.Extension(format)] = buf.Bytes()
		return nil
	}
	for _, template := range content.TemplateNames() {
		for _, one := range []struct{ folder, format string }{{"readable", b.Format}, {"tables", render.FormatCSV}} {
			if render.CheckSupported(template, one.format) != nil {
				continue
			}
			if err := add(one.folder, template, one.format); err != nil {
				return err
			}
		}
	}
	if err := add("data", content.TemplateFull, render.FormatJSON); err != nil {
		return err
	}
	files["READ-ME.txt"] = packageReadMe(src)
	return s.Archives.WritePackage(ctx, by, src.Assessment.ID, w, files)
}

// packageReadMe returns the text of READ-ME.txt: what an audit package contains and how to verify it.
func packageReadMe(src *content.Source) []byte {
	var b strings.Builder
	line := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	fmt.Fprintf(
		&b,
		"Audit package\n\n%s: %s\nAs of %s, written by %s\n\n",
		line(src.Organization.Name),
		line(src.Assessment.Name),
		src.AsOf.UTC().Format("2006-01-02 15:04 UTC"),
		src.Tool,
	)
	if content.IsDraft(src, content.TemplateFull) {
		b.WriteString("DRAFT: not everything in this package has been approved; see the reports.\n\n")
	}
	b.WriteString(`readable/         the reports
tables/           the lists in the reports, as CSV
data/full.json    the full report as data
soa/, gap_analysis/, maturity/, poam/
                  every version of each deliverable, with its items
approvals.jsonl   each decision, with the SHA-256 of the content it applies to
documents.jsonl   the evidence register with SHA-256 hashes; the files are in documents/
reports.jsonl     earlier reports; the files are in reports/
audit.jsonl       the organization's audit trail, each record linked to the previous one by its hash
manifest.json     every file in this package with its SHA-256
manifest.sig      the signature of manifest.json (Ed25519)

To verify this package, run: service verify FILE. It checks that no file was changed, that
the audit trail is intact, and that each approval applies to exactly this content.
`)
	return []byte(b.String())
}
