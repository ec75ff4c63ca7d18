//go:build unix

package regularfile

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestSpecialFiles checks that special files are rejected. If one were accepted, the test would wait or read forever.
func TestSpecialFiles(t *testing.T) {
	t.Chdir(t.TempDir()) // a socket's path must be short
	if err := syscall.Mkfifo("pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for link, to := range map[string]string{"link": "pipe", "zero": "/dev/zero"} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := OpenTree(t.Context(), ".", NoLimit)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"pipe": "this is a named pipe", "link": "this is a named pipe", "socket": "this is a socket",
		"zero": "this is a device", "/dev/zero": "this is a device",
	} {
		if _, err := Read(path, 10); err == nil || !strings.Contains(err.Error(), path+": "+want) {
			t.Errorf("reading %s: %v", path, err)
		}
		for _, flag := range []int{os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_APPEND | os.O_CREATE} {
			if _, err := OpenFile(path, flag, 0o600); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("writing %s: %v", path, err)
			}
		}
		if _, err := OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); !errors.Is(err, fs.ErrExist) {
			t.Errorf("creating %s: %v", path, err)
		}
		if filepath.IsLocal(path) {
			if _, err := tree.Open(path); err == nil {
				t.Errorf("%s was opened in its folder", path)
			}
			if _, err := OpenTree(t.Context(), path, NoLimit); err == nil {
				t.Errorf("%s was opened as a folder", path)
			}
		}
	}
}

// TestFileReplacedByPipe checks that the open file is inspected rather than the path: the test replaces the file
// after the first check.
func TestFileReplacedByPipe(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "f"), "text")
	tree, err := OpenTree(t.Context(), dir, NoLimit)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "f")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "f"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Open("f"); err == nil || !strings.Contains(err.Error(), "f: this is a named pipe") {
		t.Error(err)
	}
}
