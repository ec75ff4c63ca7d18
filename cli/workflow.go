package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

func (a *app) workflowCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "workflow", Short: "Run the steps of an assessment on the server, pausing at each decision",
		Long: `A workflow runs the steps of an assessment in order and pauses where a
person has to decide. After a crash, it resumes where it stopped.

  full_assessment  perform all steps of the lifecycle, up to the reports
  ingest           read the uploaded documents
  gap_refresh      process new evidence, get the SoA approved again, and regenerate the gaps
  report           create the reports`,
		Example: "  service workflow start\n  service workflow watch\n  service workflow list",
	}, a.workflowStart(), a.workflowList(), a.workflowShow(), a.workflowWatch(), a.workflowCancel(), a.workflowResume(), a.workflowSignal())
}

func (a *app) workflowStart() *cobra.Command {
	var detach bool
	var startAt string
	cmd := &cobra.Command{
		Use: "start [TYPE]", Short: "Start a workflow and follow it",
		Long: `Starts a workflow (default: full_assessment) for the assessment and follows it until it
waits for a person or ends. The exit code is 4 if the workflow waits for an approval, and 3 if
it failed. With --no-wait, the command returns immediately. If no daemon runs on the data folder,
a workflow makes progress only while a command is running; the next command resumes it.`,
		Example: "  service workflow start\n  service workflow start gap_refresh --no-wait\n" +
			"  service workflow start report --at 2026-12-01T06:00:00Z",
		ValidArgsFunction: cobra.FixedCompletions(api.WorkflowTypes, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			in := &api.StartWorkflowInput{}
			in.Body.WorkflowType = api.WorkflowFull
			if len(args) > 0 {
				in.Body.WorkflowType = args[0]
			}
			if err := checkOneOfOrEmpty("workflow", in.Body.WorkflowType, api.WorkflowTypes); err != nil {
				return err
			}
			if startAt != "" {
				at, err := time.Parse(time.RFC3339, startAt)
				if err != nil {
					return usageError("invalid --at %q; use a time such as 2026-12-01T06:00:00Z", startAt)
				}
				in.Body.StartAt = &at
			}
			one, err := a.currentAssessment(cmd.Context())
			if err != nil {
				return err
			}
			in.AssessmentID = one.ID
			run, err := call(cmd.Context(), a, api.StartWorkflow, in)
			if err != nil {
				return withHint(err, "check the progress of the workflow with `%s`", a.suggestedCommandLine("workflow list"))
			}
			if detach || in.Body.StartAt != nil {
				return a.out.Print(run, func(p *print.Page) { a.renderWorkflowRun(p, run) })
			}
			return a.watchWorkflowRun(cmd.Context(), run.ID)
		},
	}
	cmd.Flags().BoolVar(&detach, "no-wait", false, "return immediately, without following the workflow")
	cmd.Flags().StringVar(&startAt, "at", "", "time to start the workflow at, e.g. 2026-12-01T06:00:00Z")
	return cmd
}

func (a *app) workflowList() *cobra.Command {
	var in api.WorkflowsInput
	var l listFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the workflow runs of the assessment, newest first",

		Long:    "Lists workflow runs with their progress and what each run is waiting for.",
		Example: "  service workflow list\n  service workflow list --status failed -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			one, err := a.currentAssessment(cmd.Context())
			if err != nil {
				return err
			}
			in.AssessmentID = one.ID
			all, err := fetchList(cmd.Context(), a, api.ListWorkflows, &in, l)
			if err != nil {
				return err
			}
			return printList(a, all, []print.Column{
				fixed("workflow"), column("status"), number("done"), optional(column("step")),
				optional(column("started")), optional(column("waits for")), idColumn(),
			}, func(r api.WorkflowRun) []string {
				return []string{
					r.WorkflowType, prose.Humanize(r.Status), fmt.Sprintf("%d%%", r.Progress), prose.Humanize(r.CurrentStep),
					print.FormatTime(r.CreatedAt), orZero(r.WaitingFor) + orZero(r.Error), r.ID,
				}
			}, "No matching workflow runs. Start a run with `%s`.", a.suggestedCommandLine("workflow start"))
		},
	}
	addChoiceFlag(cmd.Flags(), &in.Status, "status", in.Status.Values(), "only runs with this status")
	addChoiceFlag(cmd.Flags(), &in.WorkflowType, "type", api.WorkflowTypes, "only runs of this type of workflow")
	l.addFlags(cmd, 0)
	return cmd
}

