package backupschedule

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/google/uuid"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/testutil/updatelimit"
	"github.com/scf-service/service/store"
)

const acme = "018f0000-0000-7000-8000-00000000000a"

// fixture is a service on a small store with a clock that the test sets. The test runs the schedule's
// steps itself.
type fixture struct {
	*Service
	t    *testing.T
	time time.Time
	plan *Schedule
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{t: t, time: time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)}
	db, err := store.Open(t.Context(), store.Options{
		Dir: t.TempDir(), Schema: store.ServiceSchema, CheckUpdate: updatelimit.Check,
		Clock: func() time.Time { return f.time }, NewID: func() string { return uuid.Must(uuid.NewV7()).String() },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	err = db.Update(t.Context(), func(tx *store.Tx) error {
		return store.Organizations.Insert(tx, &api.Organization{
			Record: api.Record{ID: acme}, Name: "Acme", Slug: "acme", Status: "active",
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	f.plan = &Schedule{Dir: t.TempDir(), Every: 24 * time.Hour, Keep: 2}
	f.start(db)
	return f
}

// start starts a service, as a daemon that was restarted does.
func (f *fixture) start(db *store.DB) {
	f.Service = New(Options{DB: db, Clock: func() time.Time { return f.time }, Logger: slog.New(slog.DiscardHandler)})
	f.status.Schedule = f.plan
}

// runIfDue does what a tick does, and returns the names of the backups in the folder.
func (f *fixture) runIfDue(after time.Duration) (names []string) {
	f.t.Helper()
	f.time = f.time.Add(after)
	if f.isDue(f.plan) {
		f.backUpVerifyAndDeleteOld(f.t.Context(), f.plan)
	}
	found, err := filepath.Glob(filepath.Join(f.plan.Dir, "*.bak"))
	if err != nil {
		f.t.Fatal(err)
	}
	for _, path := range found {
		names = append(names, filepath.Base(path))
	}
	return names
}

func (f *fixture) expect(got []string, want ...string) {
	f.t.Helper()
	if strings.Join(got, " ") != strings.Join(want, " ") {
		f.t.Errorf("backups %v, want %v", got, want)
	}
}

func (f *fixture) expectSummary(level Level, words string) {
	f.t.Helper()
	if s := f.Status().Summarize(f.time); s.Level != level || !strings.Contains(s.Detail, words) {
		f.t.Errorf("summary %+v, want %s %q", s, level, words)
	}
	if stored, err := ReadStatus(f.DB.Dir()); err != nil || stored.Summarize(f.time) != f.Status().Summarize(f.time) {
		f.t.Errorf("the stored status differs: %+v, %v", stored, err)
	}
}

// TestSchedule checks when backups are made, also after a restart, with a changed clock and when files
// disappear.
func TestSchedule(t *testing.T) {
	f := newFixture(t)
	const first, second = "service-2026-11-22T100000Z.bak", "service-2026-11-23T100000Z.bak"
	f.expect(f.runIfDue(0), first)
	f.expectSummary(LevelOK, "last backup just now, last drill passed, ")
	f.expect(f.runIfDue(23*time.Hour), first)
	f.expectSummary(LevelOK, "last backup 23 h ago, last drill passed, ")
	f.start(f.DB)
	f.expect(f.runIfDue(time.Minute), first)
	f.expect(f.runIfDue(59*time.Minute), first, second)

	// A backup that has been deleted doesn't count, nor does one in another folder.
	if err := os.Remove(filepath.Join(f.plan.Dir, second)); err != nil {
		t.Fatal(err)
	}
	f.expectSummary(LevelWarning, second+" no longer exists")
	f.expect(f.runIfDue(time.Hour), first, "service-2026-11-23T110000Z.bak")
	f.plan.Dir = t.TempDir()
	f.expect(f.runIfDue(0), "service-2026-11-23T110000Z.bak")

	// Setting the clock back doesn't stop the backups.
	f.expect(f.runIfDue(-100*time.Hour), "service-2026-11-19T070000Z.bak", "service-2026-11-23T110000Z.bak")

	// A drill that crashed the program counts as failed.
	f.status.Last.Drill = nil
	f.expectUnverified()
	if !f.isDue(f.plan) {
		t.Error("an unverified backup counts")
	}
	// No daemon runs for two days.
	f.status.Last.Drill = &Drill{Passed: true, Records: 41203}
	f.time = f.status.Last.Created.Add(49 * time.Hour)
	const overdue = "last backup 2 days ago, last drill passed, 41,203 records equal; a backup is due every 24 h"
	if s := f.Status().Summarize(f.time); s.Level != LevelWarning || s.Detail != overdue || strings.Contains(s.Public, "41,203") {
		t.Errorf("overdue: %+v", s)
	}
}

func (f *fixture) expectUnverified() {
	f.t.Helper()
	if s := f.Status().Summarize(f.time); !strings.Contains(s.Detail, "not verified yet") {
		f.t.Errorf("unverified: %+v", s)
	}
}

// TestClockOnceAhead checks that backups from a time when the clock was ahead neither displace new ones nor are
// deleted.
func TestClockOnceAhead(t *testing.T) {
	f := newFixture(t)
	const years = 4 * 365 * 24 * time.Hour
	f.runIfDue(years)
	f.runIfDue(24 * time.Hour)
	ahead := []string{"service-2030-11-21T100000Z.bak", "service-2030-11-22T100000Z.bak"}
	f.expect(f.runIfDue(-years), append([]string{"service-2026-11-23T100000Z.bak"}, ahead...)...)
	f.runIfDue(24 * time.Hour)
	f.expect(f.runIfDue(24*time.Hour), append([]string{"service-2026-11-24T100000Z.bak", "service-2026-11-25T100000Z.bak"}, ahead...)...)
}

// TestFailedBackup checks that a failure is reported and retried, and that a missing folder is not created, because
// it may be on a drive that isn't mounted.
func TestFailedBackup(t *testing.T) {
	f := newFixture(t)
	f.expect(f.runIfDue(0), "service-2026-11-22T100000Z.bak")
	f.plan.Dir = filepath.Join(t.TempDir(), "not", "mounted")
	f.expect(f.runIfDue(time.Hour))
	f.expectSummary(
		LevelFailed, "the backup failed just now: "+f.plan.Dir+" is not a folder; create it, or mount its drive; last backup 1 h ago",
	)
	if s := f.Status().Summarize(f.time); strings.Contains(s.Public, f.plan.Dir) {
		t.Errorf("a path is shown to everybody: %s", s.Public)
	}
	if _, err := os.Stat(filepath.Dir(f.plan.Dir)); err == nil {
		t.Error("a folder was created")
	}
	if f.isDue(f.plan) || f.FailureCount() != 1 {
		t.Error("it is tried again at once, or not counted")
	}
	f.plan.Dir = t.TempDir()
	f.expect(f.runIfDue(retryInterval+time.Minute), "service-2026-11-22T111100Z.bak")
	f.expectSummary(LevelOK, "last drill passed")
}

// TestDeleteOld checks that only backups made by a schedule of this database are deleted, and never the newest one
// that can be restored.
func TestDeleteOld(t *testing.T) {
	f := newFixture(t)
	dir := f.plan.Dir
	write := func(name string, content []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f.expect(f.runIfDue(0), "service-2026-11-22T100000Z.bak")
	ours, err := os.ReadFile(filepath.Join(dir, "service-2026-11-22T100000Z.bak"))
	if err != nil {
		t.Fatal(err)
	}
	record, err := os.ReadFile(filepath.Join(dir, "service-2026-11-22T100000Z.bak.json"))
	if err != nil {
		t.Fatal(err)
	}
	f.expectRestoredCopyDeletesOnlyItsOwn()
	foreign := []byte(strings.Replace(string(record), f.Status().Installation, "another-installation", 1))
	// Each file is older than the schedule's backups and differs from them in one respect.
	write("service-2020-01-01T000000Z.bak", ours) // no record: written by hand
	write("service-2020-01-02T000000Z.bak", ours) // another service's
	write("service-2020-01-02T000000Z.bak.json", foreign)
	write("service-2020-01-03T000000Z.bak", []byte("notes")) // not a backup
	write("service-2020-01-03T000000Z.bak.json", record)
	write("service-2020-01-04.bak", ours) // another name
	write("service-2020-01-04.bak.json", record)
	write("service-2020-01-05T000000Z.bak", ours) // a record that can't be read
	write("service-2020-01-05T000000Z.bak.json", []byte("{"))
	if err := os.Symlink("service-2020-01-01T000000Z.bak", filepath.Join(dir, "service-2020-01-06T000000Z.bak")); err != nil {
		t.Skip(err)
	}
	write("service-2020-01-06T000000Z.bak.json", record)
	others := []string{
		"service-2020-01-01T000000Z.bak", "service-2020-01-02T000000Z.bak", "service-2020-01-03T000000Z.bak", "service-2020-01-04.bak",
		"service-2020-01-05T000000Z.bak", "service-2020-01-06T000000Z.bak",
	}
	day := 24 * time.Hour
	f.expect(f.runIfDue(day), append(others, "service-2026-11-22T100000Z.bak", "service-2026-11-23T100000Z.bak")...)
	f.expect(f.runIfDue(day), append(others, "service-2026-11-23T100000Z.bak", "service-2026-11-24T100000Z.bak")...)

	// From now on a document's file is missing, so the drills fail; the last good backup stays.
	err = f.DB.Update(t.Context(), func(tx *store.Tx) error {
		return store.Documents.Insert(tx, acme, &store.Document{Document: api.Document{
			TenantRecord: api.TenantRecord{Record: api.Record{ID: "018f0000-0000-7000-8000-00000000000d"}, OrganizationID: acme},
			AssessmentID: "018f0000-0000-7000-8000-00000000000e", Filename: "policy.md", SHA256: strings.Repeat("ab", 32),
		}})
	})
	if err != nil {
		t.Fatal(err)
	}
	f.runIfDue(day)
	f.expectSummary(
		LevelFailed,
		`last drill failed: the data is damaged: 1 problem, such as Acme: document "policy.md": the file is missing`,
	)
	f.runIfDue(day)
	f.expect(
		f.runIfDue(day),
		append(others, "service-2026-11-24T100000Z.bak", "service-2026-11-26T100000Z.bak", "service-2026-11-27T100000Z.bak")...,
	)
	if f.FailureCount() != 3 {
		t.Errorf("%d failures", f.FailureCount())
	}
}

// expectRestoredCopyDeletesOnlyItsOwn makes a backup from a copy of the data folder restored from the last one, in the
// same folder: each copy only deletes its own.
func (f *fixture) expectRestoredCopyDeletesOnlyItsOwn() {
	f.t.Helper()
	o := f.DB.TrialRestoreOptions()
	o.Dir = f.t.TempDir()
	if _, err := store.Restore(f.t.Context(), f.Status().Last.Path, o, store.ReadOptions{}); err != nil {
		f.t.Fatal(err)
	}
	db, err := store.Open(f.t.Context(), o)
	if err != nil {
		f.t.Fatal(err)
	}
	defer db.Close()
	copied := &fixture{t: f.t, time: f.time, plan: &Schedule{Dir: f.plan.Dir, Every: f.plan.Every, Keep: 1}}
	copied.start(db)
	copied.runIfDue(time.Hour)
	const ours, theirs = "service-2026-11-22T100000Z.bak", "service-2026-11-24T110000Z.bak"
	f.expect(copied.runIfDue(48*time.Hour), ours, theirs)
	for _, name := range []string{theirs, theirs + recordSuffix} {
		if err := os.Remove(filepath.Join(f.plan.Dir, name)); err != nil {
			f.t.Fatal(err)
		}
	}
}

// TestCopiedFolder checks that a copy of a data folder, including its status, neither deletes backups of the original
// nor shows them as its own, and that the original continues after the owner or mode of its files has changed.
func TestCopiedFolder(t *testing.T) {
	f := newFixture(t)
	const first, second, third = "service-2026-11-22T100000Z.bak", "service-2026-11-23T100000Z.bak", "service-2026-11-23T100001Z.bak"
	f.plan.Keep = 1
	f.runIfDue(0)
	o := f.DB.TrialRestoreOptions()
	o.Dir = filepath.Join(t.TempDir(), "copy")
	if err := errors.Join(f.DB.Close(), os.CopyFS(o.Dir, os.DirFS(f.DB.Dir()))); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	copied := &fixture{t: t, time: f.time, plan: f.plan}
	copied.start(db)
	if s := copied.Status(); s.Last != nil || s.Installation == f.Status().Installation {
		t.Errorf("the copy has the status %+v", s)
	}
	f.expect(copied.runIfDue(24*time.Hour), first, second)

	o.Dir = f.DB.Dir()
	err = filepath.WalkDir(o.Dir, func(path string, d os.DirEntry, err error) error { return errors.Join(err, os.Chmod(path, 0o700)) })
	if err != nil {
		t.Fatal(err)
	}
	if db, err = store.Open(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	f.start(db)
	f.expect(f.runIfDue(24*time.Hour), second, third) // in the same second as the copy
}

// TestDamagedData checks that a schedule saves what isn't damaged, and reports that the backup is incomplete.
func TestDamagedData(t *testing.T) {
	f := newFixture(t)
	blob, err := f.DB.Blobs().Put(t.Context(), strings.NewReader("evidence"), 100)
	if err != nil {
		t.Fatal(err)
	}
	err = f.DB.Update(t.Context(), func(tx *store.Tx) error {
		return store.Documents.Insert(tx, acme, &store.Document{Document: api.Document{
			TenantRecord: api.TenantRecord{Record: api.Record{ID: "018f0000-0000-7000-8000-00000000000d"}, OrganizationID: acme},
			AssessmentID: "018f0000-0000-7000-8000-00000000000e", Filename: "policy.md", SHA256: blob.SHA256,
		}})
	})
	path := filepath.Join(f.DB.Dir(), "blobs", blob.SHA256[:2], blob.SHA256[2:])
	if err := errors.Join(err, os.WriteFile(path, []byte("evidencE"), 0o600)); err != nil {
		t.Fatal(err)
	}
	const first = "service-2026-11-22T100000Z.bak"
	f.expect(f.runIfDue(0), first)
	f.expectSummary(LevelFailed, `last drill failed: the data is damaged: 1 problem, such as Acme: document "policy.md": the file is missing`)
	v, err := Verify(t.Context(), filepath.Join(f.plan.Dir, first), f.DB.TrialRestoreOptions(), store.ReadOptions{})
	if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(v.Damage.String(), "damaged files (left out): 1") {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestKilledBetweenBackupAndRecord checks that a backup after which the program was killed is recognized as one of
// the schedule, so that it is deleted in turn, and that a failed backup leaves no record.
func TestKilledBetweenBackupAndRecord(t *testing.T) {
	f := newFixture(t)
	f.runIfDue(0)
	first := f.Status().Last
	incomplete := Record{Path: first.Path, Installation: first.Installation, Database: first.Database, Created: first.Created}
	if err := incomplete.save(); err != nil {
		t.Fatal(err)
	}
	f.runIfDue(24 * time.Hour)
	f.expect(f.runIfDue(24*time.Hour), "service-2026-11-23T100000Z.bak", "service-2026-11-24T100000Z.bak")
	if err := f.DB.Close(); err != nil {
		t.Fatal(err)
	}
	f.time = f.time.Add(24 * time.Hour)
	if err := f.writeAndVerify(t.Context(), f.plan); err == nil {
		t.Error("a closed store was backed up")
	}
	if left, err := filepath.Glob(filepath.Join(f.plan.Dir, "*25T*")); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// TestVerifyReadsTheAuditTrail checks that a backup of data with a changed audit trail fails the drill.
func TestVerifyReadsTheAuditTrail(t *testing.T) {
	f := newFixture(t)
	err := f.DB.Update(t.Context(), func(tx *store.Tx) error {
		return store.Audit.Insert(tx, acme, &api.AuditEvent{OrganizationID: acme, Sequence: 1, Hash: strings.Repeat("0", 64)})
	})
	if err != nil {
		t.Fatal(err)
	}
	f.runIfDue(0)
	f.expectSummary(LevelFailed, "Acme: audit record 1: ")
}

// TestEncryptedBackups checks that the drill reads the encrypted file itself with a temporary key, for both kinds of
// age keys.
func TestEncryptedBackups(t *testing.T) {
	f := newFixture(t)
	classic, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	hybrid, err := age.GenerateHybridIdentity()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		recipient age.Recipient
		identity  age.Identity
	}{{classic.Recipient(), classic}, {hybrid.Recipient(), hybrid}} {
		f.plan.Recipients = []age.Recipient{one.recipient}
		f.runIfDue(24 * time.Hour)
		f.expectSummary(LevelOK, "last drill passed")
		path := f.Status().Last.Path
		if _, err := Verify(t.Context(), path, f.DB.TrialRestoreOptions(), store.ReadOptions{}); !errors.Is(err, store.ErrEncrypted) {
			t.Errorf("without a key: %v", err)
		}
		read := store.ReadOptions{Identities: []age.Identity{one.identity}}
		v, err := Verify(t.Context(), path, f.DB.TrialRestoreOptions(), read)
		if err != nil || v.RecordCount() != f.Status().Last.Drill.Records || len(v.Organizations) != 1 || v.Organizations[0] != "Acme" {
			t.Errorf("with the key: %+v, %v", v, err)
		}
	}
}

// TestStart checks that a schedule runs at the start and at each tick until Close, and that Start without a schedule
// leaves a note only if there was a schedule before.
func TestStart(t *testing.T) {
	f := newFixture(t)
	f.status = Status{}
	if err := f.Start(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(f.DB.Dir(), statusFile)); err == nil {
		t.Error("a folder that never had a schedule has a status")
	}
	ticks := make(chan time.Time)
	f.NewTicker = func(time.Duration) (<-chan time.Time, func()) { return ticks, func() {} }
	if err := f.Start(t.Context(), f.plan); err != nil {
		t.Fatal(err)
	}
	ticks <- f.time // received only after the first backup
	ticks <- f.time // and the second check
	f.Close()
	f.expect(f.runIfDue(0), "service-2026-11-22T100000Z.bak")
	f.start(f.DB)
	if err := f.Start(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	f.expectSummary(LevelNote, "last backup just now; no schedule")

	// After a restart with corrected settings, the schedule doesn't wait for the retry time.
	f.status.Failure = &Failure{At: f.time, Problem: "not mounted"}
	f.start(f.DB)
	f.NewTicker = func(time.Duration) (<-chan time.Time, func()) { return ticks, func() {} }
	f.plan.Dir = t.TempDir()
	if err := f.Start(t.Context(), f.plan); err != nil {
		t.Fatal(err)
	}
	ticks <- f.time
	f.Close()
	f.expectSummary(LevelOK, "last drill passed")
}

// TestWrite checks that a backup on request doesn't count as one of the schedule, and that an interrupted one leaves
// no file.
func TestWrite(t *testing.T) {
	f := newFixture(t)
	f.status = Status{}
	f.expectEmptySummary()
	path := filepath.Join(t.TempDir(), "acme.bak")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Write(ended, path, store.BackupOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if _, err := f.Write(t.Context(), path, store.BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	f.expectSummary(LevelNote, "last backup just now; no schedule")
	if !f.isDue(f.plan) {
		t.Error("a backup on request counts for the schedule")
	}
	// A folder in place of the status file prevents the service from storing the status.
	status := filepath.Join(f.DB.Dir(), statusFile)
	if err := errors.Join(os.Remove(status), os.MkdirAll(filepath.Join(status, "x"), 0o700)); err != nil {
		t.Fatal(err)
	}
	_, err := f.Write(t.Context(), path+"2", store.BackupOptions{})
	if err == nil || !strings.Contains(err.Error(), path+"2 was written, but") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(path + "2"); err != nil {
		t.Error(err)
	}
}

func (f *fixture) expectEmptySummary() {
	f.t.Helper()
	if s := f.Status().Summarize(f.time); s.Level != LevelNote || s.Detail != "no backup yet, and no schedule" {
		f.t.Errorf("%+v", s)
	}
}
