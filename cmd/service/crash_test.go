package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scf-service/service/internal/testutil/longtest"
)

// TestKilledRunResumes checks that a run that is killed repeatedly has the same outcome as an undisturbed one.
func TestKilledRunResumes(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	run := func(u *testUser) *running {
		dir := u.writeEvidence()
		// Starting the PDF reader takes so long that two kills could hit it, and the document would then rightly
		// fail.
		if err := os.Remove(filepath.Join(dir, "HQ-POL-04-acceptable-use-policy.pdf")); err != nil {
			t.Fatal(err)
		}
		return u.start(u.command("assess", "run", dir, "--name", "Crash", "-f", "lgpd", "--approve", "-q"))
	}
	calm := newTestUser(t)
	began := time.Now()
	run(calm).expectExit(0)
	// The kill times are distributed over the duration of a whole run on this machine. The seed determines their
	// fractions of it.
	whole := time.Since(began)
	want := calm.outcome()

	random := rand.New(rand.NewPCG(20261120, 12))
	u := newTestUser(t)
	killed, times := 0, 3
	if longtest.Enabled() {
		times = 12
	}
	for range times {
		r := run(u)
		timer := time.AfterFunc(time.Duration(random.Float64()*0.6*float64(whole)), func() { _ = r.cmd.Process.Signal(syscall.SIGKILL) })
		code := r.wait()
		timer.Stop()
		if code == 0 {
			break
		}
		if code != -1 {
			t.Fatalf("after %d kills, exit code %d:\n%s", killed, code, r.output.String())
		}
		killed++
	}
	run(u).expectExit(0)
	if got := u.outcome(); !reflect.DeepEqual(got, want) {
		t.Errorf("after %d kills it came to\n%+v\nnot\n%+v", killed, got, want)
	}
	t.Logf("killed %d times", killed)
}

// TestInterruptedRunResumes checks that Ctrl-C reports what has been saved and how to continue.
func TestInterruptedRunResumes(t *testing.T) {
	u := newTestUser(t)
	args := []string{"assess", "run", u.writeEvidence(), "--name", "Stop", "-f", "soc2-tsc", "--approve", "--until", "documents_ingested"}
	r := u.start(u.command(args...))
	r.waitFor("created assessment")
	r.signal(syscall.SIGINT)
	switch code := r.wait(); code {
	case 0: // the run had already finished
	case 130:
		if !strings.Contains(r.output.String(), "continue with `service assess run") {
			t.Errorf("it does not say how to continue:\n%s", r.output.String())
		}
	default:
		t.Errorf("exit code %d:\n%s", code, r.output.String())
	}
	u.do(args...)
	if got := u.outcome(); len(got.Documents) != 7 || got.Events["document.ingested"] != 7 {
		t.Errorf("afterwards: %+v", got)
	}
}
