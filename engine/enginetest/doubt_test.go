package enginetest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment"
)

// outdatedNotices returns an assessment's notices with this reason.
func (b *bench) outdatedNotices(t *testing.T, a, reason string) (out []string) {
	t.Helper()
	st, err := b.Assessments.Status(t.Context(), b.by, &api.AssessmentInput{AssessmentID: a})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range st.Outdated {
		if reason == "" || o.Reason == reason {
			out = append(out, o.Message)
		}
	}
	return out
}

func (b *bench) lastEvent(t *testing.T, a string) api.LifecycleEvent {
	t.Helper()
	l, err := b.Assessments.ListEvents(
		t.Context(),
		b.by,
		&api.LifecycleEventsInput{AssessmentInput: api.AssessmentInput{AssessmentID: a}, Paging: api.Paging{Limit: api.MaxListLimit}},
	)
	if err != nil || len(l.Data) == 0 {
		t.Fatalf("%v, %v", l, err)
	}
	return l.Data[len(l.Data)-1]
}

func (b *bench) submitSoA(t *testing.T, version string) {
	t.Helper()
	if _, err := b.Assessments.SubmitSoA(t.Context(), b.by, &api.SubmitSoAInput{SoAInput: api.SoAInput{SoAVersionID: version}}); err != nil {
		t.Fatal(err)
	}
}

func wantWords(t *testing.T, what string, in []string, words ...string) {
	t.Helper()
	if len(words) == 0 && len(in) > 0 {
		t.Errorf("%s: %q", what, in)
	}
	for _, w := range words {
		if !slices.ContainsFunc(in, func(s string) bool { return strings.Contains(s, w) }) {
			t.Errorf("%s: %q has no %q", what, in, w)
		}
	}
}

// TestDecidingOnWhatIsSuperseded checks that a decision on a superseded basis is marked in the
// approval, in the transition's event, and after closing.
func TestDecidingOnWhatIsSuperseded(t *testing.T) {
	b := newBench(t)
	a := b.newAssessment(t).ID
	b.completeAssessment(t, a)
	wantWords(t, "at first", b.outdatedNotices(t, a, ""))

	items := b.soaItems(t, a)
	edited, err := b.setOwner(t, items[0].ID, "Zoë", api.Match{})
	if err != nil {
		t.Fatal(err)
	}
	wantWords(t, "a newer draft", b.outdatedNotices(t, a, "unapproved"), "is a draft; the rest of the assessment is based on the approved version 1")
	b.submitSoA(t, edited.VersionID)
	wantWords(t, "what its decider is told", b.pending(t, a).Warnings, "under review; the rest of the assessment is based on the approved version 1")
	if err := b.approve(t, b.pending(t, a).ID); err != nil {
		t.Fatal(err)
	}
	wantWords(t, "decided", b.outdatedNotices(t, a, "unapproved"))
	stale := "gap analysis is based on version 1 of the Statement of Applicability; version 2 is approved"
	wantWords(t, "what rests on it", b.outdatedNotices(t, a, "source"), stale, "maturity assessment is based on version 1")

	if err := b.move(t, a, api.StateClosed); err != nil {
		t.Fatal(err)
	}
	wantWords(t, "the event", b.lastEvent(t, a).Warnings, stale)
	wantWords(t, "after closing", b.outdatedNotices(t, a, "source"), stale)
}

// TestPlanBeforeItsBasis checks that a plan may be decided before the deliverables it is based on, and that this is
// shown as long as it is the case.
func TestPlanBeforeItsBasis(t *testing.T) {
	b, a := newPlannedAssessment(t, "lgpd")
	d := b.dossier(t, a)
	submit := &api.SubmitPOAMInput{POAMInput: api.POAMInput{POAMVersionID: d.POAM.ID}}
	if _, err := b.Assessments.SubmitPOAM(t.Context(), b.by, submit); err != nil {
		t.Fatal(err)
	}
	early := "Version 1 of the gap analysis is a draft, and version 1 of the POA&M, which is based on this version, is under review"
	wantWords(t, "the approval", b.pending(t, a).Warnings, early)
	if err := b.approve(t, b.pending(t, a).ID); err != nil {
		t.Fatal(err)
	}
	wantWords(t, "the status", b.outdatedNotices(t, a, "unapproved"), "POA&M, which is based on this version, is approved")
	l, err := b.Assessments.ListApprovals(t.Context(), b.by, &api.ApprovalsInput{AssessmentInput: api.AssessmentInput{AssessmentID: a}})
	if err != nil {
		t.Fatal(err)
	}
	wantWords(t, "what was known then", l.Data[0].Warnings, early)
}

// TestPlanNamesItsLevels checks that the plan names its target levels and becomes outdated when
// they change.
func TestPlanNamesItsLevels(t *testing.T) {
	b, a := newPlannedAssessment(t, "lgpd")
	in := &api.AssessmentInput{AssessmentID: a}
	if _, err := b.Assessments.DraftMaturity(t.Context(), b.by, in); err != nil {
		t.Fatal(err)
	}
	b.planAgain(t, a)
	d := b.dossier(t, a)
	if d.POAM.Inputs["maturity_version_id"] != d.Maturity.ID || d.POAM.Inputs["maturity_sha256"] != d.Maturity.ContentSHA256 {
		t.Errorf("made from %v, and the levels are %s", d.POAM.Inputs, d.Maturity.ID)
	}
}

// TestSameLevelsStand checks that approved levels are kept if a new draft by a user or an agent would have the same
// levels.
func TestSameLevelsStand(t *testing.T) {
	b := newBench(t)
	a := b.newAssessment(t).ID
	b.completeAssessment(t, a)
	was := b.dossier(t, a)
	again, err := b.Assessments.RegenerateMaturity(t.Context(), b.by, &api.MaturityInput{MaturityVersionID: was.Maturity.ID})
	if err != nil || again.ID != was.Maturity.ID {
		t.Errorf("version %d in place of %d, %v", again.VersionNumber, was.Maturity.VersionNumber, err)
	}
	for _, agent := range []string{"maturity-assessor", "poam-planner", "gap-analyst", "scope-soa-architect"} {
		run, err := b.Agents.StartAssessmentRun(
			t.Context(),
			b.by,
			&api.StartAssessmentRunInput{AssessmentInput: api.AssessmentInput{AssessmentID: a}, Body: api.StartRunBody{AgentID: agent}},
		)
		if err != nil {
			t.Fatal(err)
		}
		ended(t, b.Engine, b.by, run.ID)
	}
	versions := func(d *assessment.Snapshot) [4]int {
		return [4]int{d.SoA.VersionNumber, d.Gap.VersionNumber, d.Maturity.VersionNumber, d.POAM.VersionNumber}
	}
	if now := b.dossier(t, a); versions(now) != versions(was) {
		t.Errorf("agents drafted %v over %v, which say the same", versions(now), versions(was))
	}
}

// TestChangesAreInTheTimeline checks that users' changes are in the timeline and count as the last
// activity.
func TestChangesAreInTheTimeline(t *testing.T) {
	b, a, _ := atSoAReview(t)
	if _, err := b.setOwner(t, b.soaItems(t, a.ID)[0].ID, "Zoë", api.Match{}); err != nil {
		t.Fatal(err)
	}
	l, err := b.Assessments.Timeline(
		t.Context(),
		b.by,
		&api.TimelineInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}, Type: "soa.item_changed"},
	)
	if err != nil || len(l.Data) != 1 || !strings.HasSuffix(l.Data[0].Summary, "in the Statement of Applicability: owner") {
		t.Errorf("%+v, %v", l, err)
	}
}
