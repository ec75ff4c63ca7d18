package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/client"
	"github.com/scf-service/service/daemon"
	"github.com/scf-service/service/engine/enginetest"
	"github.com/scf-service/service/internal/testutil/sockettest"
)

// home is a real engine behind a real daemon.
type home struct {
	net, local http.Handler
}

func newHome(t testing.TB) *home {
	t.Helper()
	none := map[api.RateCategory]int{}
	for _, c := range []api.RateCategory{api.RateDefault, api.RateDocuments, api.RateSearch, api.RateAgents, api.RateRender, api.RateAdmin} {
		none[c] = 0
	}
	s, err := daemon.New(
		daemon.Options{Engine: enginetest.New(t), Logger: enginetest.WarningLogger(), NewID: enginetest.NewID, Clock: time.Now, RateLimits: none},
	)
	if err != nil {
		t.Fatal(err)
	}
	return &home{s.Handler(), s.LocalHandler()}
}

func clientOf(t testing.TB, o client.Options) *client.Client {
	t.Helper()
	c, err := client.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// asked calls an operation that must succeed.
func asked[I, O any](t testing.TB, c Caller, op api.Op[I, O], in *I) *O {
	t.Helper()
	out, err := call(context.WithoutCancel(t.Context()), c, op, in)
	if err != nil {
		t.Fatalf("%s: %v", op.ID, err)
	}
	return out
}

// drafted creates an assessment with a drafted Statement of Applicability.
func drafted(t testing.TB, c Caller, framework, version string) *api.Assessment {
	t.Helper()
	in := &api.CreateAssessmentInput{}
	in.Body.Name, in.Body.FrameworkID, in.Body.SCFVersionID = "Acme 2026", framework, version
	a := asked(t, c, api.CreateAssessment, in)
	of := api.AssessmentInput{AssessmentID: a.ID}
	asked(t, c, api.UploadDocument, &api.UploadDocumentInput{AssessmentInput: of, File: api.UploadFile{
		Filename: "policy.md",
		Content: strings.NewReader(
			"# Policy\n\nAccess rights are reviewed every quarter by the owner of the system.\n\nBackups are tested every month.\n",
		),
	}})
	for a.State != api.StateSoADrafted {
		next, _ := a.State.NextMove()
		move := &api.TransitionInput{AssessmentInput: of}
		move.Body.TargetState = next.To
		asked(t, c, api.Transition, move)
		a = asked(t, c, api.GetAssessment, &of)
	}
	return a
}

// countOwned returns the number of the engine's lines with this owner.
func countOwned(t testing.TB, c Caller, assessment, owner string) int {
	t.Helper()
	heads := asked(t, c, api.ListSoA, &api.AssessmentListInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}})
	l := asked(
		t,
		c,
		api.ListSoAItems,
		&api.SoAItemsInput{
			SoAInput: api.SoAInput{SoAVersionID: heads.Data[0].ID},
			Paging:   api.Paging{Limit: api.MaxListLimit},
			Owner:    owner,
		},
	)
	return len(l.Data)
}

// socketIn serves a handler on a socket; end stops it.
func socketIn(t testing.TB, path string, h http.Handler) (end func()) {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Skipf("no sockets here: %v", err)
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	ended := make(chan struct{})
	go func() { _ = s.Serve(l); close(ended) }()
	var over atomic.Bool
	end = func() {
		if over.CompareAndSwap(false, true) {
			_ = s.Close()
			<-ended
		}
	}
	t.Cleanup(end)
	return end
}

// shortDir returns a folder whose path is short enough for a socket's name.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "tui")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// TestAgainstADaemon runs all parts on one engine, since starting it takes longest.
func TestAgainstADaemon(t *testing.T) {
	h := newHome(t)
	t.Run("over each way", func(t *testing.T) { overEachWay(t, h) })
	t.Run("it comes back", func(t *testing.T) { daemonComesBack(t, h) })
	t.Run("it answers wrongly", func(t *testing.T) { daemonAnswersWrongly(t, h) })
	t.Run("deleted under it", func(t *testing.T) { deletedUnderIt(t, h) })
}

// openOverview returns an interface on an assessment's overview.
func openOverview(t testing.TB, c Caller, a *api.Assessment) *stage {
	s := stageOn(t, c, nil)
	s.run(s.app.push(newOverviewScreen(s.app, *a)))
	return s
}

