// Package shareddata finds the real input that tests read where it is and skip
// where it isn't: ../shared/data beside the repository. Nothing of it is ever copied here.
package shareddata

import (
	"os"
	"path/filepath"
	"testing"
)

// Path returns the absolute path of a file or folder below shared/data,
// and skips the test where it is not there.
func Path(t testing.TB, elem ...string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = up
	}
	p := filepath.Join(append([]string{filepath.Dir(dir), "shared", "data"}, elem...)...)
	if _, err := os.Stat(p); err != nil {
		t.Skipf("shared data is not on this machine: %v", err)
	}
	return p
}
