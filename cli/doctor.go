package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/contexts"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

// DiagnosticState is the outcome of a check.
type DiagnosticState string

// The outcomes of a check, from best to worst. A note is about a user's choice or a missing optional component, a
// warning is about a future problem, and a failure is about a current problem.
const (
	DiagnosticOK      DiagnosticState = "ok"
	DiagnosticNote    DiagnosticState = "note"
	DiagnosticWarning DiagnosticState = "warning"
	DiagnosticFailed  DiagnosticState = "failed"
)

var diagnosticStates = []DiagnosticState{DiagnosticOK, DiagnosticNote, DiagnosticWarning, DiagnosticFailed}

// Diagnostic is the result that `doctor` reports for one component.
type Diagnostic struct {
	Component string          `json:"component"`
	State     DiagnosticState `json:"state"`
	Detail    string          `json:"detail"`
	// Remedy says what to do; empty if nothing is needed.
	Remedy string `json:"remedy"`
}

// ExamineOptions configures the checks of this machine.
type ExamineOptions struct {
	// Data is the data folder; empty for the default folder.
	Data string
	// Remote is set if commands use a server, so that problems with the data folder matter less.
	Remote bool
}

// doctorReport holds the results of `doctor`.
type doctorReport struct {
	Worst       DiagnosticState `json:"worst"`
	Version     string          `json:"version"`
	Diagnostics []Diagnostic    `json:"data"`
}

// worstState returns the worst outcome in all.
func worstState(all []Diagnostic) DiagnosticState {
	w := 0
	for _, f := range all {
		w = max(w, slices.Index(diagnosticStates, f.State))
	}
	return diagnosticStates[w]
}

// examineTimeout is the time limit for all checks together, except for those of the data folder. These have no limit,
// because their duration depends on the size of the folder: they read all records and files, and may add checksums.
const examineTimeout = 45 * time.Second

func (a *app) doctorCommand() *cobra.Command {
	var strict bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check the installation and suggest fixes",
		Long: `Checks what is configured, reachable and writable: settings, contexts and keyring; the
server with its certificate, credential and clock; the data folder with its daemon and
catalog; free disk space, the model, and the programs for OCR. It reads all records and
100 randomly chosen files of the data folder, and lists any that are damaged;
` + "`service audit verify`" + ` reads all files. The command changes nothing and does not create
a data folder.

Each component is reported as ok, note, warning or failed, with advice. The exit code is 1
if a component failed or, with --strict, if there is a warning; otherwise 0.`,
		Example:     "  service doctor\n  service doctor --strict -q\n  service doctor -o json --jq '.data[] | select(.state != \"ok\")'",
		Annotations: map[string]string{toleratesSettingsErrors: "yes"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), examineTimeout)
			defer cancel()
			d := &doctorReport{Version: a.Version, Diagnostics: a.runDiagnostics(ctx, cmd)}
			if cmd.Context().Err() != nil {
				return cmd.Context().Err()
			}
			d.Worst = worstState(d.Diagnostics)
			if err := a.out.Print(d, func(p *print.Page) { a.renderDoctorReport(p, d) }); err != nil {
				return err
			}
			limit := DiagnosticFailed
			if strict {
				limit = DiagnosticWarning
			}
			n := 0
			for _, f := range d.Diagnostics {
				if slices.Index(diagnosticStates, f.State) >= slices.Index(diagnosticStates, limit) {
					n++
				}
			}
			if n == 0 {
				return nil
			}
			return &exitError{
				code: exitVerdict,
				err:  errors.New(prose.Count(n, "component needs attention", "components need attention")),
				hint: "see the suggestions above",
			}
		},
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "exit with code 1 if there are warnings")
	return cmd
}

func (a *app) renderDoctorReport(p *print.Page, d *doctorReport) {
	var rows [][]string
	for _, f := range d.Diagnostics {
		if a.flags.quiet && (f.State == DiagnosticOK || f.State == DiagnosticNote) {
			continue
		}
		rows = append(rows, []string{f.Component, string(f.State), f.Detail})
		if f.Remedy != "" {
			rows = append(rows, []string{"", "", "→ " + f.Remedy})
		}
	}
	p.Table(
		[]print.Column{fixed("component"), {Title: "state", NoShrink: true, Style: styleForState}, wrapped("details")},
		rows,
	)
}

