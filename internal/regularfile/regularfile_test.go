package regularfile

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRead(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "f"), "four")
	if b, err := Read(path, 4); string(b) != "four" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := Read(path, 3); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "limit of 3 bytes") {
		t.Errorf("beyond the limit: %v", err)
	}
	if _, err := Read(path+"x", 4); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	if _, err := Read(filepath.Dir(path), 4); err == nil || !strings.Contains(err.Error(), "this is a folder") {
		t.Errorf("folder: %v", err)
	}
}

func TestReadAll(t *testing.T) {
	if b, err := ReadAll(strings.NewReader("four"), 4); string(b) != "four" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := ReadAll(strings.NewReader("four"), 3); !errors.Is(err, ErrTooLarge) {
		t.Errorf("beyond the limit: %v", err)
	}
}

// TestGrowingFile checks that bytes are counted as they are read, because a file can grow after it was opened.
func TestGrowingFile(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "log"), "12")
	f, err := Open(t.Context(), path, 5)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() != 2 {
		t.Fatalf("%v, %v", info, err)
	}
	write(t, path, "1234567")
	if b, err := io.ReadAll(f); string(b) != "12345" || !errors.Is(err, ErrTooLarge) {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := f.ReadAt(make([]byte, 2), 4); !errors.Is(err, ErrTooLarge) {
		t.Errorf("reading beyond the limit: %v", err)
	}
	if n, err := f.ReadAt(make([]byte, 2), 3); n != 2 || err != nil {
		t.Errorf("reading up to the limit: %d, %v", n, err)
	}
}

func TestReadEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f, err := Open(ctx, write(t, filepath.Join(t.TempDir(), "f"), "text"), NoLimit)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p := make([]byte, 1)
	if _, err := f.Read(p); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := io.Copy(io.Discard, f); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := f.ReadAt(p, 0); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestTree(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "a.txt"), "a")
	write(t, filepath.Join(dir, "sub", "b.txt"), "b")
	tree, err := OpenTree(t.Context(), dir, 10)
	if err != nil {
		t.Fatal(err)
	}
	if err := fstest.TestFS(tree, "a.txt", "sub/b.txt"); err != nil {
		t.Error(err)
	}
	write(t, filepath.Join(dir, "large"), "more than ten")
	if _, err := fs.ReadFile(tree, "large"); !errors.Is(err, ErrTooLarge) {
		t.Errorf("beyond the limit: %v", err)
	}
	if _, err := tree.Open("../" + filepath.Base(dir) + "/a.txt"); err == nil {
		t.Error("a path that leaves the folder was opened")
	}
	if _, err := OpenTree(t.Context(), filepath.Join(dir, "a.txt"), 10); err == nil {
		t.Error("a file was opened as a folder")
	}
}
