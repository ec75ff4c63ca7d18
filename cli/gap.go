package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

var gapVersions = deliverable[api.GapVersion]{
	gate: api.GateGapAnalysis, listOp: api.ListGap, draft: newDraftFunc(api.DraftGap),
	submit: func(ctx context.Context, a *app, id string, b *api.Submission) (*api.GapVersion, error) {
		return call(ctx, a, api.SubmitGap, &api.SubmitGapInput{GapInput: api.GapInput{GapVersionID: id}, Body: b})
	},
	regenerate: func(ctx context.Context, a *app, id string) (*api.GapVersion, error) {
		return call(ctx, a, api.RegenerateGap, &api.GapInput{GapVersionID: id})
	},
	header: func(v *api.GapVersion) *api.DeliverableVersion { return &v.DeliverableVersion },
}

func (a *app) gapCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "gap", Short: "Gap analysis: controls whose evidence is incomplete",
		Long: `The gap analysis lists each control that is not fully evidenced, with the severity of the
gap and its reason, the missing elements, and the supporting passages. "Not evidenced" means
that no evidence was found, not that the control is missing.`,
		Example: "  service gap list --severity high\n  service gap show BCD-11\n" +
			"  service gap edit BCD-11 --owner 'Head of IT' --due 2027-03-31\n  service gap approve",
	}, append([]*cobra.Command{
		a.gapShow(), a.gapExplain(), a.gapListFindings(), a.gapAdd(), a.gapEdit(), a.gapSummary(), gapWorkbook.importCommand(a),
	}, gapVersions.commands(a)...)...)
}

func (a *app) listFindings(
	ctx context.Context,
	version string,
	filter api.FindingFilter,
	l listFlags,
) (*api.List[api.Finding], error) {
	return fetchList(
		ctx,
		a,
		api.ListFindings,
		&api.FindingsInput{GapInput: api.GapInput{GapVersionID: version}, FindingFilter: filter},
		l,
	)
}

func (a *app) findFinding(ctx context.Context, ref string) (*api.Finding, error) {
	id, err := gapVersions.fetchNewestVersionID(ctx, a)
	if err != nil {
		return nil, err
	}
	filter := api.FindingFilter{}
	if !uuidPattern.MatchString(ref) {
		filter.ControlCode = ref
	}
	l, err := a.listFindings(ctx, id, filter, listFlags{})
	if err == nil && len(l.Data) == 0 {
		l, err = a.listFindings(ctx, id, api.FindingFilter{}, listFlags{}) // all findings, to suggest similar codes
	}
	if err != nil {
		return nil, err
	}
	f, err := findItem(
		ref,
		"finding",
		l.Data,
		func(f *api.Finding) *api.Item { return &f.Item },
		func(f *api.Finding) string { return f.Condition },
	)
	if err != nil && !slices.ContainsFunc(l.Data, func(f api.Finding) bool { return isSameCode(f.ControlCode, ref) }) {
		if why := a.missingFindingError(ctx, ref); why != nil {
			return nil, why
		}
	}
	return f, err
}

// missingFindingError returns an error that explains why a control has no finding, or nil if the control is not in the
// Statement of Applicability.
func (a *app) missingFindingError(ctx context.Context, control string) error {
	i, err := a.findSoAItem(ctx, control)
	if err != nil {
		return nil
	}
	explain := a.suggestedCommandLine("soa explain " + i.ControlCode)
	switch {
	case i.ImplementationStatus == api.Implemented:
		return withHint(
			runtimeError("%s is implemented according to the Statement of Applicability, so it has no gap", i.ControlCode),
			"`%s` explains why",
			explain,
		)
	case !i.Applicability.IsApplicable() || i.ImplementationStatus == api.NotAssessed:
		return withHint(
			runtimeError(
				"%s is %s and %s in the Statement of Applicability, so it has no gap",
				i.ControlCode,
				prose.Humanize(i.Applicability),
				prose.Humanize(i.ImplementationStatus),
			),
			"`%s` explains why",
			explain,
		)
	}
	return withHint(
		runtimeError(
			"%s is %s in the Statement of Applicability, but has no finding because this gap analysis is based on an older version",
			i.ControlCode,
			prose.Humanize(i.ImplementationStatus),
		),
		"regenerate the gap analysis with `%s`; `%s` explains the item",
		a.suggestedCommandLine("gap regenerate"),
		explain,
	)
}

