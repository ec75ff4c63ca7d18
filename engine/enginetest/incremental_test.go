package enginetest_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/engine/api"
)

// A draft that reads only what documents changed is the draft that reads all of them anew,
// to the byte, whatever came, was replaced and went in between.
func TestDraftAfterChangesIsTheWholeDraft(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and of one goroutine")
	}
	b := newBench(t)
	ctx := t.Context()
	a := b.assess(t, "iso-27001-2022", policies(t, 6, 1), api.StateFrameworkSelected)
	in := &api.AssessmentInput{AssessmentID: a.ID}
	draft := func() (string, string) {
		t.Helper()
		v, err := b.Assessments.DraftSoA(ctx, b.by, in)
		if err != nil {
			t.Fatal(err)
		}
		d, err := b.Assessments.Dossier(ctx, b.by, a.ID)
		if err != nil {
			t.Fatal(err)
		}
		items := slices.Clone(d.SoAItems)
		for i := range items {
			items[i].Item = api.Item{ControlCode: items[i].ControlCode, RequirementCodes: items[i].RequirementCodes}
		}
		text, err := json.Marshal(items)
		if err != nil {
			t.Fatal(err)
		}
		return v.ContentSHA256, string(text)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	seen := map[string]bool{}
	for step := range 12 {
		list := &api.DocumentsInput{AssessmentInput: *in}
		list.Limit = 200
		docs, err := b.Evidence.List(ctx, b.by, list)
		if err != nil {
			t.Fatal(err)
		}
		any := docs.Data[rng.IntN(len(docs.Data))]
		switch what := rng.IntN(3); {
		case what == 0 && len(docs.Data) > 3:
			if _, err := b.Evidence.Delete(ctx, b.by, &api.DocumentInput{DocumentID: any.ID}); err != nil {
				t.Fatal(err)
			}
		case what == 1:
			for _, f := range policies(t, 1, uint64(200+step)) {
				up := &api.UploadDocumentInput{AssessmentInput: *in, File: api.UploadFile{Filename: any.Filename, Content: strings.NewReader(string(f.Data))}, Replaces: any.ID}
				if _, err := b.Evidence.Upload(ctx, b.by, up); err != nil {
					t.Fatal(err)
				}
			}
		default:
			b.uploadAll(t, a.ID, policies(t, 1+rng.IntN(2), uint64(100+step)))
		}
		hash, after := draft()
		seen[hash] = true
		if step%3 != 2 {
			continue // what is remembered is added to more than once
		}
		b.Assessments.Forget(a.ID)
		whole, all := draft()
		if hash != whole || after != all {
			t.Fatalf("step %d: the draft after a change is another than that of all documents:\n%s", step, firstDifference(after, all))
		}
	}
	if len(seen) < 8 {
		t.Errorf("12 changes made only %d different drafts: they test little", len(seen))
	}
}

func firstDifference(a, b string) string {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	from := max(0, n-300)
	return a[from:min(len(a), n+300)] + "\nwhole:\n" + b[from:min(len(b), n+300)]
}
