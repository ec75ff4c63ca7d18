package workflowrun

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment"
	"github.com/scf-service/service/store"
)

const (
	// leaseDuration is how long a lease lasts unless the worker renews it. If this process is the
	// only writer, leases of other workers are leftovers and are ignored.
	leaseDuration = 30 * time.Second
	// pollInterval is the time between checks for due runs. Changes by this process wake the loop.
	pollInterval = time.Second
)

// Start starts processing runs, including those left by an earlier process. It returns at once;
// Close stops processing.
func (s *Service) Start(ctx context.Context) error {
	if err := s.db.View(ctx, func(tx *store.Tx) error { s.workerID = tx.NewID(); return nil }); err != nil {
		return err
	}
	ctx, s.stop = context.WithCancel(ctx)
	ticks, stopTicks := s.newTicker(pollInterval)
	s.background.Go(func() {
		defer stopTicks()
		for {
			changed := s.db.Changed()
			if err := s.DispatchRuns(ctx); err != nil && ctx.Err() == nil {
				s.log.Warn("workflow runs could not be read", "error", err)
			}
			select {
			case <-ctx.Done():
				return
			case <-changed:
			case <-ticks:
			}
		}
	})
	return nil
}

// Close aborts the running steps and waits for them to end. The runs continue at the next start.
func (s *Service) Close() {
	s.CloseStreams()
	if s.stop != nil {
		s.stop()
	}
	s.background.Wait()
}

// readyRun is a run that can proceed.
type readyRun struct{ org, id string }

