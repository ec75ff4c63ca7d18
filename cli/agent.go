package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

func (a *app) agentCommand() *cobra.Command {
	return makeCommandGroup(
		&cobra.Command{
			Use: "agent", Short: "Run the agents, which do single steps of an assessment, and inspect their runs",
			Long: `Each of the nine agents does one part of an assessment, using the same operations as these
commands. They produce drafts, which people submit and approve. Every step of a run is
recorded.`,
			Example: "  service agent list\n  service agent run gap-analyst\n  service agent show RUN",
		},
		a.agentList(),
		a.agentStartRun(),
		a.agentListRuns(),
		a.agentWatchRun(),
		a.agentShowRun(),
		a.agentRunSteps(),
		a.agentCompleteRun(),
		a.agentCancelRun(),
	)
}

func (a *app) agentList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the agents",
		Long: "Lists the nine agents in the order in which they run.", Example: "  service agent list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return callAndPrint(cmd.Context(), a, api.ListAgents, &api.Paging{}, func(p *print.Page, all *api.List[api.Agent]) {
				renderTable(
					p,
					all.Data,
					[]print.Column{fixed("agent"), wrapped("what it does"), optional(column("needs approval of"))},
					func(x api.Agent) []string {
						return []string{x.ID, x.Role, strings.Join(x.NeedsApprovalFor, ", ")}
					},
				)
			})
		},
	}
}

func (a *app) agentStartRun() *cobra.Command {
	var input string
	var catalogOnly, noWait bool
	cmd := &cobra.Command{
		Use: "run AGENT", Short: "Start an agent and wait for the result",
		Long: `Starts an agent on the current assessment, waits for it to finish and shows its
proposals. --no-wait returns as soon as a server has started the agent. --no-assessment
runs an agent that needs no assessment.`,
		Example: "  service agent run gap-analyst\n" +
			"  service agent run framework-mapper --no-assessment --input '{\"frameworks\": [\"iso-27001-2022\"]}'",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			in := api.StartRunInput{Body: api.StartRunBody{AgentID: args[0]}}
			if input != "" {
				if err := json.Unmarshal([]byte(input), &in.Body.Input); err != nil {
					return usageError("--input is not a JSON object: %w", err)
				}
			}
			if !catalogOnly {
				one, err := a.currentAssessment(ctx)
				if err != nil {
					return err
				}
				in.Body.AssessmentID = one.ID
			}
			r, err := call(ctx, a, api.StartAgentRun, &in)
			if err != nil {
				return err
			}
			if noWait {
				return a.out.Print(r, func(p *print.Page) { renderAgentRun(p, r) })
			}
			return a.followAgentRun(ctx, r.ID)
		},
	}
	cmd.Flags().StringVar(&input, "input", "", "input for the agent, as a JSON object")
	cmd.Flags().BoolVar(&catalogOnly, "no-assessment", false, "run without an assessment, using only the catalog")
	cmd.Flags().BoolVar(&noWait, "no-wait", false, "start the run and return without waiting for the result")
	return cmd
}

// followAgentRun prints the steps of an agent run until the run ends, and then its proposals. It returns an
// error if the run failed or was canceled.
func (a *app) followAgentRun(ctx context.Context, id string) error {
	in := api.GetAgentRunInput{AgentRunInput: api.AgentRunInput{AgentRunID: id}}
	reported := 0
	for {
		r, err := call(ctx, a, api.GetAgentRun, &in)
		if err != nil {
			return err
		}
		steps, err := call(
			ctx,
			a,
			api.ListAgentRunSteps,
			&api.AgentStepsInput{AgentRunInput: in.AgentRunInput, Paging: api.Paging{Limit: api.MaxListLimit}},
		)
		if err != nil {
			return err
		}
		for ; reported < len(steps.Data); reported++ {
			a.progress.Done("%s", steps.Data[reported].Name)
		}
		switch r.Status {
		case "completed":
			return a.printAgentRun(ctx, r)
		case "failed", "cancelled":
			if err := a.out.Print(r, func(p *print.Page) { renderAgentRun(p, r) }); err != nil {
				return err
			}
			return runtimeError("the run has %s: %s", r.Status, orZero(r.Error))
		}
		if err := sleep(ctx, a.pollInterval()); err != nil {
			return err
		}
	}
}

