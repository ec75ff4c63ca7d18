package enginetest_test

import (
	"context"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/enginetest"
	"github.com/scf-service/service/internal/testutil/postgrestest"
	"github.com/scf-service/service/store/postgres"
)

// TestRoundTrips counts the round trips to PostgreSQL of frequent operations.
func TestRoundTrips(t *testing.T) {
	if testing.Short() {
		t.Skip("runs one operation after another, so the race detector would find nothing")
	}
	postgrestest.NewURL(t) // or skips
	e := enginetest.NewOn(t, true)
	w := &bench{e, localUser(t, e)}
	a := w.assess(t, "", policies(t, 5, 1), api.StateFrameworkSelected)
	in := api.AssessmentInput{AssessmentID: a.ID}
	if err := w.Evidence.WaitForDocuments(t.Context(), w.by, a.ID); err != nil {
		t.Fatal(err)
	}
	measure := func(name string, limit int64, do func(ctx context.Context) error) {
		t.Helper()
		var c postgres.Counts
		if err := do(postgres.WithCounts(t.Context(), &c)); err != nil {
			t.Fatal(name, err)
		}
		t.Logf("%-16s %3d round trips, %d repetitions", name, c.RoundTrips.Load(), c.Repetitions.Load())
		if c.Repetitions.Load() == 0 && c.RoundTrips.Load() > limit {
			t.Errorf("%s: %d round trips, expected at most %d", name, c.RoundTrips.Load(), limit)
		}
	}
	measure("draft of all", 190, func(ctx context.Context) error {
		_, err := w.Assessments.DraftSoA(ctx, w.by, &api.DraftSoAInput{AssessmentInput: in})
		if err == nil {
			_, err = w.Assessments.DraftGap(ctx, w.by, &in)
		}
		if err == nil {
			_, err = w.Assessments.DraftMaturity(ctx, w.by, &in)
		}
		if err == nil {
			_, err = w.Assessments.DraftPOAM(ctx, w.by, &in)
		}
		return err
	})
	items := w.soaItems(t, a.ID)
	edit := func(ctx context.Context, item, owner string) error {
		change := &api.UpdateSoAItemInput{SoAItemID: item}
		change.Body.Owner = api.Some(owner)
		_, err := w.Assessments.UpdateSoAItem(ctx, w.by, change)
		return err
	}
	for _, i := range items[1:3] { // the first one reads all items, the second one what all further ones read
		if err := edit(t.Context(), i.ID, "Zoë"); err != nil {
			t.Fatal(err)
		}
	}
	measure("edit an item", 2, func(ctx context.Context) error { return edit(ctx, items[0].ID, "Zoë") })
	measure("get an item", 3, func(ctx context.Context) error {
		_, err := w.Assessments.GetSoAItem(ctx, w.by, &api.SoAItemInput{SoAItemID: items[0].ID})
		return err
	})
	measure("list 50 items", 6, func(ctx context.Context) error {
		list := &api.SoAItemsInput{SoAInput: api.SoAInput{SoAVersionID: items[0].VersionID}, Paging: api.Paging{Limit: 50}}
		_, err := w.Assessments.ListSoAItems(ctx, w.by, list)
		return err
	})
	measure("get a control", 2, func(ctx context.Context) error {
		_, err := w.Catalog.GetControl(ctx, w.by, &api.ControlInput{ControlID: items[0].ControlCode})
		return err
	})
	measure("list assessments", 5, func(ctx context.Context) error {
		_, err := w.Assessments.List(ctx, w.by, &api.AssessmentsInput{Paging: api.Paging{Limit: 50}})
		return err
	})
	documents := policies(t, 1, 9)
	measure("add a document", 7, func(ctx context.Context) error {
		for name := range documents {
			file, err := documents.Open(name)
			if err != nil {
				return err
			}
			upload := &api.UploadDocumentInput{AssessmentInput: in, File: api.UploadFile{Filename: name, Content: file}}
			if _, err := w.Evidence.Upload(ctx, w.by, upload); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestTwoDaemonsEdit checks that edits of two organizations by two daemons seldom conflict.
func TestTwoDaemonsEdit(t *testing.T) {
	postgrestest.NewURL(t) // or skips
	const edits = 30
	alone, together, repetitions := measurePair(t, edits, 2)
	t.Logf("%d edits by one: %v, by each of two: %v, %d repetitions", edits, alone, together, repetitions)
	if repetitions > edits/2 {
		t.Errorf("%d of %d edits were repeated", repetitions, 2*edits)
	}
}
