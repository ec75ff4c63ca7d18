package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

var poamVersions = deliverable[api.POAMVersion]{
	gate: api.GatePOAM, list: api.ListPOAM, make: api.DraftPOAM,
	submit: func(ctx context.Context, a *app, id string) (*api.POAMVersion, error) {
		return call(ctx, a, api.SubmitPOAM, &api.POAMInput{POAMVersionID: id})
	},
	// The API has no operation for this, and its draft keeps what people edited.
	regenerate: func(ctx context.Context, a *app, id string) (*api.POAMVersion, error) {
		v, err := call(ctx, a, api.GetPOAM, &api.POAMInput{POAMVersionID: id})
		if err != nil {
			return nil, err
		}
		return call(ctx, a, api.DraftPOAM, &api.AssessmentInput{AssessmentID: v.AssessmentID})
	},
	head: func(v *api.POAMVersion) *api.DeliverableVersion { return &v.DeliverableVersion },
}

var poamStatuses = []string{"open", "in_progress", "blocked", "completed", "risk_accepted", "cancelled"}

var efforts = []string{"small", "medium", "large", "extra_large"}

func (a *app) poam() *cobra.Command {
	return group(&cobra.Command{
		Use: "poam", Short: "The plan of action and milestones: who closes which gap until when",
		Long: `The plan of action and milestones turns each gap into work: what to do, in which
order, until when, and by which evidence it will be seen as done. First dates stay
once approved; changes are written beside them.`,
		Example: "  service poam list --severity high\n  service poam show POAM-001\n  service poam edit POAM-001 --owner 'Head of IT' --due 2027-03-31\n  service poam approve",
	}, append([]*cobra.Command{a.poamShow(), a.poamList(), a.poamEdit(), a.poamSummary(), poamSheet.importing(a)}, poamVersions.commands(a)...)...)
}

func (a *app) poamItems(ctx context.Context, in api.POAMItemsInput, l limits) (*api.List[api.POAMItem], error) {
	return collect(ctx, l.limit, l.cursor, func(p api.Paging) (*api.List[api.POAMItem], error) {
		in.Paging = p
		return call(ctx, a, api.ListPOAMItems, &in)
	})
}

// poamItem finds an item of the newest version by its code, id, or control.
func (a *app) poamItem(ctx context.Context, ref string) (*api.POAMItem, error) {
	id, err := poamVersions.newestID(ctx, a)
	if err != nil {
		return nil, err
	}
	l, err := a.poamItems(ctx, api.POAMItemsInput{POAMInput: api.POAMInput{POAMVersionID: id}}, limits{})
	if err != nil {
		return nil, err
	}
	var found []*api.POAMItem
	known := make([]string, len(l.Data))
	for n := range l.Data {
		i := &l.Data[n]
		known[n] = i.ControlCode
		switch {
		case i.ID == ref, equalCode(i.POAMCode, ref):
			return i, nil
		case equalCode(i.ControlCode, ref), slices.ContainsFunc(i.AlsoCloses, func(c string) bool { return equalCode(c, ref) }):
			found = append(found, i)
		}
	}
	return only(ref, "item", found, known, func(i *api.POAMItem) *api.Item { return &i.Item }, func(i *api.POAMItem) string { return i.POAMCode + "  " + i.Weakness })
}

func (a *app) poamShow() *cobra.Command {
	return &cobra.Command{
		Use: "show [POAM|CONTROL|ITEM]", Short: "Show the newest version, or one item", Args: takes(0, 1),
		Long: "Shows the newest version with its totals; with an item's code or a control's, that\nitem in full.", Example: "  service poam show\n  service poam show POAM-001",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				i, err := a.poamItem(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				talk, err := a.talk(cmd.Context(), i.AssessmentID, api.GatePOAM, ofItem(i.POAMCode, i.ControlCode))
				if err != nil {
					return err
				}
				return a.out.Print(i, func(p *print.Page) { poamPage(p, i); talk(p) })
			}
			v, err := poamVersions.newest(cmd.Context(), a)
			if err != nil {
				return err
			}
			s, err := call(cmd.Context(), a, api.GetPOAMSummary, &api.POAMInput{POAMVersionID: v.ID})
			if err != nil {
				return err
			}
			talk, err := a.talk(cmd.Context(), v.AssessmentID, api.GatePOAM, ofWhole)
			if err != nil {
				return err
			}
			return a.out.Print(v, func(p *print.Page) {
				heading(p, api.GatePOAM, &v.DeliverableVersion, poamFields(s)...)
				talk(p)
				a.next(p, api.GatePOAM, v.Status)
			})
		},
	}
}

