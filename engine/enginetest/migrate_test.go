package enginetest_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/scf-service/service/api"
)

// The two releases of a small catalog.
const (
	yard1 = `{"format": "service-catalog", "format_version": 1, "label": "yard-1",
	"domains": [{"code": "IAC", "name": "Access"}, {"code": "OPS", "name": "Operations"}],
	"frameworks": [{"code": "house-rules", "name": "House rules", "requirements": [{"code": "1"}, {"code": "2"}, {"code": "3"}]}],
	"controls": [
	 {"code": "IAC-06", "title": "A second factor", "description": "Operators use a second factor when signing in.", "mappings": {"house-rules": ["1"]}},
	 {"code": "IAC-07", "title": "Leavers", "description": "Accounts of leavers are locked on their last day.", "mappings": {"house-rules": ["2"]}},
	 {"code": "OPS-01", "title": "Procedures", "description": "Procedures are written down and kept.", "mappings": {"house-rules": ["3"]}}]}`
	yard2 = `{"format": "service-catalog", "format_version": 1, "label": "yard-2",
	"domains": [{"code": "IAC", "name": "Access"}],
	"frameworks": [{"code": "house-rules", "name": "House rules", "requirements": [{"code": "(1)"}, {"code": "2"}]},
	 {"code": "yard-rules", "name": "An official one by now", "requirements": [{"code": "1"}]}],
	"controls": [
	 {"code": "IAC-06", "title": "A second factor", "description": "Operators use a second factor when signing in.", "mappings": {"house-rules": ["(1)"], "yard-rules": ["1"]}},
	 {"code": "IAC-07", "title": "Leavers", "description": "Accounts are closed within an hour.", "mappings": {"house-rules": ["2"]}},
	 {"code": "IAC-08", "title": "Reviews", "description": "Rights are reviewed every year.", "mappings": {"house-rules": ["2"]}}]}`
)

func (b *bench) importCatalog(t *testing.T, doc string) *api.ImportRun {
	t.Helper()
	run, err := b.Catalog.ImportStructured(t.Context(), b.by, &api.ImportSourceInput{Body: api.ImportSource{Source: json.RawMessage(doc)}})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func (b *bench) migrate(t *testing.T, assessment string, body api.MigrateBody) (*api.Migration, error) {
	t.Helper()
	return b.Assessments.Migrate(
		t.Context(),
		b.by,
		&api.MigrateInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}, Body: body},
	)
}

var yardDocs = fstest.MapFS{
	"policy.md": {
		Data: []byte(
			"# Access policy\n\nEvery operator uses a second factor when signing in. Accounts of leavers are locked on their last day.\n",
		),
	},
}

