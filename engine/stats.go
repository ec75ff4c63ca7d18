package engine

import (
	"context"
	"os"
	"path/filepath"

	"github.com/scf-service/service/engine/evidence"
	"github.com/scf-service/service/store"
)

// Stats are what the engine has to do and takes up, all organizations together.
type Stats struct {
	evidence.LoadStats
	// StoreBytes is the size of the database's file; 0 where it has none.
	StoreBytes int64
	// DiskFree is the room left for the data folder, in bytes; meaningless unless DiskKnown.
	DiskFree  uint64
	DiskKnown bool
	// QueuedMails and WaitingDeliveries are to be sent; LiveWorkflows run, or wait for somebody.
	QueuedMails, WaitingDeliveries, LiveWorkflows int
	// ModelCalls and what comes of them are those since the start; all 0 where the rules answer.
	ModelCalls, ModelFailures, ModelPromptTokens, ModelCompletionTokens int
	ModelSeconds                                                        float64
}

// pendingWork is what is still to be done that stands in the store.
type pendingWork struct{ deliveries, failing, paused, running int }

func (e *Engine) countPending(ctx context.Context) (w pendingWork, err error) {
	err = e.db.View(ctx, func(tx *store.Tx) error {
		w = pendingWork{}
		for o, err := range store.Organizations.Scan(tx) {
			if err != nil {
				return err
			}
			n, err := store.Deliveries.By("due").Count(tx, o.ID)
			if err != nil {
				return err
			}
			w.deliveries += n
			for h, err := range store.Webhooks.Scan(tx, o.ID) {
				if err != nil {
					return err
				}
				if !h.Enabled {
					w.paused++
				}
				if h.FailedInRow > 0 {
					w.failing++
				}
			}
			live, err := store.WorkflowRuns.By("live").Count(tx, o.ID)
			if err != nil {
				return err
			}
			w.running += live
		}
		return nil
	})
	return w, err
}

// Stats reads the figures of this moment.
func (e *Engine) Stats() Stats {
	f := Stats{LoadStats: e.Evidence.LoadStats()}
	if info, err := os.Stat(filepath.Join(e.db.Dir(), "service.db")); err == nil {
		f.StoreBytes = info.Size()
	}
	// Figures that can't be read now are 0: who collects them goes on.
	ctx := context.Background()
	if l, err := e.Mail.Stats(ctx); err == nil {
		f.QueuedMails = l.Queued
	}
	if w, err := e.countPending(ctx); err == nil {
		f.WaitingDeliveries, f.LiveWorkflows = w.deliveries, w.running
	}
	if e.model != nil {
		c := e.model.snapshot()
		f.ModelCalls, f.ModelFailures, f.ModelPromptTokens, f.ModelCompletionTokens, f.ModelSeconds = c.asked, c.failed, c.promptTokens, c.completionTokens, c.duration.Seconds()
	}
	f.DiskFree, f.DiskKnown = DiskFree(e.db.Dir())
	return f
}
