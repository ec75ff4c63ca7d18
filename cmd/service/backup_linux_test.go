package main

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scf-service/service/client"
)

// TestBackupOnlyOverTheFoldersSocket checks that no caller over the network can start a backup, neither over TCP nor
// over a Unix socket that the daemon listens on, with whatever path or credential. It also checks that requests on
// the folder's own socket are validated.
func TestBackupOnlyOverTheFoldersSocket(t *testing.T) {
	u := newTestUser(t)
	web := filepath.Join(u.home, "web.sock")
	r, url := u.startDaemon("--listen", "unix:"+web)
	var made struct {
		APIKey string `json:"api_key"`
	}
	out := u.do("daemon", "init", "--org", "Acme", "--email", "a@acme.example", "-o", "json")
	if err := json.Unmarshal(out, &made); err != nil || made.APIKey == "" {
		t.Fatalf("%v: %s", err, out)
	}
	target := filepath.Join(u.home, "stolen.bak")
	body := `{"path": "` + target + `"}`
	send := func(transport http.RoundTripper, address, content string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+made.APIKey)
		req.Header.Set("Content-Type", "application/json")
		resp, err := transport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	socket := func(path string) http.RoundTripper {
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		return client.OneRequestTransport(conn)
	}
	for _, path := range []string{backupPath, "/api/v1" + backupPath, "/api/v1/..%2f.." + backupPath, "/" + backupPath, "/api/v1/backup"} {
		if code := send(http.DefaultTransport, url+path, body); code < 300 || code >= 500 {
			t.Errorf("%s over TCP: %d", path, code)
		}
		if code := send(socket(web), "http://x"+path, body); code < 300 || code >= 500 {
			t.Errorf("%s over the daemon's Unix socket: %d", path, code)
		}
	}
	own := filepath.Join(u.home, "data", "service.sock")
	for _, content := range []string{`{"path": "relative.bak"}`, `{"path": ""}`, `{`, `{"path": "` + strings.Repeat("x", 100<<10) + `"}`} {
		if code := send(socket(own), "http://x"+backupPath, content); code != http.StatusBadRequest {
			t.Errorf("%.40s: %d", content, code)
		}
	}
	left, err := filepath.Glob(filepath.Join(u.home, "*.bak"))
	if err != nil || len(left) > 0 {
		t.Errorf("files were written: %v, %v", left, err)
	}
	// Anyone who can open the folder's socket is its operator, and gets a file that only they can read.
	u.do("backup", target)
	if info, err := os.Stat(target); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	r.stopDaemon()
}

// TestBackupWithoutRoom checks that a full or read-only target results in a clear error and leaves no file behind,
// even if a daemon writes the backup, and that the daemon continues.
func TestBackupWithoutRoom(t *testing.T) {
	u := newTestUser(t)
	disk := u.mountSmallDisk("small", "64k")
	r, _ := u.startDaemon()
	u.do("assess", "create", "Acme")
	for _, dir := range []string{disk, "/proc"} {
		var stderr bytes.Buffer
		cmd := u.command("backup", filepath.Join(dir, "acme.bak"))
		cmd.Stderr = &stderr
		if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != 3 {
			t.Errorf("%s: exit %d", dir, cmd.ProcessState.ExitCode())
		}
		if dir == disk && !strings.Contains(stderr.String(), "free some space") {
			t.Errorf("%s: %s", dir, stderr.String())
		}
	}
	if left := filesBelow(t, disk); len(left) > 0 {
		t.Errorf("left on the full disk: %v", left)
	}
	u.do("backup", filepath.Join(u.home, "acme.bak"))
	u.do("backup", "verify", filepath.Join(u.home, "acme.bak"))
	r.stopDaemon()
}
