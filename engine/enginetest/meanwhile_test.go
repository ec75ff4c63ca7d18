package enginetest_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment"
	"github.com/scf-service/service/examples/harbor"
)

func (b *bench) dossier(t *testing.T, a string) *assessment.Snapshot {
	t.Helper()
	d, err := b.Assessments.Snapshot(t.Context(), b.by, a)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestEditsWhileDrafting checks that an edit made while a draft is created is either in that draft or rejected, and
// never lost.
func TestEditsWhileDrafting(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	a := b.assess(t, "iso-27001-2022", harbor.Evidence(), api.StateSoADrafted)
	in := &api.AssessmentInput{AssessmentID: a.ID}
	meanwhile := func(draft func() error, do ...func() error) (taken []bool) {
		taken = make([]bool, len(do))
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := draft(); err != nil {
				t.Error(err)
			}
		})
		for n, one := range do {
			wg.Go(func() { taken[n] = one() == nil })
		}
		wg.Wait()
		return taken
	}
	var do []func() error
	lines := b.soaItems(t, a.ID)[:16]
	for _, i := range lines {
		do = append(do, func() error {
			edit := &api.UpdateSoAItemInput{SoAItemID: i.ID}
			edit.Body.Note = api.Some("note of " + i.ControlCode)
			_, err := b.Assessments.UpdateSoAItem(ctx, b.by, edit)
			return err
		})
	}
	taken := meanwhile(func() error {
		_, err := b.Assessments.DraftSoA(ctx, b.by, &api.DraftSoAInput{AssessmentInput: *in})
		return err
	}, do...)
	now := map[string]api.SoAItem{}
	for _, i := range b.soaItems(t, a.ID) {
		now[i.ControlCode] = i
	}
	for n, was := range lines {
		if i := now[was.ControlCode]; taken[n] && (i.Note == nil || i.EditedBy == nil) {
			t.Errorf("the note on %s is lost", was.ControlCode)
		}
	}

	if _, err := b.Assessments.DraftGap(ctx, b.by, in); err != nil {
		t.Fatal(err)
	}
	do = nil
	for n := range 8 {
		do = append(do, func() error {
			add := &api.CreateGapInput{AssessmentInput: *in}
			add.Body.ControlID, add.Body.Status, add.Body.Severity = fmt.Sprintf("XX-%d", n), api.NotImplemented, api.SeverityHigh
			_, err := b.Assessments.CreateGap(ctx, b.by, add)
			return err
		})
	}
	taken = meanwhile(func() error { _, err := b.Assessments.DraftGap(ctx, b.by, in); return err }, do...)
	found := map[string]int{}
	for _, f := range b.dossier(t, a.ID).Findings {
		found[f.ControlCode]++
	}
	for n := range do {
		if code := fmt.Sprintf("XX-%d", n); !taken[n] || found[code] != 1 {
			t.Errorf("the gap %s was taken: %v, and stands there %d times", code, taken[n], found[code])
		}
	}

	if _, err := b.Assessments.DraftPOAM(ctx, b.by, in); err != nil {
		t.Fatal(err)
	}
	do = nil
	items := b.dossier(t, a.ID).POAMItems[:8]
	for _, i := range items {
		do = append(do, func() error {
			edit := &api.UpdatePOAMItemInput{POAMItemID: i.ID}
			edit.Body.Comments = api.Some("of " + i.ControlCode)
			_, err := b.Assessments.UpdatePOAMItem(ctx, b.by, edit)
			return err
		})
	}
	taken = meanwhile(func() error { _, err := b.Assessments.DraftPOAM(ctx, b.by, in); return err }, do...)
	said := map[string]bool{}
	for _, i := range b.dossier(t, a.ID).POAMItems {
		said[i.ControlCode] = i.Comments != nil
	}
	for n, was := range items {
		if taken[n] && !said[was.ControlCode] {
			t.Errorf("the comment on %s is lost", was.ControlCode)
		}
	}
}
