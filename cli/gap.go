package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

var gapVersions = deliverable[api.GapVersion]{
	gate: api.GateGapAnalysis, list: api.ListGap, make: api.DraftGap,
	submit: func(ctx context.Context, a *app, id string) (*api.GapVersion, error) {
		return call(ctx, a, api.SubmitGap, &api.GapInput{GapVersionID: id})
	},
	regenerate: func(ctx context.Context, a *app, id string) (*api.GapVersion, error) {
		return call(ctx, a, api.RegenerateGap, &api.GapInput{GapVersionID: id})
	},
	head: func(v *api.GapVersion) *api.DeliverableVersion { return &v.DeliverableVersion },
}

func (a *app) gap() *cobra.Command {
	return group(&cobra.Command{
		Use: "gap", Short: "The gap analysis: where the evidence falls short",
		Long: `The gap analysis lists each control that the evidence does not fully show, how
severe that is and why, what is missing, and the passages it rests on. "Not
evidenced" means that nothing was found, not that nothing is done.`,
		Example: "  service gap list --severity high\n  service gap show BCD-11\n  service gap edit BCD-11 --owner 'Head of IT' --due 2027-03-31\n  service gap approve",
	}, append([]*cobra.Command{a.gapShow(), a.gapExplain(), a.gapList(), a.gapAdd(), a.gapEdit(), a.gapSummary(), gapSheet.importing(a)}, gapVersions.commands(a)...)...)
}

func (a *app) findings(ctx context.Context, version string, filter api.FindingFilter, l limits) (*api.List[api.Finding], error) {
	return collect(ctx, l.limit, l.cursor, func(p api.Paging) (*api.List[api.Finding], error) {
		return call(ctx, a, api.ListFindings, &api.FindingsInput{GapInput: api.GapInput{GapVersionID: version}, Paging: p, FindingFilter: filter})
	})
}

func (a *app) finding(ctx context.Context, ref string) (*api.Finding, error) {
	id, err := gapVersions.newestID(ctx, a)
	if err != nil {
		return nil, err
	}
	filter := api.FindingFilter{}
	if !uuid.MatchString(ref) {
		filter.ControlCode = ref
	}
	l, err := a.findings(ctx, id, filter, limits{})
	if err == nil && len(l.Data) == 0 {
		l, err = a.findings(ctx, id, api.FindingFilter{}, limits{}) // all, for what may have been meant
	}
	if err != nil {
		return nil, err
	}
	f, err := one(ref, "finding", l.Data, func(f *api.Finding) *api.Item { return &f.Item }, func(f *api.Finding) string { return f.Condition })
	if err != nil && !slices.ContainsFunc(l.Data, func(f api.Finding) bool { return equalCode(f.ControlCode, ref) }) {
		if why := a.noGap(ctx, ref); why != nil {
			return nil, why
		}
	}
	return f, err
}

// noGap is why a control of the Statement of Applicability has no finding; nil where it isn't one.
func (a *app) noGap(ctx context.Context, control string) error {
	i, err := a.soaItem(ctx, control)
	if err != nil {
		return nil
	}
	explain := a.command("soa explain " + i.ControlCode)
	switch {
	case i.ImplementationStatus == api.Implemented:
		return advise(stopped("%s is in the Statement of Applicability as implemented, and so has no gap", i.ControlCode), "`%s` tells why", explain)
	case !i.Applicability.In() || i.ImplementationStatus == api.NotAssessed:
		return advise(stopped("%s is in the Statement of Applicability as %s and %s, and so has no gap", i.ControlCode, plain(i.Applicability), plain(i.ImplementationStatus)), "`%s` tells why", explain)
	}
	return advise(stopped("%s is in the Statement of Applicability as %s, and this gap analysis has no finding for it: it was made from an older version", i.ControlCode, plain(i.ImplementationStatus)),
		"draft it again with `%s`; `%s` tells of the line", a.command("gap regenerate"), explain)
}

