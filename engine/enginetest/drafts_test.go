package enginetest_test

import (
	"fmt"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/engine/enginetest"
	"github.com/scf-service/service/examples/harbor"
)

// bench is an engine on an empty folder with its local user.
type bench struct {
	*engine.Engine
	by api.Caller
}

func newBench(t testing.TB) *bench {
	t.Helper()
	e := enginetest.New(t)
	return &bench{e, localUser(t, e)}
}

// assess creates an assessment with the documents of a folder and moves it to a state that needs no
// decision.
func (b *bench) assess(t testing.TB, framework string, evidence fs.FS, to api.State) *api.Assessment {
	t.Helper()
	ctx := t.Context()
	in := &api.CreateAssessmentInput{}
	in.Body.Name, in.Body.FrameworkID = "Test", framework
	a, err := b.Assessments.Create(ctx, b.by, in)
	if err != nil {
		t.Fatal(err)
	}
	if evidence == nil {
		evidence = fstest.MapFS{}
	}
	b.uploadAll(t, a.ID, evidence)
	for a.State != to {
		next, _ := a.State.NextMove()
		move := &api.TransitionInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}}
		move.Body.TargetState = next.To
		if _, err := b.Assessments.Transition(ctx, b.by, move); err != nil {
			t.Fatalf("to %s: %v", next.To, err)
		}
		if a, err = b.Assessments.Get(ctx, b.by, &api.AssessmentInput{AssessmentID: a.ID}); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// uploadAll uploads the documents of a folder to an assessment.
func (b *bench) uploadAll(t testing.TB, assessment string, evidence fs.FS) {
	t.Helper()
	ctx := t.Context()
	err := fs.WalkDir(evidence, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := evidence.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = b.Evidence.Upload(
			ctx,
			b.by,
			&api.UploadDocumentInput{
				AssessmentInput: api.AssessmentInput{AssessmentID: assessment},
				File:            api.UploadFile{Filename: path, Content: f},
			},
		)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// soaItems returns the items of the newest Statement of Applicability.
func (b *bench) soaItems(t testing.TB, assessment string) []api.SoAItem {
	t.Helper()
	d, err := b.Assessments.Snapshot(t.Context(), b.by, assessment)
	if err != nil {
		t.Fatal(err)
	}
	if d.SoA == nil {
		return nil
	}
	newest := b.latestSoA(t, assessment).ID
	if d.SoA.ID == newest {
		return d.SoAItems
	}
	in := &api.SoAItemsInput{SoAInput: api.SoAInput{SoAVersionID: newest}}
	in.Limit = api.MaxListLimit
	l, err := b.Assessments.ListSoAItems(t.Context(), b.by, in)
	if err != nil || len(l.Data) != d.SoA.ItemCount {
		t.Fatalf("%d items, %v", len(l.Data), err)
	}
	return l.Data
}

// TestSameEvidenceSameDrafts checks that drafts don't depend on the order in which documents are
// read.
func TestSameEvidenceSameDrafts(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and of one goroutine")
	}
	var first []string
	for range 2 {
		b := newBench(t)
		a := b.assess(t, "iso-27001-2022", harbor.Evidence(), api.StateSoADrafted)
		var got []string
		for _, i := range b.soaItems(t, a.ID) {
			line := fmt.Sprint(
				i.ControlCode,
				i.ImplementationStatus,
				i.Confidence,
				i.Reason,
				i.MissingElements,
				i.Applicability,
				i.Rationale,
			)
			for _, e := range i.Evidence {
				line += fmt.Sprint(e.Filename, e.Locator, e.Quote, e.Score, e.Stance)
			}
			got = append(got, line)
		}
		if first == nil {
			first = got
			continue
		}
		for n := range first {
			if first[n] != got[n] {
				t.Errorf("twice the same evidence, and two drafts:\n%s\n%s", first[n], got[n])
			}
		}
	}
}
