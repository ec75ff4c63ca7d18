package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/cli/print"
)

// AnalysisScore is how many labels of an analysis' cases the built-in rules met.
type AnalysisScore struct {
	Analysis string   `json:"analysis"`
	Cases    int      `json:"cases"`
	Whole    int      `json:"whole"`
	Labels   int      `json:"labels"`
	Met      int      `json:"met"`
	Held     int      `json:"held"`
	HeldMet  int      `json:"held_met"`
	Wrong    []string `json:"wrong,omitempty"`
}

func (a *app) evalAnalyses() *cobra.Command {
	return &cobra.Command{Use: "analyses", Short: "Measure the built-in analyses on their labelled cases", Args: takes(0, 0),
		Long: `Runs the built-in rules of the seven analyses over the labelled cases of this build and
prints how many labels they meet. The cases and the rules were written by the same people:
the figures show what holds, not what strangers' texts would give.`,
		Example: "  service eval analyses\n  service eval analyses -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.EvalAnalyses == nil {
				return stopped("this build can't measure the analyses")
			}
			all, err := a.EvalAnalyses(cmd.Context())
			if err != nil {
				return stopped("%w", err)
			}
			return a.out.Print(all, func(p *print.Page) {
				var rows [][]string
				for _, s := range all {
					rows = append(rows, []string{s.Analysis, fmt.Sprint(s.Cases), fmt.Sprint(s.Whole), fmt.Sprintf("%.3f", float64(s.Met)/float64(max(1, s.Labels))), fmt.Sprintf("%d of %d", s.HeldMet, s.Held)})
				}
				p.Table([]print.Column{{Title: "analysis", Keep: true}, {Title: "cases", Right: true}, {Title: "all labels met", Right: true}, {Title: "labels met", Right: true}, {Title: "held out", Right: true}}, rows)
			})
		}}
}
