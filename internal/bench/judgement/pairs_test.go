package judgement

import (
	"cmp"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/scf-service/service/engine/evidence"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/examples/judged"
	"github.com/scf-service/service/internal/testutil/longtest"
	"github.com/scf-service/service/internal/testutil/shareddata"
)

// pair identifies a statement and a sentence by the beginnings of their SHA-256 hashes.
type pair struct{ statement, quote string }

type labeledPair struct {
	pair
	drafted string // verdict of builtin/10: said, partly, or next (the best sentence not accepted)
	says    string // 0: supports no part of the statement, 1: a part, 2: all of it
}

// TestLabeledPairs measures on individually labeled pairs (docs/measurements.md) how often a sentence that supports
// at least part of a statement has a higher score than one that doesn't. The sentences were once accepted as
// evidence.
func TestLabeledPairs(t *testing.T) {
	longtest.SkipUnlessEnabled(t) // judges two companies and two collections with all controls of a workbook
	labels := labeledPairs(t)
	shared := shareddata.PathOrSkip(t, "evidence")
	folders := map[string]fs.FS{
		"mixed":     os.DirFS(filepath.Join(shared, "mixed")),
		"tailscale": os.DirFS(filepath.Join(shared, "tailscale")),
	}
	for _, company := range []string{"fennick", "tallybird"} {
		sub, err := fs.Sub(judged.Folder(), company+"/evidence")
		if err != nil {
			t.Fatal(err)
		}
		folders[company] = sub
	}
	floors := map[string]float64{
		"fennick workbook":   0.88,
		"fennick starter":    0.93,
		"tallybird workbook": 0.83,
		"tallybird starter":  0.71,
		"mixed workbook":     0.80,
		"tailscale workbook": 0.86,
	}
	for _, by := range []string{"workbook", "starter"} {
		o := Options{Today: judged.Today}
		if by == "workbook" {
			o.Catalog = Workbook(t, "scf-2026.1.1-like.xlsx")
		}
		r, err := newRunner(o)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.trainAndPrepareControls(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, company := range []string{"fennick", "tallybird", "mixed", "tailscale"} {
			name := company + " " + by
			if len(labels[name]) == 0 {
				continue
			}
			library, err := evidence.ReadLibrary(t.Context(), folders[company], r.model, judge.GuessCategory)
			if err != nil {
				t.Fatal(err)
			}
			heard := statementScores(t, r, library)
			var yes, no []float64
			missed := 0
			for _, l := range labels[name] {
				says, was := heard[l.pair]
				if !was {
					missed++
				}
				switch {
				case l.drafted == "next":
				case l.says == "0":
					no = append(no, says)
				default:
					yes = append(yes, says)
				}
			}
			area := shareAbove(yes, no)
			t.Logf(
				"%s: %.3f of %d and %d; %d of %d not held against each other any more",
				name,
				area,
				len(yes),
				len(no),
				missed,
				len(labels[name]),
			)
			if area < floors[name] {
				t.Errorf("%s: %.3f, want %.2f", name, area, floors[name])
			}
		}
	}
}

// statementScores returns how much of each statement is supported by each sentence of a library.
func statementScores(t *testing.T, r *runner, library *evidence.Library) map[pair]float64 {
	session, err := library.NewSession("")
	if err != nil {
		t.Fatal(err)
	}
	judging, err := r.prepared.Evaluate(t.Context(), session, r.judgeOptions())
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	heard := map[pair]float64{}
	judging.SetTrace(func(statement, sentence string, says float64) {
		key := pair{beginning(statement), beginning(sentence)}
		mu.Lock()
		defer mu.Unlock()
		heard[key] = max(heard[key], says)
	})
	if _, err := judging.EvaluateAll(t.Context(), r.controlList, 2); err != nil {
		t.Fatal(err)
	}
	return heard
}

// shareAbove returns how often a number in one list is greater than one in the other, counting equal ones as half.
func shareAbove(yes, no []float64) float64 {
	won := 0.0
	for _, y := range yes {
		for _, n := range no {
			won += float64(cmp.Compare(y, n)+1) / 2
		}
	}
	return won / float64(len(yes)*len(no))
}

func beginning(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:6])
}

// labeledPairs returns the labeled pairs by company and catalog.
func labeledPairs(t *testing.T) map[string][]labeledPair {
	f, err := os.Open(filepath.Join("testdata", "pairs.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]labeledPair{}
	for _, row := range rows[1:] {
		name := row[0] + " " + row[1]
		out[name] = append(out[name], labeledPair{pair{row[2], row[3]}, row[4], row[5]})
	}
	return out
}
