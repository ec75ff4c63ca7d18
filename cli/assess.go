package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

func (a *app) assessCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "assess", Short: "Create and run assessments, and check their status",
		Long: `An assessment compares one organization's documents with a catalog version and
frameworks. It moves through 22 states, with four gates at which a person must approve
(service help lifecycle).

Without --assessment, commands use the most recently used assessment, or the only one.`,
		Example: "  service assess run ./evidence -f iso-27001-2022\n  service assess status\n  service assess list\n" +
			"  service assess use \"Acme 2026\"",
	}, a.assessRun(), a.assessList(), a.assessShow(), a.assessStatus(), a.assessSummary(), a.assessTimeline(),
		a.assessExportArchive(), a.assessCreate(), a.assessUpdate(), a.assessUse(), a.assessTransition(), a.assessFramework(),
		a.assessMigrateCatalog(), a.assessClose(), a.assessDelete())
}

// assessmentFromArgs returns the assessment that args specifies, or the current one if args is empty.
func (a *app) assessmentFromArgs(cmd *cobra.Command, args []string) (*api.Assessment, error) {
	if len(args) > 0 {
		return a.findAssessment(cmd.Context(), args[0])
	}
	return a.currentAssessment(cmd.Context())
}

func (a *app) assessList() *cobra.Command {
	var in api.AssessmentsInput
	var l listFlags
	cmd := &cobra.Command{
		Use: "list", Short: "List assessments, newest first",
		Long:    "Lists assessments; * marks the one that commands use by default.",
		Example: "  service assess list\n  service assess list --state soa_under_review -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := fetchList(
				cmd.Context(),
				a,
				api.ListAssessments,
				&in,
				l,
			)
			if err != nil {
				return err
			}
			used := a.readSavedState().LastAssessments[a.savedStateKey()]
			columns := []print.Column{
				column(""),
				column("name"),
				column("state"),
				number("done"),
				optional(column("frameworks")),
				optional(number("docs")),
				optional(number("gaps")),
				optional(fixed("changed")),
				idColumn(),
			}
			return printList(a, all, columns, func(one api.Assessment) []string {
				mark := ""
				if one.ID == used {
					mark = "*"
				}
				return []string{
					mark,
					one.Name,
					string(one.State),
					fmt.Sprintf("%d%%", one.Progress),
					joinFirst(one.Frameworks, 2),
					fmt.Sprint(one.Counts.Documents),
					fmt.Sprint(one.Counts.Findings),
					print.FormatDay(one.UpdatedAt),
					one.ID,
				}
			}, "No assessments yet. Create one with `%s`, or try `%s`.", a.suggestedCommandLine("assess run DIR"), a.suggestedCommandLine("demo"))
		},
	}
	addChoiceFlag(cmd.Flags(), &in.State, "state", api.States(), "list only assessments in this state")
	cmd.Flags().StringVar(&in.Q, "query", "", "list only assessments with this text in the name")
	l.addFlags(cmd, 0)
	return cmd
}

func (a *app) assessShow() *cobra.Command {
	return &cobra.Command{
		Use: "show [ID|NAME]", Short: "Show an assessment's details",
		ValidArgsFunction: a.completeAssessments(),
		Long:              "Shows an assessment's description, state and number of records.",
		Example:           "  service assess show\n  service assess show \"Acme 2026\" -o yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			one, err := a.assessmentFromArgs(cmd, args)
			if err != nil {
				return err
			}
			return a.out.Print(one, func(p *print.Page) { renderAssessment(p, one) })
		},
	}
}

