package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

var soaVersions = deliverable[api.SoAVersion]{
	gate: api.GateSoA, listOp: api.ListSoA,
	draft: func(ctx context.Context, a *app, assessment string, reader readerFlags) (*api.SoAVersion, error) {
		return a.readAndDraftSoA(ctx, assessment, reader)
	},
	submit: func(ctx context.Context, a *app, id string, b *api.Submission) (*api.SoAVersion, error) {
		return call(ctx, a, api.SubmitSoA, &api.SubmitSoAInput{SoAInput: api.SoAInput{SoAVersionID: id}, Body: b})
	},
	regenerate: func(ctx context.Context, a *app, id string) (*api.SoAVersion, error) {
		return call(ctx, a, api.RegenerateSoA, &api.SoAInput{SoAVersionID: id})
	},
	header:  func(v *api.SoAVersion) *api.DeliverableVersion { return &v.DeliverableVersion },
	details: func(p *print.Page, v *api.SoAVersion) { renderDecisiveDocuments(p, v.DecisiveDocuments) },
}

// renderDecisiveDocuments lists the documents that alone determine the most verdicts. For each, it shows how
// many verdicts the document changed and how many are based on it alone.
func renderDecisiveDocuments(p *print.Page, documents []api.DecisiveDocument) {
	if len(documents) == 0 {
		return
	}
	p.Title("Verdicts that depend on a single document")
	rows := make([][]string, len(documents))
	for n, d := range documents {
		rows[n] = []string{d.Filename, fmt.Sprint(d.LinesChanged), fmt.Sprint(d.LinesAlone)}
	}
	p.Table([]print.Column{column("document"), number("items changed"), number("items with no other source")}, rows)
}

var applicabilities = []api.Applicability{api.Applicable, api.PartiallyApplicable, api.NotApplicable, api.OutOfScope, api.Undecided}

var implementations = []api.Implementation{
	api.Implemented,
	api.PartiallyImplemented,
	api.Planned,
	api.NotImplemented,
	api.NotEvidenced,
	api.NotAssessed,
}

func (a *app) soaCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "soa", Short: "Statement of Applicability (SoA): applicable controls and their evidence",
		Long: `The Statement of Applicability states whether each control applies, why, and to what extent
the evidence shows that the control is implemented. It is the first approval gate: gaps are
analyzed only after an owner or admin has approved the Statement of Applicability.`,
		Example: "  service soa show\n  service soa items --status not_evidenced\n" +
			"  service soa edit PES-01 --applicability out_of_scope --rationale 'No offices of our own'\n  service soa approve",
	}, append([]*cobra.Command{
		a.soaShow(),
		a.soaExplain(),
		a.soaItems(),
		a.soaEdit(),
		a.soaReview(),
		a.soaRefreshEvidence(),
		a.soaValidate(),
		soaWorkbook.importCommand(a),
	}, soaVersions.commands(a)...)...)
}

// findSoAItem returns the item with the given control code or ID in the newest version. If ref is a
// requirement instead, the error names the controls that cover it.
func (a *app) findSoAItem(ctx context.Context, ref string) (*api.SoAItem, error) {
	id, err := soaVersions.fetchNewestVersionID(ctx, a)
	if err != nil {
		return nil, err
	}
	in := api.SoAItemsInput{SoAInput: api.SoAInput{SoAVersionID: id}}
	if !uuidPattern.MatchString(ref) {
		in.ControlCode = ref
	}
	l, err := fetchAll(ctx, a, api.ListSoAItems, &in)
	if err != nil {
		return nil, err
	}
	if len(l.Data) == 0 {
		answer, err := fetchAll(ctx, a, api.ListSoAItems, &api.SoAItemsInput{SoAInput: in.SoAInput, Requirement: ref})
		if err == nil && len(answer.Data) > 0 {
			return nil, &requirementNotControlError{ref, answer}
		}
		in.ControlCode = "" // fetch all, to suggest similar ones
		if l, err = fetchAll(ctx, a, api.ListSoAItems, &in); err != nil {
			return nil, err
		}
	}
	return findItem(ref, "item", l.Data, func(i *api.SoAItem) *api.Item { return &i.Item }, func(i *api.SoAItem) string { return i.Reason })
}

// requirementNotControlError is returned if the user names a requirement where a control is expected.
type requirementNotControlError struct {
	requirement string
	items       *api.List[api.SoAItem]
}

