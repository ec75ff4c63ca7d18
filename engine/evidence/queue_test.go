package evidence

import (
	"context"
	"fmt"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// Documents whose reading crashed the program are read after all others, one at a time.
func TestSuspectsComeLast(t *testing.T) {
	var q queue
	q.init()
	q.addSuspect(job{document: "suspect"})
	q.addSuspect(job{document: "another suspect"})
	q.add(job{document: "new"})
	next := func() string {
		q.mu.Lock()
		defer q.mu.Unlock()
		j, _ := q.next()
		return j.document
	}
	if got := []string{next(), next(), next()}; fmt.Sprint(got) != "[new suspect ]" {
		t.Errorf("the order is %q", got)
	}
	q.add(job{document: "newer"})
	if w, running, _ := q.counts(); w != 2 || running != 2 {
		t.Errorf("%d wait, %d are read", w, running)
	}
	got := []string{next()}
	q.finishOrRepeat(job{document: "suspect"}, nil)
	if got = append(got, next()); fmt.Sprint(got) != "[newer another suspect]" {
		t.Errorf("then it is %q", got)
	}
}

// An attempt is counted before it is made, and the count is deleted only when one ends.
func TestReadAttempts(t *testing.T) {
	db := packedStore(t)
	do := func(f func(tx *store.Tx, org, document string) error) error {
		return db.Update(context.Background(), func(tx *store.Tx) error { return f(tx, packedOrg, "d") })
	}
	for i, step := range []struct {
		do      func(tx *store.Tx, org, document string) error
		allowed bool
	}{
		{beginRead, true},
		{undoBeginRead, true}, // interrupted
		{beginRead, true},     // the program was killed here,
		{beginRead, true},     // and here
		{beginRead, false},
		{beginRead, false}, // trying again changes nothing
		{endRead, true},
		{beginRead, true},
		{beginRead, true},
		{undoBeginRead, true},
		{beginRead, true},
		{beginRead, false},
	} {
		if err := do(step.do); (err == nil) != step.allowed {
			t.Errorf("step %d: %v", i, err)
		}
	}
}

// A document is marked as failed, without being read, if the program was killed twice while reading it.
func TestKillerIsFailed(t *testing.T) {
	db := packedStore(t)
	s := &Service{db: db}
	s.queue.init()
	doc := store.Document{}
	doc.ID, doc.OrganizationID, doc.AssessmentID, doc.Status = "d", packedOrg, packedAssessment, api.DocumentProcessing
	err := db.Update(t.Context(), func(tx *store.Tx) error {
		if err := beginRead(tx, packedOrg, "d"); err != nil {
			return err
		}
		if err := beginRead(tx, packedOrg, "d"); err != nil {
			return err
		}
		return store.Documents.Put(tx, packedOrg, &doc)
	})
	if err == nil {
		err = s.ingest(t.Context(), job{packedOrg, "d"})
	}
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Get(t.Context(), api.Caller{OrganizationID: packedOrg}, &api.DocumentInput{DocumentID: "d"})
	if err != nil || got.Status != api.DocumentFailed || *got.Error != errTooManyAttempts.Error() {
		t.Errorf("%+v, %v", got, err)
	}
}

// Organizations take turns, so that one with many documents doesn't delay the others.
func TestOrganizationsTakeTurns(t *testing.T) {
	var q queue
	q.init()
	for n := range 3 {
		q.add(job{"many", fmt.Sprint(n)})
	}
	q.add(job{"few", "a"})
	q.add(job{"one", "b"})
	var got []string
	for range 5 {
		j, _ := q.next()
		got = append(got, j.organization+j.document)
	}
	if fmt.Sprint(got) != "[many0 fewa oneb many1 many2]" {
		t.Error(got)
	}
}
