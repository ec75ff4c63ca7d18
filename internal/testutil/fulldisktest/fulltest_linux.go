// Package fulldisktest simulates a full disk in tests, by limiting the size of the process's files.
package fulldisktest

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
)

// subprocessEnv is the environment variable that names the test to run in a subprocess.
const subprocessEnv = "SERVICE_TEST_ALONE"

// RunInSubprocess runs the calling test again in a subprocess, where it returns false. In the original process, it
// returns true once the subprocess has ended, and the test must return. This way, the limit does not affect files
// that `go test` makes its process write, such as the log of opened files.
func RunInSubprocess(t *testing.T) bool {
	t.Helper()
	if os.Getenv(subprocessEnv) == t.Name() {
		return false
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^"+t.Name()+"$", "-test.count=1")
	cmd.Env = append(os.Environ(), subprocessEnv+"="+t.Name())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return true
}

// LimitFileSize limits the size of every file of this process to n bytes until undo is called. Writing more fails as
// it does on a full disk.
func LimitFileSize(t *testing.T, n uint64) (undo func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	undo = func() { _ = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old) }
	t.Cleanup(undo)
	return undo
}
