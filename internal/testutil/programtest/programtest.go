// Package programtest finds the programs that some tests run or compare with, such as pdftotext. It only finds them;
// tools/setup lists and installs them.
package programtest

import (
	"os"
	"os/exec"
	"testing"
)

// Variable is the environment variable that controls tests that need other programs: with "require", a missing
// program is a failure, and with "skip", these tests are skipped even if the program is installed.
const Variable = "SERVICE_TEST_PROGRAMS"

// FindOrSkip returns the path of a program. If the program is not installed, it skips the test, or fails it if
// programs are required.
func FindOrSkip(t testing.TB, name string) string {
	t.Helper()
	if os.Getenv(Variable) == "skip" {
		t.Skipf("%s=skip: this test needs %s", Variable, name)
	}
	path, err := exec.LookPath(name)
	if err != nil {
		SkipOrFail(t, name+" is not installed")
	}
	return path
}

// SkipOrFail skips a test that cannot run for the given reason, or fails it if programs are required.
func SkipOrFail(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv(Variable) == "require" {
		t.Fatalf("%s, and %s=require demands it: run tools/setup", reason, Variable)
	}
	t.Skip(reason)
}
