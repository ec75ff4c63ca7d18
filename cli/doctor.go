package cli

import (
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
)

// DiagnosticState is how a part was found.
type DiagnosticState string

// The outcomes, from best to worst. A note is a choice or a thing that is not there and need not be;
// a warning is what will hurt some day; what failed hinders now.
const (
	DiagnosticOK      DiagnosticState = "fine"
	DiagnosticNote    DiagnosticState = "note"
	DiagnosticWarning DiagnosticState = "warning"
	DiagnosticFailed  DiagnosticState = "failed"
)

var diagnosticStates = []DiagnosticState{DiagnosticOK, DiagnosticNote, DiagnosticWarning, DiagnosticFailed}

// Diagnostic is what `doctor` found of one part.
type Diagnostic struct {
	Component string          `json:"part"`
	State     DiagnosticState `json:"state"`
	Detail    string          `json:"detail"`
	// Remedy says what to do; empty where there is nothing to.
	Remedy string `json:"do"`
}

// ExamineOptions say what to look at on this machine.
type ExamineOptions struct {
	// Data is the data folder; empty for the usual one.
	Data string
	// Remote: commands work on a server, so that the data folder matters less.
	Remote bool
}

// doctorReport is all findings.
type doctorReport struct {
	Worst       DiagnosticState `json:"worst"`
	Version     string          `json:"version"`
	Diagnostics []Diagnostic    `json:"data"`
}

// worstState is the worst outcome among findings.
func worstState(all []Diagnostic) DiagnosticState {
	w := 0
	for _, f := range all {
		w = max(w, slices.Index(diagnosticStates, f.State))
	}
	return diagnosticStates[w]
}

// examineTimeout bounds the whole examination.
const examineTimeout = 45 * time.Second

func (a *app) doctorCommand() *cobra.Command {
	var strict bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "Look at everything the program needs, and say what to do", Args: requireArgs(0, 0),
		Long: `Looks at what is configured, reachable, licensed and writable: settings, contexts and
keyring, the server with its certificate, credential and clock, the data folder with its
daemon and catalog, free disk, the model, and the programs that read pictures. It changes
nothing, and makes no data folder where there is none.

Each part is fine, a note, a warning or failed, with what to do. The exit code is 1 where
one failed, with --strict also where one is a warning, else 0.`,
		Example:     "  service doctor\n  service doctor --strict -q\n  service doctor -o json --jq '.data[] | select(.state != \"fine\")'",
		Annotations: map[string]string{toleratesSettingsErrors: "yes"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), examineTimeout)
			defer cancel()
			d := &doctorReport{Version: a.Version, Diagnostics: a.examine(ctx, cmd)}
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
				err:  errors.New(pluralize(n, "part needs attention", "parts need attention")),
				hint: "the lines above say what to do",
			}
		},
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "fail on warnings, too")
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
		[]print.Column{
			{Title: "part", NoShrink: true},
			{Title: "state", NoShrink: true, Style: styleForState},
			{Title: "what was found", Wrap: true},
		},
		rows,
	)
}

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

// examine looks at one part after the other.
func (a *app) examine(ctx context.Context, cmd *cobra.Command) []Diagnostic {
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
		out = append(out, a.examineStore(ctx)...)
	}
	return out
}

func (a *app) examineSettings(cmd *cobra.Command) []Diagnostic {
	file, named := a.configFilePath(cmd.Root().PersistentFlags().Lookup("config").Value.String())
	_, err := os.Stat(file)
	f := Diagnostic{Component: "configuration", State: DiagnosticOK, Detail: file}
	switch {
	case a.settingsErr != nil:
		f.State, f.Detail, f.Remedy = DiagnosticFailed, a.settingsErr.Error(), "mend it; `service help configuration` lists the keys"
	case file == "":
		f.State, f.Detail, f.Remedy = DiagnosticNote, "there is no home folder, so no configuration file and no contexts", "set HOME or XDG_CONFIG_HOME where you want them"
	case errors.Is(err, fs.ErrNotExist) && !named:
		f.State, f.Detail = DiagnosticNote, "no file, and none is needed; it would be "+file
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
				Remedy:    orElse(a.hintFor(a.targetErr), "mend or delete the file; `service login URL` makes a new one"),
			},
		)
	case a.context == nil && a.flags.Server != "":
		return append(
			out,
			Diagnostic{
				Component: "context",
				State:     DiagnosticOK,
				Detail:    "none; commands work on " + redactPassword(a.flags.Server),
				Remedy:    "",
			},
		)
	case a.context == nil:
		return append(
			out,
			Diagnostic{Component: "context", State: DiagnosticOK, Detail: "none; commands work on the data folder", Remedy: ""},
		)
	}
	c := Diagnostic{
		Component: "context",
		State:     DiagnosticOK,
		Detail:    fmt.Sprintf("%s: %s at %s", a.context.Name, orElse(a.context.User, "an API key"), a.context.Server),
	}
	if !a.context.SignedIn() && a.flags.Token == "" {
		c.State, c.Detail, c.Remedy = DiagnosticFailed, c.Detail+"; signed out", "sign in with `"+a.loginCommandFor(a.context)+"`"
	}
	return append(out, c)
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

