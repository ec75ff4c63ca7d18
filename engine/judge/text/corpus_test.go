package text

import (
	"encoding/csv"
	"os"
	"testing"
)

// The sentences, of five kinds, were written independently of the rules (docs/measurements.md). For each kind a minimum
// share must be read correctly as stating a gap or failure, or none.
func TestSentenceCorpus(t *testing.T) {
	f, err := os.Open("testdata/sentences.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	type count struct{ right, all int }
	kinds := map[string]*count{"lack": {}, "failure": {}, "nothing": {}, "rule": {}, "good": {}}
	for _, row := range rows[1:] {
		kind, text := row[1], row[2]
		n := kinds[kind]
		if n == nil {
			t.Fatalf("%q has unknown kind %q", text, kind)
		}
		c := Analyze(text, 0)
		against, less := false, false
		for i := range c.Sentences {
			s := &c.Sentences[i]
			against = against || s.Denied&^s.harmless != 0 || s.Discontinued != 0 || c.DescribesUnremediedFailure(i, true)
			less = less || s.Limit != "" || s.Rare != 0 || s.StillPresent
		}
		n.all++
		if found := against || kind == "failure" && less; found == (kind == "lack" || kind == "failure") {
			n.right++
		} else {
			t.Logf("%s: %s", kind, text)
		}
	}
	floors := map[string]float64{"lack": 0.95, "failure": 0.93, "nothing": 0.83, "rule": 0.93, "good": 0.9}
	for kind, n := range kinds {
		share := float64(n.right) / float64(n.all)
		t.Logf("%s: %d of %d", kind, n.right, n.all)
		if share < floors[kind] {
			t.Errorf("%s: %.2f, want at least %.2f", kind, share, floors[kind])
		}
	}
}
