package remote

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/internal/testutil/ollamatest"
)

// A real ollama returns vectors of length 1, equal for equal texts and different for others; it truncates texts
// longer than the model's context.
func TestRealEmbeddings(t *testing.T) {
	s := ollamatest.Start(t)
	e, err := New(Options{Model: "ollama/embedder", URL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{
		"",
		"Access is reviewed twice a year.",
		"Backups are encrypted.",
		"Access is reviewed twice a year.",
		strings.Repeat("a long text ", 2000),
	}
	for range 40 {
		texts = append(texts, "one of more than a batch") // more than one batch of 32
	}
	got, err := e.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	if e.Dimensions() != ollamatest.Dimensions {
		t.Errorf("%d dimensions", e.Dimensions())
	}
	for i, v := range got {
		var sum float64
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		want := 1.0
		if texts[i] == "" {
			want = 0
		}
		if len(v) != ollamatest.Dimensions || math.Abs(sum-want) > 1e-3 {
			t.Errorf("text %d: %d numbers of length %g", i, len(v), math.Sqrt(sum))
		}
	}
	same := func(a, b []float32) float64 {
		var sum float64
		for i := range a {
			sum += float64(a[i]) * float64(b[i])
		}
		return sum
	}
	if same(got[1], got[3]) < .999 || same(got[1], got[2]) > .999 {
		t.Errorf("the same text: %g, another: %g", same(got[1], got[3]), same(got[1], got[2]))
	}
}

func TestRealEmbeddingsAway(t *testing.T) {
	s := ollamatest.Start(t)
	unknown, err := New(Options{Model: "ollama/no-such-model", URL: s.URL, RetryPause: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unknown.Embed(t.Context(), []string{"a"}); !errors.Is(err, ErrInvalidResponse) {
		t.Errorf("an unknown model: %v", err)
	}
	e, err := New(Options{Model: "ollama/embedder", URL: s.URL, RetryPause: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Embed(gone, []string{"a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who left: %v", err)
	}
	s.Kill()
	if _, err := e.Embed(t.Context(), []string{"a"}); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a killed server: %v", err)
	}
}