// agentRunResult is an agent run with its proposals.
type agentRunResult struct {
	Run    *api.AgentRun    `json:"run"`
	Output *api.AgentOutput `json:"output"`
}

func (a *app) printAgentRun(ctx context.Context, r *api.AgentRun) error {
	o, err := call(ctx, a, api.GetAgentRunOutput, &api.AgentRunInput{AgentRunID: r.ID})
	if err != nil {
		return err
	}
	return a.out.Print(agentRunResult{r, o}, func(p *print.Page) {
		renderAgentRun(p, r)
		p.Blank()
		p.Text("%s", o.Summary)
		for _, l := range []struct {
			title string
			lines []string
		}{{"Proposals", formatProposals(o.Proposals)}, {"Assumptions", o.Assumptions}, {"Limitations", o.Limitations}} {
			renderSection(p, l.title, l.lines)
		}
	})
}

// maxProposalsShown is the maximum number of proposals in human-readable output; -o json shows all of them.
const maxProposalsShown = 20

// formatProposals returns the first maxProposalsShown proposals, each as one line of at most 160 characters.
func formatProposals(all []map[string]any) []string {
	var out []string
	for i, m := range all {
		if i == maxProposalsShown {
			return append(out, fmt.Sprintf("and %d more (list all with -o json)", len(all)-i))
		}
		if m["kind"] == nil {
			out = append(out, formatAnswer(m)...)
			continue
		}
		words := []string{prose.Humanize(fmt.Sprint(m["kind"]))}
		for _, key := range []string{
			"control_code", "poam_code", "framework", "filename", "severity", "level", "coverage_pct",
			"condition", "corrective_action", "reason", "rationale", "title", "about", "text", "quote",
		} {
			if v, ok := m[key]; ok && v != "" {
				words = append(words, fmt.Sprint(v))
			}
		}
		line := strings.Join(words, "  ")
		if r := []rune(line); len(r) > 160 {
			line = string(r[:160]) + "…"
		}
		out = append(out, line)
	}
	return out
}

// formatAnswer returns the fields of an analysis's answer, one per line. It leaves out the fields that are also in
// the run.
func formatAnswer(m map[string]any) (out []string) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if slices.Contains([]string{"model", "agent_run_id", "limitations"}, key) {
			continue
		}
		value := fmt.Sprint(m[key])
		if list, ok := m[key].([]any); ok {
			var parts []string
			for _, one := range list {
				if c, ok := one.(map[string]any); ok { // this is a required control
					one = fmt.Sprintf("%v %v", c["control_id"], c["name"])
				}
				parts = append(parts, fmt.Sprint(one))
			}
			value = strings.Join(parts, "; ")
		}
		if value != "" {
			out = append(out, prose.Humanize(key)+": "+value)
		}
	}
	return out
}

func renderAgentRun(p *print.Page, r *api.AgentRun) {
	p.Fields(
		field("agent", r.AgentID),
		field("status", r.Status),
		field("model", r.Model),
		field("prompt or rules", r.PromptVersion),
		field("tokens", formatTokens(r.Tokens)),
		field("created", print.FormatTime(r.CreatedAt)),
		field("error", orZero(r.Error)),
		field("id", r.ID),
	)
}

func formatTokens(t api.Tokens) string {
	if t.Prompt+t.Completion == 0 {
		return ""
	}
	return fmt.Sprintf("%d in, %d out", t.Prompt, t.Completion)
}

