package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/tui/action"
	"github.com/scf-service/service/tui/draw"
	"github.com/scf-service/service/tui/list"
)

// newAssessments is the list of assessments.
func newAssessments(a *App) *table {
	t := &table{app: a, label: "Assessments", above: "service",
		empty: "There is no assessment yet.\n\n`service assess run DIR` makes one of a folder of documents; `service demo` shows the whole job on an example company."}
	t.fetch = func(ctx context.Context, c Caller, p api.Paging) ([]entry, api.Pagination, error) {
		l, err := do(ctx, c, api.ListAssessments, &api.AssessmentsInput{Paging: p})
		if err != nil {
			return nil, api.Pagination{}, err
		}
		var out []entry
		for i := range l.Data {
			one := &l.Data[i]
			out = append(out, newEntry(one.ID, one, nil, one.Name, fmt.Sprintf("%d %%", one.Progress), stateWords(one.State),
				strings.Join(one.Frameworks, ", "), fmt.Sprint(one.Counts.SoAItems), fmt.Sprint(one.Counts.Findings), orNone(one.DueDate), print.Day(one.UpdatedAt)))
		}
		return out, l.Pagination, nil
	}
	t.more = func(record any) []action.Action {
		off := ""
		one, _ := record.(*api.Assessment)
		if one == nil {
			off = "there is no assessment here"
		}
		return []action.Action{{Keys: []string{"enter"}, Label: "open", Off: off, Help: "opens the assessment", Do: func() tea.Cmd { return a.push(newOverview(a, *one)) }}}
	}
	return t.start(list.Column{Title: "name"}, list.Column{Title: "done", Width: 5, Right: true, From: 36}, list.Column{Title: "state", Width: 25, From: 60},
		list.Column{Title: "frameworks", Width: 24, From: 110}, list.Column{Title: "lines", Width: 5, Right: true, From: 84}, list.Column{Title: "gaps", Width: 5, Right: true, From: 84},
		list.Column{Title: "due", Width: 10, From: 130}, list.Column{Title: "changed", Width: 10, From: 76})
}

// newTimeline lists what happened in an assessment.
func newTimeline(a *App, one api.Assessment) *table {
	t := &table{app: a, label: "Timeline", above: one.Name, empty: "Nothing has happened yet."}
	t.fetch = func(ctx context.Context, c Caller, p api.Paging) ([]entry, api.Pagination, error) {
		l, err := do(ctx, c, api.GetTimeline, &api.TimelineInput{AssessmentInput: api.AssessmentInput{AssessmentID: one.ID}, Paging: p})
		if err != nil {
			return nil, api.Pagination{}, err
		}
		var out []entry
		for i := range l.Data {
			e := &l.Data[i]
			out = append(out, newEntry(e.ID, e, nil, print.Moment(e.At), shortMoment(e.At), e.Actor.Name, e.Summary, e.Type))
		}
		return out, l.Pagination, nil
	}
	t.page = func(p *draw.Page, record any) {
		e := record.(*api.TimelineEvent)
		p.Text(draw.Bold, e.Summary)
		p.Field("at", print.Moment(e.At), draw.Plain)
		p.Field("who", e.Actor.Name+" ("+print.Words(e.Actor.Type)+")", draw.Plain)
		p.Field("kind", e.Type, draw.Plain)
		p.Field("of", print.Words(e.ResourceType)+" "+e.ResourceID, draw.Plain)
	}
	return t.start(list.Column{Title: "at", Width: 20, From: 48}, list.Column{Title: "at", Width: 11, To: 48}, list.Column{Title: "who", Width: 14, From: 56}, list.Column{Title: "what"}, list.Column{Title: "kind", Width: 22, From: 90})
}

// shortMoment is a time in eleven cells, where the year is seen elsewhere.
func shortMoment(t time.Time) string { return t.UTC().Format("01-02 15:04") }

// newAudit lists who did what in the organization.
func newAudit(a *App) *table {
	t := &table{app: a, label: "Audit trail", empty: "Nothing is recorded yet."}
	t.fetch = func(ctx context.Context, c Caller, p api.Paging) ([]entry, api.Pagination, error) {
		l, err := do(ctx, c, api.ListAuditEvents, &api.AuditInput{Paging: p})
		if err != nil {
			return nil, api.Pagination{}, err
		}
		var out []entry
		for i := range l.Data {
			e := &l.Data[i]
			style := draw.Plain
			if e.Outcome != "success" {
				style = draw.Red
			}
			out = append(out, newEntry(e.ID, e, []draw.Style{4: style}, print.Moment(e.At), shortMoment(e.At), e.Actor.Name, e.Action, e.Outcome, e.ResourceType))
		}
		return out, l.Pagination, nil
	}
	t.page = func(p *draw.Page, record any) {
		e := record.(*api.AuditEvent)
		p.Text(draw.Bold, e.Action)
		p.Field("at", print.Moment(e.At), draw.Plain)
		p.Field("who", e.Actor.Name+" ("+print.Words(e.Actor.Type)+")", draw.Plain)
		p.Field("outcome", e.Outcome, draw.Plain)
		p.Field("of", print.Words(e.ResourceType)+" "+e.ResourceID, draw.Plain)
		p.Field("from", e.IP, draw.Plain)
		p.Field("changes", strings.TrimPrefix(happened(e.Changes), "; "), draw.Plain)
		p.Field("number", fmt.Sprint(e.Sequence), draw.Plain)
		p.Field("hash", e.Hash, draw.Dim)
		p.Field("before it", e.PreviousHash, draw.Dim)
		p.Field("trace id", e.TraceID, draw.Dim)
	}
	t.more = func(any) []action.Action {
		return []action.Action{{Keys: []string{"v"}, Label: "verify", Help: "checks that no record was changed, removed or put in", Do: func() tea.Cmd {
			return a.later(func(ctx context.Context) func() tea.Cmd {
				v, err := do(ctx, a.Caller, api.VerifyAudit, &api.None{})
				return func() tea.Cmd {
					switch {
					case err != nil:
						return a.fail(err)
					case !v.OK && v.Problem != nil:
						a.said, a.trouble = "the trail does not hold: "+v.Problem.Message, true
					default:
						a.say("the trail holds: %s, up to %.12s", print.Count(int(v.Records), "record", "records"), v.Head)
					}
					return nil
				}
			})
		}}}
	}
	return t.start(list.Column{Title: "at", Width: 20, From: 48}, list.Column{Title: "at", Width: 11, To: 48}, list.Column{Title: "who", Width: 14, From: 52}, list.Column{Title: "action"}, list.Column{Title: "outcome", Width: 8, From: 60}, list.Column{Title: "of", Width: 16, From: 90})
}
