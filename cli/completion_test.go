package cli

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/testutil/programtest"
)

func TestTabProposesIDs(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	w.env["XDG_CONFIG_HOME"] = dir
	put(
		t,
		filepath.Join(dir, "service", "contexts.yaml"),
		"contexts:\n  - name: acme\n    server: https://grc.acme.example\n    credential: key\n",
	)
	one := w.fake.assessment("Acme", api.StateDraft)
	d := api.Document{AssessmentID: one.ID, Filename: "policy\x1b[2J.md", Status: api.DocumentIngested}
	d.ID = idOf(101)
	w.fake.documents = append(w.fake.documents, d)
	answer := func(path string, records ...map[string]any) {
		w.fake.on["GET "+path] = func(rw http.ResponseWriter, _ *http.Request) bool {
			write(rw, 200, map[string]any{"data": records, "pagination": map[string]any{"total": len(records)}})
			return true
		}
	}
	answer("/assessments/"+one.ID+"/reports", map[string]any{"id": idOf(7), "title": "Full report", "format": "pdf"})
	answer("/assessments/"+one.ID+"/workflows", map[string]any{"id": idOf(8), "status": "running"})
	answer("/assessments/"+one.ID+"/approvals", map[string]any{"id": idOf(9), "gate": "soa", "status": "pending"})
	answer("/api-keys", map[string]any{"id": idOf(10), "name": "ci"})
	answer("/organizations/"+orgID+"/webhooks", map[string]any{"id": idOf(11), "url": "https://ada:SECRET@hooks.example"})
	for _, c := range []struct{ words, want string }{
		{"doc show", "policy"},
		{"report download", idOf(7) + "\tFull report, pdf"},
		{"workflow watch", idOf(8) + "\trunning"},
		{"approval show", idOf(9)},
		{"key revoke", idOf(10) + "\tci"},
		{"webhook test", idOf(11) + "\thttps://ada:xxxxx@hooks.example"},
		{"assess list --assessment", one.ID + "\tAcme"},
		{"assess list --context", "acme\thttps://grc.acme.example"},
		{"assess list --output", "yaml"},
		{"completion", "fish"},
	} {
		got := w.run(append(append([]string{"__complete"}, strings.Fields(c.words)...), "")...)
		w.want(got, 0, c.want)
		if strings.Contains(got.out, "\x1b") || strings.Contains(got.out, "SECRET") {
			t.Errorf("%s proposes %q", c.words, got.out)
		}
	}
	// Without a server, completion offers nothing and prints no error.
	w.connect = errRefused
	if got := w.run("__complete", "doc", "show", ""); got.code != 0 || !strings.HasPrefix(got.out, ":") {
		t.Errorf("%d %q", got.code, got.out)
	}
}

// TestScriptsOfCompletionAreRead checks that each shell accepts its completion script. Shells that are not
// installed are skipped.
func TestScriptsOfCompletionAreRead(t *testing.T) {
	for shell, check := range map[string][]string{"bash": {"-n"}, "zsh": {"-n"}, "fish": {"--no-execute"}, "powershell": nil} {
		t.Run(shell, func(t *testing.T) {
			w := newWorld(t)
			w.connect = errRefused // completion scripts don't need the engine
			got := w.run("completion", shell)
			w.want(got, 0, "__complete")
			if len(got.out) < 1000 || len(w.fake.said) > 0 {
				t.Errorf("%d bytes, asked %v", len(got.out), w.fake.said)
			}
			if check == nil {
				return // it can't be checked without starting the shell
			}
			program := programtest.FindOrSkip(t, shell)
			file := filepath.Join(t.TempDir(), "script")
			if err := os.WriteFile(file, []byte(got.out), 0o600); err != nil {
				t.Fatal(err)
			}
			if said, err := exec.CommandContext(context.Background(), program, append(check, file)...).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, said)
			}
		})
	}
	w := newWorld(t)
	w.want(w.run("completion", "csh"), 2, `unknown shell "csh"`, "use one of bash, zsh, fish, powershell")
}
