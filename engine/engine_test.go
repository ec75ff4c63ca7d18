package engine_test

import (
	"context"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/engine/api"
	"github.com/scf-service/service/store"
)

// bench is an engine on an empty folder with its local person.
type bench struct {
	*engine.Engine
	by api.Caller
}

func newBench(t testing.TB) *bench {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	db, err := store.Open(ctx, store.Options{Dir: t.TempDir(), Schema: store.Tables, Clock: time.Now, NewID: func() string { return uuid.Must(uuid.NewV7()).String() }, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = t.TempDir()
	}
	e, err := engine.New(ctx, engine.Options{DB: db, Logger: log, Clock: time.Now, Version: "test", CacheDir: filepath.Join(cache, "scf-service-test"), LocalName: "Ada Auditor", LocalEmail: "ada@local"})
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
	p, err := e.Identity.Local(ctx, true)
	if err != nil {
		t.Fatal(err)
	}
	by, err := e.Identity.Caller(ctx, p, "")
	if err != nil {
		t.Fatal(err)
	}
	return &bench{e, by}
}

// assess makes an assessment over a folder and moves it to a state without gates before it.
func (b *bench) assess(t testing.TB, framework string, evidence fs.FS, to api.State) *api.Assessment {
	t.Helper()
	ctx := t.Context()
	in := &api.CreateAssessmentInput{}
	in.Body.Name, in.Body.FrameworkID = "Test", framework
	a, err := b.Assessments.Create(ctx, b.by, in)
	if err != nil {
		t.Fatal(err)
	}
	err = fs.WalkDir(evidence, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := evidence.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = b.Evidence.Upload(ctx, b.by, &api.UploadDocumentInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}, File: api.UploadFile{Filename: path, Content: f}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for a.State != to {
		next, _ := a.State.Next()
		move := &api.TransitionInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}}
		move.Body.TargetState = next.To
		if _, err := b.Assessments.Transition(ctx, b.by, move); err != nil {
			t.Fatalf("to %s: %v", next.To, err)
		}
		if a, err = b.Assessments.Get(ctx, b.by, &api.AssessmentInput{AssessmentID: a.ID}); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

func (b *bench) soaItems(t testing.TB, assessment string) []api.SoAItem {
	t.Helper()
	d, err := b.Assessments.Dossier(t.Context(), b.by, assessment)
	if err != nil {
		t.Fatal(err)
	}
	return d.SoAItems
}
