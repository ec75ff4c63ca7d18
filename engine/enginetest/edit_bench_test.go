package enginetest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/enginetest"
	"github.com/scf-service/service/internal/testutil/postgrestest"
)

// BenchmarkEdit measures edits of single items, at random positions in a version with as many items as the largest
// available catalog has controls, in a data folder and on PostgreSQL. cpu-ms is the processor time of this process. p10 says
// the most about the program on a busy machine.
func BenchmarkEdit(b *testing.B) {
	for name, onPostgres := range map[string]bool{"bolt": false, "postgres": true} {
		b.Run(name, func(b *testing.B) {
			if onPostgres {
				postgrestest.NewURL(b) // or skips
			}
			e := enginetest.NewOn(b, onPostgres)
			w := &bench{e, localUser(b, e)}
			catalog := w.importLargest(b)
			a := w.assess(b, "", policies(b, 30, 1), api.StateFrameworkSelected)
			in := api.AssessmentInput{AssessmentID: a.ID}
			if err := w.Evidence.WaitForDocuments(b.Context(), w.by, a.ID); err != nil {
				b.Fatal(err)
			}
			if _, err := w.Assessments.DraftSoA(b.Context(), w.by, &api.DraftSoAInput{AssessmentInput: in}); err != nil {
				b.Fatal(err)
			}
			items := w.soaItems(b, a.ID)
			b.Logf("%s, %d items", catalog, len(items))
			const edits = 400
			for round := 0; b.Loop(); round++ {
				cpu := processorTime(b)
				took := w.timeEdits(b, items, edits, round)
				b.ReportMetric((processorTime(b)-cpu).Seconds()*1000/edits, "cpu-ms")
				for _, percent := range []int{10, 50, 95} {
					b.ReportMetric(milliseconds(took[edits*percent/100]), fmt.Sprintf("p%d-ms", percent))
				}
			}
		})
	}
}

// timeEdits edits a random item n times, and returns the sorted times. The round makes values new.
func (b *bench) timeEdits(t testing.TB, items []api.SoAItem, n, round int) []time.Duration {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	took := make([]time.Duration, n)
	for i := range took {
		began := time.Now()
		if _, err := b.setOwner(t, items[rng.IntN(len(items))].ID, fmt.Sprintf("Owner %d.%d", round, i), api.Match{}); err != nil {
			t.Fatal(err)
		}
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	return took
}
