package search_test

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/scf-service/service/evidence/embed"
)

func readLines(t testing.TB, path string, each func(line []byte)) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		each(s.Bytes())
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
}

// workbook reads what an imported workbook holds: texts, maturity lines and codes.
func workbook(t testing.TB, dir string) embed.Corpus {
	t.Helper()
	var lines []string
	readLines(t, filepath.Join(dir, "maturity_lines.jsonl"), func(b []byte) {
		var l struct{ Text string }
		unmarshal(t, b, &l)
		lines = append(lines, l.Text)
	})
	codes := make(map[string][]string)
	readLines(t, filepath.Join(dir, "crosswalk_codes.tsv"), func(b []byte) {
		if f := strings.Split(string(b), "\t"); len(f) == 4 && f[0] != "framework" {
			codes[f[2]] = append(codes[f[2]], f[0]+":"+f[1])
		}
	})
	var c embed.Corpus
	readLines(t, filepath.Join(dir, "controls.jsonl"), func(b []byte) {
		var l struct {
			ID, Title, Description, Question, Methods string
			Maturity                                  [][2]int
		}
		unmarshal(t, b, &l)
		d := embed.Document{ID: l.ID, Texts: []string{l.Title, l.Description, l.Question}, Codes: codes[l.ID]}
		if l.Methods != "" {
			d.Texts = append(d.Texts, strings.Split(l.Methods, "\n")...)
		}
		for _, m := range l.Maturity {
			d.Texts = append(d.Texts, lines[m[1]])
		}
		c.Documents = append(c.Documents, d)
	})
	return c
}

// withRequirements adds the openly published requirement texts.
func withRequirements(t testing.TB, dir string, c embed.Corpus) embed.Corpus {
	t.Helper()
	readLines(t, filepath.Join(dir, "requirements_open.jsonl"), func(b []byte) {
		var l struct {
			Text     string
			Controls map[string]float32
		}
		unmarshal(t, b, &l)
		p := embed.Pair{Text: l.Text}
		for id := range l.Controls {
			p.IDs = append(p.IDs, id)
		}
		sort.Strings(p.IDs)
		for _, id := range p.IDs {
			p.Weights = append(p.Weights, l.Controls[id])
		}
		c.Pairs = append(c.Pairs, p)
	})
	return c
}

func unmarshal(t testing.TB, b []byte, to any) {
	t.Helper()
	if err := json.Unmarshal(b, to); err != nil {
		t.Fatalf("%v in %.80s", err, b)
	}
}

// item is a query or a passage of the benchmark.
type item struct{ ID, Title, Heading, Text, Framework string }

func (i item) text() string {
	if i.Title != "" && !strings.HasPrefix(i.Text, i.Title) {
		return i.Title + ". " + i.Text
	}
	return i.Text
}

func items(t testing.TB, path string) []item {
	t.Helper()
	var out []item
	readLines(t, path, func(b []byte) {
		var i item
		unmarshal(t, b, &i)
		out = append(out, i)
	})
	return out
}

func grades(t testing.TB, path string) map[string]map[string]float64 {
	t.Helper()
	out := make(map[string]map[string]float64)
	readLines(t, path, func(b []byte) {
		f := strings.Split(string(b), "\t")
		if g, err := strconv.ParseFloat(f[2], 64); err == nil {
			if out[f[0]] == nil {
				out[f[0]] = make(map[string]float64)
			}
			out[f[0]][f[1]] = g
		}
	})
	return out
}

// figures are score.py's, the mean over frameworks of the mean over queries.
type figures struct{ NDCG, Recall, MRR, S1, S5, S10 float64 }

func measure(queries []item, qrels map[string]map[string]float64, run func(item) []string) figures {
	type sum struct {
		figures
		n float64
	}
	groups := make(map[string]*sum)
	for _, q := range queries {
		rel := qrels[q.ID]
		if len(rel) == 0 {
			continue
		}
		g := groups[q.Framework]
		if g == nil {
			g = &sum{}
			groups[q.Framework] = g
		}
		g.n++
		var dcg, ideal, hits float64
		first := -1
		for i, id := range run(q) {
			gain, ok := rel[id]
			if !ok {
				continue
			}
			if first < 0 && i < 100 {
				first = i
			}
			if i < 10 {
				dcg += gain / math.Log2(float64(i)+2)
				hits++
			}
		}
		var best []float64
		for _, v := range rel {
			best = append(best, v)
		}
		sort.Sort(sort.Reverse(sort.Float64Slice(best)))
		for i, v := range best[:min(10, len(best))] {
			ideal += v / math.Log2(float64(i)+2)
		}
		g.NDCG += dcg / ideal
		g.Recall += hits / float64(min(10, len(rel)))
		if first >= 0 {
			g.MRR += 1 / float64(first+1)
			for _, k := range []struct {
				at int
				to *float64
			}{{1, &g.S1}, {5, &g.S5}, {10, &g.S10}} {
				if first < k.at {
					*k.to++
				}
			}
		}
	}
	var f figures
	m := float64(len(groups))
	for _, g := range groups {
		f.NDCG += g.NDCG / g.n / m
		f.Recall += g.Recall / g.n / m
		f.MRR += g.MRR / g.n / m
		f.S1 += g.S1 / g.n / m
		f.S5 += g.S5 / g.n / m
		f.S10 += g.S10 / g.n / m
	}
	return f
}
