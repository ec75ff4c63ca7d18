package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/tui/draw"
)

// itemHistory holds an item's events and comments.
type itemHistory struct {
	events   []api.AuditEvent
	comments []api.Comment
	// eventsProblem is why the events can't be read.
	eventsProblem string
}

// maxHistoryEvents is the maximum number of events read per item.
const maxHistoryEvents = 50

// toggleHistory shows or hides the item's history, loading it if necessary.
func (v *review) toggleHistory() tea.Cmd {
	v.showHistory, v.scroll = !v.showHistory, 0
	return v.readHistoryIfShown()
}

// readHistoryIfShown loads the history of the selected item if the history is displayed.
func (v *review) readHistoryIfShown() tea.Cmd {
	r := v.selectedRow()
	if r == nil || !v.showHistory {
		return nil
	}
	key := v.kind.keyOf(r.item)
	if v.histories[key] != nil {
		return nil
	}
	id, gate, assessment := r.head.ID, v.kind.gate, v.assessment.ID
	return v.app.runInBackground(func(ctx context.Context) func() tea.Cmd {
		p := &itemHistory{}
		talk, err := call(
			ctx,
			v.app.Caller,
			api.ListComments,
			&api.CommentsInput{
				AssessmentInput: api.AssessmentInput{AssessmentID: assessment},
				Paging:          api.Paging{Limit: api.MaxListLimit},
				Gate:            gate,
				Item:            key,
			},
		)
		if err == nil {
			p.comments = talk.Data
			var events *api.List[api.AuditEvent]
			events, err = call(
				ctx,
				v.app.Caller,
				api.ListAuditEvents,
				&api.AuditInput{Paging: api.Paging{Limit: maxHistoryEvents}, AuditFilter: api.AuditFilter{ResourceID: id}},
			)
			switch {
			case err == nil:
				p.events = events.Data
			case api.IsCode(err, api.CodeForbidden):
				p.eventsProblem, err = explainError(err), nil
			}
		}
		return func() tea.Cmd {
			if err != nil {
				return v.app.showErrorOrReconnect(err)
			}
			v.histories[key], v.cachedPage = p, drawnPage{}
			return nil
		}
	})
}

func (v *review) renderHistory(p *draw.Page, r *row) {
	one := v.histories[v.kind.keyOf(r.item)]
	if one == nil {
		p.AddText(draw.Dim, "press h to show the history of the selected item")
		return
	}
	p.AddTitle("Comments")
	if len(one.comments) == 0 {
		p.AddText(draw.Dim, "nothing")
	}
	for _, c := range one.comments {
		p.AddText(draw.Dim, fmt.Sprintf("%s, %s, of version %d", c.Author.Name, print.FormatTime(c.CreatedAt), c.VersionNumber))
		p.AddIndented(2, draw.Plain, c.Text)
	}
	p.AddTitle("History, newest first")
	if one.eventsProblem != "" {
		p.AddText(draw.Dim, one.eventsProblem)
	}
	for _, e := range one.events {
		p.AddText(draw.Dim, print.FormatTime(e.At)+"  "+e.Actor.Name)
		what := e.Action
		if strings.HasSuffix(what, ".item_changed") {
			what = "changed"
		}
		p.AddIndented(2, draw.Plain, what+formatAuditChanges(e.Changes))
	}
	if len(one.events) == 0 && one.eventsProblem == "" {
		p.AddText(draw.Dim, "this item has not been changed since it was drafted")
	}
}

// formatAuditChanges formats an event's changes in one line.
func formatAuditChanges(changes map[string]any) string {
	if fields, ok := changes["fields"].([]any); ok {
		out := ": "
		for i, f := range fields {
			if i > 0 {
				out += ", "
			}
			out += prose.Humanize(fmt.Sprint(f))
		}
		return out
	}
	var names []string
	for n := range changes {
		names = append(names, n)
	}
	slices.Sort(names)
	out := ""
	for _, n := range names {
		out += fmt.Sprintf("; %s %v", prose.Humanize(n), changes[n])
	}
	return out
}
