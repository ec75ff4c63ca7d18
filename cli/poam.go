package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

var poamVersions = deliverable[api.POAMVersion]{
	gate: api.GatePOAM, listOp: api.ListPOAM, draft: newDraftFunc(api.DraftPOAM),
	submit: func(ctx context.Context, a *app, id string, b *api.Submission) (*api.POAMVersion, error) {
		return call(ctx, a, api.SubmitPOAM, &api.SubmitPOAMInput{POAMInput: api.POAMInput{POAMVersionID: id}, Body: b})
	},
	// The API has no regenerate operation for plans; drafting again keeps manual edits.
	regenerate: func(ctx context.Context, a *app, id string) (*api.POAMVersion, error) {
		v, err := call(ctx, a, api.GetPOAM, &api.POAMInput{POAMVersionID: id})
		if err != nil {
			return nil, err
		}
		return call(ctx, a, api.DraftPOAM, &api.AssessmentInput{AssessmentID: v.AssessmentID})
	},
	header: func(v *api.POAMVersion) *api.DeliverableVersion { return &v.DeliverableVersion },
}

var efforts = []string{"small", "medium", "large", "extra_large"}

func (a *app) poamCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "poam", Short: "Plan of action and milestones (POA&M): tasks, owners and due dates",
		Long: `The plan of action and milestones turns each gap into a task. It states what to do, in which
order, by when, and which evidence proves completion. Approved dates are kept, and later
changes are recorded next to them.`,
		Example: "  service poam list --severity high\n  service poam show POAM-001\n" +
			"  service poam edit POAM-001 --owner 'Head of IT' --due 2027-03-31\n  service poam approve",
	}, append([]*cobra.Command{
		a.poamShow(),
		a.poamListItems(),
		a.poamEdit(),
		a.poamSummary(),
		poamWorkbook.importCommand(a),
	}, poamVersions.commands(a)...)...)
}

// findPOAMItem returns the item of the newest version with the given code, ID or control.
func (a *app) findPOAMItem(ctx context.Context, ref string) (*api.POAMItem, error) {
	id, err := poamVersions.fetchNewestVersionID(ctx, a)
	if err != nil {
		return nil, err
	}
	l, err := fetchAll(ctx, a, api.ListPOAMItems, &api.POAMItemsInput{POAMInput: api.POAMInput{POAMVersionID: id}})
	if err != nil {
		return nil, err
	}
	var found []*api.POAMItem
	known := make([]string, len(l.Data))
	for n := range l.Data {
		i := &l.Data[n]
		known[n] = i.ControlCode
		switch {
		case i.ID == ref, isSameCode(i.POAMCode, ref):
			return i, nil
		case isSameCode(i.ControlCode, ref), slices.ContainsFunc(i.AlsoCloses, func(c string) bool { return isSameCode(c, ref) }):
			found = append(found, i)
		}
	}
	return requireSingle(
		ref,
		"item",
		found,
		known,
		func(i *api.POAMItem) *api.Item { return &i.Item },
		func(i *api.POAMItem) string { return i.POAMCode + "  " + i.Weakness },
	)
}

func (a *app) poamShow() *cobra.Command {
	return &cobra.Command{
		Use:   "show [POAM|CONTROL|ITEM]",
		Short: "Show the newest plan, or one of its items",

		Long:    "Shows the newest version of the plan with its totals. With the code of an item or a control,\nshows that item in full.",
		Example: "  service poam show\n  service poam show POAM-001",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				i, err := a.findPOAMItem(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				talk, err := a.fetchCommentRenderer(cmd.Context(), i.AssessmentID, api.GatePOAM, newItemCommentFilter(i.POAMCode, i.ControlCode))
				if err != nil {
					return err
				}
				return a.out.Print(i, func(p *print.Page) { renderPOAMItem(p, i); talk(p) })
			}
			v, err := poamVersions.fetchNewestVersion(cmd.Context(), a)
			if err != nil {
				return err
			}
			s, err := call(cmd.Context(), a, api.GetPOAMSummary, &api.POAMInput{POAMVersionID: v.ID})
			if err != nil {
				return err
			}
			talk, err := a.fetchCommentRenderer(cmd.Context(), v.AssessmentID, api.GatePOAM, isOnWholeDeliverable)
			if err != nil {
				return err
			}
			return a.out.Print(v, func(p *print.Page) {
				renderVersionHeader(p, api.GatePOAM, &v.DeliverableVersion, poamSummaryFields(s)...)
				talk(p)
				a.renderNextVersionCommands(cmd.Context(), p, api.GatePOAM, &v.DeliverableVersion)
			})
		},
	}
}

