package web

import (
	"cmp"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

// reportTemplates and reportFormats are the choices for a new report. Not every template supports every format.
var (
	reportTemplates = choices(
		option{"client", "Client report: overall result, key risks and roadmap"}, option{"executive_summary", "Executive summary (two pages)"},
		option{"full", "Everything in full"}, option{"soa", "Statement of Applicability"}, option{"gap_analysis", "Gap analysis"},
		option{"maturity", "Maturity"}, option{"poam", "Plan of action and milestones"},
		option{"fedramp_poam", "Plan of action in the FedRAMP layout (xlsx)"},
		option{"emass_poam", "Plan of action in the eMASS import layout (xlsx)"}, option{"assessment_plan", "Assessment plan for OSCAL tools"},
		option{"audit_package", "Audit package: a signed ZIP file with reports, evidence and decisions"},
	)
	reportFormats = choices(
		option{"pdf", "PDF"}, option{"html", "HTML"}, option{"docx", "Word"}, option{"pptx", "PowerPoint"}, option{"xlsx", "Excel"},
		option{"md", "Markdown"}, option{"csv", "CSV"}, option{"json", "JSON"}, option{"oscal", "OSCAL"},
	)
)

// optionLabel returns the label of the option with the given value, or a label derived from the value.
func optionLabel(options []option, value string) string {
	for _, o := range options {
		if o.Value == value {
			return o.Label
		}
	}
	return label(value)
}

var reportsPanel = panel{
	path: "assessments/{id}/reports", title: "Reports",
	show: func(v *visit, s *sheet) error {
		a, err := v.findAssessment()
		if err != nil {
			return err
		}
		s.Crumbs, s.Tabs = assessmentCrumbs(a), assessmentTabs(a, "reports")
		if v.may("report:write") {
			s.add(section{Title: "Generate a report", Forms: []form{{
				Do: "generate", Button: "Generate", Fields: []field{
					{Name: "template", Label: "Report", Kind: "select", Options: reportTemplates},
					{Name: "format", Label: "Format", Kind: "select", Options: reportFormats},
					textField("title", "Title").withHint("If this field is empty, the default title is used."),
					yesNoChoice("appendices", "Include the details as appendices (client report only)", false),
				},
			}}})
		}
		l, err := do(v, api.ListReports, &api.ReportsInput{
			AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}, Paging: v.paging(50), Sort: "-created_at",
		})
		if err != nil {
			return err
		}
		x := section{
			Title: "Reports", Columns: []string{"Title", "Report", "Format", "Status", "Size", "Created"},
			Empty: "There are no reports yet.", Links: v.nextPageLinks(l.Pagination),
		}
		for i := range l.Data {
			r := &l.Data[i]
			row := line{Cells: []value{
				textValue(r.Title), textValue(optionLabel(reportTemplates, r.Template)), textValue(optionLabel(reportFormats, r.Format)),
				{Text: label(r.Status), Tone: reportTones[r.Status]},
				textValue(""), timeValue(r.CreatedAt),
			}}
			switch r.Status {
			case "ready":
				row.Cells[0].Href, row.Cells[4].Text = "reports/"+r.ID, print.FormatSize(r.SizeBytes)
				if r.Draft {
					row.Cells[3] = value{Text: "Draft", Tone: "pending"}
				}
				row.Forms = []form{
					{Get: true, To: "reports/" + r.ID + "/file", Button: "Download", Style: "second", Title: "Download " + r.Title + ", " + r.Format},
					buttonForm("verify", "Verify", "second", r.ID),
				}
			case "failed":
				row.Cells[3].Text = "Failed: " + orEmpty(r.Error)
			default:
				v.busy = true
			}
			x.Rows = append(x.Rows, row)
		}
		v.live = "assessments/" + a.ID + "/events"
		s.add(x)
		return nil
	},
	actions: map[string]func(*visit, *sheet) error{
		"generate": func(v *visit, _ *sheet) error {
			in := api.CreateReportInput{AssessmentInput: api.AssessmentInput{AssessmentID: v.r.PathValue("id")}}
			in.Body.Template, in.Body.Format, in.Body.Title = v.field("template"), v.field("format"), v.field("title")
			in.Body.WithAppendices = v.field("appendices") == "true" && in.Body.Template == "client"
			return call(v, api.CreateReport, &in)
		},
		"verify": func(v *visit, _ *sheet) error {
			r, err := do(v, api.VerifyReport, &api.VerifyReportInput{ReportID: v.field("id")})
			if err != nil {
				return err
			}
			if !r.OK {
				return api.Invalid("", "%s", r.Message)
			}
			v.notice = sentence(r.Message)
			return nil
		},
	},
}

var reportTones = map[string]string{"ready": "approved", "failed": "critical", "queued": "pending", "running": "pending"}

// showReport displays a report in the browser if its format allows it, and sends it as a download otherwise.
func (v *visit) showReport() error {
	in := api.ReportInput{ReportID: v.r.PathValue("id")}
	r, err := inOrganizationOf(v, func() (*api.Report, error) { return do(v, api.GetReport, &api.GetReportInput{ReportInput: in}) })
	if err != nil {
		return err
	}
	if r.Format == "html" || r.Format == "md" {
		f, err := do(v, api.RenderReport, &in)
		if err != nil {
			return err
		}
		return v.sendFile(f, true)
	}
	return v.sendReportFile(r.Format == "pdf")
}

func (v *visit) downloadReport() error { return v.sendReportFile(false) }

func (v *visit) sendReportFile(inline bool) error {
	f, err := do(v, api.DownloadReport, &api.ReportInput{ReportID: v.r.PathValue("id")})
	if err != nil {
		return err
	}
	return v.sendFile(f, inline)
}

// sendFile sends a file as a download or, if inline is set, for display. A displayed file can't access the
// pages.
func (v *visit) sendFile(f *api.File, inline bool) error {
	defer f.Content.Close()
	h := v.w.Header()
	disposition := "attachment"
	if inline {
		disposition = "inline"
	}
	if inline && strings.HasPrefix(f.ContentType, "text/html") {
		setSecurityHeaders(h, "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src "+cmp.Or(f.ScriptSource, "'none'")+
			"; frame-ancestors 'none'; form-action 'none'; sandbox allow-scripts")
	} else if inline && f.ContentType == "application/pdf" { // the browser's own viewer runs nothing with this site's origin
		setSecurityHeaders(h, "default-src 'none'; frame-ancestors 'self'; form-action 'none'; object-src 'self'; style-src 'unsafe-inline'")
		h.Set("X-Frame-Options", "SAMEORIGIN")
	} else {
		setSecurityHeaders(h, "default-src 'none'; frame-ancestors 'none'; form-action 'none'; object-src 'self'; style-src 'unsafe-inline'")
	}
	h.Set("Content-Type", f.ContentType)
	h.Set("Content-Disposition", mime.FormatMediaType(disposition, map[string]string{"filename": f.Filename}))
	h.Set("Cache-Control", "no-store")
	v.w.WriteHeader(http.StatusOK)
	if _, err := io.Copy(v.w, f.Content); err != nil {
		panic(http.ErrAbortHandler) // a truncated file must not look complete
	}
	return nil
}
