package enginetest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/engine/enginetest"
	"github.com/scf-service/service/internal/testutil/longtest"
	"github.com/scf-service/service/internal/testutil/postgrestest"
	"github.com/scf-service/service/store/postgres"
)

func TestMain(m *testing.M) { postgrestest.Main(m) }

// TestOnPostgres follows an assessment through its drafts, edits and a deletion on PostgreSQL. The other tests run there with
// SERVICE_TEST_STORE=postgres.
func TestOnPostgres(t *testing.T) {
	postgrestest.NewURL(t) // or skips
	e := enginetest.NewOn(t, true)
	w := &bench{e, localUser(t, e)}
	a := w.assess(t, "", policies(t, 5, 1), api.StateFrameworkSelected)
	ctx, in := t.Context(), &api.AssessmentInput{AssessmentID: a.ID}
	_, err := w.Assessments.DraftSoA(ctx, w.by, &api.DraftSoAInput{AssessmentInput: *in})
	for _, draft := range []func() error{
		func() error { _, err := w.Assessments.DraftGap(ctx, w.by, in); return err },
		func() error { _, err := w.Assessments.DraftMaturity(ctx, w.by, in); return err },
		func() error { _, err := w.Assessments.DraftPOAM(ctx, w.by, in); return err },
	} {
		err = errors.Join(err, draft())
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range w.soaItems(t, a.ID)[:3] {
		if _, err := w.setOwner(t, i.ID, "Zoë", api.Match{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Assessments.Delete(ctx, w.by, &api.DeleteAssessmentInput{AssessmentInput: *in}); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkStores compares PostgreSQL over a local socket with a data folder: import of the largest catalog available, the
// first drafts over 30 documents, and single edits.
func BenchmarkStores(b *testing.B) {
	longtest.SkipUnlessEnabled(b)
	postgrestest.NewURL(b)
	figures := [2]map[string]time.Duration{}
	for b.Loop() {
		for i, onPostgres := range []bool{false, true} {
			figures[i] = measureStore(b, onPostgres)
		}
	}
	for name, d := range figures[0] {
		there := figures[1][name]
		b.Logf("%-10s bolt %8.1f ms, PostgreSQL %8.1f ms, ratio %.2f", name, milliseconds(d), milliseconds(there), there.Seconds()/d.Seconds())
		b.ReportMetric(there.Seconds()/d.Seconds(), name+"-ratio")
	}
	b.ReportMetric(milliseconds(figures[1]["edit-p95"]), "postgres-edit-p95-ms")
	for _, organizations := range []int{2, 1} {
		alone, together, repetitions := measurePair(b, 100, organizations)
		b.Logf("two assessments, organizations: %d: 100 edits by one daemon %.0f ms, by each of two at the same time %.0f ms; %d ran again",
			organizations, milliseconds(alone), milliseconds(together), repetitions)
		b.ReportMetric(together.Seconds()/alone.Seconds(), fmt.Sprint("two-daemons-ratio-", organizations))
	}
}

// measurePair returns how long one daemon takes for n edits, how long two take at the same time for n each, of two
// assessments of one organization or two, and how many of the latter ran again after a conflict.
func measurePair(b testing.TB, n, organizations int) (alone, together time.Duration, repetitions int64) {
	first, second := enginetest.NewPair(b)
	var edits [2]func(context.Context)
	var by api.Caller
	for i, e := range []*engine.Engine{first, second} {
		if i < organizations {
			name := []string{"one", "two"}[i]
			in := &api.NewOrganizationInput{}
			in.Body.Name, in.Body.Owner.Email, in.Body.Owner.Password = name, name+"@"+name+".example", "four words make one"
			made, err := e.Identity.CreateOrganization(b.Context(), api.Caller{PlatformAdmin: true}, in)
			if err != nil {
				b.Fatal(err)
			}
			by = api.Caller{OrganizationID: made.ID, UserID: name, Role: api.RoleOwner, Actor: api.Actor{Type: api.ActorUser, ID: name, Name: name}}
		}
		w := &bench{e, by}
		a := w.assess(b, "", policies(b, 3, uint64(i)), api.StateFrameworkSelected)
		draft := &api.DraftSoAInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}}
		if _, err := w.Assessments.DraftSoA(b.Context(), w.by, draft); err != nil {
			b.Fatal(err)
		}
		items := w.soaItems(b, a.ID)
		round := 0
		edits[i] = func(ctx context.Context) {
			round++
			for n := range n {
				in := &api.UpdateSoAItemInput{SoAItemID: items[n%len(items)].ID}
				in.Body.Owner = api.Some(fmt.Sprintf("Owner %d of round %d", n, round)) // never what it is already
				if _, err := w.Assessments.UpdateSoAItem(ctx, w.by, in); err != nil {
					b.Error(err)
				}
			}
		}
	}
	began := time.Now()
	edits[0](b.Context())
	alone = time.Since(began)
	var c postgres.Counts
	ctx := postgres.WithCounts(b.Context(), &c)
	began = time.Now()
	var both sync.WaitGroup
	both.Go(func() { edits[0](ctx) })
	both.Go(func() { edits[1](ctx) })
	both.Wait()
	return alone, time.Since(began), c.Repetitions.Load()
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func measureStore(b *testing.B, onPostgres bool) map[string]time.Duration {
	e := enginetest.NewOn(b, onPostgres)
	w := &bench{e, localUser(b, e)}
	took := map[string]time.Duration{}
	measure := func(name string, do func()) {
		began := time.Now()
		do()
		took[name] = time.Since(began)
	}
	measure("import", func() { b.Log(w.importLargest(b)) })
	a := w.assess(b, "", policies(b, 30, 1), api.StateFrameworkSelected)
	ctx, in := b.Context(), &api.AssessmentInput{AssessmentID: a.ID}
	if err := w.Evidence.WaitForDocuments(ctx, w.by, a.ID); err != nil {
		b.Fatal(err)
	}
	measure("draft", func() {
		_, err := w.Assessments.DraftSoA(ctx, w.by, &api.DraftSoAInput{AssessmentInput: *in})
		if err == nil {
			_, err = w.Assessments.DraftGap(ctx, w.by, in)
		}
		if err == nil {
			_, err = w.Assessments.DraftMaturity(ctx, w.by, in)
		}
		if err == nil {
			_, err = w.Assessments.DraftPOAM(ctx, w.by, in)
		}
		if err != nil {
			b.Fatal(err)
		}
	})
	var edits []time.Duration
	items := w.soaItems(b, a.ID)
	for n := range 200 {
		began := time.Now()
		if _, err := w.setOwner(b, items[n%len(items)].ID, []string{"Ada", "Ben", "Zoë"}[n%3], api.Match{}); err != nil {
			b.Fatal(err)
		}
		edits = append(edits, time.Since(began))
	}
	slices.Sort(edits)
	took["edit-p50"], took["edit-p95"] = edits[len(edits)/2], edits[len(edits)*95/100]
	return took
}
