package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/agent/analysis"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/internal/tracing"
	"github.com/scf-service/service/store"
)

// ListAgents lists the nine pipeline agents, in the order of their work.
func (s *Service) ListAgents(_ context.Context, _ api.Caller, in *api.Paging) (*api.List[api.Agent], error) {
	if in.Cursor != "" {
		return nil, api.Invalid("cursor", "the list of agents is one page")
	}
	out := &api.List[api.Agent]{Data: []api.Agent{}, Pagination: api.Pagination{Total: len(agents), Limit: in.Limit}}
	for _, a := range agents {
		out.Data = append(out.Data, a.Agent)
	}
	return out, nil
}

// maxUnfinishedRuns bounds the runs of an organization that are not over.
const maxUnfinishedRuns = 50

// StartRun starts an agent; its work goes on in the background.
func (s *Service) StartRun(ctx context.Context, by api.Caller, in *api.StartRunInput) (*api.AgentRun, error) {
	return s.createRun(ctx, by, in.Body)
}

// StartAssessmentRun is StartRun on the assessment of the path.
func (s *Service) StartAssessmentRun(ctx context.Context, by api.Caller, in *api.StartAssessmentRunInput) (*api.AgentRun, error) {
	if in.Body.AssessmentID != "" && in.Body.AssessmentID != in.AssessmentID {
		return nil, api.Invalid(
			"assessment_id",
			"the path names the assessment %s and the body another one; leave it out of the body",
			in.AssessmentID,
		)
	}
	in.Body.AssessmentID = in.AssessmentID
	return s.createRun(ctx, by, in.Body)
}

func (s *Service) createRun(ctx context.Context, by api.Caller, b api.StartRunBody) (*api.AgentRun, error) {
	a, err := findAgent(b.AgentID)
	if err != nil {
		return nil, err
	}
	for _, p := range a.permissions {
		if err := by.Require(p); err != nil {
			return nil, err
		}
	}
	input, err := hashJSON(b)
	if err != nil {
		return nil, err
	}
	var run api.AgentRun
	err = s.DB.Update(ctx, func(tx *store.Tx) error {
		if b.AssessmentID != "" {
			on, err := store.Assessments.Get(tx, by.OrganizationID, b.AssessmentID)
			if err != nil {
				return store.ToNotFound(err, "assessment", b.AssessmentID)
			}
			if on.State == api.StateClosed && len(a.NeedsApprovalFor) > 0 {
				return api.Conflict("the assessment is closed and does not change, and %s would draft anew", a.ID)
			}
		}
		waiting, seen := 0, 0
		for r, err := range store.AgentRuns.Scan(tx, by.OrganizationID, store.Reverse) {
			if err != nil {
				return err
			}
			if seen++; seen > 500 {
				break
			}
			if !isFinished(r.Status) {
				waiting++
			}
		}
		if waiting >= maxUnfinishedRuns {
			return api.Conflict("%d runs are not over yet; wait for them or cancel some", waiting)
		}
		run = newRun(tx, by, a.ID, b.AssessmentID, input)
		run.Model, run.PromptVersion = analysis.Model, judge.RulesVersion
		return errors.Join(store.AgentRuns.Insert(tx, by.OrganizationID, &run),
			audit.Append(tx, by, audit.Entry{
				Action: "agent_run.started", ResourceType: "agent_run", ResourceID: run.ID,
				Changes: map[string]any{"agent_id": a.ID, "assessment_id": b.AssessmentID},
			}))
	})
	if err != nil {
		return nil, err
	}
	return &run, s.launchRun(by, run, a, b, tracing.Current(ctx))
}

func newRun(tx *store.Tx, by api.Caller, agent, assessment, input string) api.AgentRun {
	r := api.AgentRun{
		TenantRecord: api.TenantRecord{
			Record:         api.Record{ID: tx.NewID(), CreatedAt: tx.Now(), UpdatedAt: tx.Now()},
			OrganizationID: by.OrganizationID,
		},
		AgentID: agent, Status: pending, InputSHA256: input,
	}
	if assessment != "" {
		r.AssessmentID = &assessment
	}
	return r
}