func poamFields(s *api.POAMSummary) []print.Field {
	due := joinWords(string(orEmpty(s.FirstDue)), "to", string(orEmpty(s.LastDue)))
	if s.FirstDue == nil {
		due = ""
	}
	fields := []print.Field{
		{Name: "open", Value: fmt.Sprintf("%d of %d, %d overdue", s.Open, s.Items, s.Overdue)}, {Name: "by status", Value: tally(s.ByStatus, poamStatuses)},
		{Name: "by severity", Value: tally(s.BySeverity, api.Severities)}, {Name: "by effort", Value: tally(s.ByEffort, efforts)}, {Name: "due", Value: due},
		{Name: "accepted risks to decide anew", Value: joinSome(s.ExpiredAcceptances, 10)},
		{Name: "due after 180 days", Value: joinSome(s.BeyondHalfYear, 10)},
	}
	if c := s.CMMC; c != nil {
		allowed := "a plan of action is allowed"
		if !c.Eligible {
			allowed = "a plan of action is not allowed: " + joinSome(c.Blocking, 5)
		}
		fields = append(fields, print.Field{Name: "CMMC level 2 (32 CFR 170.21)", Value: c.Formula + "; " + allowed})
	}
	return fields
}

// burnDown is what stays open if every item is done on its day.
func burnDown(p *print.Page, s *api.POAMSummary) {
	if len(s.BurnDown) == 0 {
		return
	}
	var rows [][]string
	for _, b := range s.BurnDown {
		rows = append(rows, []string{string(b.Date), fmt.Sprint(b.Due), fmt.Sprint(b.Open)})
	}
	p.Blank()
	p.Table([]print.Column{{Title: "until", Keep: true}, {Title: "due", Right: true}, {Title: "open after", Right: true}}, rows)
}

func poamPage(p *print.Page, i *api.POAMItem) {
	item(p, &i.Item,
		print.Field{Name: "code", Value: i.POAMCode}, print.Field{Name: "also closes", Value: joinSome(i.AlsoCloses, 20)}, print.Field{Name: "weakness", Value: i.Weakness}, print.Field{Name: "to do", Value: i.CorrectiveAction},
		print.Field{Name: "severity", Value: string(i.Severity), Style: severityStyle(string(i.Severity))},
		print.Field{Name: "priority", Value: fmt.Sprint(i.Priority)}, print.Field{Name: "effort", Value: plain(i.Effort)},
		print.Field{Name: "status", Value: plain(i.Status)}, print.Field{Name: "risk accepted until", Value: string(orEmpty(i.RiskAcceptedUntil))},
		print.Field{Name: "owner", Value: orEmpty(i.Owner)}, print.Field{Name: "role", Value: i.OwnerRole}, print.Field{Name: "due", Value: string(i.DueDate)}, print.Field{Name: "moved to", Value: movedTo(i.DueChanges)},
		print.Field{Name: "after", Value: strings.Join(i.Dependencies, ", ")}, print.Field{Name: "resources", Value: orEmpty(i.Resources)},
		print.Field{Name: "vendor", Value: orEmpty(i.VendorDependency)}, print.Field{Name: "comments", Value: orEmpty(i.Comments)})
	if i.FindingID == "" {
		p.Text("The gap analysis has no gap here any more; the item stands for what was done.")
	}
	if len(i.Milestones) > 0 {
		p.Title("Milestones")
		for _, m := range i.Milestones {
			p.Item(0, "%s  %s (%s)", m.DueDate, m.Title, plain(m.Status))
			if m.CompletedAt != nil {
				p.Indent(4, "completed on %s by %s", *m.CompletedAt, m.CompletedBy)
			}
			for _, c := range m.Changes {
				p.Indent(4, "moved to %s by %s: %s", c.DueDate, c.By, c.Reason)
			}
		}
		if _, last := openMilestones(i); last > i.Due() {
			p.Text("The item is due %s, before its last milestone: move one of them.", i.Due())
		}
	}
	for _, l := range []struct {
		title string
		lines []string
	}{{"Done when", i.AcceptanceCriteria}, {"Evidence expected", i.ExpectedEvidence}} {
		if len(l.lines) > 0 {
			p.Title("%s", l.title)
			for _, line := range l.lines {
				p.Item(0, "%s", line)
			}
		}
	}
}

