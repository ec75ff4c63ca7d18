package enginetest_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/scf-service/service/api"
)

var policy = fstest.MapFS{
	"policy.md": {Data: []byte("# Data protection policy\n\nPersonal data is processed only on a legal basis that is written down.\n")},
}

// atSoAReview returns a small assessment whose SoA awaits its decision.
func atSoAReview(t *testing.T) (*bench, *api.Assessment, *api.Approval) {
	t.Helper()
	b := newBench(t)
	a := b.assess(t, "lgpd", policy, api.StateSoAUnderReview)
	return b, a, b.pending(t, a.ID)
}

func (b *bench) pending(t *testing.T, assessment string) *api.Approval {
	t.Helper()
	l, err := b.Assessments.ListApprovals(
		t.Context(),
		b.by,
		&api.ApprovalsInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}, Status: api.ApprovalPending},
	)
	if err != nil || len(l.Data) != 1 {
		t.Fatalf("pending approvals: %+v, %v", l, err)
	}
	return &l.Data[0]
}

func (b *bench) state(t *testing.T, assessment string) api.State {
	t.Helper()
	a, err := b.Assessments.Get(t.Context(), b.by, &api.AssessmentInput{AssessmentID: assessment})
	if err != nil {
		t.Fatal(err)
	}
	return a.State
}

func (b *bench) move(t *testing.T, assessment string, to api.State) error {
	t.Helper()
	in := &api.TransitionInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}}
	in.Body.TargetState = to
	_, err := b.Assessments.Transition(t.Context(), b.by, in)
	return err
}

func (b *bench) approve(t *testing.T, id string) error {
	t.Helper()
	_, err := b.Assessments.Approve(t.Context(), b.by, &api.ApproveInput{ApprovalInput: api.ApprovalInput{ApprovalID: id}})
	return err
}

// setOwner sets the owner of an SoA item, as a user would.
func (b *bench) setOwner(t testing.TB, item, owner string, match api.Match) (*api.SoAItem, error) {
	t.Helper()
	in := &api.UpdateSoAItemInput{SoAItemID: item, Match: match}
	in.Body.Owner = api.Some(owner)
	return b.Assessments.UpdateSoAItem(t.Context(), b.by, in)
}

func wantCode(t *testing.T, what string, err error, code api.ErrorCode) {
	t.Helper()
	if !api.IsCode(err, code) {
		t.Errorf("%s: %v, not %s", what, err, code)
	}
}

// TestGateWaitsAndIsDecidedOnce checks that nothing passes a gate without a user's decision, and
// that a decision is made once.
func TestGateWaitsAndIsDecidedOnce(t *testing.T) {
	b, a, p := atSoAReview(t)
	wantCode(t, "through the gate", b.move(t, a.ID, api.StateSoAApproved), api.CodeApproval)
	wantCode(t, "around the gate", b.move(t, a.ID, api.StateSoAIngested), api.CodeInvalidState)
	if err := b.approve(t, p.ID); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "a second decision", b.approve(t, p.ID), api.CodeInvalidState)
	if b.state(t, a.ID) != api.StateSoAUnderReview {
		t.Error("a decision moved the state; only a transition does")
	}
	if err := b.move(t, a.ID, api.StateSoAApproved); err != nil {
		t.Error(err)
	}
}

// TestWhoDecides checks that only admins and owners decide, and no workflow.
func TestWhoDecides(t *testing.T) {
	b, _, p := atSoAReview(t)
	robot := b.by
	robot.Actor = api.Actor{Type: api.ActorWorkflow, ID: "w", Name: "workflow"}
	_, err := b.Assessments.Approve(t.Context(), robot, &api.ApproveInput{ApprovalInput: api.ApprovalInput{ApprovalID: p.ID}})
	wantCode(t, "a workflow decides", err, api.CodeForbidden)
	if api.RoleMember.May(api.ApprovalDecide) {
		t.Error("a member may decide")
	}
}

// TestChangeUnderReviewVoidsTheApproval checks that a change under review voids the approval and
// moves the assessment back.
func TestChangeUnderReviewVoidsTheApproval(t *testing.T) {
	b, a, p := atSoAReview(t)
	items := b.soaItems(t, a.ID)
	if _, err := b.setOwner(t, items[0].ID, "Zoë", api.Match{}); err != nil {
		t.Fatal(err)
	}
	got, err := b.Assessments.GetApproval(t.Context(), b.by, &api.ApprovalInput{ApprovalID: p.ID})
	if err != nil || got.Status != api.ApprovalRejected || !got.Void || got.Reason == nil {
		t.Errorf("%+v, %v", got, err)
	}
	wantCode(t, "approving what is void", b.approve(t, p.ID), api.CodeInvalidState)
	if s := b.state(t, a.ID); s != api.StateSoADrafted {
		t.Errorf("the assessment is %s", s)
	}
	if err := b.move(t, a.ID, api.StateSoAUnderReview); err != nil {
		t.Fatal(err)
	}
	if again := b.pending(t, a.ID); again.TargetSHA256 == p.TargetSHA256 {
		t.Error("other content is asked for under the same hash")
	}
}

