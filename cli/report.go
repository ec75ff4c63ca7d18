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

// template is a kind of report, with what it holds.
type template struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
}

var templates = []template{
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

func templateNames() (out []string) {
	for _, t := range templates {
		out = append(out, t.Name)
	}
	return out
}

func (a *app) report_() *cobra.Command {
	return group(&cobra.Command{
		Use: "report", Short: "Write and download reports",
		Long: `Reports are written from the assessment as it is. Where a deliverable in it is not
approved, the report is marked as a draft on every page. The scope has no gate: its own
status stands beside it.`,
		Example: "  service report create --template full --format html --out report.html\n  service report list\n  service report download ID --out report.html",
	}, a.reportCreate(), a.reportList(), a.reportShow(), a.reportDownload(), a.reportVerify(), a.reportTemplates(), a.reportBranding())
}

func (a *app) reportCreate() *cobra.Command {
	body := api.ReportBody{Template: "full"}
	var out, layout, style string
	var force bool
	cmd := &cobra.Command{
		Use: "create --template T --format F", Short: "Write a report", Args: takes(0, 0),
		Long:    "Writes a report and, with --out, saves it. Without --format, the ending of the file\nsays it.",
		Example: "  service report create --template executive_summary --format html --out board.html\n  service report create --template soa --out soa.csv",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if body.Format == "" && out != "" && out != "-" {
				format, err := formatOf(out)
				if err != nil {
					return err
				}
				body.Format = format
			}
			if body.Format == "" {
				return advise(usage("say the format of the report"), "--format is one of %s", strings.Join(reportFormats, ", "))
			}
			if err := oneOf("template", body.Template, templateNames()); err != nil {
				return err
			}
			if err := oneOf("format", body.Format, reportFormats); err != nil {
				return err
			}
			if err := a.mayWrite(out, force); err != nil {
				return err
			}
			if layout != "" {
				b, err := smallFile(layout, api.MaxOwnTemplate, "a template")
				if err != nil {
					return err
				}
				body.Layout = string(b)
			}
			if style != "" {
				b, err := smallFile(style, api.MaxStyleBytes, "a document for styles")
				if err != nil {
					return err
				}
				body.Style = base64.StdEncoding.EncodeToString(b)
			}
			one, err := a.assessment(cmd.Context())
			if err != nil {
				return err
			}
			r, err := a.makeReport(cmd.Context(), one.ID, body)
			if err != nil {
				return err
			}
			if out != "" {
				if err := a.save(cmd.Context(), r, out, force); err != nil || a.out.ForPeople() || out == "-" {
					return err
				}
			}
			return a.out.Print(r, func(p *print.Page) {
				reportPage(p, r)
				p.Blank()
				p.Command(a.command("report download " + r.ID + " --out " + quote(r.Filename)))
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&body.Template, "template", body.Template, "what it holds; see service report templates")
	f.StringVar(&body.Format, "format", "", "pdf, html, docx, xlsx, md or json; csv for one deliverable, oscal for full, soa, gap_analysis, poam and assessment_plan")
	f.StringVar(&body.Title, "title", "", "its title")
	f.StringVar(&layout, "layout", "", "a Go template of your own, for html and md")
	f.StringVar(&style, "style", "", "a DOCX whose styles a report in docx takes")
	f.StringVar(&out, "out", "", "save it to this file; - for stdout")
	f.BoolVar(&force, "force", false, "overwrite the file")
	return cmd
}

// formatOf tells a report's format by a file's ending.
func formatOf(path string) (string, error) {
	ext := strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	if strings.HasSuffix(strings.ToLower(path), ".oscal.json") {
		ext = "oscal"
	}
	if !slices.Contains(reportFormats, ext) {
		return "", advise(usage("the ending of %q does not say which format the report should have", path), "use one of .%s", strings.Join(reportFormats, ", ."))
	}
	return ext, nil
}

// makeReport writes a report and waits until it is ready.
func (a *app) makeReport(ctx context.Context, assessment string, body api.ReportBody) (*api.Report, error) {
	a.progress.Start(fmt.Sprintf("write the report (%s, %s)", plain(body.Template), body.Format))
	defer a.progress.Done("")
	r, err := call(ctx, a, api.CreateReport, &api.CreateReportInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}, Body: body})
	for err == nil && (r.Status == "queued" || r.Status == "running") {
		if err := pause(ctx, a.pace()); err != nil {
			return nil, err
		}
		r, err = call(ctx, a, api.GetReport, &api.ReportInput{ReportID: r.ID})
	}
	if err != nil {
		return nil, err
	}
	if r.Status == "failed" {
		return nil, stopped("the report could not be written: %s", orEmpty(r.Error))
	}
	return r, nil
}

// writeReport writes a report to a file; without a format, its ending says it.
func (a *app) writeReport(ctx context.Context, assessment string, body api.ReportBody, path string, force bool) error {
	if body.Format == "" {
		format, err := formatOf(path)
		if err != nil {
			return err
		}
		body.Format = format
	}
	r, err := a.makeReport(ctx, assessment, body)
	if err != nil {
		return err
	}
	return a.save(ctx, r, path, force)
}

// saveLast saves the newest report of a kind: the one that the last step of the
// run has just written. Where there is none, it has one written.
func (a *app) saveLast(ctx context.Context, assessment string, body api.ReportBody, path string) error {
	l, err := call(ctx, a, api.ListReports, &api.ReportsInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}})
	if err != nil {
		return err
	}
	for _, r := range l.Data {
		if r.Template == body.Template && r.Format == body.Format && r.Status == "ready" {
			return a.save(ctx, &r, path, true)
		}
	}
	return a.writeReport(ctx, assessment, body, path, true)
}