// resolveRunID returns the ID of the workflow run given as an argument or, without arguments, of the newest
// run of the current assessment.
func (a *app) resolveRunID(ctx context.Context, args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	one, err := a.currentAssessment(ctx)
	if err != nil {
		return "", err
	}
	all, err := call(
		ctx,
		a,
		api.ListWorkflows,
		&api.WorkflowsInput{AssessmentInput: api.AssessmentInput{AssessmentID: one.ID}, Paging: api.Paging{Limit: 1}},
	)
	if err != nil {
		return "", err
	}
	if len(all.Data) == 0 {
		return "", withHint(runtimeError("%q has no workflow runs yet", one.Name), "start a run with `%s`",
			a.suggestedCommandLine("workflow start"))
	}
	return all.Data[0].ID, nil
}

// newWorkflowRunCommand returns a command that performs an action on a workflow run and then shows the run.
func (a *app) newWorkflowRunCommand(
	use, short, long, example string,
	do func(ctx context.Context, id string) (*api.WorkflowRun, error),
) *cobra.Command {
	return &cobra.Command{
		Use: use + " [ID]", Short: short, Long: long, Example: example,
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := a.resolveRunID(cmd.Context(), args)
			if err != nil {
				return err
			}
			run, err := do(cmd.Context(), id)
			if err != nil {
				return err
			}
			return a.out.Print(run, func(p *print.Page) { a.renderWorkflowRun(p, run) })
		},
	}
}

func (a *app) workflowShow() *cobra.Command {
	return a.newWorkflowRunCommand(
		"show",
		"Show a run with its steps",
		"Shows a workflow run (default: the newest) with its steps and what it is waiting for.",
		"  service workflow show\n  service workflow show ID -o json",
		func(ctx context.Context, id string) (*api.WorkflowRun, error) {
			return call(ctx, a, api.GetWorkflow, &api.GetWorkflowInput{WorkflowInput: api.WorkflowInput{WorkflowRunID: id}})
		},
	)
}

func (a *app) workflowCancel() *cobra.Command {
	return a.newWorkflowRunCommand(
		"cancel",
		"Cancel a run",
		"Ends a workflow run permanently. The results of completed steps are kept; the current step is interrupted.",
		"  service workflow cancel",
		func(ctx context.Context, id string) (*api.WorkflowRun, error) {
			return call(ctx, a, api.CancelWorkflow, &api.WorkflowInput{WorkflowRunID: id})
		},
	)
}

func (a *app) workflowResume() *cobra.Command {
	var detach bool
	cmd := &cobra.Command{
		Use: "resume [ID]", Short: "Resume a failed or waiting run and follow it",
		Long:    "Resumes a failed run at the step that failed. For a waiting run, immediately checks whether it can\ncontinue. Canceled and completed runs can't be resumed.",
		Example: "  service workflow resume\n  service workflow resume ID --no-wait",
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := a.resolveRunID(cmd.Context(), args)
			if err != nil {
				return err
			}
			run, err := call(cmd.Context(), a, api.ResumeWorkflow, &api.WorkflowInput{WorkflowRunID: id})
			if err != nil {
				return err
			}
			if detach {
				return a.out.Print(run, func(p *print.Page) { a.renderWorkflowRun(p, run) })
			}
			return a.watchWorkflowRun(cmd.Context(), id)
		},
	}
	cmd.Flags().BoolVar(&detach, "no-wait", false, "return immediately, without following the workflow")
	return cmd
}

