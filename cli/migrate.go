package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

// maxReviewShown is how many controls to look at again a page shows of each kind; -o json has all.
const maxReviewShown = 15

func (a *app) assessMigrate() *cobra.Command {
	var body api.MigrateBody
	cmd := &cobra.Command{
		Use: "migrate [ID|NAME]", Short: "Move an assessment to another catalog version", Args: requireArgs(0, 1), ValidArgsFunction: a.completeAssessments(),
		Long: `Moves an assessment to another catalog version, and to your own frameworks and controls
as they are now. For each deliverable there is it drafts the next version; approved
versions stay as they are. What people decided is kept where the control kept its code.
It lists what a person must look at again. --dry-run tells first.`,
		Example: "  service assess migrate --dry-run\n  service assess migrate \"Acme 2026\" --to 2026.1.1",
		RunE: func(cmd *cobra.Command, args []string) error {
			one, err := a.assessmentFromArgs(cmd, args)
			if err != nil {
				return err
			}
			a.interruptHint = "the assessment is where it was: it moves whole or not at all"
			word := "move the assessment and draft anew"
			if body.DryRun {
				word = "compare the catalogs"
			}
			a.progress.Start(word)
			m, err := call(
				cmd.Context(),
				a,
				api.MigrateAssessment,
				&api.MigrateInput{AssessmentInput: api.AssessmentInput{AssessmentID: one.ID}, Body: body},
			)
			a.progress.Done("")
			if err != nil {
				return err
			}
			return a.out.Print(m, func(p *print.Page) { a.renderMigration(p, one.Name, m) })
		},
	}
	cmd.Flags().StringVar(&body.To, "to", "", "the catalog version, by label or id (default: the active one)")
	cmd.Flags().StringSliceVar(&body.DropFrameworks, "drop-framework", nil, "leave this framework behind, which the version lacks")
	cmd.Flags().BoolVar(&body.DryRun, "dry-run", false, "change nothing, tell what would change")
	return cmd
}

func (a *app) renderMigration(p *print.Page, name string, m *api.Migration) {
	title := fmt.Sprintf("%s: from %s to %s", name, m.From.Label, m.To.Label)
	if m.DryRun {
		title += " (dry run: nothing was changed)"
	}
	p.Title("%s", title)
	p.Fields(
		print.Field{
			Name:  "controls",
			Value: fmt.Sprintf("%d before, %d after, %d of them as before", m.ControlsBefore, m.ControlsAfter, m.ControlsUnchanged),
		},
		print.Field{Name: "decisions", Value: fmt.Sprintf("%d kept, %d left behind", len(m.DecisionsKept), len(m.DecisionsLeft))},
		print.Field{Name: "left behind", Value: strings.Join(m.DecisionsLeft, ", ")},
	)
	for _, f := range m.Frameworks {
		switch f.Status {
		case "renamed":
			p.Text("The framework %s is called %s now.", f.Code, orEmpty(f.ToCode))
		case "gone":
			p.Text(
				"The framework %s is not there: %s. `%s` leaves it behind.",
				f.Code,
				orEmpty(f.Message),
				a.commandLine("assess migrate --drop-framework "+f.Code),
			)
		case "dropped":
			p.Text("The framework %s is left behind.", f.Code)
		}
	}
	a.renderMigrationReview(p, m.Review)
	if len(m.Versions) > 0 {
		p.Title("New drafts")
		for _, v := range m.Versions {
			p.Item(0, "%s, version %d: %s", v.Gate.Title(), v.VersionNumber, pluralize(v.ItemCount, "item", "items"))
		}
		p.Text("They wait for review and approval as any draft; `%s` shows where it stands.", a.commandLine("assess status"))
	}
}

// renderMigrationReview lists what to look at again, by reason; a control stands under its first.
func (a *app) renderMigrationReview(p *print.Page, all []api.MigrationReview) {
	if len(all) == 0 {
		p.Text("Nothing needs another look.")
		return
	}
	p.Title("To look at again: %s (* a person had decided on it)", pluralize(len(all), "control", "controls"))
	var order []string
	by := map[string][]api.MigrationReview{}
	for _, r := range all {
		why := strings.Join(r.Reasons, ", ")
		if by[why] == nil {
			order = append(order, why)
		}
		by[why] = append(by[why], r)
	}
	slices.SortStableFunc(order, func(x, y string) int { return len(by[y]) - len(by[x]) })
	for _, why := range order {
		list := by[why]
		p.Text("%s: %d", humanize(why), len(list))
		for _, r := range list[:min(len(list), maxReviewShown)] {
			mark := ""
			if r.Decided {
				mark = "*"
			}
			p.Item(
				1,
				"%s",
				joinNonEmpty(
					r.ControlCode+mark,
					r.Title,
					formatRequirementCodes("now also", r.Gained),
					formatRequirementCodes("no more", r.Lost),
				),
			)
		}
		if more := len(list) - maxReviewShown; more > 0 {
			p.Item(1, "and %d more: -o json has all", more)
		}
	}
}

func formatRequirementCodes(label string, codes api.RequirementCodes) string {
	if len(codes) == 0 {
		return ""
	}
	var parts []string
	for _, f := range sortedKeys(codes) {
		parts = append(parts, f+" "+strings.Join(codes[f], ", "))
	}
	return "(" + label + ": " + strings.Join(parts, "; ") + ")"
}
