package cli

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

// ModelStatus describes the model that a data folder uses, and whether it is available.
type ModelStatus struct {
	Model     string   `json:"model"` // builtin, or a model such as ollama/qwen3:8b
	Server    string   `json:"server"`
	Remote    bool     `json:"remote"` // whether requests leave this machine
	Ready     bool     `json:"ready"`
	Digest    string   `json:"digest"`
	Available []string `json:"available"`
	Problem   string   `json:"problem"`
}

// builtinModel is the name that selects the built-in rules.
const builtinModel = "builtin"

func (a *app) modelCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "model", Short: "Choose your own language model for analyses and for reading evidence",
		Long: `Your own language model, on ollama or any OpenAI-compatible server, can perform the seven
analyses and read the evidence (--reader model) instead of the built-in rules. The answers of
the model are checked. In analyses, it can be stricter than the rules but never more lenient.
If the model is unavailable, the rules are used. The nine agents create their drafts with rules;
the model comments on the drafts.`,
		Example: "  service model use ollama/qwen3:8b\n  service model status\n  service assess run ./evidence --reader model",
	}, a.modelUse(), a.modelLimits(), a.modelPull(), a.modelStatus())
}

func (a *app) modelUse() *cobra.Command {
	var server string
	cmd := &cobra.Command{
		Use: "use MODEL", Short: "Select a model, or builtin",
		Long: `Selects the model for this data folder: ollama/NAME, openai/NAME with --url, or builtin for
the built-in rules. Restart a running daemon to apply the change. The token for the model's
server is read from SERVICE_MODEL_TOKEN and never stored.`,
		Example: "  service model use ollama/qwen3:8b\n  service model use openai/qwen3 --url http://192.168.1.20:8000\n" +
			"  service model use builtin",
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.SelectModel == nil {
				return runtimeError("this build of the program doesn't support language models")
			}
			s, err := a.SelectModel(cmd.Context(), a.flags.Data, args[0], server)
			if err != nil {
				return usageError("%w", err)
			}
			return a.out.Print(s, func(p *print.Page) { renderModelStatus(p, s) })
		},
	}
	cmd.Flags().StringVar(&server, "url", "", "address of the model server (default for ollama: http://127.0.0.1:11434)")
	return cmd
}

func (a *app) modelLimits() *cobra.Command {
	var l api.ModelLimits
	var maxTime time.Duration
	cmd := &cobra.Command{
		Use: "limits", Short: "Show or change the limits of a model that reads evidence",
		Long: `Changes the given limits and shows all of them; 0 means no limit. A run that reads with the
model (--reader model) stops when it reaches --max-tokens, --max-time or --max-cost, and keeps
what was read. A run that is likely to exceed --ask-tokens or --ask-cost asks for confirmation
first. Prices are per million tokens, in any currency. --context-tokens is the number of tokens
that the model reads at once. Restart a running daemon to apply a change.`,
		Example: "  service model limits\n  service model limits --max-time 2h --concurrency 4\n" +
			"  service model limits --price-in 0.15 --price-out 0.60 --max-cost 5 --ask-cost 1",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.ModelLimits == nil {
				return runtimeError("this build of the program doesn't support language models")
			}
			var change func(*api.ModelLimits)
			if cmd.Flags().NFlag() > 0 {
				l.MaxSeconds = maxTime.Seconds()
				if err := checkModelLimits(&l); err != nil {
					return err
				}
				change = func(stored *api.ModelLimits) { copyChangedLimits(cmd, stored, &l) }
			}
			now, err := a.ModelLimits(a.flags.Data, change)
			if err != nil {
				return runtimeError("%w", err)
			}
			return a.out.Print(now, func(p *print.Page) { renderModelLimits(p, now) })
		},
	}
	f := cmd.Flags()
	f.IntVar(&l.Concurrency, "concurrency", 0, "number of simultaneous requests, up to 16 (default 1)")
	f.IntVar(&l.ContextTokens, "context-tokens", 0, "size of the model's context, in tokens (default 16384)")
	f.IntVar(&l.MaxTokens, "max-tokens", 0, "maximum number of tokens per run")
	f.DurationVar(&maxTime, "max-time", 0, "maximum duration of a run, e.g. 2h")
	f.Float64Var(&l.MaxCost, "max-cost", 0, "maximum cost of a run")
	f.IntVar(&l.AskTokens, "ask-tokens", 0, "number of tokens above which a run asks for confirmation")
	f.Float64Var(&l.AskCost, "ask-cost", 0, "cost above which a run asks for confirmation")
	f.Float64Var(&l.PromptPrice, "price-in", 0, "price per million prompt tokens")
	f.Float64Var(&l.CompletionPrice, "price-out", 0, "price per million answer tokens")
	return cmd
}

const (
	minContextTokens = 4096
	maxContextTokens = 1 << 18
	maxConcurrency   = 16
)

