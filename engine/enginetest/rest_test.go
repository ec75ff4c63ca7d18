package enginetest_test

import (
	"sync"
	"testing"

	"github.com/scf-service/service/api"
)

// What drafts remember goes where no draft asks for it in a long time, and the next draft is
// the same all the same. More drafts at once than may judge at once wait for each other.
func TestWhatDraftsRememberGoesAtRest(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	var all []*api.AssessmentInput
	for n := range 4 {
		all = append(
			all,
			&api.AssessmentInput{AssessmentID: b.assess(t, "iso-27001-2022", policies(t, 2, uint64(n+1)), api.StateFrameworkSelected).ID},
		)
	}
	draft := func() []string {
		hashes := make([]string, len(all))
		var wg sync.WaitGroup
		for n, in := range all {
			wg.Go(func() {
				v, err := b.Assessments.DraftSoA(ctx, b.by, in)
				if err != nil {
					t.Error(err)
					return
				}
				hashes[n] = v.ContentSHA256
			})
		}
		wg.Wait()
		return hashes
	}
	before := draft()
	rests := 1
	for !b.Assessments.TrimCaches() {
		if rests++; rests > 1000 {
			t.Fatal("what a draft remembers is kept for ever")
		}
	}
	if rests < 10 {
		t.Errorf("it is gone after %d rests: the next draft a moment later would read all anew", rests)
	}
	if b.Assessments.TrimCaches() {
		t.Error("there is something left to forget")
	}
	for n, hash := range draft() {
		if hash != before[n] {
			t.Errorf("assessment %d: another draft after what was remembered went", n)
		}
	}
}