func (a *app) workflowSignal() *cobra.Command {
	var payload string
	cmd := &cobra.Command{
		Use: "signal NAME [ID]", Short: "Send a signal to a workflow run",
		Long:    "Makes a waiting run check whether it can continue. A signal is not a decision and doesn't approve\nanything.",
		Example: "  service workflow signal continue\n  service workflow signal evidence_added --payload '{\"by\": \"IT\"}'",
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := a.resolveRunID(cmd.Context(), args[1:])
			if err != nil {
				return err
			}
			in := &api.SignalInput{WorkflowInput: api.WorkflowInput{WorkflowRunID: id}}
			in.Body.Name = args[0]
			if payload != "" {
				if err := json.Unmarshal([]byte(payload), &in.Body.Payload); err != nil {
					return usageError("--payload must be a JSON object: %v", err)
				}
			}
			return callAndPrint(cmd.Context(), a, api.SignalWorkflow, in, a.renderWorkflowRun)
		},
	}
	cmd.Flags().StringVar(&payload, "payload", "", "JSON object to send with the signal")
	return cmd
}

func (a *app) workflowWatch() *cobra.Command {
	return &cobra.Command{
		Use: "watch [ID]", Short: "Watch a workflow run until it waits or ends",
		Long:    "Shows the progress of a run (default: the newest) step by step. The exit code is 4 if the run awaits\nan approval, and 3 if it failed.",
		Example: "  service workflow watch",
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := a.resolveRunID(cmd.Context(), args)
			if err != nil {
				return err
			}
			return a.watchWorkflowRun(cmd.Context(), id)
		},
	}
}

// watchWorkflowRun shows the progress of a run until it waits for a user or ends.
func (a *app) watchWorkflowRun(ctx context.Context, id string) error {
	reported := map[string]bool{}
	first, last := true, ""
	for {
		run, err := a.streamRunEvents(ctx, id, last, func(run *api.WorkflowRun) bool {
			for _, st := range run.Steps {
				if st.Status == api.StepCompleted && !reported[st.Name] {
					reported[st.Name] = true
					if !first { // completed steps are not repeated
						a.progress.Done("%s", prose.Capitalize(st.Title))
					}
				}
			}
			first = false
			a.progress.Update("%s", progressLine(run))
			return isRunIdle(run)
		}, func() { a.progress.Start("workflow") })
		if err != nil {
			return err
		}
		if run != nil && isRunIdle(run) {
			a.progress.Done("")
			return a.printRunAndExitError(run)
		}
		if run != nil {
			last = fmt.Sprint(run.Revision)
		}
	}
}

// isRunIdle reports whether a workflow run has stopped until a user acts.
func isRunIdle(run *api.WorkflowRun) bool {
	return !run.Status.IsLive() || run.Status.IsWaitingForUser()
}

// streamRunEvents reads the event stream of a workflow run until visit returns true. It returns the last
// known state of the run, or nil if no event arrived.
func (a *app) streamRunEvents(
	ctx context.Context,
	id, lastEventID string,
	visit func(*api.WorkflowRun) bool,
	begin func(),
) (*api.WorkflowRun, error) {
	f, err := call(
		ctx,
		a,
		api.WatchWorkflow,
		&api.WorkflowEventsInput{WorkflowInput: api.WorkflowInput{WorkflowRunID: id}, LastEventID: lastEventID},
	)
	if err != nil {
		return nil, err
	}
	defer f.Content.Close()
	begin()
	var run *api.WorkflowRun
	lines := bufio.NewReader(f.Content)
	for {
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return run, nil
		}
		if err != nil {
			return nil, fmt.Errorf("following the workflow: %w", err)
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		run = &api.WorkflowRun{}
		if err := json.Unmarshal([]byte(data), run); err != nil {
			return nil, fmt.Errorf("the server sent a workflow event that can't be read: %w", err)
		}
		if visit(run) {
			return run, nil
		}
	}
}

