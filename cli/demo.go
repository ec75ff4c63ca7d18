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
	demoFramework = "iso-27001-2022"
)

func (a *app) demoCommand() *cobra.Command {
	dir := "."
	cmd := &cobra.Command{
		Use: "demo", Short: "Run the whole job on an example company", Args: requireArgs(0, 0),
		Long: `Assesses Harborquill Cargo, a company that does not exist, against ISO/IEC 27001:2022:
reads its documents, drafts scope, Statement of Applicability, gaps, maturity and
plan, and writes report.html and report.json. Because it is a demo, it approves at
each of the four gates as you; in an assessment of your own you decide there.

A report.html that the demo did not write is never overwritten.`,
		Example: "  service demo\n  service demo --out /tmp/demo\n  service demo -o json --jq '.summary.compliance_pct'",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.runDemo(cmd.Context(), dir) },
	}
	cmd.Flags().StringVar(&dir, "out", ".", "folder for the reports; made where it is missing")
	return cmd
}

func (a *app) runDemo(ctx context.Context, dir string) error {
	started := a.Clock()
	if a.DemoEvidence == nil {
		return runtimeError("this build holds no example")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return runtimeError("the folder %s can't be made: %w", dir, errorWithoutPath(err))
	}
	if err := checkFolderWritable(dir); err != nil {
		return withHint(
			runtimeError("nothing can be written in the folder %s, where the reports go: %w", dir, errorWithoutPath(err)),
			"name another with `%s`",
			a.commandLine("demo --out DIR"),
		)
	}
	files, left := walkTree(a.DemoEvidence, "")
	for i := range files {
		files[i].Path = "" // it is in no folder of the person's
	}
	name, err := a.findUnusedName(ctx, demoName)
	if err != nil {
		return err
	}
	o := runOptions{
		frameworks: []string{demoFramework}, approve: api.Gates, until: api.StateReportGenerated,
		comment: "approved in advance: this is the demo",
	}
	one, err := a.createAssessment(ctx, name, o)
	if err != nil {
		return err
	}
	a.rememberAssessment(one.ID)
	a.interruptHint = fmt.Sprintf(
		"the demo is kept as %q; go on with `%s`, or start a new one with `%s`",
		name,
		a.commandLine("assess run --approve"),
		a.commandLine("demo"),
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
		path, err := a.findUnusedPath(filepath.Join(dir, "report."+format))
		if err != nil {
			return err
		}
		if err := a.saveLatestReport(ctx, one.ID, api.ReportBody{Template: "full", Format: format}, path); err != nil {
			return err
		}
		written = append(written, path)
	}
	out, err := a.readRunResult(ctx, one.ID, append(left, got.Skipped...), started)
	if err != nil {
		return err
	}
	out.Reports = written
	out.renderHeader = func(p *print.Page) {
		p.Text("A demo on a made-up company. The four approvals were given in advance in your name, because it is a demo.")
	}
	out.renderFooter = func(p *print.Page) { a.renderSuggestions(p, out) }
	return a.out.Print(out, out.renderer(a))
}

// renderSuggestions proposes three commands that work on what the demo made.
func (a *app) renderSuggestions(p *print.Page, o *runResult) {
	p.Title("Try next")
	if len(o.WorstFindings) > 0 {
		p.Command(a.commandLine("gap show " + o.WorstFindings[0].ControlCode))
	} else {
		p.Command(a.commandLine("gap list"))
	}
	p.Command(a.commandLine("search 'who approves access rights'"))
	p.Command(a.commandLine("poam list --severity high"))
	p.Blank()
	p.Text("And for documents of your own: `%s`.", a.commandLine("assess run DIR --framework "+demoFramework))
}

// findUnusedName is the name, with a number behind it where it is taken.
func (a *app) findUnusedName(ctx context.Context, name string) (string, error) {
	for n := 1; ; n++ {
		candidate := name
		if n > 1 {
			candidate = fmt.Sprintf("%s %d", name, n)
		}
		found, err := a.assessmentsByName(ctx, candidate)
		if err != nil {
			return "", err
		}
		if len(found) == 0 {
			return candidate, nil
		}
	}
}

// findUnusedPath is the path, with a number behind its stem where there is a file that the
// program did not write.
func (a *app) findUnusedPath(path string) (string, error) {
	stem, ext := strings.TrimSuffix(path, filepath.Ext(path)), filepath.Ext(path)
	for n := 1; n < 1000; n++ {
		candidate := path
		if n > 1 {
			candidate = fmt.Sprintf("%s-%d%s", stem, n, ext)
		}
		if _, err := os.Lstat(candidate); os.IsNotExist(err) || a.isUnmodifiedOutput(candidate) {
			if n > 1 {
				a.progress.Notice("%s is not this program's, so the report goes to %s", path, candidate)
			}
			return candidate, nil
		}
	}
	return "", runtimeError("there is no free name for %s", path)
}
