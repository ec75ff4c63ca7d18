package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/cli/print"
)

// ModelStatus describes the model a data folder uses and whether it is available.
type ModelStatus struct {
	Model     string   `json:"model"` // builtin, or e.g. ollama/qwen3:8b
	Server    string   `json:"server"`
	Ready     bool     `json:"ready"`
	Digest    string   `json:"digest"`
	Available []string `json:"available"`
	Problem   string   `json:"problem"`
}

// builtinModel is the name that selects the built-in rules.
const builtinModel = "builtin"

func (a *app) modelCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "model", Short: "Choose how analyses are produced: by built-in rules or by your own model",
		Long: `The seven analyses are answered by built-in rules, or by a model on your own network:
ollama, or any OpenAI-compatible server. A model's answers are checked; it can
be stricter than the rules, never more lenient. If it is unavailable, the rules answer. The
nine agents draft by rules; the model comments on their drafts.`,
		Example: "  service model use ollama/qwen3:8b\n  service model status",
	}, a.modelUse(), a.modelPull(), a.modelStatus())
}

func (a *app) modelUse() *cobra.Command {
	var server string
	cmd := &cobra.Command{
		Use: "use MODEL", Short: "Select a model, or builtin",
		Long: `Selects the model for this data folder: ollama/NAME, openai/NAME with --url, or
builtin for the rules. Restart a running daemon to apply the change. A token
for the server is read from SERVICE_MODEL_TOKEN and never stored.`,
		Example: "  service model use ollama/qwen3:8b\n  service model use openai/qwen3 --url http://192.168.1.20:8000\n" +
			"  service model use builtin",
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.SelectModel == nil {
				return runtimeError("this build can't use models")
			}
			s, err := a.SelectModel(cmd.Context(), a.flags.Data, args[0], server)
			if err != nil {
				return usageError("%w", err)
			}
			return a.out.Print(s, func(p *print.Page) { renderModelStatus(p, s) })
		},
	}
	cmd.Flags().StringVar(&server, "url", "", "the model server's address (ollama: http://127.0.0.1:11434)")
	return cmd
}

func (a *app) modelStatus() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show the model in use and whether it is available",
		Long: "Asks the model's server whether the model in use is available.", Example: "  service model status",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.ModelStatus == nil {
				return runtimeError("this build can't use models")
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
		Long: `Makes the ollama server download a model (default: the one in use). Interrupted downloads
are resumed. To use the model, run service model use afterwards.`,
		Example: "  service model pull ollama/qwen3:8b\n  service model pull",
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.PullModel == nil {
				return runtimeError("this build can't use models")
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
	cmd.Flags().StringVar(&server, "url", "", "the model server's address (ollama: http://127.0.0.1:11434)")
	return cmd
}

func renderModelStatus(p *print.Page, s *ModelStatus) {
	ready := yesNo(s.Ready)
	p.Fields(
		field("model", s.Model),
		field("server", s.Server),
		field("ready", ready),
		field("digest", s.Digest),
		field("problem", s.Problem),
		field("available", strings.Join(s.Available, ", ")),
	)
	if !s.Ready {
		p.Text(
			"Until it is ready, the rules (%s) answer and runs note this. "+
				"Check that the model's server is running, or return to the rules with `service model use %s`.",
			builtinModel,
			builtinModel,
		)
	}
}