func (a *app) gapShow() *cobra.Command {
	return &cobra.Command{
		Use: "show [CONTROL|FINDING]", Short: "Show the newest gap analysis, or one finding with its evidence",
		Long:              "Shows the newest version of the gap analysis with its totals. With a control's code, shows that\ncontrol's finding in full.",
		Example:           "  service gap show\n  service gap show BCD-11",
		ValidArgsFunction: a.completeControls(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				f, err := a.findFinding(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				renderComments, err := a.fetchCommentRenderer(cmd.Context(), f.AssessmentID, api.GateGapAnalysis, newItemCommentFilter(f.ControlCode))
				if err != nil {
					return err
				}
				return a.out.Print(f, func(p *print.Page) { renderFinding(p, f); renderComments(p) })
			}
			v, err := gapVersions.fetchNewestVersion(cmd.Context(), a)
			if err != nil {
				return err
			}
			s, err := call(cmd.Context(), a, api.GetGapSummary, &api.GapInput{GapVersionID: v.ID})
			if err != nil {
				return err
			}
			renderComments, err := a.fetchCommentRenderer(cmd.Context(), v.AssessmentID, api.GateGapAnalysis, isOnWholeDeliverable)
			if err != nil {
				return err
			}
			return a.out.Print(v, func(p *print.Page) {
				renderVersionHeader(p, api.GateGapAnalysis, &v.DeliverableVersion, gapSummaryFields(s)...)
				renderComments(p)
				a.renderNextVersionCommands(cmd.Context(), p, api.GateGapAnalysis, &v.DeliverableVersion)
			})
		},
	}
}

// formatAssessedCount returns how many of the applicable controls were assessed and how many were not.
func formatAssessedCount(s *api.GapSummary) string {
	if s.NotAssessed == 0 {
		return fmt.Sprint(s.Controls)
	}
	return fmt.Sprintf("%d; %s not been assessed", s.Controls,
		prose.Count(s.NotAssessed, "more applicable control has", "more applicable controls have"))
}

// formatFindingCount returns the number of findings, and how many of them are not gaps.
func formatFindingCount(s *api.GapSummary) string {
	met := s.Findings // by_result also counts met controls without a finding
	for result, n := range s.ByResult {
		if result != api.Met {
			met -= n
		}
	}
	if met <= 0 {
		return fmt.Sprint(s.Findings)
	}
	return fmt.Sprintf("%d, including %d for controls that are considered implemented", s.Findings, met)
}

func gapSummaryFields(s *api.GapSummary) []print.Field {
	return []print.Field{
		field("controls assessed", formatAssessedCount(s)),
		field("findings", formatFindingCount(s)),
		field("results", formatCounts(s.ByResult, []api.Result{api.Met, api.PartiallyMet, api.NotMet, api.ResultNoEvid, api.ResultNotApplic})),
		field("by severity", formatCounts(s.BySeverity, api.Severities)),
		field("by type", formatCounts(s.ByType, sortedKeys(s.ByType))),
		field("compliance", formatPercentWithFormula(s.CompliancePct, s.ComplianceFormula)),
		field("conformity", joinNonEmpty(prose.Humanize(s.Conformity), formatPercentWithFormula(s.ConformityPct, s.ConformityFormula))),
	}
}

func renderFinding(p *print.Page, f *api.Finding) {
	renderItem(
		p,
		&f.Item,
		print.Field{Name: "severity", Value: string(f.Severity), Style: severityStyle(string(f.Severity))},
		field("why", f.SeverityReason),
		field("result", prose.Humanize(f.Result)),
		field("status", prose.Humanize(f.Status)),
		field("type", prose.Humanize(f.GapType)),
		field("condition", f.Condition),
		field("criteria", f.Criteria),
		field("cause", f.Cause),
		field("effect", f.Effect),
		field("recommendation", f.Recommendation),
		field("owner", f.DescribeOwner(f.Owner)),
		field("due", string(orZero(f.DueDate))),
		field("note", orZero(f.Note)),
		field("confidence", print.FormatConfidence(f.Confidence, f.IsStatusOverruled())),
		field("source", f.Source),
	)
	renderMissing(p, f.MissingElements)
	renderEvidence(p, f.Evidence)
}

// formatMissing returns the first missing requirement for a cell of a table, and how many more are missing.
func formatMissing(elements []string) string {
	if len(elements) == 0 {
		return ""
	}
	return joinFirst(append([]string{firstSentence(elements[0])}, elements[1:]...), 1)
}