func (a *app) poamList() *cobra.Command {
	var in api.POAMItemsInput
	var severity string
	var l limits
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"items"}, Short: "List the items by priority", Args: takes(0, 0),
		Long: "Lists the items of the newest version in the order in which to work on them: worse ones\nfirst, but what another waits for before it, though it be milder. --sort -severity,due_date\nlists by severity alone.", Example: "  service poam list --status open\n  service poam list -o csv > plan.csv",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := oneOf("status", in.Status, poamStatuses); err != nil {
				return err
			}
			if err := oneOf("severity", severity, api.Severities); err != nil {
				return err
			}
			id, err := poamVersions.newestID(cmd.Context(), a)
			if err != nil {
				return err
			}
			in.POAMVersionID, in.Severity = id, api.Severity(severity)
			all, err := a.poamItems(cmd.Context(), in, l)
			if err != nil {
				return a.noName(err)
			}
			none := "No item is like that."
			if len(all.Data) == 0 && in.ControlCode != "" {
				none = a.notPlanned(cmd.Context(), in, none)
			}
			defer a.more(len(all.Data), all.Pagination)
			return a.out.Print(all, func(p *print.Page) {
				var rows [][]string
				for _, i := range all.Data {
					rows = append(rows, []string{i.POAMCode, i.ControlCode, string(i.Severity), i.CorrectiveAction, orEmpty(i.Owner), string(i.Due()), plain(i.Effort), plain(i.Status)})
				}
				p.Table([]print.Column{{Title: "code", Keep: true}, {Title: "control", Keep: true}, {Title: "severity", Keep: true, Style: severityStyle}, {Title: "to do"}, {Title: "owner", Spare: true},
					{Title: "due", Keep: true}, {Title: "effort", Spare: true}, {Title: "status", Spare: true}}, rows)
				a.none(p, len(rows), "%s", none)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.Status, "status", "", "only of this status")
	f.StringVar(&severity, "severity", "", "only of this severity")
	f.StringVar(&in.Domain, "domain", "", "only of this domain, as BCD")
	f.StringVar(&in.ControlCode, "control", "", "only of this control")
	f.StringVar(&in.Owner, "owner", "", "only of this owner; the name is enough")
	f.StringVar(&in.Q, "query", "", "only with these words")
	f.StringVar(&in.Sort, "sort", "", "the order, as due_date,-severity; an unknown name is told the known ones")
	l.add(cmd, 0)
	return cmd
}