func renderAssessment(p *print.Page, assessment *api.Assessment) {
	p.Title("%s", assessment.Name)
	c := assessment.Counts
	p.Fields(
		field("client", assessment.ClientName),
		field("description", assessment.Description),
		field("from", formatCarriedFrom(assessment.CarriedFrom)),
		field("state", fmt.Sprintf("%s (%d%%)", assessment.State, assessment.Progress)),
		field("frameworks", strings.Join(assessment.Frameworks, ", ")),
		field("due", string(orZero(assessment.DueDate))),
		field("contains", strings.Join([]string{
			prose.Count(c.Documents, "document", "documents"), prose.Count(c.Chunks, "passage", "passages"),
			prose.Count(c.SoAItems, "SoA item", "SoA items"), prose.Count(c.Findings, "finding", "findings"),
			prose.Count(c.POAMItems, "POA&M item", "POA&M items"),
		}, ", ")),
		field("created", joinNonEmpty(print.FormatTime(assessment.CreatedAt), assessment.CreatedBy)),
		field("changed", print.FormatTime(assessment.UpdatedAt)),
		field("closed", formatTimePtr(assessment.ClosedAt)),
		field("catalog", assessment.SCFVersionID),
		field("id", assessment.ID),
	)
}

// formatCarriedFrom describes what an assessment inherited from an earlier one. It returns "" if it inherited
// nothing.
func formatCarriedFrom(c *api.CarriedFrom) string {
	if c == nil {
		return ""
	}
	s := fmt.Sprintf("%s: decisions on %s and %s, %s from the plan, and %s", c.Name,
		prose.Count(c.Decisions[api.GateSoA], "control", "controls"),
		prose.Count(c.Decisions[api.GateGapAnalysis]+c.Decisions[api.GateMaturity], "finding or level", "findings or levels"),
		prose.Count(c.Decisions[api.GatePOAM], "open item", "open items"), prose.Count(c.Comments, "comment", "comments"))
	if len(c.NotInCatalog) > 0 {
		s += "; controls that aren't in this catalog: " + joinFirst(c.NotInCatalog, 20)
	}
	return s
}

func (a *app) assessStatus() *cobra.Command {
	return &cobra.Command{
		Use: "status [ID|NAME]", Short: "Show an assessment's progress and next step",
		ValidArgsFunction: a.completeAssessments(),
		Long:              "Shows the lifecycle states and the four approval gates, what blocks the next transition,\nand which command to run next.",
		Example:           "  service assess status\n  service assess status --jq .state",
		RunE: func(cmd *cobra.Command, args []string) error {
			one, err := a.assessmentFromArgs(cmd, args)
			if err != nil {
				return err
			}
			review := a.reviewRenderer(cmd.Context(), one.ID)
			return callAndPrint(
				cmd.Context(),
				a,
				api.GetAssessmentStatus,
				&api.AssessmentInput{AssessmentID: one.ID},
				func(p *print.Page, st *api.AssessmentStatus) {
					p.Title("%s (%d%%)", one.Name, st.Progress)
					renderLifecycle(p, st.State)
					if review != nil {
						review(p)
					}
					a.renderNextSteps(p, st)
				},
			)
		},
	}
}

// renderLifecycle prints all states, marked as passed, current or future. A note after a state says which deliverable
// must be approved to reach it.
func renderLifecycle(p *print.Page, current api.State) {
	for _, s := range api.States() {
		mark := "  ·"
		switch {
		case s == current:
			mark = "  ▶"
		case current.HasReached(s):
			mark = "  ✓"
		}
		gate := ""
		for _, m := range api.Moves {
			if m.To == s && m.Gate != "" {
				gate = fmt.Sprintf("   ← gate: the %s must be approved", m.Gate.Title())
			}
		}
		p.Text("%s %s%s", mark, s, gate)
	}
}

// renderReadingStatus prints which parts of the documents were not read, and how many documents are outdated.
func (a *app) renderReadingStatus(p *print.Page, st *api.AssessmentStatus) {
	if unread := api.DescribeNotRead(st.NotRead); unread != "" {
		p.Blank()
		p.Text("Parts of the documents were not read: %s. `%s` lists the documents.", unread, a.suggestedCommandLine("doc list"))
	}
	if st.OutdatedDocuments > 0 {
		p.Blank()
		p.Text("%s read by an older version of the program. To process outdated documents again, run:",
			prose.Count(st.OutdatedDocuments, "document was", "documents were"))
		p.Command(a.suggestedCommandLine("doc reprocess --outdated"))
	}
}

