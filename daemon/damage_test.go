package daemon_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/daemon"
	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/engine/enginetest"
)

// TestDamagedRecord changes a stored record while the daemon runs. Reading it must return an error that names
// it and says what to do; other records must stay readable.
func TestDamagedRecord(t *testing.T) {
	if enginetest.OnPostgres() {
		t.Skip("changes the file of a data folder")
	}
	var dir string
	w := newTestServer(t, daemon.Options{}, func(o *engine.Options) { dir = o.DB.Dir() })
	_, key := w.createOrganization("Acme", "a@acme.example")
	damaged := key.must("POST", api.CreateAssessment.Path, map[string]any{"name": "Zyxwvq"}).str("id")
	sound := key.must("POST", api.CreateAssessment.Path, map[string]any{"name": "Sound"}).str("id")

	changeStored(t, filepath.Join(dir, "service.db"), "Zyxwvq", "Zyxwwq")
	get := func(id string) reply {
		return key.do("GET", strings.Replace(api.GetAssessment.Path, "{assessmentId}", id, 1), nil)
	}
	a := get(damaged)
	want := `assessment "` + damaged + `" is damaged in the database; run ` + "`service doctor`" +
		" on the machine with the data folder, then restore a backup"
	if a.status != http.StatusInternalServerError || a.code() != string(api.CodeInternal) || a.str("error", "message") != want {
		t.Errorf("got %d %s", a.status, a.text)
	}
	if strings.Contains(a.text, dir) {
		t.Errorf("the answer names the data folder: %s", a.text)
	}
	if a := get(sound); a.status != http.StatusOK {
		t.Errorf("another assessment: %d %s", a.status, a.text)
	}
}

// changeStored replaces a text in a file in use by another of the same length.
func changeStored(t *testing.T, path, from, to string) {
	t.Helper()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for at := 0; ; at += len(to) {
		next := bytes.Index(whole[at:], []byte(from))
		if next < 0 {
			return
		}
		at += next
		if _, err := f.WriteAt([]byte(to), int64(at)); err != nil {
			t.Fatal(err)
		}
	}
}
