package enginetest_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/scf-service/service/api"
)

// TestNothingApplies checks that a scope that excludes everything gives a line with a reason for
// each control, and no findings, levels or plan items.
func TestNothingApplies(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	a := b.assess(
		t,
		"lgpd",
		fstest.MapFS{"a.md": {Data: []byte("# Policy\n\nMulti-factor authentication is required for all remote access.\n")}},
		api.StateSoADrafted,
	)
	items := b.soaItems(t, a.ID)
	for _, i := range items {
		in := &api.UpdateSoAItemInput{SoAItemID: i.ID}
		out, why := api.OutOfScope, "The company is being wound up."
		in.Body.Applicability, in.Body.Rationale = &out, &why
		if _, err := b.Assessments.UpdateSoAItem(ctx, b.by, in); err != nil {
			t.Fatal(err)
		}
	}
	in := &api.AssessmentInput{AssessmentID: a.ID}
	// Drafting again keeps everything and says so.
	v, err := b.Assessments.DraftSoA(ctx, b.by, &api.DraftSoAInput{AssessmentInput: *in})
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Kept) != len(items) {
		t.Errorf("%d of %d edited lines are named as kept", len(v.Kept), len(items))
	}
	for _, i := range b.soaItems(t, a.ID) {
		if i.Applicability != api.OutOfScope || i.Rationale != "The company is being wound up." ||
			i.ImplementationStatus != api.NotAssessed {
			t.Fatalf("%s is %s (%q), %s", i.ControlCode, i.Applicability, i.Rationale, i.ImplementationStatus)
		}
	}
	check, err := b.Assessments.ValidateSoA(ctx, b.by, &api.SoAInput{SoAVersionID: v.ID})
	if err != nil || !check.Valid {
		t.Errorf("%+v, %v", check, err)
	}
	g, err := b.Assessments.DraftGap(ctx, b.by, in)
	if err != nil || g.ItemCount != 0 {
		t.Fatalf("%d gaps, %v", g.ItemCount, err)
	}
	sum, err := b.Assessments.GetGapSummary(ctx, b.by, &api.GapInput{GapVersionID: g.ID})
	if err != nil || sum.CompliancePct != nil || !strings.Contains(sum.ComplianceFormula, "No control is both applicable and assessed") {
		t.Errorf("%v %q %v", sum.CompliancePct, sum.ComplianceFormula, err)
	}
	if m, err := b.Assessments.DraftMaturity(ctx, b.by, in); err != nil || m.ItemCount != 0 {
		t.Errorf("%d scores, %v", m.ItemCount, err)
	}
	if p, err := b.Assessments.DraftPOAM(ctx, b.by, in); err != nil || p.ItemCount != 0 {
		t.Errorf("%d items, %v", p.ItemCount, err)
	}
}

// TestLineOfAnotherVersion checks that a line of an older version can't be changed, and that the
// error names the newest version.
func TestLineOfAnotherVersion(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	a := b.assess(t, "lgpd", nil, api.StateSoADrafted)
	old := b.soaItems(t, a.ID)[0]
	if _, err := b.Assessments.DraftSoA(ctx, b.by, &api.DraftSoAInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}}); err != nil {
		t.Fatal(err)
	}
	in := &api.UpdateSoAItemInput{SoAItemID: old.ID}
	in.Body.Note = api.Some("late")
	if _, err := b.Assessments.UpdateSoAItem(ctx, b.by, in); err == nil || !strings.Contains(err.Error(), "superseded") {
		t.Errorf("a line of a superseded version: %v", err)
	}
	// Another deliverable's ID, and an unknown one.
	for _, id := range []string{a.ID, "018f0000-0000-7000-8000-00000000ffff"} {
		in.SoAItemID = id
		if _, err := b.Assessments.UpdateSoAItem(ctx, b.by, in); !api.IsCode(err, api.CodeNotFound) {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// TestTrend checks that a trend has the totals of each version, and those of the gap analysis and the maturity assessment
// made from it.
func TestTrend(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	policy := fstest.MapFS{"a.md": {Data: []byte("# Policy\n\nMulti-factor authentication is required for all remote access.\n")}}
	a := b.assess(t, "lgpd", policy, api.StateSoADrafted)
	in := &api.AssessmentInput{AssessmentID: a.ID}
	if _, err := b.Assessments.DraftSoA(ctx, b.by, &api.DraftSoAInput{AssessmentInput: *in}); err != nil {
		t.Fatal(err)
	}
	g, err := b.Assessments.DraftGap(ctx, b.by, in)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Assessments.DraftMaturity(ctx, b.by, in); err != nil {
		t.Fatal(err)
	}
	want, err := b.Assessments.Summary(ctx, b.by, in)
	if err != nil {
		t.Fatal(err)
	}
	got, err := b.Assessments.Trend(ctx, b.by, in)
	if err != nil || len(got.Points) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	old, now := got.Points[0], got.Points[1]
	if old.VersionNumber != 1 || old.OpenGaps != nil || old.MaturityAvg != nil || old.Applicable != want.Applicable {
		t.Errorf("the first version: %+v", old)
	}
	if now.VersionNumber != 2 || *now.CompliancePct != *want.CompliancePct || now.Implemented != want.Implemented ||
		now.OpenGaps == nil || *now.OpenGaps != g.ItemCount || *now.MaturityAvg != *want.MaturityAvg {
		t.Errorf("the second version: %+v, not as in %+v", now, want)
	}
}
