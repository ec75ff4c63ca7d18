package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

type asked struct {
	Model string
	Input []string
}

// fake answers both APIs with vectors that contain the length of each text.
func fake(t *testing.T, before func(n int64, w http.ResponseWriter, r *http.Request) bool) (*httptest.Server, *atomic.Int64) {
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if before != nil && before(n.Add(1), w, r) {
			return
		}
		var q asked
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || q.Model != "m:1" {
			t.Errorf("asked for %q: %v", q.Model, err)
		}
		var vectors [][]float32
		var data []map[string]any
		for i := range q.Input {
			vectors = append(vectors, []float32{float32(len(q.Input[i])), 1, 0})
			data = append([]map[string]any{{"index": i, "embedding": vectors[i]}}, data...) // in any order
		}
		switch r.URL.Path {
		case "/api/embed":
			_ = json.NewEncoder(w).Encode(map[string]any{"model": q.Model, "embeddings": vectors})
		case "/v1/embeddings":
			_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
		default:
			t.Errorf("asked %s", r.URL.Path)
		}
	}))
	t.Cleanup(s.Close)
	return s, &n
}

func open(t *testing.T, kind, url string) *Embedder {
	e, err := New(Options{Model: kind + "/m:1", URL: url, Key: "sk-secret", RetryPause: time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestEmbed(t *testing.T) {
	for _, kind := range []string{"ollama", "openai"} {
		s, n := fake(t, func(int64, http.ResponseWriter, *http.Request) bool { return false })
		e := open(t, kind, s.URL)
		texts := make([]string, 70)
		for i := range texts {
			texts[i] = strings.Repeat("x", i+1)
		}
		texts[5], texts[6] = " ", "a\xffb"
		v, err := e.Embed(t.Context(), texts)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		if e.Name() != kind+"/m:1" || e.Dimensions() != 3 || n.Load() != 3 {
			t.Errorf("%s: %s, %d dimensions, %d requests for 69 texts", kind, e.Name(), e.Dimensions(), n.Load())
		}
		for i, w := range v {
			length := math.Hypot(float64(w[0]), float64(w[1]))
			switch {
			case i == 5 && length != 0:
				t.Errorf("%s: a blank text has %v", kind, w)
			case i != 5 && math.Abs(length-1) > 1e-5:
				t.Errorf("%s: text %d has length %v", kind, i, length)
			case i > 6 && math.Abs(float64(w[0]/w[1])-float64(i+1)) > 1e-2:
				t.Errorf("%s: text %d has the vector of another: %v", kind, i, w)
			}
		}
	}
}

func TestTroubles(t *testing.T) {
	status := func(code int, text string) func(int64, http.ResponseWriter, *http.Request) bool {
		return func(_ int64, w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, text)
			return true
		}
	}
	answer := func(text string) func(int64, http.ResponseWriter, *http.Request) bool { return status(200, text) }
	for _, c := range []struct {
		name, kind string
		before     func(int64, http.ResponseWriter, *http.Request) bool
		want       error
		requests   int64
		says       string
	}{
		{"no such model", "ollama", status(404, `{"error":"model not found"}`), ErrInvalidResponse, 1, "pull that model"},
		{
			"key refused", "openai", status(401, `{"error":{"message":"wrong key sk-secret"}}`), ErrInvalidResponse, 1,
			"the server rejected the API key",
		},
		{"always busy", "openai", status(429, ""), ErrUnavailable, 3, "429"},
		{"always broken", "ollama", status(500, `{"error":"out of memory"}`), ErrUnavailable, 3, "out of memory"},
		{"too few", "ollama", answer(`{"embeddings":[[1,2]]}`), ErrInvalidResponse, 1, "1 vectors for 2 texts"},
		{"of two sizes", "ollama", answer(`{"embeddings":[[1,2],[1,2,3]]}`), ErrInvalidResponse, 1, "instead of 2"},
		{"of no size", "ollama", answer(`{"embeddings":[[],[]]}`), ErrInvalidResponse, 1, "0 numbers"},
		{"number too large", "ollama", answer(`{"embeddings":[[1e38,2],[1e999,3]]}`), ErrUnavailable, 3, "1e999"},
		{
			"one twice",
			"openai",
			answer(`{"data":[{"index":0,"embedding":[1,2]},{"index":0,"embedding":[1,2]}]}`),
			ErrInvalidResponse,
			1,
			"unexpected embeddings",
		},
		{"outside", "openai", answer(`{"data":[{"index":7,"embedding":[1,2]}]}`), ErrInvalidResponse, 1, "unexpected embeddings"},
		{"no JSON", "openai", answer(`<html>`), ErrUnavailable, 3, "not JSON"},
		{"a redirect", "openai", func(_ int64, w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
			return true
		}, ErrInvalidResponse, 1, "302"},
	} {
		s, n := fake(t, c.before)
		_, err := open(t, c.kind, s.URL).Embed(t.Context(), []string{"one", "two"})
		if !errors.Is(err, c.want) || !strings.Contains(fmt.Sprint(err), c.says) || n.Load() != c.requests {
			t.Errorf("%s: after %d requests: %v", c.name, n.Load(), err)
		}
		if strings.Contains(fmt.Sprint(err), "sk-secret") {
			t.Errorf("%s: the key stands in %v", c.name, err)
		}
	}
}

func TestItComesBack(t *testing.T) {
	s, n := fake(t, func(n int64, w http.ResponseWriter, _ *http.Request) bool {
		if n < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		return n < 3
	})
	if _, err := open(t, "ollama", s.URL).Embed(t.Context(), []string{"one"}); err != nil || n.Load() != 3 {
		t.Errorf("after %d requests: %v", n.Load(), err)
	}
	url := s.URL
	s.Close()
	if _, err := open(t, "openai", url).Embed(t.Context(), []string{"one"}); !errors.Is(err, ErrUnavailable) ||
		strings.Contains(err.Error(), "sk-") {
		t.Errorf("nobody listens: %v", err)
	}
}

func TestItIsNotWaitedForAtLength(t *testing.T) {
	stop := make(chan struct{})
	s, _ := fake(t, func(_ int64, _ http.ResponseWriter, r *http.Request) bool {
		select {
		case <-r.Context().Done():
		case <-stop:
		}
		return true
	})
	defer close(stop)
	e, err := New(Options{Model: "openai/m:1", URL: s.URL, Timeout: time.Millisecond, RetryPause: time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Embed(t.Context(), []string{"one"}); !errors.Is(err, ErrUnavailable) {
		t.Errorf("it never answers: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Embed(ctx, []string{"one"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestLongAnswersAreCut(t *testing.T) {
	body := &limitedBody{io.NopCloser(strings.NewReader("0123456789")), 4}
	got, err := io.ReadAll(body)
	if string(got) != "0123" || !errors.Is(err, errResponseTooLong) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{
		{},
		{Model: "ollama/"},
		{Model: "x/y"},
		{Model: "ollama/m", URL: "ftp://h"},
		{Model: "ollama/m", URL: "http://u:p@h"},
		{Model: "openai/m", URL: "http://example.org", Key: "k"},
		{Model: "openai/m", URL: "https://"},
	} {
		if _, err := New(o); !errors.Is(err, ErrInvalidOptions) || strings.Contains(fmt.Sprint(err), "u:p") {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := New(Options{Model: "openai/text-embedding-3-small", Key: "k"}); err != nil {
		t.Error(err)
	}
}

func TestDigest(t *testing.T) {
	s, _ := fake(t, func(_ int64, w http.ResponseWriter, r *http.Request) bool {
		_, _ = io.WriteString(w, `{"models":[{"name":"other","digest":"sha256:0"},{"name":"m:1","digest":"sha256:1"}]}`)
		return true
	})
	if digest, err := open(t, "ollama", s.URL).Digest(t.Context()); digest != "sha256:1" || err != nil {
		t.Errorf("%q, %v", digest, err)
	}
	if digest, err := open(t, "openai", s.URL).Digest(t.Context()); digest != "" || err != nil {
		t.Errorf("a server without digests: %q, %v", digest, err)
	}
	none, _ := fake(t, func(_ int64, w http.ResponseWriter, _ *http.Request) bool {
		_, _ = io.WriteString(w, `{"models":[]}`)
		return true
	})
	if _, err := open(t, "ollama", none.URL).Digest(t.Context()); !errors.Is(err, ErrInvalidResponse) {
		t.Errorf("no such model: %v", err)
	}
	starting, _ := fake(t, func(_ int64, w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	})
	if _, err := open(t, "ollama", starting.URL).Digest(t.Context()); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a starting server: %v", err)
	}
	none.Close()
	if _, err := open(t, "ollama", none.URL).Digest(t.Context()); !errors.Is(err, ErrUnavailable) {
		t.Errorf("no server: %v", err)
	}
}
