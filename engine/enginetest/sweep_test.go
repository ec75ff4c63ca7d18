package enginetest_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/engine/enginetest"
	"github.com/scf-service/service/engine/idempotency"
	"github.com/scf-service/service/internal/testutil/updatelimit"
	"github.com/scf-service/service/store"
)

// clock is a clock moved by the test.
type clock struct{ at atomic.Int64 }

func (c *clock) now() time.Time       { return time.Unix(c.at.Load(), 0).UTC() }
func (c *clock) pass(d time.Duration) { c.at.Add(int64(d / time.Second)) }

// openEngine returns an engine on an empty folder with the test's clock and ticks.
func openEngine(t *testing.T, o engine.Options) (*engine.Engine, *store.DB, *clock) {
	t.Helper()
	c := &clock{}
	c.at.Store(time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC).Unix())
	ctx := context.WithoutCancel(t.Context())
	db, err := store.Open(
		ctx,
		store.Options{
			Dir:         t.TempDir(),
			Schema:      store.ServiceSchema,
			CheckUpdate: updatelimit.Check,
			Clock:       c.now,
			NewID:       enginetest.NewID,
			Logger:      enginetest.WarningLogger(),
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	if o.Logger == nil {
		o.Logger = enginetest.WarningLogger()
	}
	if o.CacheDir == "" {
		o.CacheDir, o.Build = enginetest.CacheDir(t), enginetest.EmbedderSourceHash(t)
	}
	o.DB, o.Clock, o.Version = db, c.now, "test"
	o.LocalName, o.LocalEmail = "Ada Auditor", "ada@local"
	e, err := engine.New(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Start(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return e, db, c
}

// TestSweeping checks that expired records, and no others, are deleted every hour, and that nothing
// ticks after Close.
func TestSweeping(t *testing.T) {
	ticks, asked, stopped := make(chan time.Time), make(chan time.Duration, 1), make(chan struct{})
	e, db, c := openEngine(t, engine.Options{NewTicker: func(d time.Duration) (<-chan time.Time, func()) {
		if d < time.Minute { // the worker that looks for workflow runs
			return nil, func() {}
		}
		asked <- d
		return ticks, func() { close(stopped) }
	}})
	if d := <-asked; d != time.Hour {
		t.Errorf("it sweeps every %s", d)
	}
	ctx := t.Context()
	if _, err := e.Identity.EnsureAdminWithEmail(ctx, "Acme", "a@acme.example", "four words make one"); err != nil {
		t.Fatal(err)
	}
	signIn := func() {
		in := &api.SignInInput{}
		in.Body.Email, in.Body.Password = "a@acme.example", "four words make one"
		if _, err := e.Identity.SignIn(ctx, api.Caller{}, in); err != nil {
			t.Fatal(err)
		}
	}
	keepAnswer := func(key string) {
		_, done, err := e.Idempotency.Begin(ctx, idempotency.Request{OrganizationID: "o", Operation: "op", Key: key, Fingerprint: "f"})
		if err == nil {
			err = done(&idempotency.Response{Status: 200})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	count := func() (sessions, answers int) {
		err := db.View(ctx, func(tx *store.Tx) (err error) {
			if sessions, err = store.Sessions.Count(tx); err != nil {
				return err
			}
			answers, err = store.IdempotentReplies.Count(tx)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return sessions, answers
	}
	// A second tick is received only after the sweep of the first.
	sweep := func() { ticks <- c.now(); ticks <- c.now() }

	signIn()
	keepAnswer("one")
	sweep()
	if s, a := count(); s != 1 || a != 1 {
		t.Errorf("%d sessions and %d answers are left of what lasts", s, a)
	}
	c.pass(13 * time.Hour)
	sweep()
	if s, a := count(); s != 0 || a != 1 {
		t.Errorf("after 13 hours, %d sessions and %d answers are left", s, a)
	}
	c.pass(12 * time.Hour)
	signIn()
	keepAnswer("two")
	sweep()
	if s, a := count(); s != 1 || a != 1 {
		t.Errorf("after 25 hours, %d sessions and %d answers are left", s, a)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	<-stopped
	select {
	case ticks <- c.now():
		t.Error("somebody waits for ticks after Close")
	default:
	}
}

// TestSweepingFiles checks that the files of deleted documents are deleted one or two days later, and that
// files named by a record stay.
func TestSweepingFiles(t *testing.T) {
	ticks := make(chan time.Time)
	e, db, c := openEngine(t, engine.Options{NewTicker: func(d time.Duration) (<-chan time.Time, func()) {
		if d < time.Minute {
			return nil, func() {}
		}
		return ticks, func() {}
	}})
	ctx := t.Context()
	by := localUser(t, e)
	in := &api.CreateAssessmentInput{}
	in.Body.Name = "Acme"
	a, err := e.Assessments.Create(ctx, by, in)
	if err != nil {
		t.Fatal(err)
	}
	put := func(name, text string) *api.Document {
		d, err := e.Evidence.Upload(
			ctx,
			by,
			&api.UploadDocumentInput{
				AssessmentInput: api.AssessmentInput{AssessmentID: a.ID},
				File:            api.UploadFile{Filename: name, Content: strings.NewReader(text)},
			},
		)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	kept, gone := put("kept.md", "# Kept\n\nEvery person has one account."), put("gone.md", "# Gone\n\nLaptops are encrypted.")
	if err := e.Evidence.WaitForDocuments(ctx, by, a.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Evidence.Delete(ctx, by, &api.DocumentInput{DocumentID: gone.ID}); err != nil {
		t.Fatal(err)
	}
	there := func(sha string) bool {
		f, _, err := db.Blobs().Open(t.Context(), sha)
		if err == nil {
			f.Close()
		}
		return err == nil
	}
	sweep := func() { ticks <- c.now(); ticks <- c.now() }
	c.pass(23 * time.Hour)
	sweep()
	if !there(gone.SHA256) {
		t.Error("the file of a document that was deleted just now is gone")
	}
	c.pass(25 * time.Hour)
	put("again.md", "# Again\n\nSomething new.")
	sweep()
	if there(gone.SHA256) || !there(kept.SHA256) {
		t.Errorf("deleted: %v, kept: %v", there(gone.SHA256), there(kept.SHA256))
	}
	if _, err := e.Catalog.Snapshot(ctx, a.SCFVersionID); err != nil {
		t.Errorf("the catalog is gone: %v", err)
	}
}

// TestCloseWithoutStart checks that an engine can be closed without having been started, and closed
// twice.
func TestCloseWithoutStart(t *testing.T) {
	ctx := context.WithoutCancel(t.Context())
	db, err := store.Open(
		ctx,
		store.Options{
			Dir:         t.TempDir(),
			Schema:      store.ServiceSchema,
			CheckUpdate: updatelimit.Check,
			Clock:       time.Now,
			NewID:       enginetest.NewID,
			Logger:      enginetest.WarningLogger(),
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	e, err := engine.New(ctx, engine.Options{DB: db, Logger: enginetest.WarningLogger(), Clock: time.Now, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestHealthDetail checks that each component has a health check that reports failures.
func TestHealthDetail(t *testing.T) {
	e, db, _ := openEngine(t, engine.Options{})
	names := func() (out []string, ok bool) {
		h, err := e.HealthDetail(t.Context(), api.Caller{TraceID: "x"}, &api.HealthDetailInput{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range h.Checks {
			state := c.Name
			if !c.OK {
				state += " failed: " + c.Detail
			}
			out = append(out, state)
		}
		return out, h.OK
	}
	all, ok := names()
	want := []string{"store", "index", "catalog", "model", "mail", "webhooks", "disk"}
	if !ok || len(all) != len(want) {
		t.Fatalf("%v, %v", ok, all)
	}
	for i := range want {
		if all[i] != want[i] {
			t.Errorf("check %d is %q, not %q", i, all[i], want[i])
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if all, ok := names(); ok || all[0] == "store" {
		t.Errorf("with the store closed: %v, %v", ok, all)
	}
}

// TestDeepHealthCheck checks that every file and record is read on request, and by whom.
func TestDeepHealthCheck(t *testing.T) {
	e, db, _ := openEngine(t, engine.Options{})
	ctx, local := t.Context(), api.Caller{Local: true}
	check := func() map[string]api.HealthCheck {
		h, err := e.HealthDetail(ctx, local, &api.HealthDetailInput{Deep: "true"})
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]api.HealthCheck{}
		for _, c := range h.Checks {
			found[c.Name] = c
		}
		return found
	}
	if got := check(); !got["records"].OK || !got["files"].OK {
		t.Errorf("%+v", got)
	}
	var sha string
	err := db.View(ctx, func(tx *store.Tx) error {
		for v, err := range store.CatalogVersions.Scan(tx) {
			if err != nil {
				return err
			}
			sha = v.SnapshotBlob
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(db.Dir(), "blobs", sha[:2], sha[2:]), 100); err != nil {
		t.Fatal(err)
	}
	if got := check()["files"]; got.OK || !strings.Contains(got.Detail, "1 of ") || !strings.Contains(got.Detail, `catalog `) ||
		!strings.Contains(got.Detail, sha) {
		t.Errorf("with a truncated file: %+v", got)
	}
	if err := db.Blobs().Delete(t.Context(), sha); err != nil {
		t.Fatal(err)
	}
	if got := check()["files"]; got.OK || !strings.Contains(got.Detail, sha) {
		t.Errorf("with a missing file: %+v", got)
	}
	for name, by := range map[string]api.Caller{"a member": {Role: api.RoleOwner}, "an administrator": {PlatformAdmin: true}} {
		if _, err := e.HealthDetail(ctx, by, &api.HealthDetailInput{Deep: "true"}); !api.IsCode(err, api.CodeForbidden) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestAlteredFileIsRefused checks that a document whose file was altered or deleted can be neither downloaded nor
// exported, and that the error names it and says what to do.
func TestAlteredFileIsRefused(t *testing.T) {
	e, db, _ := openEngine(t, engine.Options{})
	ctx := t.Context()
	by := localUser(t, e)
	in := &api.CreateAssessmentInput{}
	in.Body.Name = "Acme"
	a, err := e.Assessments.Create(ctx, by, in)
	if err != nil {
		t.Fatal(err)
	}
	d, err := e.Evidence.Upload(ctx, by, &api.UploadDocumentInput{
		AssessmentInput: api.AssessmentInput{AssessmentID: a.ID},
		File:            api.UploadFile{Filename: "access.md", Content: strings.NewReader("# Access\n\nEvery person has one account.")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Evidence.WaitForDocuments(ctx, by, a.ID); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(db.Dir(), "blobs", d.SHA256[:2], d.SHA256[2:])
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func() error{
		"two bytes": func() error { return os.WriteFile(file, append([]byte("XX"), content[2:]...), 0o600) },
		"truncated": func() error { return os.WriteFile(file, content[:len(content)-1], 0o600) },
		"deleted":   func() error { return os.Remove(file) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		_, downloadErr := e.Evidence.Download(ctx, by, &api.DocumentInput{DocumentID: d.ID})
		_, exportErr := e.Archives.Export(ctx, by, &api.AssessmentInput{AssessmentID: a.ID})
		for what, err := range map[string]error{"download": downloadErr, "export": exportErr} {
			if text := engine.ToAPIError(err).Message; err == nil || !strings.Contains(text, `document "access.md"`) ||
				!strings.Contains(text, "restore a backup") {
				t.Errorf("%s, %s: got %s", name, what, text)
			}
		}
	}
}
