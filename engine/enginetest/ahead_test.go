package enginetest_test

import (
	"context"
	"log/slog"
	"testing"

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
