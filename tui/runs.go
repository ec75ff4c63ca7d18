package tui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/tui/action"
	"github.com/scf-service/service/tui/draw"
	"github.com/scf-service/service/tui/list"
)

func runStatusStyle(status string) draw.Style {
	switch status {
	case "failed":
		return draw.Red
	case "completed":
		return draw.Green
	case "running", "pending":
		return draw.Cyan
	case "cancelled":
		return draw.Dim
	}
	return draw.Yellow
}

// newWorkflowsScreen returns the screen that lists an assessment's workflow runs. It follows active runs.
func newWorkflowsScreen(a *App, assessment api.Assessment) *table {
	t := &table{
		app:         a,
		label:       "Workflow runs",
		parentTitle: assessment.Name,
		emptyText:   "No workflow runs yet. Press s to start a workflow that advances the assessment to the next decision.",
	}
	t.fetch = func(ctx context.Context, c Caller, p api.Paging) ([]entry, api.Pagination, error) {
		l, err := call(
			ctx,
			c,
			api.ListWorkflows,
			&api.WorkflowsInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment.ID}, Paging: p},
		)
		if err != nil {
			return nil, api.Pagination{}, err
		}
		var out []entry
		for i := range l.Data {
			out = append(out, workflowEntry(&l.Data[i]))
		}
		return out, l.Pagination, nil
	}
	t.isLive = func(record any) bool {
		r := record.(*api.WorkflowRun)
		return r.Status.IsLive() && !r.Status.IsWaitingForUser()
	}
	t.followRecord = func(record any, again func() tea.Cmd) tea.Cmd {
		return a.followRun(record.(*api.WorkflowRun).ID, func(r *api.WorkflowRun) tea.Cmd {
			for i := range t.entries {
				if t.entries[i].id == r.ID {
					t.entries[i], t.drawnRow = workflowEntry(r), nil
				}
			}
			t.list.Refresh()
			return nil
		}, func(err error) tea.Cmd {
			if errors.Is(err, errRunEnded) {
				return t.load()
			}
			return again()
		})
	}
	t.renderRecord = renderWorkflow
	send := func(done string, op api.Op[api.WorkflowInput, api.WorkflowRun], record any) func() tea.Cmd {
		return func() tea.Cmd {
			in := api.WorkflowInput{WorkflowRunID: record.(*api.WorkflowRun).ID}
			return t.runAndReload(done, func(ctx context.Context) error { _, err := call(ctx, a.Caller, op, &in); return err })
		}
	}
	t.extraActions = func(record any) []action.Action {
		r, _ := record.(*api.WorkflowRun)
		cancel, resume := "no run is selected", "no run is selected"
		if r != nil {
			cancel, resume = "", ""
			if !r.Status.IsLive() {
				cancel = "the run is " + prose.Humanize(r.Status)
			}
			if !r.Status.IsWaitingForUser() && r.Status != api.RunFailed {
				resume = "the run is " + prose.Humanize(r.Status) + "; only failed and waiting runs can be resumed"
			}
		}
		return []action.Action{
			{
				Keys:  []string{"s"},
				Label: "start",
				Help:  "starts a workflow that advances the assessment to the next decision",
				Do: func() tea.Cmd {
					in := api.AssessmentInput{AssessmentID: assessment.ID}
					return t.runAndReload(
						"started",
						func(ctx context.Context) error { _, err := call(ctx, a.Caller, api.StartLifecycle, &in); return err },
					)
				},
			},
			{
				Keys:           []string{"r"},
				Label:          "resume",
				DisabledReason: resume,
				Help:           "resumes a failed or waiting run",
				Do:             send("resumed", api.ResumeWorkflow, record),
			},
			{
				Keys:           []string{"c"},
				Label:          "cancel",
				DisabledReason: cancel,
				Help:           "ends the run permanently; completed steps are kept",
				Do: func() tea.Cmd {
					a.overlay = &confirmPrompt{
						app:          a,
						title:        "Cancel the run?",
						lines:        []string{"Completed steps are kept; the current step is interrupted."},
						confirmLabel: "cancel the run",
						onConfirm:    send("cancelled", api.CancelWorkflow, record),
					}
					return nil
				},
			},
		}
	}
	return t.withColumns(
		list.Column{Title: "workflow"},
		list.Column{Title: "status", Width: 20},
		list.Column{Title: "progress", Width: 5, AlignRight: true, ShowFrom: 46},
		list.Column{Title: "step", Width: 22, ShowFrom: 76},
		list.Column{Title: "started", Width: 20, ShowFrom: 100},
	)
}

