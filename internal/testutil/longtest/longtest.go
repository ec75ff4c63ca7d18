// Package longtest skips tests that take long, so that the usual run stays short. Some tests check
// less data instead.
package longtest

import (
	"os"
	"testing"
)

// Variable is the environment variable that turns long tests on when it is "1".
const Variable = "SERVICE_LONG_TESTS"

// Enabled reports whether long tests are to run.
func Enabled() bool { return os.Getenv(Variable) == "1" }

// SkipUnlessEnabled skips a long test unless long tests are enabled. docs/testing.md says
// what each test that calls it would catch.
func SkipUnlessEnabled(t testing.TB) {
	t.Helper()
	if !Enabled() {
		t.Skipf("this test takes long: set %s=1 to run it (see docs/testing.md)", Variable)
	}
}
