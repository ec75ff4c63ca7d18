// Package programtest finds the programs that some tests compare with or run, such as
// pdftotext. It only finds them; tools/setup lists them and installs them.
package programtest

import (
	"os"
	"os/exec"
	"testing"
)

// Variable is the environment variable that makes a missing program a failure when it is "1".
const Variable = "SERVICE_REQUIRE_PROGRAMS"

// FindOrSkip returns the path of a program. Where the program is not installed, it skips the test,
// or fails it if programs are required.
func FindOrSkip(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		SkipOrFail(t, name+" is not installed")
	}
	return path
}

// SkipOrFail skips a test that cannot run for the given reason, or fails it if programs are required.
func SkipOrFail(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv(Variable) == "1" {
		t.Fatalf("%s, and %s=1 requires it: run tools/setup", reason, Variable)
	}
	t.Skip(reason)
}
