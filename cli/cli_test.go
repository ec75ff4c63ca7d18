package cli

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/scf-service/service/api"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		err  error
		code int
		says string
	}{
		{"fine", []string{"assess", "list"}, nil, 0, "Acme"},
		{"help", []string{"assess"}, nil, 0, "Available Commands"},
		{"version", []string{"--version"}, nil, 0, "service 1.2.3"},
		{"no such command", []string{"asess", "list"}, nil, 2, `did you mean "assess"?`},
		{"no such subcommand", []string{"assess", "stats"}, nil, 2, `did you mean "status"?`},
		{"no such command, help asked", []string{"nope", "--help"}, nil, 2, "unknown command"},
		{"no such help", []string{"help", "assess", "rum"}, nil, 2, `did you mean "run"?`},
		{"no such flag", []string{"assess", "list", "--bogus"}, nil, 2, "hint: see the flags with `service assess list --help`"},
		{"bad value", []string{"assess", "list", "--limit", "x"}, nil, 2, "--limit takes a whole number"},
		{"negative limit", []string{"assess", "list", "--limit", "-1"}, nil, 2, "use 0 for all"},
		{"argument missing", []string{"assess", "use"}, nil, 2, "usage: service assess use ID|NAME"},
		{"argument too many", []string{"soa", "validate", "x"}, nil, 2, `unexpected argument "x"`},
		{"bad format", []string{"assess", "list", "-o", "xml"}, nil, 2, "choose one of table, json, yaml, csv"},
		{"bad filter", []string{"assess", "list", "--jq", ".[["}, nil, 2, "jq filter"},
		{"bad state", []string{"assess", "transition", "clsoed"}, nil, 2, `did you mean "closed"?`},
		{"no such operation", []string{"api", "list-assessment"}, nil, 2, `did you mean "list-assessments"`},
		{"rejection without a reason", []string{"soa", "reject"}, nil, 2, "needs a reason"},
		{"bad input by the server", []string{"assess", "list"}, api.Invalid("q", "the words are too long"), 2, "the words are too long"},
		{"not there", []string{"assess", "list"}, api.NotFound("thing", "x"), 3, `there is no thing "x"`},
		{"state in the way", []string{"assess", "list"}, api.Conflict("it is closed"), 3, "it is closed"},
		{"something inside", []string{"assess", "list"}, errors.New("secret"), 3, "trace id: trace-1"},
		{"too fast", []string{"assess", "list"}, api.RateLimited(7), 3, "try again in 7 seconds"},
		{
			"approval missing",
			[]string{"assess", "list"},
			api.ApprovalRequired(api.GateSoA, someID, "it waits"), 4,
			"submit it with `service soa submit`",
		},
		{"no credential", []string{"assess", "list"}, api.Unauthorized("who are you"), 5, "SERVICE_TOKEN"},
		{"not allowed", []string{"assess", "list"}, api.Forbidden("you may not"), 5, "owner or admin"},
		{"no organization", []string{"assess", "list"}, api.TenantRequired(), 2, "SERVICE_DEFAULT_ORG"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.fake.assessment("Acme", api.StateDraft)
			if c.err != nil {
				w.fake.on["GET /assessments"] = func(rw http.ResponseWriter, _ *http.Request) bool { write(rw, 0, c.err); return true }
			}
			got := w.run(c.args...)
			w.want(got, c.code, c.says)
			if c.code != 0 && got.out != "" {
				t.Errorf("an error wrote to stdout: %s", got.out)
			}
			if strings.Contains(got.errOut, "goroutine") || strings.Contains(got.errOut, "secret") {
				t.Errorf("the error shows the inside: %s", got.errOut)
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	w := newWorld(t)
	w.connect = errRefused
	w.want(w.run("assess", "list"), 3, "service: no answer from grc.example", "hint: check that the server is running")
}

func TestInterrupted(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(context.Background())
	w.fake.assessment("Acme", api.StateDocumentsUploaded)
	w.fake.on["POST /assessments/"+idOf(1)+"/lifecycle/transition"] = func(http.ResponseWriter, *http.Request) bool { cancel(); return false }
	w.want(
		w.runIn(ctx, "assess", "run"),
		130,
		"interrupted",
		`progress is saved in the assessment "Acme"; continue with`,
		"service assess run",
	)
}

// hostileName contains sequences that would take effect on a terminal if they were printed unchanged.
const hostileName = "Acme\x1b]0;owned\x07\x1b[2J\u009b31m\u202e2026"

func TestHostileTextNeverReachesTheTerminal(t *testing.T) {
	w := newWorld(t)
	w.fake.assessment(hostileName, api.StateDraft)
	for _, args := range [][]string{
		{"assess", "list"},
		{"assess", "show"},
		{"assess", "status"},
		{"assess", "list", "-o", "json"},
		{"assess", "list", "-o", "yaml"},
		{"assess", "list", "-o", "csv"},
		{"assess", "list", "--jq", ".data[].name"},
		{"assess", "use", hostileName},
		{"api", "GET", "/assessments"},
		{"assess", "use", "no\x1b[31msuch"},
		{"\x1b[31m"},
	} {
		got := w.run(args...)
		for _, r := range got.out + got.errOut {
			if r != '\n' && (r < 0x20 || (r >= 0x7f && r < 0xa0) || r == '\u202e') {
				t.Errorf("%q printed %q in\n%q\n%q", args, r, got.out, got.errOut)
				break
			}
		}
	}
}

func TestFormats(t *testing.T) {
	w := newWorld(t)
	w.fake.assessment("Acme 2026", api.StateDraft)
	var l api.List[api.Assessment]
	if err := json.Unmarshal([]byte(w.run("assess", "list", "-o", "json").out), &l); err != nil || len(l.Data) != 1 ||
		l.Pagination.Total != 1 {
		t.Errorf("-o json is not the API's list: %v %+v", err, l)
	}
	w.want(w.run("assess", "list", "-o", "yaml"), 0, "name: Acme 2026", "pagination:")
	w.want(w.run("assess", "list", "-o", "csv"), 0, "id,created_at", ",Acme 2026,")
	if got := w.run("assess", "list", "--jq", ".data[0].name"); got.out != "Acme 2026\n" {
		t.Errorf("--jq gave %q", got.out)
	}
	w.want(w.run("assess", "show", "--jq", "error(\"no\")"), 3, "the jq filter failed")
}

func TestTablesFitTheTerminal(t *testing.T) {
	w := newWorld(t)
	w.width = 80
	w.fake.assessment(strings.Repeat("日本語の長い名前 ", 12), api.StateGapAnalysisUnderReview)
	got := w.run("assess", "list")
	w.want(got, 0, "…", idOf(1))
	if shown := w.run("assess", "show").out; strings.Contains(shown, "…") {
		t.Errorf("show cuts: %s", shown)
	}
}

func TestSettingsComeFromFlagsThenVariablesThenFile(t *testing.T) {
	w := newWorld(t)
	w.fake.assessment("Acme", api.StateDraft)
	dir := t.TempDir()
	file := filepath.Join(dir, "service", "config.yaml")
	put(t, file, "server: https://file.example\noutput: yaml\norg: from-file\n")
	w.env["XDG_CONFIG_HOME"] = dir
	w.env["SERVICE_SERVER"] = "https://env.example"
	w.want(w.run("assess", "list"), 0, "name: Acme")
	if w.target.Server != "https://env.example" || w.target.Organization != "from-file" {
		t.Errorf("target %+v", w.target)
	}
	w.run("assess", "list", "--server", "https://flag.example", "-o", "json")
	if w.target.Server != "https://flag.example" {
		t.Errorf("target %+v", w.target)
	}
	put(t, file, "sever: https://file.example\n")
	w.want(w.run("assess", "list"), 2, `an unknown key "sever"; did you mean "server"?`)
	put(t, file, "a: [\n")
	w.want(w.run("assess", "list"), 2, "is not valid YAML")
	w.want(w.run("assess", "list", "--config", filepath.Join(dir, "none.yaml")), 3, "can't be read")
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestWhichAssessmentIsMeant(t *testing.T) {
	w := newWorld(t)
	w.want(w.run("assess", "show"), 3, "there are no assessments yet", "service demo")
	w.fake.assessment("One", api.StateDraft)
	w.want(w.run("assess", "show"), 0, "One")
	w.fake.assessment("Two", api.StateDraft)
	w.want(w.run("assess", "show"), 2, "there are 2 assessments")
	w.want(w.run("assess", "use", "one"), 0, `Commands now use the assessment "One"`)
	w.want(w.run("assess", "show"), 0, "One")
	w.want(w.run("assess", "list"), 0, "*  One")
	w.want(w.run("assess", "show", "-a", "Two"), 0, "Two")
	w.want(w.run("assess", "show", "Three"), 3, `no assessment with the ID or name "Three"`)
	// Each data folder has its own current assessment.
	w.want(w.run("assess", "show", "--data", t.TempDir()), 2, "there are 2 assessments")
	w.fake.assessment("one", api.StateDraft)
	w.want(w.run("assess", "use", "ONE"), 2, "2 assessments have the name", "specify the assessment by its ID")
	w.want(w.run("assess", "run", "--name", "One"), 2, "2 assessments have the name", "--assessment ID")
	// The assessment used last may have been deleted.
	w.fake.assessments = w.fake.assessments[1:2]
	w.want(w.run("assess", "show"), 0, "Two")
	put(t, filepath.Join(w.state, "memory.json"), "{broken")
	w.want(w.run("assess", "show"), 0, "Two")
}

func TestProposedCommandsCarryTheFlagsThatReachTheData(t *testing.T) {
	w := newWorld(t)
	w.want(w.run("assess", "show", "--data", "/tmp/my data"), 3, "service demo --data '/tmp/my data'")
}

func TestDeletionIsAskedFor(t *testing.T) {
	w := newWorld(t)
	w.fake.assessment("Trial", api.StateDraft)
	w.want(w.run("assess", "delete", "Trial"), 2, "pass --yes to confirm")
	for _, s := range w.fake.said {
		if strings.HasPrefix(s, "DELETE") {
			t.Error("it was deleted without being asked for")
		}
	}
}

// TestEveryCommandTeaches checks that every command has help texts and valid examples.
func TestEveryCommandTeaches(t *testing.T) {
	root := (&app{Options: Options{Env: func(string) string { return "" }}}).rootCommand()
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		if !c.IsAdditionalHelpTopicCommand() && (c.Short == "" || c.Long == "" || c.Example == "") {
			t.Errorf("`%s` lacks a short line, a long text or an example", c.CommandPath())
		}
		for _, line := range strings.Split(c.Long+"\n"+c.Example, "\n") {
			if len([]rune(line)) > 110 {
				t.Errorf("`%s` has a line of %d signs in its help", c.CommandPath(), len([]rune(line)))
			}
		}
		for _, line := range strings.Split(c.Example, "\n") {
			checkExample(t, root, c, strings.TrimSpace(line))
		}
		if c != root {
			root.PersistentFlags().VisitAll(func(f *pflag.Flag) {
				if c.Flag(f.Name) != f && !replacesShared[c.CommandPath()+" --"+f.Name] {
					t.Errorf("`%s` has a flag --%s of its own, so that the one of all commands can't be given", c.CommandPath(), f.Name)
				}
			})
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(root)
}

// replacesShared lists the flags that replace one of all commands on purpose: those of check take several formats, and
// daemon init names the organization that it creates.
var replacesShared = map[string]bool{
	"service check --output": true, "service check diff --output": true, "service daemon init --org": true,
}

// checkExample checks that an example uses only existing commands and flags.
func checkExample(t *testing.T, root, c *cobra.Command, line string) {
	words := strings.Fields(line)
	if len(words) == 0 || words[0] != "service" {
		return
	}
	found, _, err := root.Find(words[1:])
	if err != nil || (found == root && len(words) > 1 && !strings.HasPrefix(words[1], "-") && words[1] != "help") {
		t.Errorf("`%s` shows %q, which is no command", c.CommandPath(), line)
		return
	}
	found.InitDefaultHelpFlag()
	for _, w := range words {
		name, ok := strings.CutPrefix(w, "--")
		name, _, _ = strings.Cut(name, "=")
		if ok && name != "" && found.Flags().Lookup(name) == nil && found.InheritedFlags().Lookup(name) == nil {
			t.Errorf("`%s` shows %q, but `%s` has no flag --%s", c.CommandPath(), line, found.CommandPath(), name)
		}
	}
}

func TestHelpIsAsWritten(t *testing.T) {
	w := newWorld(t)
	got := w.run("--help").out
	golden := filepath.Join("testdata", "help.txt")
	if *update {
		put(t, golden, got)
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the help changed; if that is meant, run the test with -update\n%s", got)
	}
}
