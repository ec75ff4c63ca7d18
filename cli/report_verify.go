package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

func (a *app) reportVerify() *cobra.Command {
	return &cobra.Command{
		Use: "verify FILE|ID", Short: "Verify that a file is an unmodified report",
		Long: `Checks whether a file is, byte for byte, a report that the service created for your
organization, and shows the assessment and versions it was made from. If those are still
current, the report is created again and compared. Exits with 1 if the file is
not one of its reports or was modified.`,
		Example: "  service report verify board.pdf\n  service report verify ID",
		RunE: func(cmd *cobra.Command, args []string) error {
			ref := args[0]
			sum, err := hashFileIfExists(ref)
			if err != nil {
				return err
			}
			if sum != "" {
				ref = sum
			}
			v, err := call(cmd.Context(), a, api.VerifyReport, &api.VerifyReportInput{ReportID: ref})
			if sum != "" && api.IsCode(err, api.CodeNotFound) {
				return &exitError{
					code: exitVerdict,
					err:  fmt.Errorf("%s is not a report of your organization, or was modified: "+"no report has the SHA-256 %s", args[0], sum),
					hint: fmt.Sprintf("list the reports with `%s` and download one again to compare", a.suggestedCommandLine("report list")),
				}
			}
			if err != nil {
				return err
			}
			return a.printReportVerification(v)
		},
	}
}

// hashFileIfExists returns the SHA-256 of a file, or "" if it doesn't exist.
func hashFileIfExists(path string) (string, error) {
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return "", nil
	}
	if err != nil {
		return "", runtimeError("can't read %s: %w", path, errorWithoutPath(err))
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() {
		return "", usageError("%s is not a file; give a report file or a report id", path)
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", runtimeError("can't read %s: %w", path, errorWithoutPath(err))
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func (a *app) printReportVerification(v *api.ReportVerification) error {
	err := a.out.Print(v, func(p *print.Page) {
		r := &v.Report
		mark := "✗"
		if v.OK {
			mark = "✓"
		}
		p.Text("%s %s", mark, v.Message)
		p.Blank()
		fields := []print.Field{
			field("report", r.Title),
			field("template", humanize(r.Template)+" as "+r.Format),
			field("approval", formatApprovalStatus(r)),
			field("created", joinNonEmpty(formatTime(r.CreatedAt), r.CreatedBy)),
			field("sha256", r.SHA256),
		}
		for _, name := range sortedKeys(r.Sources) {
			fields = append(fields, field(humanize(name), r.Sources[name]))
		}
		p.Fields(append(fields, field("id", r.ID))...)
		if len(v.Changed) > 0 {
			p.Blank()
			renderTable(
				p,
				v.Changed,
				[]print.Column{fixed("changed since"), wrapped("was"), wrapped("is")},
				func(c api.SourceChange) []string {
					return []string{humanize(c.Name), orEmpty(c.Previous), orEmpty(c.Current)}
				},
			)
		}
	})
	if err != nil || v.OK {
		return err
	}
	return &exitError{code: exitVerdict, err: fmt.Errorf("verification failed: %s", v.Outcome)}
}
