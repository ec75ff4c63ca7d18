package web

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/scf-service/service/api"
)

// liveRuns returns the workflow runs of an assessment that have not ended, newest first.
func (v *visit) liveRuns(assessmentID string) (out []api.WorkflowRun, err error) {
	l, err := do(v, api.ListWorkflows, &api.WorkflowsInput{
		AssessmentInput: api.AssessmentInput{AssessmentID: assessmentID}, Paging: api.Paging{Limit: 10},
	})
	if err != nil {
		return nil, err
	}
	for i := range l.Data {
		if l.Data[i].Status.IsLive() {
			out = append(out, l.Data[i])
		}
	}
	return out, nil
}

func (v *visit) openAssessments() ([]api.Assessment, error) {
	l, err := do(v, api.ListAssessments, &api.AssessmentsInput{Paging: api.Paging{Limit: api.MaxListLimit}, Sort: "-updated_at"})
	if err != nil {
		return nil, err
	}
	var out []api.Assessment
	for _, a := range l.Data {
		if a.State != api.StateClosed {
			out = append(out, a)
		}
	}
	return out, nil
}

// runRow returns a workflow run as a row of a table. name is the name of the run's assessment.
func (v *visit) runRow(r *api.WorkflowRun, name string) line {
	step := orEmpty(r.Detail)
	for i := range r.Steps {
		if r.Steps[i].Name == r.CurrentStep && step == "" {
			step = r.Steps[i].Title
		}
	}
	switch {
	case r.WaitingFor != nil:
		step = *r.WaitingFor
	case r.Error != nil:
		step = *r.Error
	}
	row := line{Cells: []value{
		linkValue(name, "assessments/"+r.AssessmentID), textValue(label(r.WorkflowType)),
		{Text: label(r.Status), Tone: runTones[r.Status]},
		{IsBar: true, Percent: r.Progress, Text: fmt.Sprintf("%d%%", r.Progress)},
		textValue(step), timeValue(r.CreatedAt),
	}}
	if v.may("workflow:write") {
		switch r.Status {
		case api.RunFailed:
			row.Forms = []form{buttonForm("resume", "Try again", "second", r.ID)}
		case api.RunCompleted, api.RunCancelled:
		default:
			row.Forms = []form{buttonForm("cancel", "Cancel", "danger", r.ID)}
		}
	}
	return row
}

var runTones = map[api.RunStatus]string{
	api.RunRunning: "pending", api.RunPending: "pending", api.RunApproval: "pending", api.RunInput: "pending", api.RunFailed: "critical",
	api.RunCompleted: "approved",
}

var jobsPanel = panel{
	path: "jobs", title: "Jobs",
	show: func(v *visit, s *sheet) error {
		assessments, err := v.openAssessments()
		if err != nil {
			return err
		}
		x := section{
			Title: "Workflows", Columns: []string{"Assessment", "Workflow", "Status", "Progress", "Step", "Started"},
			Empty: "Nothing is running.",
		}
		documents := section{
			Title: "Documents", Columns: []string{"Document", "Assessment", "Status"}, Empty: "All documents have been read.",
		}
		for _, a := range assessments {
			l, err := do(v, api.ListWorkflows, &api.WorkflowsInput{
				AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}, Paging: api.Paging{Limit: 3},
			})
			if err != nil {
				return err
			}
			for i := range l.Data {
				if r := &l.Data[i]; r.Status.IsLive() || r.Status == api.RunFailed && i == 0 {
					x.Rows = append(x.Rows, v.runRow(r, a.Name))
					v.busy = v.busy || r.Status == api.RunRunning
				}
			}
			if a.Counts.Documents == 0 {
				continue
			}
			for _, status := range []api.DocumentState{api.DocumentProcessing, api.DocumentUploaded} {
				waiting, err := do(v, api.ListDocuments, &api.DocumentsInput{
					AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}, Status: status, Paging: api.Paging{Limit: 20},
				})
				if err != nil {
					return err
				}
				for i := range waiting.Data {
					d := &waiting.Data[i]
					documents.Rows = append(documents.Rows, line{Cells: []value{
						linkValue(d.Filename, "assessments/"+a.ID+"/documents/"+d.ID), textValue(a.Name), {Text: label(d.Status), Tone: "pending"},
					}})
				}
			}
		}
		v.busy = v.busy || len(documents.Rows) > 0
		s.add(x)
		s.add(documents)
		if v.may("agent:read") {
			runs, err := do(v, api.ListAgentRuns, &api.AgentRunsInput{Paging: api.Paging{Limit: 20}})
			if err != nil {
				return err
			}
			agents := section{Title: "Agents", Columns: []string{"Agent", "Status", "Started", "Problem"}, Empty: "No agents have run yet."}
			for i := range runs.Data {
				r := &runs.Data[i]
				agents.Rows = append(agents.Rows, line{Cells: []value{
					textValue(label(r.AgentID)), tagValue(r.Status), timeValue(r.CreatedAt),
					textValue(orEmpty(r.Error)),
				}})
			}
			s.add(agents)
		}
		v.live = "jobs/events"
		return nil
	},
	actions: runActions,
}

