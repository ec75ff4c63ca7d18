package enginetest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/scf-service/service/api"
)

// BenchmarkDecision measures one round at a gate: a change, the submission for review and the
// approval; it also reports the last two separately, in microseconds.
func BenchmarkDecision(b *testing.B) {
	w := newBench(b)
	a := w.assess(b, "lgpd", policy, api.StateSoADrafted)
	ctx := b.Context()
	var submitting, approving time.Duration
	rounds := 0
	for n := 0; b.Loop(); n++ {
		item := w.soaItems(b, a.ID)[0]
		in := &api.UpdateSoAItemInput{SoAItemID: item.ID}
		in.Body.Owner = api.Some(fmt.Sprintf("Owner %d", n))
		changed, err := w.Assessments.UpdateSoAItem(ctx, w.by, in)
		if err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		v, err := w.Assessments.SubmitSoA(ctx, w.by, &api.SoAInput{SoAVersionID: changed.VersionID})
		if err != nil {
			b.Fatal(err)
		}
		submitting += time.Since(began)
		began = time.Now()
		if _, err := w.Assessments.Approve(
			ctx,
			w.by,
			&api.ApproveInput{ApprovalInput: api.ApprovalInput{ApprovalID: *v.ApprovalID}},
		); err != nil {
			b.Fatal(err)
		}
		approving += time.Since(began)
		rounds++
	}
	b.ReportMetric(float64(submitting.Microseconds())/float64(rounds), "µs/submission")
	b.ReportMetric(float64(approving.Microseconds())/float64(rounds), "µs/approval")
}

// BenchmarkTransition measures transitions that do no other work: a new assessment without
// documents, from its first state to the selection of its framework.
func BenchmarkTransition(b *testing.B) {
	w := newBench(b)
	w.assess(b, "lgpd", nil, api.StateFrameworkSelected) // the embedder is trained once
	moves := api.Moves[:4]
	var moving time.Duration
	made := 0
	for b.Loop() {
		a := w.assess(b, "lgpd", nil, api.StateDraft)
		began := time.Now()
		for _, m := range moves {
			in := &api.TransitionInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}}
			in.Body.TargetState = m.To
			if _, err := w.Assessments.Transition(b.Context(), w.by, in); err != nil {
				b.Fatal(err)
			}
		}
		moving += time.Since(began)
		made += len(moves)
	}
	b.ReportMetric(float64(moving.Microseconds())/float64(made), "µs/transition")
}