// TestRejectionIsReworked checks that a rejection requires a reason, returns to the draft, and
// requires a change before the next submission.
func TestRejectionIsReworked(t *testing.T) {
	b, a, p := atSoAReview(t)
	reject := &api.RejectInput{ApprovalInput: api.ApprovalInput{ApprovalID: p.ID}}
	reject.Body.Reason = "name an owner"
	if _, err := b.Assessments.Reject(t.Context(), b.by, reject); err != nil {
		t.Fatal(err)
	}
	if s := b.state(t, a.ID); s != api.StateSoADrafted {
		t.Fatalf("the assessment is %s", s)
	}
	wantCode(t, "submitting what was rejected", b.move(t, a.ID, api.StateSoAUnderReview), api.CodeInvalidState)
	before := b.soaItems(t, a.ID)
	item, err := b.setOwner(t, before[0].ID, "Zoë", api.Match{})
	if err != nil {
		t.Fatal(err)
	}
	if item.ID == before[0].ID || item.VersionID == before[0].VersionID {
		t.Error("a decided version was changed, not followed by the next")
	}
	if err := b.move(t, a.ID, api.StateSoAUnderReview); err != nil {
		t.Error(err)
	}
	versions, err := b.Assessments.ListSoA(
		t.Context(),
		b.by,
		&api.AssessmentListInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}},
	)
	if err != nil || len(versions.Data) != 2 || versions.Data[1].Status != api.VersionRejected {
		t.Errorf("%+v, %v", versions, err)
	}
}

// TestApprovedVersionsStay checks that an approved version never changes: an edit starts the next
// draft.
func TestApprovedVersionsStay(t *testing.T) {
	b, a, p := atSoAReview(t)
	if err := b.approve(t, p.ID); err != nil {
		t.Fatal(err)
	}
	old, err := b.Assessments.GetSoA(t.Context(), b.by, &api.SoAInput{SoAVersionID: p.TargetID})
	if err != nil {
		t.Fatal(err)
	}
	items := b.soaItems(t, a.ID)
	changed, err := b.setOwner(t, items[0].ID, "Zoë", api.Match{})
	if err != nil {
		t.Fatal(err)
	}
	now, err := b.Assessments.GetSoA(t.Context(), b.by, &api.SoAInput{SoAVersionID: p.TargetID})
	if err != nil || now.ContentSHA256 != old.ContentSHA256 || now.Status != api.VersionApproved {
		t.Errorf("%+v, %v", now, err)
	}
	next, err := b.Assessments.GetSoA(t.Context(), b.by, &api.SoAInput{SoAVersionID: changed.VersionID})
	if err != nil || next.VersionNumber != 2 || next.Status != api.VersionDraft {
		t.Errorf("%+v, %v", next, err)
	}
	err = b.move(t, a.ID, api.StateSoAApproved)
	wantCode(t, "passing with the newer draft unapproved", err, api.CodeApproval)
	// The draft was submitted, so that there is something to approve.
	pending := b.pending(t, a.ID)
	if e := api.AsError(err); len(e.Details) != 1 || e.Details[0].ApprovalID == nil || *e.Details[0].ApprovalID != pending.ID ||
		pending.TargetID != next.ID {
		t.Fatalf("the approval to decide: %v of %+v, pending is %+v", err, e.Details, pending)
	}
	if err := b.approve(t, pending.ID); err != nil {
		t.Fatal(err)
	}
	if err := b.move(t, a.ID, api.StateSoAApproved); err != nil {
		t.Error(err)
	}
}