func (a *app) gapShow() *cobra.Command {
	return &cobra.Command{
		Use: "show [CONTROL|FINDING]", Short: "Show the newest version, or one finding with its evidence", Args: takes(0, 1),
		Long:              "Shows the newest version with its totals; with a control's code, that control's\nfinding in full.",
		Example:           "  service gap show\n  service gap show BCD-11",
		ValidArgsFunction: a.completeControls(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				f, err := a.finding(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				talk, err := a.talk(cmd.Context(), f.AssessmentID, api.GateGapAnalysis, ofItem(f.ControlCode))
				if err != nil {
					return err
				}
				return a.out.Print(f, func(p *print.Page) { findingPage(p, f); talk(p) })
			}
			v, err := gapVersions.newest(cmd.Context(), a)
			if err != nil {
				return err
			}
			s, err := call(cmd.Context(), a, api.GetGapSummary, &api.GapInput{GapVersionID: v.ID})
			if err != nil {
				return err
			}
			talk, err := a.talk(cmd.Context(), v.AssessmentID, api.GateGapAnalysis, ofWhole)
			if err != nil {
				return err
			}
			return a.out.Print(v, func(p *print.Page) {
				heading(p, api.GateGapAnalysis, &v.DeliverableVersion, gapFields(s)...)
				talk(p)
				a.next(p, api.GateGapAnalysis, v.Status)
			})
		},
	}
}

// assessedOf counts the controls that apply by whether they were judged.
func assessedOf(s *api.GapSummary) string {
	if s.NotAssessed == 0 {
		return fmt.Sprint(s.Controls)
	}
	return fmt.Sprintf("%d; %d more apply and are not assessed", s.Controls, s.NotAssessed)
}

func gapFields(s *api.GapSummary) []print.Field {
	return []print.Field{
		{Name: "controls assessed", Value: assessedOf(s)}, {Name: "findings", Value: fmt.Sprint(s.Findings)},
		{Name: "results", Value: tally(s.ByResult, []api.Result{api.Met, api.PartiallyMet, api.NotMet, api.ResultNoEvid, api.ResultNotApplic})},
		{Name: "by severity", Value: tally(s.BySeverity, api.Severities)},
		{Name: "by type", Value: tally(s.ByType, sorted(s.ByType))},
		{Name: "compliance", Value: withFormula(s.CompliancePct, s.ComplianceFormula)},
		{Name: "conformity", Value: joinWords(plain(s.Conformity), withFormula(s.ConformityPct, s.ConformityFormula))},
	}
}

func findingPage(p *print.Page, f *api.Finding) {
	item(p, &f.Item,
		print.Field{Name: "severity", Value: string(f.Severity), Style: severityStyle(string(f.Severity))},
		print.Field{Name: "why", Value: f.SeverityReason},
		print.Field{Name: "result", Value: plain(f.Result)}, print.Field{Name: "status", Value: plain(f.Status)}, print.Field{Name: "type", Value: plain(f.GapType)},
		print.Field{Name: "condition", Value: f.Condition}, print.Field{Name: "criteria", Value: f.Criteria}, print.Field{Name: "cause", Value: f.Cause},
		print.Field{Name: "effect", Value: f.Effect}, print.Field{Name: "recommendation", Value: f.Recommendation},
		print.Field{Name: "owner", Value: orEmpty(f.Owner)}, print.Field{Name: "due", Value: string(orEmpty(f.DueDate))}, print.Field{Name: "note", Value: orEmpty(f.Note)},
		print.Field{Name: "confidence", Value: print.Confidence(f.Confidence, f.Overruled())}, print.Field{Name: "source", Value: f.Source})
	missing(p, f.MissingElements)
	evidence(p, f.Evidence)
}

func (a *app) gapList() *cobra.Command {
	var severity, status string
	var filter api.FindingFilter
	var l limits
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"findings", "items"}, Short: "List the findings, worst first", Args: takes(0, 0),
		Long:    "Lists the findings of the newest version, worst first. Filters are joined.",
		Example: "  service gap list --severity critical\n  service gap list --domain BCD\n  service gap list -o csv > gaps.csv",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := oneOf("severity", severity, api.Severities); err != nil {
				return err
			}
			if err := oneOf("status", status, implementations); err != nil {
				return err
			}
			id, err := gapVersions.newestID(cmd.Context(), a)
			if err != nil {
				return err
			}
			filter.Severity, filter.Status = api.Severity(severity), api.Implementation(status)
			all, err := a.findings(cmd.Context(), id, filter, l)
			if err != nil {
				return a.noName(err)
			}
			defer a.more(len(all.Data), all.Pagination)
			return a.out.Print(all, func(p *print.Page) {
				var rows [][]string
				for _, f := range all.Data {
					rows = append(rows, []string{f.ControlCode, string(f.Severity), plain(f.Status), f.ControlTitle, joinSome(f.MissingElements, 2), fmt.Sprint(len(f.Evidence)), orEmpty(f.Owner)})
				}
				p.Table([]print.Column{{Title: "control", Keep: true}, {Title: "severity", Keep: true, Style: severityStyle}, {Title: "status"}, {Title: "title"}, {Title: "missing", Spare: true},
					{Title: "quotes", Right: true, Spare: true}, {Title: "owner", Spare: true}}, rows)
				a.none(p, len(rows), "No finding is like that.")
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&severity, "severity", "", "only of this severity")
	f.StringVar(&status, "status", "", "only of this implementation status")
	f.StringVar(&filter.Domain, "domain", "", "only of this domain, as BCD")
	f.StringVar(&filter.Owner, "owner", "", "only of this owner; the name is enough")
	f.StringVar(&filter.Q, "query", "", "only with these words")
	f.StringVar(&filter.Sort, "sort", "", "the order, as -severity,owner; an unknown name is told the known ones")
	l.add(cmd, 0)
	return cmd
}