// renderFormerOwners lists the owners of items who have left the organization, and prints a command that assigns
// another owner.
func (a *app) renderFormerOwners(p *print.Page, st *api.AssessmentStatus) {
	if len(st.FormerOwners) == 0 || st.State == api.StateClosed {
		return
	}
	p.Title("Owners who have left")
	for _, f := range st.FormerOwners {
		p.ListItem(0, "%s", f.Message)
	}
	first := st.FormerOwners[0]
	p.Text("To assign another owner, for example:")
	p.Command(a.suggestedCommandLine(fmt.Sprintf("%s edit --where %s --owner NAME", gateCommandName(first.Gate),
		shellQuote(fmt.Sprintf("owner == %q", first.Owner)))))
}

// renderNextSteps prints what blocks the next transition, and the commands to run next.
func (a *app) renderNextSteps(p *print.Page, st *api.AssessmentStatus) {
	a.renderReadingStatus(p, st)
	a.renderFormerOwners(p, st)
	a.renderOutdatedDeliverables(p, st)
	p.Blank()
	if len(st.NextStates) == 0 {
		p.Text("The assessment is closed and can't be changed. To start the next one with its scope, decisions and open plan items, run:")
		p.Command(a.suggestedCommandLine("assess create NAME --from " + st.AssessmentID))
		return
	}
	move, _ := st.State.NextMove()
	p.Text("Next: %s.", st.NextStep)
	for _, b := range st.BlockedBy {
		p.ListItem(0, "%s", b)
	}
	noun := gateCommandName(move.Gate)
	switch {
	case move.Gate != "" && st.PendingApprovalID != nil:
		p.Command(a.suggestedCommandLine(noun + " show"))
		p.Command(a.suggestedCommandLine(noun + " approve"))
		p.Command(a.suggestedCommandLine(noun + " reject --reason '…'"))
	case move.Gate != "" && len(st.BlockedBy) > 0:
		p.Command(a.suggestedCommandLine(noun + " submit"))
	case st.State == api.StateReportGenerated && len(st.BlockedGates) > 0:
		for _, g := range st.BlockedGates {
			p.Command(a.suggestedCommandLine(gateCommandName(g) + " show")) // the command shows what blocks the version
			if st.ReadyForReview != nil && *st.ReadyForReview == g {
				p.Command(a.suggestedCommandLine(gateCommandName(g) + " submit"))
			}
		}
	case st.State == api.StateReportGenerated:
		p.Command(a.suggestedCommandLine("report create --template full --format html --out report.html"))
		p.Command(a.suggestedCommandLine("assess close"))
	case st.ReadyForReview != nil:
		noun := gateCommandName(*st.ReadyForReview)
		p.Command(a.suggestedCommandLine(noun + " show"))
		p.Command(a.suggestedCommandLine(noun + " submit"))
	case len(st.BlockedBy) > 0 && gateOfReviewState(move.To) != "":
		noun := gateCommandName(gateOfReviewState(move.To))
		p.Command(a.suggestedCommandLine(noun + " edit"))
		p.Command(a.suggestedCommandLine(noun + " submit"))
	case st.State == api.StateDraft:
		p.Command(a.suggestedCommandLine("assess run DIR"))
	default:
		p.Command(a.suggestedCommandLine("assess run"))
	}
}

// gateOfReviewState returns the gate at which an assessment in state s awaits approval, or "" if s is not a
// review state.
func gateOfReviewState(s api.State) api.Gate {
	move, _ := s.NextMove()
	return move.Gate
}

func (a *app) assessSummary() *cobra.Command {
	return &cobra.Command{
		Use: "summary [ID|NAME]", Short: "Show an assessment's totals and worst gaps",
		ValidArgsFunction: a.completeAssessments(),
		Long: "Shows compliance, maturity, gaps by severity, and the worst gaps with their evidence.\n" +
			"-o json prints the totals.",
		Example: "  service assess summary\n  service assess summary --jq .compliance_pct",
		RunE: func(cmd *cobra.Command, args []string) error {
			started := a.Clock()
			one, err := a.assessmentFromArgs(cmd, args)
			if err != nil {
				return err
			}
			if !a.out.IsHumanReadable() {
				s, err := call(cmd.Context(), a, api.GetAssessmentSummary, &api.AssessmentInput{AssessmentID: one.ID})
				if err != nil {
					return err
				}
				return a.out.PrintRecord(s)
			}
			o, err := a.fetchRunResult(cmd.Context(), one.ID, nil, started)
			if err != nil {
				return err
			}
			return a.out.PrintPage(o.renderer(a))
		},
	}
}

