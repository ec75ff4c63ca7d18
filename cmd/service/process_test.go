package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scf-service/service/internal/testutil/testdir"
)

// testUser is a user with an empty home folder who starts the program as a process.
type testUser struct {
	t    *testing.T
	home string
	env  []string
}

func newTestUser(t *testing.T) *testUser {
	t.Helper()
	if testing.Short() {
		t.Skip("starts many processes")
	}
	// The path must be short, because it is part of the socket's path.
	home, err := os.MkdirTemp("", "svc")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	return &testUser{
		t,
		home,
		append(
			os.Environ(),
			"GOGC="+gcPercent,
			"HOME="+home,
			"SERVICE_DATA="+filepath.Join(home, "data"),
			"XDG_STATE_HOME="+filepath.Join(home, "state"),
			"XDG_CONFIG_HOME="+filepath.Join(home, "config"),
			"XDG_CACHE_HOME="+testdir.CacheFolder(home),
		),
	}
}

// command returns a command that runs the program.
func (u *testUser) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(u.t.Context(), "service", args...)
	cmd.Env, cmd.Dir = u.env, u.home
	return cmd
}

// do runs the program and fails the test unless it succeeds.
func (u *testUser) do(args ...string) []byte {
	u.t.Helper()
	var out, stderr bytes.Buffer
	cmd := u.command(args...)
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		u.t.Fatalf("service %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return out.Bytes()
}

// readJSON runs a command with -o json and decodes its output.
func readJSON[T any](u *testUser, args ...string) (out T) {
	u.t.Helper()
	b := u.do(append(args, "-o", "json")...)
	if err := json.Unmarshal(b, &out); err != nil {
		u.t.Fatalf("service %s: %v\n%s", strings.Join(args, " "), err, b)
	}
	return out
}

// running is a started program.
type running struct {
	t      *testing.T
	cmd    *exec.Cmd
	stderr *bufio.Reader
	output bytes.Buffer
}

func (u *testUser) start(cmd *exec.Cmd) *running {
	u.t.Helper()
	pipe, err := cmd.StderrPipe()
	if err != nil {
		u.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		u.t.Fatal(err)
	}
	r := &running{t: u.t, cmd: cmd}
	r.stderr = bufio.NewReader(io.TeeReader(pipe, &r.output))
	return r
}

// waitFor waits until a line on standard error contains words.
func (r *running) waitFor(words string) {
	r.t.Helper()
	for {
		line, err := r.stderr.ReadString('\n')
		if strings.Contains(line, words) {
			return
		}
		if err != nil {
			r.t.Fatalf("it ended (%v) and never said %q:\n%s", r.cmd.Wait(), words, r.output.String())
		}
	}
}

// wait waits for the program to end and returns its exit code, or -1 if it was killed.
func (r *running) wait() int {
	r.t.Helper()
	_, _ = io.Copy(io.Discard, r.stderr)
	err := r.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.t.Fatal(err)
	}
	return r.cmd.ProcessState.ExitCode()
}

func (r *running) expectExit(want int) {
	r.t.Helper()
	if got := r.wait(); got != want {
		r.t.Errorf("exit code %d, not %d:\n%s", got, want, r.output.String())
	}
}

func (r *running) signal(s syscall.Signal) {
	r.t.Helper()
	if err := r.cmd.Process.Signal(s); err != nil {
		r.t.Fatal(err)
	}
}

// holdFolder starts a process that has the folder open until release is called. The process reads a request body from
// a pipe that stays open.
func (u *testUser) holdFolder() (r *running, release func()) {
	u.t.Helper()
	cmd := u.command("api", "POST", "/kb/search", "-d", "-")
	in, err := cmd.StdinPipe()
	if err != nil {
		u.t.Fatal(err)
	}
	r = u.start(cmd)
	socket := filepath.Join(u.home, "data", "service.sock")
	for {
		conn, err := net.Dial("unix", socket)
		if err == nil {
			_ = conn.Close()
			break
		}
		select {
		case <-u.t.Context().Done():
			u.t.Fatal("the folder was never opened")
		case <-time.After(10 * time.Millisecond):
		}
	}
	return r, func() {
		_, _ = io.WriteString(in, `{"query":"backup"}`)
		_ = in.Close()
	}
}

// writeEvidence writes some of the example documents, in several formats, to a folder.
func (u *testUser) writeEvidence() string {
	u.t.Helper()
	dir := filepath.Join(u.home, "evidence")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		u.t.Fatal(err)
	}
	for _, name := range []string{
		"HQ-POL-02-access-control-policy.docx", "HQ-POL-04-acceptable-use-policy.pdf", "HQ-POL-07-cryptography-policy.md",
		"HQ-PRO-03-backup-and-restore-procedure.md", "HQ-REG-03-supplier-register.xlsx", "access-review-2026-Q3.csv", "restore-test-log-2026.txt",
	} {
		b, err := os.ReadFile(filepath.Join("..", "..", "examples", "harbor", "evidence", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o600)
		}
		if err != nil {
			u.t.Fatal(err)
		}
	}
	return dir
}

// outcome is the result of an assessment, without anything that differs from run to run.
type outcome struct {
	Versions  map[string][]string // content hashes by deliverable
	Documents []string
	States    []string
	Events    map[string]int
	Reports   int
	Approvals int
}

func (u *testUser) outcome() outcome {
	u.t.Helper()
	type list struct{ Data []map[string]any }
	assessments := readJSON[list](u, "assess", "list").Data
	if len(assessments) != 1 {
		u.t.Fatalf("%d assessments, not one", len(assessments))
	}
	id := assessments[0]["id"].(string)
	of := func(what string) []map[string]any {
		return readJSON[list](u, "api", "GET", "/assessments/"+id+"/"+what+"?limit=200").Data
	}
	out := outcome{Versions: map[string][]string{}, Events: map[string]int{}, Reports: len(of("reports")), Approvals: len(of("approvals"))}
	for _, d := range of("documents") {
		out.Documents = append(out.Documents, d["filename"].(string)+" "+d["status"].(string))
	}
	for _, kind := range []string{"soa", "gap-analysis", "maturity", "poam"} {
		for _, v := range of(kind) {
			out.Versions[kind] = append(out.Versions[kind], v["content_sha256"].(string))
		}
	}
	for _, e := range of("lifecycle/events") {
		out.States = append(out.States, e["to_state"].(string))
	}
	for _, e := range of("timeline") {
		out.Events[e["type"].(string)]++
	}
	return out
}
