package enginetest_test

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/store"
)

// TestUndoNamesLinesEditedSince checks that an undo fails if another user has edited some of the lines since, that
// with the option to skip those it leaves them unchanged, and that it restores the other lines to the same content.
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

// TestUndoOfItemsOfOneControl checks that an undo doesn't confuse items of the same control that differ in nothing
// else, as in older plans. It stores no more edits than can be undone, and rejects an undo that is too large to
// store.
func TestUndoOfItemsOfOneControl(t *testing.T) {
	e, db, _ := openEngine(t, engine.Options{})
	b := &bench{e, localUser(t, e)}
	a := b.assess(t, "lgpd", policy, api.StateSoADrafted).ID
	items := b.soaItems(t, a)
	var ids []string
	err := db.Update(t.Context(), func(tx *store.Tx) error {
		ids = nil
		for n, i := range items[:2] {
			i.ControlCode, i.Note = items[0].ControlCode, new([]string{"first", "second"}[n])
			ids = append(ids, i.ID)
			if err := store.SoAItems.Put(tx, b.by.OrganizationID, &i); err != nil {
				return err
			}
		}
		for n := range 200 {
			old := &store.Edit{ID: fmt.Sprint("0-", n), OrganizationID: b.by.OrganizationID, AssessmentID: a, UserID: b.by.UserID}
			if err := store.Edits.Insert(tx, b.by.OrganizationID, old); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	edit := &api.EditSoAItemsInput{SoAInput: api.SoAInput{SoAVersionID: b.latestSoA(t, a).ID}}
	edit.Body.ItemIDs, edit.Body.Set.Note = ids, api.Some("both")
	if _, err := b.Assessments.EditSoAItems(t.Context(), b.by, edit); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Assessments.Undo(t.Context(), b.by, &api.UndoInput{AssessmentInput: api.AssessmentInput{AssessmentID: a}}); err != nil {
		t.Fatal(err)
	}
	for n, id := range ids {
		err := db.Update(t.Context(), func(tx *store.Tx) error {
			i, err := store.SoAItems.Get(tx, b.by.OrganizationID, id)
			if want := []string{"first", "second"}[n]; err != nil || orNone(i.Note) != want {
				t.Errorf("%s, want %s, %v", orNone(i.Note), want, err)
			}
			random := make([]byte, 9<<19)
			_, _ = rand.Read(random)
			i.Note = new(hex.EncodeToString(random))
			return store.SoAItems.Put(tx, b.by.OrganizationID, &i)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	err = db.View(t.Context(), func(tx *store.Tx) error {
		n, err := store.Edits.Count(tx, b.by.OrganizationID, a, b.by.UserID)
		oldest, _ := store.Edits.Has(tx, b.by.OrganizationID, a, b.by.UserID, "0-0")
		if n != 200 || oldest {
			t.Errorf("%d edits are kept, the oldest: %t", n, oldest)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.Assessments.EditSoAItems(t.Context(), b.by, edit)
	if e, ok := errors.AsType[*api.Error](err); !ok || e.Code != api.CodeValidation || e.Details[0].Field != "where" {
		t.Errorf("%v", err)
	}
}

func orNone(s *string) string {
	if s == nil {
		return "none"
	}
	return *s
}
