package enginetest_test

import (
	"fmt"
	"testing"

	"github.com/scf-service/service/engine/api"
)

// BenchmarkDecision measures one round at a gate, each part by itself: a change, the
// submission that moves into review, the approval, the transition through the gate.
func BenchmarkDecision(b *testing.B) {
	w := newBench(b)
	a := w.assess(b, "lgpd", policy, api.StateSoADrafted)
	ctx := b.Context()
	for n := 0; b.Loop(); n++ {
		item := w.soaItems(b, a.ID)[0]
		in := &api.UpdateSoAItemInput{SoAItemID: item.ID}
		in.Body.Owner = api.Some(fmt.Sprintf("Owner %d", n))
		changed, err := w.Assessments.UpdateSoAItem(ctx, w.by, in)
		if err != nil {
			b.Fatal(err)
		}
		v, err := w.Assessments.SubmitSoA(ctx, w.by, &api.SoAInput{SoAVersionID: changed.VersionID})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := w.Assessments.Approve(ctx, w.by, &api.ApproveInput{ApprovalInput: api.ApprovalInput{ApprovalID: *v.ApprovalID}}); err != nil {
			b.Fatal(err)
		}
	}
}
