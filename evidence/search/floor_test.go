package search_test

import (
	"context"
	"path/filepath"
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
		return measure(b.queries, b.qrels, func(q item) []string {
			sq := search.Query{TopK: 100}
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
			}
			return ids
		})
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
}

func TestRetrievalFloor(t *testing.T) {
	if testing.Short() {
		t.Skip("trains on a whole workbook")
	}
	dir := sharedtest.Path(t, "retrieval")
	m := trained(t, workbook(t, filepath.Join(dir, "train")), embed.Options{})
	for _, b := range benches(t, dir) {
		b.run(t, m)
		report(t, b)
	}
}
