package workflowrun

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
	// maxFailures is how often a step may fail before its run fails.
	maxFailures     = 6
	firstRetryDelay = time.Second
	maxRetryDelay   = 5 * time.Minute
)

// retryDelay returns the delay before the next attempt after this number of failures: 1, 2, 4 …
// seconds.
func retryDelay(failures int) time.Duration {
	d := firstRetryDelay
	for range failures - 1 {
		if d *= 2; d >= maxRetryDelay {
			return maxRetryDelay
		}
	}
	return d
}

// waitError is returned by a step that cannot continue without a user.
type waitError struct {
	status     api.RunStatus
	message    string
	approvalID string
}

func (w *waitError) Error() string { return w.message }

// errRecheck is returned by a step whose preconditions have changed, so that it has to be evaluated again.
var errRecheck = errors.New("the step has to be evaluated again")

func newWaitForInputError(format string, args ...any) error {
	return &waitError{status: api.RunInput, message: fmt.Sprintf(format, args...)}
}

// processRun executes a run's steps until it ends or has to wait.
func (s *Service) processRun(ctx context.Context, cancel context.CancelFunc, org, id string) {
	run, err := s.acquireRun(ctx, org, id)
	if err == nil {
		var span *tracing.Span
		ctx, span = s.tracer.Start(ctx, "workflow "+run.WorkflowType, tracing.StartOptions{
			Kind: tracing.Internal, FollowsFrom: tracing.ParseTraceparent(run.Starter.Trace),
			Attrs: []tracing.Attr{{Key: "service.workflow_run_id", Value: run.ID}},
		})
		defer func() {
			span.SetAttributes(tracing.Attr{Key: "service.workflow_status", Value: string(run.Status)})
			span.End(err)
		}()
		s.background.Go(func() { s.renewLeaseUntilDone(ctx, cancel, org, id) })
		for err == nil && run.Status.IsLive() && run.LeaseHolder == s.workerID {
			err = s.runNextStep(ctx, &run)
		}
	}
	if err != nil && !errors.Is(err, errLeaseLost) && !errors.Is(err, store.ErrNotFound) && ctx.Err() == nil {
		s.log.Warn("a workflow run could not be processed", "workflow_run_id", id, "error", err)
	}
	if ctx.Err() != nil { // shutdown or cancelled: release the lease
		_ = s.updateIfLeased(
			context.WithoutCancel(ctx),
			&run,
			func(_ *store.Tx, r *store.WorkflowRun) error { r.LeaseHolder = ""; return nil },
		)
	}
}

// runNextStep executes the next step of a run and records its status before and after.
func (s *Service) runNextStep(ctx context.Context, run *store.WorkflowRun) error {
	by := callerFor(run)
	next, err := s.updateStepsAndFindNext(ctx, by, run)
	if err != nil {
		return s.recordWaitOrFailure(ctx, run, err)
	}
	if next == nil {
		return s.updateIfLeased(ctx, run, func(tx *store.Tx, r *store.WorkflowRun) error {
			now := tx.Now()
			r.Status, r.CompletedAt, r.LeaseHolder = api.RunCompleted, &now, ""
			clearWait(r)
			return recordAndPublishEvent(tx, by, r, "completed", "completed")
		})
	}
	err = s.updateIfLeased(ctx, run, func(tx *store.Tx, r *store.WorkflowRun) error {
		if err := checkStarterAllowed(tx, r); err != nil {
			return err
		}
		now := tx.Now()
		st := stepNamed(r, next.name)
		st.Status, st.Error, st.CompletedAt = api.StepRunning, nil, nil
		st.Attempts++
		if st.StartedAt == nil {
			st.StartedAt = &now
		}
		r.Status, r.CurrentStep = api.RunRunning, next.name
		r.WaitingFor, r.ApprovalID, r.NotBefore, r.WaitSince = nil, nil, nil, time.Time{}
		r.WaitSnapshot, err = assessment.StateAndVersionsSummary(tx, r.OrganizationID, r.AssessmentID)
		return err
	})
	if err != nil {
		return s.recordWaitOrFailure(ctx, run, err)
	}
	switch err := s.attemptStep(ctx, next, by, run); {
	case errors.Is(err, errRecheck):
		return nil
	case err != nil:
		return s.recordWaitOrFailure(ctx, run, err)
	}
	return s.updateIfLeased(ctx, run, func(tx *store.Tx, r *store.WorkflowRun) error {
		now := tx.Now()
		st := stepNamed(r, next.name)
		st.Status, st.CompletedAt = api.StepCompleted, &now
		r.Failures, r.HasSignal = 0, false
		return nil
	})
}

// stepNamed returns the step with the given name. It panics if there is none.
func stepNamed(run *store.WorkflowRun, name string) *api.WorkflowStep {
	n := slices.IndexFunc(run.Steps, func(st api.WorkflowStep) bool { return st.Name == name })
	return &run.Steps[n]
}

// attemptStep executes a step. A panic makes only this step fail, not other runs.
func (s *Service) attemptStep(ctx context.Context, st *step, by api.Caller, run *store.WorkflowRun) (err error) {
	ctx, span := tracing.Start(ctx, "step "+st.name, tracing.Internal)
	defer func() {
		if w := (*waitError)(nil); errors.As(err, &w) || errors.Is(err, errRecheck) {
			span.End(nil) // waiting for users is not a failure
			return
		}
		span.End(err)
	}()
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("a workflow step panicked", "workflow_run_id", run.ID, "step", st.name, "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("the step panicked: %v", p)
		}
	}()
	return st.run(ctx, s, by, run, st)
}

