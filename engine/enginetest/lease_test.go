package enginetest_test

import (
	"context"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/engine/enginetest"
	"github.com/scf-service/service/internal/testutil/updatelimit"
	"github.com/scf-service/service/store"
	"github.com/scf-service/service/store/bolt"
)

// daemons are two engines that write to the same database, like two daemons on a server database.
type daemons struct {
	*clock
	db *store.DB
}

func newDaemons(t *testing.T) *daemons {
	t.Helper()
	d := &daemons{clock: &clock{}}
	d.at.Store(time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC).Unix())
	dir := t.TempDir()
	driver, err := bolt.Open(t.Context(), filepath.Join(dir, "shared.db"), bolt.Options{Logger: enginetest.WarningLogger()})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.WithoutCancel(t.Context())
	d.db, err = store.Open(
		ctx,
		store.Options{
			Dir:    dir,
			Schema: store.ServiceSchema, CheckUpdate: updatelimit.Check,
			Clock:  d.now,
			NewID:  enginetest.NewID,
			Logger: enginetest.WarningLogger(),
			Driver: driver,
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.db.Close() })
	return d
}

// engine returns one of the engines; the test triggers its ticks.
func (d *daemons) engine(
	t *testing.T,
	now func() time.Time,
	every func(time.Duration) (<-chan time.Time, func()),
) (e *engine.Engine, start func()) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	e, err := engine.New(ctx, engine.Options{
		DB: d.db, Logger: enginetest.WarningLogger(), Clock: now, Version: "test", CacheDir: enginetest.CacheDir(t), Build: enginetest.EmbedderSourceHash(t),
		LocalName: "Ada Auditor", LocalEmail: "ada@local", NewTicker: every,
	})
	if err != nil {
		t.Fatal(err)
	}
	return e, func() {
		if err := e.Start(ctx); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func never(time.Duration) (<-chan time.Time, func()) { return nil, func() {} }

// TestLeaseIsTakenOver checks that a daemon that hangs in a step loses its run after 30 seconds and
// not earlier, that another continues it, and that the first has no effect when it resumes.
func TestLeaseIsTakenOver(t *testing.T) {
	d := newDaemons(t)
	var hang atomic.Bool
	hangs, wake := make(chan struct{}), make(chan struct{})
	wakes := sync.OnceFunc(func() { close(wake) })
	var once sync.Once
	slowClock := func() time.Time {
		if hang.Load() {
			once.Do(func() { close(hangs) })
			<-wake
		}
		return d.now()
	}
	first, _ := d.engine(t, slowClock, never)
	looks := make(chan time.Time)
	second, startSecond := d.engine(t, d.now, func(every time.Duration) (<-chan time.Time, func()) {
		if every == time.Second { // the interval at which a worker looks for runs
			return looks, func() {}
		}
		return nil, func() {}
	})
	b := &bench{second, localUser(t, second)}
	// Start only what the run needs of the first engine; other loops would read the clock too.
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	for _, start := range []func(context.Context) error{first.Evidence.Start, first.Workflows.Start} {
		if err := start(ctx); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		wakes()
		stop()
		if err := first.Close(); err != nil {
			t.Error(err)
		}
	})
	a := (&bench{first, b.by}).assess(t, "lgpd", policy, api.StateScopeDrafted)
	hang.Store(true)
	in := &api.StartWorkflowInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}}
	in.Body.WorkflowType = api.WorkflowFull
	run, err := second.Workflows.StartRun(t.Context(), b.by, in)
	if err != nil {
		t.Fatal(err)
	}
	<-hangs // in the middle of drafting the Statement of Applicability
	startSecond()

	d.pass(29 * time.Second)
	looks <- d.now()
	looks <- d.now() // the first check has ended
	if got, err := second.Workflows.Get(t.Context(), b.by, &api.WorkflowInput{WorkflowRunID: run.ID}); err != nil ||
		got.CurrentStep != string(api.StateSoADrafted) ||
		got.Status != api.RunRunning {
		t.Fatalf("within the lease: %+v, %v", got, err)
	}
	d.pass(2 * time.Second)
	looks <- d.now()
	waits := b.waitForRun(t, run.ID, api.RunApproval, "")

	hang.Store(false)
	wakes()
	// Transitions of an assessment are serialized within a process, so this one comes after
	// everything the first daemon still does.
	wantCode(t, "a step that is done", (&bench{first, b.by}).move(t, a.ID, api.StateSoADrafted), api.CodeInvalidState)
	versions, err := second.Assessments.ListSoA(
		t.Context(),
		b.by,
		&api.AssessmentListInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}},
	)
	if err != nil || len(versions.Data) != 1 || versions.Data[0].Status != api.VersionUnderReview {
		t.Errorf("the Statement of Applicability was drafted twice: %+v, %v", versions, err)
	}
	events, err := second.Assessments.ListEvents(
		t.Context(),
		b.by,
		&api.LifecycleEventsInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}, ToState: api.StateSoADrafted},
	)
	if err != nil || len(events.Data) != 1 {
		t.Errorf("%+v, %v", events, err)
	}
	if err := b.approve(t, *waits.ApprovalID); err != nil {
		t.Errorf("the approval is void: %v", err)
	}
	looks <- d.now()
	b.waitForRun(t, run.ID, api.RunApproval, "gap analysis")
}

// TestLeaseOfTheFuture checks that a lease from the future, as after a clock was set back, is
// ignored and the run continues at once.
func TestLeaseOfTheFuture(t *testing.T) {
	d := newDaemons(t)
	e, start := d.engine(t, d.now, never)
	b := &bench{e, localUser(t, e)}
	in := &api.CreateAssessmentInput{}
	in.Body.Name, in.Body.FrameworkID = "Test", "lgpd"
	a, err := e.Assessments.Create(t.Context(), b.by, in)
	if err != nil {
		t.Fatal(err)
	}
	run := b.begin(t, a.ID, api.WorkflowFull)
	err = d.db.Update(t.Context(), func(tx *store.Tx) error {
		r, err := store.WorkflowRuns.Get(tx, b.by.OrganizationID, run.ID)
		r.LeaseHolder, r.LeasedSince, r.LeasedUntil = "another", d.now().AddDate(0, 1, 0), d.now().AddDate(0, 1, 1)
		if err == nil {
			err = store.WorkflowRuns.Put(tx, b.by.OrganizationID, &r)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	start()
	b.waitForRun(t, run.ID, api.RunApproval, "")
}
