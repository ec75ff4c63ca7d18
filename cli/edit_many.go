package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

// manyFlags are the flags of an edit command for selecting many items.
type manyFlags struct {
	where       string
	dryRun, yes bool
}

const whereHelp = `

To change all items that match a filter, use --where instead of a name. A filter compares fields
with operators such as ==, !=, <, in and contains, and combines conditions with &&, || and not.
If you use an unknown field, the error lists all fields. The command shows what would change and
asks you to confirm. ` + "`service undo`" + ` reverts the change.`

// addWhere adds the flags to a command that changes a single item, and returns the command. If a filter is given, many
// is called instead, to change the matching items.
func (f *manyFlags) addWhere(cmd *cobra.Command, many func(*cobra.Command, []string) error) *cobra.Command {
	one := cmd.RunE
	cmd.Use = strings.Replace(cmd.Use, "edit ", "edit [", 1) + "]"
	cmd.Long += whereHelp
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch byFilter := cmd.Flags().Changed("where"); {
		case byFilter && len(args) > 0:
			return usageError("specify one item, or select several with --where, but not both")
		case byFilter:
			return many(cmd, args)
		case len(args) == 0:
			return withHint(usageError("specify the item to change"), "or select several items with --where; see `--help`")
		case f.dryRun || f.yes:
			return usageError("--dry-run and --yes can only be used with --where")
		}
		return one(cmd, args)
	}
	cmd.Flags().StringVar(&f.where, "where", "", "change all items that match this filter; \"true\" matches all items")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "with --where: show what would change without changing anything")
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "with --where: make the change without asking for confirmation")
	return cmd
}

// editMany changes the items of the newest version that match the filter, after a preview. input returns the
// operation's input for a version and a selection.
func editMany[V, I any](
	cmd *cobra.Command,
	a *app,
	f *manyFlags,
	d deliverable[V],
	op api.Op[I, api.EditResult],
	input func(version string, selection api.ItemSelection) *I,
) error {
	changes := false
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		changes = changes || f.Changed && f.Name != "where" && f.Name != "dry-run" && f.Name != "yes"
	})
	if !changes {
		return withHint(usageError("`%s` needs at least one change", cmd.CommandPath()),
			"`%s --help` lists the fields that can be changed", cmd.CommandPath())
	}
	v, err := d.fetchNewestVersion(cmd.Context(), a)
	if err != nil {
		return err
	}
	a.printDefaultAssessment()
	head := d.header(v)
	if strings.TrimSpace(f.where) == "" {
		return withHint(usageError("the filter after --where is empty"), "to select every item, use --where true")
	}
	selection := api.ItemSelection{Where: f.where, DryRun: true}
	preview, err := call(cmd.Context(), a, op, input(head.ID, selection))
	if err != nil {
		return err
	}
	if preview.MatchedCount == 0 {
		return withHint(runtimeError("nothing was changed, because no item of version %[2]d of the %[1]s (%[3]s) matches %[4]s",
			d.gate.Title(), head.VersionNumber,
			prose.Count(preview.ItemCount, "item", "items"), f.where), "list items with `%s`", a.suggestedCommandLine(d.listCommand()))
	}
	if f.dryRun || len(preview.Lines) == 0 {
		return a.out.Print(preview, func(p *print.Page) { renderEdit(p, preview, "would change") })
	}
	all := ""
	if preview.MatchedCount == preview.ItemCount {
		all = ", which is every item,"
	}
	if a.Interactive && !f.yes {
		if err := a.previewOnStderr(func(p *print.Page) { renderEdit(p, preview, "will change") }); err != nil {
			return err
		}
	}
	action := fmt.Sprintf("change %s%s of the %s", prose.Count(len(preview.Lines), "item", "items"), all, d.gate.Title())
	if err := a.confirm(f.yes, action); err != nil {
		return err
	}
	selection.DryRun, selection.ContentSHA256 = false, preview.ContentSHA256
	a.interruptHint = "either all of these items were changed or none of them; run the command again"
	out, err := call(cmd.Context(), a, op, input(head.ID, selection))
	if err != nil {
		return err
	}
	a.printEditEffect(head, out.VersionID, true, d.gate)
	return a.out.Print(out, func(p *print.Page) {
		renderEdit(p, out, "changed")
		p.Text("To undo this:")
		p.Command(a.suggestedCommandLine("undo"))
	})
}

// listCommand returns the command that lists the items of the deliverable.
func (d deliverable[V]) listCommand() string {
	switch d.gate {
	case api.GateSoA:
		return "soa items"
	case api.GateMaturity:
		return "maturity list"
	}
	return d.commandName() + " list"
}

// previewOnStderr prints a preview before the user is asked to confirm. It uses stderr, because the preview is not
// part of the output.
func (a *app) previewOnStderr(page func(*print.Page)) error {
	return (&print.Output{W: a.Stderr, Width: a.StderrWidth}).PrintPage(page)
}

// maxEditedLines is the maximum number of changed items that a page lists.
const maxEditedLines = 20

