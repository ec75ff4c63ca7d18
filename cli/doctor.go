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

// Outcome is how a part was found.
type Outcome string

// The outcomes, from best to worst. A note is a choice or a thing that is not there and need not be;
// a warning is what will hurt some day; what failed hinders now.
const (
	Fine    Outcome = "fine"
	Note    Outcome = "note"
	Warning Outcome = "warning"
	Failed  Outcome = "failed"
)

var outcomes = []Outcome{Fine, Note, Warning, Failed}

// Finding is what `doctor` found of one part.
type Finding struct {
	Part   string  `json:"part"`
	State  Outcome `json:"state"`
	Detail string  `json:"detail"`
	// Do says what to do; empty where there is nothing to.
	Do string `json:"do"`
}

// ExamineOptions say what to look at on this machine.
type ExamineOptions struct {
	// Data is the data folder; empty for the usual one.
	Data string
	// Remote: commands work on a server, so that the data folder matters less.
	Remote bool
}

// diagnosis is all findings.
type diagnosis struct {
	Worst    Outcome   `json:"worst"`
	Version  string    `json:"version"`
	Findings []Finding `json:"data"`
}

// worst is the worst outcome among findings.
func worst(all []Finding) Outcome {
	w := 0
	for _, f := range all {
		w = max(w, slices.Index(outcomes, f.State))
	}
	return outcomes[w]
}

// examineWithin bounds the whole examination.
const examineWithin = 45 * time.Second

func (a *app) doctor() *cobra.Command {
	var strict bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "Look at everything the program needs, and say what to do", Args: takes(0, 0),
		Long: `Looks at what is configured, reachable, licensed and writable: settings, contexts and
keyring, the server with its certificate, credential and clock, the data folder with its
daemon and catalog, free disk, the model, and the programs that read pictures. It changes
nothing, and makes no data folder where there is none.

Each part is fine, a note, a warning or failed, with what to do. The exit code is 1 where
one failed, with --strict also where one is a warning, else 0.`,
		Example:     "  service doctor\n  service doctor --strict -q\n  service doctor -o json --jq '.data[] | select(.state != \"fine\")'",
		Annotations: map[string]string{mends: "yes"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), examineWithin)
			defer cancel()
			d := &diagnosis{Version: a.Version, Findings: a.examine(ctx, cmd)}
			if cmd.Context().Err() != nil {
				return cmd.Context().Err()
			}
			d.Worst = worst(d.Findings)
			if err := a.out.Print(d, func(p *print.Page) { a.diagnosisPage(p, d) }); err != nil {
				return err
			}
			limit := Failed
			if strict {
				limit = Warning
			}
			n := 0
			for _, f := range d.Findings {
				if slices.Index(outcomes, f.State) >= slices.Index(outcomes, limit) {
					n++
				}
			}
			if n == 0 {
				return nil
			}
			return &failure{code: exitVerdict, err: errors.New(count(n, "part needs attention", "parts need attention")), hint: "the lines above say what to do"}
		},
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "fail on warnings, too")
	return cmd
}

func (a *app) diagnosisPage(p *print.Page, d *diagnosis) {
	var rows [][]string
	for _, f := range d.Findings {
		if a.flags.quiet && (f.State == Fine || f.State == Note) {
			continue
		}
		rows = append(rows, []string{f.Part, string(f.State), f.Detail})
		if f.Do != "" {
			rows = append(rows, []string{"", "", "→ " + f.Do})
		}
	}
	p.Table([]print.Column{{Title: "part", Keep: true}, {Title: "state", Keep: true, Style: outcomeStyle}, {Title: "what was found", Wrap: true}}, rows)
}

func outcomeStyle(cell string) print.Style {
	switch Outcome(cell) {
	case Failed:
		return print.Red
	case Warning:
		return print.Yellow
	case Fine:
		return print.Green
	}
	return print.Plain
}

// examine looks at one part after the other.
func (a *app) examine(ctx context.Context, cmd *cobra.Command) []Finding {
	out := []Finding{{Part: "program", State: Fine, Detail: "service " + a.Version}}
	out = append(out, a.examineSettings(cmd)...)
	out = append(out, a.examineKeyring())
	remote := a.flags.Server != ""
	if remote && a.lost == nil {
		out = append(out, a.examineServer(ctx)...)
	}
	if a.Examine != nil {
		out = append(out, a.Examine(ctx, ExamineOptions{Data: a.flags.Data, Remote: remote})...)
	}
	if !remote && a.lost == nil {
		out = append(out, a.examineStore(ctx)...)
	}
	return out
}

