// Package longtest skips tests that take a long time, so that the usual run stays short. Some tests check less data
// instead.
package longtest

import (
	"os"
	"testing"
)

// Variable is the environment variable that enables long tests if it is "1".
const Variable = "SERVICE_LONG_TESTS"

// Enabled reports whether long tests should run.
func Enabled() bool { return os.Getenv(Variable) == "1" }

// SkipUnlessEnabled skips a long test unless long tests are enabled. docs/testing.md lists what each test that calls
// it would catch.
func SkipUnlessEnabled(t testing.TB) {
	t.Helper()
	if !Enabled() {
		t.Skipf("this test takes long: set %s=1 to run it (see docs/testing.md)", Variable)
	}
}