// save downloads a report into a file, or to stdout for "-".
func (a *app) save(ctx context.Context, r *api.Report, path string, force bool) error {
	f, err := call(ctx, a, api.DownloadReport, &api.ReportInput{ReportID: r.ID})
	if err != nil {
		return err
	}
	return a.saveFile(f, path, force)
}

// mayWrite refuses a path where there is a file that the program did not write.
func (a *app) mayWrite(path string, force bool) error {
	if path == "" || path == "-" {
		return nil
	}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() { // a device would be replaced by a file
		return advise(stopped("%s is no file", path), "give the name of one, or - for stdout")
	}
	if !force {
		if _, err := os.Lstat(path); err == nil && !a.ours(path) {
			return advise(stopped("%s is there already", path), "give another name, or --force to overwrite it")
		}
	}
	if err := mayWriteIn(filepath.Dir(path)); err != nil {
		return stopped("%s can't be written: %w", path, reason(err))
	}
	return nil
}

// mayWriteIn tries to make a file in a folder, so that nobody works for what can't be kept.
func mayWriteIn(dir string) error {
	f, err := os.CreateTemp(dir, ".service-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// saveFile writes a download into a file, whole or not at all, or to stdout for "-".
func (a *app) saveFile(f *api.File, path string, force bool) error {
	defer f.Content.Close()
	if path == "-" {
		_, err := io.Copy(a.Stdout, f.Content)
		return err
	}
	if err := a.mayWrite(path, force); err != nil {
		return err
	}
	err := replaceFile(path, 0o644, func(w io.Writer) error { _, err := io.Copy(w, f.Content); return err })
	if err != nil {
		var p *os.PathError
		if errors.As(err, &p) {
			err = reason(err)
		}
		return stopped("%s can't be written: %w", path, err)
	}
	a.wrote(path)
	a.progress.Done("wrote %s", path)
	return nil
}

func standingOf(r *api.Report) string {
	if r.Draft {
		return "DRAFT: a part of it is not approved"
	}
	return "all parts are approved"
}

func reportPage(p *print.Page, r *api.Report) {
	p.Title("%s", r.Title)
	p.Fields(print.Field{Name: "template", Value: plain(r.Template)}, print.Field{Name: "format", Value: r.Format}, print.Field{Name: "status", Value: r.Status},
		print.Field{Name: "standing", Value: standingOf(r)}, print.Field{Name: "file", Value: r.Filename + ", " + size(r.SizeBytes)}, print.Field{Name: "sha256", Value: r.SHA256},
		print.Field{Name: "created", Value: joinWords(moment(r.CreatedAt), r.CreatedBy)}, print.Field{Name: "error", Value: orEmpty(r.Error)}, print.Field{Name: "id", Value: r.ID})
}

func (a *app) reportList() *cobra.Command {
	var l limits
	cmd := &cobra.Command{
		Use: "list", Short: "List the reports of the assessment", Args: takes(0, 0), Long: "Lists the reports that were written, newest first.", Example: "  service report list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			one, err := a.assessment(cmd.Context())
			if err != nil {
				return err
			}
			all, err := collect(cmd.Context(), l.limit, l.cursor, func(p api.Paging) (*api.List[api.Report], error) {
				return call(cmd.Context(), a, api.ListReports, &api.ReportsInput{AssessmentInput: api.AssessmentInput{AssessmentID: one.ID}, Paging: p})
			})
			if err != nil {
				return err
			}
			defer a.more(len(all.Data), all.Pagination)
			return a.out.Print(all, func(p *print.Page) {
				var rows [][]string
				for _, r := range all.Data {
					rows = append(rows, []string{moment(r.CreatedAt), plain(r.Template), r.Format, r.Status, yes(r.Draft), size(r.SizeBytes), r.Title, r.ID})
				}
				p.Table([]print.Column{{Title: "created", Keep: true, Spare: true}, {Title: "template"}, {Title: "format", Spare: true}, {Title: "status"}, {Title: "draft"}, {Title: "size", Right: true, Spare: true}, {Title: "title", Spare: true}, {Title: "id", Keep: true}}, rows)
				a.none(p, len(rows), "No report is written yet; `%s` writes one.", a.command("report create"))
			})
		},
	}
	l.add(cmd, 0)
	return cmd
}

func (a *app) reportShow() *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show a report's record", Args: takes(1, 1), Long: "Shows what a report was made from, its hash, and whether it is a draft.", Example: "  service report show ID",
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := call(cmd.Context(), a, api.GetReport, &api.ReportInput{ReportID: args[0]})
			if err != nil {
				return err
			}
			return a.out.Print(r, func(p *print.Page) { reportPage(p, r) })
		},
	}
}