// overEachWay checks, over every transport, that changes on the screen are saved by the daemon.
func overEachWay(t *testing.T, h *home) {
	ways := map[string]func(t *testing.T, h *home) *client.Client{
		"memory": func(t *testing.T, h *home) *client.Client {
			return clientOf(t, client.Options{Transport: client.InMemoryTransport(h.local)})
		},
		"socket": func(t *testing.T, h *home) *client.Client {
			path := filepath.Join(shortDir(t), "s")
			socketIn(t, path, h.local)
			return clientOf(t, client.Options{Transport: sockettest.Transport(path)})
		},
		"HTTPS": func(t *testing.T, h *home) *client.Client {
			in := &api.NewOrganizationInput{}
			if err := json.Unmarshal(
				[]byte(`{"name": "Acme", "owner": {"email": "ada@acme.example", "password": "four words are enough"}, "api_key_name": "tui"}`),
				&in.Body,
			); err != nil {
				t.Fatal(err)
			}
			org := asked(t, clientOf(t, client.Options{Transport: client.InMemoryTransport(h.local)}), api.CreateOrganization, in)
			s := httptest.NewTLSServer(h.net)
			t.Cleanup(s.Close)
			return clientOf(t, client.Options{BaseURL: s.URL, Transport: s.Client().Transport, Token: org.APIKey.Key})
		},
	}
	for _, name := range []string{"memory", "socket", "HTTPS"} { // the last creates an organization beside the local one
		t.Run(name, func(t *testing.T) {
			c := ways[name](t, h)
			a := drafted(t, c, "lgpd", "")
			s := openOverview(t, c, a)
			s.sees("SoA drafted", "next: review the Statement of Applicability, then")
			s.press("1", "o")
			s.write("Ada Lovelace")
			s.press("enter")
			s.sees("changed; u undoes it", "Ada Lovelace")
			if n := countOwned(t, c, a.ID, "Ada Lovelace"); n != 1 || s.app.saver.unsavedCount() != 0 {
				t.Errorf("%d are owned, %d wait", n, s.app.saver.unsavedCount())
			}
			s.press("*", "y")
			s.sees("39 items changed; u undoes it")
			s.press("u")
			s.sees("undone for 39 items")
			s.press("esc", "R")
			s.sees("39 to read, others hidden (R)")
			s.press("y")
			s.sees("38 to read, others hidden (R)", "in the sample still need to be read")
			s.press("u")
			s.sees("39 to read, others hidden (R)")
			late := s.app.topScreen().(*review).refreshSample()
			s.press("R")
			s.run(late)
			s.misses("others hidden")
			s.press("/")
			s.write("=quotes > 0")
			s.press("enter", "-")
			s.sees("refused for requirement", "create a new draft to apply this decision")
			if l := asked(t, c, api.ListCorrections, &api.CorrectionsInput{AssessmentID: a.ID}); len(l.Data) != 1 ||
				l.Data[0].Decision != api.CorrectionRefused {
				t.Errorf("corrections: %+v", l.Data)
			}
			s.press("esc")
			s.press("h")
			s.sees("History, newest first")
			s.press("h", "S", "y")
			s.sees("under review")
			s.press("A")
			s.sees("Approval of the Statement of Applicability", "sha256")
			for _, key := range []string{"2", "3", "4", "5", "6", "7", "8", "9", "0", "c", "a"} {
				s.app.stack = s.app.stack[:2]
				s.press(key)
				if s.app.isError || s.app.connection.active {
					t.Errorf("%s: %s%s", s.app.topScreen().name(), s.app.statusText, s.app.connection.reason)
				}
				checkFits(t, s.app)
			}
			s.app.stack = s.app.stack[:1]
			s.press("n", "enter")
			s.sees("Acme 2027", "assessment created; add documents")
			l := asked(t, c, api.ListAssessments, &api.AssessmentsInput{Paging: api.Paging{Limit: 1}})
			if from := l.Data[0].CarriedFrom; from == nil || from.AssessmentID != a.ID {
				t.Errorf("created from %+v", from)
			}
		})
	}
}

// daemonComesBack checks that changes are kept while the daemon is down and saved once it is back.
func daemonComesBack(t *testing.T, h *home) {
	path := filepath.Join(shortDir(t), "s")
	end := socketIn(t, path, h.local)
	c := clientOf(t, client.Options{Transport: sockettest.Transport(path)})
	a := drafted(t, c, "lgpd", "")
	s := openOverview(t, c, a)
	s.press("1")
	end()
	s.press("o")
	s.write("Grace")
	s.press("enter", "down", "o")
	s.write("Grace")
	s.press("enter")
	s.sees("2 changes are kept, retrying in", "Grace")
	s.fire()
	s.sees("2 changes are kept")
	socketIn(t, path, h.local)
	s.fire()
	if n := countOwned(t, c, a.ID, "Grace"); n != 2 || s.app.saver.unsavedCount() != 0 {
		t.Errorf("%d are owned, %d wait", n, s.app.saver.unsavedCount())
	}
	s.misses("kept", "trying again")
}

