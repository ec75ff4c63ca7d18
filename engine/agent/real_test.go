package agent

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/engine/llm"
	"github.com/scf-service/service/internal/testutil/ollamatest"
)

func realModel(t *testing.T, s *ollamatest.Server, name string) *llm.Model {
	t.Helper()
	m, err := llm.New(llm.Options{Name: "ollama/" + name, Server: s.URL, Timeout: 2 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestRealChatWithEverySchema checks that ollama accepts each schema, and that its answers are
// complete, match the schema, stay within the token limit and name the model's weights.
func TestRealChatWithEverySchema(t *testing.T) {
	m := realModel(t, ollamatest.Start(t), "talker")
	status := m.Status(t.Context())
	if !status.Ready || status.Digest == "" {
		t.Fatalf("%+v", status)
	}
	for name, data := range asks() {
		t.Run(name, func(t *testing.T) {
			p, err := loadPrompt(name)
			if err != nil {
				t.Fatal(err)
			}
			r, err := p.newRequest(data)
			if err != nil {
				t.Fatal(err)
			}
			a, err := m.Chat(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if a.PromptTokens == 0 || a.CompletionTokens == 0 || a.CompletionTokens > p.maxTokens || a.Digest != status.Digest {
				t.Errorf("%d tokens asked, %d answered of %d, digest %q", a.PromptTokens, a.CompletionTokens, p.maxTokens, a.Digest)
			}
			var got map[string]any
			if err := p.decodeAnswer(a.Text, &got); err != nil {
				t.Errorf("%v:\n%s", err, a.Text)
			}
			if again, err := m.Chat(t.Context(), r); err != nil || again.Text != a.Text {
				t.Errorf("asked again, it says %q, %v", again.Text, err)
			}
		})
	}
}

// TestRealEndlessAnswer checks that an endless answer is cut off at the token limit.
func TestRealEndlessAnswer(t *testing.T) {
	m := realModel(t, ollamatest.Start(t), "endless")
	a, err := m.Chat(t.Context(), endlessly(t, 40))
	if a.CompletionTokens > 40 || err != nil && !errors.Is(err, llm.ErrAnswerTooLong) {
		t.Errorf("%d tokens, %v", a.CompletionTokens, err)
	}
	p, err := loadPrompt("vendor-scanner")
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := p.decodeAnswer(a.Text, &got); err == nil {
		t.Errorf("half an answer is taken: %s", a.Text)
	}
}

func endlessly(t *testing.T, tokens int) llm.Request {
	t.Helper()
	p, err := loadPrompt("vendor-scanner")
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.newRequest(map[string]string{"contractExcerpt": strings.Repeat("Liability is limited. ", 50)})
	if err != nil {
		t.Fatal(err)
	}
	r.MaxTokens = tokens
	return r
}

// TestRealCancel checks that a canceled call returns during an answer, and that the next one is
// answered.
func TestRealCancel(t *testing.T) {
	s := ollamatest.Start(t)
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Second)
	defer stop()
	m := realModel(t, s, "endless")
	if _, err := m.Chat(ctx, endlessly(t, 30000)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if _, err := m.Chat(t.Context(), endlessly(t, 5)); err != nil && !errors.Is(err, llm.ErrAnswerTooLong) {
		t.Errorf("afterwards: %v", err)
	}
}

// TestRealServerKilled checks that killing the server during an answer is reported soon as
// unavailable.
func TestRealServerKilled(t *testing.T) {
	s := ollamatest.Start(t)
	m := realModel(t, s, "endless")
	if _, err := m.Chat(t.Context(), endlessly(t, 5)); err != nil && !errors.Is(err, llm.ErrAnswerTooLong) {
		t.Fatal(err) // the model is loaded now
	}
	time.AfterFunc(time.Second, s.Kill)
	if _, err := m.Chat(t.Context(), endlessly(t, 30000)); !errors.Is(err, llm.ErrUnavailable) {
		t.Errorf("%v", err)
	}
	if st := m.Status(t.Context()); st.Ready || st.Problem == "" {
		t.Errorf("%+v", st)
	}
}

func TestRealUnknownModel(t *testing.T) {
	m := realModel(t, ollamatest.Start(t), "no-such-model")
	if _, err := m.Chat(t.Context(), llm.Request{System: "s", User: "u", MaxTokens: 5}); !errors.Is(err, llm.ErrUnknownModel) {
		t.Errorf("%v", err)
	}
}

// TestRealContextOverflow checks that a question longer than the model's context is answered or rejected in time.
func TestRealContextOverflow(t *testing.T) {
	m := realModel(t, ollamatest.Start(t), "talker")
	_, err := m.Chat(t.Context(), llm.Request{System: "s", User: strings.Repeat("word ", 8000), MaxTokens: 5})
	for _, known := range []error{
		nil,
		llm.ErrContextExceeded,
		llm.ErrUnavailable,
		llm.ErrTimeout,
		llm.ErrAnswerTooLong,
		llm.ErrInvalidResponse,
	} {
		if errors.Is(err, known) {
			t.Logf("it ends with: %v", err)
			return
		}
	}
	t.Errorf("%v", err)
}
