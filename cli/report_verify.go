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
		Use: "verify FILE|ID", Short: "Check that a file is a report as it was written", Args: requireArgs(1, 1),
		Long: `Tells whether a file is, byte for byte, a report that the service wrote for your
organization, and which assessment and versions it was made from. Where those are still
what there is, the report is written anew and compared. Exit code 1 where the file is
none of its reports, or was changed.`,
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
					code: exitVerdict, err: fmt.Errorf("%s is no report that was written here for your organization, or it was changed since: no report has its SHA-256, %s", args[0], sum),
					hint: fmt.Sprintf("`%s` lists the reports there are; download one again to compare", a.commandLine("report list")),
				}
			}
			if err != nil {
				return err
			}
			return a.printReportVerification(v)
		},
	}
}

// hashFileIfExists is the SHA-256 of a file; empty where there is none of that name.
func hashFileIfExists(path string) (string, error) {
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return "", nil
	}
	if err != nil {
		return "", runtimeError("%s can't be read: %w", path, errorWithoutPath(err))
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() {
		return "", usageError("%s is no file: name a report, or its id", path)
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", runtimeError("%s can't be read: %w", path, errorWithoutPath(err))
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
			{Name: "report", Value: r.Title},
			{Name: "template", Value: humanize(r.Template) + " as " + r.Format},
			{Name: "standing", Value: formatApprovalStatus(r)},
			{Name: "written", Value: joinNonEmpty(formatTime(r.CreatedAt), r.CreatedBy)},
			{Name: "sha256", Value: r.SHA256},
		}
		for _, name := range sortedKeys(r.Sources) {
			fields = append(fields, print.Field{Name: humanize(name), Value: r.Sources[name]})
		}
		p.Fields(append(fields, print.Field{Name: "id", Value: r.ID})...)
		if len(v.Changed) > 0 {
			p.Blank()
			var rows [][]string
			for _, c := range v.Changed {
				rows = append(rows, []string{humanize(c.Name), orEmpty(c.Was), orEmpty(c.Is)})
			}
			p.Table([]print.Column{{Title: "changed since", NoShrink: true}, {Title: "was", Wrap: true}, {Title: "is", Wrap: true}}, rows)
		}
	})
	if err != nil || v.OK {
		return err
	}
	return &exitError{code: exitVerdict, err: fmt.Errorf("it does not hold: %s", v.Outcome)}
}