func (a *app) examineSettings(cmd *cobra.Command) []Finding {
	file, named := a.configFile(cmd.Root().PersistentFlags().Lookup("config").Value.String())
	_, err := os.Stat(file)
	f := Finding{Part: "configuration", State: Fine, Detail: file}
	switch {
	case a.misread != nil:
		f.State, f.Detail, f.Do = Failed, a.misread.Error(), "mend it; `service help configuration` lists the keys"
	case file == "":
		f.State, f.Detail, f.Do = Note, "there is no home folder, so no configuration file and no contexts", "set HOME or XDG_CONFIG_HOME where you want them"
	case errors.Is(err, fs.ErrNotExist) && !named:
		f.State, f.Detail = Note, "no file, and none is needed; it would be "+file
	}
	out := []Finding{f}
	switch {
	case a.lost != nil:
		return append(out, Finding{"context", Failed, a.lost.Error(), orElse(a.hint(a.lost), "mend or delete the file; `service login URL` makes a new one")})
	case a.context == nil && a.flags.Server != "":
		return append(out, Finding{"context", Fine, "none; commands work on " + withoutPassword(a.flags.Server), ""})
	case a.context == nil:
		return append(out, Finding{"context", Fine, "none; commands work on the data folder", ""})
	}
	c := Finding{Part: "context", State: Fine, Detail: fmt.Sprintf("%s: %s at %s", a.context.Name, orElse(a.context.User, "an API key"), a.context.Server)}
	if !a.context.SignedIn() && a.flags.Token == "" {
		c.State, c.Detail, c.Do = Failed, c.Detail+"; signed out", "sign in with `"+a.loginTo(a.context)+"`"
	}
	return append(out, c)
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

func (a *app) examineKeyring() Finding {
	f := Finding{Part: "keyring", State: Fine, Detail: "answers"}
	switch {
	case a.Keyring == nil && a.Env("SERVICE_KEYRING") != "":
		f.State, f.Detail = Note, "off by SERVICE_KEYRING: secrets of sign-ins go into files of mode 0600"
	case a.Keyring == nil:
		f.State, f.Detail = Note, "this system offers none here: secrets of sign-ins go into files of mode 0600"
	default:
		if err := contexts.Answers(a.Keyring); err != nil {
			f.State, f.Detail, f.Do = Warning, "does not answer: "+err.Error(), "unlock it; or set SERVICE_KEYRING=off to keep secrets in files"
		}
	}
	return f
}

// examineStore asks the engine on the data folder, where there is one already.
func (a *app) examineStore(ctx context.Context) []Finding {
	if a.Places != nil {
		if _, err := os.Stat(a.Places(a.flags.Data).Database); errors.Is(err, fs.ErrNotExist) {
			return []Finding{{"store", Note, "empty: nothing was stored yet", "begin with `service demo` or `service assess run FOLDER`"}}
		}
	}
	health, err := call(ctx, a, api.GetHealthDetailed, &api.None{})
	if err != nil {
		return []Finding{{"store", Failed, err.Error(), orElse(a.hint(err), "see what has it open with `service daemon status`")}}
	}
	var out []Finding
	for _, c := range health.Checks {
		// The disk was looked at already, and the model by asking it.
		if c.Name == "disk" || c.Name == "model" {
			continue
		}
		out = append(out, checkFinding("", c))
	}
	return append(out, a.examineEmbedder(ctx)...)
}

// advice is what to do about a part of the service that is not well.
var advice = map[string]string{
	"store":   "see the log; restore a backup where the disk is broken",
	"index":   "see `service doc list --status failed`, then `service doc reprocess DOCUMENT`",
	"catalog": "import one with `service catalog import FILE`",
	"model":   "see `service model status`",
	"disk":    "free some space where the data folder is",
	"mail":    "see the settings of mail",
}

// checkFinding is a check of the service as a finding.
func checkFinding(prefix string, c api.HealthCheck) Finding {
	if c.OK {
		return Finding{Part: prefix + c.Name, State: Fine, Detail: c.Detail}
	}
	return Finding{prefix + c.Name, Failed, c.Detail, orElse(advice[c.Name], "see the service's log")}
}

// examineEmbedder tells which embedder answers, and how far it is.
func (a *app) examineEmbedder(ctx context.Context) (out []Finding) {
	if s, err := call(ctx, a, api.GetEmbeddingStatus, &api.None{}); err == nil {
		f := Finding{Part: "embedder", State: Fine, Detail: fmt.Sprintf("%s, %d of %d passages", embedderName(s.Embedder), s.Embedded, s.Total)}
		if s.Away != nil {
			f.State, f.Detail, f.Do = Warning, f.Detail+"; "+*s.Away, "see that the model's server runs; until then "+s.ServedBy+" answers"
		}
		out = append(out, f)
	}
	return out
}
