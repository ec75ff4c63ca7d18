package enginetest_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment"
)

// TestDraftsAreHashedAsStored checks that a draft's hash covers its lines as stored, in order and
// including users' changes.
func TestDraftsAreHashedAsStored(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	a := b.assess(t, "soc2-tsc", policies(t, 4, 3), api.StateFrameworkSelected)
	in := &api.AssessmentInput{AssessmentID: a.ID}
	var check func()
	drafts := func() {
		t.Helper()
		_, err1 := b.Assessments.DraftSoA(ctx, b.by, &api.DraftSoAInput{AssessmentInput: *in})
		_, err2 := b.Assessments.DraftGap(ctx, b.by, in)
		_, err3 := b.Assessments.DraftMaturity(ctx, b.by, in)
		_, err4 := b.Assessments.DraftPOAM(ctx, b.by, in)
		for _, err := range []error{err1, err2, err3, err4} {
			if err != nil {
				t.Fatal(err)
			}
		}
		check()
	}
	check = func() {
		t.Helper()
		d, err := b.Assessments.Snapshot(ctx, b.by, a.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range []struct {
			gate  api.Gate
			items any
			head  api.DeliverableVersion
		}{
			{api.GateSoA, d.SoAItems, d.SoA.DeliverableVersion},
			{api.GateGapAnalysis, d.Findings, d.Gap.DeliverableVersion},
			{api.GateMaturity, d.Scores, d.Maturity.DeliverableVersion},
			{api.GatePOAM, d.POAMItems, d.POAM.DeliverableVersion},
		} {
			text, err := json.Marshal(one.items)
			if err != nil {
				t.Fatal(err)
			}
			hash, err := assessment.ContentHash(one.gate, text)
			if err != nil || hash != one.head.ContentSHA256 || one.head.ItemCount == 0 {
				t.Errorf("%s, %d lines: %s, stored %s: %v", one.gate, one.head.ItemCount, one.head.ContentSHA256, hash, err)
			}
		}
	}
	drafts()
	for _, condition := range []string{"Keys of the vault lie about.", "Nobody knows who has keys.", "A key broke."} {
		add := &api.CreateGapInput{AssessmentInput: *in}
		add.Body.ControlID, add.Body.Status, add.Body.Severity, add.Body.Condition = "PES-03", api.NotImplemented, api.SeverityHigh, condition
		if _, err := b.Assessments.CreateGap(ctx, b.by, add); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.setOwner(t, b.soaItems(t, a.ID)[3].ID, "Ada", api.Match{}); err != nil {
		t.Fatal(err)
	}
	drafts()
	// After an edit, only what it changed is read and encoded. The hash is computed before it is certain that the edit
	// will be made.
	for n, at := range []int{7, 7, 40, 2, 33, 40} {
		item := b.soaItems(t, a.ID)[at]
		_, err := b.setOwner(t, item.ID, "Nobody", api.Match{IfMatch: fmt.Sprint(item.Revision + 1)})
		wantCode(t, "an edit of another revision", err, api.CodeValidation)
		for range 2 { // the second edit changes nothing
			if _, err := b.setOwner(t, item.ID, fmt.Sprint("Owner ", n), api.Match{}); err != nil {
				t.Fatal(err)
			}
			check()
		}
	}
	if _, err := b.Assessments.Undo(ctx, b.by, &api.UndoInput{AssessmentInput: *in}); err != nil {
		t.Fatal(err)
	}
	check()
	many := &api.EditSoAItemsInput{SoAInput: api.SoAInput{SoAVersionID: b.latestSoA(t, a.ID).ID}}
	many.Body.Where, many.Body.Set.Note = "true", api.Some("all")
	if _, err := b.Assessments.EditSoAItems(ctx, b.by, many); err != nil {
		t.Fatal(err)
	}
	check()
	if _, err := b.setOwner(t, b.soaItems(t, a.ID)[0].ID, "Zoë", api.Match{}); err != nil {
		t.Fatal(err)
	}
	check()
}
