package tui

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/lazyregexp"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/tui/action"
	"github.com/scf-service/service/tui/draw"
	"github.com/scf-service/service/tui/input"
	"github.com/scf-service/service/tui/list"
)

// newAssessmentsScreen returns the screen that lists the assessments.
func newAssessmentsScreen(a *App) *table {
	t := &table{
		app: a, label: "Assessments", parentTitle: "service",
		emptyText: "No assessments yet.\n\nCreate one from a folder of documents with `service assess run DIR`; see a full " +
			"example with `service demo`.",
	}
	t.fetch = func(ctx context.Context, c Caller, p api.Paging) ([]entry, api.Pagination, error) {
		l, err := call(ctx, c, api.ListAssessments, &api.AssessmentsInput{Paging: p})
		if err != nil {
			return nil, api.Pagination{}, err
		}
		var out []entry
		for i := range l.Data {
			one := &l.Data[i]
			out = append(out, newEntry(
				one.ID,
				one,
				nil,
				one.Name,
				fmt.Sprintf("%d%%", one.Progress),
				prose.Humanize(one.State),
				strings.Join(
					one.Frameworks,
					", ",
				),
				fmt.Sprint(one.Counts.SoAItems),
				fmt.Sprint(one.Counts.Findings),
				stringOrEmpty(one.DueDate),
				print.FormatDay(one.UpdatedAt),
			))
		}
		return out, l.Pagination, nil
	}
	t.extraActions = func(record any) []action.Action {
		off := ""
		one, _ := record.(*api.Assessment)
		if one == nil {
			off = "no assessment is selected"
		}
		return []action.Action{
			{
				Keys:           []string{"enter"},
				Label:          "open",
				DisabledReason: off,
				Help:           "opens the assessment",
				Do:             func() tea.Cmd { return a.push(newOverviewScreen(a, *one)) },
			},
			{
				Keys:           []string{"n"},
				Label:          "next",
				DisabledReason: off,
				Help: "creates the next assessment from this one; scope, owners, decisions, notes, comments and open plan items " +
					"are carried over",
				Do: func() tea.Cmd { return promptNextAssessment(a, one) },
			},
		}
	}
	return t.withColumns(
		list.Column{Title: "name"},
		list.Column{Title: "progress", Width: 5, AlignRight: true, ShowFrom: 36},
		list.Column{Title: "state", Width: 25, ShowFrom: 60},
		list.Column{
			Title:    "frameworks",
			Width:    24,
			ShowFrom: 110,
		},
		list.Column{Title: "items", Width: 5, AlignRight: true, ShowFrom: 84},
		list.Column{Title: "gaps", Width: 5, AlignRight: true, ShowFrom: 84},
		list.Column{Title: "due", Width: 10, ShowFrom: 130},
		list.Column{Title: "changed", Width: 10, ShowFrom: 76},
	)
}

// promptNextAssessment asks for the name of an assessment that continues an earlier one, and creates it.
func promptNextAssessment(a *App, earlier *api.Assessment) tea.Cmd {
	a.overlay = &textPrompt{
		app: a, title: "Name of the new assessment that continues " + earlier.Name, field: input.New(nextName(earlier.Name), false),
		lines:        []string{"Decisions, owners and open plan items are carried over. Decisions whose evidence has changed must be confirmed again."},
		emptyMessage: "enter a name, or press Esc to cancel",
		onSubmit: func(name string) tea.Cmd {
			in := &api.CreateAssessmentInput{}
			in.Body.Name, in.Body.From = strings.TrimSpace(name), earlier.ID
			return a.runInBackground(func(ctx context.Context) func() tea.Cmd {
				one, err := call(ctx, a.Caller, api.CreateAssessment, in)
				return func() tea.Cmd {
					if err != nil {
						return a.showErrorOrReconnect(err)
					}
					a.markConnected()
					a.setStatus("assessment created; add documents with service doc add DIR, then create the drafts")
					return a.push(newOverviewScreen(a, *one))
				}
			})
		},
	}
	return nil
}

// nextName returns a name with the last year in it increased by one: "Acme 2026" becomes "Acme 2027". Other names are
// returned unchanged.
func nextName(name string) string {
	at := year.FindAllStringIndex(name, -1)
	if len(at) == 0 {
		return name
	}
	last := at[len(at)-1]
	n, _ := strconv.Atoi(name[last[0]:last[1]])
	return name[:last[0]] + strconv.Itoa(n+1) + name[last[1]:]
}

var year = lazyregexp.New(`\b20\d\d\b`)

