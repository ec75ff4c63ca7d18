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
	"github.com/scf-service/service/internal/prose"
)

// reportTemplate is a report template with a summary of its contents.
type reportTemplate struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
}

var reportTemplates = []reportTemplate{
	{"client", "for the client: overall result, key risks and roadmap, with details in appendices"},
	{"executive_summary", "for a board, on two pages: overall result, key risks with first steps, and the plan by quarter"},
	{"full", "everything: scope, applicability, gaps, maturity, plan and evidence"},
	{"soa", "the Statement of Applicability"},
	{"gap_analysis", "the gaps, each with its evidence"},
	{"maturity", "the maturity levels by domain and control"},
	{"poam", "the plan of action and milestones"},
	{"fedramp_poam", "the plan in the FedRAMP POA&M layout (xlsx)"},
	{"emass_poam", "the plan in the eMASS import layout (xlsx)"},
	{"assessment_plan", "assessment plan for OSCAL tools: what is assessed, and how"},
	{"audit_package", "a signed ZIP file with all reports, evidence, decisions and hashes; --format sets the format of the reports"},
}

var reportFormats = []string{"pdf", "html", "docx", "pptx", "xlsx", "md", "csv", "json", "oscal"}

func reportTemplateNames() (out []string) {
	for _, t := range reportTemplates {
		out = append(out, t.Name)
	}
	return out
}

func (a *app) reportCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "report", Short: "Create and download reports",
		Long: `Reports are created from the current state of the assessment. If a deliverable in the report is not
approved, the report is marked as a draft on every page. The scope has no approval gate: its own
status is shown instead.`,
		Example: "  service report create --template full --format html --out report.html\n  service report list\n" +
			"  service report download ID --out report.html",
	}, a.reportCreate(), a.reportList(), a.reportShow(), a.reportDownload(), a.reportVerify(), a.reportTemplates(), a.reportLint(),
		a.layoutCommand(), a.brandingCommand())
}

func (a *app) reportCreate() *cobra.Command {
	body := api.ReportBody{Template: "client"}
	var out, layout, style, appendices string
	var force bool
	cmd := &cobra.Command{
		Use: "create --template T --format F", Short: "Create a report",
		Long: "Creates a report and, with --out, saves it to a file. Without --format, the extension of the file\n" +
			"determines the format. --layout uses your own document as the template: a Word document or\n" +
			"presentation with placeholders, or a Go template for HTML or Markdown.",
		Example: "  service report create --out report.pdf --appendices appendices\n" +
			"  service report create --template soa --out soa.csv\n" +
			"  service report create --layout partner.docx --out acme.docx",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkLayoutFormat(&body.Format, layout, out); err != nil {
				return err
			}
			if body.Format == "" && out != "" && out != "-" {
				format, err := reportFormatFromPath(out)
				if err != nil {
					return err
				}
				body.Format = format
			}
			if body.Format == "" {
				return withHint(usageError("no report format given"), "set --format to one of %s", strings.Join(reportFormats, ", "))
			}
			if !cmd.Flags().Changed("template") {
				body.Template = defaultReportTemplate(body.Format)
			}
			if layout != "" {
				var err error
				if body.Layout, err = a.readLayout(layout, body.Format); err != nil {
					return err
				}
			}
			if style != "" {
				b, err := a.readFile(style, api.MaxStyleBytes)
				if err != nil {
					return err
				}
				body.Style = base64.StdEncoding.EncodeToString(b)
			}
			one, err := a.currentAssessment(cmd.Context())
			if err != nil {
				return err
			}
			if err := a.rejectUnusableReportPath(out, one.ID, force); err != nil {
				return err
			}
			if body.Compare != "" {
				earlier, err := a.findAssessment(cmd.Context(), body.Compare)
				if err != nil {
					return err
				}
				body.Compare = earlier.ID
			}
			r, err := a.generateReport(cmd.Context(), one.ID, body)
			if err != nil {
				return err
			}
			if appendices != "" {
				if err := a.saveAppendices(cmd.Context(), one.ID, appendices, force); err != nil {
					return err
				}
			}
			if out != "" {
				if err := a.downloadReport(cmd.Context(), r, out, force); err != nil || a.out.IsHumanReadable() || out == "-" {
					return err
				}
			}
			return a.out.Print(r, func(p *print.Page) {
				renderReport(p, r)
				p.Blank()
				p.Command(a.suggestedCommandLine("report download " + r.ID + " --out " + shellQuote(r.Filename)))
			})
		},
	}
	f := cmd.Flags()
	addChoiceFlag(
		f, &body.Template, "template", reportTemplateNames(),
		"report template, as listed by 'service report templates'; for json, oscal and xlsx, the default is full",
	)
	addChoiceFlag(
		f, &body.Format, "format", reportFormats,
		"pdf, html, docx, xlsx, md or json; pptx for client, executive_summary and full; csv for one deliverable, "+
			"oscal for full, soa, gap_analysis, poam and assessment_plan",
	)
	f.StringVar(&body.Title, "title", "", "report title")
	f.BoolVar(&body.WithAppendices, "with-appendices", false, "include the appendices in the report (template client)")
	addChoiceFlag(f, &body.Paper, "paper", []string{"a4", "letter"}, "paper size of pdf, docx and xlsx reports: a4 (default) or letter")
	f.StringVar(&appendices, "appendices", "", "save the appendices as separate files in this folder (template client)")
	f.StringVar(&body.Compare, "compare", "",
		"earlier assessment to compare with; the report shows what got better or worse (template client)")
	f.StringVar(&layout, "layout", "", "your own Word document or presentation with placeholders, or your own Go template for html or md")
	f.StringVar(&style, "style", "", "DOCX file that provides the styles of a docx report")
	f.StringVar(&out, "out", "", "file to save the report to, or - for stdout")
	addForceFlag(cmd, &force)
	return cmd
}