// notPlanned tells why no item closes a control, and what to do; otherwise where there is nothing to tell.
func (a *app) notPlanned(ctx context.Context, in api.POAMItemsInput, otherwise string) string {
	items, err := a.poamItems(ctx, api.POAMItemsInput{POAMInput: in.POAMInput, ControlCode: in.ControlCode}, limits{limit: 1})
	if err != nil || len(items.Data) > 0 { // other filters leave it out
		return otherwise
	}
	v, err := gapVersions.newest(ctx, a)
	if err != nil {
		return otherwise
	}
	found, err := a.findings(ctx, v.ID, api.FindingFilter{ControlCode: in.ControlCode}, limits{})
	if err != nil {
		return otherwise
	}
	again := "`" + a.command("poam regenerate") + "`"
	approve := fmt.Sprintf("`%s`, `%s` and %s", a.command("gap submit"), a.command("gap approve"), again)
	if v.Status != api.VersionApproved {
		again = approve
	}
	if len(found.Data) == 0 {
		return fmt.Sprintf("No item is on %s, as it has no finding; `%s` shows its line.", in.ControlCode, a.command("soa show "+quote(in.ControlCode)))
	}
	for _, f := range found.Data {
		if f.Result != api.Met && f.Result != api.ResultNotApplic && f.Severity != api.SeverityInformational {
			return fmt.Sprintf("No item is on %s yet, which has a finding. To plan for it: %s.", f.ControlCode, again)
		}
	}
	f := found.Data[0]
	why := "is informational"
	if f.Result == api.Met {
		why = "is met and lacks only stronger evidence"
	}
	return fmt.Sprintf("No item is on %s: its finding (%s) %s, so nothing is planned for it. `%s` shows it. To plan for it all the same: `%s`, %s.",
		f.ControlCode, f.Severity, why, a.command("gap show "+f.ControlCode), a.command("gap edit "+f.ControlCode+" --status partially_implemented --severity medium"), approve)
}

