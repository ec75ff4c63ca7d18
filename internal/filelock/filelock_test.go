package filelock

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestTryLock(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, file} {
		release, err := TryLock(path)
		if errors.Is(err, errors.ErrUnsupported) {
			t.Skip("no locks on this system")
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := TryLock(path); !errors.Is(err, ErrLocked) {
			t.Errorf("%s was locked twice: %v", path, err)
		}
		release()
		again, err := TryLock(path)
		if err != nil {
			t.Fatal(err)
		}
		again()
	}
	if _, err := TryLock(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}
