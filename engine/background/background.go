// Package background runs the work that the engine does unasked: it deletes what has expired, continues what other
// processes left unfinished, and starts and stops the services that deliver events and emails, watch metrics, read
// documents and execute workflow runs.
package background

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scf-service/service/engine/agent"
	"github.com/scf-service/service/engine/alert"
	"github.com/scf-service/service/engine/backupschedule"
	"github.com/scf-service/service/engine/evidence"
	"github.com/scf-service/service/engine/idempotency"
	"github.com/scf-service/service/engine/identity"
	"github.com/scf-service/service/engine/notify"
	"github.com/scf-service/service/engine/notify/integration"
	"github.com/scf-service/service/engine/notify/mail"
	"github.com/scf-service/service/engine/workflowrun"
	"github.com/scf-service/service/store"
)

// Options holds the dependencies of a worker. All fields are required.
type Options struct {
	DB        *store.DB
	Clock     func() time.Time
	Logger    *slog.Logger
	NewTicker func(time.Duration) (ticks <-chan time.Time, stop func())

	Identity     *identity.Service
	Idempotency  *idempotency.Service
	Evidence     *evidence.Service
	Agents       *agent.Service
	Workflows    *workflowrun.Service
	Webhooks     *notify.Service
	Integrations *integration.Service
	Mail         *mail.Service
	Alerts       *alert.Service
	Backups      *backupschedule.Service
}

// Worker does the background work of an engine.
type Worker struct {
	o Options
	// blobsSwept is when unreferenced files were last looked for, in seconds since 1970, or 0 if never.
	blobsSwept atomic.Int64
	// stop ends the loops; loops waits for their end.
	stop  context.CancelFunc
	loops sync.WaitGroup
}

// New returns a worker that does nothing until it is started.
func New(o Options) *Worker { return &Worker{o: o} }

// Start starts the background work.
func (w *Worker) Start(ctx context.Context) error {
	if err := w.o.Agents.FailAbandonedRuns(ctx); err != nil {
		return err
	}
	w.o.Mail.Start(ctx) // ended only by Close, which lets it finish
	ctx, w.stop = context.WithCancel(ctx)
	w.loops.Go(func() { w.repeatAsLeader(ctx, sweepInterval, w.deleteExpired) })
	w.loops.Go(func() {
		if err := w.o.DB.DeleteDiscarded(ctx); err != nil && ctx.Err() == nil {
			w.o.Logger.Warn("could not delete the records of deleted assessments; this will be retried at the next start", "error", err)
		}
	})
	if err := w.o.Evidence.Start(ctx); err != nil {
		return err
	}
	if !w.o.DB.IsSoleWriter() {
		w.loops.Go(func() { w.repeatAsLeader(ctx, adoptInterval, w.adoptAbandoned) })
	}
	w.o.Webhooks.Start(ctx)
	w.o.Integrations.Start(ctx)
	w.o.Alerts.Start(ctx)
	return w.o.Workflows.Start(ctx)
}

// repeatAsLeader calls do at every interval until ctx ends, except while another process using the same database is the
// leader.
func (w *Worker) repeatAsLeader(ctx context.Context, interval time.Duration, do func(context.Context)) {
	ticks, stop := w.o.NewTicker(interval)
	defer stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
			if w.o.DB.IsLeader() {
				do(ctx)
			}
		}
	}
}

// Close ends the background work and waits until it has ended.
func (w *Worker) Close() error {
	if w.stop != nil {
		w.stop()
	}
	w.o.Backups.Close()
	w.o.Agents.Close()
	w.loops.Wait()
	w.o.Workflows.Close()
	w.o.Alerts.Close()
	w.o.Mail.Close()
	w.o.Webhooks.Close()
	w.o.Integrations.Close()
	return w.o.Evidence.Close()
}
