package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

func (a *app) assessFramework() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "framework", Short: "Add or remove frameworks of an assessment",
		Long: `Changes the frameworks of the assessment at any time before it is closed. Only new
controls are drafted; all other items, edits and approved versions remain unchanged. A
new version needs a new approval.`,
		Example: "  service assess framework add hipaa --dry-run\n  service assess framework remove soc2-tsc",
	}, a.changeFrameworksCommand("add", "Add frameworks and draft their controls",
		func(in *api.ChangeFrameworksInput, codes []string) { in.Body.Add = codes }),
		a.changeFrameworksCommand("remove", "Remove frameworks and the controls that only they require",
			func(in *api.ChangeFrameworksInput, codes []string) { in.Body.Remove = codes }))
}

func (a *app) changeFrameworksCommand(verb, short string, set func(*api.ChangeFrameworksInput, []string)) *cobra.Command {
	var in api.ChangeFrameworksInput
	cmd := &cobra.Command{
		Use: verb + " FRAMEWORK…", Short: short,
		ValidArgsFunction: a.completeFrameworks(),
		Long: short + ".\nShows which controls are added or removed. Earlier versions keep your edits to removed controls;\n" +
			"if you add such a control again, its edits are restored.",
		Example: fmt.Sprintf("  service assess framework %s hipaa --dry-run\n  service assess framework %s hipaa", verb, verb),
		RunE: func(cmd *cobra.Command, args []string) error {
			one, err := a.currentAssessment(cmd.Context())
			if err != nil {
				return err
			}
			in.AssessmentID = one.ID
			set(&in, args)
			return a.changeFrameworks(cmd.Context(), one, &in)
		},
	}
	cmd.Flags().BoolVar(&in.Body.DryRun, "dry-run", false, "show what would change without changing anything")
	return cmd
}

func (a *app) changeFrameworks(ctx context.Context, assessment *api.Assessment, in *api.ChangeFrameworksInput) error {
	a.progress.Start("drafting new controls")
	c, err := call(ctx, a, api.ChangeFrameworks, in)
	a.progress.Done("")
	if err != nil {
		return a.withFrameworkHint(err)
	}
	return a.out.Print(c, func(p *print.Page) {
		title := assessment.Name + ": " + strings.Join(c.FrameworkCodes, ", ")
		if c.DryRun {
			title += " (dry run: nothing was changed)"
		}
		p.Title("%s", title)
		for _, f := range c.Added {
			p.Text("%s adds %s, answered by %s.", f.Code, prose.Count(f.RequirementCount, "requirement", "requirements"),
				prose.Count(f.ControlCount, "control", "controls"))
		}
		for _, f := range c.Removed {
			p.Text("%s is removed, with %s.", f.Code, prose.Count(f.RequirementCount, "requirement", "requirements"))
		}
		if len(c.Added)+len(c.Removed) == 0 {
			p.Text("Nothing to change: the assessment already matches your request.")
			return
		}
		p.Text(
			"Controls: %d before, %d after; %d kept with more or fewer requirements.",
			c.ControlsBefore, c.ControlsAfter, c.RequirementsChanged,
		)
		renderFrameworkControls(p, "Controls added", c.ControlsAdded)
		renderFrameworkControls(p, "Controls removed (* = edited; earlier versions keep the edits)", c.ControlsRemoved)
		if c.Version != nil {
			p.Blank()
			p.Text("Version %d of the Statement of Applicability has been drafted, with %s. Only new controls were judged; all other verdicts "+
				"are unchanged, including those for %s with more or fewer requirements. Review the new version, then run:", c.Version.VersionNumber,
				prose.Count(c.Version.ItemCount, "item", "items"), prose.Count(c.RequirementsChanged, "item", "items"))
			p.Command(a.suggestedCommandLine("soa submit"))
		}
	})
}

// maxFrameworkControls is the maximum number of added or removed controls listed.
const maxFrameworkControls = 40

func renderFrameworkControls(p *print.Page, title string, all []api.FrameworkControl) {
	if len(all) == 0 {
		return
	}
	p.Title("%s: %d", title, len(all))
	for _, c := range all[:min(len(all), maxFrameworkControls)] {
		mark := ""
		if c.Decided {
			mark = "*"
		}
		p.ListItem(0, "%s%s %s", c.ControlCode, mark, c.ControlTitle)
	}
	if more := len(all) - maxFrameworkControls; more > 0 {
		p.ListItem(0, "and %d more (list all with -o json)", more)
	}
}
