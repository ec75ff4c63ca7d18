package store

import (
	"context"
	"io"
	"time"
)

const (
	// pacedSize is the amount of a backup that is written between two decisions on whether to pause.
	pacedSize = 4 << 20
	// pauseFactor is the length of a pause as a multiple of the time that it took to write pacedSize bytes. While a
	// backup is being written, hardly any other writes get through on a machine with one disk. With pauses, a backup
	// takes five times as long, and other writes keep more than 80% of their rate.
	pauseFactor = 4
	// maxPause limits the length of a pause, which might otherwise be too long, for example after the system was
	// suspended.
	maxPause = time.Second
)

// pacedWriter pauses after each part of a backup during which the store was written to, so that the backup hardly
// slows down other writes. If there were no writes, it doesn't pause.
type pacedWriter struct {
	ctx     context.Context
	w       io.Writer
	db      *DB
	size    int       // bytes since the last decision
	updates int64     // the store's number of updates at the last decision
	resumed time.Time // time of the last decision, or of the end of its pause
}

func newPacedWriter(ctx context.Context, w io.Writer, db *DB) *pacedWriter {
	return &pacedWriter{ctx: ctx, w: w, db: db, updates: db.updates.Load(), resumed: db.clock()}
}

func (p *pacedWriter) Write(b []byte) (int, error) {
	n, err := p.w.Write(b)
	if p.size += n; err != nil || p.size < pacedSize {
		return n, err
	}
	if p.db.updates.Load() != p.updates {
		err = p.pause(min(pauseFactor*p.db.clock().Sub(p.resumed), maxPause))
	}
	p.size, p.updates, p.resumed = 0, p.db.updates.Load(), p.db.clock()
	return n, err
}

func (p *pacedWriter) pause(d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-p.ctx.Done():
		return p.ctx.Err()
	}
}
