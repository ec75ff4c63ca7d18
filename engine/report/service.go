// Package report creates, stores and serves reports.
//
// Package content defines what a report contains, and package render writes it. Each report is written from a
// single snapshot of the assessment's data.
package report

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/catalog"
	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/render"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/internal/tracing"
	"github.com/scf-service/service/store"
)

// maxReportBytes is the maximum size of a report's file.
const maxReportBytes = 512 << 20

// Options holds the dependencies of a Service.
type Options struct {
	DB          *store.DB
	Audit       *audit.Service
	Catalog     *catalog.Service
	Assessments *assessment.Service
	Archives    archiveWriter
	Clock       func() time.Time
	// ProgramVersion is the program's name and version as shown in reports.
	ProgramVersion string
	// Font returns a TrueType font for characters missing from the built-in PDF fonts; nil if there
	// is none.
	Font func() ([]byte, error)
	// InstalledFonts returns functions that load the machine's fonts, which are used in this order
	// for characters missing from Font; nil means none.
	InstalledFonts func() []func() ([]byte, error)
}

// Service implements the report operations of the API.
type Service struct{ Options }

// New returns a Service.
func New(o Options) *Service { return &Service{o} }

// loadSource collects the assessment data that reports are made from.
func (s *Service) loadSource(ctx context.Context, by api.Caller, assessmentID string) (*content.Source, error) {
	d, err := s.Assessments.Snapshot(ctx, by, assessmentID)
	if err != nil {
		return nil, err
	}
	snap, err := s.Catalog.SnapshotWithCustom(ctx, by.OrganizationID, d.Assessment.SCFVersionID, d.Assessment.CustomRevision)
	if err != nil {
		return nil, err
	}
	src := &content.Source{
		Organization: d.Organization, Assessment: d.Assessment, Catalog: d.Catalog, Domains: map[string]string{},
		Documents: d.Documents, Scope: d.Scope,
		SoA: d.SoA, SoAItems: d.SoAItems, Gap: d.Gap, Findings: d.Findings, Maturity: d.Maturity, Scores: d.Scores, MaturitySummary: d.Levels,
		POAM: d.POAM, POAMItems: d.POAMItems, Approvals: d.Approvals, Outdated: d.Outdated, Summary: d.Summary,
		Requirements: map[string][]api.Requirement{},
		Tool:         s.ProgramVersion, AsOf: d.Summary.LastActivityAt,
	}
	if src.Brand, err = s.loadBrand(ctx, by); err != nil {
		return nil, fmt.Errorf("load branding: %w", err)
	}
	if src.AuditHead, err = s.Audit.HeadWithout(ctx, by, "report", "export"); err != nil {
		return nil, err
	}
	for _, dom := range snap.Domains() {
		src.Domains[dom.Code] = dom.Name
	}
	for _, frameworkID := range d.Assessment.FrameworkIDs {
		f, err := snap.Framework(frameworkID)
		if err != nil {
			return nil, err
		}
		src.Frameworks = append(src.Frameworks, f)
		if src.Requirements[f.Code], err = snap.Requirements(frameworkID); err != nil {
			return nil, err
		}
	}
	return src, nil
}

// Create writes a report as specified in the request and stores it.
func (s *Service) Create(ctx context.Context, by api.Caller, in *api.CreateReportInput) (*api.Report, error) {
	return s.renderAndStoreReport(ctx, by, in.AssessmentID, in.Body, false)
}

// Generate writes a report and stores it. By default, it is the full report as HTML.
func (s *Service) Generate(ctx context.Context, by api.Caller, in *api.GenerateReportInput) (*api.Report, error) {
	var body api.ReportBody
	if in.Body != nil {
		body = api.ReportBody(*in.Body)
	}
	body.Format, body.Template = cmp.Or(body.Format, "html"), cmp.Or(body.Template, "full")
	return s.renderAndStoreReport(ctx, by, in.AssessmentID, body, false)
}

// WriteFinalReports writes the reports for the transition to report_generated: the full report as HTML and as
// JSON. A report is not written again if an earlier, interrupted attempt already wrote one with the same content.
func (s *Service) WriteFinalReports(ctx context.Context, by api.Caller, assessmentID string) error {
	src, err := s.loadSource(ctx, by, assessmentID)
	if err != nil {
		return err
	}
	sources := content.Provenance(src, "full")
	for _, format := range []string{"html", "json"} {
		have := false
		err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
			have, err = reportExists(tx, by.OrganizationID, assessmentID, "full", format, sources)
			return err
		})
		if err != nil {
			return err
		}
		if have {
			continue
		}
		if _, err := s.renderAndStoreReport(ctx, by, assessmentID, api.ReportBody{Format: format, Template: "full"}, true); err != nil {
			return err
		}
	}
	return nil
}