func workflowEntry(r *api.WorkflowRun) entry {
	return newEntry(
		r.ID,
		r,
		[]draw.Style{1: runStatusStyle(string(r.Status))},
		prose.Humanize(r.WorkflowType),
		prose.Humanize(r.Status),
		fmt.Sprintf("%d%%", r.Progress),
		prose.Humanize(r.CurrentStep),
		print.FormatTime(r.CreatedAt),
	)
}

// runAndReload performs an action on a row, shows the result, and reloads the table.
func (t *table) runAndReload(doneMessage string, work func(ctx context.Context) error) tea.Cmd {
	return t.app.runInBackground(func(ctx context.Context) func() tea.Cmd {
		err := work(ctx)
		return func() tea.Cmd {
			if err != nil {
				return tea.Batch(t.app.showErrorOrReconnect(err), t.load())
			}
			t.app.setStatus("%s", doneMessage)
			return t.load()
		}
	})
}

func renderWorkflow(p *draw.Page, record any) {
	r := record.(*api.WorkflowRun)
	p.AddText(draw.Bold, fmt.Sprintf("%s: %s", prose.Label(r.WorkflowType), prose.Humanize(r.Status)))
	p.AddLine(
		draw.Line{
			{Text: draw.Bar(float64(r.Progress), 100, min(30, p.Width()-8)), Style: runStatusStyle(string(r.Status))},
			{Text: fmt.Sprintf(" %d%%", r.Progress)},
		},
	)
	p.AddField("detail", stringOrEmpty(r.Detail), draw.Plain)
	p.AddField("waiting for", stringOrEmpty(r.WaitingFor), draw.Yellow)
	p.AddField("error", stringOrEmpty(r.Error), draw.Red)
	p.AddField("not before", formatTimePtr(r.NotBefore), draw.Plain)
	p.AddField("started by", r.StartedBy.Name+", "+print.FormatTime(r.CreatedAt), draw.Plain)
	p.AddField("ended", formatTimePtr(r.CompletedAt), draw.Plain)
	p.AddTitle("Steps")
	for _, s := range r.Steps {
		sign := map[string]string{
			api.StepCompleted: "✓",
			api.StepRunning:   "▶",
			api.StepWaiting:   "◆",
			api.StepFailed:    "✗",
			api.StepCancelled: "-",
		}[s.Status]
		if sign == "" {
			sign = "·"
		}
		word := s.Title
		if word == "" {
			word = prose.Humanize(s.Name)
		}
		tries := ""
		if s.Attempts > 1 {
			tries = fmt.Sprintf(", %d attempts", s.Attempts)
		}
		p.AddText(runStatusStyle(s.Status), fmt.Sprintf("%s %s (%s%s)", sign, word, s.Status, tries))
		if s.Error != nil {
			p.AddIndented(2, draw.Red, *s.Error)
		}
	}
}

// agentRun is a run with its steps and output, which are loaded when the run is opened.
type agentRun struct {
	*api.AgentRun
	steps  []api.AgentStep
	output *api.AgentOutput
}