// defaultEventLimit is the default number of events in a list.
const defaultEventLimit = 50

func (a *app) assessTimeline() *cobra.Command {
	var l listFlags
	cmd := &cobra.Command{
		Use: "timeline [ID|NAME]", Short: "List an assessment's events, newest first",
		ValidArgsFunction: a.completeAssessments(),
		Long:              "Lists an assessment's events with their actors, newest first.",
		Example:           "  service assess timeline\n  service assess timeline --limit 0 -o csv",
		RunE: func(cmd *cobra.Command, args []string) error {
			one, err := a.assessmentFromArgs(cmd, args)
			if err != nil {
				return err
			}
			all, err := fetchList(
				cmd.Context(),
				a,
				api.GetTimeline,
				&api.TimelineInput{AssessmentInput: api.AssessmentInput{AssessmentID: one.ID}},
				l,
			)
			if err != nil {
				return err
			}
			return printList(
				a,
				all,
				[]print.Column{fixed("at"), column("who"), column("type"), wrapped("what")},
				func(e api.TimelineEvent) []string {
					return []string{print.FormatTime(e.At), e.Actor.Name, e.Type, e.Summary}
				},
				"",
			)
		},
	}
	l.addFlags(cmd, defaultEventLimit)
	return cmd
}

func (a *app) assessCreate() *cobra.Command {
	var in api.CreateAssessmentInput
	var from string
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Create an assessment, empty or from an earlier one",
		Long: "Creates an assessment without documents. `service assess run DIR` creates and runs one.\n" +
			"--from carries over the scope, owners, decisions, notes, comments and open plan items of an\n" +
			"earlier assessment. A decision whose evidence has changed has to be confirmed.",
		Example: "  service assess create \"Acme 2026\" -f iso-27001-2022 -f soc2-tsc\n  service doc add policies/*.docx",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Body.Name = args[0]
			var err error
			if in.Body.From, err = a.earlierAssessmentID(cmd.Context(), from); err != nil {
				return err
			}
			one, err := call(cmd.Context(), a, api.CreateAssessment, &in)
			if err != nil {
				return a.withFrameworkHint(err)
			}
			a.warnAboutOddAssessment(cmd.Context(), one)
			a.rememberAssessment(one.ID)
			return a.out.Print(one, func(p *print.Page) {
				renderAssessment(p, one)
				p.Title("Next")
				p.Command(a.suggestedCommandLine("assess run DIR -a " + shellQuote(one.Name)))
			})
		},
	}
	f := cmd.Flags()
	f.StringSliceVarP(&in.Body.FrameworkIDs, "framework", "f", nil, "framework to assess against; can be repeated")
	f.StringVar(&in.Body.SCFVersionID, "version", "", "catalog version (default: the active one)")
	f.StringVar(&in.Body.ClientName, "client", "", "name of the assessed organization, for reports")
	f.StringVar(&from, "from", "", "earlier assessment from which to carry over decisions")
	f.StringVar(&in.Body.Description, "description", "", "description")
	addOptionalFlag(f, &in.Body.DueDate, "due", "due date, such as 2027-03-31")
	_ = cmd.RegisterFlagCompletionFunc("framework", a.completeFrameworks())
	return cmd
}