func (a *app) agentListRuns() *cobra.Command {
	var in api.AgentRunsInput
	var l listFlags
	cmd := &cobra.Command{
		Use: "runs", Short: "List runs, newest first",
		Long: "Lists the organization's runs, including analyses, newest first.", Example: "  service agent runs --status failed",
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := fetchList(cmd.Context(), a, api.ListAgentRuns, &in, l)
			if err != nil {
				return err
			}
			return printList(a, all, []print.Column{
				fixed("created"), fixed("agent"), column("status"), optional(column("model")), idColumn(),
			}, func(r api.AgentRun) []string {
				return []string{print.FormatTime(r.CreatedAt), r.AgentID, r.Status, r.Model, r.ID}
			}, "No runs yet. Start an agent with `%s`.", a.suggestedCommandLine("agent run AGENT"))
		},
	}
	cmd.Flags().StringVar(&in.Status, "status", "", "show only runs with this status: pending, running, completed, failed or cancelled")
	cmd.Flags().StringVar(&in.AgentID, "agent", "", "show only runs of this agent")
	l.addFlags(cmd, 0)
	return cmd
}

func (a *app) agentWatchRun() *cobra.Command {
	return &cobra.Command{
		Use: "watch RUN", Short: "Watch a run until it ends",
		Long: "Shows the steps of a run as they happen, and the run's proposals when it ends.", Example: "  service agent watch RUN",
		RunE: func(cmd *cobra.Command, args []string) error { return a.followAgentRun(cmd.Context(), args[0]) },
	}
}

func (a *app) agentShowRun() *cobra.Command {
	return &cobra.Command{
		Use: "show RUN", Short: "Show a run and its proposals",
		Long: "Shows a run with its summary, proposals, assumptions and limitations.", Example: "  service agent show RUN",
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := call(cmd.Context(), a, api.GetAgentRun, &api.GetAgentRunInput{AgentRunInput: api.AgentRunInput{AgentRunID: args[0]}})
			if err != nil {
				return err
			}
			return a.printAgentRun(cmd.Context(), r)
		},
	}
}

func (a *app) agentRunSteps() *cobra.Command {
	return &cobra.Command{
		Use: "steps RUN", Short: "List the steps of a run",
		Long: "Lists the steps of a run; -o json shows their inputs and outputs.", Example: "  service agent steps RUN -o json",
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := fetchAll(
				cmd.Context(),
				a,
				api.ListAgentRunSteps,
				&api.AgentStepsInput{AgentRunInput: api.AgentRunInput{AgentRunID: args[0]}},
			)
			if err != nil {
				return err
			}
			return printList(
				a,
				all,
				[]print.Column{number(""), column("kind"), fixed("name"), number("took"), column("output")},
				func(s api.AgentStep) []string {
					out, _ := json.Marshal(s.Output)
					return []string{
						fmt.Sprint(s.Index),
						s.Kind,
						s.Name,
						fmt.Sprintf("%d ms", s.DurationMS),
						string(out),
					}
				},
				"",
			)
		},
	}
}

func (a *app) agentCompleteRun() *cobra.Command {
	var summary string
	cmd := &cobra.Command{
		Use:   "complete RUN",
		Short: "Complete a run manually",

		Long:    "Ends a run and records a result that a person provides instead of the agent.",
		Example: "  service agent complete RUN --summary 'Done in a workshop.'",
		RunE: func(cmd *cobra.Command, args []string) error {
			in := api.CompleteRunInput{AgentRunInput: api.AgentRunInput{AgentRunID: args[0]}}
			if summary != "" {
				in.Body = &struct {
					Summary   string           `json:"summary,omitempty" maxLength:"20000"`
					Proposals []map[string]any `json:"proposals,omitempty"`
				}{Summary: summary}
			}
			return callAndPrint(cmd.Context(), a, api.CompleteAgentRun, &in, renderAgentRun)
		},
	}
	cmd.Flags().StringVar(&summary, "summary", "", "summary of the result")
	return cmd
}

func (a *app) agentCancelRun() *cobra.Command {
	return &cobra.Command{
		Use: "cancel RUN", Short: "Cancel a run",
		Long: "Cancels a run. Anything it has already drafted is kept as a draft.", Example: "  service agent cancel RUN",
		RunE: func(cmd *cobra.Command, args []string) error {
			return callAndPrint(cmd.Context(), a, api.CancelAgentRun, &api.AgentRunInput{AgentRunID: args[0]}, renderAgentRun)
		},
	}
}