// defaultReportTemplate returns the template to use for a report in the given format if the user doesn't choose one:
// the client template or, for machine-readable formats, the full template.
func defaultReportTemplate(format string) string {
	switch format {
	case "json", "oscal", "xlsx":
		return "full"
	}
	return "client"
}

// saveAppendices creates the appendices of a report for a client and saves them in a folder.
func (a *app) saveAppendices(ctx context.Context, assessment, dir string, force bool) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return runtimeError("the folder %s can't be created: %w", dir, errorWithoutPath(err))
	}
	for _, x := range api.ReportAppendices {
		path := filepath.Join(dir, x.Filename())
		if err := a.rejectUnusableReportPath(path, assessment, force); err != nil {
			return err
		}
		title := "Appendix " + x.Letter + ": " + x.Title
		body := api.ReportBody{Template: x.Template, Format: x.Format, ReportAppearance: api.ReportAppearance{Title: title}}
		if err := a.generateReportFile(ctx, assessment, body, path, force); err != nil {
			return err
		}
	}
	return nil
}

// reportFormatFromPath returns the report format for a file's extension.
func reportFormatFromPath(path string) (string, error) {
	ext := strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	if strings.HasSuffix(strings.ToLower(path), ".oscal.json") {
		ext = "oscal"
	}
	if !slices.Contains(reportFormats, ext) {
		return "", withHint(
			usageError("the extension of %q is not a report format", path),
			"use one of .%s",
			strings.Join(reportFormats, ", ."),
		)
	}
	return ext, nil
}

// generateReport requests a report and waits until it is ready.
func (a *app) generateReport(ctx context.Context, assessment string, body api.ReportBody) (*api.Report, error) {
	a.progress.Start(fmt.Sprintf("creating the report (%s, %s)", prose.Humanize(body.Template), body.Format))
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
		r, err = call(ctx, a, api.GetReport, &api.GetReportInput{ReportInput: api.ReportInput{ReportID: r.ID}})
	}
	if err != nil {
		return nil, err
	}
	if r.Status == "failed" {
		return nil, runtimeError("the report could not be created: %s", orZero(r.Error))
	}
	return r, nil
}