// warnAboutOddAssessment warns that another open assessment has the same name, or that the due date has passed.
func (a *app) warnAboutOddAssessment(ctx context.Context, assessment *api.Assessment) {
	if assessment.DueDate != nil && *assessment.DueDate < api.DateOf(assessment.UpdatedAt) {
		a.printNotice("The due date %s has passed; change it with `%s`.", *assessment.DueDate, a.suggestedCommandLine("assess update --due DATE"))
	}
	l, err := fetchAll(ctx, a, api.ListAssessments, &api.AssessmentsInput{})
	if err != nil {
		return // the warning is optional
	}
	for _, other := range l.Data {
		if other.ID != assessment.ID && other.ClosedAt == nil && strings.EqualFold(other.Name, assessment.Name) {
			a.printNotice("Another open assessment is also named %q; in commands, refer to this assessment by its ID: %s",
				assessment.Name, assessment.ID)
			return
		}
	}
}

func (a *app) assessUpdate() *cobra.Command {
	var in api.UpdateAssessmentInput
	var frameworks []string
	var noRemoteModel bool
	cmd := &cobra.Command{
		Use: "update [ID|NAME]", Short: "Change an assessment's name, client, description, frameworks or due date",
		ValidArgsFunction: a.completeAssessments(),
		Long: "Changes the fields given as flags. Once the Statement of Applicability has been\n" +
			"drafted, change frameworks with `service assess framework`. --no-remote-model keeps the\n" +
			"evidence on this machine regardless of the selected model; no other flag overrides it.",
		Example: "  service assess update --name \"Acme 2027\" --due 2027-03-31",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := requireAnyFlag(cmd); err != nil {
				return err
			}
			one, err := a.assessmentFromArgs(cmd, args)
			if err != nil {
				return err
			}
			in.AssessmentID, in.Match = one.ID, matchRevision(one.Revision)
			in.Body.FrameworkIDs = flagIfChanged(cmd, "framework", frameworks)
			in.Body.NoRemoteModel = flagIfChanged(cmd, "no-remote-model", noRemoteModel)
			if one, err = call(cmd.Context(), a, api.UpdateAssessment, &in); err != nil {
				return err
			}
			if cmd.Flags().Changed("due") || cmd.Flags().Changed("name") {
				a.warnAboutOddAssessment(cmd.Context(), one)
			}
			return a.out.Print(one, func(p *print.Page) { renderAssessment(p, one) })
		},
	}
	f := cmd.Flags()
	addOptionalFlag(f, &in.Body.Name, "name", "new name")
	addOptionalFlag(f, &in.Body.ClientName, "client", "name of the assessed organization, for reports")
	addOptionalFlag(f, &in.Body.Description, "description", "description")
	f.StringSliceVarP(&frameworks, "framework", "f", nil, "framework to assess against; replaces the current frameworks; can be repeated")
	addClearableFlag(f, &in.Body.DueDate, "due", "due date, such as 2027-03-31; empty removes it")
	f.BoolVar(&noRemoteModel, "no-remote-model", false,
		"don't let language models on other machines read the evidence (=false: let them read it)")
	return cmd
}

func (a *app) assessUse() *cobra.Command {
	return &cobra.Command{
		Use: "use ID|NAME", Short: "Select the assessment that commands use by default",
		ValidArgsFunction: a.completeAssessments(),
		Long:              "Selects the assessment for commands without --assessment.",
		Example:           "  service assess use \"Acme 2026\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			one, err := a.findAssessment(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			a.rememberAssessment(one.ID)
			return a.out.Print(one, func(p *print.Page) { p.Text("Commands now use the assessment %q (%s).", one.Name, one.ID) })
		},
	}
}

func (a *app) assessTransition() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use: "transition STATE", Short: "Move to the next state",
		Long: "Moves the assessment to its next state and does the work that this requires.\n" +
			"`service assess run` does this for all states up to the next gate.",
		Example: "  service assess transition documents_uploaded",
		ValidArgsFunction: func(*cobra.Command, []string, string) (out []string, _ cobra.ShellCompDirective) {
			for _, s := range api.States() {
				out = append(out, string(s))
			}
			return out, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.transitionAndPrint(cmd, args[0], reason)
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "reason to record")
	return cmd
}