func (e *requirementNotControlError) Error() string {
	codes := make([]string, len(e.items.Data))
	for n, i := range e.items.Data {
		codes[n] = i.ControlCode
	}
	return fmt.Sprintf(
		"%q is a requirement, not a control; specify one of the controls that cover this requirement: %s",
		e.requirement,
		strings.Join(codes, ", "),
	)
}

func (a *app) soaShow() *cobra.Command {
	return &cobra.Command{
		Use: "show [CONTROL|ITEM]", Short: "Show the newest Statement of Applicability, or one item with its evidence",
		Long: "Shows the newest version with its totals. With a control's code, shows that control's item in full:\n" +
			"the reasons, the verdict on each requirement, and the quoted passages. With the code of a framework\n" +
			"requirement, shows the items of the controls that cover the requirement.",
		Example:           "  service soa show\n  service soa show IAC-06\n  service soa show A.8.5\n  service soa show IAC-06 -o json",
		ValidArgsFunction: a.completeControls(),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if len(args) == 1 {
				i, err := a.findSoAItem(ctx, args[0])
				var answer *requirementNotControlError
				if errors.As(err, &answer) {
					return a.out.Print(answer.items, func(p *print.Page) {
						p.Title("Controls covering %s", answer.requirement)
						renderSoATable(p, answer.items.Data)
					})
				}
				if err != nil {
					return err
				}
				talk, err := a.fetchCommentRenderer(ctx, i.AssessmentID, api.GateSoA, newItemCommentFilter(i.ControlCode))
				if err != nil {
					return err
				}
				return a.out.Print(i, func(p *print.Page) { renderSoAItem(p, i); talk(p) })
			}
			v, err := soaVersions.fetchNewestVersion(ctx, a)
			if err != nil {
				return err
			}
			items, err := fetchAll(ctx, a, api.ListSoAItems, &api.SoAItemsInput{SoAInput: api.SoAInput{SoAVersionID: v.ID}})
			if err != nil {
				return err
			}
			talk, err := a.fetchCommentRenderer(ctx, v.AssessmentID, api.GateSoA, isOnWholeDeliverable)
			if err != nil {
				return err
			}
			return a.out.Print(v, func(p *print.Page) {
				applicable, status, review := map[api.Applicability]int{}, map[api.Implementation]int{}, 0
				carried, changed, earlier := 0, 0, ""
				for _, i := range items.Data {
					applicable[i.Applicability]++
					if i.Applicability.IsApplicable() {
						status[i.ImplementationStatus]++
					}
					if i.NeedsReview {
						review++
					}
					if i.Carried != nil {
						carried, earlier = carried+1, i.Carried.Assessment
						if i.Carried.EvidenceChanged {
							changed++
						}
					}
				}
				renderVersionHeader(
					p,
					api.GateSoA,
					&v.DeliverableVersion,
					field("applicability", formatCounts(applicable, applicabilities)),
					field("of the applicable", formatCounts(status, implementations)),
					field("needs review", prose.Count(review, "item", "items")+" (`"+a.suggestedCommandLine("soa items --needs-review")+"`)"),
					field("carried", a.describeCarried(carried, changed, earlier)),
				)
				renderDecisiveDocuments(p, v.DecisiveDocuments)
				talk(p)
				a.renderNextVersionCommands(cmd.Context(), p, api.GateSoA, &v.DeliverableVersion)
			})
		},
	}
}

// describeCarried says how many items have decisions from an earlier assessment, and how many of these have to be
// confirmed. It returns "" if there are none.
func (a *app) describeCarried(carried, changed int, earlier string) string {
	if carried == 0 {
		return ""
	}
	out := fmt.Sprintf("decisions on %s from %s", prose.Count(carried, "item", "items"), earlier)
	if changed > 0 {
		out += fmt.Sprintf("; the evidence of %d has changed, so confirm or change them (`%s`)",
			changed, a.suggestedCommandLine("soa items --where evidence_changed"))
	}
	return out
}

