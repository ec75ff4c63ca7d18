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
	// lease is how long a run is its worker's unless renewed. Where this process has the
	// database alone, whoever else held a run is gone, and nothing is waited for.
	lease = 30 * time.Second
	// lookEvery is the time between two looks for what is due. Changes made by this
	// process are seen at once.
	lookEvery = time.Second
)

// Start begins to work on the runs, also on those that an earlier process left. It
// returns at once; Close ends the work.
func (s *Service) Start(ctx context.Context) error {
	if err := s.db.View(ctx, func(tx *store.Tx) error { s.me = tx.NewID(); return nil }); err != nil {
		return err
	}
	ctx, s.stop = context.WithCancel(ctx)
	ticks, stopTicks := s.every(lookEvery)
	s.working.Go(func() {
		defer stopTicks()
		for {
			changed := s.db.Changed()
			if err := s.look(ctx); err != nil && ctx.Err() == nil {
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
	s.StopWatching()
	if s.stop != nil {
		s.stop()
	}
	s.working.Wait()
}

// look takes up the runs that can go on, as many as there are workers.
func (s *Service) look(ctx context.Context) error {
	type found struct{ org, id string }
	var ready []found
	err := s.db.View(ctx, func(tx *store.Tx) error {
		ready = nil
		for run, err := range store.WorkflowRuns.AcrossTenants().By("live").Scan(tx) {
			if err != nil {
				return err
			}
			can, err := s.canGoOn(tx, &run)
			if err != nil {
				return err
			}
			if can && !s.works(run.ID) {
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
		case s.workers <- struct{}{}:
		default:
			return nil // a worker that gets free looks again
		}
		own, cancel := context.WithCancel(ctx)
		s.mu.Lock()
		s.active[f.id] = cancel
		s.mu.Unlock()
		s.working.Go(func() {
			defer func() {
				cancel()
				s.mu.Lock()
				delete(s.active, f.id)
				s.mu.Unlock()
				<-s.workers
			}()
			s.work(own, cancel, f.org, f.id)
		})
	}
	return nil
}

func (s *Service) works(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.active[id]
	return ok
}

func (s *Service) breakOff(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel, ok := s.active[id]; ok {
		cancel()
	}
}

// canGoOn tells whether somebody should work on a run now.
func (s *Service) canGoOn(tx *store.Tx, run *store.WorkflowRun) (bool, error) {
	now := tx.Now()
	switch {
	case s.held(run, now):
		return false, nil
	case run.Signalled:
		return true, nil
	case run.Status.Waits():
		situation, err := assessment.Situation(tx, run.OrganizationID, run.AssessmentID)
		if errors.Is(err, store.ErrNotFound) {
			return false, nil
		}
		return situation != run.Situation, err
	case run.NotBefore != nil:
		return due(*run.NotBefore, run.WaitSince, now), nil
	}
	return true, nil
}

// held tells whether another process works on a run. A lease that was taken later than
// now is of a clock that has jumped back, and is worth nothing.
func (s *Service) held(run *store.WorkflowRun, now time.Time) bool {
	if run.Holder == "" || run.Holder == s.me || s.db.Alone() {
		return false
	}
	return now.Before(run.HeldUntil) && !now.Before(run.HeldSince.Add(-lease))
}

// due tells whether a time has come. A wait that begins later than now was set by a
// clock that has jumped back since; it could last for years, so it ends.
func due(at, since, now time.Time) bool { return !now.Before(at) || now.Before(since) }

// errLost says that a run is not this worker's any more: cancelled, deleted, or taken over.
var errLost = errors.New("the run is not this worker's any more")

// take makes a run this process's own.
func (s *Service) take(ctx context.Context, org, id string) (run store.WorkflowRun, err error) {
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		if run, err = store.WorkflowRuns.Get(tx, org, id); err != nil {
			return err
		}
		can, err := s.canGoOn(tx, &run)
		if err != nil {
			return err
		}
		if !run.Status.Live() || !can {
			return errLost
		}
		// Whoever is killed from here on leaves a run that goes on, not one that waits for
		// what has come already.
		run.Status, run.WaitingFor, run.ApprovalID, run.NotBefore, run.WaitSince = api.RunPending, nil, nil, nil, time.Time{}
		s.hold(&run, tx.Now())
		return s.put(tx, &run)
	})
	return run, err
}

func (s *Service) hold(run *store.WorkflowRun, now time.Time) {
	run.Holder, run.HeldSince, run.HeldUntil = s.me, now, now.Add(lease)
}

func (s *Service) put(tx *store.Tx, run *store.WorkflowRun) error {
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

// save changes a run that is this worker's, and errLost where it is not.
func (s *Service) save(ctx context.Context, run *store.WorkflowRun, change func(*store.Tx, *store.WorkflowRun) error) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		now, err := store.WorkflowRuns.Get(tx, run.OrganizationID, run.ID)
		if errors.Is(err, store.ErrNotFound) {
			return errLost
		}
		if err != nil {
			return err
		}
		if now.Holder != s.me || !now.Status.Live() {
			return errLost
		}
		if err := change(tx, &now); err != nil {
			return err
		}
		if now.Holder != "" {
			s.hold(&now, tx.Now())
		}
		if err := s.put(tx, &now); err != nil {
			return err
		}
		*run = now
		return nil
	})
}

// renew keeps the lease while a step is at work; where it is lost, the step is broken off.
func (s *Service) renew(ctx context.Context, cancel context.CancelFunc, org, id string) {
	if s.db.Alone() {
		return
	}
	ticks, stop := s.every(lease / 3)
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
			if run.Holder != s.me || !run.Status.Live() {
				return errLost
			}
			s.hold(&run, tx.Now())
			return store.WorkflowRuns.Put(tx, org, &run)
		})
		if errors.Is(err, errLost) || errors.Is(err, store.ErrNotFound) {
			cancel()
			return
		}
	}
}
