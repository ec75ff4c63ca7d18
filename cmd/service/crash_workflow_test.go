package main

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/testutil/longtest"
)

var (
	kills        = flag.Int("kills", 3, "how often workflows are killed in TestKilledWorkflowResumes")
	killedOnDocs = flag.Int("kill-documents", 8, "documents of each workflow in TestKilledWorkflowResumes")
)

// writePolicies writes n small policies on different subjects and returns their folder.
func (u *testUser) writePolicies(n int) string {
	u.t.Helper()
	dir := filepath.Join(u.home, "many")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		u.t.Fatal(err)
	}
	about := []string{
		"access rights",
		"backups",
		"suppliers",
		"incidents",
		"changes",
		"logs",
		"keys",
		"visitors",
		"training",
		"personal data",
	}
	for i := range n {
		what := about[i%len(about)]
		text := fmt.Sprintf(
			"# Policy %d on %s\n\nThe owner of %s reviews them every quarter and keeps a record (number %d).\n\n## Duties\n\n"+
				"The head of IT approves exceptions to the rules on %s in writing.\n",
			i,
			what,
			what,
			i,
			what,
		)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("policy-%03d.md", i)), []byte(text), 0o600); err != nil {
			u.t.Fatal(err)
		}
	}
	return dir
}

// runWorkflow takes an assessment from documents to reports with a workflow. Each command is executed by run, which
// reports whether it was killed.
func (u *testUser) runWorkflow(docs int, run func(args ...string) (code int, killed bool)) {
	u.t.Helper()
	dir := u.writePolicies(docs)
	u.do("assess", "create", "Flow", "-f", "lgpd", "-q")
	for try := 0; ; try++ { // adding the same documents again has no effect
		if code, killed := run("doc", "add", dir, "-q"); !killed && code == 0 {
			break
		} else if !killed {
			u.t.Fatalf("adding documents ends with %d", code)
		}
	}
	started := false
	for {
		args := []string{"workflow", "watch", "-q"}
		if !started {
			args = []string{"workflow", "start", "-q"}
		}
		code, killed := run(args...)
		if !started {
			started = strings.Contains(string(u.do("workflow", "list", "-o", "json")), api.WorkflowFull)
		}
		switch {
		case killed:
		case code == exitApprovalMissing:
			for _, p := range readJSON[struct{ Data []api.Approval }](u, "approval", "list", "--status", "pending").Data {
				u.do("approval", "approve", p.ID, "-q")
			}
		case code == 0:
			return
		default:
			u.t.Fatalf("%v ends with %d:\n%s", args, code, u.do("workflow", "show"))
		}
	}
}

const exitApprovalMissing = 4

// TestKilledWorkflowResumes checks that a workflow killed at random times resumes at the next start: every run ends,
// no step takes effect twice, and nothing that was acknowledged is lost.
func TestKilledWorkflowResumes(t *testing.T) {
	if longtest.Enabled() {
		*kills, *killedOnDocs = max(*kills, 12), max(*killedOnDocs, 20)
	}
	calm := newTestUser(t)
	began := time.Now()
	commands := 0
	calm.runWorkflow(*killedOnDocs, func(args ...string) (int, bool) {
		commands++
		return calm.start(calm.command(args...)).wait(), false
	})
	each := time.Since(began) / time.Duration(commands)
	want := normalizeOutcome(calm.outcome())

	random := rand.New(rand.NewPCG(20261120, 300))
	killed, ended := 0, 0
	for killed < *kills {
		u := newTestUser(t)
		mine := 0
		u.runWorkflow(*killedOnDocs, func(args ...string) (int, bool) {
			r := u.start(u.command(args...))
			if mine >= 30 || killed >= *kills { // let the workflow finish eventually
				return r.wait(), false
			}
			timer := time.AfterFunc(time.Duration(random.Float64()*1.2*float64(each)), func() { _ = r.cmd.Process.Signal(syscall.SIGKILL) })
			code := r.wait()
			timer.Stop()
			if code == -1 {
				killed++
				mine++
			}
			return code, code == -1
		})
		ended++
		if got := normalizeOutcome(u.outcome()); !reflect.DeepEqual(got, want) {
			t.Errorf("after %d kills it came to\n%+v\nnot\n%+v", mine, got, want)
		}
		if v := readJSON[api.AuditVerification](u, "audit", "verify"); !v.OK {
			t.Errorf("the audit chain does not hold: %+v", v.Problem)
		}
	}
	t.Logf("%d kills over %d runs of %d documents: each ended, with the outcome of an undisturbed one", killed, ended, *killedOnDocs)
}

// normalizeOutcome removes everything that depends on how often a run was resumed.
func normalizeOutcome(o outcome) outcome {
	o.Events = maps.Clone(o.Events)
	delete(o.Events, "workflow.waiting")
	return o
}
