package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

var maturityVersions = deliverable[api.MaturityVersion]{
	gate: api.GateMaturity, list: api.ListMaturity, make: api.DraftMaturity,
	submit: func(ctx context.Context, a *app, id string) (*api.MaturityVersion, error) {
		return call(ctx, a, api.SubmitMaturity, &api.MaturityInput{MaturityVersionID: id})
	},
	regenerate: func(ctx context.Context, a *app, id string) (*api.MaturityVersion, error) {
		return call(ctx, a, api.RegenerateMaturity, &api.MaturityInput{MaturityVersionID: id})
	},
	head: func(v *api.MaturityVersion) *api.DeliverableVersion { return &v.DeliverableVersion },
}

func (a *app) maturity() *cobra.Command {
	return group(&cobra.Command{
		Use: "maturity", Short: "The maturity assessment: how well controls are done, from 0 to 5",
		Long: `The maturity assessment rates each control from 0 (not performed) to 5 (continuously
improving) by what the evidence shows, with the reasons and what the next level asks.`,
		Example: "  service maturity summary\n  service maturity list --below-target\n  service maturity edit IAC-06 --level 3 --rationale 'Reviewed every quarter'\n  service maturity approve",
	}, append([]*cobra.Command{a.maturityShow(), a.maturityExplain(), a.maturityList(), a.maturityEdit(), a.maturitySummary(), maturitySheet.importing(a)}, maturityVersions.commands(a)...)...)
}

func (a *app) scores(ctx context.Context, in api.MaturityScoresInput, l limits) (*api.List[api.MaturityScore], error) {
	return collect(ctx, l.limit, l.cursor, func(p api.Paging) (*api.List[api.MaturityScore], error) {
		in.Paging = p
		return call(ctx, a, api.ListMaturityScores, &in)
	})
}

func (a *app) score(ctx context.Context, ref string) (*api.MaturityScore, error) {
	if uuid.MatchString(ref) {
		return call(ctx, a, api.GetMaturityScore, &api.MaturityScoreInput{MaturityScoreID: ref})
	}
	id, err := maturityVersions.newestID(ctx, a)
	if err != nil {
		return nil, err
	}
	in := api.MaturityScoresInput{MaturityInput: api.MaturityInput{MaturityVersionID: id}, ControlCode: ref}
	l, err := a.scores(ctx, in, limits{})
	if err == nil && len(l.Data) == 0 {
		in.ControlCode = "" // all, for what may have been meant
		l, err = a.scores(ctx, in, limits{})
	}
	if err != nil {
		return nil, err
	}
	return one(ref, "score", l.Data, func(s *api.MaturityScore) *api.Item { return &s.Item }, func(s *api.MaturityScore) string { return s.Rationale })
}

func (a *app) maturityShow() *cobra.Command {
	return &cobra.Command{
		Use: "show [CONTROL|SCORE]", Short: "Show the newest version, or one score with its evidence", Args: takes(0, 1),
		Long:              "Shows the newest version with its means by domain; with a control's code, that\ncontrol's score in full.",
		Example:           "  service maturity show\n  service maturity show IAC-06",
		ValidArgsFunction: a.completeControls(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				s, err := a.score(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				talk, err := a.talk(cmd.Context(), s.AssessmentID, api.GateMaturity, ofItem(s.ControlCode))
				if err != nil {
					return err
				}
				return a.out.Print(s, func(p *print.Page) { scorePage(p, s); talk(p) })
			}
			v, err := maturityVersions.newest(cmd.Context(), a)
			if err != nil {
				return err
			}
			s, err := call(cmd.Context(), a, api.GetMaturitySummary, &api.MaturityInput{MaturityVersionID: v.ID})
			if err != nil {
				return err
			}
			talk, err := a.talk(cmd.Context(), v.AssessmentID, api.GateMaturity, ofWhole)
			if err != nil {
				return err
			}
			return a.out.Print(v, func(p *print.Page) {
				heading(p, api.GateMaturity, &v.DeliverableVersion)
				p.Blank()
				domainTable(p, s)
				talk(p)
				a.next(p, api.GateMaturity, v.Status)
			})
		},
	}
}

