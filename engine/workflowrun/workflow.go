// Package workflowrun executes assessments automatically, step by step, and pauses at each decision that
// only a user can make, and continues after it.
//
// A run is a record in the store. Each step is recorded before and after it is executed. Its
// effect happens at most once, because every step first checks whether the effect already
// exists, and the packages below change their state in one transaction or not at all. So a run
// that was killed, or whose process lost its lease, is continued by the next process.
//
//	pending ─▶ running ─▶ completed
//	   ▲        │  │  └──▶ failed ──resume──▶ pending
//	   │ later  │  │
//	   └────────┘  └─▶ waiting_for_approval, waiting_for_input ──decision, signal──▶ running
//
// A workflow makes no decisions: it acts as a workflow actor, which no gate accepts.
package workflowrun

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/evidence"
	"github.com/scf-service/service/engine/report"
	"github.com/scf-service/service/internal/tracing"
	"github.com/scf-service/service/store"
)

// Options holds the dependencies of a Service.
type Options struct {
	DB          *store.DB
	Assessments *assessment.Service
	Evidence    *evidence.Service
	Reports     *report.Service
	Logger      *slog.Logger
	// Tracer traces the work, or is nil.
	Tracer *tracing.Tracer
	// NewTicker returns a channel that ticks at this interval until stop is called.
	NewTicker func(time.Duration) (ticks <-chan time.Time, stop func())
	// Workers is the number of runs processed concurrently; 0 means 2.
	Workers int
}

// Service implements the operations on workflow runs and processes the runs.
type Service struct {
	db          *store.DB
	assessments *assessment.Service
	evidence    *evidence.Service
	reports     *report.Service
	log         *slog.Logger
	tracer      *tracing.Tracer
	newTicker   func(time.Duration) (<-chan time.Time, func())

	// workerID identifies this process among those that share the database.
	workerID    string
	workerSlots chan struct{}

	mu          sync.Mutex
	cancelByRun map[string]context.CancelFunc
	// running counts the runs in progress by organization; turns orders organizations by when a run was last started.
	running, turns map[string]int
	turn           int
	// examinedChanges is the number of changes up to which the runs that wait for a person were examined, if hasExamined.
	examinedChanges uint64
	hasExamined     bool

	// stop stops processing; streamsClosed is closed when streams have to end.
	stop          context.CancelFunc
	background    sync.WaitGroup
	streamsClosed chan struct{}
	streamSlots   chan struct{}
	closeOnce     sync.Once
}

// New returns a Service; Start starts processing runs.
func New(o Options) *Service {
	if o.Workers <= 0 {
		o.Workers = 2
	}
	return &Service{
		db: o.DB, assessments: o.Assessments, evidence: o.Evidence, reports: o.Reports, log: o.Logger, tracer: o.Tracer, newTicker: o.NewTicker,
		workerSlots: make(
			chan struct{},
			o.Workers,
		), cancelByRun: map[string]context.CancelFunc{}, running: map[string]int{}, turns: map[string]int{},
		streamsClosed: make(chan struct{}), streamSlots: make(chan struct{}, maxStreams),
	}
}

// StartLifecycle starts a run that takes an assessment through its lifecycle.
func (s *Service) StartLifecycle(ctx context.Context, by api.Caller, in *api.AssessmentInput) (*api.WorkflowRun, error) {
	start := &api.StartWorkflowInput{AssessmentInput: *in}
	start.Body.WorkflowType = api.WorkflowFull
	return s.StartRun(ctx, by, start)
}