// TestRegenerateKeepsEdits checks that a new draft keeps users' edits and lists their controls.
func TestRegenerateKeepsEdits(t *testing.T) {
	b := newBench(t)
	a := b.assess(t, "lgpd", policy, api.StateSoADrafted)
	items := b.soaItems(t, a.ID)
	edited, err := b.setOwner(t, items[0].ID, "Zoë", api.Match{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := b.Assessments.RegenerateSoA(t.Context(), b.by, &api.SoAInput{SoAVersionID: edited.VersionID})
	if err != nil || len(v.Kept) != 1 || v.Kept[0] != edited.ControlCode {
		t.Fatalf("%+v, %v", v, err)
	}
	for _, i := range b.soaItems(t, a.ID) {
		if i.ControlCode == edited.ControlCode && (i.Owner == nil || *i.Owner != "Zoë") {
			t.Errorf("after regenerating: %+v", i)
		}
	}
}

// TestStaleEditIsRefused checks that an edit based on an old revision is rejected.
func TestStaleEditIsRefused(t *testing.T) {
	b := newBench(t)
	a := b.assess(t, "lgpd", policy, api.StateSoADrafted)
	item := b.soaItems(t, a.ID)[0]
	if _, err := b.setOwner(t, item.ID, "Zoë", api.Match{IfMatch: `"1"`}); err != nil {
		t.Fatal(err)
	}
	_, err := b.setOwner(t, item.ID, "Yan", api.Match{IfMatch: `"1"`})
	wantCode(t, "a stale edit", err, api.CodeValidation)
}

// TestExclusionWantsAReason checks that excluding a control requires a specific reason, and that
// the control is then not assessed.
func TestExclusionWantsAReason(t *testing.T) {
	b := newBench(t)
	a := b.assess(t, "lgpd", policy, api.StateSoADrafted)
	out := api.NotApplicable
	in := &api.UpdateSoAItemInput{SoAItemID: b.soaItems(t, a.ID)[0].ID}
	in.Body.Applicability = &out
	_, err := b.Assessments.UpdateSoAItem(t.Context(), b.by, in)
	wantCode(t, "an exclusion without a reason", err, api.CodeValidation)
	why := "We hold no personal data."
	in.Body.Rationale = &why
	item, err := b.Assessments.UpdateSoAItem(t.Context(), b.by, in)
	if err != nil || item.ImplementationStatus != api.NotAssessed || item.Rationale != why {
		t.Errorf("%+v, %v", item, err)
	}
}

// TestClosingWantsWhatIsApproved checks that an assessment with unapproved changes can't be closed.
func TestClosingWantsWhatIsApproved(t *testing.T) {
	b := newBench(t)
	a := b.assess(t, "lgpd", policy, api.StateSoAUnderReview)
	for b.state(t, a.ID) != api.StateReportGenerated {
		next, _ := b.state(t, a.ID).NextMove()
		if next.Gate != "" {
			if err := b.approve(t, b.pending(t, a.ID).ID); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.move(t, a.ID, next.To); err != nil {
			t.Fatalf("to %s: %v", next.To, err)
		}
	}
	if _, err := b.setOwner(t, b.soaItems(t, a.ID)[0].ID, "Zoë", api.Match{}); err != nil {
		t.Fatal(err)
	}
	st, err := b.Assessments.Status(t.Context(), b.by, &api.AssessmentInput{AssessmentID: a.ID})
	if err != nil || len(st.BlockedBy) != 1 || !strings.Contains(st.BlockedBy[0], "Statement of Applicability") {
		t.Errorf("%+v, %v", st, err)
	}
	wantCode(t, "closing", b.move(t, a.ID, api.StateClosed), api.CodeApproval)
}

// TestBadDocumentsAreListed checks that an unreadable document doesn't stop the others and shows
// its error.
func TestBadDocumentsAreListed(t *testing.T) {
	b := newBench(t)
	files := fstest.MapFS{
		"empty.txt": {}, "cut.pdf": {Data: []byte("%PDF-1.7\n1 0 obj <<")}, "program.docx": {Data: []byte("MZ\x90\x00\x03\x00\x00\x00")},
		"archive.docx": {Data: []byte("PK\x03\x04 not really")}, "good.md": policy["policy.md"],
	}
	a := b.assess(t, "lgpd", files, api.StateDocumentsIngested)
	l, err := b.Evidence.List(t.Context(), b.by, &api.DocumentsInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}})
	if err != nil || len(l.Data) != len(files) {
		t.Fatalf("%+v, %v", l, err)
	}
	for _, d := range l.Data {
		good := d.Filename == "good.md"
		if good != (d.Status == api.DocumentIngested) || good != (d.Error == nil) {
			t.Errorf("%s is %s: %v", d.Filename, d.Status, d.Error)
		}
	}
	events, err := b.Assessments.ListEvents(
		t.Context(),
		b.by,
		&api.LifecycleEventsInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}},
	)
	if err != nil || len(events.Data) != 3 || len(events.Data[2].Warnings) != len(files)-1 {
		t.Errorf("%+v, %v", events, err)
	}
}