// launchRun has the work done in the background.
func (s *Service) launchRun(by api.Caller, run api.AgentRun, a *pipelineAgent, b api.StartRunBody, after *tracing.SpanRef) error {
	by.AgentRunID = run.ID
	ctx, stop := context.WithTimeout(context.Background(), maxRunTime)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		stop()
		return api.Conflict("the service is ending; start the run again")
	}
	s.running[run.ID] = stop
	s.background.Go(func() {
		defer func() {
			stop()
			s.mu.Lock()
			delete(s.running, run.ID)
			s.mu.Unlock()
		}()
		select {
		case s.runSlots <- struct{}{}:
			defer func() { <-s.runSlots }()
		case <-ctx.Done():
		}
		ctx, span := s.Tracer.Start(
			ctx,
			"agent "+a.ID,
			tracing.StartOptions{
				Kind:        tracing.Internal,
				FollowsFrom: after,
				Attrs:       []tracing.Attr{{Key: "service.agent_run_id", Value: run.ID}},
			},
		)
		span.End(s.executeRun(ctx, by, run, a, b))
	})
	return nil
}

// maxRunTime bounds a run's time.
const maxRunTime = 30 * time.Minute

// executeRun is the run from its first step to its end; the error is what it failed of.
func (s *Service) executeRun(ctx context.Context, by api.Caller, run api.AgentRun, a *pipelineAgent, b api.StartRunBody) (err error) {
	j := &job{service: s, by: by, runID: run.ID, assessmentID: b.AssessmentID, input: b.Input}
	if err = ctx.Err(); err == nil {
		err = s.updateRun(ctx, by, run.ID, func(tx *store.Tx, r *api.AgentRun) error {
			if r.Status != pending {
				return errRunFinished
			}
			r.Status, r.StartedAt = running, ptr(tx.Now())
			return nil
		})
	}
	if errors.Is(err, errRunFinished) {
		return nil // cancelled or completed by hand before it began
	}
	if err == nil && a.needsAssessment && b.AssessmentID == "" {
		err = api.Invalid("assessment_id", "%s works on an assessment: start it again with assessment_id", a.ID)
	}
	if err == nil {
		err = j.recoverPanic(func() error { return a.run(ctx, j) })
	}
	if err == nil && s.Model != nil {
		err = j.recoverPanic(func() error { return j.addModelAdvice(ctx, a) })
	}
	if ctx.Err() != nil && err != nil {
		err = errors.New("it was stopped before it was done; start it again")
	}
	// The end is written even where the work was stopped.
	if e := s.finishRun(context.WithoutCancel(ctx), by, run.ID, &j.output, err); e != nil {
		s.Logger.Error("an agent run's end could not be kept", "run", run.ID, "error", e)
	}
	return err
}

var errRunFinished = errors.New("the run is over")

// updateRun edits a run in one transaction.
func (s *Service) updateRun(ctx context.Context, by api.Caller, id string, edit func(*store.Tx, *api.AgentRun) error) error {
	return s.DB.Update(ctx, func(tx *store.Tx) error {
		r, err := store.AgentRuns.Get(tx, by.OrganizationID, id)
		if err != nil {
			return store.ToNotFound(err, "agent run", id)
		}
		if err := edit(tx, &r); err != nil {
			return err
		}
		r.UpdatedAt = tx.Now()
		return store.AgentRuns.Put(tx, by.OrganizationID, &r)
	})
}

// finishRun ends a run with what it proposes, or with why it failed. A run that is over
// already stays as it is.
func (s *Service) finishRun(ctx context.Context, by api.Caller, id string, out *api.AgentOutput, failure error) error {
	err := s.updateRun(ctx, by, id, func(tx *store.Tx, r *api.AgentRun) error {
		if isFinished(r.Status) {
			return errRunFinished
		}
		return recordEnd(tx, by, r, out, failure)
	})
	if errors.Is(err, errRunFinished) || api.IsCode(err, api.CodeNotFound) { // its assessment was deleted
		return nil
	}
	return err
}