// DispatchRuns starts the runs that can proceed, up to the number of workers. Organizations take turns. Runs that wait
// for a person are examined only after a change that may end their wait.
func (s *Service) DispatchRuns(ctx context.Context) error {
	var ready []readyRun
	indexes := []string{"active"}
	changes, known := s.db.ChangeCount(
		store.Assessments, store.SoAVersions, store.GapVersions, store.MaturityVersions, store.POAMVersions, store.WorkflowRuns,
	)
	if !known || changes != s.examinedChanges || !s.hasExamined {
		indexes = append(indexes, "waiting")
	}
	s.hasExamined = false
	left := false // a run that can proceed is only just ending its last turn
	err := s.db.View(ctx, func(tx *store.Tx) error {
		ready, left = nil, false
		for _, index := range indexes {
			for run, err := range store.WorkflowRuns.AcrossTenants().By(index).Scan(tx) {
				if err != nil {
					return err
				}
				can, err := s.canProceed(tx, &run)
				if err != nil {
					return err
				}
				switch {
				case !can:
				case s.isActive(run.ID):
					left = true
				default:
					ready = append(ready, readyRun{run.OrganizationID, run.ID})
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.examinedChanges, s.hasExamined = changes, len(ready) == 0 && !left // those may not all be started now
	for _, f := range s.inTurns(ready) {
		select {
		case s.workerSlots <- struct{}{}:
		default:
			return nil // retried when a worker becomes free
		}
		own, cancel := context.WithCancel(ctx)
		s.mu.Lock()
		s.cancelByRun[f.id] = cancel
		s.running[f.org]++
		s.turn++
		s.turns[f.org] = s.turn
		s.mu.Unlock()
		s.background.Go(func() {
			defer func() {
				cancel()
				s.mu.Lock()
				delete(s.cancelByRun, f.id)
				if s.running[f.org]--; s.running[f.org] == 0 {
					delete(s.running, f.org)
				}
				s.mu.Unlock()
				<-s.workerSlots
			}()
			s.processRun(own, cancel, f.org, f.id)
		})
	}
	return nil
}

// inTurns orders runs so that organizations take turns: organizations with the fewest running runs
// come first and, among these, those whose last turn was earliest.
func (s *Service) inTurns(ready []readyRun) []readyRun {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := map[string]int{}
	rank := map[string]int{} // by run
	for _, r := range ready {
		rank[r.id] = s.running[r.org] + before[r.org]
		before[r.org]++
	}
	slices.SortStableFunc(ready, func(a, b readyRun) int {
		return cmp.Or(cmp.Compare(rank[a.id], rank[b.id]), cmp.Compare(s.turns[a.org], s.turns[b.org]))
	})
	for org := range s.turns { // organizations without live runs need no turn
		if before[org] == 0 && s.running[org] == 0 {
			delete(s.turns, org)
		}
	}
	return ready
}

// isActive reports whether this process is working on a run.
func (s *Service) isActive(runID string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.cancelByRun[runID]
	return ok
}

func (s *Service) cancelIfActive(runID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel, ok := s.cancelByRun[runID]; ok {
		cancel()
	}
}

// canProceed reports whether a run is ready to be processed.
func (s *Service) canProceed(tx *store.Tx, run *store.WorkflowRun) (bool, error) {
	now := tx.Now()
	switch {
	case s.isLeasedElsewhere(run, now):
		return false, nil
	case run.HasSignal:
		return true, nil
	case run.Status.IsWaitingForUser():
		situation, err := assessment.StateAndVersionsSummary(tx, run.OrganizationID, run.AssessmentID)
		if errors.Is(err, store.ErrNotFound) {
			return false, nil
		}
		return situation != run.WaitSnapshot, err
	case run.NotBefore != nil:
		return isDue(*run.NotBefore, run.WaitSince, now), nil
	}
	return true, nil
}

// isLeasedElsewhere reports whether another process holds the run. A lease that starts in the
// future comes from a clock that has since been set back and is ignored.
func (s *Service) isLeasedElsewhere(run *store.WorkflowRun, now time.Time) bool {
	if run.LeaseHolder == "" || run.LeaseHolder == s.workerID || s.db.IsSoleWriter() {
		return false
	}
	return now.Before(run.LeasedUntil) && !now.Before(run.LeasedSince.Add(-leaseDuration))
}

// isDue reports whether a deadline has passed. It also returns true if the wait starts in the
// future: in that case the clock has been set back, and the wait could last for years.
func isDue(deadline, waitStart, now time.Time) bool {
	return !now.Before(deadline) || now.Before(waitStart)
}

// errLeaseLost reports that a run was cancelled, deleted or taken over by another process.
var errLeaseLost = errors.New("this worker no longer holds the run")

// acquireRun acquires the lease of a run, so that no other worker processes it.
func (s *Service) acquireRun(ctx context.Context, org, id string) (run store.WorkflowRun, err error) {
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		if run, err = store.WorkflowRuns.Get(tx, org, id); err != nil {
			return err
		}
		can, err := s.canProceed(tx, &run)
		if err != nil {
			return err
		}
		if !run.Status.IsLive() || !can {
			return errLeaseLost
		}
		// If the process is killed from here on, the run is left pending, rather than waiting for
		// something that has already happened.
		run.Status, run.WaitingFor, run.ApprovalID, run.NotBefore, run.WaitSince = api.RunPending, nil, nil, nil, time.Time{}
		s.takeOrExtendLease(&run, tx.Now())
		return s.saveRunWithProgress(tx, &run)
	})
	return run, err
}

// takeOrExtendLease gives this process the lease of a run from now on.
func (s *Service) takeOrExtendLease(run *store.WorkflowRun, now time.Time) {
	run.LeaseHolder, run.LeasedSince, run.LeasedUntil = s.workerID, now, now.Add(leaseDuration)
}

// saveRunWithProgress stores a run with a new revision, the current time, and the percentage of completed steps.
func (s *Service) saveRunWithProgress(tx *store.Tx, run *store.WorkflowRun) error {
	run.Revision++
	run.UpdatedAt = tx.Now()
	done := 0
	for _, st := range run.Steps {
		if st.Status == api.StepCompleted {
			done++
		}
	}
	run.Progress = done * 100 / len(run.Steps)
	return store.WorkflowRuns.Put(tx, run.OrganizationID, run)
}

// updateIfLeased changes a run in a transaction, or returns errLeaseLost if this worker no longer
// holds it.
func (s *Service) updateIfLeased(ctx context.Context, run *store.WorkflowRun, change func(*store.Tx, *store.WorkflowRun) error) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		now, err := store.WorkflowRuns.Get(tx, run.OrganizationID, run.ID)
		if errors.Is(err, store.ErrNotFound) {
			return errLeaseLost
		}
		if err != nil {
			return err
		}
		if now.LeaseHolder != s.workerID || !now.Status.IsLive() {
			return errLeaseLost
		}
		if err := change(tx, &now); err != nil {
			return err
		}
		if now.LeaseHolder != "" {
			s.takeOrExtendLease(&now, tx.Now())
		}
		if err := s.saveRunWithProgress(tx, &now); err != nil {
			return err
		}
		*run = now
		return nil
	})
}

// renewLeaseUntilDone renews the lease while a step is running and aborts the step if the lease is lost.
func (s *Service) renewLeaseUntilDone(ctx context.Context, cancel context.CancelFunc, org, id string) {
	if s.db.IsSoleWriter() {
		return
	}
	ticks, stop := s.newTicker(leaseDuration / 3)
	defer stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
		err := s.db.Update(ctx, func(tx *store.Tx) error {
			run, err := store.WorkflowRuns.Get(tx, org, id)
			if err != nil {
				return err
			}
			if run.LeaseHolder != s.workerID || !run.Status.IsLive() {
				return errLeaseLost
			}
			s.takeOrExtendLease(&run, tx.Now())
			return store.WorkflowRuns.Put(tx, org, &run)
		})
		if errors.Is(err, errLeaseLost) || errors.Is(err, store.ErrNotFound) {
			cancel()
			return
		}
	}
}
