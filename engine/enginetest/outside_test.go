package enginetest_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/engine/evidence/embed"
	"github.com/scf-service/service/engine/evidence/embed/remote"
)

// slowModel implements ollama's protocol. Each request for vectors needs a permit; it can be made unavailable, and
// replaced by an untrained model under the same name.
type slowModel struct {
	permits   chan struct{}
	away      atomic.Bool
	untrained atomic.Bool
	tests     atomic.Int64
}

func (m *slowModel) digest() string {
	if m.untrained.Load() {
		return "sha256:b"
	}
	return "sha256:a"
}

func (m *slowModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/api/tags" {
		_ = json.NewEncoder(w).Encode(map[string]any{"models": []map[string]any{{"name": "tiny:latest", "digest": m.digest()}}})
		return
	}
	var q struct{ Input []string }
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &q)
	select {
	case <-m.permits:
	case <-r.Context().Done():
		return
	}
	if m.away.Load() {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	var vectors [][]float32
	for _, t := range q.Input {
		v := make([]float32, 50)
		v[0] = 1
		if strings.Contains(strings.ToLower(t), "backup") || strings.Contains(t, "parrot") {
			v[0], v[1] = 0, 1 // this model gives each such text the same meaning
		}
		for i, known := range embed.Questions() {
			if t == known.Text || t == known.Answer {
				v[0], v[1], v[2+i] = 0, 0, 1
			}
			if t == known.Answer && i == len(embed.Questions())-1 {
				m.tests.Add(1)
			}
		}
		if m.untrained.Load() {
			v = make([]float32, 50)
			v[len(t)%50] = 1
		}
		vectors = append(vectors, v)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"embeddings": vectors})
}

// TestOutsideEmbedder checks that an external model is used once all passages have its vectors,
// that the built-in embedder is used until then and while it is unavailable, and that all responses
// and statistics show which one it is.
func TestOutsideEmbedder(t *testing.T) {
	model := &slowModel{permits: make(chan struct{}, 1000)}
	server := httptest.NewServer(model)
	t.Cleanup(server.Close)
	chosen, err := remote.New(remote.Options{Model: "ollama/tiny", URL: server.URL, RetryPause: time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	told, embedded := make(chan string, 100), make(chan string, 100)
	log := slog.New(logFunc{slog.DiscardHandler, func(message string) {
		switch {
		case message == "embedded a document":
			embedded <- message
		case strings.Contains(message, "using the built-in"):
			told <- message
		}
	}})
	e, _, clock := openEngine(t, engine.Options{Logger: log, Embedder: chosen})
	ctx := t.Context()
	by := localUser(t, e)
	b := &bench{Engine: e, by: by}
	a := b.assess(t, "iso-27001-2022", fstest.MapFS{
		"backup.md": {Data: []byte("# Backup\n\nBackups are made each night and restored for a test each quarter.\n")},
		"access.md": {Data: []byte("# Access\n\nManagers review the access of their people each quarter.\n")},
	}, api.StateDraft)
	if err := e.Evidence.WaitForDocuments(ctx, by, a.ID); err != nil {
		t.Fatal(err)
	}

	look := func() (*api.KBStats, *api.EmbeddingStatus, *api.SearchAnswer) {
		t.Helper()
		stats, err := e.Evidence.Stats(ctx, b.by, nil)
		if err != nil {
			t.Fatal(err)
		}
		status, err := e.Evidence.EmbeddingStatus(ctx, b.by, nil)
		if err != nil {
			t.Fatal(err)
		}
		found, err := e.Evidence.Search(ctx, b.by, &api.SearchInput{Body: api.SearchBody{Query: "parrot", AssessmentID: a.ID}})
		if err != nil {
			t.Fatal(err)
		}
		return stats, status, found
	}
	stats, status, found := look()
	if stats.Embedder != "ollama/tiny" || stats.Embedded != 0 || stats.Chunks != 2 || !strings.HasPrefix(stats.ServedBy, "builtin-") ||
		status.Status != "embedding" ||
		status.Pending != 2 {
		t.Errorf("before it answered: %+v %+v", stats, status)
	}
	if !strings.HasPrefix(found.Embedder, "builtin-") {
		t.Errorf("before it answered, %s did", found.Embedder)
	}
	for range 100 {
		model.permits <- struct{}{}
	}
	<-embedded
	<-embedded
	stats, status, found = look()
	if stats.ServedBy != "ollama/tiny" || stats.EmbeddingDimensions != 50 || *status.TestScore != 1 || status.Pending != 0 || status.UnavailableReason != nil {
		t.Errorf("when all is embedded: %+v %+v", stats, status)
	}
	if found.Embedder != "ollama/tiny" || len(found.Data) == 0 || found.Data[0].Filename != "backup.md" {
		t.Errorf("when all is embedded: %+v", found)
	}
	if n := model.tests.Load(); n != 1 {
		t.Errorf("tested %d times", n)
	}

	// An untrained model under the same name is rejected. Once the trained model is back, everything is embedded
	// again.
	model.untrained.Store(true)
	clock.pass(2 * time.Minute)
	_, _, found = look()
	<-told
	stats, status, _ = look()
	if !strings.HasPrefix(found.Embedder, "builtin-") || stats.Embedded != 0 || *status.TestScore > 0.7 ||
		!strings.Contains(*status.UnavailableReason, "the embedding model was rejected: ollama/tiny scored") {
		t.Errorf("an untrained model: %s, %+v %+v", found.Embedder, stats, status)
	}
	model.untrained.Store(false)
	clock.pass(2 * time.Minute)
	b.uploadAll(t, a.ID, fstest.MapFS{"parrot.md": {Data: []byte("# Birds\n\nThe parrot is fed by the porter each morning.\n")}})
	for range 3 {
		<-embedded
	}
	stats, status, found = look()
	if stats.ServedBy != "ollama/tiny" || found.Embedder != "ollama/tiny" || status.UnavailableReason != nil || model.tests.Load() != 3 {
		t.Errorf("the model is back: %s, %+v, %d tests", found.Embedder, status, model.tests.Load())
	}

	model.away.Store(true)
	_, _, found = look()
	if !strings.HasPrefix(found.Embedder, "builtin-") {
		t.Errorf("while it is away, %s answers", found.Embedder)
	}
	<-told
}