func poamSummaryFields(s *api.POAMSummary) []print.Field {
	due := joinNonEmpty(string(orZero(s.FirstDue)), "to", string(orZero(s.LastDue)))
	if s.FirstDue == nil {
		due = ""
	}
	fields := []print.Field{
		field("open", fmt.Sprintf("%d of %d, %d overdue", s.Open, s.Items, s.Overdue)),
		field("by status", formatCounts(s.ByStatus, api.POAMStatuses)),
		field("by severity", formatCounts(s.BySeverity, api.Severities)),
		field("by effort", formatCounts(s.ByEffort, efforts)),
		field("due", due),
		field("expired risk acceptances", joinFirst(s.ExpiredAcceptances, 10)),
		field("due after 180 days", joinFirst(s.BeyondHalfYear, 10)),
	}
	if c := s.CMMC; c != nil {
		allowed := "CMMC allows a plan of action"
		if !c.Eligible {
			allowed = "CMMC does not allow a plan of action, because of: " + joinFirst(c.Blocking, 5)
		}
		fields = append(fields, field("CMMC level 2 (32 CFR 170.21)", c.Formula+"; "+allowed))
	}
	return fields
}

// renderBurnDown prints how many items remain open at each date if every item is completed on time.
func renderBurnDown(p *print.Page, s *api.POAMSummary) {
	if len(s.BurnDown) == 0 {
		return
	}
	p.Blank()
	renderTable(
		p,
		s.BurnDown,
		[]print.Column{fixed("date"), number("due"), number("open after")},
		func(b api.BurnDown) []string {
			return []string{string(b.Date), fmt.Sprint(b.Due), fmt.Sprint(b.Open)}
		},
	)
}

func renderPOAMItem(p *print.Page, i *api.POAMItem) {
	renderItem(
		p,
		&i.Item,
		field("code", i.POAMCode),
		field("also closes", joinFirst(i.AlsoCloses, 20)),
		field("weakness", i.Weakness),
		field("to do", i.CorrectiveAction),
		print.Field{Name: "severity", Value: string(i.Severity), Style: severityStyle(string(i.Severity))},
		field("priority", fmt.Sprint(i.Priority)),
		field("effort", prose.Humanize(i.Effort)),
		field("status", prose.Humanize(i.Status)),
		field("risk accepted until", string(orZero(i.RiskAcceptedUntil))),
		field("owner", i.DescribeOwner(i.Owner)),
		field("suggested role", i.OwnerRole),
		field("due", string(i.DueDate)),
		field("moved to", formatLastDueDateChange(i.DueChanges)),
		field("after", strings.Join(i.Dependencies, ", ")),
		field("resources", orZero(i.Resources)),
		field("vendor", orZero(i.VendorDependency)),
		field("comments", orZero(i.Comments)),
	)
	if i.FindingID == "" {
		p.Text("The gap analysis no longer contains this item's gap. The item is kept as a record of the work.")
	}
	if len(i.Milestones) > 0 {
		p.Title("Milestones")
		for _, m := range i.Milestones {
			p.ListItem(0, "%s  %s (%s)", m.DueDate, m.Title, prose.Humanize(m.Status))
			if m.CompletedAt != nil {
				p.IndentedText(4, "completed on %s by %s", *m.CompletedAt, m.CompletedBy)
			}
			for _, c := range m.Changes {
				p.IndentedText(4, "moved to %s by %s: %s", c.DueDate, c.By, c.Reason)
			}
		}
		if _, last := countOpenMilestones(i); last > i.CurrentDueDate() {
			p.Text("The item is due on %s, before its last milestone; change one of the two dates.", i.CurrentDueDate())
		}
	}
	for _, l := range []struct {
		title string
		lines []string
	}{{"Done when", i.AcceptanceCriteria}, {"Evidence expected", i.ExpectedEvidence}} {
		if len(l.lines) > 0 {
			p.Title("%s", l.title)
			for _, line := range l.lines {
				p.ListItem(0, "%s", line)
			}
		}
	}
}

