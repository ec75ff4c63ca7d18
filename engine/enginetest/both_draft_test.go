package enginetest_test

import (
	"slices"
	"testing"

	"github.com/scf-service/service/api"
)

// TestBothSidesDraft checks that the newest version after a sync has the decisions of both sides if a clone and its remote
// have both created the next version, including lines that only the remote has. Fields that both decided keep the
// remote's value and are listed as conflicts.
func TestBothSidesDraft(t *testing.T) {
	b, laptop, ctx := newSyncEngine(t), newSyncEngine(t), t.Context()
	a := b.assess(t, "ccpa", policy, api.StateSoADrafted)
	b.submitSoA(t, b.latestSoA(t, a.ID).ID)
	if err := b.approve(t, b.pending(t, a.ID).ID); err != nil {
		t.Fatal(err)
	}
	laptop.cloneFrom(t, b, a.ID)
	laptop.sync(t, b, a.ID)
	note := func(at *bench, code, text string) {
		t.Helper()
		for _, i := range at.soaItems(t, a.ID) {
			if i.ControlCode == code {
				in := &api.UpdateSoAItemInput{SoAItemID: i.ID}
				in.Body.Note = api.Some(text)
				if _, err := at.Assessments.UpdateSoAItem(ctx, at.by, in); err != nil {
					t.Fatal(err)
				}
				return
			}
		}
		t.Fatalf("there is no line %s", code)
	}
	var codes []string
	for _, i := range b.soaItems(t, a.ID) {
		codes = append(codes, i.ControlCode)
	}
	note(&laptop.bench, codes[0], "laptop")
	note(&laptop.bench, codes[2], "laptop")
	note(&b.bench, codes[1], "office")
	note(&b.bench, codes[2], "office")
	more := &api.ChangeFrameworksInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}}
	more.Body.Add = []string{"lgpd"}
	if _, err := b.Assessments.ChangeFrameworks(ctx, b.by, more); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{codes[0]: "laptop", codes[1]: "office", codes[2]: "office"}
	for _, i := range b.soaItems(t, a.ID) {
		if !slices.Contains(codes, i.ControlCode) {
			note(&b.bench, i.ControlCode, "office, new")
			want[i.ControlCode] = "office, new"
			break
		}
	}
	office := len(b.soaItems(t, a.ID))
	laptop.sync(t, b, a.ID)
	items := b.soaItems(t, a.ID)
	here, there := b.latestSoA(t, a.ID), laptop.latestSoA(t, a.ID)
	if here.ContentSHA256 != there.ContentSHA256 || here.Status != api.VersionDraft || len(want) != 4 || len(items) != office {
		t.Fatalf("%d of %d lines; remote %+v, clone %+v", len(items), office, here.DeliverableVersion, there.DeliverableVersion)
	}
	for _, i := range items {
		if text, decided := want[i.ControlCode]; decided && orNone(i.Note) != text || !decided && i.EditedBy != nil {
			t.Errorf("%s has the note %s, not %q", i.ControlCode, orNone(i.Note), text)
		}
	}
	l, err := b.Sync.ListConflicts(ctx, b.by, &api.SyncConflictsInput{AssessmentID: a.ID})
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(l.Data, func(c api.SyncConflict) bool { return c.Kind == api.ConflictField })
	if len(l.Data) != 2 || at < 0 || l.Data[at].Label != codes[2] || l.Data[at].Field != "note" ||
		string(l.Data[at].Clone.Value) != `"laptop"` {
		t.Fatalf("%+v", l.Data)
	}
	in := &api.ResolveSyncInput{SyncConflictInput: api.SyncConflictInput{ConflictID: l.Data[at].ID}}
	in.Body.Choice = "clone"
	if _, err := b.Sync.ResolveConflict(ctx, b.by, in); err != nil {
		t.Fatal(err)
	}
	items = b.soaItems(t, a.ID)
	at = slices.IndexFunc(items, func(i api.SoAItem) bool { return i.ControlCode == codes[2] })
	if orNone(items[at].Note) != "laptop" {
		t.Error("the conflict was resolved, but the line keeps the remote's note")
	}
}
