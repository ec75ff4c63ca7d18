package engine

import (
	"context"
	"time"

	"github.com/scf-service/service/store"
)

// sweepInterval is the time between two sweeps. What has ended is refused at once,
// swept or not: sweeping only gives the room back.
const sweepInterval = time.Hour

// runSweeps deletes what has ended, again and again, until ctx ends.
func (e *Engine) runSweeps(ctx context.Context) {
	ticks, stop := e.newTicker(sweepInterval)
	defer stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
			e.sweep(ctx)
		}
	}
}

// blobGracePeriod is how long a blob that no record names is left alone: longer than anything
// that keeps a blob takes to name it, and long enough to undo a mistake by a backup.
const blobGracePeriod = 24 * time.Hour

// sweepBlobs deletes the files of deleted documents and reports. What is being uploaded at
// this moment is spared by its age, also where its content was there before.
func (e *Engine) sweepBlobs(ctx context.Context) error {
	var referenced map[string]bool
	err := e.db.View(ctx, func(tx *store.Tx) (err error) {
		referenced, err = store.ReferencedBlobs(tx)
		return err
	})
	if err != nil {
		return err
	}
	deleted, err := e.db.Blobs().Sweep(ctx, func(sha string) bool { return referenced[sha] }, blobGracePeriod)
	if len(deleted) > 0 {
		e.log.Info("files that nothing names were deleted", "count", len(deleted))
	}
	return err
}

// sweep deletes sessions, links, secrets, kept answers and files that have ended. A failure
// is told and tried again the next time.
func (e *Engine) sweep(ctx context.Context) {
	for what, do := range map[string]func(context.Context) error{
		"sessions and links": e.Identity.Sweep,
		"kept answers":       e.Idempotency.Sweep,
		"files":              e.sweepBlobs,
	} {
		if err := do(ctx); err != nil && ctx.Err() == nil {
			e.log.Warn("what has ended could not be deleted", "what", what, "error", err)
		}
	}
}
