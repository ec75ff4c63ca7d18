package llm

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestPull(t *testing.T) {
	var asked string
	m := made(t, "ollama/q:8b", func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		asked = r.URL.Path + " " + string(b)
		fmt.Fprintln(w, `{"status":"pulling manifest"}`)
		fmt.Fprintln(w, `{"status":"pulling 6a0746a1ec1a","digest":"sha256:6a","total":200,"completed":50}`)
		fmt.Fprintln(w, `{"status":"success"}`)
	}, time.Minute)
	var got []PullProgress
	if err := m.Pull(t.Context(), func(p PullProgress) { got = append(got, p) }); err != nil {
		t.Fatal(err)
	}
	want := []PullProgress{{Status: "pulling manifest"}, {"pulling 6a0746a1ec1a", 50, 200}, {Status: "success"}}
	if !reflect.DeepEqual(got, want) || !strings.HasPrefix(asked, "/api/pull ") || !strings.Contains(asked, `"q:8b"`) {
		t.Errorf("%+v after %s", got, asked)
	}
}

func TestPullGoesWrong(t *testing.T) {
	for _, tc := range []struct {
		name, model string
		server      http.HandlerFunc
		want        error
	}{
		{
			"breaks off",
			"ollama/q",
			func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, `{"status":"pulling manifest"}`) },
			ErrUnavailable,
		},
		{
			"is refused",
			"ollama/q",
			func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, `{"error":"file does not exist"}`) },
			ErrPullFailed,
		},
		{"no such place", "ollama/q", http.NotFound, ErrUnknownModel},
		{"no JSON", "ollama/q", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "<html>") }, ErrPullFailed},
		{"numbers that can't be", "ollama/q", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintln(w, `{"status":"x","total":-5,"completed":900}`)
			fmt.Fprintln(w, `{"status":"success","completed":-1}`)
		}, nil},
		{"another kind", "openai/q", http.NotFound, ErrPullUnsupported},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := made(t, tc.model, tc.server, time.Minute).Pull(t.Context(), func(p PullProgress) {
				if p.Done < 0 || p.Total < 0 || p.Done > p.Total {
					t.Errorf("%+v", p)
				}
			})
			if !errors.Is(err, tc.want) {
				t.Errorf("%v, not %v", err, tc.want)
			}
		})
	}
}