func renderSoAItem(p *print.Page, i *api.SoAItem) {
	renderItem(p, &i.Item,
		field("applicability", prose.Humanize(i.Applicability)),
		field("rationale", i.Rationale),
		field("status", prose.Humanize(i.ImplementationStatus)),
		field("reason", i.Reason),
		field("evidence", print.FormatCoverage(i)),
		field("check", i.RelianceNote()),
		field("owner", i.DescribeOwner(i.Owner)),
		field("note", orZero(i.Note)),
		field("confidence", print.FormatConfidence(i.Confidence, i.IsStatusOverruled())),
		field("needs review", yesNo(i.NeedsReview)))
	if len(i.Statements) > 0 {
		p.Title("Requirements of the control")
		for _, s := range i.Statements {
			p.ListItem(0, "[%s] %s", s.Verdict, s.Text)
			if s.Reason != "" {
				p.IndentedText(2, "%s", s.Reason)
			}
		}
	}
	renderMissing(p, i.MissingElements)
	renderEvidence(p, i.Evidence)
	renderSecondReading(p, i.SecondReading)
}

// renderSecondReading prints how the second reader's verdicts differ.
func renderSecondReading(p *print.Page, r *api.SecondReading) {
	if r == nil {
		return
	}
	p.Title("The second reader, %s, disagrees: %s", r.Reader, prose.Humanize(r.ImplementationStatus))
	p.Text("%s This doesn't change the item's status; to change it, use `service soa edit`.", r.Reason)
	for _, s := range r.Statements {
		p.ListItem(0, "[%s] %s", s.Verdict, s.Text)
		for _, e := range r.Evidence {
			if e.RelatesTo(s.Text) {
				renderQuote(p, 4, e)
			}
		}
	}
}

func renderSoATable(p *print.Page, items []api.SoAItem) {
	renderTable(p, items, []print.Column{
		fixed("control"), column("title"), column("applies"), column("status"), optional(column("evidence")),
		optional(number("quotes")), optional(number("docs")), optional(column("owner")), optional(column("check")),
	}, func(i api.SoAItem) []string {
		return []string{
			i.ControlCode, i.ControlTitle, prose.Humanize(i.Applicability), prose.Humanize(i.ImplementationStatus),
			prose.Humanize(i.EvidenceCoverage), fmt.Sprint(len(i.Evidence)), fmt.Sprint(i.RestsOnDocuments),
			i.DescribeOwner(i.Owner), i.RelianceNote(),
		}
	})
}

