package workflow

import (
	"context"
	"errors"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment"
	"github.com/scf-service/service/store"
)

const (
	// leaseDuration is how long a run is its worker's unless renewed. Where this process has the
	// database alone, whoever else held a run is gone, and nothing is waited for.
	leaseDuration = 30 * time.Second
	// pollInterval is the time between two looks for what is due. Changes made by this
	// process are seen at once.
	pollInterval = time.Second
)

// Start begins to work on the runs, also on those that an earlier process left. It
// returns at once; Close ends the work.
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
			if err := s.dispatchRuns(ctx); err != nil && ctx.Err() == nil {
				s.log.Warn("workflow runs can't be looked at", "error", err)
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

// Close breaks off the steps under way and waits for their end. The runs go on at the next start.
func (s *Service) Close() {
	s.CloseStreams()
	if s.stop != nil {
		s.stop()
	}
	s.background.Wait()
}

// dispatchRuns takes up the runs that can go on, as many as there are workers.
func (s *Service) dispatchRuns(ctx context.Context) error {
	type found struct{ org, id string }
	var ready []found
	err := s.db.View(ctx, func(tx *store.Tx) error {
		ready = nil
		for run, err := range store.WorkflowRuns.AcrossTenants().By("live").Scan(tx) {
			if err != nil {
				return err
			}
			can, err := s.canProceed(tx, &run)
			if err != nil {
				return err
			}
			if can && !s.isActive(run.ID) {
				ready = append(ready, found{run.OrganizationID, run.ID})
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, f := range ready {
		select {
		case s.workerSlots <- struct{}{}:
		default:
			return nil // a worker that gets free looks again
		}
		own, cancel := context.WithCancel(ctx)
		s.mu.Lock()
		s.cancelByRun[f.id] = cancel
		s.mu.Unlock()
		s.background.Go(func() {
			defer func() {
				cancel()
				s.mu.Lock()
				delete(s.cancelByRun, f.id)
				s.mu.Unlock()
				<-s.workerSlots
			}()
			s.processRun(own, cancel, f.org, f.id)
		})
	}
	return nil
}

func (s *Service) isActive(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.cancelByRun[id]
	return ok
}

func (s *Service) cancelActive(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel, ok := s.cancelByRun[id]; ok {
		cancel()
	}
}

// canProceed tells whether somebody should work on a run now.
func (s *Service) canProceed(tx *store.Tx, run *store.WorkflowRun) (bool, error) {
	now := tx.Now()
	switch {
	case s.isLeasedElsewhere(run, now):
		return false, nil
	case run.HasSignal:
		return true, nil
	case run.Status.IsWaiting():
		situation, err := assessment.StateFingerprint(tx, run.OrganizationID, run.AssessmentID)
		if errors.Is(err, store.ErrNotFound) {
			return false, nil
		}
		return situation != run.WaitSnapshot, err
	case run.NotBefore != nil:
		return isDue(*run.NotBefore, run.WaitSince, now), nil
	}
	return true, nil
}

// isLeasedElsewhere tells whether another process works on a run. A lease that was taken later than
// now is of a clock that has jumped back, and is worth nothing.
func (s *Service) isLeasedElsewhere(run *store.WorkflowRun, now time.Time) bool {
	if run.LeaseHolder == "" || run.LeaseHolder == s.workerID || s.db.IsSoleWriter() {
		return false
	}
	return now.Before(run.LeasedUntil) && !now.Before(run.LeasedSince.Add(-leaseDuration))
}

// isDue tells whether a time has come. A wait that begins later than now was set by a
// clock that has jumped back since; it could last for years, so it ends.
func isDue(deadline, waitStart, now time.Time) bool {
	return !now.Before(deadline) || now.Before(waitStart)
}

// errLeaseLost says that a run is not this worker's any more: cancelled, deleted, or taken over.
var errLeaseLost = errors.New("the run is not this worker's any more")

// acquireRun makes a run this process's own.
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
		// Whoever is killed from here on leaves a run that goes on, not one that waits for
		// what has come already.
		run.Status, run.WaitingFor, run.ApprovalID, run.NotBefore, run.WaitSince = api.RunPending, nil, nil, nil, time.Time{}
		s.extendLease(&run, tx.Now())
		return s.saveRun(tx, &run)
	})
	return run, err
}

func (s *Service) extendLease(run *store.WorkflowRun, now time.Time) {
	run.LeaseHolder, run.LeasedSince, run.LeasedUntil = s.workerID, now, now.Add(leaseDuration)
}

func (s *Service) saveRun(tx *store.Tx, run *store.WorkflowRun) error {
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

// updateLeased changes a run that is this worker's, and errLeaseLost where it is not.
func (s *Service) updateLeased(ctx context.Context, run *store.WorkflowRun, change func(*store.Tx, *store.WorkflowRun) error) error {
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
			s.extendLease(&now, tx.Now())
		}
		if err := s.saveRun(tx, &now); err != nil {
			return err
		}
		*run = now
		return nil
	})
}

// renewLease keeps the lease while a step is at work; where it is lost, the step is broken off.
func (s *Service) renewLease(ctx context.Context, cancel context.CancelFunc, org, id string) {
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
			s.extendLease(&run, tx.Now())
			return store.WorkflowRuns.Put(tx, org, &run)
		})
		if errors.Is(err, errLeaseLost) || errors.Is(err, store.ErrNotFound) {
			cancel()
			return
		}
	}
}
