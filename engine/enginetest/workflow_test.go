package enginetest_test

import (
	"bufio"
	"encoding/json"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

func (b *bench) begin(t *testing.T, assessment, kind string) *api.WorkflowRun {
	t.Helper()
	in := &api.StartWorkflowInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}}
	in.Body.WorkflowType = kind
	run, err := b.Workflows.StartRun(t.Context(), b.by, in)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// waitForRun waits until a run has the wanted status and fails if it ends with another.
func (b *bench) waitForRun(t *testing.T, id string, want api.RunStatus, words string) *api.WorkflowRun {
	t.Helper()
	f, err := b.Workflows.Watch(t.Context(), b.by, &api.WorkflowEventsInput{WorkflowInput: api.WorkflowInput{WorkflowRunID: id}})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Content.Close()
	lines := bufio.NewScanner(f.Content)
	lines.Buffer(nil, 1<<20)
	var run api.WorkflowRun
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		run = api.WorkflowRun{}
		if err := json.Unmarshal([]byte(data), &run); err != nil {
			t.Fatal(err)
		}
		if run.Status == want && (words == "" || run.WaitingFor != nil && strings.Contains(*run.WaitingFor, words)) {
			return &run
		}
		if !run.Status.IsLive() {
			break
		}
	}
	t.Fatalf("the run never was %s %q; it is %+v (%v)", want, words, run, lines.Err())
	return nil
}

// newAssessment returns an assessment with a document, in its first state.
func (b *bench) newAssessment(t *testing.T) *api.Assessment {
	t.Helper()
	b.importCatalog(t, yard1)
	return b.assess(t, "house-rules", yardDocs, api.StateDraft)
}

func (b *bench) signal(t *testing.T, id, name string) error {
	t.Helper()
	in := &api.SignalInput{WorkflowInput: api.WorkflowInput{WorkflowRunID: id}}
	in.Body.Name = name
	_, err := b.Workflows.Signal(t.Context(), b.by, in)
	return err
}

func (b *bench) reject(t *testing.T, id string) {
	t.Helper()
	in := &api.RejectInput{ApprovalInput: api.ApprovalInput{ApprovalID: id}}
	in.Body.Reason = "name an owner"
	if _, err := b.Assessments.Reject(t.Context(), b.by, in); err != nil {
		t.Fatal(err)
	}
}

// TestFullAssessmentWorkflow checks that a complete assessment runs by itself, stops at each of the
// four gates until a user has decided, and does each step once.
func TestFullAssessmentWorkflow(t *testing.T) {
	b := newBench(t)
	a := b.newAssessment(t)
	run := b.begin(t, a.ID, api.WorkflowFull)
	for _, gate := range api.Gates {
		waits := b.waitForRun(t, run.ID, api.RunApproval, gate.Title())
		if waits.ApprovalID == nil || waits.CompletedAt != nil {
			t.Fatalf("%+v", waits)
		}
		wantCode(t, "a second lifecycle run", startError(b, t, a.ID), api.CodeInvalidState)
		if err := b.approve(t, *waits.ApprovalID); err != nil {
			t.Fatal(err)
		}
	}
	done := b.waitForRun(t, run.ID, api.RunCompleted, "")
	if done.Progress != 100 || b.state(t, a.ID) != api.StateReportGenerated {
		t.Errorf("%+v", done)
	}
	for _, st := range done.Steps {
		if st.Status != api.StepCompleted || st.StartedAt == nil || st.CompletedAt == nil {
			t.Errorf("%+v", st)
		}
	}
	events, err := b.Assessments.ListEvents(
		t.Context(),
		b.by,
		&api.LifecycleEventsInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}},
	)
	if err != nil || len(events.Data) != 21 {
		t.Fatalf("%d events, %v", len(events.Data), err)
	}
	for _, e := range events.Data[1:] {
		if e.Actor.Type != api.ActorWorkflow || e.Actor.ID != run.ID {
			t.Errorf("%s was made by %+v", e.ToState, e.Actor)
		}
	}
	versions, err := b.Assessments.ListSoA(
		t.Context(),
		b.by,
		&api.AssessmentListInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}},
	)
	if err != nil || len(versions.Data) != 1 {
		t.Errorf("%+v, %v", versions, err)
	}
	wantCode(t, "a signal to a finished run", b.signal(t, run.ID, "continue"), api.CodeInvalidState)
	_, err = b.Workflows.Resume(t.Context(), b.by, &api.WorkflowInput{WorkflowRunID: run.ID})
	wantCode(t, "resuming a finished run", err, api.CodeInvalidState)
	_, err = b.Workflows.Cancel(t.Context(), b.by, &api.WorkflowInput{WorkflowRunID: run.ID})
	wantCode(t, "cancelling a finished run", err, api.CodeInvalidState)
}

func startError(b *bench, t *testing.T, assessment string) error {
	_, err := b.Workflows.StartLifecycle(t.Context(), b.by, &api.AssessmentInput{AssessmentID: assessment})
	return err
}

