package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/agent/analysis"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/internal/tracing"
	"github.com/scf-service/service/store"
)

// ListAgents lists the nine pipeline agents in the order of the pipeline.
func (s *Service) ListAgents(_ context.Context, _ api.Caller, in *api.Paging) (*api.List[api.Agent], error) {
	start := 0
	if in.Cursor != "" {
		var err error
		if start, err = strconv.Atoi(in.Cursor); err != nil || start <= 0 || start >= len(agents) {
			return nil, api.Invalid("cursor", "the cursor is not from this list; start again without a cursor")
		}
	}
	limit := cmp.Or(in.Limit, api.DefaultListLimit)
	end := min(start+limit, len(agents))
	out := &api.List[api.Agent]{Data: []api.Agent{}, Pagination: api.Pagination{Total: len(agents), Limit: limit, HasMore: end < len(agents)}}
	for _, a := range agents[start:end] {
		out.Data = append(out.Data, a.Agent)
	}
	if out.Pagination.HasMore {
		next := strconv.Itoa(end)
		out.Pagination.NextCursor = &next
	}
	return out, nil
}

// maxUnfinishedRuns is the maximum number of an organization's unfinished runs.
const maxUnfinishedRuns = 50

// StartRun starts an agent, which runs in the background.
func (s *Service) StartRun(ctx context.Context, by api.Caller, in *api.StartRunInput) (*api.AgentRun, error) {
	return s.createRun(ctx, by, in.Body)
}

// StartAssessmentRun is like StartRun, with the assessment from the path.
func (s *Service) StartAssessmentRun(ctx context.Context, by api.Caller, in *api.StartAssessmentRunInput) (*api.AgentRun, error) {
	if in.Body.AssessmentID != "" && in.Body.AssessmentID != in.AssessmentID {
		return nil, api.Invalid(
			"assessment_id",
			"the path contains assessment %s, but the body contains a different one; omit assessment_id from the body",
			in.AssessmentID,
		)
	}
	in.Body.AssessmentID = in.AssessmentID
	return s.createRun(ctx, by, in.Body)
}

// createRun checks the agent's permissions and the limit on unfinished runs, then stores, claims and launches a new run.
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
				return api.Conflict("the assessment is closed, so %s cannot create drafts", a.ID)
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
			return api.Conflict("%d agent runs are unfinished; wait until they finish, or cancel some of them", waiting)
		}
		run = newRun(tx, by, a.ID, b.AssessmentID, input)
		run.Model, run.PromptVersion = analysis.Model, judge.RulesVersion
		_, err := tx.Claim(claimOfRun(run.ID))
		return errors.Join(err, store.AgentRuns.Insert(tx, by.OrganizationID, &run),
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

// claimOfRun returns the key under which a process claims a run, so that other processes on the
// same database know that it is being executed.
func claimOfRun(id string) string { return "agent run " + id }

func newRun(tx *store.Tx, by api.Caller, agent, assessment, inputSHA256 string) api.AgentRun {
	r := api.AgentRun{
		TenantRecord: api.TenantRecord{
			Record:         api.Record{ID: tx.NewID(), CreatedAt: tx.Now(), UpdatedAt: tx.Now()},
			OrganizationID: by.OrganizationID,
		},
		AgentID: agent, Status: pending, InputSHA256: inputSHA256,
	}
	if assessment != "" {
		r.AssessmentID = &assessment
	}
	return r
}

// launchRun executes the run in the background.
func (s *Service) launchRun(by api.Caller, run api.AgentRun, a *pipelineAgent, b api.StartRunBody, parentSpan *tracing.SpanRef) error {
	by.AgentRunID = run.ID
	ctx, stop := context.WithTimeout(context.Background(), maxRunTime)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		stop()
		return api.Conflict("the service is shutting down; start the run again later")
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
				FollowsFrom: parentSpan,
				Attrs:       []tracing.Attr{{Key: "service.agent_run_id", Value: run.ID}},
			},
		)
		span.End(s.executeRun(ctx, by, run, a, b))
	})
	return nil
}

// maxRunTime is the maximum duration of a run.
const maxRunTime = 30 * time.Minute

// executeRun executes a run from its first step to its end and returns the reason if it failed.
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
		return nil // the run was cancelled or completed manually before it started
	}
	if err == nil && a.needsAssessment && b.AssessmentID == "" {
		err = api.Invalid("assessment_id", "%s requires an assessment; start the run again with assessment_id", a.ID)
	}
	if err == nil {
		err = j.runRecoveringPanic(func() error { return a.run(ctx, j) })
	}
	if err == nil && s.Model != nil {
		err = j.runRecoveringPanic(func() error { return j.addModelAdvice(ctx, a) })
	}
	if ctx.Err() != nil && err != nil {
		err = errors.New("the run was stopped before it finished; start the run again")
	}
	// Record the end of the run even if its work was stopped.
	if e := s.finishRun(context.WithoutCancel(ctx), by, run.ID, &j.output, err); e != nil {
		s.Logger.Error("the result of an agent run could not be stored", "run", run.ID, "error", e)
	}
	return err
}

var errRunFinished = errors.New("the run has finished")

// updateRun modifies a run in one transaction.
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

// finishRun ends a run with its output or the reason for its failure. A finished run is left
// unchanged.
func (s *Service) finishRun(ctx context.Context, by api.Caller, id string, out *api.AgentOutput, failure error) error {
	err := s.updateRun(ctx, by, id, func(tx *store.Tx, r *api.AgentRun) error {
		if isFinished(r.Status) {
			return errRunFinished
		}
		return storeRunEnd(tx, by, r, out, failure)
	})
	if errors.Is(err, errRunFinished) || api.IsCode(err, api.CodeNotFound) { // the run was finished or deleted in the meantime
		return nil
	}
	return err
}

