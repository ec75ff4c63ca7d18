package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/scf-service/service/cli"
)

// examineByPart examines a data folder and returns the diagnostics by part.
func examineByPart(t *testing.T, data string) map[string]cli.Diagnostic {
	t.Helper()
	out := map[string]cli.Diagnostic{}
	for _, f := range examineMachine(t.Context(), cli.ExamineOptions{Data: data}) {
		out[f.Component] = f
		if (f.State == cli.DiagnosticWarning || f.State == cli.DiagnosticFailed) && f.Remedy == "" {
			t.Errorf("%s is %s, and nothing says what to do", f.Component, f.State)
		}
	}
	return out
}

func TestExamine(t *testing.T) {
	home := t.TempDir()
	for _, v := range []string{"XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"} {
		t.Setenv(v, filepath.Join(home, v))
	}
	for _, v := range []string{
		"SERVICE_OCR", "SERVICE_MODEL", "SERVICE_SECRET_KEY", "SERVICE_WEBHOOK_ALLOW",
		"SERVICE_REPORT_FONT", "SERVICE_LOG", "SERVICE_DATA",
	} {
		t.Setenv(v, "")
	}
	data := filepath.Join(home, "data")
	got := examineByPart(t, data)
	for part, state := range map[string]cli.DiagnosticState{
		"data folder":  cli.DiagnosticNote,
		"daemon":       cli.DiagnosticNote,
		"model":        cli.DiagnosticOK,
		"PDF reader":   cli.DiagnosticOK,
		"variables":    cli.DiagnosticOK,
		"state folder": cli.DiagnosticOK,
	} {
		if got[part].State != state {
			t.Errorf("%s: %+v, want %s", part, got[part], state)
		}
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("looking made %v, %v", left, err)
	}

	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if f := examineByPart(t, data)["data folder"]; f.State != cli.DiagnosticOK {
		t.Errorf("%+v", f)
	}
	if left, err := os.ReadDir(data); err != nil || len(left) > 0 {
		t.Errorf("looking left %v, %v", left, err)
	}
	if runtime.GOOS != "windows" {
		if err := os.Chmod(data, 0o755); err != nil {
			t.Fatal(err)
		}
		if f := examineByPart(t, data)["data folder"]; f.State != cli.DiagnosticWarning || !strings.Contains(f.Remedy, "chmod 700") {
			t.Errorf("%+v", f)
		}
	}
	file := filepath.Join(home, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if f := examineByPart(t, file)["data folder"]; f.State != cli.DiagnosticFailed {
		t.Errorf("%+v", f)
	}
	if err := os.WriteFile(modelChoicePath(data), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if f := examineByPart(t, data)["model"]; f.State != cli.DiagnosticFailed || !strings.Contains(f.Remedy, "service model use") {
		t.Errorf("%+v", f)
	}
	if err := os.Remove(modelChoicePath(data)); err != nil { // the file also contains the limits for a run
		t.Fatal(err)
	}
	t.Setenv("SERVICE_MODEL", "ollama/nothing")
	t.Setenv("SERVICE_MODEL_SERVER", "http://127.0.0.1:1")
	if f := examineByPart(t, data)["model"]; f.State != cli.DiagnosticWarning || !strings.Contains(f.Detail, "127.0.0.1:1") {
		t.Errorf("%+v", f)
	}
	t.Setenv("SERVICE_SECRET_KEY", "SECRET")
	t.Setenv("SERVICE_WEBHOOK_ALLOW", "ten")
	t.Setenv("SERVICE_LOG", "loud")
	if f := examineByPart(t, data)["variables"]; f.State != cli.DiagnosticFailed || !strings.Contains(f.Detail, "SERVICE_LOG") ||
		!strings.Contains(f.Detail, "SERVICE_WEBHOOK_ALLOW") ||
		strings.Contains(f.Detail, "SECRET\"") {
		t.Errorf("%+v", f)
	}
	t.Setenv("SERVICE_OCR", "--psm")
	if f := examineByPart(t, data)["pictures"]; f.State != cli.DiagnosticFailed {
		t.Errorf("%+v", f)
	}
	t.Setenv("SERVICE_OCR", "off")
	if f := examineByPart(t, data)["pictures"]; f.State != cli.DiagnosticNote {
		t.Errorf("%+v", f)
	}
}

// BenchmarkHelp measures the help page, the first thing users wait for; every shell completion
// starts the same way.
func BenchmarkHelp(b *testing.B) {
	env := append(os.Environ(), "HOME="+b.TempDir())
	for b.Loop() {
		cmd := exec.CommandContext(b.Context(), "service", "--help")
		cmd.Env = env
		if out, err := cmd.Output(); err != nil || len(out) < 1000 {
			b.Fatalf("%d bytes, %v", len(out), err)
		}
	}
}
