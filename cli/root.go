package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// rootCommand builds the command tree.
func (a *app) rootCommand() *cobra.Command {
	root := makeCommandGroup(&cobra.Command{
		Use:   "service",
		Short: "Security, compliance and maturity assessments against the Secure Controls Framework",
		Long: `service reads a folder of policies, procedures and records, and finds the evidence
for each control of the Secure Controls Framework. From the evidence, it drafts the
scope, the Statement of Applicability, the gap analysis, the maturity assessment, the
plan of action and the reports. Drafts quote their evidence and are approved by people.

The program works offline on a local data folder, or on a server (service login).`,
		Example: `  service demo                                      run a full assessment of an example company
  service assess run ./evidence -f iso-27001-2022   assess your own folder
  service assess status                             current status and pending decisions
  service tui                                       browse and review in the terminal
  service help exit-codes                           exit codes for scripts`,
	})
	root.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) > 0:
			return unknownCommandError(cmd, args[0])
		case a.RunTerminal == nil:
			return cmd.Help()
		}
		return a.runTerminalInterface(cmd.Context(), nil, false)
	}
	root.Version = a.Version
	root.SetVersionTemplate("service {{.Version}}\n")
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if known, ok := errors.AsType[*exitError](err); ok {
			return known
		}
		return &exitError{
			code: exitUsage,
			err:  explainFlagError(cmd, err),
			hint: fmt.Sprintf("see the flags with `%s --help`", cmd.CommandPath()),
		}
	})
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return a.loadSettings(cmd) }
	addSettingFlags(root)
	root.AddGroup(
		&cobra.Group{ID: "job", Title: "Assessments:"},
		&cobra.Group{ID: "part", Title: "Deliverables and analysis:"},
		&cobra.Group{ID: "team", Title: "Servers and users:"},
		&cobra.Group{ID: "more", Title: "More:"},
	)
	for id, cmds := range map[string][]*cobra.Command{
		"job": {
			a.demoCommand(),
			a.assessCommand(),
			a.checkCommand(),
			a.documentCommand(),
			a.searchPassagesCommand(),
			a.reportCommand(),
			a.tuiCommand(),
			a.openCommand(),
		},
		"part": {
			a.scopeCommand(),
			a.soaCommand(),
			a.correctionCommand(),
			a.readerCommand(),
			a.gapCommand(),
			a.maturityCommand(),
			a.poamCommand(),
			a.approvalCommand(),
			a.undoCommand(),
			a.commentCommand(),
			a.workflowCommand(),
			a.analyzeCommand(),
			a.agentCommand(),
		},
		"team": {
			a.loginCommand(),
			a.logoutCommand(),
			a.useContextCommand(),
			a.contextCommand(),
			a.whoamiCommand(),
			a.changePasswordCommand(),
			a.organizationCommand(),
			a.syncCommand(),
			a.memberCommand(),
			a.apiKeyCommand(),
			a.webhookCommand(),
			a.integrationCommand(),
			a.emailCommand(),
			a.alertCommand(),
			a.secretKeyCommand(),
			a.userCommand(),
		},
		"more": {
			a.catalogCommand(),
			a.customFrameworkCommand(),
			a.customControlCommand(),
			a.artifactCommand(),
			a.auditCommand(),
			a.verifyArchiveCommand(),
			a.daemonCommand(),
			a.backupCommand(),
			a.storeCommand(),
			a.restoreCommand(),
			a.mcpCommand(),
			a.configCommand(),
			a.doctorCommand(),
			a.upgradeCommand(),
			a.modelCommand(),
			a.knowledgeCommand(),
			a.evalCommand(),
			a.apiCommand(),
			a.versionCommand(),
			a.completionCommand(),
		},
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
	setArgCountChecks(root)
	a.registerCompletions(root)
	a.configureHelp(root)
	return root
}

// makeCommandGroup turns cmd into a command that only has subcommands, and returns it. Without arguments, it
// shows its help. An unknown subcommand is an error that suggests the closest match.
func makeCommandGroup(cmd *cobra.Command, subs ...*cobra.Command) *cobra.Command {
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
	f := usageError("unknown command %q%s", cmd.CommandPath()+" "+word, formatSuggestions(similarCommands(cmd, word)))
	f.hint = fmt.Sprintf("list the commands with `%s --help`", cmd.CommandPath())
	return f
}

// helpCommand returns the help command. Unlike the one built into cobra, it returns an error for an unknown
// command.
func (a *app) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND…]", Short: "Show help for a command or topic",
		Long:    "Shows the help for a command or a topic.",
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

// helpWidth is the width of flag descriptions in columns.
const helpWidth = "100"

// configureHelp wraps the flag descriptions on help pages, and makes --help fail for an unknown subcommand.
func (a *app) configureHelp(root *cobra.Command) {
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages ", ".FlagUsagesWrapped "+helpWidth+" "))
	page := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if words := cmd.Flags().Args(); cmd.HasSubCommands() && cmd.Args != nil && len(words) > 0 &&
			!slices.Contains([]string{"api", "backup", "check"}, cmd.Name()) {
			a.helpErr = unknownCommandError(cmd, words[0])
			return
		}
		page(cmd, args)
	})
}

// setArgCountChecks makes cmd and its subcommands check that they get as many arguments as their usage lines allow.
func setArgCountChecks(cmd *cobra.Command) {
	if cmd.Args == nil && cmd.Runnable() {
		cmd.Args = requireArgCount(countArgs(cmd.Use))
	}
	for _, c := range cmd.Commands() {
		setArgCountChecks(c)
	}
}

// countArgs returns how many arguments a usage line allows, for example 1 and 2 for "signal NAME [ID]". If
// there is an ellipsis, the number is unlimited and maxArgs is negative. Arguments after the first flag are
// not counted.
func countArgs(use string) (minArgs, maxArgs int) {
	for _, word := range strings.Fields(use)[1:] {
		if strings.HasPrefix(strings.TrimPrefix(word, "["), "-") {
			break
		}
		if maxArgs++; !strings.HasPrefix(word, "[") {
			minArgs++
		}
		if strings.Contains(word, "…") || strings.Contains(word, "...") {
			return minArgs, -1
		}
	}
	return minArgs, maxArgs
}

// requireArgCount checks the number of arguments of a command; a negative maxArgs means no limit.
func requireArgCount(minArgs, maxArgs int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= minArgs && (maxArgs < 0 || len(args) <= maxArgs) {
			return nil
		}
		f := usageError("`%s` needs more arguments", cmd.CommandPath())
		if maxArgs >= 0 && len(args) > maxArgs {
			f = usageError("unexpected argument %[2]q for `%[1]s`", cmd.CommandPath(), args[maxArgs])
		}
		f.hint = "usage: " + cmd.UseLine()
		return f
	}
}

// checkOneOfOrEmpty returns an error if value is neither empty nor one of allowed.
func checkOneOfOrEmpty[S ~string](noun, value string, allowed []S) error {
	names := make([]string, len(allowed))
	for i, w := range allowed {
		names[i] = string(w)
	}
	if value == "" || slices.Contains(names, value) {
		return nil
	}
	f := usageError("unknown %s %q%s", noun, value, didYouMean(value, names))
	f.hint = "use one of " + strings.Join(names, ", ")
	return f
}