func level(n int) string {
	if n < 0 || n >= len(api.LevelNames) {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d (%s)", n, api.LevelNames[n])
}

func scorePage(p *print.Page, s *api.MaturityScore) {
	previous := ""
	if s.PreviousLevel != nil {
		previous = level(*s.PreviousLevel)
	}
	item(p, &s.Item,
		print.Field{Name: "level", Value: level(s.Level)}, print.Field{Name: "target", Value: level(s.TargetLevel)}, print.Field{Name: "before", Value: previous},
		print.Field{Name: "assessed", Value: yes(s.Assessed)}, print.Field{Name: "reason", Value: s.Rationale},
		print.Field{Name: "this level asks", Value: s.Criteria}, print.Field{Name: "the next asks", Value: s.NextCriteria},
		print.Field{Name: "note", Value: orEmpty(s.Note)}, print.Field{Name: "confidence", Value: print.Confidence(s.Confidence, s.Overruled())})
	evidence(p, s.Evidence)
}

func domainTable(p *print.Page, s *api.MaturitySummary) {
	var rows [][]string
	for _, d := range append(s.Domains, s.Overall) {
		code := d.DomainCode
		if code == "" {
			code = "all"
		}
		lowest := "-"
		if d.Minimum != nil {
			lowest = strconv.Itoa(*d.Minimum)
		}
		rows = append(rows, []string{code, d.DomainName, fmt.Sprintf("%d of %d", d.Assessed, d.Controls), figure(d.Mean), figure(d.WeightedMean), lowest, figure(d.TargetMean)})
	}
	p.Table([]print.Column{{Title: "domain", Keep: true}, {Title: "name"}, {Title: "assessed", Right: true}, {Title: "mean", Right: true}, {Title: "weighted", Right: true}, {Title: "lowest", Right: true}, {Title: "target", Right: true}}, rows)
}

func (a *app) maturityList() *cobra.Command {
	var in api.MaturityScoresInput
	var below bool
	var l limits
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"scores", "items"}, Short: "List the scores", Args: takes(0, 0),
		Long: "Lists the scores of the newest version, one line per control.", Example: "  service maturity list --below-target\n  service maturity list --domain IAC -o csv",
		RunE: func(cmd *cobra.Command, _ []string) error {
			id, err := maturityVersions.newestID(cmd.Context(), a)
			if err != nil {
				return err
			}
			in.MaturityVersionID = id
			if below {
				in.BelowTarget = "true"
			}
			all, err := a.scores(cmd.Context(), in, l)
			if err != nil {
				return a.noName(err)
			}
			defer a.more(len(all.Data), all.Pagination)
			return a.out.Print(all, func(p *print.Page) {
				var rows [][]string
				for _, s := range all.Data {
					lvl := strconv.Itoa(s.Level)
					if !s.Assessed {
						lvl = "not assessed"
					}
					rows = append(rows, []string{s.ControlCode, s.ControlTitle, lvl, strconv.Itoa(s.TargetLevel), fmt.Sprint(len(s.Evidence)), s.Rationale})
				}
				p.Table([]print.Column{{Title: "control", Keep: true}, {Title: "title"}, {Title: "level", Right: true}, {Title: "target", Right: true}, {Title: "quotes", Right: true, Spare: true}, {Title: "reason", Spare: true}}, rows)
				a.none(p, len(rows), "No score is like that.")
			})
		},
	}
	cmd.Flags().StringVar(&in.Domain, "domain", "", "only of this domain, as IAC")
	cmd.Flags().BoolVar(&below, "below-target", false, "only scores below their target")
	cmd.Flags().StringVar(&in.Q, "query", "", "only with these words")
	cmd.Flags().StringVar(&in.Sort, "sort", "", "the order, as level,control_code; an unknown name is told the known ones")
	l.add(cmd, 0)
	return cmd
}

func (a *app) maturityEdit() *cobra.Command {
	var reset []string
	var lvl, target int
	var rationale, note string
	cmd := &cobra.Command{
		Use: "edit CONTROL|SCORE", Short: "Change a score", Args: takes(1, 1),
		Long:              "Changes a level, its target, the reason or the note. A regeneration keeps what\npeople set.",
		Example:           "  service maturity edit IAC-06 --level 3 --rationale 'Reviewed every quarter'\n  service maturity edit IAC-06 --target 4",
		ValidArgsFunction: a.completeControls(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := anyChanged(cmd); err != nil {
				return err
			}
			was, err := a.score(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			in := api.UpdateMaturityScoreInput{MaturityScoreInput: api.MaturityScoreInput{MaturityScoreID: was.ID}, Match: revision(was.Revision)}
			in.Body.Level, in.Body.TargetLevel = given(cmd, "level", lvl), given(cmd, "target", target)
			in.Body.Rationale, in.Body.Note = given(cmd, "rationale", rationale), optional(cmd, "note", note)
			in.Body.Reset = reset
			s, err := call(cmd.Context(), a, api.UpdateMaturityScore, &in)
			if err != nil {
				return err
			}
			return a.out.Print(s, func(p *print.Page) { scorePage(p, s) })
		},
	}
	cmd.Flags().IntVar(&lvl, "level", 0, "the level, 0 to 5")
	cmd.Flags().IntVar(&target, "target", 0, "the level it should have, 0 to 5")
	cmd.Flags().StringVar(&rationale, "rationale", "", "why it has this level")
	cmd.Flags().StringVar(&note, "note", "", "a note; empty removes it")
	cmd.Flags().StringSliceVar(&reset, "reset", nil, "edited fields to hand back to the rules, as note; all for each of them")
	return cmd
}

func (a *app) maturitySummary() *cobra.Command {
	return &cobra.Command{
		Use: "summary", Short: "Summarise the newest version by domain", Args: takes(0, 0),
		Long: "Shows means, the lowest level and the target by domain, over controls that there\nwas evidence to rate.", Example: "  service maturity summary\n  service maturity summary --jq .overall.mean",
		RunE: func(cmd *cobra.Command, _ []string) error {
			id, err := maturityVersions.newestID(cmd.Context(), a)
			if err != nil {
				return err
			}
			s, err := call(cmd.Context(), a, api.GetMaturitySummary, &api.MaturityInput{MaturityVersionID: id})
			if err != nil {
				return err
			}
			return a.out.Print(s, func(p *print.Page) {
				domainTable(p, s)
				p.Blank()
				for _, l := range sorted(s.ByLevel) {
					of := plain(l)
					if n, err := strconv.Atoi(l); err == nil {
						of = "level " + level(n)
					}
					p.Text("%s: %s", of, count(s.ByLevel[l], "control", "controls"))
				}
				p.Text("%s", s.Formula)
			})
		},
	}
}
