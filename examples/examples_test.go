// Package examples_test uses the examples as their readers do: it parses each file by the rules of its format,
// runs the scripts against a real daemon, and compares the metrics named in rules and dashboard with those the
// daemon exports.
package examples_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/scf-service/service/internal/testutil/programtest"
	"github.com/scf-service/service/internal/testutil/testdir"
)

// documents reads all YAML documents of a file.
func documents(t *testing.T, path string) []map[string]any {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []map[string]any
	for d := yaml.NewDecoder(f); ; {
		var one map[string]any
		err := d.Decode(&one)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		out = append(out, one)
	}
}

// at returns the value at a path of keys in a parsed document, or nil if there is none.
func at(v any, keys ...string) any {
	for _, k := range keys {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[k]
	}
	return v
}

func TestFilesParse(t *testing.T) {
	n := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if strings.Contains(filepath.ToSlash(path), "/templates/") {
			return nil // YAML once Helm has rendered it
		}
		switch filepath.Ext(path) {
		case ".yaml", ".yml":
			n++
			// A hook file is a list, all others are records.
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			var any any
			for d := yaml.NewDecoder(bytes.NewReader(b)); ; {
				if err := d.Decode(&any); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Errorf("%s: %v", path, err)
					break
				}
			}
		case ".json":
			n++
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if !json.Valid(b) {
				t.Errorf("%s is no JSON", path)
			}
		}
		return nil
	})
	if err != nil || n < 12 {
		t.Fatalf("%d files parsed, %v", n, err)
	}
}

func TestScriptsAreRead(t *testing.T) {
	for _, path := range []string{
		"api/assess.sh",
		"../packaging/scripts/postinstall.sh",
		"../packaging/scripts/preremove.sh",
		"../packaging/scripts/postremove.sh",
	} {
		if out, err := exec.CommandContext(t.Context(), "sh", "-n", path).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", path, err, out)
		}
	}
	// The commands of a workflow form a script too.
	steps, _ := at(documents(t, "github/action/action.yml")[0], "runs", "steps").([]any)
	if len(steps) < 2 {
		t.Fatalf("%d steps in the action", len(steps))
	}
	for _, s := range steps {
		text, _ := at(s, "run").(string)
		cmd := exec.CommandContext(t.Context(), "bash", "-n")
		cmd.Stdin = strings.NewReader(text)
		if out, err := cmd.CombinedOutput(); err != nil || text == "" {
			t.Errorf("%v: %v\n%s", at(s, "name"), err, out)
		}
		// Values from outside must never be expanded in the text of a script.
		if strings.Contains(text, "${{") {
			t.Errorf("%v: an expression stands in the script; pass it as a variable", at(s, "name"))
		}
	}
}

var variable = regexp.MustCompile(`SERVICE_[A-Z_]*[A-Z]`)

// TestVariablesAreRead checks that the examples set only variables that the program reads.
func TestVariablesAreRead(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), program(t), "help", "environment").Output()
	if err != nil {
		t.Fatal(err)
	}
	known := variable.FindAllString(string(out), -1)
	// The scripts have one of their own.
	known = append(known, "SERVICE_URL")
	for _, path := range []string{
		"compose/compose.yaml", "compose/postgres.yaml", "kubernetes/service.yaml", "kubernetes/postgres.yaml", "systemd/service.service",
		"../packaging/Dockerfile", "../packaging/scf-service.env", "api/assess.py", "api/assess.sh",
	} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range variable.FindAllString(string(b), -1) {
			if !slices.Contains(known, v) {
				t.Errorf("%s sets %s, which nothing reads", path, v)
			}
		}
	}
}

func TestKubernetes(t *testing.T) {
	kinds := map[string]map[string]any{}
	for _, d := range documents(t, "kubernetes/service.yaml") {
		kind, _ := d["kind"].(string)
		kinds[kind] = d
		if d["apiVersion"] == nil || at(d, "metadata", "name") == nil {
			t.Errorf("%s has no apiVersion or name", kind)
		}
	}
	d := kinds["Deployment"]
	selector, labels := at(d, "spec", "selector", "matchLabels"), at(d, "spec", "template", "metadata", "labels")
	if fmt.Sprint(selector) != fmt.Sprint(labels) || fmt.Sprint(at(kinds["Service"], "spec", "selector")) != fmt.Sprint(labels) {
		t.Errorf("selectors don't fit: %v, %v", selector, labels)
	}
	if at(d, "spec", "replicas") != 1 || at(d, "spec", "strategy", "type") != "Recreate" {
		t.Error("more than one process could open the folder")
	}
	container := at(d, "spec", "template", "spec", "containers").([]any)[0]
	mounts := map[string]bool{}
	for _, m := range at(container, "volumeMounts").([]any) {
		mounts[at(m, "name").(string)] = true
	}
	for _, v := range at(d, "spec", "template", "spec", "volumes").([]any) {
		name := at(v, "name").(string)
		if !mounts[name] {
			t.Errorf("the volume %s is not mounted", name)
		}
		delete(mounts, name)
	}
	if len(mounts) > 0 {
		t.Errorf("mounted, and no volume: %v", mounts)
	}
}