// barWidth is the width of a progress bar.
const barWidth = 24

// progressBar draws a progress bar.
func progressBar(percent int) string {
	full := min(max(percent, 0), 100) * barWidth / 100
	return strings.Repeat("█", full) + strings.Repeat("░", barWidth-full)
}

// progressLine returns a run's progress bar with its current step.
func progressLine(run *api.WorkflowRun) string {
	words := fmt.Sprintf("%s %3d%%  %s", progressBar(run.Progress), run.Progress, currentStepTitle(run))
	if run.Detail != nil {
		words += ": " + *run.Detail
	}
	return words
}

// currentStepTitle returns the title of a run's current step.
func currentStepTitle(run *api.WorkflowRun) string {
	at := slices.IndexFunc(run.Steps, func(st api.WorkflowStep) bool { return st.Name == run.CurrentStep })
	if at < 0 {
		return prose.Humanize(run.CurrentStep)
	}
	return run.Steps[at].Title
}

// printRunAndExitError prints a workflow run that is waiting or has ended. It returns an error with the
// corresponding exit code, or nil.
func (a *app) printRunAndExitError(run *api.WorkflowRun) error {
	if err := a.out.Print(run, func(p *print.Page) { a.renderWorkflowRun(p, run) }); err != nil {
		return err
	}
	switch run.Status {
	case api.RunApproval:
		return &exitError{
			code: exitApproval,
			err:  errors.New(orZero(run.WaitingFor)),
			hint: fmt.Sprintf(
				"decide with `%s` or `%s`. The workflow then continues; follow its progress with `%s`",
				a.suggestedCommandLine(
					"approval approve "+orZero(run.ApprovalID),
				),
				a.suggestedCommandLine("approval reject "+orZero(run.ApprovalID)+" --reason '…'"),
				a.suggestedCommandLine("workflow watch"),
			),
		}
	case api.RunInput:
		return &exitError{
			code: exitApproval,
			err:  errors.New(orZero(run.WaitingFor)),
			hint: fmt.Sprintf("afterwards, run `%s`", a.suggestedCommandLine("workflow signal continue")),
		}
	case api.RunFailed:
		return withHint(
			runtimeError("the workflow failed: %s", orZero(run.Error)),
			"retry the step with `%s`",
			a.suggestedCommandLine("workflow resume"),
		)
	}
	return nil
}

func (a *app) renderWorkflowRun(p *print.Page, run *api.WorkflowRun) {
	p.Title("%s: %s", run.WorkflowType, prose.Humanize(run.Status))
	p.Text("%s %d%%", progressBar(run.Progress), run.Progress)
	for _, st := range run.Steps {
		mark := map[string]string{
			api.StepCompleted: "✓",
			api.StepRunning:   "▶",
			api.StepWaiting:   "▶",
			api.StepFailed:    "✗",
			api.StepCancelled: "✗",
		}[st.Status]
		if mark == "" {
			mark = "·"
		}
		words := ""
		if st.Error != nil {
			words = ": " + *st.Error
		}
		p.Text("  %s %s%s", mark, st.Title, words)
	}
	p.Blank()
	begins := ""
	if run.NotBefore != nil {
		begins = print.FormatTime(*run.NotBefore)
	}
	p.Fields(
		field("waits for", orZero(run.WaitingFor)),
		field("approval", orZero(run.ApprovalID)),
		field("not before", begins),
		field("error", orZero(run.Error)),
		field("started", joinNonEmpty(print.FormatTime(run.CreatedAt), run.StartedBy.Name)),
		field("ended", formatTimePtr(run.CompletedAt)),
		field("id", run.ID),
	)
}
