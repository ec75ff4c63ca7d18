package enginetest_test

import (
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

// TestReviewBySampling checks that the sample is the same for the same seed, that confirming lines by a filter isn't reading them, that
// errors found raise the bound, that a larger sample contains the smaller one, and that a new draft with other verdicts makes it outdated.
func TestReviewBySampling(t *testing.T) {
	b := newBench(t)
	a := b.assess(t, "lgpd", policy, api.StateSoADrafted).ID
	in := &api.DrawReviewInput{SoAInput: api.SoAInput{SoAVersionID: b.latestSoA(t, a).ID}}
	if _, err := b.Assessments.GetReview(t.Context(), b.by, &in.SoAInput); !api.IsCode(err, api.CodeNotFound) {
		t.Fatal(err)
	}
	in.Body.Size = 10
	drawn, err := b.Assessments.DrawReview(t.Context(), b.by, in)
	if err != nil || drawn.Sampled < 10 || drawn.SampledLeft != drawn.Sampled || drawn.AtMostWrong != nil {
		t.Fatalf("%+v, %v", drawn, err)
	}
	edit := &api.EditSoAItemsInput{SoAInput: in.SoAInput}
	for _, l := range drawn.Lines {
		edit.Body.ItemIDs = append(edit.Body.ItemIDs, l.ItemID)
	}
	read := false
	edit.Body.Set.NeedsReview = &read
	byFilter := &api.EditSoAItemsInput{SoAInput: in.SoAInput}
	byFilter.Body.Where, byFilter.Body.Set = "true", edit.Body.Set
	if _, err := b.Assessments.EditSoAItems(t.Context(), b.by, byFilter); err != nil {
		t.Fatal(err)
	}
	same, err := b.Assessments.GetReview(t.Context(), b.by, &in.SoAInput)
	if err != nil || same.SampledLeft != drawn.SampledLeft || same.NotRead != drawn.NotRead || same.Outdated ||
		len(same.Lines) != len(drawn.Lines) ||
		!strings.Contains(same.Statement, "confirmed only as part of a bulk decision") {
		t.Fatalf("%+v, %v", same, err)
	}
	if made, err := b.Assessments.EditSoAItems(t.Context(), b.by, edit); err != nil || len(made.Lines) != len(drawn.Lines) {
		t.Fatalf("%+v, %v", made, err)
	}
	none, err := b.Assessments.GetReview(t.Context(), b.by, &in.SoAInput)
	if err != nil || none.AtMostWrong == nil || none.Wrong != 0 || len(none.Lines) != 0 ||
		!strings.Contains(none.Statement, "with 95% confidence") {
		t.Fatalf("%+v, %v", none, err)
	}
	planned := api.Planned
	change := &api.UpdateSoAItemInput{SoAItemID: drawn.Lines[len(drawn.Lines)-1].ItemID}
	change.Body.ImplementationStatus = &planned
	if _, err := b.Assessments.UpdateSoAItem(t.Context(), b.by, change); err != nil {
		t.Fatal(err)
	}
	one, err := b.Assessments.GetReview(t.Context(), b.by, &in.SoAInput)
	if err != nil || one.Wrong != 1 || *one.AtMostWrong < *none.AtMostWrong {
		t.Fatalf("%+v, %v", one, err)
	}
	in.Body.Size = 15
	larger, err := b.Assessments.DrawReview(t.Context(), b.by, in)
	if err != nil || larger.Sampled <= drawn.Sampled || larger.SampledLeft != larger.Sampled-drawn.Sampled || larger.Wrong != 1 {
		t.Fatalf("%+v, %v", larger, err)
	}
	in.Body.Size = 5
	if _, err := b.Assessments.DrawReview(t.Context(), b.by, in); !api.IsCode(err, api.CodeInvalidState) {
		t.Errorf("a smaller sample gives %v", err)
	}
	b.upload(t, a, "more.md", "# Backup policy\n\nBackups of all systems are made every night and restored in a test each quarter.\n"+
		"All remote access uses multi-factor authentication. Laptops are encrypted. Access rights are reviewed every quarter.")
	if _, err := b.Assessments.RegenerateSoA(t.Context(), b.by, &in.SoAInput); err != nil {
		t.Fatal(err)
	}
	in.SoAVersionID = b.latestSoA(t, a).ID
	if now, err := b.Assessments.GetReview(t.Context(), b.by, &in.SoAInput); err != nil || !now.Outdated || now.AtMostWrong != nil {
		t.Errorf("%+v, %v", now, err)
	}
}