// updateStepsAndFindNext returns the run's first step that has not been done, or nil if there is none.
// Steps that users have done themselves are marked as completed, and steps that were undone as pending.
func (s *Service) updateStepsAndFindNext(ctx context.Context, by api.Caller, run *store.WorkflowRun) (*step, error) {
	st, err := s.assessments.Progress(ctx, by, run.AssessmentID)
	if err != nil {
		return nil, err
	}
	steps := plans[run.WorkflowType]
	isReached := func(p *step) bool {
		if p.targetState != "" {
			return st.State.HasReached(p.targetState)
		}
		return stepNamed(run, p.name).Status == api.StepCompleted
	}
	stale := slices.ContainsFunc(steps, func(p step) bool { return isReached(&p) != (stepNamed(run, p.name).Status == api.StepCompleted) })
	if stale {
		err := s.updateIfLeased(ctx, run, func(tx *store.Tx, r *store.WorkflowRun) error {
			now := tx.Now()
			for n := range steps {
				one, done := stepNamed(r, steps[n].name), isReached(&steps[n])
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
	for n := range steps {
		if !isReached(&steps[n]) {
			return &steps[n], nil
		}
	}
	return nil, nil
}

// recordWaitOrFailure records why a step did not finish: the run waits for users, is retried later, or
// has failed.
func (s *Service) recordWaitOrFailure(ctx context.Context, run *store.WorkflowRun, cause error) error {
	if errors.Is(cause, errLeaseLost) || ctx.Err() != nil {
		return cause
	}
	by := callerFor(run)
	return s.updateIfLeased(ctx, run, func(tx *store.Tx, r *store.WorkflowRun) error {
		r.LeaseHolder, r.HasSignal = "", false
		st := stepNamed(r, r.CurrentStep)
		var w *waitError
		if errors.As(cause, &w) {
			st.Status = api.StepWaiting
			r.Status, r.WaitingFor = w.status, &w.message
			if w.approvalID != "" {
				r.ApprovalID = &w.approvalID
			}
			return recordAndPublishEvent(tx, by, r, "waiting", "is waiting: "+w.message)
		}
		apiErr := api.AsError(cause)
		message := apiErr.Message
		st.Error = &message
		r.Failures++
		if s.isTemporaryError(apiErr) && r.Failures < maxFailures {
			wait := retryDelay(r.Failures)
			until := tx.Now().Add(wait)
			r.Status, r.NotBefore, r.WaitSince = api.RunPending, &until, tx.Now()
			retryMessage := fmt.Sprintf("next attempt at %q in %s, after this error: %s", st.Title, wait, message)
			st.Status, r.WaitingFor = api.StepWaiting, &retryMessage
			s.log.Warn(
				"a workflow step failed and will be retried",
				"workflow_run_id",
				r.ID,
				"step",
				st.Name,
				"failures",
				r.Failures,
				"error",
				cause,
			)
			return nil
		}
		now := tx.Now()
		st.Status, r.Status, r.Error, r.CompletedAt = api.StepFailed, api.RunFailed, &message, &now
		clearWait(r)
		s.log.Error("a workflow run failed", "workflow_run_id", r.ID, "step", st.Name, "error", cause)
		return recordAndPublishEvent(tx, by, r, "failed", "failed: "+message)
	})
}

// isTemporaryError reports whether an error may disappear on a retry.
func (s *Service) isTemporaryError(err *api.Error) bool {
	return err.Code == api.CodeInternal || err.Code == api.CodeRateLimit
}

// callerFor returns the caller that a run acts as: a workflow on behalf of the user who started it.
func callerFor(run *store.WorkflowRun) api.Caller {
	return api.Caller{
		OrganizationID: run.OrganizationID, UserID: run.Starter.UserID, TraceID: run.Starter.TraceID,
		Actor: api.Actor{Type: api.ActorWorkflow, ID: run.ID, Name: run.WorkflowType + " workflow of " + run.StartedBy.Name},
	}
}

// checkStarterAllowed returns an error if the user who started the run is no longer allowed to do so, or
// if the API key that started it was revoked.
func checkStarterAllowed(tx *store.Tx, run *store.WorkflowRun) error {
	const active = "active"
	m, err := store.Memberships.Get(tx, run.Starter.UserID, run.OrganizationID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if err != nil || m.Status != active || !m.Role.May("workflow:write") {
		return api.Forbidden("%s, who started the run, is no longer allowed to run workflows; another user has to resume the run",
			run.StartedBy.Name)
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
		return api.Forbidden("the run's account or organization is not active; resume the run once it is active again")
	}
	if run.Starter.KeyID == "" {
		return nil
	}
	key, err := store.APIKeys.Get(tx, run.OrganizationID, run.Starter.KeyID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if err != nil || key.RevokedAt != nil || key.ExpiresAt != nil && !tx.Now().Before(*key.ExpiresAt) {
		return api.Forbidden("the API key that started the run is no longer valid; a user has to resume the run")
	}
	return nil
}