// reportExists reports whether the assessment already has a report with the same template, format and sources.
func reportExists(tx *store.Tx, org, assessmentID, template, format string, sources map[string]string) (bool, error) {
	for r, err := range store.Reports.By("assessment").Scan(tx, org, store.Prefix(assessmentID)) {
		if err != nil {
			return false, err
		}
		if r.Template == template && r.Format == format && len(diffSources(r.Sources, sources)) == 0 {
			return true, nil
		}
	}
	return false, nil
}

// renderAndStoreReport writes a report and stores it. If skipIfExists is set, it does not store the report if
// an identical one has been stored in the meantime.
func (s *Service) renderAndStoreReport(
	ctx context.Context,
	by api.Caller,
	assessmentID string,
	b api.ReportBody,
	skipIfExists bool,
) (*api.Report, error) {
	if err := checkSupported(b.Template, b.Format); err != nil {
		return nil, err
	}
	if err := checkCustomLook(b); err != nil {
		return nil, err
	}
	src, err := s.loadSource(ctx, by, assessmentID)
	if err != nil {
		return nil, err
	}
	if b.Template == content.TemplateClient && b.Compare == "" {
		if b.Compare, err = s.findEarlierAssessment(ctx, by, &src.Assessment); err != nil {
			return nil, err
		}
	}
	if err := s.addEarlierAssessment(ctx, by, src, b); err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	writing, span := tracing.Start(
		ctx,
		"write report",
		tracing.Internal,
		tracing.Attr{Key: "service.report_format", Value: b.Format},
		tracing.Attr{Key: "service.report_template", Value: b.Template},
	)
	err = s.renderFile(writing, by, src, b, &buf)
	span.End(err)
	if err != nil {
		return nil, err
	}
	blob, err := s.DB.Blobs().Put(ctx, &buf, maxReportBytes)
	if err != nil {
		return nil, fmt.Errorf("store report: %w", err)
	}
	title := b.Title
	if title == "" {
		title = defaultTitle(src, b.Template)
	}
	template := contentTemplate(b.Template)
	_, ending := fileType(b.Template, b.Format)
	var out api.Report
	err = s.DB.Update(ctx, func(tx *store.Tx) error {
		if _, err := store.Assessments.Get(tx, by.OrganizationID, assessmentID); err != nil {
			return store.ToNotFound(err, "assessment", assessmentID)
		}
		if skipIfExists {
			provenance := content.Provenance(src, b.Template)
			exists, err := reportExists(tx, by.OrganizationID, assessmentID, b.Template, b.Format, provenance)
			if err != nil || exists {
				return err
			}
		}
		out = api.Report{
			TenantRecord: api.TenantRecord{
				Record:         api.Record{ID: tx.NewID(), CreatedAt: tx.Now(), UpdatedAt: tx.Now()},
				OrganizationID: by.OrganizationID,
			},
			AssessmentID: assessmentID, Title: title, Format: b.Format, Template: b.Template, Status: "ready",
			Filename: hyphenatedBaseName(src.Assessment.Name, b.Template) + ending, SizeBytes: blob.Size, SHA256: blob.SHA256,
			WithAppendices: b.WithAppendices, Paper: savedPaper(b.Paper),
			Sources: addCustomLookHashes(reportSources(src, template), b), Draft: content.IsDraft(src, template), CreatedBy: by.Actor.Name,
		}
		if b.Compare != "" {
			out.ComparedWith = &b.Compare
		}
		return errors.Join(store.Reports.Insert(tx, by.OrganizationID, &out), assessment.RecordReportArtifact(tx, by, &out),
			audit.RecordAndPublishEvent(tx, by, audit.Event{
				Type: "report.ready", AssessmentID: assessmentID, Summary: "wrote " + out.Filename, ResourceType: "report",
				ResourceID: out.ID, Data: map[string]any{"format": b.Format, "template": b.Template, "sha256": blob.SHA256},
			}))
	})
	return &out, err
}

// savedPaper returns the paper size to record for a report: "" for A4, the default.
func savedPaper(requested string) string { return strings.TrimPrefix(requested, "a4") }

