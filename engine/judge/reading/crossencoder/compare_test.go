package crossencoder

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestAgreesWithTraining compares the network with what PyTorch computed after a training: the folder of the
// environment variable SERVICE_READER_OUT has reader.bin and expected.jsonl.
func TestAgreesWithTraining(t *testing.T) {
	folder := os.Getenv("SERVICE_READER_OUT")
	if folder == "" {
		t.Skip("SERVICE_READER_OUT names no folder that train.py wrote")
	}
	began := time.Now()
	n, err := ReadFile(filepath.Join(folder, "reader.bin"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("loaded in %s", time.Since(began))
	f, err := os.Open(filepath.Join(folder, "expected.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	var s scratch
	worst, differs, passages, tokens := 0.0, 0, 0, 0
	began = time.Now()
	for ; lines.Scan(); passages++ {
		var e struct {
			Statement, Context, Passage string
			Probabilities               [5]float64
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		best := [5]float64{silent: 2}
		for _, w := range windows(e.Passage) {
			ids, second := n.encodePair(e.Statement, piece{e.Context, w})
			tokens += len(ids)
			if p := n.probabilities(&s, ids, second); p[silent] < best[silent] {
				best = p
			}
		}
		for l, v := range best {
			worst = max(worst, math.Abs(v-e.Probabilities[l]))
		}
		if mostLikely(best) != mostLikely(e.Probabilities) {
			differs++
		}
	}
	t.Logf("%d passages, %d labels differ, probabilities by at most %.4f; %.0f word pieces/s on one core", passages, differs, worst,
		float64(tokens)/time.Since(began).Seconds())
	if passages == 0 || worst > 0.01 || differs > passages/50 {
		t.Error("the runner differs from PyTorch")
	}
}
