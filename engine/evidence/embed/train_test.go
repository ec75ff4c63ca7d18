package embed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

// starter returns a catalog of n controls in the style of a real one, in our own words: the lexicon's concepts,
// phrased as requirements.
func starter(n int) Corpus {
	var c Corpus
	concepts := readLexicon()
	for i := range n {
		ways := concepts[i%len(concepts)]
		more := concepts[(i*7+3)%len(concepts)]
		c.Documents = append(c.Documents, Document{
			ID: fmt.Sprintf("X-%03d", i),
			Texts: []string{
				ways[0],
				"The organization runs a process for " + ways[0] + ", so that " + ways[len(ways)-1] + ".",
				"Does the organization manage " + ways[0] + " together with " + more[0] + "?",
				"Nobody is responsible for " + ways[0] + ".",
				"Responsibility for " + ways[0] + " is assigned and " + ways[1] + " is measured every year.",
			},
			Codes: []string{fmt.Sprintf("demo:%d", i/3), fmt.Sprintf("other:%d", i%40)},
		})
	}
	return c
}

func train(t testing.TB, c Corpus, o Options) *Model {
	t.Helper()
	m, err := Train(context.Background(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func cosine(t testing.TB, m *Model, a, b string) float32 {
	t.Helper()
	v, err := m.Embed(context.Background(), []string{a, b})
	if err != nil {
		t.Fatal(err)
	}
	return dot(v[0], v[1])
}

func TestTrainingIsDeterministic(t *testing.T) {
	a, _ := train(t, starter(40), Options{Seed: 7}).MarshalBinary()
	b, _ := train(t, starter(40), Options{Seed: 7}).MarshalBinary()
	if !bytes.Equal(a, b) {
		t.Error("the same corpus and seed gave two models")
	}
	c, _ := train(t, starter(40), Options{Seed: 8}).MarshalBinary()
	if bytes.Equal(a, c) {
		t.Error("another seed gave the same model")
	}
}

func TestMeaningWithoutSharedWords(t *testing.T) {
	m := train(t, starter(200), Options{})
	for _, c := range []struct{ query, near, far string }{
		{"two-factor login", "MFA for everyone", "fire extinguishers in the building"},
		{"leaver", "terminated employees", "firewall rules"},
		{"pen test", "ethical hackers attack us", "retention of paper records"},
		{"supplier due diligence", "vendor questionnaires", "screen lock"},
		{"authorisation", "authorization", "smoke detector"},
	} {
		if near, far := cosine(t, m, c.query, c.near), cosine(t, m, c.query, c.far); near < far+0.2 {
			t.Errorf("%q: %.2f to %q, %.2f to %q", c.query, near, c.near, far, c.far)
		}
	}
}

func TestEmbed(t *testing.T) {
	m := train(t, starter(40), Options{Dimensions: 64})
	texts := []string{"backup", "", "the of and", "qqqqzzzz", "backups", strings.Repeat("firewall ", 50_000), "\xff\xfe"}
	v, err := m.Embed(context.Background(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, false, false, false, true, true, false} {
		if len(v[i]) != 64 {
			t.Fatalf("%d dimensions", len(v[i]))
		}
		length := math.Sqrt(float64(dot(v[i], v[i])))
		if want && math.Abs(length-1) > 1e-4 || !want && length != 0 {
			t.Errorf("%.20q has length %v", texts[i], length)
		}
	}
	if near := cosine(t, m, "encryptoin", "encryption"); near < 0.5 {
		t.Errorf("a misspelt word is %.2f from the right one", near)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := m.Embed(ctx, texts); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestTrainRefuses(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]Corpus{
		"nothing":    {},
		"no text":    {Documents: []Document{{ID: "a"}}},
		"stop words": {Documents: []Document{{ID: "a", Texts: []string{"the of", "…"}}}},
	} {
		if _, err := Train(ctx, c, Options{}); !errors.Is(err, ErrCorpus) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Train(ctx, starter(3), Options{Dimensions: 1}); err == nil {
		t.Error("one dimension was accepted")
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Train(stopped, starter(3), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestTrainOnLittle(t *testing.T) {
	c := Corpus{
		Documents: []Document{{ID: "a", Texts: []string{"one"}}, {ID: "a", Texts: []string{"two words"}}, {}},
		Pairs: []Pair{
			{Text: "unknown", IDs: []string{"nobody"}},
			{Text: "odd weights", IDs: []string{"a", "a"}, Weights: []float32{float32(math.NaN()), float32(math.Inf(1))}},
			{Text: "good", IDs: []string{"a"}, Weights: []float32{2}},
		},
	}
	m := train(t, c, Options{})
	if got := cosine(t, m, "one", "one"); math.Abs(float64(got)-1) > 1e-4 {
		t.Errorf("a text is %v from itself", got)
	}
}

func TestProgressRunsToTheEnd(t *testing.T) {
	last, total := -1, 0
	train(t, starter(40), Options{Progress: func(d, n int) {
		if d < last || d > n || total != 0 && n != total {
			t.Errorf("progress went from %d to %d of %d", last, d, n)
		}
		last, total = d, n
	}})
	if last != total || total == 0 {
		t.Errorf("ended at %d of %d", last, total)
	}
}

func TestLexiconIsWellFormed(t *testing.T) {
	seen := make(map[string]bool)
	for i, c := range readLexicon() {
		if len(c) < 2 {
			t.Errorf("concept %d (%q) has one way only", i+1, c)
		}
		if seen[c[0]] {
			t.Errorf("%q leads two concepts", c[0])
		}
		seen[c[0]] = true
	}
}

func TestDirections(t *testing.T) {
	// [[2 1] [1 2]] has the eigenvalues 3 and 1; the product of its rows gives the matrix again.
	m := &sparseMatrix{start: []int{0, 2, 4}, column: []int32{0, 1, 0, 1}, value: []float32{2, 1, 1, 2}}
	rows, err := eigenRows(context.Background(), m, 4, newRNG(1))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		for j := range 2 {
			want := 1.0
			if i == j {
				want = 2
			}
			if got := dot(rows[i*4:i*4+4], rows[j*4:j*4+4]); math.Abs(float64(got)-want) > 1e-4 {
				t.Errorf("entry %d,%d is %v, want %v", i, j, got, want)
			}
		}
	}
}

func BenchmarkTrainStarter(b *testing.B) {
	c := starter(200)
	for b.Loop() {
		train(b, c, Options{})
	}
}

func BenchmarkEmbed1000Passages(b *testing.B) {
	m := train(b, starter(200), Options{})
	var texts []string
	concepts := readLexicon()
	for i := range 1000 {
		var s []string
		for k := range 8 {
			s = append(s, concepts[(i*5+k*11)%len(concepts)]...)
		}
		w := strings.Fields(strings.Join(s, " "))
		texts = append(texts, strings.Join(w[:min(120, len(w))], " "))
	}
	for b.Loop() {
		if _, err := m.Embed(context.Background(), texts); err != nil {
			b.Fatal(err)
		}
	}
}
