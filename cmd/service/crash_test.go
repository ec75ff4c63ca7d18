package main

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scf-service/service/internal/testutil/longtest"
)

// Killed again and again in the middle, a run comes to what it comes to undisturbed:
// nothing lost, nothing twice.
func TestKilledRunResumes(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	run := func(u *testUser) *running {
		return u.start(u.command("assess", "run", u.writeEvidence(), "--name", "Crash", "-f", "lgpd", "--approve", "-q"))
	}
	calm := newTestUser(t)
	began := time.Now()
	run(calm).expectExit(0)
	// Moments are spread over what a whole run takes here; the seed only makes them the same parts of it.
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

// Ctrl-C in the middle says what is kept and how to go on.
func TestInterruptedRunResumes(t *testing.T) {
	u := newTestUser(t)
	args := []string{"assess", "run", u.writeEvidence(), "--name", "Stop", "-f", "soc2-tsc", "--approve", "--until", "documents_ingested"}
	r := u.start(u.command(args...))
	r.waitFor("created assessment")
	r.signal(syscall.SIGINT)
	switch code := r.wait(); code {
	case 0: // it was quicker
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