// recordEnd writes the end of a run: status, output, event.
func recordEnd(tx *store.Tx, by api.Caller, r *api.AgentRun, out *api.AgentOutput, failure error) error {
	r.CompletedAt = ptr(tx.Now())
	if r.StartedAt == nil {
		r.StartedAt = r.CompletedAt
	}
	summary := r.AgentID + " is done"
	r.Status = completed
	if failure != nil {
		r.Status = failed
		r.Error = ptr(publicMessage(failure))
		summary = r.AgentID + " failed: " + *r.Error
	}
	if out != nil && failure == nil {
		o := store.AgentOutput{AgentOutput: *out, OrganizationID: by.OrganizationID}
		o.AgentRunID = r.ID
		api.NeverNull(&o.AgentOutput)
		sum, err := hashJSON(o.AgentOutput)
		if err != nil {
			return err
		}
		r.OutputSHA256 = &sum
		if err := store.AgentOutputs.Put(tx, by.OrganizationID, &o); err != nil {
			return err
		}
	}
	assessment := ""
	if r.AssessmentID != nil {
		assessment = *r.AssessmentID
	}
	return audit.PublishEvent(tx, by, audit.Event{
		Type: "agent_run." + r.Status, AssessmentID: assessment, Summary: summary,
		ResourceType: "agent_run", ResourceID: r.ID, Data: map[string]any{"agent_id": r.AgentID, "status": r.Status},
	})
}

// publicMessage is a failure as people are told it; what only the log may tell is left out.
func publicMessage(err error) string {
	var e *api.Error
	if errors.As(err, &e) && !e.IsHidden() {
		return e.Message
	}
	return err.Error()
}

// ListRuns lists runs, newest first.
func (s *Service) ListRuns(ctx context.Context, by api.Caller, in *api.AgentRunsInput) (*api.List[api.AgentRun], error) {
	if in.Status != "" && !slices.Contains([]string{pending, running, completed, failed, cancelled}, in.Status) {
		return nil, api.Invalid("status", "there is no status %q; it is one of pending, running, completed, failed, cancelled", in.Status)
	}
	agent := in.AgentID
	if a, err := findAgent(agent); err == nil {
		agent = a.ID
	}
	return store.List(
		ctx,
		s.DB,
		store.AgentRuns,
		by.OrganizationID,
		in.Paging,
		store.PageQuery[api.AgentRun]{Reverse: true, Filter: func(r *api.AgentRun) bool {
			return (in.Status == "" || r.Status == in.Status) && (agent == "" || r.AgentID == agent)
		}},
	)
}

// ListAssessmentRuns lists the runs on an assessment, newest first.
func (s *Service) ListAssessmentRuns(ctx context.Context, by api.Caller, in *api.AssessmentListInput) (*api.List[api.AgentRun], error) {
	if _, err := s.Assessments.Get(ctx, by, &in.AssessmentInput); err != nil {
		return nil, err
	}
	return store.List(
		ctx,
		s.DB,
		store.AgentRuns,
		by.OrganizationID,
		in.Paging,
		store.PageQuery[api.AgentRun]{Index: "assessment", Prefix: store.K(in.AssessmentID), Reverse: true},
	)
}

// GetRun is a run.
func (s *Service) GetRun(ctx context.Context, by api.Caller, in *api.AgentRunInput) (*api.AgentRun, error) {
	var r api.AgentRun
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		r, err = store.AgentRuns.Get(tx, by.OrganizationID, in.AgentRunID)
		return store.ToNotFound(err, "agent run", in.AgentRunID)
	})
	return &r, err
}

// Complete ends a run by hand, with what the person proposes. A run that is completed
// already is answered as it is, unless the call brings something else.
func (s *Service) Complete(ctx context.Context, by api.Caller, in *api.CompleteRunInput) (*api.AgentRun, error) {
	out := api.AgentOutput{Summary: "Completed by " + by.Actor.Name + "."}
	hasOutput := in.Body != nil && (in.Body.Summary != "" || len(in.Body.Proposals) > 0)
	if hasOutput {
		if in.Body.Summary != "" {
			out.Summary = in.Body.Summary
		}
		out.Proposals = in.Body.Proposals
	}
	out.Limitations = []string{"Written by a person, not found by the agent."}
	var done api.AgentRun
	err := s.updateRun(ctx, by, in.AgentRunID, func(tx *store.Tx, r *api.AgentRun) error {
		switch {
		case r.Status == completed && !hasOutput:
			done = *r
			return errRunFinished
		case isFinished(r.Status):
			return api.Conflict("the run is %s already", r.Status)
		}
		r.Model = "person"
		err := recordEnd(tx, by, r, &out, nil)
		done = *r
		return err
	})
	if err != nil && !errors.Is(err, errRunFinished) {
		return nil, err
	}
	s.stopRun(in.AgentRunID)
	return &done, nil
}

