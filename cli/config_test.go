package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/cli/contexts"
)

// settingsShown returns the settings that `config show` prints, by key.
func settingsShown(w *world, args ...string) map[string]effectiveSetting {
	w.t.Helper()
	got := w.run(append([]string{"config", "show", "-o", "json"}, args...)...)
	var out struct{ Data []effectiveSetting }
	if err := json.Unmarshal([]byte(got.out), &out); err != nil || got.code != 0 {
		w.t.Fatalf("%v\n%s%s", err, got.out, got.errOut)
	}
	by := map[string]effectiveSetting{}
	for _, s := range out.Data {
		by[s.Key] = s
	}
	return by
}

func TestConfigShowsWhereEachSettingIsFrom(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "service", "config.yaml")
	put(
		t,
		file,
		"org: from-file\nlog-level: debug\nlisten: [\"127.0.0.1:9000\", \":9001\"]\ntoken: service_live_SECRET\nembedder: ollama/x\n",
	)
	w.env["XDG_CONFIG_HOME"] = dir
	w.env["SERVICE_SERVER"] = "https://ada:SECRET@env.example"
	w.env["SERVICE_STORE"] = "postgres://grc@db/grc?password=SECRET&sslpassword=SECRET"
	w.env["SERVICE_LOG_FORMAT"] = "json"
	w.env["SERVICE_SECRET_KEY"] = "SECRET"
	w.env["NO_COLOR"] = "1"
	got := settingsShown(w, "--quiet")
	for key, want := range map[string]effectiveSetting{
		"org":                {"org", "from-file", true, "file", file},
		"server":             {"server", "https://ada:xxxxx@env.example", true, "environment", "SERVICE_SERVER"},
		"store":              {"store", "postgres://grc@db/grc?password=xxxxx&sslpassword=xxxxx", true, "environment", "SERVICE_STORE"},
		"quiet":              {"quiet", "true", true, "flag", "--quiet"},
		"output":             {"output", "json", true, "flag", "--output"},
		"token":              {"token", hiddenValue, true, "file", file},
		"embedder":           {"embedder", "ollama/x", true, "file", file},
		"log-level":          {"log-level", "debug", true, "file", file},
		"log-format":         {"log-format", "json", true, "environment", "SERVICE_LOG_FORMAT"},
		"listen":             {"listen", "127.0.0.1:9000, :9001", true, "file", file},
		"shutdown-timeout":   {"shutdown-timeout", "30s", false, "default", ""},
		"ca":                 {"ca", "", false, "default", ""},
		"SERVICE_SECRET_KEY": {"SERVICE_SECRET_KEY", hiddenValue, true, "environment", "SERVICE_SECRET_KEY"},
		"NO_COLOR":           {"NO_COLOR", "1", true, "environment", "NO_COLOR"},
	} {
		if got[key] != want {
			t.Errorf("%s: %+v, want %+v", key, got[key], want)
		}
	}
	// Every setting is shown, but a variable only if it is set.
	for _, s := range settings {
		if _, ok := got[s.key]; !ok {
			t.Errorf("%s is not shown", s.key)
		}
	}
	for _, s := range daemonSettings {
		if _, ok := got[s.key]; !ok {
			t.Errorf("%s is not shown", s.key)
		}
	}
	if _, ok := got["SERVICE_LOG"]; ok {
		t.Error("a variable that is not set is shown")
	}
	if all := settingsShown(w, "--all"); all["SERVICE_LOG"].Origin != "default" {
		t.Error("--all does not show a variable that is not set")
	}
	for _, args := range [][]string{{"config", "show"}, {"config", "show", "--origin"}, {"config", "show", "-o", "csv"}, {"doctor"}} {
		if got := w.run(args...); strings.Contains(got.out+got.errOut, "SECRET\"") || strings.Contains(got.out+got.errOut, ":SECRET") ||
			strings.Contains(got.out, "live_SECRET") {
			t.Errorf("%v shows a secret:\n%s%s", args, got.out, got.errOut)
		}
	}
	w.want(w.run("config", "show", "--origin"), 0, "ORIGIN", "SERVICE_SERVER")
}

// TestOrganizationVariable checks that different variables set the organization for commands and the one that the
// daemon creates.
func TestOrganizationVariable(t *testing.T) {
	w := newWorld(t)
	w.env["SERVICE_ORG"] = "Acme"
	if got := settingsShown(w)["org"]; got.Value != "" {
		t.Errorf("SERVICE_ORG gives --org: %+v", got)
	}
	w.want(w.run("version"), 0)
	if got := w.run("config", "show"); strings.Contains(got.errOut, "SERVICE_ORG") {
		t.Errorf("a command on the data folder warns: %s", got.errOut)
	}
	w.env["SERVICE_SERVER"] = "https://grc.acme.example"
	w.want(w.run("config", "show"), 0, "for commands, use SERVICE_DEFAULT_ORG or --org")
	w.env["SERVICE_DEFAULT_ORG"] = "beta"
	got := settingsShown(w)["org"]
	if got.Value != "beta" || got.Source != "SERVICE_DEFAULT_ORG" {
		t.Errorf("got %+v", got)
	}
	if got := w.run("config", "show"); strings.Contains(got.errOut, "SERVICE_ORG") {
		t.Errorf("a command with the new variable warns: %s", got.errOut)
	}
}