func (a *app) poamEdit() *cobra.Command {
	var reset []string
	var action, effort, owner, resources, due, status, until, vendor, comments string
	var priority int
	cmd := &cobra.Command{
		Use: "edit POAM|CONTROL|ITEM", Short: "Change an item", Args: takes(1, 1),
		Long:    "Changes the named fields of an item. Dates that were approved stay; the new one is\nwritten beside them. Milestones keep their dates; a workbook moves them\n(`service poam import`). Completing an item completes its milestones, and opening it\nagain opens those.",
		Example: "  service poam edit POAM-001 --owner 'Head of IT' --due 2027-03-31\n  service poam edit POAM-001 --status risk_accepted --risk-until 2027-06-30 --comments 'Accepted by the board'",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := anyChanged(cmd); err != nil {
				return err
			}
			if err := oneOf("status", status, poamStatuses); err != nil {
				return err
			}
			if err := oneOf("effort", effort, efforts); err != nil {
				return err
			}
			was, err := a.poamItem(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			in := api.UpdatePOAMItemInput{POAMItemID: was.ID, Match: revision(was.Revision)}
			b := &in.Body
			b.CorrectiveAction, b.Priority, b.Effort = given(cmd, "action", action), given(cmd, "priority", priority), given(cmd, "effort", effort)
			b.Status, b.DueDate = given(cmd, "status", status), given(cmd, "due", api.Date(due))
			b.Owner, b.Resources, b.RiskAcceptedUntil = optional(cmd, "owner", owner), optional(cmd, "resources", resources), optional(cmd, "risk-until", api.Date(until))
			b.VendorDependency, b.Comments = optional(cmd, "vendor", vendor), optional(cmd, "comments", comments)
			in.Body.Reset = reset
			i, err := call(cmd.Context(), a, api.UpdatePOAMItem, &in)
			if err != nil {
				return err
			}
			l := &api.List[api.POAMItem]{}
			if b.DueDate != nil {
				if l, err = a.poamItems(cmd.Context(), api.POAMItemsInput{POAMInput: api.POAMInput{POAMVersionID: i.VersionID}}, limits{}); err != nil {
					return err
				}
			}
			return a.out.Print(i, func(p *print.Page) {
				poamPage(p, i)
				if b.DueDate != nil {
					a.milestonesStay(p, i)
					outOfOrder(p, i, l)
				}
				if b.Status != nil && i.Status == "completed" && orEmpty(i.Comments) == "" {
					p.Blank()
					p.Text("No comment says yet what shows it done. It is done when: %s", joinSome(i.AcceptanceCriteria, 3))
					p.Command(a.command("poam edit " + i.POAMCode + " --comments 'Seen in …'"))
				}
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&action, "action", "", "what to do")
	f.IntVar(&priority, "priority", 0, "1 is first")
	f.StringVar(&effort, "effort", "", "small, medium, large or extra_large")
	f.StringVar(&owner, "owner", "", "who does it; empty removes it")
	f.StringVar(&resources, "resources", "", "what it takes")
	f.StringVar(&due, "due", "", "by when, as 2027-03-31")
	f.StringVar(&status, "status", "", "open, in_progress, blocked, completed, risk_accepted or cancelled")
	f.StringVar(&until, "risk-until", "", "until when the risk is accepted")
	f.StringVar(&vendor, "vendor", "", "the vendor it depends on")
	f.StringVar(&comments, "comments", "", "comments")
	cmd.Flags().StringSliceVar(&reset, "reset", nil, "edited fields to hand back to the rules, as note; all for each of them")
	return cmd
}

// openMilestones are how many are not done, and until when the last of them is.
func openMilestones(i *api.POAMItem) (open int, last api.Date) {
	for _, m := range i.Milestones {
		if m.Status == "open" || m.Status == "in_progress" {
			open, last = open+1, max(last, m.Due())
		}
	}
	return open, last
}

// milestonesStay tells that open milestones did not move with the due date, and what moves them.
func (a *app) milestonesStay(p *print.Page, i *api.POAMItem) {
	open, last := openMilestones(i)
	if open == 0 || last == i.Due() {
		return
	}
	p.Blank()
	p.Text("Open milestones keep their dates, the last %s; the item is due %s. To move them, change them in a workbook and import it:", last, i.Due())
	p.Command(a.command("report create --template poam --out poam.xlsx"))
	p.Command(a.command("poam import poam.xlsx"))
}

// outOfOrder tells which items an item waits for that are due later than it, and which wait for it that are
// due earlier, of all items.
func outOfOrder(p *print.Page, i *api.POAMItem, all *api.List[api.POAMItem]) {
	var later, earlier []string
	for n := range all.Data {
		o := &all.Data[n]
		if !o.Open() {
			continue
		}
		named := fmt.Sprintf("%s (%s, due %s)", o.POAMCode, o.ControlCode, o.Due())
		if slices.Contains(i.Dependencies, o.POAMCode) && o.Due() > i.Due() {
			later = append(later, named)
		}
		if slices.Contains(o.Dependencies, i.POAMCode) && o.Due() < i.Due() {
			earlier = append(earlier, named)
		}
	}
	if len(later) > 0 {
		p.Blank()
		p.Text("It waits for what is due later: %s.", joinSome(later, 5))
	}
	if len(earlier) > 0 {
		p.Blank()
		p.Text("What waits for it is due earlier: %s.", joinSome(earlier, 5))
	}
}

func (a *app) poamSummary() *cobra.Command {
	return &cobra.Command{
		Use: "summary", Short: "Count the newest version", Args: takes(0, 0),
		Long: "Counts the items of the newest version by status, severity and effort, names accepted\nrisks whose date has passed and items due after 180 days, and shows what is open at\neach date if all is done in time. Where NIST SP 800-171 is assessed, it tells whether a\nplan of action is allowed for CMMC level 2.", Example: "  service poam summary",
		RunE: func(cmd *cobra.Command, _ []string) error {
			id, err := poamVersions.newestID(cmd.Context(), a)
			if err != nil {
				return err
			}
			s, err := call(cmd.Context(), a, api.GetPOAMSummary, &api.POAMInput{POAMVersionID: id})
			if err != nil {
				return err
			}
			return a.out.Print(s, func(p *print.Page) {
				p.Fields(poamFields(s)...)
				burnDown(p, s)
			})
		},
	}
}

// movedTo is the last date that an approved one was moved to, and by whom.
func movedTo(changes []api.MilestoneChange) string {
	if len(changes) == 0 {
		return ""
	}
	c := changes[len(changes)-1]
	return fmt.Sprintf("%s by %s on %s", c.DueDate, c.By, c.At)
}
