// Package fulldisktest fills the disk for tests: no file of their process grows any more.
package fulldisktest

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
)

// subprocessEnv names the test that runs in a process of its own.
const subprocessEnv = "SERVICE_TEST_ALONE"

// RunInSubprocess runs the calling test once more in a process of its own, in which it returns false. In the
// first it returns true when that is over, and the test has nothing more to do: what `go test`
// writes of its process, among others which files it opened, is not to meet the limit.
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

// LimitFileSize makes every file of this process stop growing at n bytes, which is what a full disk
// looks like from here, until undo.
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
