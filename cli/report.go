package cli

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

// reportTemplate is a kind of report, with what it holds.
type reportTemplate struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
}

var reportTemplates = []reportTemplate{
	{"executive_summary", "for a board: where it stands in plain words, the worst gaps, maturity, what is due next"},
	{"full", "everything: scope, applicability, gaps, maturity, plan, evidence"},
	{"soa", "the Statement of Applicability"},
	{"gap_analysis", "the gaps, with the evidence each rests on"},
	{"maturity", "the maturity by domain and control"},
	{"poam", "the plan of action and milestones"},
	{"fedramp_poam", "the plan in the layout that FedRAMP asks for, as xlsx"},
	{"emass_poam", "the plan in the layout that eMASS takes, as xlsx"},
	{"assessment_plan", "what is assessed and how, for tools that read OSCAL"},
	{"audit_package", "a zip with all reports, evidence, decisions and hashes, signed; --format is that of its reports"},
}

var reportFormats = []string{"pdf", "html", "docx", "xlsx", "md", "csv", "json", "oscal"}

func reportTemplateNames() (out []string) {
	for _, t := range reportTemplates {
		out = append(out, t.Name)
	}
	return out
}

func (a *app) reportCommand() *cobra.Command {
	return group(&cobra.Command{
		Use: "report", Short: "Write and download reports",
		Long: `Reports are written from the assessment as it is. Where a deliverable in it is not
approved, the report is marked as a draft on every page. The scope has no gate: its own
status stands beside it.`,
		Example: "  service report create --template full --format html --out report.html\n  service report list\n  service report download ID --out report.html",
	}, a.reportCreate(), a.reportList(), a.reportShow(), a.reportDownload(), a.reportVerify(), a.reportTemplates(), a.brandingCommand())
}

func (a *app) reportCreate() *cobra.Command {
	body := api.ReportBody{Template: "full"}
	var out, layout, style string
	var force bool
	cmd := &cobra.Command{
		Use: "create --template T --format F", Short: "Write a report", Args: requireArgs(0, 0),
		Long:    "Writes a report and, with --out, saves it. Without --format, the ending of the file\nsays it.",
		Example: "  service report create --template executive_summary --format html --out board.html\n  service report create --template soa --out soa.csv",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if body.Format == "" && out != "" && out != "-" {
				format, err := formatFromPath(out)
				if err != nil {
					return err
				}
				body.Format = format
			}
			if body.Format == "" {
				return withHint(usageError("say the format of the report"), "--format is one of %s", strings.Join(reportFormats, ", "))
			}
			if err := checkOneOf("template", body.Template, reportTemplateNames()); err != nil {
				return err
			}
			if err := checkOneOf("format", body.Format, reportFormats); err != nil {
				return err
			}
			if err := a.checkOverwrite(out, force); err != nil {
				return err
			}
			if layout != "" {
				b, err := readSmallFile(layout, api.MaxOwnTemplate, "a template")
				if err != nil {
					return err
				}
				body.Layout = string(b)
			}
			if style != "" {
				b, err := readSmallFile(style, api.MaxStyleBytes, "a document for styles")
				if err != nil {
					return err
				}
				body.Style = base64.StdEncoding.EncodeToString(b)
			}
			one, err := a.currentAssessment(cmd.Context())
			if err != nil {
				return err
			}
			r, err := a.generateReport(cmd.Context(), one.ID, body)
			if err != nil {
				return err
			}
			if out != "" {
				if err := a.downloadReport(cmd.Context(), r, out, force); err != nil || a.out.IsHumanReadable() || out == "-" {
					return err
				}
			}
			return a.out.Print(r, func(p *print.Page) {
				renderReport(p, r)
				p.Blank()
				p.Command(a.commandLine("report download " + r.ID + " --out " + shellQuote(r.Filename)))
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&body.Template, "template", body.Template, "what it holds; see service report templates")
	f.StringVar(
		&body.Format,
		"format",
		"",
		"pdf, html, docx, xlsx, md or json; csv for one deliverable, oscal for full, soa, gap_analysis, poam and assessment_plan",
	)
	f.StringVar(&body.Title, "title", "", "its title")
	f.StringVar(&layout, "layout", "", "a Go template of your own, for html and md")
	f.StringVar(&style, "style", "", "a DOCX whose styles a report in docx takes")
	f.StringVar(&out, "out", "", "save it to this file; - for stdout")
	f.BoolVar(&force, "force", false, "overwrite the file")
	return cmd
}

// formatFromPath tells a report's format by a file's ending.
func formatFromPath(path string) (string, error) {
	ext := strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	if strings.HasSuffix(strings.ToLower(path), ".oscal.json") {
		ext = "oscal"
	}
	if !slices.Contains(reportFormats, ext) {
		return "", withHint(
			usageError("the ending of %q does not say which format the report should have", path),
			"use one of .%s",
			strings.Join(reportFormats, ", ."),
		)
	}
	return ext, nil
}

// generateReport writes a report and waits until it is ready.
func (a *app) generateReport(ctx context.Context, assessment string, body api.ReportBody) (*api.Report, error) {
	a.progress.Start(fmt.Sprintf("write the report (%s, %s)", humanize(body.Template), body.Format))
	defer a.progress.Done("")
	r, err := call(
		ctx,
		a,
		api.CreateReport,
		&api.CreateReportInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}, Body: body},
	)
	for err == nil && (r.Status == "queued" || r.Status == "running") {
		if err := sleep(ctx, a.pollInterval()); err != nil {
			return nil, err
		}
		r, err = call(ctx, a, api.GetReport, &api.ReportInput{ReportID: r.ID})
	}
	if err != nil {
		return nil, err
	}
	if r.Status == "failed" {
		return nil, runtimeError("the report could not be written: %s", orEmpty(r.Error))
	}
	return r, nil
}