// TestKubernetesOnPostgres checks the manifests of several daemons. Where Helm is installed, which the CI server does not do, it
// also lints and renders the chart; TestChart renders it without Helm.
func TestKubernetesOnPostgres(t *testing.T) {
	checkSharedDaemons(t, documents(t, "kubernetes/postgres.yaml"))
	helm, err := exec.LookPath("helm")
	if err != nil {
		t.Skip("helm is not installed")
	}
	if out, err := exec.CommandContext(t.Context(), helm, "lint", "--strict", "helm/service").CombinedOutput(); err != nil {
		t.Errorf("helm lint: %v\n%s", err, out)
	}
	rendered, err := exec.CommandContext(t.Context(), helm, "template", "grc", "helm/service", "--set",
		"replicas=3,settings.SERVICE_LOG_LEVEL=debug").Output()
	if err != nil {
		t.Fatalf("helm template: %v", err)
	}
	path := filepath.Join(t.TempDir(), "rendered.yaml")
	put(t, path, rendered, 0o644)
	checkSharedDaemons(t, documents(t, path))
	for _, want := range []string{"replicas: 3", "SERVICE_LOG_LEVEL: \"debug\"", "name: grc"} {
		if !strings.Contains(string(rendered), want) {
			t.Errorf("the rendered chart lacks %q", want)
		}
	}
	if out, err := exec.CommandContext(t.Context(), helm, "template", "grc", "helm/service", "--set", "store=").CombinedOutput(); err == nil ||
		!strings.Contains(string(out), "set store") {
		t.Errorf("without a database: %v\n%s", err, out)
	}
}

// checkSharedDaemons checks a Deployment whose pods share a database: they need a common key, must be replaced one after the
// other, and have no data of their own.
func checkSharedDaemons(t *testing.T, all []map[string]any) {
	t.Helper()
	kinds := map[string]map[string]any{}
	for _, d := range all {
		kind, _ := d["kind"].(string)
		kinds[kind] = d
	}
	d := kinds["Deployment"]
	labels := fmt.Sprint(at(d, "spec", "template", "metadata", "labels"))
	for _, selector := range []any{
		at(d, "spec", "selector", "matchLabels"), at(kinds["Service"], "spec", "selector"),
		at(kinds["PodDisruptionBudget"], "spec", "selector", "matchLabels"),
	} {
		if fmt.Sprint(selector) != labels {
			t.Errorf("the selector %v doesn't fit %s", selector, labels)
		}
	}
	if at(d, "spec", "strategy", "rollingUpdate", "maxUnavailable") != 0 {
		t.Error("an upgrade would make the service unavailable")
	}
	container := at(d, "spec", "template", "spec", "containers").([]any)[0]
	for _, probe := range []string{"startupProbe", "livenessProbe", "readinessProbe"} {
		if at(container, probe, "httpGet", "path") != "/api/v1/health" {
			t.Errorf("%s is missing", probe)
		}
	}
	if at(container, "resources", "limits", "memory") == nil {
		t.Error("there is no limit of memory")
	}
	fromSecret := map[any]bool{}
	for _, v := range at(container, "env").([]any) {
		fromSecret[at(v, "name")] = at(v, "valueFrom", "secretKeyRef", "key") != nil
	}
	settings, _ := at(kinds["ConfigMap"], "data").(map[string]any)
	for _, name := range []string{"SERVICE_SECRET_KEY", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		if !fromSecret[name] || settings[name] != nil {
			t.Errorf("%s must come from a secret", name)
		}
	}
	for _, name := range []string{"SERVICE_STORE", "SERVICE_BLOBS"} {
		if text, _ := settings[name].(string); text == "" || strings.Contains(text, ":PASSWORD") {
			t.Errorf("%s is %q", name, text)
		}
	}
	for _, v := range at(d, "spec", "template", "spec", "volumes").([]any) {
		if at(v, "persistentVolumeClaim") != nil {
			t.Errorf("the volume %v would be shared by all pods", at(v, "name"))
		}
	}
}

