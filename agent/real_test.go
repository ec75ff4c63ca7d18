package agent

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/model"
)

// realModel is a model on a real ollama server: SERVICE_TEST_OLLAMA is its address,
// SERVICE_TEST_OLLAMA_MODEL the model's name. Any model will do, also one of random weights:
// what is tried is the way there and back, not what it says.
func realModel(t *testing.T, name string, patience time.Duration) *model.Model {
	t.Helper()
	server := os.Getenv("SERVICE_TEST_OLLAMA")
	if server == "" {
		t.Skip("SERVICE_TEST_OLLAMA names no server")
	}
	if name == "" {
		name = os.Getenv("SERVICE_TEST_OLLAMA_MODEL")
	}
	m, err := model.New(model.Options{Name: "ollama/" + name, Server: server, Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Each schema we use is taken, and what comes back is JSON of it or a known reason.
func TestRealChatWithEverySchema(t *testing.T) {
	m := realModel(t, "", 2*time.Minute)
	if s := m.Status(t.Context()); !s.Ready || s.Digest == "" {
		t.Fatalf("%+v", s)
	}
	for name, data := range asks() {
		t.Run(name, func(t *testing.T) {
			p, err := promptOf(name)
			if err != nil {
				t.Fatal(err)
			}
			r, err := p.ask(data)
			if err != nil {
				t.Fatal(err)
			}
			a, err := m.Chat(t.Context(), r)
			switch {
			case errors.Is(err, model.ErrTooMuch), errors.Is(err, model.ErrAway):
				// A model of random weights goes on to the limit, or repeats itself until ollama
				// breaks off without an end; the rules answer then.
				t.Logf("it did not come to an end within %d tokens: %v", p.maxTokens, err)
				return
			case err != nil:
				t.Fatal(err)
			case a.Prompt == 0 || a.Completion == 0:
				t.Errorf("nothing was counted: %+v", a)
			}
			var got map[string]any
			if err := p.decode(a.Text, &got); err != nil {
				t.Logf("an answer that the rules would replace: %v", err)
			}
		})
	}
}

// A caller who leaves in the middle of an answer is let go, and the next is answered.
func TestRealCancel(t *testing.T) {
	m := realModel(t, "", 2*time.Minute)
	p, err := promptOf("vendor-scanner")
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.ask(map[string]string{"contractExcerpt": strings.Repeat("Liability is limited. ", 50)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer stop()
	if _, err := m.Chat(ctx, r); err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, model.ErrTooMuch) {
		t.Errorf("%v", err)
	}
	if s := m.Status(t.Context()); !s.Ready {
		t.Errorf("afterwards: %+v", s)
	}
}

func TestRealUnknownModel(t *testing.T) {
	m := realModel(t, "no-such-model", 2*time.Minute)
	if _, err := m.Chat(t.Context(), model.Request{System: "s", User: "u", MaxTokens: 5}); !errors.Is(err, model.ErrUnknown) {
		t.Errorf("%v", err)
	}
}

// A question longer than any context is answered or refused, in time.
func TestRealContextOverflow(t *testing.T) {
	m := realModel(t, "", 2*time.Minute)
	_, err := m.Chat(t.Context(), model.Request{System: "s", User: strings.Repeat("word ", 60000), MaxTokens: 5})
	for _, known := range []error{nil, model.ErrContext, model.ErrAway, model.ErrSlow, model.ErrTooMuch, model.ErrNonsense} {
		if errors.Is(err, known) {
			t.Logf("it ends with: %v", err)
			return
		}
	}
	t.Errorf("%v", err)
}