func (a *app) gapListFindings() *cobra.Command {
	var in api.FindingsInput
	var l listFlags
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"findings", "items"}, Short: "List the findings, worst first",
		Long:    "Lists the findings of the newest version, worst first. Multiple filters must all match.",
		Example: "  service gap list --severity critical\n  service gap list --domain BCD\n  service gap list -o csv > gaps.csv",
		RunE: func(cmd *cobra.Command, _ []string) error {
			id, err := gapVersions.fetchNewestVersionID(cmd.Context(), a)
			if err != nil {
				return err
			}
			in.GapVersionID = id
			all, err := fetchList(cmd.Context(), a, api.ListFindings, &in, l)
			if err != nil {
				return a.withFilterHint(err)
			}
			defer a.printMoreResultsNotice(len(all.Data), all.Pagination)
			return a.out.Print(all, func(p *print.Page) {
				renderTable(p, all.Data, []print.Column{
					fixed("control"),
					{Title: "severity", NoShrink: true, Style: severityStyle},
					column("status"),
					column("title"),
					optional(column("missing")),
					optional(number("quotes")),
					optional(column("owner")),
				}, func(f api.Finding) []string {
					return []string{
						f.ControlCode, string(f.Severity), prose.Humanize(f.Status), f.ControlTitle,
						formatMissing(f.MissingElements), fmt.Sprint(len(f.Evidence)), f.DescribeOwner(f.Owner),
					}
				})
				renderTextIfEmpty(p, len(all.Data), "No findings match.")
			})
		},
	}
	f := cmd.Flags()
	addChoiceFlag(f, &in.Severity, "severity", api.Severities, "only findings with this severity")
	addChoiceFlag(f, &in.Status, "status", implementations, "only findings with this implementation status")
	f.StringVar(&in.Domain, "domain", "", "only findings in this domain, such as BCD")
	f.StringVar(&in.Owner, "owner", "", "only findings whose owner has this name")
	f.StringVar(&in.Q, "query", "", "only findings that contain these words")
	f.StringVar(&in.Where, "where", "", "only findings that match this filter, e.g. 'severity == \"high\" && owner == \"\"'")
	f.StringVar(&in.Sort, "sort", "", "sort order, such as -severity,owner")
	l.addFlags(cmd, 0)
	return cmd
}

// gapTypes are the types of gaps.
var gapTypes = []string{
	"documentation", "implementation", "evidence", "effectiveness", "governance", "technical", "contractual", "monitoring",
}

// Usage texts of the flags that `gap add` and `gap edit` have in common.
const (
	implementationsUsage = "implemented, partially_implemented, planned, not_implemented, not_evidenced or not_assessed"
	severitiesUsage      = "informational, low, medium, high or critical"
	gapTypesUsage        = "documentation, implementation, evidence, effectiveness, governance, technical, contractual or monitoring"
)

func (a *app) gapAdd() *cobra.Command {
	var in api.CreateGapInput
	cmd := &cobra.Command{
		Use: "add CONTROL --status STATUS --severity SEVERITY", Short: "Add a gap manually",
		Long: "Adds a finding that the analysis did not produce. A control code that is not in the\n" +
			"catalog is accepted. To close a finding that was added by mistake and keep it out of the plan, run\n" +
			"`service gap edit ID --status implemented` with the finding's id.",
		Example:           "  service gap add IAC-06 --status not_implemented --severity high --condition 'No second factor on the VPN'",
		ValidArgsFunction: a.completeControls(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if in.Body.Status == "" || in.Body.Severity == "" {
				return usageError("--status and --severity are required to add a gap")
			}
			assessment, err := a.currentAssessment(cmd.Context())
			if err != nil {
				return err
			}
			in.AssessmentID, in.Body.ControlID = assessment.ID, args[0]
			return callAndPrint(cmd.Context(), a, api.CreateGap, &in, renderFinding)
		},
	}
	f, b := cmd.Flags(), &in.Body
	addChoiceFlag(f, &b.Status, "status", implementations, implementationsUsage)
	addChoiceFlag(f, &b.Severity, "severity", api.Severities, severitiesUsage)
	addChoiceFlag(f, &b.GapType, "type", gapTypes, gapTypesUsage)
	f.StringVar(&b.Condition, "condition", "", "what was found")
	f.StringVar(&b.Cause, "cause", "", "cause")
	f.StringVar(&b.Effect, "effect", "", "possible effect")
	f.StringVar(&b.Recommendation, "recommendation", "", "recommended action")
	addOptionalFlag(f, &b.Owner, "owner", "person responsible")
	addOptionalFlag(f, &b.DueDate, "due", "due date, such as 2027-03-31")
	return cmd
}