func (a *app) assessClose() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use: "close", Short: "Close the assessment",
		Long:    "Closes an assessment whose reports have been generated. A closed assessment can't be changed.",
		Example: "  service assess close --reason 'Handed to the board'",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.transitionAndPrint(cmd, string(api.StateClosed), reason)
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "reason to record")
	return cmd
}

func (a *app) assessExportArchive() *cobra.Command {
	var out string
	var force bool
	cmd := &cobra.Command{
		Use: "export [ID|NAME]", Short: "Save the assessment as one verifiable archive",
		ValidArgsFunction: a.completeAssessments(),
		Long: "Saves every version, document, report and decision with the organization's audit trail\n" +
			"and a signed manifest of hashes. `service verify` checks the archive offline.",
		Example: "  service assess export --out acme-2026.zip\n  service verify acme-2026.zip",
		RunE: func(cmd *cobra.Command, args []string) error {
			one, err := a.assessmentFromArgs(cmd, args)
			if err != nil {
				return err
			}
			a.progress.Start("export")
			f, err := call(cmd.Context(), a, api.ExportAssessment, &api.AssessmentInput{AssessmentID: one.ID})
			if err != nil {
				return err
			}
			return a.saveDownload(f, downloadPath(out, f.Filename, one.ID+".zip"), force)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "file to write (default: named after the assessment)")
	addForceFlag(cmd, &force)
	return cmd
}

func (a *app) transitionAndPrint(cmd *cobra.Command, state, reason string) error {
	if err := checkOneOfOrEmpty("state", state, api.States()); err != nil {
		return err
	}
	one, err := a.currentAssessment(cmd.Context())
	if err != nil {
		return err
	}
	a.progress.Start("move to " + prose.Humanize(state))
	in := api.TransitionInput{AssessmentInput: api.AssessmentInput{AssessmentID: one.ID}}
	in.Body.TargetState, in.Body.Reason = api.State(state), reason
	st, err := call(cmd.Context(), a, api.Transition, &in)
	a.progress.Done("")
	if err != nil {
		return validationToRuntimeError(err)
	}
	return a.out.Print(st, func(p *print.Page) {
		p.Text("%q is %s (%d%%).", one.Name, st.State, st.Progress)
		a.renderNextSteps(p, st)
	})
}

func (a *app) assessDelete() *cobra.Command {
	var skipPrompt bool
	cmd := &cobra.Command{
		Use: "delete ID|NAME", Short: "Delete an assessment and everything in it",
		ValidArgsFunction: a.completeAssessments(),
		Long: "Deletes an assessment with its documents, deliverables and reports. It can only be\n" +
			"restored from a backup. Only owners can delete assessments.",
		Example: "  service assess delete \"Trial\" --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			one, err := a.findAssessment(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			what := fmt.Sprintf("the assessment %q with %s", one.Name, prose.Count(one.Counts.Documents, "document", "documents"))
			if err := a.confirm(skipPrompt, "delete "+what); err != nil {
				return err
			}
			in := api.DeleteAssessmentInput{AssessmentInput: api.AssessmentInput{AssessmentID: one.ID}}
			if _, err := call(cmd.Context(), a, api.DeleteAssessment, &in); err != nil {
				return err
			}
			a.progress.Done("deleted %s", what)
			return nil
		},
	}
	addYesFlag(cmd, &skipPrompt)
	return cmd
}

// confirm asks the user to confirm an irreversible action. If there is no terminal, it returns an error
// unless skipPrompt is set.
func (a *app) confirm(skipPrompt bool, action string) error {
	if skipPrompt {
		return nil
	}
	if !a.Interactive {
		return withHint(usageError("this would %s", action), "pass --yes to confirm")
	}
	fmt.Fprintf(a.Stderr, "%s? [y/N] ", print.SafeLine(action))
	answer, err := a.bufferedStdin().ReadString('\n')
	if errors.Is(err, context.Canceled) {
		a.interruptHint = cmp.Or(a.interruptHint, "nothing was changed")
		return err
	}
	if w := strings.ToLower(strings.TrimSpace(answer)); w != "y" && w != "yes" {
		return runtimeError("canceled; nothing was changed")
	}
	return nil
}
