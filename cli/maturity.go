package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

var maturityVersions = deliverable[api.MaturityVersion]{
	gate: api.GateMaturity, listOp: api.ListMaturity, draft: newDraftFunc(api.DraftMaturity),
	submit: func(ctx context.Context, a *app, id string, b *api.Submission) (*api.MaturityVersion, error) {
		return call(ctx, a, api.SubmitMaturity, &api.SubmitMaturityInput{MaturityInput: api.MaturityInput{MaturityVersionID: id}, Body: b})
	},
	regenerate: func(ctx context.Context, a *app, id string) (*api.MaturityVersion, error) {
		return call(ctx, a, api.RegenerateMaturity, &api.MaturityInput{MaturityVersionID: id})
	},
	header: func(v *api.MaturityVersion) *api.DeliverableVersion { return &v.DeliverableVersion },
}

func (a *app) maturityCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "maturity", Short: "Maturity assessment: rate controls from 0 to 5",
		Long: `The maturity assessment rates each control from 0 (not performed) to 5 (continuously
improving) based on the evidence. It states the reasons and what the next level requires.`,
		Example: "  service maturity summary\n  service maturity list --below-target\n" +
			"  service maturity edit IAC-06 --level 3 --rationale 'Reviewed every quarter'\n  service maturity approve",
	}, append([]*cobra.Command{
		a.maturityShow(),
		a.maturityExplain(),
		a.maturityListScores(),
		a.maturityEdit(),
		a.maturitySummary(),
		maturityWorkbook.importCommand(a),
	}, maturityVersions.commands(a)...)...)
}

func (a *app) findScore(ctx context.Context, ref string) (*api.MaturityScore, error) {
	if uuidPattern.MatchString(ref) {
		return call(ctx, a, api.GetMaturityScore, &api.MaturityScoreInput{MaturityScoreID: ref})
	}
	id, err := maturityVersions.fetchNewestVersionID(ctx, a)
	if err != nil {
		return nil, err
	}
	in := api.MaturityScoresInput{MaturityInput: api.MaturityInput{MaturityVersionID: id}, ControlCode: ref}
	l, err := fetchAll(ctx, a, api.ListMaturityScores, &in)
	if err == nil && len(l.Data) == 0 {
		in.ControlCode = "" // fetch all, to suggest similar codes
		l, err = fetchAll(ctx, a, api.ListMaturityScores, &in)
	}
	if err != nil {
		return nil, err
	}
	return findItem(
		ref,
		"score",
		l.Data,
		func(s *api.MaturityScore) *api.Item { return &s.Item },
		func(s *api.MaturityScore) string { return s.Rationale },
	)
}

func (a *app) maturityShow() *cobra.Command {
	return &cobra.Command{
		Use: "show [CONTROL|SCORE]", Short: "Show the newest maturity assessment, or one score with its evidence",
		Long:              "Shows the newest version with the mean levels by domain. With a control's code, shows that\ncontrol's score in full.",
		Example:           "  service maturity show\n  service maturity show IAC-06",
		ValidArgsFunction: a.completeControls(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				s, err := a.findScore(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				talk, err := a.fetchCommentRenderer(cmd.Context(), s.AssessmentID, api.GateMaturity, newItemCommentFilter(s.ControlCode))
				if err != nil {
					return err
				}
				return a.out.Print(s, func(p *print.Page) { renderScore(p, s); talk(p) })
			}
			v, err := maturityVersions.fetchNewestVersion(cmd.Context(), a)
			if err != nil {
				return err
			}
			s, err := call(cmd.Context(), a, api.GetMaturitySummary, &api.MaturityInput{MaturityVersionID: v.ID})
			if err != nil {
				return err
			}
			talk, err := a.fetchCommentRenderer(cmd.Context(), v.AssessmentID, api.GateMaturity, isOnWholeDeliverable)
			if err != nil {
				return err
			}
			return a.out.Print(v, func(p *print.Page) {
				renderVersionHeader(p, api.GateMaturity, &v.DeliverableVersion)
				p.Blank()
				renderDomainTable(p, s)
				talk(p)
				a.renderNextVersionCommands(cmd.Context(), p, api.GateMaturity, &v.DeliverableVersion)
			})
		},
	}
}