func TestSystemdTakesTheUnits(t *testing.T) {
	analyze := programtest.FindOrSkip(t, "systemd-analyze")
	dir := t.TempDir()
	args := []string{"--man=no", "verify"}
	for _, unit := range []string{"service.service", "service.socket"} {
		b, err := os.ReadFile(filepath.Join("systemd", unit))
		if err != nil {
			t.Fatal(err)
		}
		// A unit is valid only if its program exists.
		there := bytes.ReplaceAll(b, []byte("/usr/bin/scf-service"), []byte(program(t)))
		put(t, filepath.Join(dir, unit), there, 0o644)
		args = append(args, filepath.Join(dir, unit))
	}
	out, err := exec.CommandContext(t.Context(), analyze, args...).CombinedOutput()
	if err != nil || len(bytes.TrimSpace(out)) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

func put(t *testing.T, path string, b []byte, mode fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, mode); err != nil {
		t.Fatal(err)
	}
}

// built builds the program once and returns its path.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "service-examples-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "service")
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, "./cmd/service")
	cmd.Dir = ".."
	out, err := cmd.CombinedOutput()
	if err != nil {
		return dir, fmt.Errorf("the program can't be built: %w\n%s", err, out)
	}
	return path, nil
})

func program(t *testing.T) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := built(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// daemon is a daemon that runs during a test, with the first admin's key.
type daemon struct {
	url, key string
	env      []string
}

func start(t *testing.T, args ...string) *daemon {
	t.Helper()
	home := t.TempDir()
	d := &daemon{env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home, "SERVICE_KEYRING=off", "LC_ALL=C.UTF-8",
		"SERVICE_DATA=" + filepath.Join(home, "data"), "XDG_CACHE_HOME=" + testdir.CacheFolder(home),
		"PYTHONDONTWRITEBYTECODE=1", "GOGC=400",
	}}
	said, err := d.command(t, program(t), "daemon", "init", "--org", "Acme", "--email", "you@acme.example", "--jq", ".api_key").Output()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	d.key = strings.TrimSpace(string(said))
	args = append([]string{"daemon", "--listen", "127.0.0.1:0", "-o", "json", "--log-format", "json"}, args...)
	cmd := d.command(t, program(t), args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	var greeting struct {
		Listen []string `json:"listen"`
	}
	if err := json.NewDecoder(out).Decode(&greeting); err != nil || len(greeting.Listen) != 1 {
		t.Fatalf("the daemon said %+v, %v", greeting, err)
	}
	d.url = greeting.Listen[0]
	return d
}

func (d *daemon) command(t *testing.T, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = d.env
	return cmd
}

// TestScriptsOfTheAPI checks that the scripts do all the work on a real daemon, up to where a person decides.
func TestScriptsOfTheAPI(t *testing.T) {
	d := start(t)
	evidence := t.TempDir()
	for _, name := range []string{"HQ-PRO-03-backup-and-restore-procedure.md", "access-review-2026-Q3.csv"} {
		b, err := os.ReadFile(filepath.Join("harbor/evidence", name))
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(evidence, name), b, 0o644)
	}
	for script, needs := range map[string][]string{"api/assess.sh": {"sh", "curl", "jq"}, "api/assess.py": {"python3"}} {
		t.Run(script, func(t *testing.T) {
			for _, n := range needs {
				programtest.FindOrSkip(t, n)
			}
			cmd := d.command(t, needs[0], script, evidence)
			cmd.Env = append(cmd.Env, "SERVICE_URL="+d.url, "SERVICE_TOKEN="+d.key)
			out, err := cmd.CombinedOutput()
			if cmd.ProcessState.ExitCode() != 4 {
				t.Fatalf("exit code %d, %v\n%s", cmd.ProcessState.ExitCode(), err, out)
			}
			for _, want := range []string{
				"access-review-2026-Q3.csv",
				"state: soa_under_review",
				"controls have no evidence",
				"/approve, with a key",
			} {
				if !strings.Contains(string(out), want) {
					t.Errorf("it does not say %q:\n%s", want, out)
				}
			}
			bad := d.command(t, needs[0], script, evidence)
			bad.Env = append(bad.Env, "SERVICE_URL="+d.url, "SERVICE_TOKEN=service_live_wrong")
			if out, _ := bad.CombinedOutput(); bad.ProcessState.ExitCode() == 0 || bad.ProcessState.ExitCode() == 4 ||
				!strings.Contains(string(out), "401") {
				t.Errorf("a wrong key ends with %d\n%s", bad.ProcessState.ExitCode(), out)
			}
		})
	}
}