// generateReportFile writes a report to a file; without a format, its ending says it.
func (a *app) generateReportFile(ctx context.Context, assessment string, body api.ReportBody, path string, force bool) error {
	if body.Format == "" {
		format, err := formatFromPath(path)
		if err != nil {
			return err
		}
		body.Format = format
	}
	r, err := a.generateReport(ctx, assessment, body)
	if err != nil {
		return err
	}
	return a.downloadReport(ctx, r, path, force)
}

// saveLatestReport saves the newest report of a kind: the one that the last step of the
// run has just written. Where there is none, it has one written.
func (a *app) saveLatestReport(ctx context.Context, assessment string, body api.ReportBody, path string) error {
	l, err := call(ctx, a, api.ListReports, &api.ReportsInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}})
	if err != nil {
		return err
	}
	for _, r := range l.Data {
		if r.Template == body.Template && r.Format == body.Format && r.Status == "ready" {
			return a.downloadReport(ctx, &r, path, true)
		}
	}
	return a.generateReportFile(ctx, assessment, body, path, true)
}

// downloadReport downloads a report into a file, or to stdout for "-".
func (a *app) downloadReport(ctx context.Context, r *api.Report, path string, force bool) error {
	f, err := call(ctx, a, api.DownloadReport, &api.ReportInput{ReportID: r.ID})
	if err != nil {
		return err
	}
	return a.saveDownload(f, path, force)
}

// checkOverwrite refuses a path where there is a file that the program did not write.
func (a *app) checkOverwrite(path string, force bool) error {
	if path == "" || path == "-" {
		return nil
	}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() { // a device would be replaced by a file
		return withHint(runtimeError("%s is no file", path), "give the name of one, or - for stdout")
	}
	if !force {
		if _, err := os.Lstat(path); err == nil && !a.isUnmodifiedOutput(path) {
			return withHint(runtimeError("%s is there already", path), "give another name, or --force to overwrite it")
		}
	}
	if err := checkFolderWritable(filepath.Dir(path)); err != nil {
		return runtimeError("%s can't be written: %w", path, errorWithoutPath(err))
	}
	return nil
}

