package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// shaped is a made-up embedder: a text's vector depends only on its words.
func shaped(texts []string) [][]float32 {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		v := make([]float32, 16)
		for _, w := range strings.Fields(strings.ToLower(t)) {
			rng := rand.New(rand.NewPCG(uint64(len(w)), uint64(w[0])<<8|uint64(w[len(w)-1])))
			for k := range v {
				v[k] += rng.Float32() - 0.3
			}
		}
		normalize(v)
		out[i] = v
	}
	return out
}

const standingWords = "access accounts are reviewed every quarter by owners backups restored tested logs kept protected " +
	"incidents reported within hours suppliers assessed before contracts keys rotated data encrypted at rest staff trained " +
	"yearly visitors escorted patches applied risks accepted changes approved"

func written(rng *rand.Rand, n int) string {
	all := strings.Fields(standingWords)
	var out []string
	for range n {
		out = append(out, all[rng.IntN(len(all))])
	}
	return strings.Join(out, " ")
}

// Whatever documents were added and removed in whatever order, the answers are those of a new index, and a
// question's version changes whenever its answers do.
func TestStandingIsAsIfFilledAtOnce(t *testing.T) {
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var texts []string
		for range 60 {
			texts = append(texts, written(rng, 3+rng.IntN(9)))
		}
		scale := NewScale(texts, shaped, Background{0.1, 0.1}, nil)
		var asked []Question
		for i, s := range texts {
			q := Question{Text: s}
			if i%7 != 0 {
				q.Vector = shaped([]string{s})[0]
			}
			asked = append(asked, q)
		}
		s, err := NewPersistentQueries(scale, asked, 5)
		if err != nil {
			t.Fatal(err)
		}
		documents := map[string][]Passage{}
		before := make([]string, len(asked))
		versions := make([]int, len(asked))
		for step := range 40 {
			name := fmt.Sprintf("d%d", rng.IntN(12))
			var ps []Passage
			if rng.IntN(4) > 0 {
				for i := range rng.IntN(9) {
					p := Passage{ID: fmt.Sprintf("%s-%d-%d", name, i, rng.IntN(3)), Text: written(rng, 5+rng.IntN(30))}
					if rng.IntN(10) > 0 {
						p.Vector = shaped([]string{p.Text})[0]
					}
					ps = append(ps, p)
					if rng.IntN(5) == 0 { // a duplicate with another ID
						p.ID += "b"
						ps = append(ps, p)
					}
				}
			}
			documents[name] = ps
			if _, err := s.ReplaceDocument(name, ps...); err != nil {
				t.Fatal(err)
			}
			fresh, err := NewPersistentQueries(scale, asked, 5)
			if err != nil {
				t.Fatal(err)
			}
			names := make([]string, 0, len(documents))
			for n := range documents {
				names = append(names, n)
			}
			slices.Sort(names)
			rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
			for _, n := range names {
				if _, err := fresh.ReplaceDocument(n, documents[n]...); err != nil {
					t.Fatal(err)
				}
			}
			for n := range asked {
				got, version := s.TopAnswers(n), s.Version(n)
				want := fresh.TopAnswers(n)
				if a, b := answer(got, false), answer(want, false); a != b {
					t.Fatalf("seed %d, step %d, question %d:\n%s\nafresh:\n%s", seed, step, n, a, b)
				}
				if now := answer(got, true); now != before[n] && version == versions[n] {
					t.Fatalf("seed %d, step %d: question %d has another answer under its version %d", seed, step, n, version)
				} else {
					before[n], versions[n] = now, version
				}
			}
		}
	}
}

func answer(best []Answer, slots bool) string {
	var b strings.Builder
	for _, r := range best {
		fmt.Fprintf(&b, "%s %v\n", r.ID, r.Score)
		if slots {
			fmt.Fprintln(&b, r.Slot)
		}
	}
	return b.String()
}