func (a *app) poamListItems() *cobra.Command {
	var in api.POAMItemsInput
	var l listFlags
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"items"},
		Short:   "List the items by priority",

		Long: "Lists the items of the newest version in the order in which to work on them: the most severe first,\n" +
			"but prerequisites before the items that depend on them. To sort by severity first, use\n--sort -severity,due_date.",
		Example: "  service poam list --status open\n  service poam list -o csv > plan.csv",
		RunE: func(cmd *cobra.Command, _ []string) error {
			id, err := poamVersions.fetchNewestVersionID(cmd.Context(), a)
			if err != nil {
				return err
			}
			in.POAMVersionID = id
			all, err := fetchList(cmd.Context(), a, api.ListPOAMItems, &in, l)
			if err != nil {
				return a.withFilterHint(err)
			}
			none := "No matching items."
			if len(all.Data) == 0 && in.ControlCode != "" {
				none = a.explainUnplannedControl(cmd.Context(), in, none)
			}
			defer a.printMoreResultsNotice(len(all.Data), all.Pagination)
			return a.out.Print(all, func(p *print.Page) {
				renderTable(p, all.Data, []print.Column{
					fixed("code"), fixed("control"),
					{Title: "severity", NoShrink: true, Style: severityStyle},
					column("to do"),
					optional(column("owner")),
					fixed("due"),
					optional(column("effort")),
					optional(column("status")),
				}, func(i api.POAMItem) []string {
					return []string{
						i.POAMCode, i.ControlCode, string(i.Severity), i.ShortAction(), i.DescribeOwner(i.Owner),
						string(i.CurrentDueDate()), prose.Humanize(i.Effort), prose.Humanize(i.Status),
					}
				})
				renderTextIfEmpty(p, len(all.Data), "%s", none)
			})
		},
	}
	f := cmd.Flags()
	addChoiceFlag(f, &in.Status, "status", api.POAMStatuses, "only items with this status")
	addChoiceFlag(f, &in.Severity, "severity", api.Severities, "only items with this severity")
	f.StringVar(&in.Domain, "domain", "", "only items in this domain, e.g. BCD")
	f.StringVar(&in.ControlCode, "control", "", "only items for this control")
	f.StringVar(&in.Owner, "owner", "", "only items with this owner (part of the name is enough)")
	f.StringVar(&in.Q, "query", "", "only items containing these words")
	f.StringVar(&in.Where, "where", "", "only items that match this filter, e.g. 'status == \"open\" && due < \"2027-03-01\"'")
	f.StringVar(&in.Sort, "sort", "", "fields to sort by, e.g. due_date,-severity; an unknown field lists the valid ones")
	l.addFlags(cmd, 0)
	return cmd
}

