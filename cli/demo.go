package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

const (
	demoName      = "Harborquill Cargo demo"
	demoClient    = "Harborquill Cargo"
	demoFramework = "iso-27001-2022"
)

func (a *app) demoCommand() *cobra.Command {
	dir := "."
	cmd := &cobra.Command{
		Use: "demo", Short: "Run a complete assessment of an example company",
		Long: `Assesses Harborquill Cargo, a fictional company, against ISO/IEC 27001:2022: reads its
documents, drafts the scope, Statement of Applicability, gap analysis, maturity assessment
and plan, and writes report.html and report.json. The demo approves all four gates
in your name; in your own assessments, you decide.

An existing report.html that was not written by the demo is never overwritten.`,
		Example: "  service demo\n  service demo --out /tmp/demo\n  service demo -o json --jq '.summary.compliance_pct'",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.runDemo(cmd.Context(), dir) },
	}
	cmd.Flags().StringVar(&dir, "out", ".", "folder for the reports; created if missing")
	return cmd
}

func (a *app) runDemo(ctx context.Context, dir string) error {
	started := a.Clock()
	if a.DemoEvidence == nil {
		return runtimeError("this build of the program doesn't include the demo")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return runtimeError("the folder %s can't be created: %w", dir, errorWithoutPath(err))
	}
	if err := checkFolderWritable(dir); err != nil {
		return withHint(
			runtimeError("the report folder %s is not writable: %w", dir, errorWithoutPath(err)),
			"choose another with `%s`",
			a.suggestedCommandLine("demo --out DIR"),
		)
	}
	files, skipped, _ := walkTree(a.DemoEvidence, "")
	for i := range files {
		files[i].Path = "" // the file isn't from one of the user's folders
	}
	name, err := a.findUnusedAssessmentName(ctx, demoName)
	if err != nil {
		return err
	}
	o := runOptions{
		frameworks: []string{demoFramework}, approve: api.Gates, until: api.StateReportGenerated,
		comment: api.ApprovedInAdvance + " for the demo", client: demoClient,
	}
	one, err := a.createAssessment(ctx, name, o)
	if err != nil {
		return err
	}
	a.rememberAssessment(one.ID)
	a.interruptHint = fmt.Sprintf(
		"the demo was saved as %q; continue this demo with `%s`, or start a new demo with `%s`",
		name,
		a.suggestedCommandLine("assess run --approve"),
		a.suggestedCommandLine("demo"),
	)
	got, err := a.uploadNewFiles(ctx, one.ID, files, "")
	if err != nil {
		return err
	}
	if err := a.advanceAssessment(ctx, one.ID, o); err != nil {
		return err
	}
	var written []string
	for _, format := range []string{"html", "json"} {
		path, err := a.findWritableReportPath(filepath.Join(dir, "report."+format))
		if err != nil {
			return err
		}
		if err := a.saveLatestOrNewReport(
			ctx,
			one.ID,
			api.ReportBody{Template: defaultReportTemplate(format), Format: format},
			path,
		); err != nil {
			return err
		}
		written = append(written, path)
	}
	out, err := a.fetchRunResult(ctx, one.ID, append(skipped, got.Skipped...), started)
	if err != nil {
		return err
	}
	out.Reports = written
	out.renderHeader = func(p *print.Page) {
		p.Text("Demo of a fictional company. The four approvals were given automatically in your name.")
	}
	out.renderFooter = func(p *print.Page) { a.renderDemoSuggestions(p, out) }
	return a.out.Print(out, out.renderer(a))
}

// renderDemoSuggestions prints commands to try on the demo's results.
func (a *app) renderDemoSuggestions(p *print.Page, o *runResult) {
	p.Title("Try next")
	if len(o.WorstFindings) > 0 {
		p.Command(a.suggestedCommandLine("gap show " + o.WorstFindings[0].ControlCode))
	} else {
		p.Command(a.suggestedCommandLine("gap list"))
	}
	p.Command(a.suggestedCommandLine("search 'who approves access rights'"))
	p.Command(a.suggestedCommandLine("poam list --severity high"))
	p.Blank()
	p.Text("To assess your own documents, run `%s`.", a.suggestedCommandLine("assess run DIR --framework "+demoFramework))
}

// findUnusedAssessmentName returns name. If an assessment already has that name, it appends a number to make
// it unique.
func (a *app) findUnusedAssessmentName(ctx context.Context, name string) (string, error) {
	for n := 1; ; n++ {
		candidate := name
		if n > 1 {
			candidate = fmt.Sprintf("%s %d", name, n)
		}
		found, err := a.findAssessmentsByName(ctx, candidate)
		if err != nil {
			return "", err
		}
		if len(found) == 0 {
			return candidate, nil
		}
	}
}

// findWritableReportPath returns path. If the program did not write the file at path, it appends a number to
// the stem, so that the file is not overwritten.
func (a *app) findWritableReportPath(path string) (string, error) {
	stem, ext := strings.TrimSuffix(path, filepath.Ext(path)), filepath.Ext(path)
	for n := 1; n < 1000; n++ {
		candidate := path
		if n > 1 {
			candidate = fmt.Sprintf("%s-%d%s", stem, n, ext)
		}
		if _, err := os.Lstat(candidate); os.IsNotExist(err) || a.isUnmodifiedOutput(candidate, "") {
			if n > 1 {
				a.progress.Notice("%s was not written by this program, so the report is saved as %s", path, candidate)
			}
			return candidate, nil
		}
	}
	return "", runtimeError("no unused file name found for %s", path)
}