// StartRun starts a run. An assessment can have one unfinished run of each type.
func (s *Service) StartRun(ctx context.Context, by api.Caller, in *api.StartWorkflowInput) (*api.WorkflowRun, error) {
	plan, ok := plans[in.Body.WorkflowType]
	if !ok {
		return nil, api.Invalid("workflow_type", "unknown workflow %q; choose from %v", in.Body.WorkflowType, api.WorkflowTypes)
	}
	var run store.WorkflowRun
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		a, err := store.Assessments.Get(tx, by.OrganizationID, in.AssessmentID)
		if err != nil {
			return store.ToNotFound(err, "assessment", in.AssessmentID)
		}
		if err := s.checkCanStart(tx, &a, in.Body.WorkflowType); err != nil {
			return err
		}
		now := tx.Now()
		run = store.WorkflowRun{
			Starter:       store.RunStarter{UserID: by.UserID, TraceID: by.TraceID, Trace: tracing.Current(ctx).String()},
			StopForReview: in.Body.StopForReview,
			WorkflowRun: api.WorkflowRun{
				TenantRecord: api.TenantRecord{
					Record:         api.Record{ID: tx.NewID(), CreatedAt: now, UpdatedAt: now},
					OrganizationID: by.OrganizationID,
				},
				AssessmentID: a.ID, WorkflowType: in.Body.WorkflowType, Status: api.RunPending, StartedBy: by.Actor, Revision: 1,
			},
		}
		if by.Actor.Type == api.ActorAPIKey {
			run.Starter.KeyID = by.Actor.ID
		}
		for _, st := range plan {
			run.Steps = append(run.Steps, api.WorkflowStep{Name: st.name, Title: st.title, Status: api.StepPending})
		}
		if at := in.Body.StartAt; at != nil && at.After(now) {
			run.NotBefore, run.WaitSince = at, now
			words := "the scheduled start time"
			run.WaitingFor = &words
		}
		run.CurrentStep = run.Steps[0].Name
		return errors.Join(store.WorkflowRuns.Insert(tx, by.OrganizationID, &run), recordAndPublishEvent(tx, by, &run, "started", "started"))
	})
	if err != nil {
		return nil, err
	}
	return s.readRun(ctx, by, run.ID)
}

// checkCanStart rejects a run that would have no effect or is already in progress.
func (s *Service) checkCanStart(tx *store.Tx, a *api.Assessment, kind string) error {
	if a.State == api.StateClosed && kind != api.WorkflowReport {
		return api.Conflict("the assessment is closed and cannot be changed")
	}
	other, err := store.WorkflowRuns.By("live").Get(tx, a.OrganizationID, a.ID, kind)
	switch {
	case err == nil:
		return api.Conflict("the %s workflow %s is already in progress (%s); cancel it before you start another", kind, other.ID, other.Status)
	case !errors.Is(err, store.ErrNotFound):
		return err
	}
	if kind != api.WorkflowRefresh {
		return nil
	}
	drafted, err := store.SoAVersions.By("assessment").Count(tx, a.OrganizationID, a.ID)
	if err == nil && drafted == 0 {
		err = api.Conflict(
			"there is no Statement of Applicability to refresh yet; start the %s workflow first",
			api.WorkflowFull,
		)
	}
	return err
}

// recordAndPublishEvent writes a run's event to the timeline, audit trail and outbox.
func recordAndPublishEvent(tx *store.Tx, by api.Caller, run *store.WorkflowRun, action, summary string) error {
	data := map[string]any{"workflow_type": run.WorkflowType, "status": run.Status, "step": run.CurrentStep}
	if run.Error != nil {
		data["error"] = *run.Error
	}
	return audit.RecordAndPublishEvent(tx, by, audit.Event{
		Type: "workflow." + action, AssessmentID: run.AssessmentID, Summary: fmt.Sprintf("the %s workflow %s", run.WorkflowType, summary),
		ResourceType: "workflow", ResourceID: run.ID, Data: data,
	})
}

func getRun(tx *store.Tx, org, id string) (store.WorkflowRun, error) {
	run, err := store.WorkflowRuns.Get(tx, org, id)
	return run, store.ToNotFound(err, "workflow run", id)
}