// renderEdit prints which items change, and how. verb is the phrase that says whether they have already changed.
func renderEdit(p *print.Page, r *api.EditResult, verb string) {
	if len(r.Lines) == 0 && len(r.Skipped) == 0 {
		p.Text("Nothing to change: %s these values.", prose.Count(r.MatchedCount, "matching item already has", "matching items already have"))
		return
	}
	kept := 0 // only who set their values changes
	for _, l := range r.Lines {
		if len(l.Changes) == 0 {
			kept++
		}
	}
	title := fmt.Sprintf("%s %s", prose.Count(len(r.Lines)-kept, "item", "items"), verb)
	if r.Made == nil && r.MatchedCount == r.ItemCount && r.ItemCount > 1 {
		title += " (the filter matches every item)"
	}
	if kept > 0 {
		title += ", " + prose.Count(kept, "keeps its values", "keep their values")
	}
	p.Title("%s, version %d: %s", prose.Capitalize(r.Gate.Title()), r.VersionNumber, title)
	for _, l := range r.Lines[:min(len(r.Lines), maxEditedLines)] {
		p.ListItem(0, "%s: %s", joinNonEmpty(l.POAMCode, l.ControlCode, l.ControlTitle), formatChanges(l.Changes, r.Made != nil))
	}
	if more := len(r.Lines) - maxEditedLines; more > 0 {
		p.ListItem(0, "and %d more (list all with -o json)", more)
	}
	if same := r.MatchedCount - len(r.Lines) - len(r.Skipped); same > 0 {
		p.Text("%s these values.", prose.Count(same, "matching item already has", "matching items already have"))
	}
	if len(r.Skipped) > 0 {
		p.Title("Left alone, because edited since: %d", len(r.Skipped))
		for _, l := range r.Skipped {
			p.ListItem(0, "%s", joinNonEmpty(l.POAMCode, l.ControlCode, l.ControlTitle, formatEditorSuffix(orZero(l.EditedSince))))
		}
	}
}

// formatEditorSuffix returns the name of the user who made an edit in parentheses, or "" if the name is empty.
func formatEditorSuffix(name string) string {
	if name == "" {
		return ""
	}
	return "(by " + name + ")"
}

// formatChanges describes what has changed in an item. If no field has a new value, it says whether new drafts will
// keep the values.
func formatChanges(all []api.FieldChange, isUndo bool) string {
	switch {
	case len(all) == 0 && isUndo:
		return "same values; new drafts may change them again"
	case len(all) == 0:
		return "same values; new drafts will keep them"
	}
	out := make([]string, len(all))
	for n, c := range all {
		out[n] = fmt.Sprintf("%s %s → %s", prose.Humanize(c.Field), formatFieldValue(c.From), formatFieldValue(c.To))
	}
	return strings.Join(out, "; ")
}

// formatFieldValue returns a field's value, shortened for a table, or "none" if it is empty.
func formatFieldValue(v string) string {
	if v == "" {
		return "none"
	}
	return truncateTo80(v)
}

func (a *app) undoCommand() *cobra.Command {
	var in api.UndoInput
	var yes bool
	cmd := &cobra.Command{
		Use: "undo", Short: "Undo your last change to items",
		Long: `Undoes your last change to items of the assessment, including bulk changes with --where.
Run the command again to undo the change before that. Your last 200 changes can be undone,
in the version in which they were made. If an item has been edited since your change, the
item is listed and nothing is undone; use --skip-edited to undo only the other items. An
undo is recorded like any change. If it restores the content of the approved version, that
needs no other approval. Dates in a plan can't be undone once the plan is approved.`,
		Example: "  service undo --dry-run\n  service undo",
		RunE: func(cmd *cobra.Command, _ []string) error {
			one, err := a.currentAssessment(cmd.Context())
			if err != nil {
				return err
			}
			in.AssessmentID = one.ID
			return a.undo(cmd.Context(), &in, yes)
		},
	}
	cmd.Flags().BoolVar(&in.Body.DryRun, "dry-run", false, "show what would be undone without changing anything")
	cmd.Flags().StringVar(&in.Body.EditID, "edit", "", "undo only if the last change still has this edit_id, as shown by --dry-run -o json")
	cmd.Flags().BoolVar(&in.Body.SkipEdited, "skip-edited", false, "skip items that have been edited since your change")
	addYesFlag(cmd, &yes)
	return cmd
}

// undo undoes the last change. In a terminal, it first shows the change and asks for confirmation.
func (a *app) undo(ctx context.Context, in *api.UndoInput, yes bool) error {
	look := *in
	look.Body.DryRun = true
	preview, err := call(ctx, a, api.Undo, &look)
	if err != nil {
		return err
	}
	a.printDefaultAssessment()
	if in.Body.DryRun {
		return a.out.Print(preview, func(p *print.Page) { renderEdit(p, preview, "would be restored") })
	}
	if a.Interactive && !yes {
		if err := a.previewOnStderr(func(p *print.Page) { renderEdit(p, preview, "will be restored") }); err != nil {
			return err
		}
		if len(preview.Lines) > 0 {
			if err := a.confirm(false, fmt.Sprintf("undo the change made on %s", print.FormatTime(*preview.Made))); err != nil {
				return err
			}
		}
	}
	in.Body.EditID = preview.EditID // not a later change, which the preview didn't show
	before := versionsAt(preview.Gate).newestHeader(ctx, a)
	a.interruptHint = fmt.Sprintf("the change was undone completely or not at all; `%s` shows which change would be undone next",
		a.suggestedCommandLine("undo --dry-run"))
	out, err := call(ctx, a, api.Undo, in)
	if err != nil && len(preview.Skipped) > 0 && len(preview.Lines) > 0 && !in.Body.SkipEdited {
		return withHint(err, "to undo the change for all other items, use --skip-edited")
	}
	if err != nil {
		return err
	}
	a.printEditEffect(before, out.VersionID, true, out.Gate)
	if n := versionsAt(out.Gate).equalApprovedVersion(ctx, a, out.AssessmentID); n > 0 {
		a.printNotice("Version %d of the %s has the same content as the approved version %d again, so it needs no approval.",
			out.VersionNumber, out.Gate.Title(), n)
	}
	return a.out.Print(out, func(p *print.Page) { renderEdit(p, out, "as before") })
}