// generateReportFile creates a report and saves it to a file. If no format is given, the file extension determines the
// format. If no template is given, the format determines the template.
func (a *app) generateReportFile(ctx context.Context, assessment string, body api.ReportBody, path string, force bool) error {
	if body.Format == "" {
		format, err := reportFormatFromPath(path)
		if err != nil {
			return err
		}
		body.Format = format
	}
	if body.Template == "" {
		body.Template = defaultReportTemplate(body.Format)
	}
	r, err := a.generateReport(ctx, assessment, body)
	if err != nil {
		return err
	}
	return a.downloadReport(ctx, r, path, force)
}

// saveLatestOrNewReport saves the newest finished report with the given template and format, which is usually the one
// written at the end of the run. If there is none, it creates one.
func (a *app) saveLatestOrNewReport(ctx context.Context, assessment string, body api.ReportBody, path string) error {
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

// downloadReport downloads a report to a file, or to stdout if path is "-".
func (a *app) downloadReport(ctx context.Context, r *api.Report, path string, force bool) error {
	f, err := call(ctx, a, api.DownloadReport, &api.ReportInput{ReportID: r.ID})
	if err != nil {
		return err
	}
	return a.saveReportFile(f, r.AssessmentID, path, force)
}

// rejectUnusableOutputPath returns an error if a file can't be written to path: because its folder is not
// writable, because path is not a regular file, or, unless force is set, because the existing file was not
// written by this program.
func (a *app) rejectUnusableOutputPath(path string, force bool) error {
	return a.rejectUnusableReportPath(path, "", force)
}

// rejectUnusableReportPath is like rejectUnusableOutputPath, but for a report on an assessment: unless force is set,
// it also returns an error if the existing file is not an unmodified report on the same assessment.
func (a *app) rejectUnusableReportPath(path, assessment string, force bool) error {
	if path == "" || path == "-" {
		return nil
	}
	if err := a.checkReplaceable(path, assessment, force); err != nil {
		return err
	}
	if err := checkFolderWritable(filepath.Dir(path)); err != nil {
		return runtimeError("can't write %s: %w", path, errorWithoutPath(err))
	}
	return nil
}

// checkReplaceable returns an error if path exists but is not a regular file. Unless force is set, it also returns an
// error if the file was not written by this program or, for a report, is not a report on the same assessment.
func (a *app) checkReplaceable(path, assessment string, force bool) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() { // renaming over a device would replace it with a file
		return withHint(runtimeError("%s is not a regular file", path), "specify a file name, or - for stdout")
	}
	if _, err := os.Lstat(path); err != nil || force || a.isUnmodifiedOutput(path, assessment) {
		return nil
	}
	err = runtimeError("%s already exists", path)
	if assessment != "" {
		err = runtimeError("%s already exists, and was modified or is not a report on this assessment", path)
	}
	return withHint(err, "choose another file name, or use --force to overwrite the file")
}