// TestWorkflowWaitsForRework checks that the run waits after a rejection and continues once a user
// has edited and submitted the draft.
func TestWorkflowWaitsForRework(t *testing.T) {
	b := newBench(t)
	a := b.newAssessment(t)
	run := b.begin(t, a.ID, api.WorkflowFull)
	b.waitForRun(t, run.ID, api.RunApproval, "")
	if err := b.signal(t, run.ID, "approved"); err != nil {
		t.Fatal(err)
	}
	waits := b.waitForRun(t, run.ID, api.RunApproval, "")
	if b.state(t, a.ID) != api.StateSoAUnderReview {
		t.Fatal("a signal passed the gate")
	}
	b.reject(t, *waits.ApprovalID)
	b.waitForRun(t, run.ID, api.RunInput, "rejected")

	items := b.soaItems(t, a.ID)
	item, err := b.setOwner(t, items[0].ID, "Zoë", api.Match{})
	if err != nil {
		t.Fatal(err)
	}
	b.waitForRun(t, run.ID, api.RunInput, "") // an edit alone does not end the rework
	submit := &api.SubmitSoAInput{SoAInput: api.SoAInput{SoAVersionID: item.VersionID}}
	if _, err := b.Assessments.SubmitSoA(t.Context(), b.by, submit); err != nil {
		t.Fatal(err)
	}
	waits = b.waitForRun(t, run.ID, api.RunApproval, "version 2")
	if err := b.approve(t, *waits.ApprovalID); err != nil {
		t.Fatal(err)
	}
	b.waitForRun(t, run.ID, api.RunApproval, "gap analysis")
}

// TestWorkflowCancelled checks that a canceled run stops where it is, and that another can be
// started.
func TestWorkflowCancelled(t *testing.T) {
	b := newBench(t)
	a := b.newAssessment(t)
	run := b.begin(t, a.ID, api.WorkflowFull)
	waits := b.waitForRun(t, run.ID, api.RunApproval, "")
	one := &api.WorkflowInput{WorkflowRunID: run.ID}
	if got, err := b.Workflows.Cancel(t.Context(), b.by, one); err != nil || got.Status != api.RunCancelled || got.WaitingFor != nil {
		t.Fatalf("%+v, %v", got, err)
	}
	_, err := b.Workflows.Resume(t.Context(), b.by, one)
	wantCode(t, "resuming a cancelled run", err, api.CodeInvalidState)
	if err := b.approve(t, *waits.ApprovalID); err != nil {
		t.Fatal(err)
	}
	again := b.begin(t, a.ID, api.WorkflowFull)
	b.waitForRun(t, again.ID, api.RunApproval, "gap analysis")
	if got, err := b.Workflows.Get(t.Context(), b.by, one); err != nil || got.Status != api.RunCancelled {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestSmallWorkflows checks the workflows for reading documents, new evidence and reports.
func TestSmallWorkflows(t *testing.T) {
	b := newBench(t)
	a := b.newAssessment(t)
	_, err := b.Workflows.StartRun(t.Context(), b.by, startOf(a.ID, api.WorkflowRefresh))
	wantCode(t, "a refresh of nothing", err, api.CodeInvalidState)
	b.waitForRun(t, b.begin(t, a.ID, api.WorkflowIngest).ID, api.RunCompleted, "")
	if s := b.state(t, a.ID); s != api.StateDocumentsIngested {
		t.Fatalf("the assessment is %s", s)
	}
	full := b.begin(t, a.ID, api.WorkflowFull)
	for _, gate := range api.Gates[:2] {
		if err := b.approve(t, *b.waitForRun(t, full.ID, api.RunApproval, gate.Title()).ApprovalID); err != nil {
			t.Fatal(err)
		}
	}
	b.waitForRun(t, full.ID, api.RunApproval, "maturity")
	b.upload(t, a.ID, "late.md", "# Procedures\n\nProcedures are written down and kept for five years.\n")
	refresh := b.begin(t, a.ID, api.WorkflowRefresh)
	waits := b.waitForRun(t, refresh.ID, api.RunApproval, "version 2 of the Statement of Applicability")
	if err := b.approve(t, *waits.ApprovalID); err != nil {
		t.Fatal(err)
	}
	b.waitForRun(t, refresh.ID, api.RunCompleted, "")
	d, err := b.Assessments.Snapshot(t.Context(), b.by, a.ID)
	if err != nil || d.SoA.VersionNumber != 2 || d.Gap.VersionNumber != 2 || d.Gap.Inputs["soa_version_id"] != d.SoA.ID {
		t.Errorf("SoA %+v, gap %+v, %v", d.SoA, d.Gap, err)
	}
	b.waitForRun(t, b.begin(t, a.ID, api.WorkflowReport).ID, api.RunCompleted, "")
	reports, err := b.Reports.List(t.Context(), b.by, &api.ReportsInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}})
	if err != nil || len(reports.Data) != 2 {
		t.Errorf("%+v, %v", reports, err)
	}
}

func startOf(assessment, kind string) *api.StartWorkflowInput {
	in := &api.StartWorkflowInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}}
	in.Body.WorkflowType = kind
	return in
}

func (b *bench) upload(t *testing.T, assessment, name, text string) {
	t.Helper()
	_, err := b.Evidence.Upload(t.Context(), b.by, &api.UploadDocumentInput{
		AssessmentInput: api.AssessmentInput{AssessmentID: assessment},
		File:            api.UploadFile{Filename: name, Content: strings.NewReader(text)},
	})
	if err != nil {
		t.Fatal(err)
	}
}