// newAgentRunsScreen returns the screen that lists an assessment's agent runs. It follows active runs.
func newAgentRunsScreen(a *App, assessment api.Assessment) *table {
	t := &table{app: a, label: "Agent runs", parentTitle: assessment.Name, emptyText: "No agent runs yet. Start one with `service agent run`."}
	// The details of an ended run never change.
	ended := map[string]*agentRun{}
	t.fetch = func(ctx context.Context, c Caller, p api.Paging) ([]entry, api.Pagination, error) {
		l, err := call(
			ctx,
			c,
			api.ListAssessmentAgentRuns,
			&api.AssessmentListInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment.ID}, Paging: p},
		)
		if err != nil {
			return nil, api.Pagination{}, err
		}
		var out []entry
		for i := range l.Data {
			r := &l.Data[i]
			out = append(
				out,
				newEntry(
					r.ID,
					&agentRun{AgentRun: r},
					[]draw.Style{1: runStatusStyle(r.Status)},
					r.AgentID,
					r.Status,
					r.Model,
					formatTimePtr(r.StartedAt),
				),
			)
		}
		return out, l.Pagination, nil
	}
	t.isLive = func(record any) bool { s := record.(*agentRun).Status; return s == "pending" || s == "running" }
	t.onRead = func() {
		for i := range t.entries {
			if r := ended[t.entries[i].id]; r != nil {
				t.entries[i].record = r
			}
		}
	}
	t.renderRecord = renderAgentRun
	t.extraActions = func(record any) []action.Action {
		r, _ := record.(*agentRun)
		none, cancel := "no run is selected", "no run is selected"
		if r != nil {
			none, cancel = "", "the run is "+r.Status
			if r.Status == "pending" || r.Status == "running" {
				cancel = ""
			}
		}
		return []action.Action{
			{
				Keys:           []string{"enter"},
				Label:          "show",
				DisabledReason: none,
				Help:           "loads the agent's steps and proposals",
				Do: func() tea.Cmd {
					return a.runInBackground(func(ctx context.Context) func() tea.Cmd {
						in := api.AgentRunInput{AgentRunID: r.ID}
						full := &agentRun{AgentRun: r.AgentRun}
						steps, err := call(
							ctx,
							a.Caller,
							api.ListAgentRunSteps,
							&api.AgentStepsInput{AgentRunInput: in, Paging: api.Paging{Limit: api.MaxListLimit}},
						)
						if err == nil {
							full.steps = steps.Data
							if r.Status == "completed" {
								full.output, err = call(ctx, a.Caller, api.GetAgentRunOutput, &in)
							}
						}
						return func() tea.Cmd {
							if err != nil {
								return a.showErrorOrReconnect(err)
							}
							for i := range t.entries {
								if t.entries[i].id == r.ID {
									t.entries[i].record = full
								}
							}
							if !t.isLive(full) {
								ended[r.ID] = full
							}
							t.detailFocused = true
							return nil
						}
					})
				},
			},
			{Keys: []string{"c"}, Label: "cancel", DisabledReason: cancel, Help: "cancels the run", Do: func() tea.Cmd {
				in := api.AgentRunInput{AgentRunID: r.ID}
				return t.runAndReload(
					"cancelled",
					func(ctx context.Context) error { _, err := call(ctx, a.Caller, api.CancelAgentRun, &in); return err },
				)
			}},
		}
	}
	return t.withColumns(
		list.Column{Title: "agent"},
		list.Column{Title: "status", Width: 10},
		list.Column{Title: "model", Width: 16, ShowFrom: 70},
		list.Column{Title: "started", Width: 20, ShowFrom: 60},
	)
}

func renderAgentRun(p *draw.Page, record any) {
	r := record.(*agentRun)
	p.AddText(draw.Bold, r.AgentID+": "+r.Status)
	p.AddField("model", r.Model, draw.Plain)
	p.AddField("prompt", r.PromptVersion, draw.Plain)
	p.AddField("started", formatTimePtr(r.StartedAt), draw.Plain)
	p.AddField("ended", formatTimePtr(r.CompletedAt), draw.Plain)
	if r.Tokens != (api.Tokens{}) {
		p.AddField("tokens", fmt.Sprintf("%d in, %d out", r.Tokens.Prompt, r.Tokens.Completion), draw.Plain)
	}
	if r.Confidence != nil {
		p.AddField("confidence", fmt.Sprintf("%.2f", *r.Confidence), draw.Plain)
	}
	p.AddField("error", stringOrEmpty(r.Error), draw.Red)
	if o := r.output; o != nil {
		p.AddTitle("Proposals")
		p.AddText(draw.Plain, o.Summary)
		for _, one := range o.Proposals {
			b, _ := json.Marshal(one) // it was decoded from JSON
			p.AddIndented(2, draw.Plain, "- "+string(b))
		}
		for _, one := range o.Assumptions {
			p.AddIndented(2, draw.Dim, "assumption: "+one)
		}
		for _, one := range o.Limitations {
			p.AddIndented(2, draw.Dim, "limitation: "+one)
		}
	}
	if len(r.steps) > 0 {
		p.AddTitle("Steps")
		for _, s := range r.steps {
			p.AddText(draw.Plain, fmt.Sprintf("%d. %s %s, %d ms", s.Index+1, s.Kind, s.Name, s.DurationMS))
		}
	}
	if r.steps == nil && r.output == nil {
		p.AddText(draw.Dim, "Press Enter to load the steps and proposals of this run.")
	}
}
