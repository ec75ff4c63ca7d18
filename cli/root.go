package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// root builds the tree of commands.
func (a *app) root() *cobra.Command {
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
			return unknown(cmd, args[0])
		case a.Terminal == nil:
			return cmd.Help()
		}
		return a.showTerminal(cmd.Context(), nil, false)
	}
	root.Version = a.Version
	root.SetVersionTemplate("service {{.Version}}\n")
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &failure{code: exitUsage, err: wrongFlag(cmd, err), hint: fmt.Sprintf("`%s --help` lists the flags", cmd.CommandPath())}
	})
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return a.configure(cmd) }
	addSettings(root)
	root.AddGroup(&cobra.Group{ID: "job", Title: "The job:"}, &cobra.Group{ID: "part", Title: "Its parts:"}, &cobra.Group{ID: "team", Title: "Servers and people:"}, &cobra.Group{ID: "more", Title: "More:"})
	for id, cmds := range map[string][]*cobra.Command{
		"job":  {a.demo(), a.assess(), a.check(), a.document(), a.search(), a.report_(), a.terminal()},
		"part": {a.scope(), a.soa(), a.gap(), a.maturity(), a.poam(), a.approval(), a.comment(), a.workflow(), a.analyze(), a.agentCommand()},
		"team": {a.login(), a.logout(), a.useCommand(), a.contextCommand(), a.whoami(), a.passwordCommand(), a.organization(), a.syncCommand(), a.member(), a.key(), a.webhook(), a.integration(), a.email(), a.alert(), a.secret(), a.user()},
		"more": {a.catalog(), a.ownFramework(), a.ownControl(), a.artifact(), a.audit(), a.verify(), a.daemon(), a.mcpCommand(), a.configCommand(), a.doctor(), a.upgradeCommand(), a.modelCommand(), a.knowledge(), a.eval(), a.raw(), a.version(), a.completion()},
	} {
		for _, c := range cmds {
			c.GroupID = id
			root.AddCommand(c)
		}
	}
	root.AddCommand(topics()...)
	help := a.help()
	help.GroupID = "more"
	root.SetHelpCommand(help)
	a.completions(root)
	a.explain(root)
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
		return unknown(cmd, args[0])
	}
	cmd.AddCommand(subs...)
	return cmd
}

func unknown(cmd *cobra.Command, word string) error {
	f := usage("there is no command %q%s", cmd.CommandPath()+" "+word, orList(nearCommands(cmd, word)))
	f.hint = fmt.Sprintf("`%s --help` lists the commands", cmd.CommandPath())
	return f
}

// help is the command of that name: unlike cobra's own, it fails on what there is not.
func (a *app) help() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Explain a command or a topic",
		Long:    "Explains a command as its --help does, or a topic that is no command.",
		Example: "  service help assess run\n  service help exit-codes",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || (len(rest) > 0 && found.HasSubCommands()) {
				return unknown(found, rest[0])
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
	}
}

// wrapped sets the flags of help pages in so many columns.
const wrapped = "100"

// explain shapes help pages: flags are wrapped, and a word after a group that is no
// command of it is an error here too.
func (a *app) explain(root *cobra.Command) {
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages ", ".FlagUsagesWrapped "+wrapped+" "))
	page := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if words := cmd.Flags().Args(); cmd.HasSubCommands() && cmd.Args != nil && len(words) > 0 && cmd.Name() != "api" && cmd.Name() != "check" {
			a.misled = unknown(cmd, words[0])
			return
		}
		page(cmd, args)
	})
}

// takes checks how many arguments a command got; a negative most means any number.
func takes(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= least && (most < 0 || len(args) <= most) {
			return nil
		}
		f := usage("`%s` needs more arguments", cmd.CommandPath())
		if most >= 0 && len(args) > most {
			f = usage("`%s` does not take the argument %q", cmd.CommandPath(), args[most])
		}
		f.hint = "write it as: " + cmd.UseLine()
		return f
	}
}

// oneOf checks a word from a closed list.
func oneOf[S ~string](what, word string, allowed []S) error {
	names := make([]string, len(allowed))
	for i, w := range allowed {
		names[i] = string(w)
	}
	if word == "" || slices.Contains(names, word) {
		return nil
	}
	f := usage("there is no %s %q%s", what, word, didYouMean(word, names))
	f.hint = "it is one of " + strings.Join(names, ", ")
	return f
}
