package enginetest_test

import (
	"slices"
	"testing"

	"github.com/scf-service/service/api"
)

// TestCarriedLinesNeedReviewIfTheirVerdictDoes checks which lines of the next assessment need review: none whose status a
// user decided on the basis of the same evidence, and those with only an owner if their automatic verdict needs it. The
// earlier assessment has no further drafts yet.
func TestCarriedLinesNeedReviewIfTheirVerdictDoes(t *testing.T) {
	b := newBench(t)
	a := b.assess(t, "lgpd", policy, api.StateSoADrafted)
	var waiting []api.SoAItem
	for _, i := range b.soaItems(t, a.ID) {
		if i.NeedsReview && i.Applicability.IsApplicable() {
			waiting = append(waiting, i)
		}
	}
	if len(waiting) < 4 {
		t.Fatalf("%d lines need review", len(waiting))
	}
	planned, reviewed := api.Planned, false
	edits := map[string]*api.UpdateSoAItemInput{"status": {}, "confirmed": {}, "owner": {}}
	edits["status"].Body.ImplementationStatus = &planned
	edits["confirmed"].Body.NeedsReview = &reviewed
	edits["owner"].Body.Owner = api.Some("Zoë")
	codes := map[string]string{"untouched": waiting[3].ControlCode}
	for n, what := range []string{"status", "confirmed", "owner"} {
		edits[what].SoAItemID, codes[what] = waiting[n].ID, waiting[n].ControlCode
		if _, err := b.Assessments.UpdateSoAItem(t.Context(), b.by, edits[what]); err != nil {
			t.Fatal(err)
		}
	}
	in := &api.CreateAssessmentInput{}
	in.Body.Name, in.Body.From = "Next year", a.ID
	next, err := b.Assessments.Create(t.Context(), b.by, in)
	if err != nil || next.CarriedFrom.Decisions[api.GateSoA] != 3 {
		t.Fatalf("%+v, %v", next, err)
	}
	b.uploadAll(t, next.ID, policy)
	b.draftSoA(t, next.ID)
	items := b.soaItems(t, next.ID)
	for what, want := range map[string]bool{"status": false, "confirmed": false, "owner": true, "untouched": true} {
		at := slices.IndexFunc(items, func(i api.SoAItem) bool { return i.ControlCode == codes[what] })
		if at < 0 || items[at].NeedsReview != want || (items[at].Carried != nil) != (what != "untouched") {
			t.Errorf("%s: %+v", what, items[max(0, at)])
		}
	}
}

// TestNothingIsCarriedFromADeletedAssessment checks that an assessment can't be created from a deleted one, and that what
// was carried before stays.
func TestNothingIsCarriedFromADeletedAssessment(t *testing.T) {
	b := newBench(t)
	a := b.assess(t, "lgpd", policy, api.StateSoADrafted)
	if _, err := b.setOwner(t, b.soaItems(t, a.ID)[0].ID, "Zoë", api.Match{}); err != nil {
		t.Fatal(err)
	}
	in := &api.CreateAssessmentInput{}
	in.Body.Name, in.Body.From = "Next year", a.ID
	next, err := b.Assessments.Create(t.Context(), b.by, in)
	if err != nil {
		t.Fatal(err)
	}
	gone := &api.DeleteAssessmentInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}}
	if _, err := b.Assessments.Delete(t.Context(), b.by, gone); err != nil {
		t.Fatal(err)
	}
	in.Body.Name = "The year after"
	_, err = b.Assessments.Create(t.Context(), b.by, in)
	wantCode(t, "carrying from a deleted assessment", err, api.CodeNotFound)
	b.draftSoA(t, next.ID)
	if first := b.soaItems(t, next.ID)[0]; orNone(first.Owner) != "Zoë" || first.Carried == nil {
		t.Errorf("%+v", first.Item)
	}
}

func (b *bench) draftSoA(t *testing.T, assessment string) {
	t.Helper()
	in := &api.DraftSoAInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}}
	if _, err := b.Assessments.DraftSoA(t.Context(), b.by, in); err != nil {
		t.Fatal(err)
	}
}
