package judgement

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/catalog/workbook"
	"github.com/scf-service/service/engine/evidence"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/examples/judged"
	"github.com/scf-service/service/internal/testutil/longtest"
	"github.com/scf-service/service/internal/testutil/shareddata"
)

// TestPublishedPolicies measures the rules on published policies with all controls of a workbook. Readers who had not
// seen a draft labeled 210 controls for each policy set, sampled by the draft's verdict and weighted to represent all
// controls (docs/measurements.md). Unlike in the invented companies, most controls are not evidenced there.
func TestPublishedPolicies(t *testing.T) {
	longtest.SkipUnlessEnabled(t)
	r, err := newRunner(Options{Catalog: Workbook(t, "scf-2026.1.1-like.xlsx"), Today: judged.Today})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.trainAndPrepareControls(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, floor := range map[string]struct{ kappa, precision, recall float64 }{
		"mixed": {0.55, 0.71, 0.79}, "tailscale": {0.42, 0.58, 0.60},
	} {
		t.Run(name, func(t *testing.T) {
			set, weights := published(t, name)
			library, err := evidence.ReadLibrary(t.Context(), os.DirFS(shareddata.PathOrSkip(t, "evidence", name)), r.model, judge.GuessCategory)
			if err != nil {
				t.Fatal(err)
			}
			judgements, _, err := r.judgeLabeledControls(t.Context(), set, library, "")
			if err != nil {
				t.Fatal(err)
			}
			var confusion [5][5]int // in hundredths of a control
			var both, drafted, labeled float64
			for i, l := range set.Labels {
				got, w := judgements[i].Implementation, weights[i]
				confusion[slices.Index(Verdicts, l.Verdict)][slices.Index(Verdicts, got)] += int(w * 100)
				is := func(v api.Implementation) float64 {
					if v == api.Implemented || v == api.PartiallyImplemented {
						return w
					}
					return 0
				}
				drafted, labeled, both = drafted+is(got), labeled+is(l.Verdict), both+min(is(got), is(l.Verdict))
			}
			_, kappa := Kappa(confusion)
			precision, recall := both/drafted, both/labeled
			t.Logf(
				"kappa %.3f; evidenced P %.2f R %.2f; drafted %.0f, labeled %.0f; %v",
				kappa,
				precision,
				recall,
				drafted,
				labeled,
				confusion,
			)
			if kappa < floor.kappa || precision < floor.precision || recall < floor.recall {
				t.Errorf("kappa %.3f, precision %.2f, recall %.2f; want %v", kappa, precision, recall, floor)
			}
		})
	}
}

// Workbook reads a workbook from outside the repository.
func Workbook(t *testing.T, name string) *scf.Source {
	data, err := os.ReadFile(shareddata.PathOrSkip(t, "scf", name))
	if err != nil {
		t.Fatal(err)
	}
	src, err := workbook.Read(t.Context(), bytes.NewReader(data), int64(len(data)), workbook.Options{Filename: name})
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func published(t *testing.T, name string) (*Set, []float64) {
	f, err := os.Open(filepath.Join("testdata", "published", name+".csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	set, weights := &Set{Name: name}, []float64(nil)
	for _, row := range rows[1:] {
		w, err := strconv.ParseFloat(row[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		set.Labels, weights = append(set.Labels, Label{Control: row[0], Verdict: api.Implementation(row[1])}), append(weights, w)
	}
	return set, weights
}
