package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

// maxWorstShown is the number of gaps listed in a summary.
const maxWorstShown = 5

// runResult is the output of a run.
type runResult struct {
	Assessment    *api.Assessment        `json:"assessment"`
	Status        *api.AssessmentStatus  `json:"status"`
	Summary       *api.AssessmentSummary `json:"summary"`
	Documents     []api.Document         `json:"documents"`
	Skipped       []skippedFile          `json:"skipped"`
	WorstFindings []api.Finding          `json:"worst_findings"`
	Reports       []string               `json:"reports"`
	Seconds       float64                `json:"seconds"`

	// lateDocuments counts the documents added after the Statement of Applicability was drafted.
	lateDocuments int
	// renderHeader prints text before the page, renderFooter after it.
	renderHeader, renderFooter func(*print.Page)
}

// fetchRunResult fetches the result of a run.
func (a *app) fetchRunResult(ctx context.Context, id string, skippedFiles []skippedFile, started time.Time) (*runResult, error) {
	in := api.AssessmentInput{AssessmentID: id}
	out := &runResult{Skipped: skippedFiles, WorstFindings: []api.Finding{}, Reports: []string{}}
	if out.Skipped == nil {
		out.Skipped = []skippedFile{}
	}
	var err error
	if out.Assessment, err = call(ctx, a, api.GetAssessment, &in); err != nil {
		return nil, err
	}
	if out.Status, err = call(ctx, a, api.GetAssessmentStatus, &in); err != nil {
		return nil, err
	}
	if out.Summary, err = call(ctx, a, api.GetAssessmentSummary, &in); err != nil {
		return nil, err
	}
	if out.Documents, err = a.listDocuments(ctx, id); err != nil {
		return nil, err
	}
	if out.Assessment.Counts.Findings > 0 {
		versions, err := call(ctx, a, api.ListGap, &api.AssessmentListInput{AssessmentInput: in, Paging: api.Paging{Limit: 1}})
		if err != nil {
			return nil, err
		}
		if len(versions.Data) > 0 {
			worst, err := a.listFindings(ctx, versions.Data[0].ID, api.FindingFilter{}, listFlags{limit: maxWorstShown})
			if err != nil {
				return nil, err
			}
			out.WorstFindings = worst.Data
		}
	}
	out.Seconds = a.Clock().Sub(started).Seconds()
	return out, nil
}

// renderer returns a function that prints the result for people.
func (o *runResult) renderer(a *app) func(*print.Page) {
	return func(p *print.Page) {
		if o.renderHeader != nil {
			o.renderHeader(p)
		}
		p.Title("%s: %s (%d%%)", o.Assessment.Name, prose.Humanize(o.Assessment.State), o.Assessment.Progress)
		p.Fields(o.summaryFields()...)
		o.renderUnreadFiles(a, p)
		o.renderEvidenceCaveats(p)
		if o.Summary.LinesChangedByDocument > 0 {
			renderDecisiveDocuments(p, o.Summary.DecisiveDocuments)
		}
		o.renderWorstFindings(p)
		if !slices.ContainsFunc(o.Status.Outdated, func(one api.Outdated) bool { return one.Reason == "documents" }) {
			a.renderLateDocuments(p, o.Assessment.State, o.lateDocuments) // not read yet
		}
		if o.renderFooter == nil {
			a.renderOutdatedDeliverables(p, o.Status)
		}
		if o.Summary.IsStarter {
			p.Blank()
			p.Text(
				"Catalog: the built-in starter catalog, written in this project's own words. It is not the SCF. "+
					"To use the full SCF, import its workbook with `%s`.",
				a.suggestedCommandLine("catalog import FILE"),
			)
		}
		if len(o.Reports) > 0 {
			p.Blank()
			p.Text("Saved: %s", strings.Join(o.Reports, ", "))
		}
		if o.renderFooter != nil {
			o.renderFooter(p)
		}
	}
}

func (o *runResult) summaryFields() []print.Field {
	read := 0
	for _, d := range o.Documents {
		if d.Status == api.DocumentIngested {
			read++
		}
	}
	frameworks := strings.Join(o.Assessment.Frameworks, ", ")
	if frameworks == "" {
		frameworks = "none (all controls of the catalog)"
	}
	fields := []print.Field{
		field("frameworks", frameworks),
		field(
			"documents",
			fmt.Sprintf("%d of %d read, %s", read, len(o.Documents), prose.Count(o.Assessment.Counts.Chunks, "passage", "passages")),
		),
	}
	if o.Summary.Controls > 0 {
		fields = append(fields,
			field("controls", fmt.Sprintf("%d, of which %s", o.Summary.Controls, formatStatusCounts(o.Summary))),
			field("compliance", formatPercentWithFormula(o.Summary.CompliancePct, o.Summary.ComplianceFormula)))
	}
	if o.Summary.MaturityAvg != nil {
		fields = append(fields, field("maturity", formatScore(o.Summary.MaturityAvg)+" of 5 on average"))
	}
	if o.Assessment.State.HasReached(api.StateGapAnalysisDrafted) {
		fields = append(fields, field("findings", formatCounts(o.Summary.FindingsBySeverity, api.Severities)))
	}
	if o.Assessment.State.HasReached(api.StatePOAMDrafted) {
		fields = append(fields, field("plan", prose.Count(o.Summary.OpenPOAMItems, "open item", "open items")))
	}
	return append(fields, field("time taken", print.FormatElapsed(time.Duration(o.Seconds*float64(time.Second)))),
		field("id", o.Assessment.ID))
}

