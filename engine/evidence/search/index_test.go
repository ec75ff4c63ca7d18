package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"sort"
	"strings"
	"sync"
	"testing"
)

func fill(t testing.TB, x *Index, passages ...Passage) {
	t.Helper()
	if err := x.Put(passages...); err != nil {
		t.Fatal(err)
	}
}

func find(t testing.TB, x *Index, q Query) []Result {
	t.Helper()
	r, err := x.Search(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func ids(results []Result) string {
	var out []string
	for _, r := range results {
		out = append(out, r.ID)
	}
	return strings.Join(out, " ")
}

func TestAskedToTheLetterComesFirst(t *testing.T) {
	x := New(Options{})
	v := func(a, b float32) []float32 { return []float32{a, b, 0.1} }
	fill(t, x,
		Passage{ID: "code", Text: "Details are in annex IAC-06 of the handbook.", Vector: v(-1, 0.2)},
		Passage{ID: "near-code", Text: "Annex IAC-06.1 and IAC-07 say more.", Vector: v(-1, 0.3)},
		Passage{ID: "iso", Text: "Mapped to A.5.17", HeadingPath: []string{"Appendix"}, Vector: v(-1, 0.1)},
		Passage{ID: "phrase", Text: "We hold a quarterly access review meeting.", Vector: v(-1, -0.2)},
		Passage{ID: "scattered", Text: "Access to the meeting is for those who review.", Vector: v(1, 0)},
		Passage{ID: "name", Text: "Ask Jane Miller.", Vector: v(-1, -1)},
		Passage{ID: "product", Text: "Drives use BitLocker.", Vector: v(-1, -1)},
		Passage{ID: "meant", Text: "Who may sign in and how", Vector: v(1, 0.1)},
	)
	asks := v(1, 0)
	for _, c := range []struct{ query, first string }{
		{"IAC-06", "code"},
		{"what does iac-06 ask for", "code"},
		{"IAC‑06", "code"},
		{"A.5.17", "iso"},
		{`minutes of the "access review"`, "phrase"},
		{"minutes of the “access reviews”", "phrase"},
		{"phone of Jane Miller", "name"},
		{"how is BitLocker set up", "product"},
	} {
		r := find(t, x, Query{Text: c.query, Vector: asks})
		if r[0].ID != c.first || r[0].Score < minExactScore || r[1].Score >= minExactScore {
			t.Errorf("%s: %s first with %.2f, then %s with %.2f; want %s", c.query, r[0].ID, r[0].Score, r[1].ID, r[1].Score, c.first)
		}
	}
	for _, query := range []string{"who signs in", "Access Control Policy", `"never written anywhere"`, "MFA", "ZZZ-99"} {
		if r := find(t, x, Query{Text: query, Vector: asks}); r[0].Score >= minExactScore {
			t.Errorf("%s: %s scores %.2f as if asked for to the letter", query, r[0].ID, r[0].Score)
		}
	}
	two := find(t, x, Query{Text: "A.5.17 or IAC-06", Vector: asks, TopK: 3})
	if two[0].Score < minExactScore || two[1].Score < minExactScore || two[2].Score >= minExactScore {
		t.Errorf("two codes: %v", two)
	}
}

func TestMeaningLeadsAndWordsDecide(t *testing.T) {
	x := New(Options{})
	fill(t, x,
		Passage{ID: "a", Text: "alpha", Vector: []float32{1, 0, 0}},
		Passage{ID: "b", Text: "beta", Vector: []float32{1, 0, 0}},
		Passage{ID: "c", Text: "gamma", Vector: []float32{0, 1, 0}},
		Passage{ID: "none", Text: "beta without a vector"},
	)
	if got := ids(find(t, x, Query{Text: "beta", Vector: []float32{1, 0.1, 0}, TopK: 2})); got != "b a" {
		t.Errorf("equal meaning: %s", got)
	}
	if got := ids(find(t, x, Query{Text: "beta"})); got != "b none" {
		t.Errorf("without a vector: %s", got)
	}
	if got := ids(find(t, x, Query{Vector: []float32{0, 1, 0}, TopK: 1})); got != "c" {
		t.Errorf("without text: %s", got)
	}
	if got := ids(find(t, x, Query{})); got != "" {
		t.Errorf("nothing asked: %s", got)
	}
}

func TestPriorDecidesBetweenTheClose(t *testing.T) {
	x := New(Options{}) // with few passages, chromem would be used
	var passages []Passage
	for i := range 100 {
		passages = append(passages, Passage{ID: fmt.Sprintf("p%02d", i), Vector: []float32{1, float32(i) / 1000}})
	}
	passages[99].Prior = 1
	passages = append(passages, Passage{ID: "far", Vector: []float32{-1, 1}, Prior: 1})
	fill(t, x, passages...)
	got := find(t, x, Query{Text: "", Vector: []float32{1, 0}, TopK: 2})
	if ids(got) != "p99 p00" {
		t.Errorf("found %s", ids(got))
	}
	for _, prior := range []float64{math.NaN(), math.Inf(1), 4} {
		if err := x.Put(Passage{ID: "x", Prior: prior}); !errors.Is(err, ErrPassage) {
			t.Errorf("a prior of %v: %v", prior, err)
		}
	}
}

func TestFiltersAndThreshold(t *testing.T) {
	x := New(Options{})
	var all []Passage
	for i := range 60 {
		all = append(all, Passage{
			ID:           fmt.Sprintf("p%02d", i),
			DocumentID:   fmt.Sprintf("d%d", i%5),
			AssessmentID: fmt.Sprintf("a%d", i%2),
			Category:     []string{"policy", "log", "record"}[i%3],
			Date:         []string{"2024-05-01", "2025-05-01", ""}[i%3],
			Text:         "backup text",
			Vector:       []float32{1, float32(i) / 100},
		})
	}
	fill(t, x, all...)
	q := Query{Text: "backup", Vector: []float32{1, 0}, TopK: 100}
	for _, c := range []struct {
		name string
		set  func(*Query)
		want int
	}{
		{"all", func(q *Query) {}, 60},
		{"assessment", func(q *Query) { q.AssessmentID = "a1" }, 30},
		{"documents", func(q *Query) { q.DocumentIDs = []string{"d0", "d3", "nope"} }, 24},
		{"category", func(q *Query) { q.Category = "log" }, 20},
		{"all filters", func(q *Query) { q.AssessmentID, q.Category, q.DocumentIDs = "a0", "policy", []string{"d0"} }, 2},
		{"from a day on", func(q *Query) { q.From = "2025-05-01" }, 20},
		{"up to a day", func(q *Query) { q.To = "2025-05-01" }, 40},
		{"one day", func(q *Query) { q.From, q.To = "2024-05-01", "2024-05-01" }, 20},
		{"no such days", func(q *Query) { q.From, q.To = "2024-06-01", "2024-07-01" }, 0},
		{"unknown", func(q *Query) { q.AssessmentID = "other" }, 0},
		{"top", func(q *Query) { q.TopK = 7 }, 7},
		{"above everything", func(q *Query) { q.MinScore = 1 }, 0},
	} {
		asked := q
		c.set(&asked)
		if got := find(t, x, asked); len(got) != c.want {
			t.Errorf("%s: %d results, want %d", c.name, len(got), c.want)
		}
	}
	whole := find(t, x, q)
	cut := find(t, x, Query{Text: "backup", Vector: q.Vector, TopK: 100, MinScore: whole[9].Score})
	if len(cut) < 10 || !reflect.DeepEqual(cut, whole[:len(cut)]) {
		t.Errorf("a threshold changes results: %d", len(cut))
	}
	part := find(t, x, Query{Text: "backup", Vector: q.Vector, TopK: 1, DocumentIDs: []string{strings.Replace("dX", "X", "0", 1)}})
	for _, r := range whole {
		if r.ID == part[0].ID && r.Score != part[0].Score {
			t.Errorf("a filter changes the score of %s from %v to %v", r.ID, r.Score, part[0].Score)
		}
	}
}

func TestSameTextIsFolded(t *testing.T) {
	x := New(Options{})
	text := "Backups of every production database are made each night, kept for thirty days at another site and restored " +
		"for a test each quarter, version "
	v := []float32{1, 0}
	fill(t, x, Passage{ID: "a", Text: text + "3", Vector: v}, Passage{ID: "b", Text: text + "4", Vector: v},
		Passage{ID: "c", Text: strings.ToUpper(text) + "B-17", Vector: v}, Passage{ID: "d", Text: "Backups are on tape.", Vector: v})
	r := find(t, x, Query{Text: "backups at night", Vector: v, Deduplicate: true, TopK: 2})
	if ids(r) != "a d" || strings.Join(r[0].Duplicates, " ") != "b c" || len(r[1].Duplicates) != 0 {
		t.Errorf("folded: %+v", r)
	}
	if got := ids(find(t, x, Query{Text: "backups at night", Vector: v})); len(strings.Fields(got)) != 4 {
		t.Errorf("not folded: %s", got)
	}
	if r := find(t, x, Query{Text: "B-17", Vector: v, Deduplicate: true}); r[0].ID != "c" || len(r[0].Duplicates) != 0 {
		t.Errorf("what copies differ in is asked for: %+v", r)
	}
}

func TestHighlightByMeaning(t *testing.T) {
	x := New(Options{Embed: func(texts []string) [][]float32 {
		out := make([][]float32, len(texts))
		for i, s := range texts {
			out[i] = []float32{1, 0}
			if strings.Contains(s, "canteen") {
				out[i] = []float32{0, 1}
			}
		}
		return out
	}})
	fill(t, x, Passage{ID: "a", Text: "We are open on Mondays. The canteen serves soup. Bring cash.", Vector: []float32{1, 1}})
	r := find(t, x, Query{Text: "lunch", Vector: []float32{0, 1}})
	if len(r) != 1 || r[0].Highlights[0].Text != "The canteen serves soup." {
		t.Errorf("%+v", r)
	}
}

func TestRefusals(t *testing.T) {
	x := New(Options{})
	fill(t, x, Passage{ID: "a", Text: "one", Vector: []float32{1, 0}})
	nan := float32(math.NaN())
	for name, p := range map[string]Passage{
		"no id":    {Text: "x"},
		"size":     {ID: "b", Vector: []float32{1, 0, 0}},
		"NaN":      {ID: "b", Vector: []float32{nan, 0}},
		"infinite": {ID: "b", Vector: []float32{float32(math.Inf(1)), 0}},
	} {
		if err := x.Put(Passage{ID: "good", Text: "x"}, p); !errors.Is(err, ErrPassage) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if x.Len() != 1 {
		t.Errorf("a refused Put left %d passages", x.Len())
	}
	for name, q := range map[string]Query{
		"size": {Vector: []float32{1}}, "NaN": {Vector: []float32{nan, 1}}, "top": {TopK: -1},
		"huge top": {TopK: maxTopK + 1}, "score": {MinScore: 1.1}, "NaN score": {MinScore: math.NaN()},
		"text": {Text: strings.Repeat("a", maxQueryBytes+1)},
	} {
		if _, err := x.Search(context.Background(), q); !errors.Is(err, ErrQuery) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := x.Search(ctx, Query{Vector: []float32{1, 0}}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

var vocabulary = strings.Fields(
	"access review backup restore log event vendor contract key rotate firewall zone staff train incident report patch " +
		"server asset list risk owner policy board cloud tenant code merge test deploy",
)

func random(rng *rand.Rand, id string, dims int) Passage {
	p := Passage{ID: id, DocumentID: fmt.Sprintf("d%d", rng.IntN(20)), AssessmentID: "a"}
	var words []string
	for range 5 + rng.IntN(40) {
		words = append(words, vocabulary[rng.IntN(len(vocabulary))])
	}
	p.Text = strings.Join(words, " ")
	if rng.IntN(20) > 0 {
		p.Vector = make([]float32, dims)
		for i := range p.Vector {
			p.Vector[i] = float32(rng.NormFloat64())
		}
	}
	return p
}

// After any sequence of puts, replacements and removals, an index answers like a new one with the same
// passages, and chromem and the flat scan find the same.
func TestRandomOperations(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	lived := New(Options{Background: Background{0.1, 0.2}})
	model := make(map[string]Passage)
	for step := range 6000 {
		id := fmt.Sprintf("p%d", rng.IntN(400))
		if rng.IntN(3) > 0 {
			p := random(rng, id, 8)
			fill(t, lived, p)
			model[id] = p
		} else {
			lived.Remove(id, "unknown")
			delete(model, id)
		}
		if lived.Len() != len(model) {
			t.Fatalf("step %d: %d passages, want %d", step, lived.Len(), len(model))
		}
	}
	order := make([]string, 0, len(model))
	for id := range model {
		order = append(order, id)
	}
	sort.Strings(order)
	fresh := New(Options{Background: Background{0.1, 0.2}, FlatFrom: 1})
	for _, id := range order {
		fill(t, fresh, model[id])
	}
	if lived.postings.passageCount != fresh.postings.passageCount || lived.postings.totalUnits != fresh.postings.totalUnits {
		t.Errorf(
			"counts drift: %d %v, want %d %v",
			lived.postings.passageCount,
			lived.postings.totalUnits,
			fresh.postings.passageCount,
			fresh.postings.totalUnits,
		)
	}
	// The background's sample depends on the order of the passages; the ranking doesn't.
	lived.background, fresh.background = Background{0.1, 0.2}, Background{0.1, 0.2}
	for range 200 {
		p := random(rng, "", 8)
		q := Query{Text: strings.Join(strings.Fields(p.Text)[:4], " "), TopK: 20}
		want := ids(find(t, fresh, q))
		if got := ids(find(t, lived, q)); got != want {
			t.Fatalf("%s by words: %s, want %s", q.Text, got, want)
		}
		q.Text, q.Vector = "", p.Vector
		want = ids(find(t, fresh, q))
		if got := ids(find(t, lived, q)); got != want {
			t.Fatalf("by meaning: %s, want %s", got, want)
		}
	}
}

func TestChromemAndFlatScanAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	small, flat := New(Options{}), New(Options{FlatFrom: 1})
	for i := range 1500 {
		p := random(rng, fmt.Sprintf("p%04d", i), 16)
		if i%4 == 0 { // many equal vectors: the choice among them must be deterministic
			p.Vector = []float32{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
			p.Text = "same"
		}
		fill(t, small, p)
		fill(t, flat, p)
	}
	for i := range 50 {
		q := random(rng, "", 16)
		query := Query{Text: q.Text[:10], Vector: q.Vector, TopK: 1 + i*3}
		if i%5 == 0 {
			query.Vector = []float32{1, 0.001, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
		}
		a, b := find(t, small, query), find(t, flat, query)
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("query %d differs:\n%s\n%s", i, ids(a), ids(b))
		}
	}
}

func TestReadersBesideWriters(t *testing.T) {
	x := New(Options{})
	var wg sync.WaitGroup
	for w := range 3 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 9))
			for i := range 300 {
				if err := x.Put(random(rng, fmt.Sprintf("w%d-%d", w, i%50), 8)); err != nil {
					t.Error(err)
				}
				if i%7 == 0 {
					x.Remove(fmt.Sprintf("w%d-%d", w, i%50))
				}
			}
		})
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 10))
			for range 200 {
				p := random(rng, "", 8)
				r, err := x.Search(context.Background(), Query{Text: p.Text, Vector: p.Vector})
				if err != nil {
					t.Error(err)
				}
				for i := 1; i < len(r); i++ {
					if r[i].Score > r[i-1].Score {
						t.Errorf("%v after %v", r[i], r[i-1])
					}
				}
			}
		})
	}
	wg.Wait()
}

