// Package shareddata finds real input in ../shared/data, next to the repository. Tests read it there and are skipped
// if it is missing. Nothing from it is ever copied to the repository.
package shareddata

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/scf-service/service/internal/testutil/testdir"
)

// PathOrSkip returns the absolute path of a file or folder below shared/data,
// and skips the test if it does not exist.
func PathOrSkip(t testing.TB, elem ...string) string {
	t.Helper()
	dir, err := testdir.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	p := filepath.Join(append([]string{filepath.Dir(dir), "shared", "data"}, elem...)...)
	if _, err := os.Stat(p); err != nil {
		t.Skipf("shared data is not on this machine: %v", err)
	}
	return p
}