// checkFolderWritable creates and removes a file in a folder, to find out before a long operation whether its
// result can be saved there.
func checkFolderWritable(dir string) error {
	f, err := os.CreateTemp(dir, ".service-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// saveDownload writes a download to a file atomically, or to stdout if path is "-".
func (a *app) saveDownload(f *api.File, path string, force bool) error {
	return a.saveReportFile(f, "", path, force)
}

// saveReportFile is like saveDownload, but for a report on an assessment.
func (a *app) saveReportFile(f *api.File, assessment, path string, force bool) error {
	defer f.Content.Close()
	if path == "-" {
		_, err := io.Copy(a.Stdout, f.Content)
		return err
	}
	if err := a.rejectUnusableReportPath(path, assessment, force); err != nil {
		return err
	}
	err := writeFileAtomically(path, 0o644, func(w io.Writer) error { _, err := io.Copy(w, f.Content); return err })
	if err != nil {
		var p *os.PathError
		if errors.As(err, &p) {
			err = errorWithoutPath(err)
		}
		return runtimeError("can't write %s: %w", path, err)
	}
	a.rememberWritten(path, assessment)
	a.progress.Done("wrote %s", path)
	return nil
}

func formatApprovalStatus(r *api.Report) string {
	if r.Draft {
		return "DRAFT: not all deliverables are approved"
	}
	return "all deliverables are approved"
}

func renderReport(p *print.Page, r *api.Report) {
	p.Title("%s", r.Title)
	p.Fields(
		field("template", prose.Humanize(r.Template)),
		field("format", r.Format),
		field("status", r.Status),
		field("approval", formatApprovalStatus(r)),
		field("file", r.Filename+", "+print.FormatSize(r.SizeBytes)),
		field("sha256", r.SHA256),
		field("created", joinNonEmpty(print.FormatTime(r.CreatedAt), r.CreatedBy)),
		field("error", orZero(r.Error)),
		field("id", r.ID),
	)
}

func (a *app) reportList() *cobra.Command {
	var l listFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the reports of the assessment",

		Long:    "Lists the reports of the assessment, newest first.",
		Example: "  service report list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			one, err := a.currentAssessment(cmd.Context())
			if err != nil {
				return err
			}
			all, err := fetchList(
				cmd.Context(),
				a,
				api.ListReports,
				&api.ReportsInput{AssessmentInput: api.AssessmentInput{AssessmentID: one.ID}},
				l,
			)
			if err != nil {
				return err
			}
			return printList(a, all, []print.Column{
				optional(fixed("created")), column("template"), optional(column("format")), column("status"),
				column("draft"), optional(number("size")), optional(column("title")), idColumn(),
			}, func(r api.Report) []string {
				return []string{
					print.FormatTime(r.CreatedAt), prose.Humanize(r.Template), r.Format, r.Status, yesNo(r.Draft),
					print.FormatSize(r.SizeBytes), r.Title, r.ID,
				}
			}, "No reports yet; create one with `%s`.", a.suggestedCommandLine("report create"))
		},
	}
	l.addFlags(cmd, 0)
	return cmd
}

func (a *app) reportShow() *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Show a report's details",

		Long:    "Shows what a report was created from, its hash, and whether it is a draft.",
		Example: "  service report show ID",
		RunE: func(cmd *cobra.Command, args []string) error {
			return callAndPrint(cmd.Context(), a, api.GetReport, &api.GetReportInput{ReportInput: api.ReportInput{ReportID: args[0]}}, renderReport)
		},
	}
}

func (a *app) reportDownload() *cobra.Command {
	var out string
	var force bool
	cmd := &cobra.Command{
		Use:   "download ID",
		Short: "Save a report to a file",

		Long:    "Saves a report to a file, under the report's own name or the name given with --out. Existing files\nare overwritten only with --force.",
		Example: "  service report download ID\n  service report download ID --out board.html",
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := call(cmd.Context(), a, api.GetReport, &api.GetReportInput{ReportInput: api.ReportInput{ReportID: args[0]}})
			if err != nil {
				return err
			}
			return a.downloadReport(cmd.Context(), r, downloadPath(out, r.Filename, args[0]), force)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "file to save the report to, or - for stdout (default: the report's own name)")
	addForceFlag(cmd, &force)
	return cmd
}

// downloadPath returns the path to save a download to: the requested one, or else the file's own
// name in the current folder.
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
		Use:   "templates",
		Short: "List report templates",

		Long:    "Lists the report templates and their contents.",
		Example: "  service report templates",
		RunE: func(*cobra.Command, []string) error {
			return a.out.Print(reportTemplates, func(p *print.Page) {
				renderTable(
					p,
					reportTemplates,
					[]print.Column{fixed("template"), wrapped("contents")},
					func(t reportTemplate) []string {
						return []string{t.Name, t.Summary}
					},
				)
				p.Blank()
				p.Text(
					"Formats: pdf, html, docx, xlsx, md and json; pptx for client, executive_summary and full; csv for one deliverable; " +
						"oscal for full, soa, gap_analysis, poam and assessment_plan; xlsx for fedramp_poam and emass_poam.",
				)
			})
		},
	}
}
