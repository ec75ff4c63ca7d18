package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// mountSmallDisk mounts a disk of the given size, or skips the test if that is not allowed.
func (u *testUser) mountSmallDisk(name, size string) string {
	u.t.Helper()
	dir := filepath.Join(u.home, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		u.t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		u.t.Skipf("a small disk can't be mounted: %v", err)
	}
	u.t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			u.t.Error(err)
		}
	})
	return dir
}

// fillDisk fills a disk until only left bytes are free.
func fillDisk(t *testing.T, dir string, left int64) (free func()) {
	t.Helper()
	path := filepath.Join(dir, "filler")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var size int64
	for block := bytes.Repeat([]byte("x"), 4096); ; {
		n, err := f.Write(block)
		if size += int64(n); err != nil {
			break
		}
	}
	if err := f.Truncate(size - left); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

func filesBelow(t *testing.T, dir string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestReportsOnAFullDisk checks that no partial file is left in any format, and that there is an error, if the disk
// of the output or of the data folder fills up while a report is being written.
func TestReportsOnAFullDisk(t *testing.T) {
	u := newTestUser(t)
	policy := filepath.Join(u.home, "policy.md")
	if err := os.WriteFile(
		policy,
		[]byte("# Policy\n\nApproved 2026-02-01. Multi-factor authentication is required for all remote access.\n"),
		0o644,
	); err != nil {
		t.Fatal(err)
	}
	full, room := u.mountSmallDisk("full", "16k"), u.mountSmallDisk("room", "64m")
	for i, e := range u.env {
		if strings.HasPrefix(e, "SERVICE_DATA=") {
			u.env[i] = "SERVICE_DATA=" + filepath.Join(room, "data")
		}
	}
	u.do("assess", "run", policy, "--framework", "lgpd", "--name", "Acme", "--approve", "-q")
	refused := func(path, want string, args ...string) {
		t.Helper()
		out, err := u.command(append([]string{"report", "create", "-q", "--out", path}, args...)...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%v on a full disk: %v, %s; want %q", args, err, out, want)
		}
	}
	kinds := [][]string{
		{"--format", "pdf"},
		{"--format", "html"},
		{"--format", "docx"},
		{"--format", "xlsx"},
		{"--format", "md"},
		{"--format", "json"},
		{"--format", "oscal"},
		{"--template", "soa", "--format", "csv"},
		{"--template", "audit_package", "--format", "html"},
	}
	for _, args := range kinds {
		refused(filepath.Join(full, "report"), "report: no space left on device", args...)
	}
	if left := filesBelow(t, full); len(left) > 0 {
		t.Errorf("left on the full disk: %q", left)
	}
	type list struct {
		Data []struct{ ID string }
	}
	reports := len(readJSON[list](u, "report", "list").Data)
	blobs := len(filesBelow(t, filepath.Join(room, "data", "blobs")))

	free := fillDisk(t, room, 4<<10)
	for _, args := range kinds {
		// A different title results in a different file, which has not been stored yet.
		refused(filepath.Join(u.home, "report"), "the disk is full; free some space and try again", append(args, "--title", "Again")...)
	}
	if _, err := os.Stat(filepath.Join(u.home, "report")); !os.IsNotExist(err) {
		t.Errorf("a report was saved that could not be kept: %v", err)
	}
	free()
	if n := len(readJSON[list](u, "report", "list").Data); n != reports {
		t.Errorf("%d reports, want %d", n, reports)
	}
	if left := filesBelow(t, filepath.Join(room, "data", "tmp")); len(left) > 0 {
		t.Errorf("left in the data folder: %q", left)
	}
	if n := len(filesBelow(t, filepath.Join(room, "data", "blobs"))); n != blobs {
		t.Errorf("%d files are kept, want %d", n, blobs)
	}
	u.do("report", "create", "-q", "--template", "full", "--format", "pdf", "--out", filepath.Join(u.home, "report"))
}