// findEarlierAssessment returns the ID of the newest assessment of the same client, against the
// same frameworks and catalog, that is older than a. It returns "" if there is none.
func (s *Service) findEarlierAssessment(ctx context.Context, by api.Caller, a *api.Assessment) (id string, err error) {
	if a.ClientName == "" {
		return "", nil
	}
	var newest time.Time
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		id, newest = "", time.Time{}
		for e, err := range store.Assessments.Scan(tx, by.OrganizationID) {
			if err != nil {
				return err
			}
			if e.ClientName == a.ClientName && e.SCFVersionID == a.SCFVersionID && slices.Equal(e.FrameworkIDs, a.FrameworkIDs) &&
				e.State.HasReached(api.StateReportGenerated) && e.CreatedAt.Before(a.CreatedAt) && e.CreatedAt.After(newest) {
				id, newest = e.ID, e.CreatedAt
			}
		}
		return nil
	})
	return id, err
}

// addEarlierAssessment adds to src the earlier assessment with which a request asks to compare. It returns an error
// if the request asks for a comparison or appendices that the template doesn't support.
func (s *Service) addEarlierAssessment(ctx context.Context, by api.Caller, src *content.Source, b api.ReportBody) error {
	if b.WithAppendices && b.Template != content.TemplateClient {
		return api.Invalid("with_appendices", "only the template client has appendices, not %s", b.Template)
	}
	if b.Compare == "" {
		return nil
	}
	switch {
	case b.Template != content.TemplateClient:
		return api.Invalid("compare", "only the template client can compare assessments, not %s", b.Template)
	case b.Compare == src.Assessment.ID:
		return api.Invalid("compare", "an assessment can't be compared with itself; specify the ID of an earlier assessment")
	}
	earlier, err := s.loadSource(ctx, by, b.Compare)
	if err != nil {
		return err
	}
	if earlier.SoA == nil {
		return api.Invalid("compare", "assessment %q has no Statement of Applicability to compare with", earlier.Assessment.Name)
	}
	earlier.AuditHead, earlier.Brand = nil, content.Brand{}
	src.Earlier = earlier
	return nil
}

// renderFile writes the file of a report to w.
func (s *Service) renderFile(ctx context.Context, by api.Caller, src *content.Source, b api.ReportBody, w io.Writer) error {
	if b.Template == auditPackage {
		return s.writeAuditPackage(ctx, by, src, b, w)
	}
	request, err := s.toRenderRequest(b)
	if err != nil {
		return err
	}
	return render.Write(ctx, w, src, request)
}

// toRenderRequest converts a request body to a render.Request. For a PDF, it adds the fallback font.
func (s *Service) toRenderRequest(b api.ReportBody) (r render.Request, err error) {
	r = render.Request{Template: b.Template, Format: b.Format, Title: b.Title, WithAppendices: b.WithAppendices, Paper: b.Paper}
	if isOfficeLayout(b) {
		r.Layout, err = decodeOfficeLayout(b.Layout)
	} else {
		r.CustomTemplate = b.Layout
	}
	if err != nil {
		return r, err
	}
	if b.Style != "" {
		if r.Style, err = base64.StdEncoding.DecodeString(b.Style); err != nil {
			return r, api.Invalid("style", "the style document is not valid Base64; encode the file as Base64")
		}
	}
	if b.Format == render.FormatPDF && s.Font != nil {
		r.Fonts.Named, err = s.Font()
	}
	if b.Format == render.FormatPDF && s.InstalledFonts != nil {
		r.Fonts.Installed = s.InstalledFonts()
	}
	return r, err
}

// defaultTitle returns the title of a report if the user didn't specify one.
func defaultTitle(src *content.Source, template string) string {
	return src.Assessment.Name + ": " + prose.Humanize(template)
}

// hyphenatedBaseName returns a file name without extension that is valid in every file system.
func hyphenatedBaseName(name, template string) string {
	safe := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return '-'
	}, name+"-"+template)
	parts := slices.DeleteFunc(strings.Split(safe, "-"), func(p string) bool { return p == "" })
	if r := []rune(strings.Join(parts, "-")); len(r) > 100 {
		return string(r[:100])
	}
	return strings.Join(parts, "-")
}

// reportSortFields lists the fields that reports can be sorted by.
var reportSortFields = []store.SortBy[api.Report]{
	{Name: "created_at", Value: func(r *api.Report) any { return r.CreatedAt }},
	{Name: "title", Value: func(r *api.Report) any { return store.NaturalSortKey(r.Title) }},
	{Name: "format", Value: func(r *api.Report) any { return r.Format }},
	{Name: "template", Value: func(r *api.Report) any { return r.Template }},
	{Name: "size_bytes", Value: func(r *api.Report) any { return r.SizeBytes }},
}