// Get returns a run.
func (s *Service) Get(ctx context.Context, by api.Caller, in *api.WorkflowInput) (*api.WorkflowRun, error) {
	return s.readRun(ctx, by, in.WorkflowRunID)
}

func (s *Service) readRun(ctx context.Context, by api.Caller, id string) (*api.WorkflowRun, error) {
	var out api.WorkflowRun
	err := s.db.View(ctx, func(tx *store.Tx) error {
		run, err := getRun(tx, by.OrganizationID, id)
		if err != nil {
			return err
		}
		out, err = toAPIRun(tx, &run)
		return err
	})
	return &out, err
}

// toAPIRun returns a run as shown to clients. A waiting run whose condition is met is shown as
// pending even before a worker has picked it up.
func toAPIRun(tx *store.Tx, run *store.WorkflowRun) (out api.WorkflowRun, err error) {
	out = run.WorkflowRun
	if run.Status.IsWaitingForUser() {
		now, err := assessment.StateAndVersionsSummary(tx, run.OrganizationID, run.AssessmentID)
		if err != nil {
			return out, err
		}
		if now != run.WaitSnapshot || run.HasSignal {
			out.Status, out.WaitingFor, out.ApprovalID = api.RunPending, nil, nil
		}
	}
	out.Detail, err = documentProgressText(tx, &out)
	return out, err
}

// GetLifecycle returns the latest run of the full lifecycle.
func (s *Service) GetLifecycle(ctx context.Context, by api.Caller, in *api.AssessmentInput) (*api.WorkflowRun, error) {
	id := ""
	err := s.db.View(ctx, func(tx *store.Tx) error {
		if _, err := store.Assessments.Get(tx, by.OrganizationID, in.AssessmentID); err != nil {
			return store.ToNotFound(err, "assessment", in.AssessmentID)
		}
		for run, err := range store.WorkflowRuns.By("assessment").Scan(tx, by.OrganizationID, store.Prefix(in.AssessmentID), store.Reverse) {
			if err != nil {
				return err
			}
			if run.WorkflowType == api.WorkflowFull {
				id = run.ID
				return nil
			}
		}
		return api.NotFound("lifecycle workflow of the assessment", in.AssessmentID)
	})
	if err != nil {
		return nil, err
	}
	return s.readRun(ctx, by, id)
}

// List lists the runs of an assessment, newest first.
func (s *Service) List(ctx context.Context, by api.Caller, in *api.WorkflowsInput) (*api.List[api.WorkflowRun], error) {
	if _, err := s.assessments.Progress(ctx, by, in.AssessmentID); err != nil {
		return nil, err
	}
	l, err := store.List(ctx, s.db, store.WorkflowRuns, by.OrganizationID, in.Paging, store.PageQuery[store.WorkflowRun]{
		Index: "assessment", Prefix: store.K(in.AssessmentID), Reverse: true,
		Filter: store.FilterIf(api.HasFilters(in), func(r *store.WorkflowRun) bool {
			return (in.Status == "" || r.Status == in.Status) && (in.WorkflowType == "" || r.WorkflowType == in.WorkflowType)
		}),
	})
	if err != nil {
		return nil, err
	}
	return api.MapList(l, func(r *store.WorkflowRun) api.WorkflowRun { return r.WorkflowRun }), nil
}

// updateRun applies a user's request to a run in one transaction.
func (s *Service) updateRun(
	ctx context.Context,
	by api.Caller,
	id string,
	change func(*store.Tx, *store.WorkflowRun) error,
) (*api.WorkflowRun, error) {
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		run, err := getRun(tx, by.OrganizationID, id)
		if err != nil {
			return err
		}
		if err := change(tx, &run); err != nil {
			return err
		}
		run.Revision++
		run.UpdatedAt = tx.Now()
		return store.WorkflowRuns.Put(tx, by.OrganizationID, &run)
	})
	if err != nil {
		return nil, err
	}
	return s.readRun(ctx, by, id)
}