func TestConfigShowsTheContextInUse(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	w.env["XDG_CONFIG_HOME"] = dir
	put(t, filepath.Join(dir, "service", "config.yaml"), "server: https://file.example\n")
	put(
		t,
		filepath.Join(dir, "service", "contexts.yaml"),
		"current: acme\ncontexts:\n  - name: acme\n    server: https://grc.acme.example\n"+
			"    organization_id: "+orgID+"\n    credential: session\n    secret_location: file\n",
	)
	got := settingsShown(w)
	for key, want := range map[string]effectiveSetting{
		"context": {"context", "acme", true, "context", "acme"},
		"server":  {"server", "https://grc.acme.example", true, "context", "acme"},
		"org":     {"org", orgID, true, "context", "acme"},
		"token":   {"token", hiddenValue, true, "context", "acme"},
	} {
		if got[key] != want {
			t.Errorf("%s: %+v, want %+v", key, got[key], want)
		}
	}
	if got := settingsShown(w, "--server", "https://flag.example")["server"]; got.Value != "https://flag.example" || got.Origin != "flag" {
		t.Errorf("%+v", got)
	}
}

func TestConfigPathIsToldOfABrokenFileToo(t *testing.T) {
	w := newWorld(t)
	w.want(w.run("config", "path"), 3, "set HOME")
	dir := t.TempDir()
	w.env["XDG_CONFIG_HOME"] = dir
	file := filepath.Join(dir, "service", "config.yaml")
	put(t, file, "sever: x\n")
	if got := w.run("config", "path"); got.out != file+"\n" || got.code != 0 {
		t.Errorf("%q, %s", got.out, got.errOut)
	}
	w.want(w.run("config", "show"), 2, "an unknown key \"sever\"")
	w.want(w.run("config", "path", "--all"), 0, "contexts.yaml")
	w.want(w.run("config", "path", "--config", "x.yaml"), 0, "x.yaml")
}

type silentRing struct{ err error }

func (r silentRing) Set(string, string) error   { return r.err }
func (r silentRing) Get(string) (string, error) { return "", r.err }
func (r silentRing) Delete(string) error        { return r.err }

// found runs `doctor` and returns its diagnostics by component.
func found(w *world, code int, args ...string) map[string]Diagnostic {
	w.t.Helper()
	got := w.run(append([]string{"doctor", "-o", "json"}, args...)...)
	var d doctorReport
	if err := json.Unmarshal([]byte(got.out), &d); err != nil || got.code != code {
		w.t.Fatalf("exit code %d, want %d; %v\n%s%s", got.code, code, err, got.out, got.errOut)
	}
	by := map[string]Diagnostic{}
	for _, f := range d.Diagnostics {
		by[f.Component] = f
		if f.State != DiagnosticOK && f.State != DiagnosticNote && f.Remedy == "" {
			w.t.Errorf("%s is %s, and nothing says what to do", f.Component, f.State)
		}
	}
	return by
}

func TestDoctorOnTheDataFolder(t *testing.T) {
	w := newWorld(t)
	w.env["XDG_CONFIG_HOME"] = t.TempDir()
	data, unused := t.TempDir(), true
	var machine []Diagnostic
	w.options = func(o *Options) {
		o.Keyring = silentRing{contexts.ErrNoSecret}
		o.ResolvePaths = func(string) Paths { return Paths{Data: data, Unused: unused} }
		o.Examine = func(context.Context, ExamineOptions) []Diagnostic { return machine }
	}
	got := found(w, 0)
	if got["store"].State != DiagnosticNote || got["keyring"].State != DiagnosticOK || got["configuration"].State != DiagnosticNote {
		t.Errorf("%+v", got)
	}
	if len(w.fake.said) != 0 {
		t.Errorf("an empty data folder was opened: %v", w.fake.said)
	}
	unused = false
	w.fake.on["GET /health/detailed"] = func(rw http.ResponseWriter, _ *http.Request) bool {
		write(
			rw,
			200,
			map[string]any{
				"ok":      false,
				"version": "1.2.3",
				"checks": []map[string]any{
					{"name": "store", "ok": true, "detail": "answers"},
					{"name": "index", "ok": false, "detail": "3 documents could not be read"},
				},
			},
		)
		return true
	}
	if got := found(w, 1); got["index"].State != DiagnosticFailed || got["store"].State != DiagnosticOK {
		t.Errorf("%+v", got)
	}
	delete(w.fake.on, "GET /health/detailed")
	w.connect = errRefused
	if got := found(w, 1); got["store"].State != DiagnosticFailed {
		t.Errorf("%+v", got)
	}
	unused = true

	// A warning is not a failure, except with --strict.
	machine = []Diagnostic{{"free disk", DiagnosticWarning, "little", "free some"}}
	found(w, 0)
	found(w, 1, "--strict")
	w.want(w.run("doctor", "-q"), 0, "free disk", "→ free some")
	if got := w.run("doctor", "-q"); strings.Contains(got.out, "keyring") {
		t.Errorf("-q shows what is fine:\n%s", got.out)
	}
}

