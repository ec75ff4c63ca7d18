package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func made(t *testing.T, name string, h http.HandlerFunc, timeout time.Duration) *Model {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	m, err := New(Options{Name: name, Server: s.URL, Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func ollamaSays(text string, tokens int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "{\"message\":{\"role\":\"assistant\",\"content\":%q},\"done\":false}\n", text)
		fmt.Fprintf(
			w,
			"{\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"prompt_eval_count\":7,\"eval_count\":%d}\n",
			tokens,
		)
	}
}

func openSays(text string, tokens int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		b, _ := json.Marshal(
			map[string]any{
				"choices": []any{map[string]any{"message": map[string]any{"content": text}}},
				"usage":   map[string]any{"prompt_tokens": 7, "completion_tokens": tokens},
			},
		)
		_, _ = w.Write(b)
	}
}

var ask = Request{System: "s", User: "u", Schema: json.RawMessage(`{"type":"object"}`), MaxTokens: 50}

func TestChat(t *testing.T) {
	for _, m := range []*Model{
		made(t, "ollama/q", ollamaSays(`{"a":1}`, 5), time.Minute),
		made(t, "openai/q", openSays(`{"a":1}`, 5), time.Minute),
	} {
		a, err := m.Chat(t.Context(), ask)
		if err != nil || a.Text != `{"a":1}` || a.PromptTokens != 7 || a.CompletionTokens != 5 || a.Model != m.Name() {
			t.Errorf("%s: %+v, %v", m.Name(), a, err)
		}
	}
}

// TestBadServers checks that any server behavior leads to one of the known errors, within the time limit.
func TestBadServers(t *testing.T) {
	gone := make(chan struct{})
	t.Cleanup(func() { close(gone) })
	hang := func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
		case <-gone:
		}
	}
	nothing := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }
	for _, tc := range []struct {
		name, model string
		server      http.HandlerFunc
		want        error
	}{
		{"slow", "ollama/q", hang, ErrTimeout},
		{"slow", "openai/q", hang, ErrTimeout},
		{"streams for ever", "ollama/q", func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := fmt.Fprintln(w, `{"message":{"content":"x"},"done":false}`); err != nil {
					return
				}
			}
		}, ErrAnswerTooLong},
		{"10 MB", "openai/q", openSays(strings.Repeat("x", 10<<20), 5), ErrAnswerTooLong},
		{"streams for ever", "openai/q", func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := fmt.Fprint(w, strings.Repeat(" ", 4096)); err != nil {
					return
				}
			}
		}, ErrAnswerTooLong},
		{"10 MB in a line", "ollama/q", ollamaSays(strings.Repeat("x", 10<<20), 5), ErrInvalidResponse},
		{"nested", "ollama/q", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintln(w, `{"message":`+strings.Repeat(`{"a":`, 20000)+strings.Repeat("}", 20000)+"}")
		}, ErrInvalidResponse},
		{"other types", "ollama/q", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintln(w, `{"message":{"content":{"a":1}},"done":"yes"}`)
		}, ErrInvalidResponse},
		{"other types", "openai/q", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"choices":"none","usage":7}`)
		}, ErrInvalidResponse},
		{"closes early", "ollama/q", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintln(w, `{"message":{"content":"x"},"done":false}`)
		}, ErrUnavailable},
		{"closes early", "openai/q", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, ErrUnavailable},
		{"no JSON", "openai/q", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, ErrInvalidResponse},
		{"refuses the key", "openai/q", func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "wrong key", http.StatusUnauthorized)
		}, ErrRefused},
		{"cut off", "openai/q", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"choices":[{"message":{"content":"{"},"finish_reason":"length"}]}`)
		}, ErrAnswerTooLong},
		{"cut off", "ollama/q", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintln(w, `{"message":{"content":"{"},"done":true,"done_reason":"length","eval_count":50}`)
		}, ErrAnswerTooLong},
		{"unknown", "ollama/q", func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"error":"model 'q' not found"}`, http.StatusNotFound)
		}, ErrUnknownModel},
		{"no model server", "openai/q", nothing, ErrNotReached},
		{"too long", "openai/q", func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "maximum context length", http.StatusBadRequest)
		}, ErrContextExceeded},
		{"too many tokens", "openai/q", openSays("{}", 51), ErrAnswerTooLong},
		{"nested", "openai/q", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("[", 20000)) }, ErrInvalidResponse},
	} {
		t.Run(tc.name+" "+tc.model, func(t *testing.T) {
			limit := time.Minute
			if errors.Is(tc.want, ErrTimeout) {
				limit = 50 * time.Millisecond
			}
			if _, err := made(t, tc.model, tc.server, limit).Chat(t.Context(), ask); !errors.Is(err, tc.want) {
				t.Errorf("%v, not %v", err, tc.want)
			}
		})
	}
}

func TestAwayIsTriedAgain(t *testing.T) {
	var calls atomic.Int32
	m := made(t, "openai/q", func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && calls.Add(1) == 1 {
			http.Error(w, "starting", http.StatusServiceUnavailable)
			return
		}
		openSays("{}", 1)(w, r)
	}, time.Minute)
	if _, err := m.Chat(t.Context(), ask); err != nil || calls.Load() != 2 {
		t.Errorf("%d calls, %v", calls.Load(), err)
	}
}

// TestSlowModelsRest checks that callers don't wait for a model that has just timed out.
func TestSlowModelsRest(t *testing.T) {
	var calls atomic.Int32
	gone := make(chan struct{})
	m := made(t, "openai/q", func(_ http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		select {
		case <-r.Context().Done():
		case <-gone:
		}
	}, 50*time.Millisecond)
	t.Cleanup(func() { close(gone) }) // before the server closes, which waits
	for range 100 {
		if _, err := m.Chat(t.Context(), ask); !errors.Is(err, ErrTimeout) {
			t.Fatal(err)
		}
	}
	if calls.Load() != 1 {
		t.Errorf("it was asked %d times", calls.Load())
	}
}

// TestOneQueue checks that a model gets one request at a time, and that the number of waiting
// requests is limited.
func TestOneQueue(t *testing.T) {
	var at, most atomic.Int32
	enter, leave := make(chan struct{}, 64), make(chan struct{})
	m := made(t, "openai/q", func(w http.ResponseWriter, r *http.Request) {
		most.Store(max(most.Load(), at.Add(1)))
		enter <- struct{}{}
		<-leave
		at.Add(-1)
		openSays("{}", 1)(w, r)
	}, time.Minute)
	errs := make(chan error, 40)
	for range 40 {
		go func() { _, err := m.Chat(t.Context(), ask); errs <- err }()
	}
	<-enter
	busy := 0
	for range 40 - maxWaiting { // rejected calls return at once
		if err := <-errs; errors.Is(err, ErrBusy) {
			busy++
		}
	}
	close(leave)
	for range maxWaiting {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if busy != 40-maxWaiting || most.Load() != 1 {
		t.Errorf("%d were refused, %d answered at the same time", busy, most.Load())
	}
}

// TestDigests checks that another model under the same name has another digest, as far as the server shows it.
func TestDigests(t *testing.T) {
	digest := func(entry string) string {
		m := made(t, "openai/q", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"data":[`+entry+`]}`) }, time.Minute)
		s := m.Status(t.Context())
		if !s.Ready {
			t.Fatalf("%+v", s)
		}
		return s.Digest
	}
	vllm := digest(`{"id":"q","created":1,"root":"/models/a","max_model_len":4096,"permission":[{"id":"modelperm-1"}]}`)
	again := digest(`{"id":"q","created":2,"root":"/models/a","max_model_len":4096,"permission":[{"id":"modelperm-2"}]}`)
	other := digest(`{"id":"q","created":1,"root":"/models/b","max_model_len":4096}`)
	llama := digest(`{"id":"q","meta":{"n_params":7615616512,"size":4677120000,"n_vocab":151936,"n_embd":3584}}`)
	if vllm == "" || vllm != again || vllm == other || llama == "" || llama == vllm {
		t.Errorf("%q, %q, %q, %q", vllm, again, other, llama)
	}
	if hosted := digest(`{"id":"q","created":1,"owned_by":"x"}`); hosted != "" {
		t.Errorf("a name alone has the digest %q", hosted)
	}
}