var metric = regexp.MustCompile(`\b(service|process|go)_[a-z0-9_]+\b`)

func (d *daemon) readMetrics(t *testing.T) string {
	t.Helper()
	resp, err := http.Get(d.url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

func TestMetricsThatAreNamedAreExported(t *testing.T) {
	backups := t.TempDir()
	d := start(t, "--backup-every", "24h", "--backup-to", backups)
	for range 2 { // a counter with labels exists once something was counted
		for _, path := range []string{"/api/v1/health", "/api/v1/users/me"} {
			resp, err := http.Get(d.url + path)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
		}
	}
	page := d.readMetrics(t)
	// The metrics of backups exist once the first one was made and restored.
	tick, deadline := time.NewTicker(100*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for !strings.Contains(page, "service_backup_drill_passed 1") {
		select {
		case <-tick.C:
			page = d.readMetrics(t)
		case <-deadline:
			t.Fatal("no backup was made within a minute")
		}
	}
	exported := map[string]bool{}
	for _, line := range strings.Split(page, "\n") {
		if words := strings.Fields(line); len(words) >= 4 && words[0] == "#" && words[1] == "TYPE" {
			exported[words[2]] = true
			if words[3] == "histogram" {
				exported[words[2]+"_bucket"] = true
			}
		}
	}
	if len(exported) < 20 {
		t.Fatalf("the daemon exports only %d metrics:\n%s", len(exported), page)
	}
	// Refusals are counted by category, so the metric doesn't exist before the first one.
	exported["service_rate_limited_total"] = true
	named := 0
	check := func(where, expression string) {
		for _, m := range metric.FindAllString(expression, -1) {
			named++
			if !exported[m] {
				t.Errorf("%s: the daemon exports no %s", where, m)
			}
		}
	}
	for _, g := range at(documents(t, "prometheus/rules.yaml")[0], "groups").([]any) {
		for _, r := range at(g, "rules").([]any) {
			name := fmt.Sprint(at(r, "alert"), at(r, "record"))
			check("rules.yaml: "+name, at(r, "expr").(string))
			if at(r, "alert") != nil &&
				(at(r, "labels", "severity") == nil || at(r, "annotations", "summary") == nil || at(r, "annotations", "description") == nil) {
				t.Errorf("%s: an alert wants a severity, a summary, and what to do", name)
			}
		}
	}
	b, err := os.ReadFile("grafana/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			ID      int
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(b, &board); err != nil {
		t.Fatal(err)
	}
	ids := map[int]bool{}
	for _, p := range board.Panels {
		if ids[p.ID] || len(p.Targets) == 0 || p.Title == "" {
			t.Errorf("the panel %d, %q, has no title or target, or an id that stands twice", p.ID, p.Title)
		}
		ids[p.ID] = true
		for _, target := range p.Targets {
			check("dashboard.json: "+p.Title, target.Expr)
		}
	}
	if named < 25 {
		t.Errorf("only %d metrics are named: the expressions are not read as they should be", named)
	}
}

// TestPolicies checks that the two repositories pass and fail as their names say, with the command and the
// formats that the workflows use.
func TestPolicies(t *testing.T) {
	if err := exec.CommandContext(t.Context(), program(t), "check", "--help").Run(); err != nil {
		t.Skip("this program has no `service check` yet")
	}
	for repository, want := range map[string]int{"passes": 0, "fails": 1} {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(filepath.Join("policies", repository))); err != nil {
			t.Fatal(err)
		}
		for _, outputs := range [][]string{
			{"-o", "github", "-o", "sarif=service.sarif"},
			{"-o", "text", "-o", "gitlab=code-quality.json", "-o", "junit=service.xml"},
		} {
			cmd := exec.CommandContext(
				t.Context(),
				program(t),
				append([]string{"check", "evidence", "--policy", ".service.yaml"}, outputs...)...)
			cmd.Dir = dir
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir + "/.home", "TMPDIR=" + dir, "SERVICE_KEYRING=off"}
			out, _ := cmd.CombinedOutput()
			if got := cmd.ProcessState.ExitCode(); got != want {
				t.Errorf("%s: exit code %d, want %d\n%s", repository, got, want, out)
			}
		}
		for _, file := range []string{"service.sarif", "code-quality.json"} {
			if b, err := os.ReadFile(filepath.Join(dir, file)); err != nil || !json.Valid(b) {
				t.Errorf("%s: %s is no JSON, %v", repository, file, err)
			}
		}
	}
}
