package enginetest_test

import (
	"testing"

	"github.com/scf-service/service/api"
)

// TestUndoneChangeNeedsNoApproval checks that a change of an approved version that is undone needs no other approval: at
// the gate, in the status, in reports, and when the assessment is closed. It does if that content was rejected since.
func TestUndoneChangeNeedsNoApproval(t *testing.T) {
	b, a, p := atSoAReview(t)
	if err := b.approve(t, p.ID); err != nil {
		t.Fatal(err)
	}
	edit := func() {
		t.Helper()
		if _, err := b.setOwner(t, b.soaItems(t, a.ID)[0].ID, "Zoë", api.Match{}); err != nil {
			t.Fatal(err)
		}
	}
	undo := func() {
		t.Helper()
		if _, err := b.Assessments.Undo(t.Context(), b.by, &api.UndoInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}}); err != nil {
			t.Fatal(err)
		}
	}
	status := func() *api.AssessmentStatus {
		t.Helper()
		st, err := b.Assessments.Status(t.Context(), b.by, &api.AssessmentInput{AssessmentID: a.ID})
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	approvals := func() int {
		t.Helper()
		l, err := b.Assessments.ListApprovals(
			t.Context(),
			b.by,
			&api.ApprovalsInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}, Gate: api.GateSoA},
		)
		if err != nil {
			t.Fatal(err)
		}
		return len(l.Data)
	}

	edit()
	if st := status(); len(st.BlockedBy) != 1 {
		t.Fatalf("edited after the approval, blocked by %q", st.BlockedBy)
	}
	undo()
	if st := status(); len(st.BlockedBy) > 0 || st.PendingApprovalID != nil || st.ReadyForReview != nil {
		t.Fatalf("%+v", st)
	}
	if v := b.latestSoA(t, a.ID); v.Status != api.VersionDraft || v.VersionNumber != 2 {
		t.Fatalf("%+v", v.DeliverableVersion)
	}
	if err := b.move(t, a.ID, api.StateSoAApproved); err != nil {
		t.Fatal(err)
	}
	if d := b.dossier(t, a.ID); d.SoA.Status != api.VersionApproved || d.SoA.VersionNumber != 1 || len(d.SoAItems) != d.SoA.ItemCount {
		t.Errorf("a report shows %+v", d.SoA.DeliverableVersion)
	}

	run := b.begin(t, a.ID, api.WorkflowFull)
	for _, gate := range api.Gates[1:] {
		if err := b.approve(t, *b.waitForRun(t, run.ID, api.RunApproval, gate.Title()).ApprovalID); err != nil {
			t.Fatal(err)
		}
	}
	b.waitForRun(t, run.ID, api.RunCompleted, "")
	edit()
	wantWords(t, "edited after the gate", b.outdatedNotices(t, a.ID, "unapproved"), "based on the approved version 1")
	wantCode(t, "closing an edited assessment", b.move(t, a.ID, api.StateClosed), api.CodeApproval)
	undo()
	if st := status(); len(st.Outdated)+len(st.BlockedBy) > 0 || st.ReadyForReview != nil {
		t.Errorf("%+v", st)
	}

	// A user may submit the draft all the same, and a rejection counts more than the earlier approval.
	b.submitSoA(t, b.latestSoA(t, a.ID).ID)
	wantCode(t, "closing before the decision", b.move(t, a.ID, api.StateClosed), api.CodeApproval)
	b.reject(t, b.pending(t, a.ID).ID)
	edit()
	undo()
	wantCode(t, "closing with rejected content", b.move(t, a.ID, api.StateClosed), api.CodeApproval)
	v := b.latestSoA(t, a.ID)
	b.submitSoA(t, v.ID)
	if err := b.approve(t, b.pending(t, a.ID).ID); err != nil {
		t.Fatal(err)
	}
	edit()
	undo()
	if n := approvals(); n != 3 {
		t.Errorf("there are %d approvals of the Statement of Applicability", n)
	}
	if err := b.move(t, a.ID, api.StateClosed); err != nil {
		t.Error(err)
	}
	if d := b.dossier(t, a.ID); d.SoA.ID != v.ID {
		t.Errorf("a report shows %+v", d.SoA.DeliverableVersion)
	}
}