func formatLevel(n int) string {
	if n < 0 || n >= len(api.LevelNames) {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d (%s)", n, api.LevelNames[n])
}

func renderScore(p *print.Page, s *api.MaturityScore) {
	previous := ""
	if s.PreviousLevel != nil {
		previous = formatLevel(*s.PreviousLevel)
	}
	level, criteria := "not assessed", ""
	if s.Assessed {
		level, criteria = formatLevel(s.Level), s.Criteria
	}
	renderItem(
		p,
		&s.Item,
		field("level", level),
		field("target", formatLevel(s.TargetLevel)),
		field("previous", previous),
		field("reason", s.Rationale),
		field("this level requires", criteria),
		field("next level requires", s.NextCriteria),
		field("note", orZero(s.Note)),
		field("confidence", print.FormatConfidence(s.Confidence, s.IsLevelOverruled())),
	)
	renderEvidence(p, s.Evidence)
}

func renderDomainTable(p *print.Page, s *api.MaturitySummary) {
	renderTable(p, append(s.Domains, s.Overall), []print.Column{
		fixed("domain"), column("name"), number("assessed"), number("mean"), number("weighted"), number("lowest"),
		number("target"),
	}, func(d api.DomainMaturity) []string {
		code := d.DomainCode
		if code == "" {
			code = "all"
		}
		lowest := "-"
		if d.Minimum != nil {
			lowest = strconv.Itoa(*d.Minimum)
		}
		return []string{
			code, d.DomainName, fmt.Sprintf("%d of %d", d.Assessed, d.Controls), formatScore(d.Mean),
			formatScore(d.WeightedMean), lowest, formatScore(d.TargetMean),
		}
	})
}

func (a *app) maturityListScores() *cobra.Command {
	var in api.MaturityScoresInput
	var below bool
	var l listFlags
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"scores", "items"},
		Short:   "List the scores",

		Long:    "Lists the scores of the newest version, one line per control.",
		Example: "  service maturity list --below-target\n  service maturity list --domain IAC -o csv",
		RunE: func(cmd *cobra.Command, _ []string) error {
			id, err := maturityVersions.fetchNewestVersionID(cmd.Context(), a)
			if err != nil {
				return err
			}
			in.MaturityVersionID = id
			if below {
				in.BelowTarget = "true"
			}
			all, err := fetchList(cmd.Context(), a, api.ListMaturityScores, &in, l)
			if err != nil {
				return a.withFilterHint(err)
			}
			defer a.printMoreResultsNotice(len(all.Data), all.Pagination)
			return a.out.Print(all, func(p *print.Page) {
				renderTable(p, all.Data, []print.Column{
					fixed("control"), column("title"), number("level"), number("target"), optional(number("quotes")),
					optional(column("reason")),
				}, func(s api.MaturityScore) []string {
					lvl := strconv.Itoa(s.Level)
					if !s.Assessed {
						lvl = "not assessed"
					}
					return []string{
						s.ControlCode,
						s.ControlTitle,
						lvl,
						strconv.Itoa(s.TargetLevel),
						fmt.Sprint(len(s.Evidence)),
						firstSentence(s.Rationale),
					}
				})
				renderTextIfEmpty(p, len(all.Data), "No matching scores.")
			})
		},
	}
	cmd.Flags().StringVar(&in.Domain, "domain", "", "only scores in this domain, e.g. IAC")
	cmd.Flags().BoolVar(&below, "below-target", false, "only scores below their target")
	cmd.Flags().StringVar(&in.Q, "query", "", "only scores containing these words")
	cmd.Flags().StringVar(&in.Where, "where", "", "only scores that match this filter, e.g. 'level < target'")
	cmd.Flags().StringVar(&in.Sort, "sort", "", "fields to sort by, e.g. level,control_code; an unknown field lists the valid ones")
	l.addFlags(cmd, 0)
	return cmd
}