// TestMigrate checks that a migration creates new drafts with the users' decisions and doesn't
// change approved versions.
func TestMigrate(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	b.importCatalog(t, yard1)
	a := b.assess(t, "house-rules", yardDocs, api.StateSoAUnderReview)
	if _, err := b.setOwner(t, b.soaItems(t, a.ID)[0].ID, "Head of cranes", api.Match{}); err != nil {
		t.Fatal(err)
	}
	submit := &api.SubmitSoAInput{SoAInput: api.SoAInput{SoAVersionID: b.soaItems(t, a.ID)[0].VersionID}}
	if _, err := b.Assessments.SubmitSoA(ctx, b.by, submit); err != nil {
		t.Fatal(err)
	}
	if err := b.approve(t, b.pending(t, a.ID).ID); err != nil {
		t.Fatal(err)
	}
	gap := &api.CreateGapInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}}
	gap.Body.ControlID, gap.Body.Status, gap.Body.Severity = "OPS-01", api.NotImplemented, api.SeverityHigh
	if _, err := b.Assessments.CreateGap(ctx, b.by, gap); err != nil {
		t.Fatal(err)
	}
	in := &api.AssessmentInput{AssessmentID: a.ID}
	for _, draft := range []func() error{
		func() error { _, err := b.Assessments.DraftGap(ctx, b.by, in); return err },
		func() error { _, err := b.Assessments.DraftMaturity(ctx, b.by, in); return err },
		func() error { _, err := b.Assessments.DraftPOAM(ctx, b.by, in); return err },
	} {
		if err := draft(); err != nil {
			t.Fatal(err)
		}
	}
	before, err := b.Assessments.Snapshot(ctx, b.by, a.ID)
	if err != nil {
		t.Fatal(err)
	}
	b.importCatalog(t, yard2)

	plan, err := b.migrate(t, a.ID, api.MigrateBody{DryRun: true})
	if err != nil || len(plan.Versions) != 0 || !plan.DryRun {
		t.Fatalf("%+v, %v", plan, err)
	}
	m, err := b.migrate(t, a.ID, api.MigrateBody{})
	if err != nil {
		t.Fatal(err)
	}
	var review []string
	for _, r := range m.Review {
		review = append(review, r.ControlCode+":"+strings.Join(r.Reasons, "+"))
	}
	if got := strings.Join(review, " "); got != "IAC-07:reworded IAC-08:new OPS-01:removed" || m.ControlsUnchanged != 1 {
		t.Errorf("to look at again: %s; %d unchanged", got, m.ControlsUnchanged)
	}
	if !slices.Equal(m.DecisionsKept, []string{"IAC-06"}) || !slices.Equal(m.DecisionsDropped, []string{"OPS-01"}) || len(m.Versions) != 4 {
		t.Errorf("kept %v, left %v, drafts %+v", m.DecisionsKept, m.DecisionsDropped, m.Versions)
	}
	after, err := b.Assessments.Snapshot(ctx, b.by, a.ID)
	if err != nil {
		t.Fatal(err)
	}
	if after.SoA.VersionNumber != before.SoA.VersionNumber+1 || after.SoA.Status != api.VersionDraft || after.Catalog.Label != "yard-2" {
		t.Errorf("%+v of %s", after.SoA, after.Catalog.Label)
	}
	old, err := b.Assessments.GetSoA(ctx, b.by, &api.SoAInput{SoAVersionID: before.SoA.ID})
	if err != nil || old.Status != api.VersionApproved || old.ContentSHA256 != before.SoA.ContentSHA256 {
		t.Errorf("the approved SoA became %+v, %v", old, err)
	}
	if o := after.SoAItems[0].Owner; o == nil || *o != "Head of cranes" || after.SoAItems[0].NeedsReview {
		t.Errorf("IAC-06 is %+v", after.SoAItems[0])
	}
	if !after.SoAItems[1].NeedsReview {
		t.Error("IAC-07 was reworded and needs no review")
	}
	byHand := slices.IndexFunc(after.Findings, func(f api.Finding) bool { return f.Source == "manual" })
	if byHand < 0 || after.Findings[byHand].ControlCode != "OPS-01" || after.Findings[byHand].InCatalog {
		t.Errorf("the gap added by hand is lost: %+v", after.Findings)
	}
	for _, i := range after.POAMItems {
		if !slices.ContainsFunc(after.Findings, func(f api.Finding) bool { return f.ID == i.FindingID && f.ControlCode == i.ControlCode }) {
			t.Errorf("%s names the finding %q, which is not there", i.POAMCode, i.FindingID)
		}
	}
	if after.Gap.Inputs["soa_version_id"] != after.SoA.ID || after.POAM.Inputs["gap_version_id"] != after.Gap.ID ||
		after.Maturity.Inputs["soa_version_id"] != after.SoA.ID {
		t.Errorf("the drafts are not from each other: %v %v %v", after.Gap.Inputs, after.Maturity.Inputs, after.POAM.Inputs)
	}
	if after.Assessment.State != api.StateSoADrafted {
		t.Errorf("the assessment is %s", after.Assessment.State)
	}

	// Later deliverables are based on the new SoA, not on the one approved for the other catalog.
	if _, err := b.Assessments.DraftGap(ctx, b.by, in); err != nil {
		t.Fatal(err)
	}
	// Search continues with passages embedded for the new catalog.
	found, err := b.Evidence.Search(ctx, b.by, &api.SearchInput{Body: api.SearchBody{Query: "second factor", AssessmentID: a.ID}})
	if err != nil || len(found.Data) == 0 || found.Data[0].Score < 0.3 {
		t.Errorf("%+v, %v", found, err)
	}
	stats, err := b.Evidence.Stats(ctx, b.by, nil)
	if err != nil || stats.Embedder != found.Embedder || stats.Embedded != stats.Chunks {
		t.Errorf("%+v, search by %s, %v", stats, found.Embedder, err)
	}
	_, err = b.migrate(t, a.ID, api.MigrateBody{})
	wantCode(t, "twice", err, api.CodeInvalidState)
	theirs := b.by
	theirs.OrganizationID = "01890000-0000-7000-8000-0000000000ff"
	_, err = b.Assessments.Migrate(ctx, theirs, &api.MigrateInput{AssessmentInput: *in})
	wantCode(t, "another's", err, api.CodeNotFound)
}

