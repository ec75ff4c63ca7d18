package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

// soaExplain returns the command that explains an item of the Statement of Applicability.
func (a *app) soaExplain() *cobra.Command {
	return &cobra.Command{
		Use: "explain CONTROL|ITEM", Short: "Explain an item's status",
		Long: `Explains an item step by step: why the control is included, what it requires, how well the
documents meet each requirement, how the status follows from the scores, how confident the
rules are, and what was changed manually.`,
		Example:           "  service soa explain IAC-17",
		ValidArgsFunction: a.completeControls(),
		RunE: func(cmd *cobra.Command, args []string) error {
			i, err := a.findSoAItem(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			v, err := soaVersions.fetchNewestVersion(cmd.Context(), a)
			if err != nil {
				return err
			}
			return a.out.Print(i, func(p *print.Page) { renderSoAExplanation(p, i, &v.DeliverableVersion) })
		},
	}
}

// renderSoAExplanation prints how the verdict on a control was reached: its requirements, the passages quoted for
// them, and manual edits.
func renderSoAExplanation(p *print.Page, i *api.SoAItem, v *api.DeliverableVersion) {
	method, reader := v.Method, v.Inputs["reader"]
	p.Title("%s  %s", i.ControlCode, i.ControlTitle)
	p.Text("1. The control is %s. %s", prose.Humanize(i.Applicability), i.Rationale)
	if !i.Applicability.IsApplicable() {
		p.Text("   The control was therefore not assessed.")
		renderManualEdits(p, &i.Item)
		return
	}
	p.Blank()
	if i.ImplementationStatus == api.NotAssessed && len(i.Statements) == 0 {
		p.Text("2. %s", i.Reason)
		renderManualEdits(p, &i.Item)
		return
	}
	p.Text(
		"2. The control has %s%s. Evidence found for each requirement:",
		prose.Count(len(i.Statements), "requirement", "requirements"),
		statementSourcePhrases[i.StatementSource],
	)
	for n, s := range i.Statements {
		p.Blank()
		p.ListItem(0, "%d. %s", n+1, s.Text)
		if reader != "" && s.Score > 0 {
			p.IndentedText(2, "%s (%.0f%% sure): %s", s.Verdict, s.Score*100, s.Reason)
		} else {
			p.IndentedText(2, "%s: %s", s.Verdict, s.Reason)
		}
		for _, e := range i.Evidence {
			if e.RelatesTo(s.Text) {
				renderQuote(p, 4, e)
			}
		}
		renderCorrections(p, &s)
	}
	p.Blank()
	p.Text("   If a quote doesn't support its requirement, refuse the quote with `service correction refuse %s NUMBER`.", i.ControlCode)
	p.Blank()
	counts := "Each requirement scores 1 if it is fully met, ¾ if almost fully met, ½ if partially met or contradicted, and 0 otherwise. " +
		"The score is lower if the passage is about a different subject."
	if reader != "" {
		counts = "Each requirement scores 1 if it is fully met, ½ if partially met, and 0 otherwise."
	}
	p.Text(
		"3. Together, the evidence covers %.0f%% of the control (evidence coverage: %s). %s",
		i.CoverageRatio*100,
		prose.Humanize(i.EvidenceCoverage),
		counts,
	)
	if i.IsStatusOverruled() {
		p.Text(
			"4. The status was set manually to %s, overriding the rules (%s). %s",
			prose.Humanize(i.ImplementationStatus),
			method,
			i.Reason,
		)
		p.Text(
			"5. The confidence of the automatic verdict was %.2f (overridden)%s.",
			i.Confidence,
			formatReviewSuffix(i.NeedsReview),
		)
	} else {
		p.Text("4. Result: %s. %s", prose.Humanize(i.ImplementationStatus), i.Reason)
		sure := "rules (" + method + ")"
		if reader != "" {
			sure = "reader " + reader + " (method: " + method + ")"
		}
		p.Text("5. Confidence of the %s: %.2f%s.", sure, i.Confidence, formatReviewSuffix(i.NeedsReview))
	}
	renderSecondReading(p, i.SecondReading)
	renderManualEdits(p, &i.Item)
}

// statementSourcePhrases maps the source of a control's requirements to a phrase that describes it. There is
// no phrase for the usual source, the catalog's assessment objectives.
var statementSourcePhrases = map[api.StatementSource]string{
	api.FromCriteria:    ", taken from built-in criteria because the catalog contains only a description",
	api.FromDescription: ", from its description",
	api.FromQuestion:    ", from its question",
	api.FromTitle:       ", from its title",
}

func formatReviewSuffix(needs bool) string {
	if needs {
		return "; needs human review"
	}
	return ""
}

// renderManualEdits prints which fields of an item were edited by a user, and by whom.
func renderManualEdits(p *print.Page, i *api.Item) {
	if i.EditedBy == nil {
		p.Text("This item has not been edited manually.")
		return
	}
	p.Text("%s edited these fields manually: %s. New drafts keep the edits until they are undone with --reset.",
		*i.EditedBy, joinFirst(i.EditedFields, 20))
}

// gapExplain returns the command that explains a finding.
func (a *app) gapExplain() *cobra.Command {
	return &cobra.Command{
		Use: "explain CONTROL|FINDING", Short: "Explain a finding and its severity",
		Long: `Shows what is required, what was found, what is missing, how the severity was determined,
which controls could compensate for the gap, and what was changed manually.`,
		Example:           "  service gap explain CFG-02",
		ValidArgsFunction: a.completeControls(),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := a.findFinding(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.out.Print(f, func(p *print.Page) {
				p.Title("%s  %s", f.ControlCode, f.ControlTitle)
				step := 0
				renderStep := func(what, text string) {
					if text != "" { // a manually added finding may lack fields
						step++
						p.Text("%d. %s %s", step, what, text)
					}
				}
				renderStep("Required:", f.Criteria)
				renderStep("Found:", f.Condition)
				if len(f.MissingElements) > 0 {
					renderStep("Missing:", " ")
					for _, m := range f.MissingElements {
						p.ListItem(3, "%s", m)
					}
				} else {
					renderStep("Missing:", "no missing elements are listed.")
				}
				renderStep("Possible cause:", f.Cause)
				renderStep("Possible effect:", f.Effect)
				renderStep("Severity", string(f.Severity)+": "+f.SeverityReason)
				renderStep("What to do:", f.Recommendation)
				added := f.Source == "manual"
				if added {
					p.Text("This finding was added manually, so new drafts keep it.")
				}
				if f.StatusSetBy != "" {
					p.Text("%s set the status manually in the Statement of Applicability, so it is not based on the evidence.", f.StatusSetBy)
				}
				if !added && (f.StatusSetBy == "" || f.EditedBy != nil) || len(f.EditedFields) > 0 {
					renderManualEdits(p, &f.Item)
				}
			})
		},
	}
}

// maturityExplain returns the command that explains a maturity level.
func (a *app) maturityExplain() *cobra.Command {
	return &cobra.Command{
		Use: "explain CONTROL|SCORE", Short: "Explain a maturity level",
		Long: "Explains a control's maturity level: what the level requires, what evidence was found, and what\n" +
			"the next level requires. Levels are cumulative: level 4 includes everything that level 3 requires.",
		Example:           "  service maturity explain IAC-17",
		ValidArgsFunction: a.completeControls(),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.findScore(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.out.Print(s, func(p *print.Page) {
				p.Title("%s  %s", s.ControlCode, s.ControlTitle)
				if !s.Assessed {
					p.Text("1. Not rated: no evidence was found, so the control is excluded from averages.")
				} else {
					p.Text("1. Level %s: %s", formatLevel(s.Level), s.Criteria)
				}
				p.Text("2. Why: %s", s.Rationale)
				for _, e := range s.Evidence {
					renderQuote(p, 4, e)
				}
				if s.NextCriteria != "" {
					p.Text("3. Next level: %s", s.NextCriteria)
				}
				p.Text("4. The target is %s%s.", formatLevel(s.TargetLevel), formatPreviousLevel(s.PreviousLevel))
				renderManualEdits(p, &s.Item)
			})
		},
	}
}

func formatPreviousLevel(previous *int) string {
	if previous == nil {
		return ""
	}
	return fmt.Sprintf("; previously %s", formatLevel(*previous))
}
