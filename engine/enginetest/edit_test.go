package enginetest_test

import (
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

// TestWhatCountsAsReview checks that setting an owner or a note doesn't count as a review of the
// line, also in the next draft.
func TestWhatCountsAsReview(t *testing.T) {
	b := newBench(t)
	a := b.assess(t, "lgpd", policy, api.StateSoADrafted)
	var waits []api.SoAItem
	for _, i := range b.soaItems(t, a.ID) {
		if i.NeedsReview {
			waits = append(waits, i)
		}
	}
	if len(waits) < 4 {
		t.Fatalf("%d lines need a review", len(waits))
	}
	word, planned, part, no := "Zoë", api.Planned, api.PartiallyApplicable, false
	var edits [4]api.UpdateSoAItemInput
	edits[0].Body.Owner, edits[0].Body.Note = api.Some(word), api.Some(word)
	edits[1].Body.ImplementationStatus = &planned
	edits[2].Body.Applicability = &part
	edits[3].Body.NeedsReview = &no
	var version string
	for n, in := range edits {
		in.SoAItemID = waits[n].ID
		got, err := b.Assessments.UpdateSoAItem(t.Context(), b.by, &in)
		if err != nil || got.NeedsReview != (n == 0) {
			t.Fatalf("edit %d: %+v, %v", n, got, err)
		}
		version = got.VersionID
	}
	if _, err := b.Assessments.RegenerateSoA(t.Context(), b.by, &api.SoAInput{SoAVersionID: version}); err != nil {
		t.Fatal(err)
	}
	for _, i := range b.soaItems(t, a.ID) {
		for n := range edits {
			if i.ControlCode == waits[n].ControlCode && i.NeedsReview != (n == 0) {
				t.Errorf("drafted again, edit %d: %+v", n, i)
			}
		}
	}
}

// TestCriteriaFollowTheLevel checks that a level set by a user has that level's texts, also in the
// next draft.
func TestCriteriaFollowTheLevel(t *testing.T) {
	b := newBench(t)
	a := b.assess(t, "lgpd", policy, api.StateSoADrafted)
	of := &api.AssessmentInput{AssessmentID: a.ID}
	v, err := b.Assessments.DraftMaturity(t.Context(), b.by, of)
	if err != nil {
		t.Fatal(err)
	}
	first := func() api.MaturityScore {
		t.Helper()
		l, err := b.Assessments.ListScores(
			t.Context(),
			b.by,
			&api.MaturityScoresInput{MaturityInput: api.MaturityInput{MaturityVersionID: v.ID}},
		)
		if err != nil || len(l.Data) == 0 {
			t.Fatal(l, err)
		}
		return l.Data[0]
	}
	set := func(level int) *api.MaturityScore {
		t.Helper()
		in := &api.UpdateMaturityScoreInput{MaturityScoreInput: api.MaturityScoreInput{MaturityScoreID: first().ID}}
		in.Body.Level = &level
		got, err := b.Assessments.UpdateScore(t.Context(), b.by, in)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	three, four, five := set(3), set(4), set(5)
	if three.Criteria == "" || three.NextCriteria != four.Criteria || four.NextCriteria != five.Criteria || five.NextCriteria != "" ||
		three.Criteria == four.Criteria {
		t.Errorf(
			"level 3 asks %q then %q, 4 %q then %q, 5 %q then %q",
			three.Criteria,
			three.NextCriteria,
			four.Criteria,
			four.NextCriteria,
			five.Criteria,
			five.NextCriteria,
		)
	}
	set(4)
	if v, err = b.Assessments.RegenerateMaturity(t.Context(), b.by, &api.MaturityInput{MaturityVersionID: v.ID}); err != nil {
		t.Fatal(err)
	}
	if got := first(); got.Level != 4 || got.Criteria != four.Criteria || got.NextCriteria != four.NextCriteria {
		t.Errorf("drafted again: %+v", got)
	}
}

// TestMilestonesFollowTheItem checks that completing an item completes its open milestones with the
// user and today's date, and that reopening it reopens those.
func TestMilestonesFollowTheItem(t *testing.T) {
	b := newBench(t)
	a := b.assess(t, "lgpd", policy, api.StateSoADrafted)
	of := &api.AssessmentInput{AssessmentID: a.ID}
	if _, err := b.Assessments.DraftGap(t.Context(), b.by, of); err != nil {
		t.Fatal(err)
	}
	v, err := b.Assessments.DraftPOAM(t.Context(), b.by, of)
	if err != nil {
		t.Fatal(err)
	}
	first := func() api.POAMItem {
		t.Helper()
		l, err := b.Assessments.ListPOAMItems(t.Context(), b.by, &api.POAMItemsInput{POAMInput: api.POAMInput{POAMVersionID: v.ID}})
		if err != nil || len(l.Data) == 0 || len(l.Data[0].Milestones) < 2 {
			t.Fatal(l, err)
		}
		return l.Data[0]
	}
	update := func(status string, stones []api.Milestone) (*api.POAMItem, error) {
		in := &api.UpdatePOAMItemInput{POAMItemID: first().ID}
		if status != "" {
			in.Body.Status = &status
		}
		if stones != nil {
			in.Body.Milestones = &stones
		}
		return b.Assessments.UpdatePOAMItem(t.Context(), b.by, in)
	}
	words := func(i *api.POAMItem) string {
		var out []string
		for _, m := range i.Milestones {
			word := m.Status
			if m.CompletedAt != nil {
				word += " by " + m.CompletedBy
			}
			out = append(out, word)
		}
		return strings.Join(out, "; ")
	}
	by, stones := " by "+b.by.Actor.Name, first().Milestones
	stones[0].Status, stones[0].CompletedBy = "completed", "Somebody else"
	rest := func(word string) string { return "completed" + by + strings.Repeat("; "+word, len(stones)-1) }
	steps := []struct {
		status string
		stones []api.Milestone
		want   string
	}{
		{"", stones, rest("open")},
		{"completed", nil, rest("completed" + by)},
		{"in_progress", nil, rest("open")},
		{"completed", nil, rest("completed" + by)},
	}
	for _, s := range steps {
		got, err := update(s.status, s.stones)
		if err != nil || words(got) != s.want {
			t.Fatalf("%q: %s, %v; want %s", s.status, words(got), err, s.want)
		}
	}
	_, err = update("", stones)
	wantCode(t, "an open milestone of a completed item", err, api.CodeValidation)
	if v, err = b.Assessments.DraftPOAM(t.Context(), b.by, of); err != nil {
		t.Fatal(err)
	}
	if got := first(); got.Status != "completed" || words(&got) != rest("completed"+by) {
		t.Errorf("drafted again: %s, %s", got.Status, words(&got))
	}
}
