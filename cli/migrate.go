package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

// maxReviewShown is the maximum number of controls listed for each reason for review; -o json lists all.
const maxReviewShown = 15

func (a *app) assessMigrateCatalog() *cobra.Command {
	var body api.MigrateBody
	cmd := &cobra.Command{
		Use:   "migrate [ID|NAME]",
		Short: "Move an assessment to another catalog version",

		ValidArgsFunction: a.completeAssessments(),
		Long: `Moves an assessment to another catalog version, and to the current state of your custom
frameworks and controls. It drafts the next version of every existing deliverable; approved
versions are unchanged. Manual decisions are kept if the control kept its code.
The output lists the controls to review again. Preview the changes with --dry-run.`,
		Example: "  service assess migrate --dry-run\n  service assess migrate \"Acme 2026\" --to 2026.1.1",
		RunE: func(cmd *cobra.Command, args []string) error {
			one, err := a.assessmentFromArgs(cmd, args)
			if err != nil {
				return err
			}
			a.interruptHint = "the assessment is unchanged, because a migration is applied completely or not at all"
			word := "migrating the assessment and drafting new versions"
			if body.DryRun {
				word = "comparing the catalogs"
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
	cmd.Flags().StringVar(&body.To, "to", "", "label or id of the target catalog version (default: the active version)")
	cmd.Flags().StringSliceVar(&body.DropFrameworks, "drop-framework", nil,
		"remove this framework from the assessment if the target version doesn't include it")
	cmd.Flags().BoolVar(&body.DryRun, "dry-run", false, "show what would change without changing anything")
	return cmd
}

func (a *app) renderMigration(p *print.Page, name string, m *api.Migration) {
	title := fmt.Sprintf("%s: from %s to %s", name, m.From.Label, m.To.Label)
	if m.DryRun {
		title += " (dry run: nothing was changed)"
	}
	p.Title("%s", title)
	p.Fields(
		field("controls", fmt.Sprintf("%d before, %d after, %d unchanged", m.ControlsBefore, m.ControlsAfter, m.ControlsUnchanged)),
		field("decisions", fmt.Sprintf("%d kept, %d set aside", len(m.DecisionsKept), len(m.DecisionsDropped))),
		field("set aside", strings.Join(m.DecisionsDropped, ", ")),
	)
	if len(m.DecisionsDropped) > 0 {
		p.Text("%s has no such controls for these frameworks. The decisions stay in the earlier versions, and come back with their controls.",
			prose.Capitalize(m.To.Label))
	}
	for _, f := range m.Frameworks {
		switch f.Status {
		case "renamed":
			p.Text("Framework %s is now called %s.", f.Code, orZero(f.ToCode))
		case "missing":
			p.Text(
				"Framework %s is missing: %s. To drop the framework, run `%s`.",
				f.Code,
				orZero(f.Message),
				a.suggestedCommandLine("assess migrate --drop-framework "+f.Code),
			)
		case "dropped":
			p.Text("Framework %s was dropped.", f.Code)
		}
	}
	a.renderMigrationReview(p, m.Review)
	if len(m.Versions) > 0 {
		p.Title("New drafts")
		for _, v := range m.Versions {
			p.ListItem(0, "%s, version %d: %s", v.Gate.Title(), v.VersionNumber, prose.Count(v.ItemCount, "item", "items"))
		}
		p.Text("These drafts must be reviewed and approved like any other draft; check their status with `%s`.",
			a.suggestedCommandLine("assess status"))
	}
}

// renderMigrationReview lists the controls to review again, grouped by their reasons.
func (a *app) renderMigrationReview(p *print.Page, all []api.MigrationReview) {
	if len(all) == 0 {
		p.Text("No controls need to be reviewed again.")
		return
	}
	p.Title("Controls to review again: %d (* = decided manually before)", len(all))
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
		p.Text("%s: %d", prose.Humanize(why), len(list))
		for _, r := range list[:min(len(list), maxReviewShown)] {
			mark := ""
			if r.Decided {
				mark = "*"
			}
			p.ListItem(
				1,
				"%s",
				joinNonEmpty(
					r.ControlCode+mark,
					r.Title,
					formatRequirementCodes("now also", r.Gained),
					formatRequirementCodes("no longer", r.Lost),
				),
			)
		}
		if more := len(list) - maxReviewShown; more > 0 {
			p.ListItem(1, "and %d more (list all with -o json)", more)
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