var runActions = map[string]func(*visit, *sheet) error{
	"cancel": func(v *visit, _ *sheet) error {
		return call(v, api.CancelWorkflow, &api.WorkflowInput{WorkflowRunID: v.field("id")})
	},
	"resume": func(v *visit, _ *sheet) error {
		return call(v, api.ResumeWorkflow, &api.WorkflowInput{WorkflowRunID: v.field("id")})
	},
}

// watchAssessment sends an event whenever an assessment's runs, documents or reports make progress.
func (v *visit) watchAssessment() error {
	id := v.r.PathValue("id")
	if _, err := v.findAssessment(); err != nil {
		return err
	}
	return v.watch(func() (string, error) { return v.progressOf(id) })
}

// progressOf returns a text that changes whenever an assessment's runs, documents or reports make progress.
func (v *visit) progressOf(id string) (string, error) {
	in := api.AssessmentInput{AssessmentID: id}
	out := ""
	runs, err := v.liveRuns(id)
	if err != nil {
		return "", err
	}
	for i := range runs {
		out += fmt.Sprintln(runs[i].ID, runs[i].Revision, runs[i].Status, runs[i].Progress, orEmpty(runs[i].Detail))
	}
	for _, status := range []api.DocumentState{api.DocumentUploaded, api.DocumentProcessing} {
		l, err := do(v, api.ListDocuments, &api.DocumentsInput{AssessmentInput: in, Status: status, Paging: api.Paging{Limit: 1}})
		if err != nil {
			return "", err
		}
		out += fmt.Sprintln(status, l.Pagination.Total)
	}
	for _, status := range []string{"queued", "running"} {
		l, err := do(v, api.ListReports, &api.ReportsInput{AssessmentInput: in, Status: status, Paging: api.Paging{Limit: 1}})
		if err != nil {
			return "", err
		}
		out += fmt.Sprintln(status, l.Pagination.Total)
	}
	a, err := do(v, api.GetAssessment, &in)
	if err != nil {
		return "", err
	}
	return out + string(a.State), nil
}

func (v *visit) watchJobs() error {
	return v.watch(func() (out string, err error) {
		assessments, err := v.openAssessments()
		for _, a := range assessments {
			if err != nil {
				break
			}
			var one string
			one, err = v.progressOf(a.ID)
			out += one
		}
		return out, err
	})
}

const (
	// watchInterval is the interval at which watch checks for changes.
	watchInterval = time.Second
	// maxWatch is the maximum duration of a stream. The browser then reconnects, and its session is checked
	// again.
	maxWatch = 5 * time.Minute
)

// watch sends a server-sent event whenever the result of state changes. Pages then reload themselves.
func (v *visit) watch(state func() (string, error)) error {
	last, err := state()
	if err != nil {
		return err
	}
	h := v.w.Header()
	setSecurityHeaders(h, contentPolicy+"'none'")
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	v.w.WriteHeader(http.StatusOK)
	send := http.NewResponseController(v.w)
	ctx, cancel := context.WithTimeout(v.r.Context(), maxWatch)
	defer cancel()
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	text := "retry: 3000\n\n"
	for n := 1; ; n++ {
		if text != "" {
			if _, err := fmt.Fprint(v.w, text); err != nil {
				return nil //nolint:nilerr // the page was closed
			}
			_ = send.Flush()
			text = ""
		}
		select {
		case <-ctx.Done():
			return nil
		case <-v.Stopping:
			return nil
		case <-tick.C:
		}
		now, err := state()
		switch {
		case err != nil:
			return nil //nolint:nilerr // for example, the session has ended: the next connection shows that
		case now != last:
			last, text = now, "event: change\ndata: 1\n\n"
		case n%15 == 0:
			text = ": still here\n\n"
		}
	}
}