// explainUnplannedControl returns the reason why no plan item covers a control, and what to do about it. It
// returns fallback if it finds no reason.
func (a *app) explainUnplannedControl(ctx context.Context, in api.POAMItemsInput, fallback string) string {
	items, err := fetchList(
		ctx,
		a,
		api.ListPOAMItems,
		&api.POAMItemsInput{POAMInput: in.POAMInput, ControlCode: in.ControlCode},
		listFlags{limit: 1},
	)
	if err != nil || len(items.Data) > 0 { // excluded by another filter
		return fallback
	}
	v, err := gapVersions.fetchNewestVersion(ctx, a)
	if err != nil {
		return fallback
	}
	found, err := a.listFindings(ctx, v.ID, api.FindingFilter{ControlCode: in.ControlCode}, listFlags{})
	if err != nil {
		return fallback
	}
	again := "`" + a.suggestedCommandLine("poam regenerate") + "`"
	approve := fmt.Sprintf("`%s`, `%s` and %s", a.suggestedCommandLine("gap submit"), a.suggestedCommandLine("gap approve"), again)
	if v.Status != api.VersionApproved {
		again = approve
	}
	if len(found.Data) == 0 {
		return fmt.Sprintf(
			"There is no plan item for %s, because this control has no finding. To see its SoA entry, run `%s`.",
			in.ControlCode,
			a.suggestedCommandLine("soa show "+shellQuote(in.ControlCode)),
		)
	}
	for _, f := range found.Data {
		if f.Result != api.Met && f.Result != api.ResultNotApplic && f.Severity != api.SeverityInformational {
			return fmt.Sprintf("%s has a finding but no plan item yet. To add it to the plan, run %s.", f.ControlCode, again)
		}
	}
	f := found.Data[0]
	why := "is only informational"
	if f.Result == api.Met {
		why = "is met and merely lacks stronger evidence"
	}
	return fmt.Sprintf(
		"There is no plan item for %s: its finding (%s) %s, so no action is planned. To see the finding, run `%s`. "+
			"To plan an action anyway, run `%s`, then %s.",
		f.ControlCode,
		f.Severity,
		why,
		a.suggestedCommandLine("gap show "+f.ControlCode),
		a.suggestedCommandLine("gap edit "+f.ControlCode+" --status partially_implemented --severity medium"),
		approve,
	)
}

func (a *app) poamEdit() *cobra.Command {
	var in api.UpdatePOAMItemInput
	var priority int
	b := &in.Body
	var many manyFlags
	cmd := &cobra.Command{
		Use: "edit POAM|CONTROL|ITEM", Short: "Change an item",
		Long: "Changes the given fields of an item. Approved dates are kept, and the new date is recorded next\n" +
			"to them. Open milestones move with the due date; to change the date of a single milestone, use a\n" +
			"workbook (`service poam import`). Completing or reopening an item does the same to its milestones.",
		Example: "  service poam edit POAM-001 --owner 'Head of IT' --due 2027-03-31\n" +
			"  service poam edit POAM-001 --status risk_accepted --risk-accepted-until 2027-06-30 --comments Approved",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := requireAnyFlag(cmd); err != nil {
				return err
			}
			was, err := a.findPOAMItem(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			in.POAMItemID, in.Match = was.ID, matchRevision(was.Revision)
			b.Priority = flagIfChanged(cmd, "priority", priority)
			before := poamVersions.newestHeader(cmd.Context(), a)
			i, err := call(cmd.Context(), a, api.UpdatePOAMItem, &in)
			if err != nil {
				return err
			}
			a.printEditEffect(before, i.VersionID, i.Revision != was.Revision, api.GatePOAM)
			l := &api.List[api.POAMItem]{}
			if b.DueDate != nil {
				if l, err = fetchAll(
					cmd.Context(),
					a,
					api.ListPOAMItems,
					&api.POAMItemsInput{POAMInput: api.POAMInput{POAMVersionID: i.VersionID}},
				); err != nil {
					return err
				}
			}
			return a.out.Print(i, func(p *print.Page) {
				renderPOAMItem(p, i)
				if b.DueDate != nil {
					renderDependencyConflicts(p, i, l)
				}
				if b.Status != nil && i.Status == "completed" && orZero(i.Comments) == "" {
					p.Blank()
					p.Text("The item has no comment that names the evidence of its completion. Acceptance criteria: %s",
						joinFirst(i.AcceptanceCriteria, 3))
					p.Command(a.suggestedCommandLine("poam edit " + i.POAMCode + " --comments 'Evidence: …'"))
				}
			})
		},
	}
	f := cmd.Flags()
	addOptionalFlag(f, &b.CorrectiveAction, "action", "what to do")
	f.IntVar(&priority, "priority", 0, "priority; 1 is highest")
	addOptionalChoiceFlag(f, &b.Effort, "effort", efforts, "small, medium, large or extra_large")
	addClearableFlag(f, &b.Owner, "owner", "owner of the item; an empty value removes the owner")
	addClearableFlag(f, &b.Resources, "resources", "required resources")
	addOptionalFlag(f, &b.DueDate, "due", "due date, e.g. 2027-03-31")
	addOptionalChoiceFlag(f, &b.Status, "status", api.POAMStatuses, "open, in_progress, blocked, completed, risk_accepted or cancelled")
	addClearableFlag(f, &b.RiskAcceptedUntil, "risk-accepted-until", "date until which the risk is accepted")
	addClearableFlag(f, &b.VendorDependency, "vendor", "vendor that the item depends on")
	addClearableFlag(f, &b.Comments, "comments", "comments")
	f.StringSliceVar(&b.Reset, "reset", nil, "edited fields to reset to their drafted values, e.g. owner; \"all\" resets every field")
	return many.addWhere(cmd, func(cmd *cobra.Command, _ []string) error {
		b.Priority = flagIfChanged(cmd, "priority", priority)
		edit := func(version string, selection api.ItemSelection) *api.EditPOAMItemsInput {
			out := &api.EditPOAMItemsInput{}
			out.POAMVersionID, out.Body.ItemSelection, out.Body.Set = version, selection, in.Body
			return out
		}
		return editMany(cmd, a, &many, poamVersions, api.EditPOAMItems, edit)
	})
}