// storeRunEnd writes the end of a run: status, output and event.
func storeRunEnd(tx *store.Tx, by api.Caller, r *api.AgentRun, out *api.AgentOutput, failure error) error {
	if err := tx.Release(claimOfRun(r.ID)); err != nil {
		return err
	}
	r.CompletedAt = ptr(tx.Now())
	if r.StartedAt == nil {
		r.StartedAt = r.CompletedAt
	}
	summary := r.AgentID + " completed"
	r.Status = completed
	if failure != nil {
		r.Status = failed
		r.Error = ptr(publicMessage(failure))
		summary = r.AgentID + " failed: " + *r.Error
	}
	if out != nil && failure == nil {
		o := store.AgentOutput{AgentOutput: *out, OrganizationID: by.OrganizationID}
		o.AgentRunID = r.ID
		api.ReplaceNilCollections(&o.AgentOutput)
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
	return audit.RecordAndPublishEvent(tx, by, audit.Event{
		Type: "agent_run." + r.Status, AssessmentID: assessment, Summary: summary,
		ResourceType: "agent_run", ResourceID: r.ID, Data: map[string]any{"agent_id": r.AgentID, "status": r.Status},
	})
}

// publicMessage returns the message of a failure for users, without details meant for the log.
func publicMessage(err error) string {
	var e *api.Error
	if errors.As(err, &e) && !e.IsCauseHidden() {
		return e.Message
	}
	return err.Error()
}

// ListRuns lists runs, newest first.
func (s *Service) ListRuns(ctx context.Context, by api.Caller, in *api.AgentRunsInput) (*api.List[api.AgentRun], error) {
	if in.Status != "" && !slices.Contains([]string{pending, running, completed, failed, cancelled}, in.Status) {
		return nil, api.Invalid("status", "unknown status %q; choose from pending, running, completed, failed, cancelled", in.Status)
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
		store.PageQuery[api.AgentRun]{Reverse: true, Filter: store.FilterIf(api.HasFilters(in), func(r *api.AgentRun) bool {
			return (in.Status == "" || r.Status == in.Status) && (agent == "" || r.AgentID == agent)
		})},
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

// GetRun returns a run.
func (s *Service) GetRun(ctx context.Context, by api.Caller, in *api.AgentRunInput) (*api.AgentRun, error) {
	var r api.AgentRun
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		r, err = store.AgentRuns.Get(tx, by.OrganizationID, in.AgentRunID)
		return store.ToNotFound(err, "agent run", in.AgentRunID)
	})
	return &r, err
}

// Complete ends a run manually with the user's output. If the run is already completed, it is
// returned unchanged; it is an error if the call has a different output.
func (s *Service) Complete(ctx context.Context, by api.Caller, in *api.CompleteRunInput) (*api.AgentRun, error) {
	out := api.AgentOutput{Summary: "Completed by " + by.Actor.Name + "."}
	hasOutput := in.Body != nil && (in.Body.Summary != "" || len(in.Body.Proposals) > 0)
	if hasOutput {
		if in.Body.Summary != "" {
			out.Summary = in.Body.Summary
		}
		out.Proposals = in.Body.Proposals
	}
	out.Limitations = []string{"This output was written by a user, not produced by the agent."}
	var finished api.AgentRun
	err := s.updateRun(ctx, by, in.AgentRunID, func(tx *store.Tx, r *api.AgentRun) error {
		switch {
		case r.Status == completed && !hasOutput:
			finished = *r
			return errRunFinished
		case isFinished(r.Status):
			return api.Conflict("the run is already %s", r.Status)
		}
		r.Model = "manual"
		err := storeRunEnd(tx, by, r, &out, nil)
		finished = *r
		return err
	})
	if err != nil && !errors.Is(err, errRunFinished) {
		return nil, err
	}
	s.stopRun(in.AgentRunID)
	return &finished, nil
}

// Cancel cancels a run. Drafts it has already created are kept.
func (s *Service) Cancel(ctx context.Context, by api.Caller, in *api.AgentRunInput) (*api.AgentRun, error) {
	var finished api.AgentRun
	err := s.updateRun(ctx, by, in.AgentRunID, func(tx *store.Tx, r *api.AgentRun) error {
		if isFinished(r.Status) {
			return api.Conflict("the run is already %s", r.Status)
		}
		r.Status, r.CompletedAt = cancelled, ptr(tx.Now())
		finished = *r
		return audit.Append(tx, by, audit.Entry{Action: "agent_run.cancelled", ResourceType: "agent_run", ResourceID: r.ID})
	})
	if err != nil {
		return nil, err
	}
	s.stopRun(in.AgentRunID)
	return &finished, nil
}

// stopRun stops the work of a run if it is running in this process.
func (s *Service) stopRun(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stop := s.running[id]; stop != nil {
		stop()
	}
}

// Output returns a run's output. If the run has not completed, the output contains only a summary
// that explains why there is no result.
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
	api.ReplaceNilCollections(&out.AgentOutput)
	return &out.AgentOutput, err
}

func noOutputMessage(r *api.AgentRun) string {
	if r.Error != nil {
		return "The run failed: " + *r.Error
	}
	return fmt.Sprintf("There is no output, because the run is %s.", r.Status)
}

// Steps lists a run's steps in order.
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

// findAgent returns the agent with the given ID. The ID may omit the product prefix and use hyphens
// or underscores.
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
	return nil, api.Invalid("agent_id", "unknown agent %q; choose from %s", id, strings.Join(ids, ", "))
}
