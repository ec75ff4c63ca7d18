package report

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/render"
)

// auditPackage is the template whose file is a zip: the assessment's archive, which can be
// checked by itself, with its reports to read beside it.
//
//	READ-ME.txt         what is in it, and how to check it
//	readable/           each template in the format that was asked for
//	tables/             each list as CSV
//	data/full.json      everything, for programs
//	the rest            the archive, as package archive says
const auditPackage = "audit_package"

// archiveWriter writes an assessment's archive with more files in it.
type archiveWriter interface {
	WritePackage(ctx context.Context, by api.Caller, id string, w io.Writer, more map[string][]byte) error
}

// checkSupported is report.Supported, which knows nothing of packages.
func checkSupported(template, format string) error {
	if template != auditPackage {
		return render.CheckSupported(template, format)
	}
	if render.Extension(format) == "" {
		return api.Invalid(
			"format",
			"the reports of an audit package can't be written as %q; name a format of the full report, such as pdf or html",
			format,
		)
	}
	return nil
}

// fileType is how a report's file is sent, and how its name ends.
func fileType(template, format string) (contentType, ending string) {
	if template == auditPackage {
		return "application/zip", ".zip"
	}
	return render.ContentType(format), render.Extension(format)
}

// contentTemplate is the template whose content a report has: a package tells all of it.
func contentTemplate(template string) string {
	if template == auditPackage {
		return render.TemplateFull
	}
	return template
}

// writeAuditPackage writes an audit package.
func (s *Service) writeAuditPackage(ctx context.Context, by api.Caller, src *render.Source, b api.ReportBody, w io.Writer) error {
	files := map[string][]byte{}
	add := func(folder, template, format string) error {
		asked, err := s.renderRequest(api.ReportBody{Template: template, Format: format})
		if err != nil {
			return err
		}
		var buf bytes.Buffer
		err = render.Write(ctx, &buf, src, asked)
		if api.IsCode(err, api.CodeValidation) && format == render.FormatOSCAL {
			return nil // there is nothing of it to tell yet
		}
		if err != nil {
			return err
		}
		files[folder+"/"+template+render.Extension(format)] = buf.Bytes()
		return nil
	}
	for _, template := range render.Templates() {
		for _, one := range []struct{ folder, format string }{{"readable", b.Format}, {"tables", render.FormatCSV}} {
			if render.CheckSupported(template, one.format) != nil {
				continue
			}
			if err := add(one.folder, template, one.format); err != nil {
				return err
			}
		}
	}
	if err := add("data", render.TemplateFull, render.FormatJSON); err != nil {
		return err
	}
	files["READ-ME.txt"] = packageReadMe(src)
	return s.Archives.WritePackage(ctx, by, src.Assessment.ID, w, files)
}

// packageReadMe says what is in a package, to whoever opens it.
func packageReadMe(src *render.Source) []byte {
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
	if render.IsDraft(src, render.TemplateFull) {
		b.WriteString("DRAFT: not everything in it was approved; the reports say what.\n\n")
	}
	b.WriteString(`readable/         the reports
tables/           the same lists as CSV
data/full.json    the same as data
soa/, gap_analysis/, maturity/, poam/
                  every version of each deliverable, with its items
approvals.jsonl   who decided what, each with the SHA-256 of what was decided on
documents.jsonl   the evidence, with its SHA-256; the files are in documents/
reports.jsonl     the reports written before, the files are in reports/
audit.jsonl       the organization's audit trail, each record with the hash of the one before
manifest.json     every file here with its SHA-256
manifest.sig      the signature of manifest.json (Ed25519)

To check it: service verify FILE. It tells whether any file was changed, whether the
trail holds, and whether each approval is of exactly the content that is here.
`)
	return []byte(b.String())
}
