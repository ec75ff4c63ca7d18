package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/scf-service/service/api"
)

// faultyProxy is a proxy that records uploads and interrupts selected ones.
type faultyProxy struct {
	t      *testing.T
	target *httputil.ReverseProxy

	mu sync.Mutex
	// files holds the size of each complete upload, and pushes the size and response of each push.
	files  []int64
	pushes []string
	// uploadsStarted counts file uploads, including interrupted ones.
	uploadsStarted int
	// brokenUpload is the number, counting from 1, of the upload that is cut off. lostPush is the number of the push
	// whose response is lost.
	brokenUpload, lostPush int
}

func (w *faultyProxy) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	push, files := strings.HasSuffix(r.URL.Path, "/push"), strings.HasSuffix(r.URL.Path, "/files") && r.Method == http.MethodPost
	if !push && !files {
		w.target.ServeHTTP(rw, r)
		return
	}
	if files {
		w.mu.Lock()
		w.uploadsStarted++
		cut := w.uploadsStarted == w.brokenUpload
		w.mu.Unlock()
		if cut {
			if _, err := io.CopyN(io.Discard, r.Body, 3<<20); err != nil {
				w.t.Error(err)
			}
			panic(http.ErrAbortHandler)
		}
	}
	body := &countingBody{body: r.Body}
	r.Body = body
	answer := httptest.NewRecorder()
	w.target.ServeHTTP(answer, r)
	w.mu.Lock()
	lost := false
	switch {
	case answer.Code != http.StatusOK && answer.Code != http.StatusCreated:
	case files:
		w.files = append(w.files, body.n)
	default:
		w.pushes = append(w.pushes, fmt.Sprintf("%d %s", body.n, answer.Body.String()))
		lost = len(w.pushes) == w.lostPush
	}
	w.mu.Unlock()
	if lost {
		panic(http.ErrAbortHandler)
	}
	for name, v := range answer.Header() {
		rw.Header()[name] = v
	}
	rw.WriteHeader(answer.Code)
	if _, err := rw.Write(answer.Body.Bytes()); err != nil {
		w.t.Log(err)
	}
}

type countingBody struct {
	body io.ReadCloser
	n    int64
}

func (c *countingBody) Read(p []byte) (int, error) {
	n, err := c.body.Read(p)
	c.n += int64(n)
	return n, err
}

func (c *countingBody) Close() error { return c.body.Close() }

// TestSyncInChunks checks that changes that exceed one request are sent in several requests, and that an interrupted
// sync does not resend what has already arrived.
func TestSyncInChunks(t *testing.T) {
	server, laptop := newTestUser(t), newTestUser(t)
	password := server.do("daemon", "init", "--org", "Acme", "--email", "ada@acme.example", "--name", "Ada", "--jq", ".owner_password")
	r, at := server.startDaemon("--rate-limit", "default=0", "--rate-limit", "documents=0")
	defer r.stopDaemon()
	target, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	w := &faultyProxy{t: t, target: httputil.NewSingleHostReverseProxy(target), brokenUpload: 3, lostPush: 1}
	between := httptest.NewServer(w)
	defer between.Close()

	// Eight unreadable files, which are stored nevertheless, and more small files than fit into one batch.
	dir, whole := filepath.Join(laptop.home, "files"), int64(0)
	random := rand.NewChaCha8([32]byte{11})
	write := func(name string, content []byte) {
		whole += int64(len(content))
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	large := make([]byte, 3<<20)
	for n := range 8 {
		_, _ = random.Read(large)
		write(fmt.Sprintf("a%d.bin", n), large)
	}
	for n := range 60 {
		write(
			fmt.Sprintf("b%02d.md", n),
			fmt.Appendf(nil, "# Procedure %d\n\nThe register %d is reviewed every %d months by its owner.\n", n, n*7, n+1),
		)
	}
	laptop.do("assess", "create", "Site", "-f", "iso-27001-2022")
	_ = laptop.command("doc", "add", dir).Run() // reports an error because eight files could not be read
	documents := func(u *testUser, more ...string) []string {
		l := readJSON[api.List[api.Document]](u, append([]string{"doc", "list"}, more...)...)
		var all []string
		for _, d := range l.Data {
			all = append(all, d.SHA256+" "+string(d.Status)+" "+d.Filename)
		}
		slices.Sort(all)
		return all
	}
	want := documents(laptop)
	if len(want) != 68 {
		t.Fatalf("%d documents were taken in, not 68", len(want))
	}

	login := laptop.command("login", between.URL, "--email", "ada@acme.example", "--password-stdin", "--name", "work")
	login.Stdin = strings.NewReader(string(password))
	if out, err := login.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	breaks := func(args ...string) {
		t.Helper()
		cmd := laptop.command(args...)
		if out, err := cmd.CombinedOutput(); err == nil ||
			!strings.Contains(string(out), "the connection was lost before the server responded") ||
			!strings.Contains(string(out), "the sync continues where it stopped, and no change is applied twice") {
			t.Fatalf("service %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	laptop.do("use", "local")
	breaks("sync", "publish", between.URL, "-a", "Site") // interrupted in the third upload
	arrived := len(w.files)
	if arrived != 2 {
		t.Errorf("%d lots had arrived, not 2", arrived)
	}
	breaks("sync") // the first batch is applied, but its response is lost
	laptop.do("sync")

	if got := documents(laptop); !slices.Equal(got, want) {
		t.Errorf("the laptop has\n%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	laptop.do("use", "work")
	if got := documents(laptop, "-a", "Site"); !slices.Equal(got, want) {
		t.Errorf("the server has\n%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	sent := int64(0)
	for _, n := range w.files {
		if sent += n; n > 9<<20 {
			t.Errorf("a lot of %d bytes", n)
		}
	}
	// A tar has a header for each file and pads to whole blocks.
	if len(w.files) < 5 || sent < whole || sent > whole+68*4096+int64(len(w.files))*16384 {
		t.Errorf("%d bytes of files went in %d lots, and they have %d", sent, len(w.files), whole)
	}
	if len(w.pushes) < 3 || w.pushes[0] != w.pushes[1] {
		t.Errorf("batches and their answers: %q; the first was to come again, and be answered as before", w.pushes)
	}
	if again := slices.Compact(slices.Clone(w.pushes)); len(again) != len(w.pushes)-1 {
		t.Errorf("batches that had arrived came again: %q", w.pushes)
	}
	t.Logf("%d bytes of files in lots of %v; %d batches", sent, w.files, len(w.pushes)-1)
}