// Cancel ends a run. What it drafted before stays a draft.
func (s *Service) Cancel(ctx context.Context, by api.Caller, in *api.AgentRunInput) (*api.AgentRun, error) {
	var done api.AgentRun
	err := s.updateRun(ctx, by, in.AgentRunID, func(tx *store.Tx, r *api.AgentRun) error {
		if isFinished(r.Status) {
			return api.Conflict("the run is %s already", r.Status)
		}
		r.Status, r.CompletedAt = cancelled, ptr(tx.Now())
		done = *r
		return audit.Append(tx, by, audit.Entry{Action: "agent_run.cancelled", ResourceType: "agent_run", ResourceID: r.ID})
	})
	if err != nil {
		return nil, err
	}
	s.stopRun(in.AgentRunID)
	return &done, nil
}

// stopRun stops the work of a run, if it is at work here.
func (s *Service) stopRun(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stop := s.running[id]; stop != nil {
		stop()
	}
}

// Output is what a run proposes; empty, with the reason, where it is not completed.
func (s *Service) Output(ctx context.Context, by api.Caller, in *api.AgentRunInput) (*api.AgentOutput, error) {
	var out store.AgentOutput
	err := s.DB.View(ctx, func(tx *store.Tx) error {
		r, err := store.AgentRuns.Get(tx, by.OrganizationID, in.AgentRunID)
		if err != nil {
			return store.ToNotFound(err, "agent run", in.AgentRunID)
		}
		out, err = store.AgentOutputs.Get(tx, by.OrganizationID, in.AgentRunID)
		if errors.Is(err, store.ErrNotFound) {
			out.AgentOutput = api.AgentOutput{AgentRunID: r.ID, Summary: noOutputMessage(&r)}
			return nil
		}
		return err
	})
	api.NeverNull(&out.AgentOutput)
	return &out.AgentOutput, err
}

func noOutputMessage(r *api.AgentRun) string {
	if r.Error != nil {
		return "It failed: " + *r.Error
	}
	return fmt.Sprintf("There is nothing to read: the run is %s.", r.Status)
}

// Steps lists what a run did, in order.
func (s *Service) Steps(ctx context.Context, by api.Caller, in *api.AgentStepsInput) (*api.List[api.AgentStep], error) {
	if _, err := s.GetRun(ctx, by, &in.AgentRunInput); err != nil {
		return nil, err
	}
	page, err := store.List(
		ctx,
		s.DB,
		store.AgentSteps,
		by.OrganizationID,
		in.Paging,
		store.PageQuery[store.AgentStep]{Prefix: store.K(in.AgentRunID)},
	)
	if err != nil {
		return nil, err
	}
	out := &api.List[api.AgentStep]{Data: []api.AgentStep{}, Pagination: page.Pagination}
	for _, step := range page.Data {
		out.Data = append(out.Data, step.AgentStep)
	}
	return out, nil
}

// findAgent is the agent of an id: with or without the product word in front, with hyphens or underscores.
func findAgent(id string) (*pipelineAgent, error) {
	normalized := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(id)), "_", "-")
	for i := range agents {
		if normalized == agents[i].ID || strings.TrimPrefix(normalized, "service-") == agents[i].ID ||
			strings.HasSuffix(normalized, "-"+agents[i].ID) && strings.Count(normalized, "-") == strings.Count(agents[i].ID, "-")+1 {
			return &agents[i], nil
		}
	}
	var ids []string
	for i := range agents {
		ids = append(ids, agents[i].ID)
	}
	return nil, api.Invalid("agent_id", "there is no agent %q; it is one of %s", id, strings.Join(ids, ", "))
}
