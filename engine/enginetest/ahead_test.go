package enginetest_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine"
)

// logFunc is a log handler that calls a function with each message.
type logFunc struct {
	slog.Handler
	hear func(message string)
}

func (h logFunc) Enabled(context.Context, slog.Level) bool { return true }
func (h logFunc) Handle(_ context.Context, r slog.Record) error {
	h.hear(r.Message)
	return nil
}

// TestTrainAhead checks that a daemon trains the embedders of the active catalog and of a newly
// imported one in advance, and reports the progress.
func TestTrainAhead(t *testing.T) {
	trained := make(chan *api.EmbeddingStatus, 2)
	var e *engine.Engine
	log := slog.New(logFunc{slog.DiscardHandler, func(message string) {
		if message != "trained the embedder" {
			return
		}
		status, err := e.Evidence.EmbeddingStatus(context.Background(), api.Caller{OrganizationID: "o"}, nil)
		if err != nil {
			t.Error(err)
		}
		trained <- status
	}})
	e, _, _ = openEngine(t, engine.Options{Logger: log, CacheDir: t.TempDir()}) // trains, because the cache is empty
	if err := e.PretrainEmbedders(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := <-trained; s.Status != "training" || s.Training == nil || s.Training.Label != "starter-1" || s.Training.Progress != 100 {
		t.Errorf("%+v, %+v", s, s.Training)
	}
	source := `{"format":"service-catalog","format_version":1,"label":"ours","domains":[{"code":"IAC","name":"Access"}],"frameworks":[],
		"controls":[{"code":"IAC-01","title":"Who is who","description":"We know the people who use our systems."},
		{"code":"IAC-06","title":"Second factor","description":"We ask people twice who they are."}]}`
	in := api.ImportSourceInput{Body: api.ImportSource{Source: []byte(source)}}
	if _, err := e.Catalog.ImportStructured(t.Context(), api.Caller{OrganizationID: "o"}, &in); err != nil {
		t.Fatal(err)
	}
	if s := <-trained; s.Training == nil || s.Training.Label != "ours" {
		t.Errorf("%+v, %+v", s, s.Training)
	}
}

// TestWorkDuringTraining checks that documents are read and assessments moved while search is being trained on their
// catalog, that the passages get their vectors afterwards, and that a training that was interrupted is repeated.
func TestWorkDuringTraining(t *testing.T) {
	training, resume := make(chan struct{}, 3), make(chan struct{})
	var hold atomic.Bool
	log := slog.New(logFunc{slog.DiscardHandler, func(message string) {
		if message == "trained the embedder" {
			isHeld := hold.Load() // before the test is told, which then sets it for the next training
			training <- struct{}{}
			if isHeld {
				<-resume
			}
		}
	}})
	e, db, _ := openEngine(t, engine.Options{Logger: log})
	if err := e.PretrainEmbedders(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-training // on the starter catalog
	b := &bench{e, localUser(t, e)}
	hold.Store(true)
	source := `{"format":"service-catalog","format_version":1,"label":"ours","domains":[{"code":"IAC","name":"Access"}],"frameworks":[],
		"controls":[{"code":"IAC-01","title":"Who is who","description":"We know the people who use our systems."},
		{"code":"IAC-06","title":"Second factor","description":"We ask people twice who they are."}]}`
	in := api.ImportSourceInput{Body: api.ImportSource{Source: []byte(source)}}
	if _, err := e.Catalog.ImportStructured(t.Context(), b.by, &in); err != nil {
		t.Fatal(err)
	}
	<-training // and it doesn't end until resume is closed
	latest := func(e *engine.Engine) *api.InstalledCatalog {
		v, err := e.Catalog.GetLatest(t.Context(), b.by, &api.None{})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if v := latest(e); v.Label != "ours" || v.SearchStatus != api.SearchTraining || v.TrainingProgress == nil {
		t.Errorf("%+v", v)
	}
	empty := b.assess(t, "", nil, api.StateScopeDrafted)
	a := b.assess(t, "", fstest.MapFS{"access.md": {Data: []byte("# Access\n\nWe ask people twice who they are, with a second factor.")}},
		api.StateFrameworkSelected)
	if empty.State != api.StateScopeDrafted || a.State != api.StateFrameworkSelected {
		t.Errorf("%s, %s", empty.State, a.State)
	}
	status := func(b *bench) *api.EmbeddingStatus {
		s, err := b.Evidence.EmbeddingStatus(t.Context(), b.by, nil)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if s := status(b); s.Total == 0 || s.Pending != s.Total || s.Status != "training" {
		t.Errorf("%+v", s)
	}

	hold.Store(false)
	closed := make(chan error)
	go func() { closed <- e.Close() }() // interrupts the training
	close(resume)
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
	again, err := engine.New(t.Context(), engine.Options{DB: db, Logger: log, Clock: time.Now, Version: "test"})
	if err == nil {
		err = again.Start(context.WithoutCancel(t.Context()))
	}
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if err := again.PretrainEmbedders(t.Context()); err != nil {
		t.Fatal(err)
	}
	b = &bench{again, b.by}
	found, err := b.Evidence.Search(t.Context(), b.by, &api.SearchInput{Body: api.SearchBody{Query: "second factor", AssessmentID: a.ID}})
	if err != nil {
		t.Fatal(err)
	}
	if s := status(b); len(found.Data) == 0 || s.Pending != 0 || s.Embedded != s.Total || latest(again).SearchStatus != api.SearchReady {
		t.Errorf("%d found, %+v, %+v", len(found.Data), s, latest(again))
	}
}

// TestTransitionsDontTrain checks that no transition before the drafts waits for an embedder.
func TestTransitionsDontTrain(t *testing.T) {
	log := slog.New(logFunc{slog.DiscardHandler, func(message string) {
		if message == "trained the embedder" {
			t.Error("an embedder was trained")
		}
	}})
	e, _, _ := openEngine(t, engine.Options{Logger: log, CacheDir: t.TempDir(), LocalName: "Ada Auditor", LocalEmail: "ada@local"})
	b := &bench{e, localUser(t, e)}
	a := b.assess(t, "lgpd", nil, api.StateFrameworkSelected)
	if a.State != api.StateFrameworkSelected {
		t.Error(a.State)
	}
}