// countOpenMilestones returns the number of open milestones and the latest due date among them.
func countOpenMilestones(i *api.POAMItem) (open int, last api.Date) {
	for _, m := range i.Milestones {
		if m.Status == "open" || m.Status == "in_progress" {
			open, last = open+1, max(last, m.CurrentDueDate())
		}
	}
	return open, last
}

// renderDependencyConflicts lists prerequisites that are due after the item and dependents that are
// due before it.
func renderDependencyConflicts(p *print.Page, i *api.POAMItem, all *api.List[api.POAMItem]) {
	var later, earlier []string
	for n := range all.Data {
		o := &all.Data[n]
		if !o.IsOpen() {
			continue
		}
		named := fmt.Sprintf("%s (%s, due %s)", o.POAMCode, o.ControlCode, o.CurrentDueDate())
		if slices.Contains(i.Dependencies, o.POAMCode) && o.CurrentDueDate() > i.CurrentDueDate() {
			later = append(later, named)
		}
		if slices.Contains(o.Dependencies, i.POAMCode) && o.CurrentDueDate() < i.CurrentDueDate() {
			earlier = append(earlier, named)
		}
	}
	if len(later) > 0 {
		p.Blank()
		p.Text("This item depends on items that are due later: %s.", joinFirst(later, 5))
	}
	if len(earlier) > 0 {
		p.Blank()
		p.Text("Items that depend on this item are due earlier: %s.", joinFirst(earlier, 5))
	}
}

func (a *app) poamSummary() *cobra.Command {
	return &cobra.Command{
		Use:   "summary",
		Short: "Summarize the newest plan",

		Long: "Counts the items of the newest version by status, severity and effort. Also lists expired risk\n" +
			"acceptances and items due after 180 days, and shows how many items remain open at each date if\n" +
			"all are completed on time. If NIST SP 800-171 is assessed, also shows whether CMMC level 2 allows\na plan of action.",
		Example: "  service poam summary",
		RunE: func(cmd *cobra.Command, _ []string) error {
			id, err := poamVersions.fetchNewestVersionID(cmd.Context(), a)
			if err != nil {
				return err
			}
			return callAndPrint(
				cmd.Context(),
				a,
				api.GetPOAMSummary,
				&api.POAMInput{POAMVersionID: id},
				func(p *print.Page, s *api.POAMSummary) {
					p.Fields(poamSummaryFields(s)...)
					renderBurnDown(p, s)
				},
			)
		},
	}
}

// formatLastDueDateChange describes the last change to an approved due date: the date, who set it, and when.
func formatLastDueDateChange(changes []api.MilestoneChange) string {
	if len(changes) == 0 {
		return ""
	}
	c := changes[len(changes)-1]
	return fmt.Sprintf("%s by %s on %s", c.DueDate, c.By, c.At)
}