// daemonAnswersWrongly checks that invalid responses are reported, and that the change is kept and
// saved once the daemon works again.
func daemonAnswersWrongly(t *testing.T, h *home) {
	var wrong atomic.Pointer[http.HandlerFunc]
	c := clientOf(t, client.Options{Transport: client.InMemoryTransport(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f := wrong.Load(); f != nil {
			(*f)(w, r)
			return
		}
		h.local.ServeHTTP(w, r)
	}))})
	a := drafted(t, c, "lgpd", "")
	says := func(status int, kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	const asJSON = "application/json"
	ways := []struct {
		name  string
		f     http.HandlerFunc
		wants string
	}{
		{"a page", says(200, "text/html", "<html>Welcome\x1b[2J</html>"), "can't read the response to PATCH"},
		{"garbage", says(200, asJSON, "\x00\xff{{{"), "can't read the response to PATCH"},
		{"nothing", says(200, asJSON, ""), "can't read the response to PATCH"},
		{"half", says(200, asJSON, `{"id": "x", "control_co`), "can't read the response to PATCH"},
		{"another shape", says(200, asJSON, `{"hello": "world"}`), "the response to PATCH"},
		{"a list", says(200, asJSON, `[1, 2]`), "can't read the response to PATCH"},
		{"another kind", says(200, asJSON, `{"id": 5, "revision": "x"}`), "can't read the response to PATCH"},
		{
			"of something else",
			says(200, asJSON, `{"id": "x", "control_code": "ZZZ-99", "revision": 2, "data": [], "pagination": {}}`),
			"describes a different record",
		},
		{"another's 500", says(500, "text/plain", "proxy error\x1b]0;owned\x07"), "500"},
		{"another's 502", says(502, "text/html", strings.Repeat("<p>bad gateway</p>", 1000)), "502"},
		{"its own 500", says(500, asJSON, `{"error": {"code": "INTERNAL", "message": "it failed", "details": [], "trace_id": "t1"}}`), ""},
		{"a redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://login.example/", http.StatusFound)
		}, "login.example"},
		{"too slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "the server did not respond in time"},
		{"breaks off", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, ""},
	}
	s := openOverview(t, c, a)
	s.size(200, 40)
	s.press("1")
	for i, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			s.t = t
			owner := fmt.Sprint("Owner ", i)
			wrong.Store(&way.f)
			s.app.RequestTimeout = 30 * time.Second
			if way.name == "too slow" {
				s.app.RequestTimeout = time.Millisecond
			}
			s.press("o", "ctrl+u")
			s.write(owner)
			s.press("enter")
			s.sees("1 change is kept, retrying in", way.wants, owner)
			checkFits(t, s.app)
			s.press("ctrl+r", "q")
			checkFits(t, s.app)
			s.press("1")
			checkFits(t, s.app)
			if n := s.app.saver.unsavedCount(); n != 1 {
				t.Errorf("%d wait", n)
			}
			wrong.Store(nil)
			s.app.RequestTimeout = 0
			for range 4 {
				s.fire()
			}
			s.press("ctrl+r")
			if n := countOwned(t, c, a.ID, owner); n != 1 || s.app.saver.unsavedCount() != 0 {
				t.Errorf("%d are owned, %d wait:\n%s", n, s.app.saver.unsavedCount(), s.text())
			}
			s.misses("trying again")
		})
	}
}

// deletedUnderIt checks that the deletion of the open assessment is reported and nothing hangs.
func deletedUnderIt(t *testing.T, h *home) {
	c := clientOf(t, client.Options{Transport: client.InMemoryTransport(h.local)})
	a := drafted(t, c, "lgpd", "")
	s := openOverview(t, c, a)
	s.press("1")
	asked(t, c, api.DeleteAssessment, &api.DeleteAssessmentInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}})
	s.press("o")
	s.write("Ada")
	s.press("enter")
	s.sees("there is no assessment", "your input was rejected")
	s.fire()
	if n := s.app.saver.unsavedCount(); n != 0 {
		t.Errorf("%d wait for ever:\n%s", n, s.text())
	}
	s.press("q")
	s.sees("there is no assessment")
	s.press("q")
	s.sees("Assessments")
	s.press("ctrl+c")
	if !s.quit {
		t.Error("still there")
	}
}
