package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/cli/print"
)

// AnalysisScore counts the labels (expected results) of an analysis's test cases, and how many of them the
// built-in rules reproduce.
type AnalysisScore struct {
	Analysis   string   `json:"analysis"`
	Cases      int      `json:"cases"`
	FullyMet   int      `json:"fully_met"`
	Labels     int      `json:"labels"`
	Met        int      `json:"met"`
	HeldOut    int      `json:"held_out"`
	HeldOutMet int      `json:"held_out_met"`
	Missed     []string `json:"missed,omitempty"`
}

func (a *app) evalAnalyses() *cobra.Command {
	return &cobra.Command{
		Use: "analyses", Short: "Measure the accuracy of the built-in analyses on labeled cases",
		Long: `Runs the built-in rules of the seven analyses on the labeled cases included in this build and
prints how many labels the rules match. Because the same people wrote the cases and the rules,
the figures show whether a change made the rules worse, not how well the rules perform on your
documents.`,
		Example: "  service eval analyses\n  service eval analyses -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.EvalAnalyses == nil {
				return runtimeError("this build of the program can't measure the analyses")
			}
			all, err := a.EvalAnalyses(cmd.Context())
			if err != nil {
				return runtimeError("%w", err)
			}
			return a.out.Print(all, func(p *print.Page) {
				renderTable(p, all, []print.Column{
					fixed("analysis"), number("cases"), number("all labels met"), number("labels met"),
					number("held out"),
				}, func(s AnalysisScore) []string {
					return []string{
						s.Analysis, fmt.Sprint(s.Cases), fmt.Sprint(s.FullyMet),
						fmt.Sprintf("%.3f", float64(s.Met)/float64(max(1, s.Labels))),
						fmt.Sprintf("%d of %d", s.HeldOutMet, s.HeldOut),
					}
				})
			})
		},
	}
}
