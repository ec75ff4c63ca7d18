package background

import (
	"context"
	"time"

	"github.com/scf-service/service/store"
)

// sweepInterval is the time between two deletions of expired records. It only affects disk space, because expired
// records are never accepted.
const sweepInterval = time.Hour

// blobGracePeriod is how long an unreferenced blob is left alone: longer than any operation takes
// to reference a new blob, and long enough to undo a mistake with a backup.
const blobGracePeriod = 24 * time.Hour

// DeleteUnreferencedBlobs deletes the files of deleted documents and reports. It keeps files
// uploaded within blobGracePeriod, because the records that refer to them may not be stored yet. It
// reads all records that may refer to a file, so it does nothing if it was called within blobGracePeriod.
func (w *Worker) DeleteUnreferencedBlobs(ctx context.Context) error {
	last, now := w.blobsSwept.Load(), w.o.Clock().Unix()
	if last != 0 && now-last < int64(blobGracePeriod/time.Second) {
		return nil
	}
	var referenced map[string]string
	err := w.o.DB.View(ctx, func(tx *store.Tx) (err error) {
		referenced, err = store.ReferencedBlobs(tx)
		return err
	})
	if err != nil {
		return err
	}
	deleted, err := w.o.DB.Blobs().DeleteUnused(ctx, func(sha string) bool { return referenced[sha] != "" }, blobGracePeriod)
	if len(deleted) > 0 {
		w.o.Logger.Info("unreferenced files deleted", "count", len(deleted))
	}
	if err == nil {
		w.blobsSwept.Store(now)
	}
	return err
}

// deleteExpired deletes expired sessions, links, secrets, stored responses and files. Failures are logged
// and retried the next time.
func (w *Worker) deleteExpired(ctx context.Context) {
	for what, do := range map[string]func(context.Context) error{
		"sessions and links": w.o.Identity.DeleteExpired,
		"stored responses":   w.o.Idempotency.DeleteExpired,
		"files":              w.DeleteUnreferencedBlobs,
	} {
		if err := do(ctx); err != nil && ctx.Err() == nil {
			w.o.Logger.Warn("deleting expired records failed", "what", what, "error", err)
		}
	}
}