func TestDoctorGoesOnWithBrokenSettings(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	w.env["XDG_CONFIG_HOME"] = dir
	w.options = func(o *Options) { o.Keyring = silentRing{errRefused} }
	put(t, filepath.Join(dir, "service", "config.yaml"), "sever: x\n")
	put(t, filepath.Join(dir, "service", "contexts.yaml"), "contexts: [")
	got := found(w, 1)
	if got["configuration"].State != DiagnosticFailed || !strings.Contains(got["configuration"].Detail, `did you mean "server"`) ||
		got["context"].State != DiagnosticFailed ||
		got["keyring"].State != DiagnosticWarning {
		t.Errorf("%+v", got)
	}
	put(t, filepath.Join(dir, "service", "config.yaml"), "output: xml\n")
	if got := w.run("doctor"); got.code != 1 || !strings.Contains(got.out, "unknown output format") {
		t.Errorf("%d\n%s%s", got.code, got.out, got.errOut)
	}
	w.want(w.run("doctor", "-o", "xml"), 2, "unknown output format")
}

func TestDoctorOnAServer(t *testing.T) {
	w := newWorld(t)
	w.env["XDG_CONFIG_HOME"] = t.TempDir()
	now := time.Unix(1_800_000_000, 0)
	date := now
	w.fake.on["GET /health"] = func(rw http.ResponseWriter, _ *http.Request) bool {
		rw.Header().Set("Date", date.UTC().Format(http.TimeFormat))
		write(rw, 200, map[string]any{"ok": true})
		return true
	}
	ends := now.Add(72 * time.Hour)
	actor := "api_key"
	w.fake.on["GET /users/me"] = func(rw http.ResponseWriter, _ *http.Request) bool {
		write(
			rw,
			200,
			map[string]any{
				"user":         map[string]any{"email": "ada@acme.example"},
				"actor":        map[string]any{"type": actor, "name": "ci"},
				"organization": "Acme",
				"expires_at":   ends,
			},
		)
		return true
	}
	w.fake.on["GET /health/detailed"] = func(rw http.ResponseWriter, _ *http.Request) bool {
		write(
			rw,
			200,
			map[string]any{
				"ok":      true,
				"version": "1.2.4",
				"checks":  []map[string]any{{"name": "catalog", "ok": true, "detail": "version x"}},
			},
		)
		return true
	}
	server := []string{"--server", "https://grc.example"}
	got := found(w, 0, server...)
	for part, state := range map[string]DiagnosticState{
		"server":          DiagnosticOK,
		"clock":           DiagnosticOK,
		"certificate":     DiagnosticWarning,
		"credential":      DiagnosticWarning,
		"server: version": DiagnosticNote,
		"server: catalog": DiagnosticOK,
	} {
		if got[part].State != state {
			t.Errorf("%s: %+v, want %s", part, got[part], state)
		}
	}
	date, ends = now.Add(3*time.Minute), now.Add(365*24*time.Hour)
	got = found(w, 0, server...)
	if f := got["clock"]; f.State != DiagnosticWarning || !strings.Contains(f.Detail, "3m0s ahead") ||
		got["credential"].State != DiagnosticOK {
		t.Errorf("%+v", got)
	}
	date = now.Add(-2 * time.Hour)
	if f := found(w, 0, server...)["clock"]; !strings.Contains(f.Detail, "2h0m0s behind") {
		t.Errorf("%+v", f)
	}
	w.fake.on["GET /users/me"] = func(rw http.ResponseWriter, _ *http.Request) bool { rw.WriteHeader(500); return true }
	if f := found(w, 1, server...)["credential"]; f.State != DiagnosticFailed {
		t.Errorf("%+v", f)
	}
	w.connect = errRefused
	if f := found(w, 1, server...)["server"]; f.State != DiagnosticFailed || !strings.Contains(f.Remedy, "check that the server is running") {
		t.Errorf("%+v", f)
	}
}
