// Package postgrestest runs tests on a PostgreSQL server of their own: a private one in a temporary folder, accessed
// through a Unix socket and shared by the tests of a package.
package postgrestest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scf-service/service/internal/testutil/programtest"
)

// administrator is the name of the role that owns the server.
const administrator = "administrator"

// Server is a running PostgreSQL server.
type Server struct {
	folder  string // contains the data and the socket
	bin     string // folder of PostgreSQL's programs
	account *user.User
	process *exec.Cmd
	exited  chan struct{}
	durable bool
}

var (
	starting  sync.Mutex
	shared    *Server
	databases atomic.Int64
)

// Main runs the tests of a package, and then stops the shared server. Call it in TestMain.
func Main(m *testing.M) { os.Exit(Stopping{m}.Run()) }

// Stopping runs the tests of a package like testing.M, and then stops the shared server.
type Stopping struct{ *testing.M }

// Run runs the tests and returns the exit code.
func (s Stopping) Run() int {
	code := s.M.Run()
	if shared != nil {
		shared.stop("immediate")
		_ = os.RemoveAll(shared.folder)
	}
	return code
}

// NewURL returns the URL of a new schema on the shared server, which is started by the first call. If PostgreSQL is
// not installed, it skips the test, or fails it if programs are required.
func NewURL(t testing.TB) string {
	t.Helper()
	starting.Lock()
	defer starting.Unlock()
	if shared == nil {
		s := create(t, false)
		s.Start(t)
		shared = s
	}
	return shared.URL(fmt.Sprintf("schema%d", databases.Add(1)))
}

// NewServer starts a separate server for tests that restart it. The server writes durably, and is removed after the
// test.
func NewServer(t testing.TB) *Server {
	t.Helper()
	s := create(t, true)
	t.Cleanup(func() {
		s.stop("immediate")
		_ = os.RemoveAll(s.folder)
	})
	s.Start(t)
	return s
}

// URL returns the URL of a schema on the server.
func (s *Server) URL(schema string) string {
	q := url.Values{"host": {s.folder}, "schema": {schema}}
	return "postgres://" + administrator + "@/postgres?" + q.Encode()
}

// create creates the files of a server.
func create(t testing.TB, durable bool) *Server {
	t.Helper()
	s := &Server{bin: findPrograms(t), durable: durable}
	var err error
	if s.folder, err = os.MkdirTemp("", "service-postgres-"); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 { // PostgreSQL refuses to run as root
		for _, name := range []string{"postgres", "nobody"} {
			if s.account, err = user.Lookup(name); err == nil {
				break
			}
		}
		if s.account == nil {
			programtest.SkipOrFail(t, "PostgreSQL doesn't run as root, and there is no user postgres or nobody")
		}
		if err := os.Chown(s.folder, number(t, s.account.Uid), number(t, s.account.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	cmd := s.command("initdb", "--pgdata", s.data(), "--no-sync", "--auth=trust", "--username="+administrator, "--encoding=UTF8", "--locale=C")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	return s
}

func number(t testing.TB, text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// findPrograms returns the folder of PostgreSQL's programs. On Debian, it isn't in the PATH.
func findPrograms(t testing.TB) string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	slices.SortFunc(found, func(a, b string) int {
		return number(t, filepath.Base(filepath.Dir(filepath.Dir(a)))) - number(t, filepath.Base(filepath.Dir(filepath.Dir(b))))
	})
	if len(found) == 0 || os.Getenv(programtest.Variable) == "skip" {
		return filepath.Dir(programtest.FindOrSkip(t, "initdb"))
	}
	return filepath.Dir(found[len(found)-1])
}

func (s *Server) data() string { return filepath.Join(s.folder, "data") }

func (s *Server) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, program), args...)
	cmd.Dir = s.folder
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	setProcess(cmd, s.account)
	return cmd
}

// WriteFile writes a file in the server's folder that only the server can read, and returns its path.
func (s *Server) WriteFile(t testing.TB, name string, content []byte) (path string) {
	t.Helper()
	path = filepath.Join(s.folder, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if s.account != nil {
		if err := os.Chown(path, number(t, s.account.Uid), number(t, s.account.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// Start starts the server, with additional arguments, and waits until it accepts connections.
func (s *Server) Start(t testing.TB, more ...string) {
	t.Helper()
	args := []string{
		"-D", s.data(), "-k", s.folder, "-c", "listen_addresses=", "-c", "max_connections=60",
		"-c", "shared_buffers=64MB", "-c", "deadlock_timeout=100ms",
	}
	if !s.durable {
		args = append(args, "-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off")
	}
	var out bytes.Buffer
	s.process = s.command("postgres", append(args, more...)...)
	s.process.Stdout, s.process.Stderr = &out, &out
	exited := make(chan struct{})
	started := make(chan error)
	go runLocked(s.process, started, exited)
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	s.exited = exited
	for deadline := time.Now().Add(time.Minute); ; {
		if s.command("pg_isready", "--quiet", "--host", s.folder).Run() == nil {
			return
		}
		select {
		case <-exited:
			t.Fatalf("PostgreSQL has ended:\n%s", out.String())
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatal("PostgreSQL does not accept connections")
		}
	}
}

// ArchiveArguments returns the arguments of Start that make the server archive its write-ahead log.
func (s *Server) ArchiveArguments() []string {
	return []string{"-c", "archive_mode=on", "-c", "archive_command=cp %p " + s.folder + "/%f"}
}

// BaseBackup copies the server's files while it runs.
func (s *Server) BaseBackup(t testing.TB) {
	t.Helper()
	out, err := s.command("pg_basebackup", "--host", s.folder, "--username", administrator, "--pgdata", s.data()+".base",
		"--checkpoint=fast", "--no-sync").CombinedOutput()
	if err != nil {
		t.Fatalf("pg_basebackup: %v\n%s", err, out)
	}
}

// Recover replaces the files of a stopped server by those of the base backup, and restores what was archived until a
// moment. The server is running when it returns.
func (s *Server) Recover(t testing.TB, until time.Time) {
	t.Helper()
	if err := errors.Join(os.Rename(s.data(), s.data()+".lost"), os.Rename(s.data()+".base", s.data())); err != nil {
		t.Fatal(err)
	}
	s.WriteFile(t, filepath.Join("data", "recovery.signal"), nil)
	s.Start(t, "-c", "restore_command=cp "+s.folder+"/%f %p", "-c", "recovery_target_action=promote",
		"-c", "recovery_target_time="+until.UTC().Format("2006-01-02 15:04:05.999999+00"))
	for deadline := time.Now().Add(time.Minute); ; { // until then, it refuses writes
		out, err := s.command("psql", "--host", s.folder, "--username", administrator, "-Atc", "SELECT pg_is_in_recovery()", "postgres").Output()
		if err == nil && string(bytes.TrimSpace(out)) == "f" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("PostgreSQL does not end its recovery: %s %v", out, err)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// Stop stops the server. mode is "fast", which ends all connections, or "immediate", which is like a crash.
func (s *Server) Stop(t testing.TB, mode string) {
	t.Helper()
	if !s.stop(mode) {
		t.Fatal("PostgreSQL does not stop")
	}
}

func (s *Server) stop(mode string) bool {
	if s.process == nil || s.exited == nil {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_ = s.command("pg_ctl", "stop", "--silent", "--no-wait", "--pgdata", s.data(), "--mode", mode).Run()
	select {
	case <-s.exited:
		return true
	case <-ctx.Done():
		_ = s.process.Process.Kill()
		return false
	}
}