func (a *app) examineKeyring() Diagnostic {
	f := Diagnostic{Component: "keyring", State: DiagnosticOK, Detail: "answers"}
	switch {
	case a.Keyring == nil && a.Env("SERVICE_KEYRING") != "":
		f.State, f.Detail = DiagnosticNote, "off by SERVICE_KEYRING: secrets of sign-ins go into files of mode 0600"
	case a.Keyring == nil:
		f.State, f.Detail = DiagnosticNote, "this system offers none here: secrets of sign-ins go into files of mode 0600"
	default:
		if err := contexts.CheckKeyring(a.Keyring); err != nil {
			f.State, f.Detail, f.Remedy = DiagnosticWarning, "does not answer: "+err.Error(), "unlock it; or set SERVICE_KEYRING=off to keep secrets in files"
		}
	}
	return f
}

// examineStore asks the engine on the data folder, where there is one already.
func (a *app) examineStore(ctx context.Context) []Diagnostic {
	if a.ResolvePaths != nil {
		if _, err := os.Stat(a.ResolvePaths(a.flags.Data).Database); errors.Is(err, fs.ErrNotExist) {
			return []Diagnostic{
				{
					Component: "store",
					State:     DiagnosticNote,
					Detail:    "empty: nothing was stored yet",
					Remedy:    "begin with `service demo` or `service assess run FOLDER`",
				},
			}
		}
	}
	health, err := call(ctx, a, api.GetHealthDetailed, &api.None{})
	if err != nil {
		return []Diagnostic{
			{
				Component: "store",
				State:     DiagnosticFailed,
				Detail:    err.Error(),
				Remedy:    orElse(a.hintFor(err), "see what has it open with `service daemon status`"),
			},
		}
	}
	var out []Diagnostic
	for _, c := range health.Checks {
		// The disk was looked at already, and the model by asking it.
		if c.Name == "disk" || c.Name == "model" {
			continue
		}
		out = append(out, diagnosticFromCheck("", c))
	}
	return append(out, a.examineEmbedder(ctx)...)
}

// remedies is what to do about a part of the service that is not well.
var remedies = map[string]string{
	"store":   "see the log; restore a backup where the disk is broken",
	"index":   "see `service doc list --status failed`, then `service doc reprocess DOCUMENT`",
	"catalog": "import one with `service catalog import FILE`",
	"model":   "see `service model status`",
	"disk":    "free some space where the data folder is",
	"mail":    "see the settings of mail",
}

// diagnosticFromCheck is a check of the service as a finding.
func diagnosticFromCheck(prefix string, c api.HealthCheck) Diagnostic {
	if c.OK {
		return Diagnostic{Component: prefix + c.Name, State: DiagnosticOK, Detail: c.Detail}
	}
	return Diagnostic{
		Component: prefix + c.Name,
		State:     DiagnosticFailed,
		Detail:    c.Detail,
		Remedy:    orElse(remedies[c.Name], "see the service's log"),
	}
}

// examineEmbedder tells which embedder answers, and how far it is.
func (a *app) examineEmbedder(ctx context.Context) (out []Diagnostic) {
	if s, err := call(ctx, a, api.GetEmbeddingStatus, &api.None{}); err == nil {
		f := Diagnostic{
			Component: "embedder",
			State:     DiagnosticOK,
			Detail:    fmt.Sprintf("%s, %d of %d passages", embedderLabel(s.Embedder), s.Embedded, s.Total),
		}
		if s.Away != nil {
			f.State, f.Detail, f.Remedy = DiagnosticWarning, f.Detail+"; "+*s.Away, "see that the model's server runs; until then "+s.ServedBy+" answers"
		}
		out = append(out, f)
	}
	return out
}