// Cancel cancels a run. Completed steps are kept; the running step is aborted.
func (s *Service) Cancel(ctx context.Context, by api.Caller, in *api.WorkflowInput) (*api.WorkflowRun, error) {
	return s.updateRun(ctx, by, in.WorkflowRunID, func(tx *store.Tx, run *store.WorkflowRun) error {
		if run.Status == api.RunCancelled || run.Status == api.RunCompleted {
			return api.Conflict("the run is already %s", run.Status)
		}
		now := tx.Now()
		for n := range run.Steps {
			if st := &run.Steps[n]; st.Status == api.StepRunning || st.Status == api.StepWaiting {
				st.Status = api.StepCancelled
			}
		}
		run.Status, run.CompletedAt, run.LeaseHolder = api.RunCancelled, &now, ""
		clearWait(run)
		tx.AfterCommit(func() { s.cancelIfActive(run.ID) })
		return recordAndPublishEvent(tx, by, run, "cancelled", "was cancelled by "+by.Actor.Name)
	})
}

// clearWait clears what a run is waiting for.
func clearWait(run *store.WorkflowRun) {
	run.WaitingFor, run.ApprovalID, run.NotBefore, run.WaitSince, run.WaitSnapshot, run.HasSignal = nil, nil, nil, time.Time{}, "", false
}

// Resume continues a failed run at the failed step and rechecks a waiting run.
func (s *Service) Resume(ctx context.Context, by api.Caller, in *api.WorkflowInput) (*api.WorkflowRun, error) {
	return s.updateRun(ctx, by, in.WorkflowRunID, func(tx *store.Tx, run *store.WorkflowRun) error {
		switch run.Status {
		case api.RunCancelled:
			return api.Conflict("the run was cancelled and cannot be resumed; start a new one")
		case api.RunCompleted:
			return api.Conflict("the run is completed; there is nothing to resume")
		case api.RunFailed:
			a, err := store.Assessments.Get(tx, by.OrganizationID, run.AssessmentID)
			if err != nil {
				return store.ToNotFound(err, "assessment", run.AssessmentID)
			}
			if err := s.checkCanStart(tx, &a, run.WorkflowType); err != nil {
				return err
			}
			run.Status, run.Error, run.CompletedAt = api.RunPending, nil, nil
			clearWait(run)
			if at := slices.IndexFunc(run.Steps, func(st api.WorkflowStep) bool { return st.Status == api.StepFailed }); at >= 0 {
				run.Steps[at].Status, run.Steps[at].Error = api.StepPending, nil
			}
		default:
			run.NotBefore, run.WaitSince, run.HasSignal = nil, time.Time{}, true
		}
		run.Failures = 0
		// The user who resumes a run is responsible for it from here on.
		run.Starter = store.RunStarter{UserID: by.UserID, TraceID: by.TraceID, Trace: tracing.Current(ctx).String()}
		if by.Actor.Type == api.ActorAPIKey {
			run.Starter.KeyID = by.Actor.ID
		}
		return recordAndPublishEvent(tx, by, run, "resumed", "was resumed by "+by.Actor.Name)
	})
}

// Signal makes a waiting run check again whether it can continue. A signal does not replace an approval.
func (s *Service) Signal(ctx context.Context, by api.Caller, in *api.SignalInput) (*api.WorkflowRun, error) {
	return s.updateRun(ctx, by, in.WorkflowRunID, func(tx *store.Tx, run *store.WorkflowRun) error {
		if !run.Status.IsLive() {
			return api.Conflict("the run is %s and does not accept signals", run.Status)
		}
		run.LastSignal = &api.Signal{Name: in.Body.Name, Payload: in.Body.Payload, Actor: by.Actor, At: tx.Now()}
		run.HasSignal = true
		return recordAndPublishEvent(tx, by, run, "signaled", fmt.Sprintf("received the signal %q from %s", in.Body.Name, by.Actor.Name))
	})
}
