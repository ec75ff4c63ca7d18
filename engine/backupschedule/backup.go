// Package backupschedule writes backups of the whole store, on request and on a schedule, and
// restores each scheduled one into an empty folder to prove that it can be restored.
//
// A backup covers every organization. Therefore no operation of the API may call this package: only
// the process that has the data folder open calls it, on behalf of the operator.
package backupschedule

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"filippo.io/age"

	"github.com/scf-service/service/store"
)

// Options are the dependencies of a Service.
type Options struct {
	DB     *store.DB
	Clock  func() time.Time
	Logger *slog.Logger
	// NewTicker returns a channel that ticks at the interval until stop is called.
	NewTicker func(time.Duration) (ticks <-chan time.Time, stop func())
}

// Service writes the backups of one data folder.
type Service struct {
	Options
	running sync.Mutex // held while a backup is written or verified

	mu       sync.Mutex // guards the fields below
	status   Status
	failures int

	stop       context.CancelFunc // nil without a schedule
	background sync.WaitGroup
}

// New returns a Service. It makes no scheduled backups until Start is called.
func New(o Options) *Service {
	s := &Service{Options: o}
	var err error
	if s.status, err = ReadStatus(o.DB.Dir()); err != nil {
		o.Logger.Warn("the backup status can't be read and has been reset", "error", err)
	}
	folder := folderIdentity(o.DB.Dir())
	if f := s.status.Folder; f != "" && f != folder {
		o.Logger.Info("this data folder is a copy or was moved; earlier backups are kept, and the schedule never deletes them")
		s.status = Status{Schedule: s.status.Schedule}
	}
	if s.status.Installation == "" {
		s.status.Installation = o.DB.NewID() // stored with the first backup or schedule
	}
	s.status.Folder = folder
	return s
}

// Schedule describes the backups to make.
type Schedule struct {
	Dir   string        `json:"dir"`
	Every time.Duration `json:"every"`
	// Keep is how many backups stay in Dir; 0 keeps all.
	Keep int `json:"keep"`
	// Recipients encrypt the backups; if there are none, the backups are not encrypted.
	Recipients []age.Recipient `json:"-"`
}

const (
	// checkInterval is how often the schedule is checked.
	checkInterval = time.Minute
	// retryInterval is the time between attempts after a failure.
	retryInterval = 10 * time.Minute
)

// Start makes scheduled backups until Close is called. A nil schedule only records that there is
// none.
//
// Only one process can have the database open, so a schedule needs no lease.
func (s *Service) Start(ctx context.Context, o *Schedule) error {
	if o == nil && s.Status().Schedule == nil {
		return nil // leave folders that never had one alone
	}
	err := s.updateStatus(func(st *Status) {
		st.Schedule, st.Failure = o, nil // the settings may have been corrected since it failed
	})
	if err != nil || o == nil {
		return err
	}
	ctx, s.stop = context.WithCancel(ctx)
	s.background.Go(func() { s.runSchedule(ctx, o) })
	return nil
}

// Close stops the schedule and waits until it has ended.
func (s *Service) Close() {
	if s.stop != nil {
		s.stop()
	}
	s.background.Wait()
}

