package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

// soaExplain tells how a line of the Statement of Applicability came about.
func (a *app) soaExplain() *cobra.Command {
	return &cobra.Command{
		Use: "explain CONTROL|ITEM", Short: "Tell how an item's status came about", Args: requireArgs(1, 1),
		Long: `Tells step by step how one control's item came about: why the control is in, what it
asks for, what the documents say of each statement and what that is worth, what
follows from it, how sure the rules are, and what people changed.`,
		Example:           "  service soa explain IAC-17",
		ValidArgsFunction: a.completeControls(),
		RunE: func(cmd *cobra.Command, args []string) error {
			i, err := a.findSoAItem(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			v, err := soaVersions.fetchNewest(cmd.Context(), a)
			if err != nil {
				return err
			}
			return a.out.Print(i, func(p *print.Page) { renderSoAExplanation(p, i, v.Method) })
		},
	}
}

func renderSoAExplanation(p *print.Page, i *api.SoAItem, method string) {
	p.Title("%s  %s", i.ControlCode, i.ControlTitle)
	p.Text("1. It is %s. %s", humanize(i.Applicability), i.Rationale)
	if !i.Applicability.IsApplicable() {
		p.Text("   So it was not assessed.")
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
		"2. It asks for %s%s. The documents say of each:",
		pluralize(len(i.Statements), "statement", "statements"),
		statementSourcePhrases[i.StatementsFrom],
	)
	for n, s := range i.Statements {
		p.Blank()
		p.Item(0, "%d. %s", n+1, s.Text)
		p.Indent(2, "%s: %s", s.Verdict, s.Reason)
		for _, e := range i.Evidence {
			if strings.Contains(e.Supports, s.Text) {
				renderQuote(p, 4, e)
			}
		}
	}
	p.Blank()
	p.Text(
		"3. Together that is %.0f %% of the control: evidence is %s. A statement said in full is worth 1, nearly in full ¾, in part or contradicted ½, anything else nothing; less where the passage speaks of something else than the control.",
		i.CoverageRatio*100,
		humanize(i.EvidenceCoverage),
	)
	if i.IsOverruled() {
		p.Text("4. A person set it to %s, over what the rules (%s) said. %s", humanize(i.ImplementationStatus), method, i.Reason)
		p.Text(
			"5. Of their own verdict the rules were sure to %.2f of 1; of what was set it says nothing%s.",
			i.Confidence,
			formatReviewSuffix(i.NeedsReview),
		)
	} else {
		p.Text("4. So it is %s. %s", humanize(i.ImplementationStatus), i.Reason)
		p.Text("5. The rules (%s) are sure to %.2f of 1%s.", method, i.Confidence, formatReviewSuffix(i.NeedsReview))
	}
	renderManualEdits(p, &i.Item)
}

// statementSourcePhrases say where statements come from that are not the catalog's objectives.
var statementSourcePhrases = map[api.StatementSource]string{
	api.FromCriteria:    ", from our own criteria for this code, since the catalog says no more of it than its description",
	api.FromDescription: ", the parts of its description",
	api.FromQuestion:    ", from its question",
	api.FromTitle:       ", its title",
}

func formatReviewSuffix(needs bool) string {
	if needs {
		return "; a person should look at it"
	}
	return ""
}

// renderManualEdits tells what of a line is a person's word and not the rules'.
func renderManualEdits(p *print.Page, i *api.Item) {
	if i.EditedBy == nil {
		p.Text("No person has changed it.")
		return
	}
	p.Text("%s set %s by hand; a new draft keeps that until it is handed back with --reset.", *i.EditedBy, joinFirst(i.EditedFields, 20))
}

// gapExplain tells how a finding came about.
func (a *app) gapExplain() *cobra.Command {
	return &cobra.Command{
		Use: "explain CONTROL|FINDING", Short: "Tell how a finding and its severity came about", Args: requireArgs(1, 1),
		Long: `Tells what was found against what is required, what is missing, how the severity was
reckoned, which controls could compensate, and what people changed.`,
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
					if text != "" { // one added by hand says what its author said
						step++
						p.Text("%d. %s %s", step, what, text)
					}
				}
				renderStep("Required:", f.Criteria)
				renderStep("Found:", f.Condition)
				if len(f.MissingElements) > 0 {
					renderStep("Missing:", " ")
					for _, m := range f.MissingElements {
						p.Item(3, "%s", m)
					}
				} else {
					renderStep("Nothing", "is listed as missing.")
				}
				renderStep("Why it may be so:", f.Cause)
				renderStep("What it may lead to:", f.Effect)
				renderStep("Severity", string(f.Severity)+": "+f.SeverityReason)
				renderStep("What to do:", f.Recommendation)
				added := f.Source == "manual"
				if added {
					p.Text("It was added by hand; new drafts keep it.")
				}
				if f.StatusSetBy != "" {
					p.Text("%s set the status in the Statement of Applicability; the evidence did not give it.", f.StatusSetBy)
				}
				if !added && (f.StatusSetBy == "" || f.EditedBy != nil) || len(f.EditedFields) > 0 {
					renderManualEdits(p, &f.Item)
				}
			})
		},
	}
}

// maturityExplain tells how a level came about.
func (a *app) maturityExplain() *cobra.Command {
	return &cobra.Command{
		Use: "explain CONTROL|SCORE", Short: "Tell how a level came about", Args: requireArgs(1, 1),
		Long:              "Tells why a control has its level: what the level asks, what was shown, and what\nthe next one asks. Levels are cumulative: a 4 has what a 3 has.",
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
					p.Text("1. Not rated: there was no evidence to rate by, so means leave it out.")
				} else {
					p.Text("1. Level %s, which is: %s", formatLevel(s.Level), s.Criteria)
				}
				p.Text("2. Why: %s", s.Rationale)
				for _, e := range s.Evidence {
					renderQuote(p, 4, e)
				}
				if s.NextCriteria != "" {
					p.Text("3. The next level is: %s", s.NextCriteria)
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
	return fmt.Sprintf("; before it was %s", formatLevel(*previous))
}
