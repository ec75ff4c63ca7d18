package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/engine/api"
)

func (a *app) version() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the program's version", Args: takes(0, 0),
		Long:    "Prints the version of this program. `service --version` does the same in one line.",
		Example: "  service version\n  service version -o json --jq .version",
		RunE: func(*cobra.Command, []string) error {
			v := struct {
				Version string `json:"version"`
			}{a.Version}
			return a.out.Print(v, func(p *print.Page) { p.Text("service %s", a.Version) })
		},
	}
}

func (a *app) completion() *cobra.Command {
	return &cobra.Command{
		Use: "completion bash|zsh|fish|powershell", Short: "Write a completion script for a shell", Args: takes(1, 1),
		Long: `Writes a script that completes commands, flags, control codes, frameworks and
assessments with the Tab key. Load it once per session, or put it where your shell
looks for completions.`,
		Example: `  source <(service completion bash)
  service completion zsh > "${fpath[1]}/_service"
  service completion fish > ~/.config/fish/completions/service.fish`,
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.Stdout, true)
			case "zsh":
				return root.GenZshCompletion(a.Stdout)
			case "fish":
				return root.GenFishCompletion(a.Stdout, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(a.Stdout)
			}
			return oneOf("shell", args[0], []string{"bash", "zsh", "fish", "powershell"})
		},
	}
}

// completeWithin bounds how long the Tab key may wait.
const completeWithin = 2 * time.Second

// completer completes an argument or flag from what the engine knows; errors complete nothing.
func (a *app) completer(list func(ctx context.Context, prefix string) ([]string, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completeWithin)
		defer cancel()
		if a.configure(cmd) != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		words, err := list(ctx, prefix)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

func (a *app) completeControls() cobra.CompletionFunc {
	return a.completer(func(ctx context.Context, _ string) (out []string, err error) {
		l, err := collect(ctx, 0, "", func(p api.Paging) (*api.List[api.Control], error) {
			return call(ctx, a, api.ListControls, &api.ControlsInput{Paging: p})
		})
		if err != nil {
			return nil, err
		}
		for _, c := range l.Data {
			out = append(out, cobra.CompletionWithDesc(c.Code, print.Line(c.Title)))
		}
		return out, nil
	})
}

func (a *app) completeFrameworks() cobra.CompletionFunc {
	return a.completer(func(ctx context.Context, _ string) (out []string, err error) {
		l, err := collect(ctx, 0, "", func(p api.Paging) (*api.List[api.Framework], error) {
			return call(ctx, a, api.ListFrameworks, &api.FrameworksInput{Paging: p})
		})
		if err != nil {
			return nil, err
		}
		for _, f := range l.Data {
			out = append(out, cobra.CompletionWithDesc(f.Code, print.Line(f.Name)))
		}
		return out, nil
	})
}

func (a *app) completeAssessments() cobra.CompletionFunc {
	return a.completer(func(ctx context.Context, _ string) (out []string, err error) {
		l, err := call(ctx, a, api.ListAssessments, &api.AssessmentsInput{Paging: api.Paging{Limit: api.MaxListLimit}})
		if err != nil {
			return nil, err
		}
		for _, one := range l.Data {
			out = append(out, cobra.CompletionWithDesc(one.ID, print.Line(one.Name)))
		}
		return out, nil
	})
}