// styleForState returns the color of an outcome.
func styleForState(cell string) print.Style {
	switch DiagnosticState(cell) {
	case DiagnosticFailed:
		return print.Red
	case DiagnosticWarning:
		return print.Yellow
	case DiagnosticOK:
		return print.Green
	}
	return print.Plain
}

// runDiagnostics runs all checks.
func (a *app) runDiagnostics(ctx context.Context, cmd *cobra.Command) []Diagnostic {
	out := []Diagnostic{{Component: "program", State: DiagnosticOK, Detail: "service " + a.Version}}
	out = append(out, a.examineSettings(cmd)...)
	out = append(out, a.examineKeyring())
	remote := a.flags.Server != ""
	if remote && a.targetErr == nil {
		out = append(out, a.examineServer(ctx)...)
	}
	if a.Examine != nil {
		out = append(out, a.Examine(ctx, ExamineOptions{Data: a.flags.Data, Remote: remote})...)
	}
	if !remote && a.targetErr == nil {
		out = append(out, a.examineStore(cmd.Context())...)
	}
	return out
}

func (a *app) examineSettings(cmd *cobra.Command) []Diagnostic {
	file, named := a.configFilePath(cmd.Root().PersistentFlags().Lookup("config").Value.String())
	_, err := os.Stat(file)
	f := Diagnostic{Component: "configuration", State: DiagnosticOK, Detail: file}
	switch {
	case a.settingsErr != nil:
		f.State, f.Detail, f.Remedy = DiagnosticFailed, a.settingsErr.Error(), "correct the configuration file; `service help configuration` lists the keys"
	case file == "":
		f.State, f.Detail = DiagnosticNote, "there is no home folder, so the configuration file and contexts can't be used"
		f.Remedy = "to use a configuration file and contexts, set HOME or XDG_CONFIG_HOME"
	case errors.Is(err, fs.ErrNotExist) && !named:
		f.State, f.Detail = DiagnosticNote, fmt.Sprintf("there is no configuration file; if you need one, create %s", file)
	}
	out := []Diagnostic{f}
	switch {
	case a.targetErr != nil:
		return append(
			out,
			Diagnostic{
				Component: "context",
				State:     DiagnosticFailed,
				Detail:    a.targetErr.Error(),
				Remedy:    cmp.Or(a.hintFor(a.targetErr), "fix or delete the file; `service login URL` creates a new one"),
			},
		)
	case a.context == nil && a.flags.Server != "":
		return append(
			out,
			Diagnostic{
				Component: "context",
				State:     DiagnosticOK,
				Detail:    fmt.Sprintf("no context is selected; commands use %s", redactPassword(a.flags.Server)),
				Remedy:    "",
			},
		)
	case a.context == nil:
		return append(
			out,
			Diagnostic{Component: "context", State: DiagnosticOK, Detail: "no context is selected; commands use the data folder", Remedy: ""},
		)
	}
	c := Diagnostic{
		Component: "context",
		State:     DiagnosticOK,
		Detail:    fmt.Sprintf("%s: %s at %s", a.context.Name, cmp.Or(a.context.User, "an API key"), a.context.Server),
	}
	if !a.context.HasSecret() && a.flags.Token == "" {
		c.State, c.Detail, c.Remedy = DiagnosticFailed, c.Detail+"; signed out", "sign in with `"+a.loginCommandLineFor(a.context)+"`"
	}
	return append(out, c)
}

func (a *app) examineKeyring() Diagnostic {
	f := Diagnostic{Component: "keyring", State: DiagnosticOK, Detail: "available"}
	switch {
	case a.Keyring == nil && a.Env("SERVICE_KEYRING") != "":
		f.State, f.Detail = DiagnosticNote, "the keyring is disabled by SERVICE_KEYRING; secrets are stored in files with mode 0600"
	case a.Keyring == nil:
		f.State, f.Detail = DiagnosticNote, "no keyring is available; secrets are stored in files with mode 0600"
	default:
		if err := contexts.CheckKeyring(a.Keyring); err != nil {
			f.State, f.Detail = DiagnosticWarning, "does not respond: "+err.Error()
			f.Remedy = "unlock the keyring, or set SERVICE_KEYRING=off to store secrets in files"
		}
	}
	return f
}