func checkModelLimits(l *api.ModelLimits) error {
	switch {
	case l.Concurrency < 0 || l.Concurrency > maxConcurrency:
		return usageError("--concurrency must be between 1 and %d, or 0 for the default", maxConcurrency)
	case l.ContextTokens != 0 && (l.ContextTokens < minContextTokens || l.ContextTokens > maxContextTokens):
		return usageError("--context-tokens must be between %d and %d tokens, or 0 for the default", minContextTokens, maxContextTokens)
	case min(l.MaxTokens, l.AskTokens) < 0, !(min(l.MaxSeconds, l.MaxCost, l.AskCost, l.PromptPrice, l.CompletionPrice) >= 0):
		return usageError("limits and prices can't be negative")
	}
	return nil
}

// copyChangedLimits copies the limits that were given as flags.
func copyChangedLimits(cmd *cobra.Command, to, from *api.ModelLimits) {
	for name, assign := range map[string]func(){
		"concurrency":    func() { to.Concurrency = from.Concurrency },
		"context-tokens": func() { to.ContextTokens = from.ContextTokens },
		"max-tokens":     func() { to.MaxTokens = from.MaxTokens },
		"max-time":       func() { to.MaxSeconds = from.MaxSeconds },
		"max-cost":       func() { to.MaxCost = from.MaxCost },
		"ask-tokens":     func() { to.AskTokens = from.AskTokens },
		"ask-cost":       func() { to.AskCost = from.AskCost },
		"price-in":       func() { to.PromptPrice = from.PromptPrice },
		"price-out":      func() { to.CompletionPrice = from.CompletionPrice },
	} {
		if cmd.Flags().Changed(name) {
			assign()
		}
	}
}

func renderModelLimits(p *print.Page, l *api.ModelLimits) {
	show := func(v float64, format string) string {
		if v == 0 {
			return "none"
		}
		return fmt.Sprintf(format, v)
	}
	maxTime := "none"
	if l.MaxSeconds > 0 {
		maxTime = time.Duration(l.MaxSeconds * float64(time.Second)).String()
	}
	p.Fields(
		field("requests at the same time", fmt.Sprint(max(1, l.Concurrency))),
		field("context", fmt.Sprintf("%d tokens", cmp.Or(l.ContextTokens, defaultContextTokens))),
		field("most tokens per run", show(float64(l.MaxTokens), "%.0f")),
		field("longest run", maxTime),
		field("highest cost per run", show(l.MaxCost, "%.2f")),
		field("ask above tokens", show(float64(l.AskTokens), "%.0f")),
		field("ask above cost", show(l.AskCost, "%.2f")),
		field("price of a million tokens in", show(l.PromptPrice, "%.2f")),
		field("price of a million tokens out", show(l.CompletionPrice, "%.2f")),
	)
}

// defaultContextTokens is the engine's default if no context size is set.
const defaultContextTokens = 16384

func (a *app) modelStatus() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show the model in use and whether it is available",
		Long: "Checks with the model's server whether the model in use is available.", Example: "  service model status",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.ModelStatus == nil {
				return runtimeError("this build of the program doesn't support language models")
			}
			s, err := a.ModelStatus(cmd.Context(), a.flags.Data)
			if err != nil {
				return runtimeError("%w", err)
			}
			return a.out.Print(s, func(p *print.Page) { renderModelStatus(p, s) })
		},
	}
}

func (a *app) modelPull() *cobra.Command {
	var server string
	cmd := &cobra.Command{
		Use: "pull [MODEL]", Short: "Download a model with ollama",
		Long: `Tells the ollama server to download a model (default: the model in use). Interrupted downloads
are resumed. To use the model afterwards, run "service model use".`,
		Example: "  service model pull ollama/qwen3:8b\n  service model pull",
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.PullModel == nil {
				return runtimeError("this build of the program doesn't support language models")
			}
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			a.progress.Start("requesting the model")
			s, err := a.PullModel(cmd.Context(), a.flags.Data, name, server, func(doing string, done, total int64) {
				if total > 0 {
					a.progress.Update("%s: %s of %s", doing, print.FormatSize(done), print.FormatSize(total))
					return
				}
				a.progress.Update("%s", doing)
			})
			if err != nil {
				a.progress.Done("")
				return runtimeError("%w", err)
			}
			a.progress.Done("%s is available", s.Model)
			return a.out.Print(s, func(p *print.Page) { renderModelStatus(p, s) })
		},
	}
	cmd.Flags().StringVar(&server, "url", "", "address of the model server (default for ollama: http://127.0.0.1:11434)")
	return cmd
}

func renderModelStatus(p *print.Page, s *ModelStatus) {
	ready, remote := yesNo(s.Ready), ""
	if s.Server != "" {
		remote = yesNo(s.Remote)
	}
	p.Fields(
		field("model", s.Model),
		field("server", s.Server),
		field("leaves this machine", remote),
		field("ready", ready),
		field("digest", s.Digest),
		field("problem", s.Problem),
		field("available", strings.Join(s.Available, ", ")),
	)
	if !s.Ready {
		p.Text(
			"Until the model is ready, the rules (%s) are used instead, and each run records this. "+
				"Check that the model's server is running, or return to the rules with `service model use %s`.",
			builtinModel,
			builtinModel,
		)
	}
}
