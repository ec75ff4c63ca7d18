package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// rootCommand builds the tree of commands.
func (a *app) rootCommand() *cobra.Command {
	root := group(&cobra.Command{
		Use:   "service",
		Short: "Security, compliance and maturity assessments against the Secure Controls Framework",
		Long: `service reads a folder of policies, procedures and records, finds what they say
about each control of the Secure Controls Framework, and drafts scope, Statement
of Applicability, gap analysis, maturity assessment, plan of action and reports.
What it writes is a draft with quoted evidence; people approve.

It works offline on a local data folder, or on a server (service login).`,
		Example: `  service demo                                      see the whole job on an example company
  service assess run ./evidence -f iso-27001-2022   assess your own folder
  service assess status                             where it stands, and what it waits for
  service tui                                       look through and review in the terminal
  service help exit-codes                           what scripts need to know`,
	})
	root.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) > 0:
			return unknownCommandError(cmd, args[0])
		case a.RunTerminal == nil:
			return cmd.Help()
		}
		return a.showTerminal(cmd.Context(), nil, false)
	}
	root.Version = a.Version
	root.SetVersionTemplate("service {{.Version}}\n")
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &exitError{
			code: exitUsage,
			err:  explainFlagError(cmd, err),
			hint: fmt.Sprintf("`%s --help` lists the flags", cmd.CommandPath()),
		}
	})
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return a.configure(cmd) }
	addSettingFlags(root)
	root.AddGroup(
		&cobra.Group{ID: "job", Title: "The job:"},
		&cobra.Group{ID: "part", Title: "Its parts:"},
		&cobra.Group{ID: "team", Title: "Servers and people:"},
		&cobra.Group{ID: "more", Title: "More:"},
	)
	for id, cmds := range map[string][]*cobra.Command{
		"job":  {a.demoCommand(), a.assessCommand(), a.checkCommand(), a.documentCommand(), a.searchCommand(), a.reportCommand(), a.terminalCommand()},
		"part": {a.scopeCommand(), a.soaCommand(), a.gapCommand(), a.maturityCommand(), a.poamCommand(), a.approvalCommand(), a.commentCommand(), a.workflowCommand(), a.analyzeCommand(), a.agentCommand()},
		"team": {a.loginCommand(), a.logoutCommand(), a.useCommand(), a.contextCommand(), a.whoamiCommand(), a.passwordCommand(), a.organizationCommand(), a.syncCommand(), a.memberCommand(), a.keyCommand(), a.webhookCommand(), a.integrationCommand(), a.emailCommand(), a.alertCommand(), a.secretCommand(), a.userCommand()},
		"more": {a.catalogCommand(), a.customFrameworkCommand(), a.customControlCommand(), a.artifactCommand(), a.auditCommand(), a.verifyCommand(), a.daemonCommand(), a.mcpCommand(), a.configCommand(), a.doctorCommand(), a.upgradeCommand(), a.modelCommand(), a.knowledgeCommand(), a.evalCommand(), a.apiCommand(), a.versionCommand(), a.completionCommand()},
	} {
		for _, c := range cmds {
			c.GroupID = id
			root.AddCommand(c)
		}
	}
	root.AddCommand(helpTopics()...)
	help := a.helpCommand()
	help.GroupID = "more"
	root.SetHelpCommand(help)
	a.registerCompletions(root)
	a.configureHelp(root)
	return root
}

// group makes a command that only holds others: alone it shows its help, and a word
// it does not know is an error with the nearest that it does.
func group(cmd *cobra.Command, subs ...*cobra.Command) *cobra.Command {
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return unknownCommandError(cmd, args[0])
	}
	cmd.AddCommand(subs...)
	return cmd
}

func unknownCommandError(cmd *cobra.Command, word string) error {
	f := usageError("there is no command %q%s", cmd.CommandPath()+" "+word, formatSuggestions(similarCommands(cmd, word)))
	f.hint = fmt.Sprintf("`%s --help` lists the commands", cmd.CommandPath())
	return f
}

// helpCommand is the command of that name: unlike cobra's own, it fails on what there is not.
func (a *app) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Explain a command or a topic",
		Long:    "Explains a command as its --help does, or a topic that is no command.",
		Example: "  service help assess run\n  service help exit-codes",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || (len(rest) > 0 && found.HasSubCommands()) {
				return unknownCommandError(found, rest[0])
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
	}
}

// helpWidth sets the flags of help pages in so many columns.
const helpWidth = "100"

// configureHelp shapes help pages: flags are wrapped, and a word after a group that is no
// command of it is an error here too.
func (a *app) configureHelp(root *cobra.Command) {
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages ", ".FlagUsagesWrapped "+helpWidth+" "))
	page := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if words := cmd.Flags().Args(); cmd.HasSubCommands() && cmd.Args != nil && len(words) > 0 && cmd.Name() != "api" &&
			cmd.Name() != "check" {
			a.helpErr = unknownCommandError(cmd, words[0])
			return
		}
		page(cmd, args)
	})
}

// requireArgs checks how many arguments a command got; a negative most means any number.
func requireArgs(minArgs, maxArgs int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= minArgs && (maxArgs < 0 || len(args) <= maxArgs) {
			return nil
		}
		f := usageError("`%s` needs more arguments", cmd.CommandPath())
		if maxArgs >= 0 && len(args) > maxArgs {
			f = usageError("`%s` does not take the argument %q", cmd.CommandPath(), args[maxArgs])
		}
		f.hint = "write it as: " + cmd.UseLine()
		return f
	}
}

// checkOneOf checks a word from a closed list.
func checkOneOf[S ~string](noun, value string, allowed []S) error {
	names := make([]string, len(allowed))
	for i, w := range allowed {
		names[i] = string(w)
	}
	if value == "" || slices.Contains(names, value) {
		return nil
	}
	f := usageError("there is no %s %q%s", noun, value, didYouMean(value, names))
	f.hint = "it is one of " + strings.Join(names, ", ")
	return f
}
