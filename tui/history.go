package tui

import (
	"context"
	"fmt"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/tui/draw"
)

// past is what happened to an item, and what was said of it.
type past struct {
	events   []api.AuditEvent
	comments []api.Comment
	// untold is why the events can't be read.
	untold string
}

// pastShown is how many events of an item are read.
const pastShown = 50

// history shows the past of the item, reading it where that is not done yet.
func (v *review) history() tea.Cmd {
	v.showPast, v.scroll = !v.showPast, 0
	return v.readPast()
}

func (v *review) readPast() tea.Cmd {
	r := v.row()
	if r == nil || !v.showPast {
		return nil
	}
	key := v.kind.key(r.item)
	if v.pasts[key] != nil {
		return nil
	}
	id, gate, assessment := r.head.ID, v.kind.gate, v.assessment.ID
	return v.app.later(func(ctx context.Context) func() tea.Cmd {
		p := &past{}
		talk, err := do(ctx, v.app.Caller, api.ListComments, &api.CommentsInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}, Paging: api.Paging{Limit: api.MaxListLimit}, Gate: gate, Item: key})
		if err == nil {
			p.comments = talk.Data
			var events *api.List[api.AuditEvent]
			events, err = do(ctx, v.app.Caller, api.ListAuditEvents, &api.AuditInput{Paging: api.Paging{Limit: pastShown}, AuditFilter: api.AuditFilter{ResourceID: id}})
			switch {
			case err == nil:
				p.events = events.Data
			case api.IsCode(err, api.CodeForbidden):
				p.untold, err = explain(err), nil
			}
		}
		return func() tea.Cmd {
			if err != nil {
				return v.app.fail(err)
			}
			v.pasts[key], v.drawn = p, drawnPage{}
			return nil
		}
	})
}

func (v *review) pastPage(p *draw.Page, r *row) {
	one := v.pasts[v.kind.key(r.item)]
	if one == nil {
		p.Text(draw.Dim, "h shows its history")
		return
	}
	p.Title("What was said")
	if len(one.comments) == 0 {
		p.Text(draw.Dim, "nothing")
	}
	for _, c := range one.comments {
		p.Text(draw.Dim, fmt.Sprintf("%s, %s, of version %d", c.Author.Name, print.Moment(c.CreatedAt), c.VersionNumber))
		p.Indent(2, draw.Plain, c.Text)
	}
	p.Title("What happened, newest first")
	if one.untold != "" {
		p.Text(draw.Dim, one.untold)
	}
	for _, e := range one.events {
		p.Text(draw.Dim, print.Moment(e.At)+"  "+e.Actor.Name)
		p.Indent(2, draw.Plain, e.Action+happened(e.Changes))
	}
	if len(one.events) == 0 && one.untold == "" {
		p.Text(draw.Dim, "in this version, nothing but the draft")
	}
}

// happened is what an event changed, in one line.
func happened(changes map[string]any) string {
	if fields, ok := changes["fields"].([]any); ok {
		out := ": "
		for i, f := range fields {
			if i > 0 {
				out += ", "
			}
			out += fmt.Sprint(f)
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
		out += fmt.Sprintf("; %s %v", print.Words(n), changes[n])
	}
	return out
}