func TestHighlights(t *testing.T) {
	text := "Purpose of this page. Managers review access rights every quarter.\nCoffee is free; the ACCESS log is kept.\n" + strings.Repeat(
		"filler words go on ",
		40,
	)
	x := New(Options{})
	fill(t, x, Passage{ID: "a", Text: text}, Passage{ID: "b", Text: "coffee"})
	r := find(t, x, Query{Text: "reviewing access"})
	if len(r) != 1 || len(r[0].Highlights) == 0 {
		t.Fatalf("%+v", r)
	}
	h := r[0].Highlights[0]
	if h.Text != "Managers review access rights every quarter." || text[h.Start:h.End] != h.Text {
		t.Errorf("highlight %+v", h)
	}
	var words []string
	for _, m := range h.Matches {
		words = append(words, text[m.Start:m.End])
	}
	if got := strings.Join(words, "|"); got != "review|access" {
		t.Errorf("matches %s", got)
	}
}

func FuzzSearch(f *testing.F) {
	f.Add("Access is reviewed. “IAC-06” said\nso.", `IAC-06 "is reviewed"`)
	f.Add("日本語 \xff text; x", "„a“ «b» \"")
	f.Add(strings.Repeat("é", 700), "é")
	f.Add("日"+strings.Repeat("\x80", 700), "continuation bytes without end")
	f.Fuzz(func(t *testing.T, text, query string) {
		if len(query) > maxQueryBytes {
			return
		}
		x := New(Options{})
		fill(t, x, Passage{ID: "a", Text: text, HeadingPath: []string{query}}, Passage{ID: "b", Text: query, Vector: []float32{1}})
		for _, v := range [][]float32{nil, {1}} {
			for _, r := range find(t, x, Query{Text: query, Vector: v}) {
				if !(r.Score >= 0 && r.Score <= 1 && r.Semantic >= 0 && r.Semantic <= 1 && r.Keyword >= 0 && r.Keyword <= 1) {
					t.Fatalf("%+v", r)
				}
				for _, h := range r.Highlights {
					if h.Start >= h.End || len(h.Text) > maxSnippet+4 {
						t.Fatalf("highlight %+v", h)
					}
					for _, m := range h.Matches {
						if m.Start < h.Start || m.End > h.End || m.Start >= m.End {
							t.Fatalf("match %+v in %+v", m, h)
						}
					}
				}
			}
		}
		x.Remove("a", "b")
		if len(find(t, x, Query{Text: query})) != 0 {
			t.Fatal("an empty index finds something")
		}
	})
}