func (s *Service) runSchedule(ctx context.Context, o *Schedule) {
	ticks, stop := s.NewTicker(checkInterval)
	defer stop()
	for {
		if s.DB.IsLeader() && s.isDue(o) {
			s.backUpVerifyAndDeleteOld(ctx, o)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
	}
}

// isDue reports whether it is time for a backup. Backups that were not verified, were deleted or
// are in another folder don't count.
func (s *Service) isDue(o *Schedule) bool {
	status := s.Status()
	now := s.Clock()
	if f := status.Failure; f != nil && isBetween(now, f.At, min(o.Every, retryInterval)) {
		return false
	}
	last := status.Last
	if last == nil || last.Drill == nil || filepath.Dir(last.Path) != o.Dir {
		return true
	}
	if _, err := os.Lstat(last.Path); err != nil {
		return true
	}
	return !isBetween(now, last.Created, o.Every)
}

// isBetween reports whether now is between start and the given time after it. It returns false for a start in the
// future, so that a clock that was set back does not stop the backups.
func isBetween(now, start time.Time, after time.Duration) bool {
	d := now.Sub(start)
	return d >= 0 && d < after
}

// backUpVerifyAndDeleteOld writes a backup, restores it into an empty folder, and deletes old backups.
func (s *Service) backUpVerifyAndDeleteOld(ctx context.Context, o *Schedule) {
	err := s.writeAndVerify(ctx, o)
	if ctx.Err() != nil {
		return // stopping; the next start makes the backup again
	}
	if err != nil {
		s.Logger.Error("the scheduled backup failed", "dir", o.Dir, "error", err)
		now := s.Clock().UTC()
		s.mu.Lock()
		s.failures++
		s.mu.Unlock()
		err = s.updateStatus(func(st *Status) { st.Failure = &Failure{At: now, Problem: err.Error()} })
	} else {
		err = s.deleteOld(ctx, o)
	}
	if err != nil && ctx.Err() == nil {
		s.Logger.Warn("after a scheduled backup", "error", err)
	}
}

// writeAndVerify writes a scheduled backup and runs a restore drill. A failed drill is stored and
// counted, but not returned as an error.
func (s *Service) writeAndVerify(ctx context.Context, o *Schedule) error {
	s.running.Lock()
	defer s.running.Unlock()
	if info, err := os.Stat(o.Dir); err != nil || !info.IsDir() {
		// Creating the folder could fill the wrong disk if a drive is not mounted.
		return fmt.Errorf("%s is not a folder; create it, or mount its drive", o.Dir)
	}
	recipients, identity, err := withDrillKey(o.Recipients)
	if err != nil {
		return err
	}
	now := s.Clock().UTC()
	path := unusedPath(o.Dir, now)
	// The record comes first, so that a backup is recognized as scheduled even if the program is
	// killed right after writing it.
	r := &Record{Path: path, Installation: s.Status().Installation, Database: s.DB.ID(), Created: now}
	if err := r.save(); err != nil {
		return err
	}
	options := store.BackupOptions{Recipients: recipients}
	m, err := s.DB.Backup(ctx, path, options)
	if errors.Is(err, store.ErrCorrupt) {
		// One damaged record must not leave everything else without a backup. The drill of this
		// backup fails, so that the operator notices.
		s.Logger.Error("some data is damaged; the backup contains everything else", "error", err)
		options.AllowDamaged = true
		m, err = s.DB.Backup(ctx, path, options)
	}
	if err != nil {
		return errors.Join(err, os.Remove(path+recordSuffix))
	}
	if err := r.complete(m); err != nil {
		return err
	}
	// Store it first without a result, so that a drill that ends the program does not count as passed.
	if err := s.saveScheduled(r); err != nil {
		return err
	}
	s.Logger.Info("backup written", "path", path, "bytes", r.Size)
	r.Drill = s.drill(ctx, path, identity)
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.saveScheduled(r); err != nil {
		return err
	}
	if !r.Drill.Passed {
		s.mu.Lock()
		s.failures++
		s.mu.Unlock()
		s.Logger.Error("a backup failed its restore drill", "path", path, "error", r.Drill.Problem)
		return nil
	}
	s.Logger.Info("restore drill passed", "path", path, "records", r.Drill.Records, "files", r.Drill.Files)
	return nil
}

// unusedPath returns an unused path for a new backup. Another data folder's schedule may start a backup in the same
// second, so paths with an existing record are skipped, too.
func unusedPath(dir string, now time.Time) string {
	for {
		path := filepath.Join(dir, now.Format(nameLayout))
		_, err := os.Lstat(path)
		_, recordErr := os.Lstat(path + recordSuffix)
		if err != nil && recordErr != nil {
			return path
		}
		now = now.Add(time.Second)
	}
}

// saveScheduled stores the record of a scheduled backup next to the backup and in the status.
func (s *Service) saveScheduled(r *Record) error {
	if err := r.save(); err != nil {
		return err
	}
	return s.updateStatus(func(st *Status) { st.Last, st.Failure = r, nil })
}

// drill restores the backup at path into an empty folder, from that file alone.
func (s *Service) drill(ctx context.Context, path string, identities []age.Identity) *Drill {
	v, err := Verify(ctx, path, s.DB.TrialRestoreOptions(), store.ReadOptions{Identities: identities})
	d := &Drill{At: s.Clock().UTC(), Passed: err == nil, Records: v.RecordCount(), Files: v.BlobCount}
	if err != nil {
		d.Problem = err.Error()
	}
	return d
}

// withDrillKey adds a key that exists only in memory and only for the drill. This makes it possible to restore the
// encrypted file itself without writing an unencrypted copy. The key is discarded afterwards. Without recipients, it
// adds none.
func withDrillKey(recipients []age.Recipient) (extended []age.Recipient, drillKey []age.Identity, _ error) {
	if len(recipients) == 0 {
		return nil, nil, nil
	}
	// A file can't be encrypted to both hybrid and other keys.
	if _, ok := recipients[0].(*age.HybridRecipient); ok {
		identity, err := age.GenerateHybridIdentity()
		if err != nil {
			return nil, nil, err
		}
		return append(recipients[:len(recipients):len(recipients)], identity.Recipient()), []age.Identity{identity}, nil
	}
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, nil, err
	}
	return append(recipients[:len(recipients):len(recipients)], identity.Recipient()), []age.Identity{identity}, nil
}

