package cli

import (
	"github.com/spf13/cobra"

	"github.com/scf-service/service/cli/print"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the program's version",
		Long:    "Prints the version of this program. `service --version` prints it in one line.",
		Example: "  service version\n  service version -o json --jq .version",
		RunE: func(*cobra.Command, []string) error {
			v := struct {
				Version string `json:"version"`
			}{a.Version}
			return a.out.Print(v, func(p *print.Page) { p.Text("service %s", a.Version) })
		},
	}
}

func (a *app) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "completion bash|zsh|fish|powershell", Short: "Write a completion script for a shell",
		Long: `Writes a script with which the shell completes commands, flags, control codes, frameworks and
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
			return checkOneOfOrEmpty("shell", args[0], []string{"bash", "zsh", "fish", "powershell"})
		},
	}
}
