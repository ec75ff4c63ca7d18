package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

// worstShown is how many gaps a summary names.
const worstShown = 5

// outcome is what a run tells at its end.
type outcome struct {
	Assessment *api.Assessment        `json:"assessment"`
	Status     *api.AssessmentStatus  `json:"status"`
	Summary    *api.AssessmentSummary `json:"summary"`
	Documents  []api.Document         `json:"documents"`
	LeftOut    []skipped              `json:"left_out"`
	Worst      []api.Finding          `json:"worst_findings"`
	Reports    []string               `json:"reports"`
	Seconds    float64                `json:"seconds"`

	// late are the documents that came after the Statement of Applicability was drafted.
	late int
	// lead stands before the page, tail after it.
	lead, tail func(*print.Page)
}

// outcome reads what there is to tell of an assessment.
func (a *app) outcome(ctx context.Context, id string, left []skipped, started time.Time) (*outcome, error) {
	in := api.AssessmentInput{AssessmentID: id}
	out := &outcome{LeftOut: left, Worst: []api.Finding{}, Reports: []string{}}
	if out.LeftOut == nil {
		out.LeftOut = []skipped{}
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
	if out.Documents, err = a.documents(ctx, id); err != nil {
		return nil, err
	}
	if out.Assessment.Counts.Findings > 0 {
		versions, err := call(ctx, a, api.ListGap, &api.AssessmentListInput{AssessmentInput: in, Paging: api.Paging{Limit: 1}})
		if err != nil {
			return nil, err
		}
		if len(versions.Data) > 0 {
			worst, err := a.findings(ctx, versions.Data[0].ID, api.FindingFilter{}, limits{limit: worstShown})
			if err != nil {
				return nil, err
			}
			out.Worst = worst.Data
		}
	}
	out.Seconds = a.Clock().Sub(started).Seconds()
	return out, nil
}

// page is the outcome as people read it.
func (o *outcome) page(a *app) func(*print.Page) {
	return func(p *print.Page) {
		if o.lead != nil {
			o.lead(p)
		}
		p.Title("%s: %s (%d %%)", o.Assessment.Name, plain(o.Assessment.State), o.Assessment.Progress)
		p.Fields(o.fields()...)
		o.unread(a, p)
		o.unsure(p)
		o.worst(p)
		if !slices.ContainsFunc(o.Status.Outdated, func(one api.Outdated) bool { return one.Reason == "documents" }) {
			a.notDrafted(p, o.Assessment.State, o.late) // they are not read yet
		}
		if o.tail == nil {
			a.outdated(p, o.Status)
		}
		if o.Summary.IsStarter {
			p.Blank()
			p.Text("Catalog: the built-in starter, in this project's own words. It is not the SCF; import the workbook with `%s` for the whole.", a.command("catalog import FILE"))
		}
		if len(o.Reports) > 0 {
			p.Blank()
			p.Text("Written: %s", strings.Join(o.Reports, ", "))
		}
		if o.tail != nil {
			o.tail(p)
		}
	}
}

func (o *outcome) fields() []print.Field {
	read := 0
	for _, d := range o.Documents {
		if d.Status == api.DocumentIngested {
			read++
		}
	}
	frameworks := strings.Join(o.Assessment.Frameworks, ", ")
	if frameworks == "" {
		frameworks = "none: the whole catalog"
	}
	fields := []print.Field{
		{Name: "frameworks", Value: frameworks},
		{Name: "documents", Value: fmt.Sprintf("%d read of %d, %s", read, len(o.Documents), count(o.Assessment.Counts.Chunks, "passage", "passages"))},
	}
	if o.Summary.Controls > 0 {
		fields = append(fields,
			print.Field{Name: "controls", Value: fmt.Sprintf("%d, of which %s", o.Summary.Controls, statuses(o.Summary))},
			print.Field{Name: "coverage", Value: withFormula(o.Summary.CompliancePct, o.Summary.ComplianceFormula)})
	}
	if o.Summary.MaturityAvg != nil {
		fields = append(fields, print.Field{Name: "maturity", Value: figure(o.Summary.MaturityAvg) + " of 5 on average"})
	}
	if o.Assessment.State.Reached(api.StateGapAnalysisDrafted) {
		fields = append(fields, print.Field{Name: "gaps", Value: tally(o.Summary.FindingsBySeverity, api.Severities)})
	}
	if o.Assessment.State.Reached(api.StatePOAMDrafted) {
		fields = append(fields, print.Field{Name: "plan", Value: count(o.Summary.OpenPOAMItems, "open item", "open items")})
	}
	return append(fields, print.Field{Name: "time taken", Value: print.Elapsed(time.Duration(o.Seconds * float64(time.Second)))},
		print.Field{Name: "id", Value: o.Assessment.ID})
}

// maxUnread is how many documents a run lists that were not read.
const maxUnread = 20

// unread lists the documents that were not read, and why.
func (o *outcome) unread(a *app, p *print.Page) {
	var lines []string
	for _, l := range o.LeftOut {
		lines = append(lines, l.Name+": "+l.Reason)
	}
	for _, d := range o.Documents {
		if d.Status == api.DocumentFailed {
			lines = append(lines, d.Filename+": "+orEmpty(d.Error))
		}
	}
	if len(lines) == 0 {
		return
	}
	p.Title("Not read")
	for _, l := range lines[:min(len(lines), maxUnread)] {
		p.Item(0, "%s", l)
	}
	if more := len(lines) - maxUnread; more > 0 {
		p.Item(0, "and %d more; `%s` lists those that were taken", more, a.command("doc list --status failed"))
	}
}

// unsure says where the evidence is such that the figures above say little.
func (o *outcome) unsure(p *print.Page) {
	var names []string
	read := 0
	for _, d := range o.Documents {
		if d.Status != api.DocumentIngested {
			continue
		}
		read++
		if d.Foreign() {
			names = append(names, fmt.Sprintf("%s (%s)", d.Filename, d.Language))
		}
	}
	switch {
	case !o.Assessment.State.Reached(api.StateSoADrafted):
	case read == 0:
		p.Title("To know")
		p.Item(0, "No document was read, so every control is not evidenced. That says nothing of what is done.")
	case len(names) > 0:
		p.Title("To know")
		p.Item(0, "%d of %s in another language than English, which the rules can't read: a person should. What only these say counts as not evidenced: %s.",
			len(names), count(read, "document is", "documents are"), joinSome(names, 5))
	}
}

// notDrafted says of documents that came late that no draft knows them, and what to do.
func (a *app) notDrafted(p *print.Page, at api.State, late int) {
	if late == 0 || !at.Reached(api.StateSoADrafted) || at == api.StateClosed {
		return
	}
	p.Title("Not in the drafts yet")
	p.Text("%s came after the Statement of Applicability was drafted. To look there for evidence, which then needs approval again:", count(late, "document", "documents"))
	p.Command(a.command(refreshing(at)))
}

// A summary names the first few things that a gap lacks and the beginning of its
// passage; `gap show` has them whole.
const (
	missingShown = 2
	missingWidth = 110
	quoteWidth   = 280
)

// beginning is the head of a long text.
func beginning(s string, width int) string {
	return print.Cut(strings.TrimRight(strings.Join(strings.Fields(s), " "), "."), width)
}

// worst shows the worst gaps, each with the passage it rests on.
func (o *outcome) worst(p *print.Page) {
	if len(o.Worst) == 0 {
		return
	}
	p.Title("The worst gaps")
	for i, f := range o.Worst {
		p.Text("%d. %s %s [%s, %s]", i+1, f.ControlCode, f.ControlTitle, f.Severity, plain(f.Status))
		if len(f.MissingElements) > 0 {
			lacks := make([]string, len(f.MissingElements))
			for i, m := range f.MissingElements {
				if text, _, noted := strings.Cut(m, " (in part: "); noted {
					m = text + " (in part)" // `gap show` has what of it
				}
				lacks[i] = beginning(m, missingWidth)
			}
			p.Indent(3, "missing: %s", joinSome(lacks, missingShown))
		}
		if len(f.Evidence) == 0 {
			p.Indent(3, "no passage found")
			continue
		}
		e := f.Evidence[0]
		e.Quote = beginning(e.Quote, quoteWidth)
		cited(p, 3, e)
	}
}

// statuses counts the controls that apply by what the evidence says of them.
func statuses(s *api.AssessmentSummary) string {
	all := fmt.Sprintf("%d apply: %d implemented, %d partially, %d planned, %d not implemented, %d not evidenced",
		s.Applicable, s.Implemented, s.PartiallyImpl, s.Planned, s.NotImplemented, s.NotEvidenced)
	if s.NotAssessed > 0 {
		all += fmt.Sprintf(", %d not assessed", s.NotAssessed)
	}
	return all
}
