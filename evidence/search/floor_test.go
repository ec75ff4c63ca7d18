package search_test

import (
	"context"
	"os"
	"path/filepath"
	"sort"
	"testing"
	"time"

	"github.com/scf-service/service/evidence/embed"
	"github.com/scf-service/service/evidence/search"
	"github.com/scf-service/service/internal/sharedtest"
)

// bench is one benchmark: queries over passages, with three ways to rank.
type bench struct {
	name             string
	queries, corpus  []item
	qrels            map[string]map[string]float64
	words, sense, in figures // BM25, embedder alone, hybrid
	relevantMedian   float64 // score of passages that answer
}

func benches(t testing.TB, dir string) []*bench {
	at := func(e ...string) string { return filepath.Join(append([]string{dir}, e...)...) }
	out := []*bench{}
	for _, n := range []string{"A", "B", "C"} {
		out = append(out, &bench{name: n, queries: items(t, at(n, "queries.jsonl")), corpus: items(t, at(n, "corpus.jsonl")), qrels: grades(t, at(n, "qrels.tsv"))})
	}
	return append(out, &bench{
		name: "C→control", queries: out[2].corpus, corpus: out[0].corpus,
		qrels: grades(t, at("C", "qrels_passage_to_control.tsv")),
	})
}

func (b *bench) run(t testing.TB, m embed.Embedder) {
	ctx := context.Background()
	embedAll := func(list []item) [][]float32 {
		texts := make([]string, len(list))
		for i, it := range list {
			texts[i] = it.Heading + "\n" + it.text()
		}
		v, err := m.Embed(ctx, texts)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	var hybrid, sense []search.Passage
	for i, v := range embedAll(b.corpus) {
		it := b.corpus[i]
		p := search.Passage{ID: it.ID, DocumentID: it.ID, Text: it.text(), Vector: v}
		if it.Heading != "" {
			p.HeadingPath = []string{it.Heading}
		}
		hybrid = append(hybrid, p)
		sense = append(sense, search.Passage{ID: it.ID, DocumentID: it.ID, Vector: v})
	}
	vectors := make(map[string][]float32)
	for i, v := range embedAll(b.queries) {
		vectors[b.queries[i].ID] = v
	}
	rank := func(passages []search.Passage, text, vector bool) figures {
		var o search.Options
		if w, ok := m.(*embed.Model); ok && vector {
			o.Weight = w.Weight // BM25 alone stays plain
			g := w.Background()
			o.Background = search.Background{Mean: float64(g.Mean), Deviation: float64(g.Deviation)}
		}
		x := search.New(o)
		if err := x.Put(passages...); err != nil {
			t.Fatal(err)
		}
		var relevant []float64
		f := measure(b.queries, b.qrels, func(q item) []string {
			sq := search.Query{TopK: 1000}
			if text {
				sq.Text = q.text()
			}
			if vector {
				sq.Vector = vectors[q.ID]
			}
			found, err := x.Search(ctx, sq)
			if err != nil {
				t.Fatal(err)
			}
			ids := make([]string, len(found))
			for i, r := range found {
				ids[i] = r.ID
				if b.qrels[q.ID][r.ID] > 0 {
					relevant = append(relevant, r.Score)
				}
			}
			return ids
		})
		sort.Float64s(relevant)
		if len(relevant) > 0 {
			b.relevantMedian = relevant[len(relevant)/2] // of the last rank: the hybrid
		}
		return f
	}
	b.words = rank(hybrid, true, false)
	b.sense = rank(sense, false, true)
	b.in = rank(hybrid, true, true)
}

func trained(t testing.TB, c embed.Corpus, o embed.Options) *embed.Model {
	start := time.Now()
	m, err := embed.Train(context.Background(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("trained on %d documents and %d pairs in %.1f s: %s, %d terms", len(c.Documents), len(c.Pairs), time.Since(start).Seconds(), m.Name(), m.Len())
	return m
}

func report(t testing.TB, b *bench) {
	t.Logf("%-10s           nDCG@10 R@10  MRR   S@1   S@5   S@10", b.name)
	for _, r := range []struct {
		name string
		f    figures
	}{{"BM25", b.words}, {"embedder alone", b.sense}, {"hybrid", b.in}} {
		t.Logf("  %-18s %.3f   %.3f %.3f %.3f %.3f %.3f", r.name, r.f.NDCG, r.f.Recall, r.f.MRR, r.f.S1, r.f.S5, r.f.S10)
	}
	t.Logf("  passages that answer score %.2f in the median", b.relevantMedian)
}

// TestRetrievalFloor trains on what a workbook holds and holds the line reached
// so far (docs/quality.md), a little below it since rounding differs between
// processors. The hybrid must beat keyword search in the same run everywhere.
func TestRetrievalFloor(t *testing.T) {
	if testing.Short() {
		t.Skip("trains on a whole workbook")
	}
	dir := sharedtest.Path(t, "retrieval")
	m := trained(t, workbook(t, filepath.Join(dir, "train")), embed.Options{})
	floors := map[string]figures{
		"A":         {NDCG: 0.34, Recall: 0.49},
		"B":         {NDCG: 0.69, Recall: 0.74},
		"C":         {S1: 0.50, S5: 0.82, S10: 0.88},
		"C→control": {S10: 0.71},
	}
	for _, b := range benches(t, dir) {
		b.run(t, m)
		report(t, b)
		if b.in.NDCG <= b.words.NDCG || b.in.Recall <= b.words.Recall {
			t.Errorf("%s: the hybrid isn't above BM25", b.name)
		}
		f := floors[b.name]
		if b.in.NDCG < f.NDCG || b.in.Recall < f.Recall || b.in.S1 < f.S1 || b.in.S5 < f.S5 || b.in.S10 < f.S10 {
			t.Errorf("%s: %+v is below the floor %+v", b.name, b.in, f)
		}
		// A threshold means much the same on corpora as unlike as these.
		if middle := b.relevantMedian; middle < 0.35 || middle > 0.65 {
			t.Errorf("%s: passages that answer score %.2f in the median, not about one half", b.name, middle)
		}
	}
}

// TestRetrievalWithRequirements is the same with the open requirement texts. It
// takes a minute and runs when asked for: SERVICE_BENCH=open.
func TestRetrievalWithRequirements(t *testing.T) {
	if os.Getenv("SERVICE_BENCH") != "open" {
		t.Skip("set SERVICE_BENCH=open to train on requirement texts too")
	}
	dir := sharedtest.Path(t, "retrieval")
	train := filepath.Join(dir, "train")
	m := trained(t, withRequirements(t, train, workbook(t, train)), embed.Options{})
	for _, b := range benches(t, dir) {
		b.run(t, m)
		report(t, b)
		if b.in.NDCG <= b.words.NDCG {
			t.Errorf("%s: the hybrid isn't above BM25", b.name)
		}
	}
}

func BenchmarkTrainWorkbook(b *testing.B) {
	c := workbook(b, sharedtest.Path(b, "retrieval", "train"))
	for b.Loop() {
		if _, err := embed.Train(context.Background(), c, embed.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