// checkFolderWritable tries to make a file in a folder, so that nobody works for what can't be kept.
func checkFolderWritable(dir string) error {
	f, err := os.CreateTemp(dir, ".service-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// saveDownload writes a download into a file, whole or not at all, or to stdout for "-".
func (a *app) saveDownload(f *api.File, path string, force bool) error {
	defer f.Content.Close()
	if path == "-" {
		_, err := io.Copy(a.Stdout, f.Content)
		return err
	}
	if err := a.checkOverwrite(path, force); err != nil {
		return err
	}
	err := writeFileAtomically(path, 0o644, func(w io.Writer) error { _, err := io.Copy(w, f.Content); return err })
	if err != nil {
		var p *os.PathError
		if errors.As(err, &p) {
			err = errorWithoutPath(err)
		}
		return runtimeError("%s can't be written: %w", path, err)
	}
	a.rememberWritten(path)
	a.progress.Done("wrote %s", path)
	return nil
}

func formatApprovalStatus(r *api.Report) string {
	if r.Draft {
		return "DRAFT: a part of it is not approved"
	}
	return "all parts are approved"
}

func renderReport(p *print.Page, r *api.Report) {
	p.Title("%s", r.Title)
	p.Fields(
		print.Field{Name: "template", Value: humanize(r.Template)},
		print.Field{Name: "format", Value: r.Format},
		print.Field{Name: "status", Value: r.Status},
		print.Field{
			Name:  "standing",
			Value: formatApprovalStatus(r),
		},
		print.Field{Name: "file", Value: r.Filename + ", " + formatSize(r.SizeBytes)},
		print.Field{Name: "sha256", Value: r.SHA256},
		print.Field{
			Name:  "created",
			Value: joinNonEmpty(formatTime(r.CreatedAt), r.CreatedBy),
		},
		print.Field{Name: "error", Value: orEmpty(r.Error)},
		print.Field{Name: "id", Value: r.ID},
	)
}

func (a *app) reportList() *cobra.Command {
	var l listFlags
	cmd := &cobra.Command{
		Use: "list", Short: "List the reports of the assessment", Args: requireArgs(0, 0), Long: "Lists the reports that were written, newest first.", Example: "  service report list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			one, err := a.currentAssessment(cmd.Context())
			if err != nil {
				return err
			}
			all, err := collectPages(cmd.Context(), l.limit, l.cursor, func(p api.Paging) (*api.List[api.Report], error) {
				return call(
					cmd.Context(),
					a,
					api.ListReports,
					&api.ReportsInput{AssessmentInput: api.AssessmentInput{AssessmentID: one.ID}, Paging: p},
				)
			})
			if err != nil {
				return err
			}
			defer a.noteMoreResults(len(all.Data), all.Pagination)
			return a.out.Print(all, func(p *print.Page) {
				var rows [][]string
				for _, r := range all.Data {
					rows = append(
						rows,
						[]string{
							formatTime(r.CreatedAt),
							humanize(r.Template),
							r.Format,
							r.Status,
							yesNo(r.Draft),
							formatSize(r.SizeBytes),
							r.Title,
							r.ID,
						},
					)
				}
				p.Table(
					[]print.Column{
						{Title: "created", NoShrink: true, Optional: true},
						{Title: "template"},
						{Title: "format", Optional: true},
						{Title: "status"},
						{Title: "draft"},
						{Title: "size", AlignRight: true, Optional: true},
						{Title: "title", Optional: true},
						{Title: "id", NoShrink: true},
					},
					rows,
				)
				a.textIfEmpty(p, len(rows), "No report is written yet; `%s` writes one.", a.commandLine("report create"))
			})
		},
	}
	l.register(cmd, 0)
	return cmd
}

func (a *app) reportShow() *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show a report's record", Args: requireArgs(1, 1), Long: "Shows what a report was made from, its hash, and whether it is a draft.", Example: "  service report show ID",
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := call(cmd.Context(), a, api.GetReport, &api.ReportInput{ReportID: args[0]})
			if err != nil {
				return err
			}
			return a.out.Print(r, func(p *print.Page) { renderReport(p, r) })
		},
	}
}

func (a *app) reportDownload() *cobra.Command {
	var out string
	var force bool
	cmd := &cobra.Command{
		Use: "download ID", Short: "Save a report to a file", Args: requireArgs(1, 1), Long: "Saves a report under its own name, or as --out says. A file that is there is not\noverwritten without --force.",
		Example: "  service report download ID\n  service report download ID --out board.html",
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := call(cmd.Context(), a, api.DownloadReport, &api.ReportInput{ReportID: args[0]})
			if err != nil {
				return err
			}
			return a.saveDownload(f, downloadPath(out, f.Filename, args[0]), force)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "the file; - for stdout (default: the report's own name)")
	cmd.Flags().BoolVar(&force, "force", false, "overwrite the file")
	return cmd
}

// downloadPath is the path to save a download at: as asked, or its own name in this folder.
func downloadPath(requested, filename, id string) string {
	if requested != "" {
		return requested
	}
	if base := filepath.Base(filepath.Clean("/" + filename)); base != "/" && base != "." {
		return base
	}
	return id
}

func (a *app) reportTemplates() *cobra.Command {
	return &cobra.Command{
		Use: "templates", Short: "List the kinds of report", Args: requireArgs(0, 0), Long: "Lists the kinds of report there are, and what each holds.", Example: "  service report templates",
		RunE: func(*cobra.Command, []string) error {
			return a.out.Print(reportTemplates, func(p *print.Page) {
				var rows [][]string
				for _, t := range reportTemplates {
					rows = append(rows, []string{t.Name, t.Summary})
				}
				p.Table([]print.Column{{Title: "template", NoShrink: true}, {Title: "what it holds", Wrap: true}}, rows)
				p.Blank()
				p.Text(
					"Formats: pdf, html, docx, xlsx, md and json; csv for one deliverable; oscal for full, soa, gap_analysis, poam and assessment_plan; xlsx for fedramp_poam and emass_poam.",
				)
			})
		},
	}
}
