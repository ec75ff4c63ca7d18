package workflowrun

import (
	"context"
	"fmt"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// step is one step of a workflow.
type step struct {
	name, title string
	// targetState is the lifecycle state that the step leads to, or "" if it is not a transition.
	targetState api.State
	run         func(ctx context.Context, s *Service, by api.Caller, run *store.WorkflowRun, st *step) error
}

// plans lists the steps of each workflow type.
var plans = map[string][]step{
	api.WorkflowFull:   lifecycleSteps(api.StateReportGenerated),
	api.WorkflowIngest: append(lifecycleSteps(api.StateDocumentsIngested), readDocumentsStep),
	api.WorkflowRefresh: {
		readDocumentsStep,
		{name: "refresh_soa", title: "refresh the evidence", run: newRefreshStep(api.GateSoA)},
		{name: "approve_soa", title: "get the Statement of Applicability approved", run: submitSoAAndAwaitApproval},
		{name: "refresh_gap_analysis", title: "refresh the gap analysis", run: newRefreshStep(api.GateGapAnalysis)},
	},
	api.WorkflowReport: {{name: "write_reports", title: "write the reports", run: writeReports}},
}

var readDocumentsStep = step{
	name:  "read_documents",
	title: "read the documents",
	run: func(ctx context.Context, s *Service, by api.Caller, run *store.WorkflowRun, _ *step) error {
		return s.evidence.WaitForDocuments(ctx, by, run.AssessmentID)
	},
}

// lifecycleSteps returns a step for each transition up to the state last, named after its target state.
func lifecycleSteps(last api.State) (out []step) {
	for _, m := range api.Moves {
		out = append(out, step{name: string(m.To), title: m.Work, targetState: m.To, run: makeTransition})
		if m.To == last {
			break
		}
	}
	return out
}

// makeTransition makes one transition, unless it has to wait for users.
func makeTransition(ctx context.Context, s *Service, by api.Caller, run *store.WorkflowRun, p *step) error {
	st, err := s.assessments.Progress(ctx, by, run.AssessmentID)
	if err != nil || st.State.HasReached(p.targetState) {
		return err
	}
	if next, ok := st.State.NextMove(); !ok || next.To != p.targetState {
		return errRecheck // the state has changed since the step was chosen
	}
	if st.GateError != nil {
		if st.PendingApprovalID == "" {
			return newWaitForInputError("%s", st.GateError.Message)
		}
		return &waitError{status: api.RunApproval, message: st.GateError.Message, approvalID: st.PendingApprovalID}
	}
	if st.ReturnReason != "" && !run.HasSignal {
		// The user may still be editing: the run continues when they submit it or send a signal.
		return newWaitForInputError("the draft was returned (%s): revise it and submit it for review", st.ReturnReason)
	}
	if run.StopForReview && st.ReadyForReview != "" {
		return newWaitForInputError("the %s has been drafted: review it, then submit it", st.ReadyForReview.Title())
	}
	in := &api.TransitionInput{AssessmentInput: api.AssessmentInput{AssessmentID: run.AssessmentID}}
	in.Body.TargetState, in.Body.Reason = p.targetState, fmt.Sprintf("step of the %s workflow", run.WorkflowType)
	in.Body.InAdvance = true // nobody has seen what the step submits
	_, err = s.assessments.Transition(ctx, by, in)
	switch {
	case api.IsCode(err, api.CodeInvalidState):
		now, progressErr := s.assessments.Progress(ctx, by, run.AssessmentID)
		if progressErr != nil {
			return progressErr
		}
		if now.State != st.State {
			return errRecheck // the state was changed concurrently
		}
		return newWaitForInputError("%s", api.AsError(err).Message)
	case api.IsCode(err, api.CodeApproval):
		return newWaitForInputError("%s", api.AsError(err).Message)
	}
	return err
}

// newRefreshStep returns a step function that drafts the deliverable of a gate again if its inputs have changed.
func newRefreshStep(gate api.Gate) func(context.Context, *Service, api.Caller, *store.WorkflowRun, *step) error {
	return func(ctx context.Context, s *Service, by api.Caller, run *store.WorkflowRun, _ *step) error {
		_, err := s.assessments.RedraftIfInputsChanged(ctx, by, run.AssessmentID, gate)
		return err
	}
}

// submitSoAAndAwaitApproval submits the latest Statement of Applicability once and waits for its approval.
func submitSoAAndAwaitApproval(ctx context.Context, s *Service, by api.Caller, run *store.WorkflowRun, p *step) error {
	st, err := s.assessments.Progress(ctx, by, run.AssessmentID)
	if err != nil {
		return err
	}
	switch st.SoAStatus {
	case api.VersionApproved:
		return nil
	case api.VersionUnderReview:
		v, err := s.assessments.GetSoA(ctx, by, &api.SoAInput{SoAVersionID: st.SoAVersionID})
		if err != nil || v.ApprovalID == nil {
			return err
		}
		return &waitError{
			status: api.RunApproval,
			message: fmt.Sprintf(
				"version %d of the Statement of Applicability is under review: an owner or admin has to approve it",
				v.VersionNumber,
			),
			approvalID: *v.ApprovalID,
		}
	case api.VersionRejected:
		return newWaitForInputError("the Statement of Applicability was rejected: revise it and submit it for review")
	}
	if run.StopForReview || stepNamed(run, p.name).Attempts > 1 && !run.HasSignal {
		return newWaitForInputError("the Statement of Applicability is being revised: submit it for review")
	}
	if _, err := s.assessments.SubmitSoA(ctx, by, &api.SubmitSoAInput{SoAInput: api.SoAInput{SoAVersionID: st.SoAVersionID}}); err != nil {
		if api.IsCode(err, api.CodeInvalidState) {
			return newWaitForInputError("%s", api.AsError(err).Message)
		}
		return err
	}
	return errRecheck
}

// writeReports writes the final reports of the run's assessment.
func writeReports(ctx context.Context, s *Service, by api.Caller, run *store.WorkflowRun, _ *step) error {
	return s.reports.WriteFinalReports(ctx, by, run.AssessmentID)
}

// documentProgressText returns how many documents have been read, or nil if the current step does not read
// documents.
func documentProgressText(tx *store.Tx, run *api.WorkflowRun) (*string, error) {
	if run.Status != api.RunRunning || run.CurrentStep != readDocumentsStep.name && run.CurrentStep != string(api.StateDocumentsIngested) {
		return nil, nil
	}
	all, read := 0, 0
	for d, err := range store.Documents.By("assessment").Scan(tx, run.OrganizationID, store.Prefix(run.AssessmentID)) {
		if err != nil {
			return nil, err
		}
		all++
		if d.Settled() {
			read++
		}
	}
	words := fmt.Sprintf("%d of %d documents read", read, all)
	return &words, nil
}
