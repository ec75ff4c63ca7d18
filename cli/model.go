package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/cli/print"
)

// ModelStatus is which model a data folder uses, and how that stands.
type ModelStatus struct {
	Model     string   `json:"model"` // builtin, or as ollama/qwen3:8b
	Server    string   `json:"server"`
	Ready     bool     `json:"ready"`
	Digest    string   `json:"digest"`
	Available []string `json:"available"`
	Problem   string   `json:"problem"`
}

// builtinModel is the name of the rules.
const builtinModel = "builtin"

func (a *app) modelCommand() *cobra.Command {
	return group(&cobra.Command{
		Use: "model", Short: "Choose what answers analyses: built-in rules, or a model of yours",
		Long: `The seven analyses are answered by built-in rules, or by a model on your own network:
ollama, or any server that speaks OpenAI's protocol. A model's answers are checked; it can
be stricter than the rules, never more lenient. Where it is away, the rules answer. The
nine agents draft by rules, and have the model advise on what they drafted.`,
		Example: "  service model use ollama/qwen3:8b\n  service model status",
	}, a.modelUse(), a.modelPull(), a.modelStatus())
}

func (a *app) modelUse() *cobra.Command {
	var server string
	cmd := &cobra.Command{
		Use: "use MODEL", Short: "Use a model, or builtin", Args: requireArgs(1, 1),
		Long: `Uses a model from here on in this data folder: ollama/NAME, openai/NAME with --url, or
builtin for the rules. A daemon that runs takes it up when it is started again. A token
for the server is read from SERVICE_MODEL_TOKEN and never kept.`,
		Example: "  service model use ollama/qwen3:8b\n  service model use openai/qwen3 --url http://192.168.1.20:8000\n  service model use builtin",
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
		Use: "status", Short: "Show which model answers, and whether it does", Args: requireArgs(0, 0),
		Long: "Asks the model's server whether the model in use is there.", Example: "  service model status",
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
		Use: "pull [MODEL]", Short: "Have ollama fetch a model", Args: requireArgs(0, 1),
		Long: `Has the ollama server fetch a model, the one in use where none is named. What was fetched
before a break is not fetched again. Using it is another step: service model use.`,
		Example: "  service model pull ollama/qwen3:8b\n  service model pull",
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.PullModel == nil {
				return runtimeError("this build can't use models")
			}
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			a.progress.Start("ask for the model")
			s, err := a.PullModel(cmd.Context(), a.flags.Data, name, server, func(doing string, done, total int64) {
				if total > 0 {
					a.progress.Update("%s: %s of %s", doing, formatSize(done), formatSize(total))
					return
				}
				a.progress.Update("%s", doing)
			})
			if err != nil {
				a.progress.Done("")
				return runtimeError("%w", err)
			}
			a.progress.Done("%s is there", s.Model)
			return a.out.Print(s, func(p *print.Page) { renderModelStatus(p, s) })
		},
	}
	cmd.Flags().StringVar(&server, "url", "", "the model server's address (ollama: http://127.0.0.1:11434)")
	return cmd
}

func renderModelStatus(p *print.Page, s *ModelStatus) {
	ready := yesNo(s.Ready)
	p.Fields(
		print.Field{Name: "model", Value: s.Model},
		print.Field{Name: "server", Value: s.Server},
		print.Field{Name: "ready", Value: ready},
		print.Field{
			Name:  "digest",
			Value: s.Digest,
		},
		print.Field{Name: "problem", Value: s.Problem},
		print.Field{Name: "available", Value: strings.Join(s.Available, ", ")},
	)
	if !s.Ready {
		p.Text(
			"Until it is ready, the rules (%s) answer and the run says so. See that the model's server runs, or go back to the rules with `service model use %s`.",
			builtinModel,
			builtinModel,
		)
	}
}
