package enginetest_test

import (
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

// TestUndoNamesLinesEditedSince checks that an undo leaves alone what somebody else has edited since, that it is refused without
// asking for that, and that it restores the other lines to the same content.
func TestUndoNamesLinesEditedSince(t *testing.T) {
	b := newBench(t)
	a := b.assess(t, "lgpd", policy, api.StateSoADrafted).ID
	items, v := b.soaItems(t, a), b.latestSoA(t, a)
	edit := &api.EditSoAItemsInput{SoAInput: api.SoAInput{SoAVersionID: v.ID}}
	edit.Body.Where, edit.Body.Set.Owner = "true", api.Some("Head of IT")
	edit.Body.DryRun = true
	preview, err := b.Assessments.EditSoAItems(t.Context(), b.by, edit)
	if err != nil || len(preview.Lines) != len(items) || preview.EditID != "" {
		t.Fatalf("%+v, %v", preview, err)
	}
	edit.Body.DryRun, edit.Body.ContentSHA256 = false, preview.ContentSHA256
	made, err := b.Assessments.EditSoAItems(t.Context(), b.by, edit)
	if err != nil || made.EditID == "" {
		t.Fatalf("%+v, %v", made, err)
	}
	if _, err := b.Assessments.EditSoAItems(t.Context(), b.by, edit); !api.IsCode(err, api.CodeInvalidState) {
		t.Errorf("an outdated preview gives %v", err)
	}
	ben := b.by
	ben.UserID, ben.Actor.Name = "ben", "Ben"
	change := &api.UpdateSoAItemInput{SoAItemID: items[0].ID}
	change.Body.Note = api.Some("mine")
	if _, err := b.Assessments.UpdateSoAItem(t.Context(), ben, change); err != nil {
		t.Fatal(err)
	}
	undo := &api.UndoInput{AssessmentInput: api.AssessmentInput{AssessmentID: a}}
	if _, err := b.Assessments.Undo(t.Context(), b.by, undo); !api.IsCode(err, api.CodeInvalidState) ||
		!strings.Contains(err.Error(), items[0].ControlCode+" by Ben") {
		t.Errorf("%v", err)
	}
	reader := b.by
	reader.Scopes = []api.Permission{"assessment:write", "gap:write"}
	undo.Body.SkipEdited = true
	if _, err := b.Assessments.Undo(t.Context(), reader, undo); !api.IsCode(err, api.CodeForbidden) {
		t.Errorf("a key without soa:write gives %v", err)
	}
	got, err := b.Assessments.Undo(t.Context(), b.by, undo)
	if err != nil || len(got.Skipped) != 1 || len(got.Lines) != len(items)-1 {
		t.Fatalf("%+v, %v", got, err)
	}
	for n, i := range b.soaItems(t, a) {
		if was := items[n]; n > 0 && (i.EditedBy != nil || len(i.EditedFields) > 0 || orNone(i.Owner) != orNone(was.Owner)) {
			t.Errorf("%s: %v, %v, %v", i.ControlCode, i.EditedBy, i.EditedFields, orNone(i.Owner))
		}
	}
	// Ben's own change can be undone; it restores what the first person had set.
	if got, err := b.Assessments.Undo(t.Context(), ben, undo); err != nil || len(got.Lines) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	if first := b.soaItems(t, a)[0]; orNone(first.Owner) != "Head of IT" || first.Note != nil || orNone(first.EditedBy) != b.by.Actor.Name {
		t.Errorf("%+v", first.Item)
	}
}

func orNone(s *string) string {
	if s == nil {
		return "none"
	}
	return *s
}