// newTimelineScreen returns the screen that lists an assessment's events.
func newTimelineScreen(a *App, assessment api.Assessment) *table {
	t := &table{app: a, label: "Timeline", parentTitle: assessment.Name, emptyText: "No events yet."}
	t.fetch = func(ctx context.Context, c Caller, p api.Paging) ([]entry, api.Pagination, error) {
		l, err := call(ctx, c, api.GetTimeline, &api.TimelineInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment.ID}, Paging: p})
		if err != nil {
			return nil, api.Pagination{}, err
		}
		var out []entry
		for i := range l.Data {
			e := &l.Data[i]
			out = append(out, newEntry(e.ID, e, nil, print.FormatTime(e.At), formatShortTime(e.At), e.Actor.Name, e.Summary, e.Type))
		}
		return out, l.Pagination, nil
	}
	t.renderRecord = func(p *draw.Page, record any) {
		e := record.(*api.TimelineEvent)
		p.AddText(draw.Bold, e.Summary)
		p.AddField("at", print.FormatTime(e.At), draw.Plain)
		p.AddField("who", e.Actor.Name+" ("+prose.Humanize(e.Actor.Type)+")", draw.Plain)
		p.AddField("type", e.Type, draw.Plain)
		p.AddField("record", prose.Humanize(e.ResourceType)+" "+e.ResourceID, draw.Plain)
	}
	return t.withColumns(
		list.Column{Title: "at", Width: 20, ShowFrom: 48},
		list.Column{Title: "at", Width: 11, HideFrom: 48},
		list.Column{Title: "who", Width: 14, ShowFrom: 56},
		list.Column{Title: "what"},
		list.Column{Title: "type", Width: 22, ShowFrom: 90},
	)
}

// formatShortTime formats a time without its year; the result is eleven cells wide.
func formatShortTime(t time.Time) string { return t.UTC().Format("01-02 15:04") }

// newAuditScreen returns the screen that lists the organization's audit trail.
func newAuditScreen(a *App) *table {
	t := &table{app: a, label: "Audit trail", emptyText: "No records yet."}
	t.fetch = func(ctx context.Context, c Caller, p api.Paging) ([]entry, api.Pagination, error) {
		l, err := call(ctx, c, api.ListAuditEvents, &api.AuditInput{Paging: p})
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
			out = append(
				out,
				newEntry(
					e.ID,
					e,
					[]draw.Style{4: style},
					print.FormatTime(e.At),
					formatShortTime(e.At),
					e.Actor.Name,
					e.Action,
					e.Outcome,
					e.ResourceType,
				),
			)
		}
		return out, l.Pagination, nil
	}
	t.renderRecord = func(p *draw.Page, record any) {
		e := record.(*api.AuditEvent)
		p.AddText(draw.Bold, e.Action)
		p.AddField("at", print.FormatTime(e.At), draw.Plain)
		p.AddField("who", e.Actor.Name+" ("+prose.Humanize(e.Actor.Type)+")", draw.Plain)
		p.AddField("outcome", e.Outcome, draw.Plain)
		p.AddField("record", prose.Humanize(e.ResourceType)+" "+e.ResourceID, draw.Plain)
		p.AddField("from", e.IP, draw.Plain)
		p.AddField("changes", strings.TrimPrefix(formatAuditChanges(e.Changes), "; "), draw.Plain)
		p.AddField("number", fmt.Sprint(e.Sequence), draw.Plain)
		p.AddField("hash", e.Hash, draw.Dim)
		p.AddField("previous hash", e.PreviousHash, draw.Dim)
		p.AddField("trace id", e.TraceID, draw.Dim)
	}
	t.extraActions = func(any) []action.Action {
		return []action.Action{
			{
				Keys: []string{"v"}, Label: "verify", Help: "checks that no record of the audit trail was changed, removed or inserted",
				Do: func() tea.Cmd {
					return a.runInBackground(func(ctx context.Context) func() tea.Cmd {
						v, err := call(ctx, a.Caller, api.VerifyAudit, &api.None{})
						return func() tea.Cmd {
							switch {
							case err != nil:
								return a.showErrorOrReconnect(err)
							case !v.OK && v.Problem != nil:
								a.statusText, a.isError = "the audit trail is broken: "+v.Problem.Message, true
							default:
								a.setStatus("the audit trail is intact: %s, last hash %.12s", prose.Count(int(v.Records), "record", "records"), v.Head)
							}
							return nil
						}
					})
				},
			},
		}
	}
	return t.withColumns(
		list.Column{Title: "at", Width: 20, ShowFrom: 48},
		list.Column{Title: "at", Width: 11, HideFrom: 48},
		list.Column{Title: "who", Width: 14, ShowFrom: 52},
		list.Column{Title: "action"},
		list.Column{Title: "outcome", Width: 8, ShowFrom: 60},
		list.Column{Title: "record", Width: 16, ShowFrom: 90},
	)
}
