package workflow

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment"
	"github.com/scf-service/service/internal/tracing"
	"github.com/scf-service/service/store"
)

const (
	// maxFailures is how often a step fails before its run does.
	maxFailures = 6
	firstPause  = time.Second
	longestWait = 5 * time.Minute
)

// pause is the time before the next try, after so many failures: 1, 2, 4 … seconds.
func pause(failures int) time.Duration {
	d := firstPause
	for range failures - 1 {
		if d *= 2; d >= longestWait {
			return longestWait
		}
	}
	return d
}

// waiting is what a step returns that can't go on without people.
type waiting struct {
	status   api.RunStatus
	words    string
	approval string
}

func (w *waiting) Error() string { return w.words }

// errAgain is of a step that has changed what it stands on, and has to be looked at anew.
var errAgain = errors.New("the step goes on")

func waitForInput(format string, args ...any) error {
	return &waiting{status: api.RunInput, words: fmt.Sprintf(format, args...)}
}

// work takes a run as far as it goes.
func (s *Service) work(ctx context.Context, cancel context.CancelFunc, org, id string) {
	run, err := s.take(ctx, org, id)
	if err == nil {
		var span *tracing.Span
		ctx, span = s.tracer.Start(ctx, "workflow "+run.WorkflowType, tracing.Begin{Kind: tracing.Internal, After: tracing.Parse(run.Starter.Trace),
			Attrs: []tracing.Attr{{Key: "service.workflow_run_id", Value: run.ID}}})
		defer func() {
			span.Set(tracing.Attr{Key: "service.workflow_status", Value: string(run.Status)})
			span.End(err)
		}()
		s.working.Go(func() { s.renew(ctx, cancel, org, id) })
		for err == nil && run.Status.Live() && run.Holder == s.me {
			err = s.step(ctx, &run)
		}
	}
	if err != nil && !errors.Is(err, errLost) && !errors.Is(err, store.ErrNotFound) && ctx.Err() == nil {
		s.log.Warn("a workflow run could not be worked on", "workflow_run_id", id, "error", err)
	}
	if ctx.Err() != nil { // the program ends, or the run was cancelled: nobody holds it any more
		_ = s.save(context.WithoutCancel(ctx), &run, func(_ *store.Tx, r *store.WorkflowRun) error { r.Holder = ""; return nil })
	}
}

// step does the next step of a run, and notes before and after it how it stands.
func (s *Service) step(ctx context.Context, run *store.WorkflowRun) error {
	by := callerOf(run)
	next, err := s.next(ctx, by, run)
	if err != nil {
		return s.failed(ctx, run, err)
	}
	if next == nil {
		return s.save(ctx, run, func(tx *store.Tx, r *store.WorkflowRun) error {
			now := tx.Now()
			r.Status, r.CompletedAt, r.Holder = api.RunCompleted, &now, ""
			settle(r)
			return tell(tx, by, r, "completed", "is completed")
		})
	}
	err = s.save(ctx, run, func(tx *store.Tx, r *store.WorkflowRun) error {
		if err := mayStill(tx, r); err != nil {
			return err
		}
		now := tx.Now()
		st := at(r, next.name)
		st.Status, st.Error, st.CompletedAt = api.StepRunning, nil, nil
		st.Attempts++
		if st.StartedAt == nil {
			st.StartedAt = &now
		}
		r.Status, r.CurrentStep = api.RunRunning, next.name
		r.WaitingFor, r.ApprovalID, r.NotBefore, r.WaitSince = nil, nil, nil, time.Time{}
		r.Situation, err = assessment.Situation(tx, r.OrganizationID, r.AssessmentID)
		return err
	})
	if err != nil {
		return s.failed(ctx, run, err)
	}
	switch err := s.attempt(ctx, next, by, run); {
	case errors.Is(err, errAgain):
		return nil
	case err != nil:
		return s.failed(ctx, run, err)
	}
	return s.save(ctx, run, func(tx *store.Tx, r *store.WorkflowRun) error {
		now := tx.Now()
		st := at(r, next.name)
		st.Status, st.CompletedAt = api.StepCompleted, &now
		r.Failures, r.Signalled = 0, false
		return nil
	})
}

func at(run *store.WorkflowRun, name string) *api.WorkflowStep {
	n := slices.IndexFunc(run.Steps, func(st api.WorkflowStep) bool { return st.Name == name })
	return &run.Steps[n]
}

// attempt does a step; a fault of ours in it is its failure, and leaves the other runs.
func (s *Service) attempt(ctx context.Context, st *step, by api.Caller, run *store.WorkflowRun) (err error) {
	ctx, span := tracing.Start(ctx, "step "+st.name, tracing.Internal)
	defer func() {
		if w := (*waiting)(nil); errors.As(err, &w) || errors.Is(err, errAgain) {
			span.End(nil) // to wait for people is no failure
			return
		}
		span.End(err)
	}()
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("a workflow step panicked", "workflow_run_id", run.ID, "step", st.name, "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("the step broke off: %v", p)
		}
	}()
	return st.do(ctx, s, by, run, st)
}