func (a *app) gapEdit() *cobra.Command {
	var in api.UpdateFindingInput
	b := &in.Body
	var many manyFlags
	cmd := &cobra.Command{
		Use: "edit CONTROL|FINDING", Short: "Change a finding",
		Long: "Changes fields of a finding. New drafts keep manual edits. --status changes the status of the\n" +
			"finding only; to change the status of the control, use `service soa edit`.",
		Example: "  service gap edit BCD-11 --severity medium --note 'Tested in October'\n" +
			"  service gap edit BCD-11 --owner 'Head of IT' --due 2027-03-31",
		ValidArgsFunction: a.completeControls(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := requireAnyFlag(cmd); err != nil {
				return err
			}
			current, err := a.findFinding(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			in.FindingID, in.Match = current.ID, matchRevision(current.Revision)
			before := gapVersions.newestHeader(cmd.Context(), a)
			f, err := call(cmd.Context(), a, api.UpdateFinding, &in)
			if err != nil {
				return err
			}
			a.printEditEffect(before, f.VersionID, f.Revision != current.Revision, api.GateGapAnalysis)
			var line *api.SoAItem
			if b.Status != nil && f.Source != "manual" {
				line, _ = a.findSoAItem(cmd.Context(), f.ControlCode) // the edit has succeeded, so an error here is not reported
			}
			return a.out.Print(f, func(p *print.Page) {
				renderFinding(p, f)
				if line != nil && line.ImplementationStatus != f.Status {
					p.Blank()
					p.Text(
						"The Statement of Applicability still has the status %s for this control, and maturity and totals are based on it. "+
							"To change that status as well:",
						prose.Humanize(line.ImplementationStatus),
					)
					p.Command(a.suggestedCommandLine("soa edit " + f.ControlCode + " --status " + string(f.Status)))
				}
			})
		},
	}
	f := cmd.Flags()
	addOptionalChoiceFlag(f, &b.Status, "status", implementations, implementationsUsage)
	addOptionalChoiceFlag(f, &b.Severity, "severity", api.Severities, severitiesUsage)
	addOptionalChoiceFlag(f, &b.GapType, "type", gapTypes, gapTypesUsage)
	addOptionalFlag(f, &b.Condition, "condition", "what was found")
	addOptionalFlag(f, &b.Criteria, "criteria", "required state")
	addOptionalFlag(f, &b.Cause, "cause", "cause")
	addOptionalFlag(f, &b.Effect, "effect", "possible effect")
	addOptionalFlag(f, &b.Recommendation, "recommendation", "recommended action")
	addClearableFlag(f, &b.Owner, "owner", "person responsible; an empty value removes the owner")
	addClearableFlag(f, &b.DueDate, "due", "due date, such as 2027-03-31; an empty value removes it")
	addClearableFlag(f, &b.Note, "note", "note on the finding; an empty value removes it")
	f.StringSliceVar(&b.Reset, "reset", nil, "edited fields to reset to their drafted values, such as severity; \"all\" resets every field")
	return many.addWhere(cmd, func(cmd *cobra.Command, _ []string) error {
		return editMany(cmd, a, &many, gapVersions, api.EditFindings, func(version string, selection api.ItemSelection) *api.EditFindingsInput {
			out := &api.EditFindingsInput{}
			out.GapVersionID, out.Body.ItemSelection, out.Body.Set = version, selection, in.Body
			return out
		})
	})
}

// renderGapChanges prints how the newest version of the gap analysis differs from the previous one.
func renderGapChanges(p *print.Page, s *api.GapSummary) {
	if s.SinceVersion == 0 {
		return
	}
	p.Title("Since version %d", s.SinceVersion)
	if len(s.Changes) == 0 {
		p.Text("Nothing changed.")
		return
	}
	renderTable(
		p,
		s.Changes,
		[]print.Column{fixed("change"), fixed("control"), column("before"), column("now"), fixed("why")},
		func(c api.GapChange) []string {
			return []string{prose.Humanize(c.Change), c.ControlCode, c.Before, c.After, joinFirst(c.Causes, 4)}
		},
	)
}

func (a *app) gapSummary() *cobra.Command {
	return &cobra.Command{
		Use: "summary", Short: "Show the totals of the newest gap analysis",
		Long: "Counts the findings of the newest version by result, severity, type and domain. Also lists the\n" +
			"findings that were opened or closed, or that worsened or improved, since the previous version.\n" +
			"Each change is listed with its cause: evidence, the catalog, the frameworks, a manual edit or a\n" +
			"rule.",
		Example: "  service gap summary\n  service gap summary --jq .by_severity",
		RunE: func(cmd *cobra.Command, _ []string) error {
			id, err := gapVersions.fetchNewestVersionID(cmd.Context(), a)
			if err != nil {
				return err
			}
			return callAndPrint(
				cmd.Context(),
				a,
				api.GetGapSummary,
				&api.GapInput{GapVersionID: id},
				func(p *print.Page, s *api.GapSummary) {
					p.Fields(gapSummaryFields(s)...)
					if n := len(s.DiffersFromSoA); n > 0 {
						p.Text(
							"Compliance and conformity are based on the Statement of Applicability. These edited findings "+
								"differ from it: %s. To update the Statement of Applicability, run `%s`.",
							joinFirst(s.DiffersFromSoA, 8),
							a.suggestedCommandLine("soa edit CONTROL --status …"),
						)
					}
					p.Title("By domain")
					renderTable(
						p,
						sortedKeys(s.ByDomain),
						[]print.Column{column("domain"), number("findings")},
						func(d string) []string {
							return []string{d, fmt.Sprint(s.ByDomain[d])}
						},
					)
					renderGapChanges(p, s)
				},
			)
		},
	}
}