func TestStatusAndNames(t *testing.T) {
	m := made(t, "ollama/qwen3:8b", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"models":[{"name":"qwen3:8b","digest":"abc"}]}`)
	}, time.Minute)
	if s := m.Status(t.Context()); !s.Ready || s.Digest != "abc" || s.Problem != "" {
		t.Errorf("%+v", s)
	}
	for _, name := range []string{"ollama/q", "openai/q"} {
		m, err := New(Options{Name: name, Server: "http://127.0.0.1:1"})
		if err != nil {
			t.Fatal(err)
		}
		if s := m.Status(t.Context()); s.Ready || !strings.HasPrefix(s.Problem, "the model server is not responding: dial tcp") {
			t.Errorf("%+v", s)
		}
	}
	for o, remote := range map[Options]bool{
		{Name: "ollama/q"}: false, {Name: "openai/q", Server: "http://[::1]:8000"}: false,
		{Name: "openai/q", Server: "http://LOCALHOST:1"}:     false,
		{Name: "openai/q", Server: "https://models.example"}: true, {Name: "ollama/q", Server: "http://192.168.1.20:11434"}: true,
		{Name: "ollama/gpt-oss:120b-cloud"}: true, {Name: "openai/q", Server: "http://127.0.0.1.example"}: true,
	} {
		if m, err := New(o); err != nil || m.remote != remote {
			t.Errorf("%+v: %v, remote is not %v", o, err, remote)
		}
	}
	if _, err := New(Options{Name: "openai/x"}); err == nil || !strings.Contains(err.Error(), "specify the address with --url") {
		t.Errorf("without a server: %v", err)
	}
	for _, bad := range []Options{
		{Name: "qwen"},
		{Name: "oracle/x"},
		{Name: "openai/x"},
		{Name: "ollama/"},
		{Name: "ollama/x", Server: "ftp://x"},
		{Name: "ollama/x", Server: "http://u:p@x"},
	} {
		if _, err := New(bad); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}
