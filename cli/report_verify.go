package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/internal/regularfile"
)

func (a *app) reportVerify() *cobra.Command {
	return &cobra.Command{
		Use: "verify FILE|ID", Short: "Verify that a file is an unmodified report",
		Long: `Checks whether a file is identical, byte for byte, to a report that the service created for your
organization, and shows the assessment and the versions that the report was created from. If these
versions are still current, the report is created again and compared. The exit code is 1 if the
file is not one of your organization's reports or was modified.`,
		Example: "  service report verify board.pdf\n  service report verify ID",
		RunE: func(cmd *cobra.Command, args []string) error {
			ref := args[0]
			sum, err := hashFileIfExists(cmd.Context(), ref)
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
					err:  fmt.Errorf("%s is not one of your organization's reports, or was modified: "+"no report has the SHA-256 hash %s", args[0], sum),
					hint: fmt.Sprintf("list the reports with `%s`, then download the original report to compare", a.suggestedCommandLine("report list")),
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
func hashFileIfExists(ctx context.Context, path string) (string, error) {
	f, err := regularfile.Open(ctx, path, regularfile.NoLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", withHint(fileError(path, err), "specify a report file or a report id")
	}
	defer f.Close()
	sum, err := hashReader(f)
	if err != nil {
		return "", fileError(path, err)
	}
	return sum, nil
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
			field("template", prose.Humanize(r.Template)+" as "+r.Format),
			field("approval", formatApprovalStatus(r)),
			field("created", joinNonEmpty(print.FormatTime(r.CreatedAt), r.CreatedBy)),
			field("sha256", r.SHA256),
		}
		for _, name := range sortedKeys(r.Sources) {
			fields = append(fields, field(prose.Humanize(name), r.Sources[name]))
		}
		p.Fields(append(fields, field("id", r.ID))...)
		if len(v.Changed) > 0 {
			p.Blank()
			renderTable(
				p,
				v.Changed,
				[]print.Column{fixed("changed since"), wrapped("was"), wrapped("is")},
				func(c api.SourceChange) []string {
					return []string{prose.Humanize(c.Name), orZero(c.Previous), orZero(c.Current)}
				},
			)
		}
	})
	if err != nil || v.OK {
		return err
	}
	return &exitError{code: exitVerdict, err: fmt.Errorf("verification failed: %s", v.Outcome)}
}
