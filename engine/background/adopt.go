package background

import (
	"context"
	"time"
)

// adoptInterval is the time between two checks for work that killed processes left unfinished.
const adoptInterval = 10 * time.Second

// adoptAbandoned continues work that other processes using the same database have left unfinished. It doesn't include
// workflow runs, which have their own leases.
func (w *Worker) adoptAbandoned(ctx context.Context) {
	for what, do := range map[string]func(context.Context) error{
		"documents": w.o.Evidence.EnqueueUnread, "agent runs": w.o.Agents.FailAbandonedRuns,
	} {
		if err := do(ctx); err != nil && ctx.Err() == nil {
			w.o.Logger.Warn("could not continue the unfinished work of other processes", "what", what, "error", err)
		}
	}
}