// TestMigrateVoidsWhatWaits checks that pending approvals are voided, because they would otherwise be decided on the
// basis of another catalog.
func TestMigrateVoidsWhatWaits(t *testing.T) {
	b := newBench(t)
	b.importCatalog(t, yard1)
	a := b.assess(t, "house-rules", yardDocs, api.StateSoAUnderReview)
	p := b.pending(t, a.ID)
	b.importCatalog(t, yard2)
	if _, err := b.migrate(t, a.ID, api.MigrateBody{To: "yard-2"}); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "the old approval", b.approve(t, p.ID), api.CodeInvalidState)
	if got := b.state(t, a.ID); got != api.StateSoADrafted {
		t.Errorf("the assessment is %s", got)
	}
	if err := b.move(t, a.ID, api.StateSoAUnderReview); err != nil {
		t.Fatal(err)
	}
	if err := b.approve(t, b.pending(t, a.ID).ID); err != nil {
		t.Fatal(err)
	}
}

// TestMigrateCustom checks that a custom framework stays custom even if a release has its code, and
// that a migration to the same version adopts its changes.
func TestMigrateCustom(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	b.importCatalog(t, yard1)
	b.addFramework(t, b.by, rules("yard-rules", "IAC-06", "OPS-01"))
	a := b.assess(t, "yard-rules", yardDocs, api.StateSoADrafted)
	_, err := b.Catalog.PutCustomFramework(
		ctx,
		b.by,
		&api.PutCustomFrameworkInput{
			CustomFrameworkInput: api.CustomFrameworkInput{FrameworkCode: "yard-rules"},
			Body:                 rules("yard-rules", "IAC-07"),
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	m, err := b.migrate(t, a.ID, api.MigrateBody{})
	if err != nil || m.From.VersionID != m.To.VersionID || m.To.CustomRevision != 2 {
		t.Fatalf("%+v, %v", m, err)
	}
	if items := b.soaItems(t, a.ID); len(items) != 1 || items[0].ControlCode != "IAC-07" {
		t.Errorf("%+v", items)
	}
	b.importCatalog(t, yard2)
	if m, err = b.migrate(t, a.ID, api.MigrateBody{}); err != nil {
		t.Fatal(err)
	}
	if f := m.Frameworks[0]; f.Status != "renamed" || *f.ToCode != "yard-rules-custom" {
		t.Errorf("%+v", f)
	}
	if items := b.soaItems(t, a.ID); len(items) != 1 || items[0].ControlCode != "IAC-07" ||
		items[0].RequirementCodes["yard-rules-custom"] == nil {
		t.Errorf("%+v", items)
	}
}