// gapText are the fields of a finding that both add and edit set.
type gapText struct {
	status, severity, kind, condition, criteria, cause, effect, recommendation, owner, due, note string
}

func (t *gapText) flags(f *pflag.FlagSet) {
	f.StringVar(&t.status, "status", "", "implemented, partially_implemented, planned, not_implemented, not_evidenced or not_assessed")
	f.StringVar(&t.severity, "severity", "", "informational, low, medium, high or critical")
	f.StringVar(&t.kind, "type", "", "documentation, implementation, evidence, effectiveness, governance, technical, contractual or monitoring")
	f.StringVar(&t.condition, "condition", "", "what was found")
	f.StringVar(&t.cause, "cause", "", "why it is so")
	f.StringVar(&t.effect, "effect", "", "what may come of it")
	f.StringVar(&t.recommendation, "recommendation", "", "what to do")
	f.StringVar(&t.owner, "owner", "", "who is responsible")
	f.StringVar(&t.due, "due", "", "by when, as 2027-03-31")
}

func (t *gapText) check() error {
	if err := oneOf("status", t.status, implementations); err != nil {
		return err
	}
	return oneOf("severity", t.severity, api.Severities)
}

func (a *app) gapAdd() *cobra.Command {
	var t gapText
	cmd := &cobra.Command{
		Use: "add CONTROL --status STATUS --severity SEVERITY", Short: "Add a gap by hand", Args: takes(1, 1),
		Long:              "Adds a finding that the analysis did not make. A code that the catalog lacks is\ntaken and marked. One that was added by mistake is closed by its id, with\n`service gap edit ID --status implemented`, and is planned for no more.",
		Example:           "  service gap add IAC-06 --status not_implemented --severity high --condition 'No second factor on the VPN'",
		ValidArgsFunction: a.completeControls(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := t.check(); err != nil {
				return err
			}
			if t.status == "" || t.severity == "" {
				return usage("a gap needs --status and --severity")
			}
			assessment, err := a.assessment(cmd.Context())
			if err != nil {
				return err
			}
			in := api.CreateGapInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment.ID}}
			in.Body.ControlID, in.Body.Status, in.Body.Severity = args[0], api.Implementation(t.status), api.Severity(t.severity)
			b := &in.Body
			b.GapType, b.Condition, b.Cause, b.Effect, b.Recommendation = t.kind, t.condition, t.cause, t.effect, t.recommendation
			b.Owner, b.DueDate = given(cmd, "owner", t.owner), given(cmd, "due", api.Date(t.due))
			f, err := call(cmd.Context(), a, api.CreateGap, &in)
			if err != nil {
				return err
			}
			return a.out.Print(f, func(p *print.Page) { findingPage(p, f) })
		},
	}
	t.flags(cmd.Flags())
	return cmd
}