func (a *app) maturityEdit() *cobra.Command {
	var in api.UpdateMaturityScoreInput
	var lvl, target int
	var many manyFlags
	cmd := &cobra.Command{
		Use: "edit CONTROL|SCORE", Short: "Change a score",
		Long: "Changes a control's level, target level, reason or note. New drafts keep manual\nchanges.",
		Example: "  service maturity edit IAC-06 --level 3 --rationale 'Reviewed every quarter'\n" +
			"  service maturity edit IAC-06 --target 4",
		ValidArgsFunction: a.completeControls(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := requireAnyFlag(cmd); err != nil {
				return err
			}
			was, err := a.findScore(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			in.MaturityScoreID, in.Match = was.ID, matchRevision(was.Revision)
			in.Body.Level, in.Body.TargetLevel = flagIfChanged(cmd, "level", lvl), flagIfChanged(cmd, "target", target)
			before := maturityVersions.newestHeader(cmd.Context(), a)
			out, err := call(cmd.Context(), a, api.UpdateMaturityScore, &in)
			if err != nil {
				return err
			}
			a.printEditEffect(before, out.VersionID, out.Revision != was.Revision, api.GateMaturity)
			return a.out.Print(out, func(p *print.Page) { renderScore(p, out) })
		},
	}
	cmd.Flags().IntVar(&lvl, "level", 0, "maturity level, 0 to 5")
	cmd.Flags().IntVar(&target, "target", 0, "target level, 0 to 5")
	addOptionalFlag(cmd.Flags(), &in.Body.Rationale, "rationale", "reason for the level")
	addClearableFlag(cmd.Flags(), &in.Body.Note, "note", "note on the score; an empty value removes it")
	cmd.Flags().StringSliceVar(&in.Body.Reset, "reset", nil,
		"edited fields to reset to their drafted values, e.g. note; \"all\" resets every field")
	return many.addWhere(cmd, func(cmd *cobra.Command, _ []string) error {
		in.Body.Level, in.Body.TargetLevel = flagIfChanged(cmd, "level", lvl), flagIfChanged(cmd, "target", target)
		edit := func(version string, selection api.ItemSelection) *api.EditMaturityScoresInput {
			out := &api.EditMaturityScoresInput{}
			out.MaturityVersionID, out.Body.ItemSelection, out.Body.Set = version, selection, in.Body
			return out
		}
		return editMany(cmd, a, &many, maturityVersions, api.EditMaturityScores, edit)
	})
}

func (a *app) maturitySummary() *cobra.Command {
	return &cobra.Command{
		Use:   "summary",
		Short: "Summarize the newest maturity assessment by domain",

		Long:    "Shows the mean levels, the lowest level and the target level of each domain. Only controls with\nenough evidence to be rated are included.",
		Example: "  service maturity summary\n  service maturity summary --jq .overall.mean",
		RunE: func(cmd *cobra.Command, _ []string) error {
			id, err := maturityVersions.fetchNewestVersionID(cmd.Context(), a)
			if err != nil {
				return err
			}
			return callAndPrint(
				cmd.Context(),
				a,
				api.GetMaturitySummary,
				&api.MaturityInput{MaturityVersionID: id},
				func(p *print.Page, s *api.MaturitySummary) {
					renderDomainTable(p, s)
					p.Blank()
					for _, l := range sortedKeys(s.ByLevel) {
						of := prose.Humanize(l)
						if n, err := strconv.Atoi(l); err == nil {
							of = "level " + formatLevel(n)
						}
						p.Text("%s: %s", of, prose.Count(s.ByLevel[l], "control", "controls"))
					}
					p.Text("%s", s.Formula)
				},
			)
		},
	}
}