// next is the first step of the run whose effect is not there; nil where all are. Steps
// that others did meanwhile are noted as done, and those that were undone are to do again.
func (s *Service) next(ctx context.Context, by api.Caller, run *store.WorkflowRun) (*step, error) {
	st, err := s.assessments.Standing(ctx, by, run.AssessmentID)
	if err != nil {
		return nil, err
	}
	plan := plans[run.WorkflowType]
	reached := func(p *step) bool {
		if p.to != "" {
			return st.State.Reached(p.to)
		}
		return at(run, p.name).Status == api.StepCompleted
	}
	stale := slices.ContainsFunc(plan, func(p step) bool { return reached(&p) != (at(run, p.name).Status == api.StepCompleted) })
	if stale {
		err := s.save(ctx, run, func(tx *store.Tx, r *store.WorkflowRun) error {
			now := tx.Now()
			for n := range plan {
				one, done := at(r, plan[n].name), reached(&plan[n])
				switch {
				case done && one.Status != api.StepCompleted:
					one.Status, one.CompletedAt, one.Error = api.StepCompleted, &now, nil
				case !done && one.Status == api.StepCompleted:
					one.Status, one.CompletedAt = api.StepPending, nil
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for n := range plan {
		if !reached(&plan[n]) {
			return &plan[n], nil
		}
	}
	return nil, nil
}

// failed notes what kept a step from its end: people are waited for, it is tried again
// later, or the run has failed.
func (s *Service) failed(ctx context.Context, run *store.WorkflowRun, cause error) error {
	if errors.Is(cause, errLost) || ctx.Err() != nil {
		return cause
	}
	by := callerOf(run)
	return s.save(ctx, run, func(tx *store.Tx, r *store.WorkflowRun) error {
		r.Holder, r.Signalled = "", false
		st := at(r, r.CurrentStep)
		var w *waiting
		if errors.As(cause, &w) {
			st.Status = api.StepWaiting
			r.Status, r.WaitingFor = w.status, &w.words
			if w.approval != "" {
				r.ApprovalID = &w.approval
			}
			return tell(tx, by, r, "waiting", "waits: "+w.words)
		}
		said := api.AsError(cause)
		words := said.Message
		st.Error = &words
		r.Failures++
		if s.passes(said) && r.Failures < maxFailures {
			wait := pause(r.Failures)
			until := tx.Now().Add(wait)
			r.Status, r.NotBefore, r.WaitSince = api.RunPending, &until, tx.Now()
			again := fmt.Sprintf("the next try of %q in %s, after: %s", st.Title, wait, words)
			st.Status, r.WaitingFor = api.StepWaiting, &again
			s.log.Warn("a workflow step failed and is tried again", "workflow_run_id", r.ID, "step", st.Name, "failures", r.Failures, "error", cause)
			return nil
		}
		now := tx.Now()
		st.Status, r.Status, r.Error, r.CompletedAt = api.StepFailed, api.RunFailed, &words, &now
		settle(r)
		s.log.Error("a workflow run failed", "workflow_run_id", r.ID, "step", st.Name, "error", cause)
		return tell(tx, by, r, "failed", "failed: "+words)
	})
}

// passes tells whether an error may be gone the next time.
func (s *Service) passes(err *api.Error) bool {
	return err.Code == api.CodeInternal || err.Code == api.CodeRateLimit
}

// callerOf is as whom a run acts: as a workflow, for the person who started it.
func callerOf(run *store.WorkflowRun) api.Caller {
	return api.Caller{OrganizationID: run.OrganizationID, UserID: run.Starter.UserID, TraceID: run.Starter.TraceID,
		Actor: api.Actor{Type: api.ActorWorkflow, ID: run.ID, Name: run.WorkflowType + " workflow of " + run.StartedBy.Name}}
}

// mayStill refuses to go on for a person who is not allowed to any more, or with a key
// that was revoked.
func mayStill(tx *store.Tx, run *store.WorkflowRun) error {
	const active = "active"
	m, err := store.Memberships.Get(tx, run.Starter.UserID, run.OrganizationID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if err != nil || m.Status != active || !m.Role.May("workflow:write") {
		return api.Forbidden("%s, who started the run, may not run workflows any more; somebody else has to resume it", run.StartedBy.Name)
	}
	user, err := store.Users.Get(tx, run.Starter.UserID)
	if err != nil {
		return err
	}
	org, err := store.Organizations.Get(tx, run.OrganizationID)
	if err != nil {
		return err
	}
	if user.Status != active || org.Status == "suspended" {
		return api.Forbidden("the account or organization that the run works for is not active; it can be resumed once it is")
	}
	if run.Starter.KeyID == "" {
		return nil
	}
	key, err := store.APIKeys.Get(tx, run.OrganizationID, run.Starter.KeyID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if err != nil || key.RevokedAt != nil || key.ExpiresAt != nil && !tx.Now().Before(*key.ExpiresAt) {
		return api.Forbidden("the API key that started the run does not work any more; somebody has to resume it")
	}
	return nil
}