func (a *app) soaItems() *cobra.Command {
	var in api.SoAItemsInput
	var review, disagreement bool
	var l listFlags
	cmd := &cobra.Command{
		Use: "items", Aliases: []string{"list"}, Short: "List the items of the newest version",
		Long: `Lists one line per control. An item must match all given filters. With --needs-review or
--disagreement, items on which readers disagree are listed first, then the least certain items.`,
		Example: "  service soa items --domain IAC\n  service soa items --status not_evidenced -o csv > open.csv\n" +
			"  service soa items --needs-review\n  service soa items --requirement A.8.5",
		RunE: func(cmd *cobra.Command, _ []string) error {
			id, err := soaVersions.fetchNewestVersionID(cmd.Context(), a)
			if err != nil {
				return err
			}
			in.SoAVersionID = id
			if review {
				in.NeedsReview = "true"
			}
			if disagreement {
				in.Disagreement = "true"
			}
			if in.Sort == "" && (review || disagreement) {
				in.Sort = "disagreement,confidence,control_code"
			}
			items, err := fetchList(cmd.Context(), a, api.ListSoAItems, &in, l)
			if err != nil {
				return a.withFilterHint(err)
			}
			defer a.printMoreResultsNotice(len(items.Data), items.Pagination)
			return a.out.Print(items, func(p *print.Page) {
				renderSoATable(p, items.Data)
				renderTextIfEmpty(p, len(items.Data), "No matching items.")
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.Domain, "domain", "", "only items in this domain, e.g. IAC")
	addChoiceFlag(f, &in.Applicability, "applicability", applicabilities, "only items with this applicability")
	addChoiceFlag(f, &in.ImplementationStatus, "status", implementations, "only items with this implementation status")
	f.StringVar(&in.Framework, "framework", "", "only controls required by this framework")
	f.StringVar(&in.Requirement, "requirement", "", "only controls covering this requirement, e.g. A.8.5")
	f.StringVar(&in.Owner, "owner", "", "only items with this owner (part of the name is enough)")
	f.BoolVar(&review, "needs-review", false, "only items that need review")
	f.BoolVar(&disagreement, "disagreement", false, "only items on which the second reader disagrees")
	f.StringVar(&in.Q, "query", "", "only items containing these words")
	f.StringVar(&in.Where, "where", "", "only items that match this filter, e.g. 'domain == \"IAC\" && confidence < 0.5'")
	f.StringVar(&in.Sort, "sort", "", "fields to sort by, e.g. owner,control_code; an unknown field lists the valid ones")
	l.addFlags(cmd, 0)
	return cmd
}

func (a *app) soaEdit() *cobra.Command {
	var in api.UpdateSoAItemInput
	var reasons []string
	var reviewed bool
	var many manyFlags
	cmd := &cobra.Command{
		Use: "edit CONTROL|ITEM", Short: "Change an item",
		Long: `Changes the given fields of a control's item. New drafts keep manual changes. Changing the
status or the applicability, or passing --reviewed, marks the item as reviewed; changing the
owner or the note doesn't. Editing an approved version creates the next version. Editing a
version under review voids its pending approval.`,
		Example: "  service soa edit IAC-06 --status implemented --owner 'IT lead'\n" +
			"  service soa edit PES-01 --applicability out_of_scope --rationale 'No offices of our own'\n  service soa edit IAC-06 --reviewed",
		ValidArgsFunction: a.completeControls(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := requireAnyFlag(cmd); err != nil {
				return err
			}
			i, err := a.findSoAItem(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			in.SoAItemID, in.Match = i.ID, matchRevision(i.Revision)
			in.Body.InclusionReasons = flagIfChanged(cmd, "inclusion-reason", reasons)
			if cmd.Flags().Changed("reviewed") {
				open := !reviewed
				in.Body.NeedsReview = &open
			}
			before := soaVersions.newestHeader(cmd.Context(), a)
			out, err := call(cmd.Context(), a, api.UpdateSoAItem, &in)
			if e, is := errors.AsType[*api.Error](err); is && orZero(in.Body.Rationale) == "" && len(e.Details) == 1 &&
				e.Details[0].Field == "rationale" {
				return withHint(err, "add --rationale '…'")
			}
			if err != nil {
				return err
			}
			a.printEditEffect(before, out.VersionID, out.Revision != i.Revision, api.GateSoA)
			a.printRecordedCorrections(cmd.Context(), out)
			return a.out.Print(out, func(p *print.Page) {
				renderSoAItem(p, out)
				if orZero(in.Body.ImplementationStatus) == api.Implemented && out.CoverageRatio == 0 && orZero(out.Note) == "" {
					p.Blank()
					p.Text("This item has no supporting evidence and no note. To record where you saw the control in place:")
					p.Command(a.suggestedCommandLine("soa edit " + out.ControlCode + " --note 'Seen in …'"))
				}
			})
		},
	}
	f := cmd.Flags()
	choices := "applicable, partially_applicable, not_applicable, out_of_scope or undecided"
	addOptionalChoiceFlag(f, &in.Body.Applicability, "applicability", applicabilities, choices)
	addOptionalChoiceFlag(f, &in.Body.ImplementationStatus, "status", implementations, implementationsUsage)
	addOptionalFlag(f, &in.Body.Rationale, "rationale", "reason why the control applies or doesn't apply")
	f.StringSliceVar(&in.Body.Reset, "reset", nil,
		"edited fields to reset to their drafted values, e.g. owner,note; \"all\" resets every field")
	f.StringSliceVar(&reasons, "inclusion-reason", nil, "reasons to include the control: legal, contractual, risk, best_practice, framework")
	addClearableFlag(f, &in.Body.Owner, "owner", "person responsible; an empty value removes the owner")
	addClearableFlag(f, &in.Body.Note, "note", "note on the item; an empty value removes it")
	f.BoolVar(&reviewed, "reviewed", false, "mark the item as reviewed")
	return many.addWhere(cmd, func(cmd *cobra.Command, _ []string) error {
		in.Body.InclusionReasons = flagIfChanged(cmd, "inclusion-reason", reasons)
		if cmd.Flags().Changed("reviewed") {
			in.Body.NeedsReview = new(!reviewed)
		}
		return editMany(cmd, a, &many, soaVersions, api.EditSoAItems, func(version string, selection api.ItemSelection) *api.EditSoAItemsInput {
			out := &api.EditSoAItemsInput{}
			out.SoAVersionID, out.Body.ItemSelection, out.Body.Set = version, selection, in.Body
			return out
		})
	})
}

// printRecordedCorrections notes that the last edit of an item accepted or refused its quotes for later drafts. It ignores
// errors, because the edit has been made.
func (a *app) printRecordedCorrections(ctx context.Context, i *api.SoAItem) {
	all, err := fetchAll(ctx, a, api.ListCorrections, &api.CorrectionsInput{
		AssessmentID: i.AssessmentID, ControlCode: i.ControlCode, Source: api.LineCorrected,
	})
	if err != nil {
		return
	}
	count, verb := 0, "accept"
	for _, c := range all.Data {
		if !c.CreatedAt.Equal(i.UpdatedAt) { // of an earlier edit
			continue
		}
		count++
		if c.Decision == api.CorrectionRefused {
			verb = "refuse"
		}
	}
	if count > 0 {
		a.printNotice("Later drafts %s %s of %s: `%s`", verb, prose.Count(count, "quote", "quotes"), i.ControlCode,
			a.suggestedCommandLine("correction list --control "+i.ControlCode))
	}
}

func (a *app) soaRefreshEvidence() *cobra.Command {
	return &cobra.Command{
		Use: "refresh", Short: "Search for evidence again",
		Long:    "Searches the current documents for evidence for each item, without changing manual decisions.\nUse this command after adding documents.",
		Example: "  service doc add new-policy.docx\n  service soa refresh",
		RunE: func(cmd *cobra.Command, _ []string) error {
			id, err := soaVersions.fetchNewestVersionID(cmd.Context(), a)
			if err != nil {
				return err
			}
			a.progress.Start("searching for evidence")
			v, err := call(cmd.Context(), a, api.RefreshSoAEvidence, &api.SoAInput{SoAVersionID: id})
			return soaVersions.printAction(a, v, validationToRuntimeError(err), "refreshed", 0)
		},
	}
}

const maxControlsNamed = 6 // for each rule

// groupIssues returns the issues found in a version as table rows. Issues that differ only in the control
// share a row.
func groupIssues(all []api.ValidationIssue) (rows [][]string) {
	at := map[[3]string]int{}
	var controls [][]string
	for _, i := range all {
		key := [3]string{i.Severity, i.Rule, i.Message}
		n, seen := at[key]
		if !seen {
			n = len(rows)
			at[key] = n
			rows, controls = append(rows, []string{i.Severity, i.Rule, i.Message, ""}), append(controls, nil)
		}
		controls[n] = append(controls[n], i.ControlCode)
	}
	for n, codes := range controls {
		rows[n][3] = strings.Join(codes[:min(len(codes), maxControlsNamed)], ", ")
		if more := len(codes) - maxControlsNamed; more > 0 {
			rows[n][3] += fmt.Sprintf("  and %d more (list all with -o json)", more)
		}
	}
	return rows
}

func (a *app) soaValidate() *cobra.Command {
	return &cobra.Command{
		Use: "validate", Short: "Check the newest version against the rules for submission",
		Long: "Lists what prevents the newest version from being submitted, such as undecided items or exclusions\n" +
			"without a rationale. The exit code is 1 if a rule is violated.",
		Example: "  service soa validate\n  service soa items --applicability undecided",
		RunE: func(cmd *cobra.Command, _ []string) error {
			version, err := soaVersions.fetchNewestVersion(cmd.Context(), a)
			if err != nil {
				return err
			}
			v, err := call(cmd.Context(), a, api.ValidateSoA, &api.SoAInput{SoAVersionID: version.ID})
			if err != nil {
				return err
			}
			if err := a.out.Print(v, func(p *print.Page) {
				rows := groupIssues(v.Issues)
				p.Table([]print.Column{fixed("severity"), fixed("rule"), wrapped("message"), wrapped("controls")}, rows)
				renderTextIfEmpty(p, len(rows), "No issues found.")
				if len(rows) > 0 {
					p.Blank()
					p.Text("%s, %s.", prose.Count(v.Errors, "error", "errors"), prose.Count(v.Warnings, "warning", "warnings"))
				}
				switch {
				case !v.Valid:
				case version.Status == api.VersionDraft:
					p.Text("Ready to submit: `%s`.", a.suggestedCommandLine("soa submit"))
				default:
					p.Text("Version %d is %s.", version.VersionNumber, prose.Humanize(version.Status))
				}
			}); err != nil {
				return err
			}
			if !v.Valid {
				return &exitError{code: exitVerdict, err: fmt.Errorf("can't be submitted: %s", prose.Count(v.Errors, "error", "errors"))}
			}
			return nil
		},
	}
}