// examineStore runs the engine's health checks on the data folder, unless the folder is unused.
func (a *app) examineStore(ctx context.Context) []Diagnostic {
	if a.ResolvePaths != nil && a.ResolvePaths(a.flags.Data).Unused {
		return []Diagnostic{
			{
				Component: "store",
				State:     DiagnosticNote,
				Detail:    "empty",
				Remedy:    "start with `service demo` or `service assess run FOLDER`",
			},
		}
	}
	health, err := call(ctx, a, api.GetHealthDetailed, &api.HealthDetailInput{Deep: "true"})
	if err != nil {
		return []Diagnostic{
			{
				Component: "store",
				State:     DiagnosticFailed,
				Detail:    err.Error(),
				Remedy:    cmp.Or(a.hintFor(err), "`service daemon status` shows which process is using the folder"),
			},
		}
	}
	var out []Diagnostic
	for _, c := range health.Checks {
		// Options.Examine checks the disk, the model and the backups.
		if slices.Contains([]string{"disk", "model", "backup"}, c.Name) {
			continue
		}
		out = append(out, diagnosticFromCheck("", c))
	}
	return append(append(out, a.examineEmbedder(ctx)...), a.examineReadings(ctx)...)
}

// examineReadings reports documents that this version of the program would read differently. It returns nil if there
// are none or their number can't be determined.
func (a *app) examineReadings(ctx context.Context) []Diagnostic {
	s, err := call(ctx, a, api.GetKBStats, &api.None{})
	if err != nil || s.OutdatedDocuments == 0 {
		return nil
	}
	return []Diagnostic{{
		Component: "documents", State: DiagnosticNote,
		Detail: fmt.Sprintf("%d of %s read by an older version of the program", s.OutdatedDocuments,
			prose.Count(s.Documents, "document was", "documents were")),
		Remedy: "to process an assessment's outdated documents again, run `service doc reprocess --outdated --assessment NAME`; `service assess list` lists all assessments",
	}}
}

// remedies maps the name of each of the engine's health checks to advice for when the check fails.
var remedies = map[string]string{
	"store":   "check the log; restore a backup if the disk is damaged",
	"index":   "run `service doc list --status failed`, then `service doc reprocess DOCUMENT`",
	"catalog": "import a catalog with `service catalog import FILE`",
	"model":   "run `service model status`",
	"disk":    "free up disk space for the data folder",
	"records": "stop the daemon and restore a backup of the data folder",
	"files":   "restore a backup of the data folder, or delete the damaged document or report and add it again; delete files that belong to no document or report",
	"mail":    "check the mail settings",
	"backup":  "run `service doctor` on the machine that contains the data folder",
}

// diagnosticFromCheck converts one of the engine's health checks to a Diagnostic, whose component is the check's name
// with the given prefix.
func diagnosticFromCheck(prefix string, c api.HealthCheck) Diagnostic {
	if c.OK {
		return Diagnostic{Component: prefix + c.Name, State: DiagnosticOK, Detail: c.Detail}
	}
	return Diagnostic{
		Component: prefix + c.Name,
		State:     DiagnosticFailed,
		Detail:    c.Detail,
		Remedy:    cmp.Or(remedies[c.Name], "check the service's log"),
	}
}

// examineEmbedder reports the active embedder (the model that turns passages into vectors) and how many
// passages it has processed. It returns nil if the status is unavailable.
func (a *app) examineEmbedder(ctx context.Context) (out []Diagnostic) {
	if s, err := call(ctx, a, api.GetEmbeddingStatus, &api.None{}); err == nil {
		f := Diagnostic{
			Component: "embedder",
			State:     DiagnosticOK,
			Detail:    fmt.Sprintf("%s, %d of %d passages", embedderLabel(s.Embedder), s.Embedded, s.Total),
		}
		if test := formatEmbedderTest(s); test != "" {
			f.Detail += "; test " + test
		}
		switch {
		case s.TestScore != nil && *s.TestScore < s.RequiredScore:
			f.State = DiagnosticWarning
			f.Remedy = fmt.Sprintf("set embedder to a model trained for search, or to builtin; until then, %s is used", s.ServedBy)
		case s.UnavailableReason != nil:
			f.State, f.Detail = DiagnosticWarning, f.Detail+"; "+*s.UnavailableReason
			f.Remedy = fmt.Sprintf("check that the model's server is running; until then, %s is used", s.ServedBy)
		}
		out = append(out, f)
	}
	return out
}
