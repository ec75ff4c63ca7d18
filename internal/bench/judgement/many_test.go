package judgement_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/catalog/starter"
	"github.com/scf-service/service/engine/evidence"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/examples/judged"
)

// TestFiveThousandDocuments checks that the one supporting document among five thousand is found, and that a document
// that only shares a word with a control is not quoted.
func TestFiveThousandDocuments(t *testing.T) {
	src, err := starter.Load()
	if err != nil {
		t.Fatal(err)
	}
	snap, err := scf.NewSnapshot(src, scf.Version{ID: "018f0000-0000-7000-8000-000000000000"})
	if err != nil {
		t.Fatal(err)
	}
	controls, err := snap.Controls(scf.ControlFilter{})
	if err != nil {
		t.Fatal(err)
	}
	model, err := evidence.TrainEmbedder(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	folder := fstest.MapFS{
		"access.md": {
			Data: []byte(
				"# Access policy\n\nVersion 2, approved by the managing director on 2026-02-01.\n\n" +
					"Multi-factor authentication is required for all remote access, for every privileged account and for cloud applications.\n",
			),
		},
	}
	for i := range 5000 {
		folder[fmt.Sprintf("note-%04d.txt", i)] = &fstest.MapFile{
			Data: fmt.Appendf(nil, "Canteen menu of day %d: soup %d and bread with %d olives.\n", i, i*7, i%13),
		}
	}
	library, err := evidence.ReadLibrary(t.Context(), folder, model, judge.GuessCategory)
	if err != nil {
		t.Fatal(err)
	}
	session, err := library.NewSession("")
	if err != nil {
		t.Fatal(err)
	}
	asked, err := assessment.PrepareControlsForEvaluation(t.Context(), model, controls, controls)
	if err != nil {
		t.Fatal(err)
	}
	judging, err := asked.Evaluate(t.Context(), session, judge.Options{Today: judged.Today})
	if err != nil {
		t.Fatal(err)
	}
	all, err := judging.EvaluateAll(t.Context(), controls, 2)
	if err != nil {
		t.Fatal(err)
	}
	for i, j := range all {
		for _, e := range j.Evidence {
			if strings.HasPrefix(e.Filename, "note-") {
				t.Errorf("%s rests on a menu: %q", controls[i].Code, e.Quote)
			}
		}
		if controls[i].Code == "IAC-06" && (j.Implementation == api.NotEvidenced || len(j.Evidence) == 0) {
			t.Errorf("IAC-06 is %s: %s", j.Implementation, j.Reason)
		}
	}
}