func (a *app) gapEdit() *cobra.Command {
	var t gapText
	var reset []string
	cmd := &cobra.Command{
		Use: "edit CONTROL|FINDING", Short: "Change a finding", Args: takes(1, 1),
		Long:              "Changes the named fields of a finding. A regeneration keeps what people set. A status\nholds for the finding alone; `service soa edit` sets that of the control.",
		Example:           "  service gap edit BCD-11 --severity medium --note 'Tested in October'\n  service gap edit BCD-11 --owner 'Head of IT' --due 2027-03-31",
		ValidArgsFunction: a.completeControls(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := anyChanged(cmd); err != nil {
				return err
			}
			if err := t.check(); err != nil {
				return err
			}
			was, err := a.finding(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			in := api.UpdateFindingInput{FindingID: was.ID, Match: revision(was.Revision)}
			b := &in.Body
			b.Status, b.Severity, b.GapType = given(cmd, "status", api.Implementation(t.status)), given(cmd, "severity", api.Severity(t.severity)), given(cmd, "type", t.kind)
			b.Condition, b.Criteria, b.Cause = given(cmd, "condition", t.condition), given(cmd, "criteria", t.criteria), given(cmd, "cause", t.cause)
			b.Effect, b.Recommendation = given(cmd, "effect", t.effect), given(cmd, "recommendation", t.recommendation)
			b.Owner, b.Note, b.DueDate = optional(cmd, "owner", t.owner), optional(cmd, "note", t.note), optional(cmd, "due", api.Date(t.due))
			b.Reset = reset
			f, err := call(cmd.Context(), a, api.UpdateFinding, &in)
			if err != nil {
				return err
			}
			var line *api.SoAItem
			if b.Status != nil && f.Source != "manual" {
				line, _ = a.soaItem(cmd.Context(), f.ControlCode) // the edit is made, whether or not there is one
			}
			return a.out.Print(f, func(p *print.Page) {
				findingPage(p, f)
				if line != nil && line.ImplementationStatus != f.Status {
					p.Blank()
					p.Text("The Statement of Applicability still says %s; the maturity level and the totals go by that. To set it there too:", plain(line.ImplementationStatus))
					p.Command(a.command("soa edit " + f.ControlCode + " --status " + string(f.Status)))
				}
			})
		},
	}
	t.flags(cmd.Flags())
	cmd.Flags().StringSliceVar(&reset, "reset", nil, "edited fields to hand back to the rules, as severity; all for each of them")
	cmd.Flags().StringVar(&t.criteria, "criteria", "", "what it should be")
	cmd.Flags().StringVar(&t.note, "note", "", "a note; empty removes it")
	return cmd
}

// gapChanges tells how the newest version differs from the one before.
func gapChanges(p *print.Page, s *api.GapSummary) {
	if s.SinceVersion == 0 {
		return
	}
	p.Title("Since version %d", s.SinceVersion)
	if len(s.Changes) == 0 {
		p.Text("Nothing changed.")
		return
	}
	var rows [][]string
	for _, c := range s.Changes {
		rows = append(rows, []string{plain(c.Change), c.ControlCode, c.Before, c.After, joinSome(c.Why, 4)})
	}
	p.Table([]print.Column{{Title: "change", Keep: true}, {Title: "control", Keep: true}, {Title: "before"}, {Title: "now"}, {Title: "why", Keep: true}}, rows)
}

func (a *app) gapSummary() *cobra.Command {
	return &cobra.Command{
		Use: "summary", Short: "Count the newest version", Args: takes(0, 0),
		Long: "Counts the findings of the newest version by result, severity, type and domain, and\ntells what was opened, closed, or became worse or better since the version before,\nand whether evidence, catalog, a person or a rule moved it.", Example: "  service gap summary\n  service gap summary --jq .by_severity",
		RunE: func(cmd *cobra.Command, _ []string) error {
			id, err := gapVersions.newestID(cmd.Context(), a)
			if err != nil {
				return err
			}
			s, err := call(cmd.Context(), a, api.GetGapSummary, &api.GapInput{GapVersionID: id})
			if err != nil {
				return err
			}
			return a.out.Print(s, func(p *print.Page) {
				p.Fields(gapFields(s)...)
				if n := len(s.OtherwiseThanSoA); n > 0 {
					p.Text("Compliance and conformity go by the Statement of Applicability, of which people said otherwise here: %s. To change it there: `%s`.",
						joinSome(s.OtherwiseThanSoA, 8), a.command("soa edit CONTROL --status …"))
				}
				var rows [][]string
				for _, d := range sorted(s.ByDomain) {
					rows = append(rows, []string{d, fmt.Sprint(s.ByDomain[d])})
				}
				p.Title("By domain")
				p.Table([]print.Column{{Title: "domain"}, {Title: "findings", Right: true}}, rows)
				gapChanges(p, s)
			})
		},
	}
}