// List returns the reports of an assessment that match the filters. By default, the newest come first.
func (s *Service) List(ctx context.Context, by api.Caller, in *api.ReportsInput) (*api.List[api.Report], error) {
	if _, err := s.Assessments.Get(ctx, by, &in.AssessmentInput); err != nil {
		return nil, err
	}
	return store.SortedList(ctx, s.DB, store.Reports, by.OrganizationID, in.Paging, in.Sort, reportSortFields, store.PageQuery[api.Report]{
		Index: "assessment", Prefix: store.K(in.AssessmentID), Reverse: true, Filter: store.FilterIf(api.HasFilters(in), func(r *api.Report) bool {
			return (in.Format == "" || r.Format == in.Format) && (in.Template == "" || r.Template == in.Template) &&
				(in.Status == "" || r.Status == in.Status) &&
				strings.Contains(strings.ToLower(r.Title+"\n"+r.Filename), strings.ToLower(in.Q))
		}),
	})
}

// Get returns the record of a report.
func (s *Service) Get(ctx context.Context, by api.Caller, in *api.ReportInput) (*api.Report, error) {
	var r api.Report
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		r, err = store.Reports.Get(tx, by.OrganizationID, in.ReportID)
		return store.ToNotFound(err, "report", in.ReportID)
	})
	return &r, err
}

// Download returns the file of a report, unchanged.
func (s *Service) Download(ctx context.Context, by api.Caller, in *api.ReportInput) (*api.File, error) {
	r, err := s.Get(ctx, by, in)
	if err != nil {
		return nil, err
	}
	file, size, err := s.DB.Blobs().OpenFileOf(ctx, fmt.Sprintf("report %q", r.Filename), r.SHA256)
	if err != nil {
		return nil, err
	}
	contentType, _ := fileType(r.Template, r.Format)
	return &api.File{Filename: r.Filename, ContentType: contentType, Size: size, SHA256: r.SHA256, Content: file}, nil
}

// RenderHTML returns a report as HTML. For an HTML report, that is the stored file. For other formats, it writes
// a new page from the current data of the assessment.
func (s *Service) RenderHTML(ctx context.Context, by api.Caller, in *api.ReportInput) (*api.File, error) {
	r, err := s.Get(ctx, by, in)
	if err != nil {
		return nil, err
	}
	if r.Format == "html" && r.Template != auditPackage {
		f, err := s.Download(ctx, by, in)
		if err == nil {
			f.ScriptSource = render.HTMLScriptSource()
		}
		return f, err
	}
	src, err := s.loadSource(ctx, by, r.AssessmentID)
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	if err := render.Write(
		ctx,
		&buf,
		src,
		render.Request{Template: content.ReadableTemplateFor(contentTemplate(r.Template)), Format: "html", Title: r.Title},
	); err != nil {
		return nil, err
	}
	blob, err := s.DB.Blobs().Put(ctx, &buf, maxReportBytes)
	if err != nil {
		return nil, err
	}
	file, size, err := s.DB.Blobs().Open(ctx, blob.SHA256)
	if err != nil {
		return nil, err
	}
	return &api.File{
		Filename:     r.Filename + ".html",
		ContentType:  render.ContentType("html"),
		Size:         size,
		SHA256:       blob.SHA256,
		ScriptSource: render.HTMLScriptSource(),
		Content:      file,
	}, nil
}

// topFindings is the maximum number of findings in an executive summary, and also the maximum number of weakest
// domains.
const topFindings = 5

// ExecutiveSummary returns a summary of an assessment for executives. It contains a text, key figures, the most
// serious findings and the weakest domains.
func (s *Service) ExecutiveSummary(ctx context.Context, by api.Caller, in *api.AssessmentInput) (*api.ExecutiveSummary, error) {
	src, err := s.loadSource(ctx, by, in.AssessmentID)
	if err != nil {
		return nil, err
	}
	out := &api.ExecutiveSummary{
		AssessmentID: in.AssessmentID, Title: src.Assessment.Name, Text: content.ExecutiveText(src), Summary: src.Summary,
		Draft: content.IsDraft(src, "executive_summary"), GeneratedAt: src.AsOf,
	}
	found := slices.Clone(src.Findings)
	slices.SortFunc(found, func(a, b api.Finding) int { return assessment.CompareWorstFirst(&a, &b) })
	out.TopFindings = found[:min(len(found), topFindings)]
	if src.MaturitySummary != nil {
		weakest := slices.DeleteFunc(slices.Clone(src.MaturitySummary.Domains), func(d api.DomainMaturity) bool { return d.Mean == nil })
		slices.SortStableFunc(weakest, func(a, b api.DomainMaturity) int {
			switch {
			case *a.Mean < *b.Mean:
				return -1
			case *a.Mean > *b.Mean:
				return 1
			}
			return 0
		})
		out.WeakestDomains = weakest[:min(len(weakest), topFindings)]
	}
	return out, nil
}