// maxUnreadShown is the maximum number of unread documents listed.
const maxUnreadShown = 20

// renderUnreadFiles lists the documents that could not be read, with reasons.
func (o *runResult) renderUnreadFiles(a *app, p *print.Page) {
	var lines []string
	for _, l := range o.Skipped {
		lines = append(lines, l.Name+": "+l.Reason)
	}
	for _, d := range o.Documents {
		if d.Status == api.DocumentFailed {
			lines = append(lines, d.Filename+": "+orZero(d.Error))
		}
	}
	if len(lines) == 0 {
		return
	}
	p.Title("Not read")
	for _, l := range lines[:min(len(lines), maxUnreadShown)] {
		p.ListItem(0, "%s", l)
	}
	if more := len(lines) - maxUnreadShown; more > 0 {
		p.ListItem(0, "and %d more; to list the imported documents that failed, use `%s`",
			more, a.suggestedCommandLine("doc list --status failed"))
	}
}

// renderEvidenceCaveats warns if the totals above mean little because no documents were read or some are in a
// foreign language.
func (o *runResult) renderEvidenceCaveats(p *print.Page) {
	var details []string
	read := 0
	for i := range o.Documents {
		d := &o.Documents[i]
		if d.Status != api.DocumentIngested {
			continue
		}
		read++
		if unread := d.UnreadLanguages(); len(unread) > 0 {
			details = append(details, fmt.Sprintf("%s (%s)", d.Filename, api.DescribeNotRead(unread)))
		}
	}
	switch {
	case !o.Assessment.State.HasReached(api.StateSoADrafted):
	case read == 0:
		p.Title("Note")
		p.ListItem(0, "No documents were read, so no control is evidenced. This doesn't mean that no controls are implemented.")
	case len(details) > 0:
		p.Title("Note")
		p.ListItem(
			0,
			"%s The rules read only English, so evidence in other languages is not taken into account. "+
				"Review these documents manually, or use a language model as the reader: %s.",
			api.CountUnreadEvidence(o.Documents).Note(),
			joinFirst(details, 5),
		)
	}
}

// renderLateDocuments reports how many documents were added too late to be considered in the current drafts,
// and how to include them.
func (a *app) renderLateDocuments(p *print.Page, state api.State, late int) {
	if late == 0 || !state.HasReached(api.StateSoADrafted) || state == api.StateClosed {
		return
	}
	p.Title("Drafts out of date")
	p.Text(
		"%s added after the Statement of Applicability was drafted. To search the new documents for evidence (requires approval again):",
		prose.Count(late, "document", "documents"),
	)
	p.Command(a.suggestedCommandLine(evidenceRefreshCommand(state)))
}

// Limits for each gap in a summary: the number of missing elements, their width, and the width of the quote. `gap
// show` prints gaps in full.
const (
	maxMissingShown = 2
	missingWidth    = 110
	quoteWidth      = 280
)

// excerpt returns the beginning of a text as a single line of at most width columns.
func excerpt(s string, width int) string {
	return print.Truncate(strings.TrimRight(strings.Join(strings.Fields(s), " "), "."), width)
}

// renderWorstFindings prints the most serious gaps, each with its first quote.
func (o *runResult) renderWorstFindings(p *print.Page) {
	if len(o.WorstFindings) == 0 {
		return
	}
	p.Title("Most serious gaps")
	for i, f := range o.WorstFindings {
		p.Text("%d. %s %s [%s, %s]", i+1, f.ControlCode, f.ControlTitle, f.Severity, prose.Humanize(f.Status))
		if len(f.MissingElements) > 0 {
			lacks := make([]string, len(f.MissingElements))
			for i, m := range f.MissingElements {
				if text, _, noted := strings.Cut(m, " (in part: "); noted {
					m = text + " (in part)" // `gap show` prints the details
				}
				lacks[i] = excerpt(m, missingWidth)
			}
			p.IndentedText(3, "missing: %s", joinFirst(lacks, maxMissingShown))
		}
		if len(f.Evidence) == 0 {
			p.IndentedText(3, "no passage found")
			continue
		}
		e := f.Evidence[0]
		e.Quote = excerpt(e.Quote, quoteWidth)
		renderQuote(p, 3, e)
	}
}

// formatStatusCounts formats the number of applicable controls by implementation status.
func formatStatusCounts(s *api.AssessmentSummary) string {
	all := fmt.Sprintf("%d apply: %d implemented, %d partially implemented, %d planned, %d not implemented, %d not evidenced",
		s.Applicable, s.Implemented, s.PartiallyImpl, s.Planned, s.NotImplemented, s.NotEvidenced)
	if s.NotAssessed > 0 {
		all += fmt.Sprintf(", %d not assessed", s.NotAssessed)
	}
	return all
}
