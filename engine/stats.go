package engine

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/scf-service/service/engine/evidence"
	"github.com/scf-service/service/engine/notify/delivery"
	"github.com/scf-service/service/store"
)

// Stats holds the engine's workload and resource usage, for all organizations together.
type Stats struct {
	evidence.LoadStats
	// StoreBytes is the size of the database file, or 0 if the records are in PostgreSQL.
	StoreBytes int64
	// DiskFree is the free space for the data folder, in bytes; meaningless unless DiskKnown.
	DiskFree  uint64
	DiskKnown bool
	// QueuedMails and WaitingDeliveries count unsent messages; LiveWorkflows counts running and
	// waiting runs.
	QueuedMails, WaitingDeliveries, LiveWorkflows int
	// Lanes counts the receivers with undelivered events.
	Lanes delivery.LaneStats
	// ModelCalls and its results count since the start; all are 0 if the rules are used.
	ModelCalls, ModelFailures, ModelPromptTokens, ModelCompletionTokens int
	ModelSeconds                                                        float64
	// LastBackup is when the last scheduled backup was made, and DrillPassed whether it could be restored;
	// both are zero if there is none. BackupFailures counts failed backups and drills since the start.
	LastBackup     time.Time
	DrillPassed    bool
	BackupFailures int
}

// pendingWork counts the pending work in the store.
type pendingWork struct{ deliveries, failing, paused, running int }

func (e *Engine) countPendingWork(ctx context.Context) (w pendingWork, err error) {
	err = e.db.View(ctx, func(tx *store.Tx) error {
		w = pendingWork{}
		webhooks, err := store.Webhooks.Tally("sums").SumsAcrossTenants(tx)
		if err != nil {
			return err
		}
		w.failing, w.paused = webhooks[store.SumFailingWebhooks], webhooks[store.SumPausedWebhooks]
		if w.deliveries, err = store.Deliveries.AcrossTenants().By("due").Count(tx); err != nil {
			return err
		}
		w.running, err = store.WorkflowRuns.AcrossTenants().By("live").Count(tx)
		return err
	})
	return w, err
}

// Stats returns the current figures.
func (e *Engine) Stats() Stats {
	f := Stats{LoadStats: e.Evidence.WorkloadStats()}
	if info, err := os.Stat(filepath.Join(e.db.Dir(), "service.db")); err == nil {
		f.StoreBytes = info.Size()
	}
	// A figure that can't be read stays 0, so that the others are still reported.
	ctx := context.Background()
	if l, err := e.Mail.Stats(ctx); err == nil {
		f.QueuedMails = l.Queued
	}
	if w, err := e.countPendingWork(ctx); err == nil {
		f.WaitingDeliveries, f.LiveWorkflows = w.deliveries, w.running
	}
	f.Lanes = e.Webhooks.LaneStats()
	if e.model != nil {
		c := e.model.callCounts()
		f.ModelCalls = c.asked
		f.ModelFailures = c.failed
		f.ModelPromptTokens = c.promptTokens
		f.ModelCompletionTokens = c.completionTokens
		f.ModelSeconds = c.duration.Seconds()
	}
	if last := e.Backups.Status().Last; last != nil {
		f.LastBackup, f.DrillPassed = last.Created, last.Drill != nil && last.Drill.Passed
	}
	f.BackupFailures = e.Backups.FailureCount()
	f.DiskFree, f.DiskKnown = store.DiskFree(e.db.Dir())
	return f
}