// Write writes a backup to path on request. It may run at any time, but waits for a scheduled one.
func (s *Service) Write(ctx context.Context, path string, o store.BackupOptions) (store.Manifest, error) {
	s.running.Lock()
	defer s.running.Unlock()
	m, err := s.DB.Backup(ctx, path, o)
	if err != nil {
		return m, err
	}
	r := &Record{Path: path, Installation: s.Status().Installation}
	err = r.complete(m)
	if err == nil {
		err = s.updateStatus(func(st *Status) { st.Manual = r })
	}
	if err != nil {
		err = fmt.Errorf("%s was written, but the backup won't be listed by `service doctor`: %w", path, err)
	}
	return m, err
}

// Status returns the current status.
func (s *Service) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status
}

// FailureCount returns how many scheduled backups and drills have failed since the start.
func (s *Service) FailureCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failures
}

// updateStatus changes the status, in memory even if it can't be stored.
func (s *Service) updateStatus(change func(*Status)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.status)
	if err := writeJSON(filepath.Join(s.DB.Dir(), statusFile), s.status); err != nil {
		return fmt.Errorf("storing the backup status: %w", err)
	}
	return nil
}

// deleteOld deletes all but the newest backups that are to be kept. It only considers files written by a schedule of
// this data folder, and never deletes the newest one known to be restorable. Backups dated in the future are kept but
// not counted, so that a clock error can't make them displace the new one.
func (s *Service) deleteOld(ctx context.Context, o *Schedule) error {
	if o.Keep == 0 {
		return nil
	}
	all, err := scheduledIn(ctx, o.Dir, s.Status().Installation)
	if err != nil {
		return err
	}
	now := s.Clock()
	all = slices.DeleteFunc(all, func(r *Record) bool { return r.Created.After(now) })
	passed := false
	var errs []error
	for i, r := range all {
		isNewestPassed := !passed && r.Drill != nil && r.Drill.Passed
		passed = passed || isNewestPassed
		if i < o.Keep || isNewestPassed {
			continue
		}
		if err := os.Remove(r.Path); err != nil {
			errs = append(errs, err)
			continue
		}
		errs = append(errs, os.Remove(r.Path+recordSuffix))
		s.Logger.Info("old backup deleted", "path", r.Path)
	}
	return errors.Join(errs...)
}
