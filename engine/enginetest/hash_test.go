package enginetest_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/engine/assessment"
	"github.com/scf-service/service/engine/enginetest"
	"github.com/scf-service/service/store"
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
			hash, err := assessment.ContentHash(one.gate, text, "")
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
	// After an edit, only what it changed is read and encoded, even if another edit was refused meanwhile.
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

// TestHashesOfEarlierVersions checks that versions and approvals stay valid whose content hash was computed by an earlier
// version of the program: from the items' JSON without what identifies them, one after the other.
func TestHashesOfEarlierVersions(t *testing.T) {
	var db *store.DB
	e := enginetest.New(t, func(o *engine.Options) { db = o.DB })
	b := &bench{e, localUser(t, e)}
	a := b.assess(t, "lgpd", policy, api.StateSoAUnderReview)
	ctx, p, items := t.Context(), b.pending(t, a.ID), b.soaItems(t, a.ID)
	exported, err := json.Marshal(items)
	if err != nil {
		t.Fatal(err)
	}
	h := sha256.New()
	for _, i := range items {
		i.TenantRecord, i.AssessmentID, i.VersionID, i.ControlID, i.Revision = api.TenantRecord{}, "", "", "", 0
		for n := range i.Evidence {
			i.Evidence[n].ChunkID, i.Evidence[n].DocumentID = "", ""
		}
		for n := range i.Statements {
			i.Statements[n].ChunkID = ""
		}
		if err := json.NewEncoder(h).Encode(i); err != nil {
			t.Fatal(err)
		}
	}
	earlier := fmt.Sprintf("%x", h.Sum(nil))
	if got, err := assessment.ContentHash(api.GateSoA, exported, earlier); err != nil || got != earlier {
		t.Fatalf("the hash of an earlier version is %s, not recognized as %s: %v", earlier, got, err)
	}
	if got, err := assessment.ContentHash(api.GateSoA, exported, "another"); err != nil || got != p.TargetSHA256 {
		t.Fatalf("the hash is %s, submitted was %s: %v", got, p.TargetSHA256, err)
	}
	if err := db.Update(ctx, func(tx *store.Tx) error {
		v, err := store.SoAVersions.Get(tx, b.by.OrganizationID, p.TargetID)
		if err != nil {
			return err
		}
		v.ContentSHA256, p.TargetSHA256 = earlier, earlier
		return errors.Join(store.SoAVersions.Put(tx, b.by.OrganizationID, &v), store.Approvals.Put(tx, b.by.OrganizationID, p))
	}); err != nil {
		t.Fatal(err)
	}
	if err := b.approve(t, p.ID); err != nil {
		t.Fatal(err)
	}
	if err := b.move(t, a.ID, api.StateSoAApproved); err != nil {
		t.Fatal(err)
	}
	if v, err := b.Assessments.RegenerateSoA(ctx, b.by, &api.SoAInput{SoAVersionID: p.TargetID}); err != nil ||
		v.VersionNumber != 1 || v.Status != api.VersionApproved || v.ContentSHA256 != earlier {
		t.Errorf("the same draft again: %+v, %v", v, err)
	}
}