func (a *app) reportDownload() *cobra.Command {
	var out string
	var force bool
	cmd := &cobra.Command{
		Use: "download ID", Short: "Save a report to a file", Args: takes(1, 1), Long: "Saves a report under its own name, or as --out says. A file that is there is not\noverwritten without --force.",
		Example: "  service report download ID\n  service report download ID --out board.html",
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := call(cmd.Context(), a, api.DownloadReport, &api.ReportInput{ReportID: args[0]})
			if err != nil {
				return err
			}
			return a.saveFile(f, nameFor(out, f.Filename, args[0]), force)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "the file; - for stdout (default: the report's own name)")
	cmd.Flags().BoolVar(&force, "force", false, "overwrite the file")
	return cmd
}

// nameFor is the path to save a download at: as asked, or its own name in this folder.
func nameFor(out, filename, id string) string {
	if out != "" {
		return out
	}
	if base := filepath.Base(filepath.Clean("/" + filename)); base != "/" && base != "." {
		return base
	}
	return id
}

func (a *app) reportTemplates() *cobra.Command {
	return &cobra.Command{
		Use: "templates", Short: "List the kinds of report", Args: takes(0, 0), Long: "Lists the kinds of report there are, and what each holds.", Example: "  service report templates",
		RunE: func(*cobra.Command, []string) error {
			return a.out.Print(templates, func(p *print.Page) {
				var rows [][]string
				for _, t := range templates {
					rows = append(rows, []string{t.Name, t.Summary})
				}
				p.Table([]print.Column{{Title: "template", Keep: true}, {Title: "what it holds", Wrap: true}}, rows)
				p.Blank()
				p.Text("Formats: pdf, html, docx, xlsx, md and json; csv for one deliverable; oscal for full, soa, gap_analysis, poam and assessment_plan; xlsx for fedramp_poam and emass_poam.")
			})
		},
	}
}
