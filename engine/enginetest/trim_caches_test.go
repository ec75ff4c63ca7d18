package enginetest_test

import (
	"sync"
	"testing"

	"github.com/scf-service/service/api"
)

// TestDraftAfterTrimmedCaches checks that draft caches are evicted when unused for long, and that the
// next drafts are the same. More drafts than may judge at once wait for each other.
func TestDraftAfterTrimmedCaches(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	var all []*api.AssessmentInput
	for n := range 4 {
		a := b.assess(t, "iso-27001-2022", policies(t, 2, uint64(n+1)), api.StateFrameworkSelected)
		all = append(all, &api.AssessmentInput{AssessmentID: a.ID})
	}
	draft := func() []string {
		hashes := make([]string, len(all))
		var wg sync.WaitGroup
		for n, in := range all {
			wg.Go(func() {
				v, err := b.Assessments.DraftSoA(ctx, b.by, &api.DraftSoAInput{AssessmentInput: *in})
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
	trims := 1
	for !b.Assessments.TrimCaches() {
		if trims++; trims > 1000 {
			t.Fatal("the draft caches are never evicted")
		}
	}
	if trims < 10 {
		t.Errorf("evicted after %d trims: a draft a moment later would read everything again", trims)
	}
	if b.Assessments.TrimCaches() {
		t.Error("something is left to evict")
	}
	for n, hash := range draft() {
		if hash != before[n] {
			t.Errorf("assessment %d: the draft differs after its cache was evicted", n)
		}
	}
}
