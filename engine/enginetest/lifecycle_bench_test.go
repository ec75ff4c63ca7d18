package enginetest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/engine/enginetest"
	"github.com/scf-service/service/store"
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
		v, err := w.Assessments.SubmitSoA(ctx, w.by, &api.SubmitSoAInput{SoAInput: api.SoAInput{SoAVersionID: changed.VersionID}})
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

// BenchmarkFigures measures the dashboard, the metrics and a page of 50 assessments, with 1,000 drafted assessments and
// 10,000 in all.
func BenchmarkFigures(b *testing.B) {
	var db *store.DB
	e := enginetest.New(b, func(o *engine.Options) { db = o.DB })
	w := &bench{e, localUser(b, e)}
	first := w.assess(b, "lgpd", policy, api.StateSoADrafted)
	ctx, org := b.Context(), w.by.OrganizationID
	for n := 0; n < 10_000; n += 100 {
		err := db.Update(ctx, func(tx *store.Tx) error {
			a, err := store.Assessments.Get(tx, org, first.ID)
			if err != nil {
				return err
			}
			f, err := store.Figures.Get(tx, org, first.ID)
			for i := range 100 {
				if a.ID = fmt.Sprintf("00000000-0000-7000-8000-%012d", n+i); err == nil {
					err = store.Assessments.Insert(tx, org, &a)
				}
				if f.AssessmentID = a.ID; err == nil && n < 1_000 {
					err = store.Figures.Insert(tx, org, &f)
				}
			}
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	measure := func(name string, call func() error) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := call(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	measure("dashboard", func() error {
		_, err := e.Assessments.Dashboard(ctx, w.by, &api.OrgInput{OrgID: org})
		return err
	})
	measure("metrics", func() error {
		_, err := e.ListMetrics(ctx, w.by, &api.Paging{Limit: 200}, nil)
		return err
	})
	measure("summary", func() error {
		_, err := e.Assessments.Summary(ctx, w.by, &api.AssessmentInput{AssessmentID: first.ID})
		return err
	})
	for name, in := range map[string]*api.AssessmentsInput{
		"list": {}, "list/state": {State: api.StateSoADrafted}, "list/status": {Status: "open"}, "list/framework": {Framework: "lgpd"},
		"list/search": {Q: "test"},
	} {
		in.Limit = 50
		measure(name, func() error {
			_, err := e.Assessments.List(ctx, w.by, in)
			return err
		})
	}
}

// BenchmarkCarry measures the creation of an assessment from an earlier one in which every line of the whole catalog was
// decided (target: 1 s for 1,468 lines), and the following draft of the Statement of Applicability.
func BenchmarkCarry(b *testing.B) {
	w := newBench(b)
	w.importLargest(b)
	a := w.assess(b, "", policy, api.StateSoADrafted)
	v := w.latestSoA(b, a.ID)
	status := api.PartiallyImplemented
	for _, where := range []string{"true", `applicability == "applicable"`} {
		edit := &api.EditSoAItemsInput{SoAInput: api.SoAInput{SoAVersionID: v.ID}}
		edit.Body.Where = where
		if edit.Body.Set.Owner, edit.Body.Set.Note = api.Some("Head of IT"), api.Some("Seen"); where != "true" {
			edit.Body.Set.ImplementationStatus = &status
		}
		if _, err := w.Assessments.EditSoAItems(b.Context(), w.by, edit); err != nil {
			b.Fatal(err)
		}
	}
	var creating, drafting time.Duration
	rounds := 0
	for b.Loop() {
		in := &api.CreateAssessmentInput{}
		in.Body.Name, in.Body.From = fmt.Sprint("Year ", rounds), a.ID
		began := time.Now()
		next, err := w.Assessments.Create(b.Context(), w.by, in)
		if err != nil || next.CarriedFrom.Decisions[api.GateSoA] != v.ItemCount {
			b.Fatalf("%d of %d lines, %v", next.CarriedFrom.Decisions[api.GateSoA], v.ItemCount, err)
		}
		creating += time.Since(began)
		began = time.Now()
		of := &api.DraftSoAInput{AssessmentInput: api.AssessmentInput{AssessmentID: next.ID}}
		if _, err := w.Assessments.DraftSoA(b.Context(), w.by, of); err != nil {
			b.Fatal(err)
		}
		drafting += time.Since(began)
		rounds++
	}
	b.ReportMetric(float64(v.ItemCount), "lines")
	b.ReportMetric(float64(creating.Milliseconds())/float64(rounds), "ms/carry")
	b.ReportMetric(float64(drafting.Milliseconds())/float64(rounds), "ms/draft")
}
