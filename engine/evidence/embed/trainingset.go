package embed

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"github.com/scf-service/service/engine/evidence/embed/words"
)

// trainingSet is a corpus in numbers: the documents to be found and the texts
// that should find them.
type trainingSet struct {
	vocab   *vocabulary
	company [][]int32 // stems of every distinct text, for counting
	anchors [][]int32 // per document: the terms it is found by
	queries []query
	known   map[uint64]knownText
	// asked and documents are how many of the queries and anchors are the corpus's own;
	// those of the lexicon follow.
	asked, documents int
	// ownRows is how many documents have a row of their own, after the terms' rows.
	ownRows int
}

type query struct {
	terms   []int32
	targets []target // weights add up to 1
}

type target struct {
	document int
	weight   float32
}

const (
	maxOwners   = 30   // a text that stands at more documents than this asks for none
	softShare   = 0.45 // of a text's aim that goes to documents with shared codes
	softTargets = 16   // of them at most
	maxCodeSize = 40   // a code of more documents than this makes none of them close
	manyPairs   = 4    // pairs per document from which on documents have rows of their own
)

// gathering collects distinct texts and whose they are.
type gathering struct {
	texts  []string
	number map[string]int
	owners []map[int]float32 // per text: document and weight
}

func (g *gathering) own(text string, document int, weight float32) {
	n, ok := g.number[text]
	if !ok {
		n = len(g.texts)
		g.number[text] = n
		g.texts = append(g.texts, text)
		g.owners = append(g.owners, make(map[int]float32))
	}
	g.owners[n][document] = max(g.owners[n][document], weight)
}

// prepare reads a corpus, the phrase book and the lexicon, whose concepts are documents
// after those of the corpus.
func prepare(corpus Corpus) (*trainingSet, error) {
	docs := corpus.Documents
	g := gathering{number: make(map[string]int)}
	place := make(map[string]int, len(docs))
	for i, d := range docs {
		place[d.ID] = i
		for _, t := range d.Texts {
			g.own(t, i, 1)
		}
	}
	for _, p := range corpus.Pairs {
		for k, id := range p.IDs {
			w := float32(1)
			if k < len(p.Weights) {
				w = p.Weights[k]
			}
			if i, ok := place[id]; ok && w > 0 && w < maxWeight {
				g.own(p.Text, i, w)
			}
		}
	}
	fromCatalog := len(g.texts)
	concepts := append(lexicon(), g.phrases(docs)...)
	for i, c := range concepts {
		for _, t := range c {
			g.own(t, len(docs)+i, 1)
		}
	}
	stems := make([][]string, len(g.texts))
	always := make(map[string]bool)
	total, known := 0, 0
	for i, t := range g.texts {
		stems[i] = words.Stems(t)
		total += len(stems[i])
		if i < fromCatalog {
			known += len(stems[i])
			continue
		}
		for _, s := range stems[i] {
			always[s] = true
		}
	}
	if known == 0 {
		return nil, ErrCorpus
	}
	if total > maxTokens {
		return nil, fmt.Errorf("the catalog's texts have %d words, more than the %d an embedder is trained on", total, maxTokens)
	}
	set := &trainingSet{vocab: countTerms(stems, always)}
	if len(corpus.Pairs) >= manyPairs*len(docs) {
		// Title, description and question say of a document what its words say. Only
		// texts of others, and many, teach what they don't.
		set.ownRows = len(docs)
	}
	set.anchor(docs, concepts, stems)
	set.know(docs)
	near := neighbours(docs)
	set.documents = len(docs)
	for n := range g.texts {
		if n == fromCatalog {
			set.asked = len(set.queries)
		}
		terms := set.vocab.termIDs(stems[n])
		if len(terms) > 0 && len(g.owners[n]) <= maxOwners {
			set.queries = append(set.queries, query{terms, aims(g.owners[n], near)})
		}
	}
	return set, nil
}

// anchor sets what documents are found by and which words keep company: those of
// a text, and all of a concept.
func (s *trainingSet) anchor(docs []Document, concepts [][]string, stems [][]string) {
	for _, t := range stems {
		s.company = append(s.company, s.vocab.stemIDs(t))
	}
	terms := func(texts []string) (all []int32) {
		for _, t := range texts {
			all = append(all, s.vocab.termIDs(words.Stems(t))...)
		}
		return all
	}
	for i, d := range docs {
		a := terms(d.Texts[:min(2, len(d.Texts))])
		if i < s.ownRows {
			a = append(a, int32(len(s.vocab.terms)+i))
		}
		s.anchors = append(s.anchors, a)
	}
	for _, c := range concepts {
		s.anchors = append(s.anchors, terms(c))
		s.company = append(s.company, s.vocab.stemIDs(words.Stems(strings.Join(c, " "))))
	}
}

// aims spreads a text's aim over its documents, and a share to those close to them.
func aims(owners map[int]float32, near [][]target) []target {
	var sum float32
	sorted := make([]int, 0, len(owners))
	for d := range owners {
		sorted = append(sorted, d)
	}
	sort.Ints(sorted)
	for _, d := range sorted {
		sum += owners[d]
	}
	weight := make(map[int]float32)
	for _, d := range sorted {
		w := owners[d] / sum
		if d < len(near) && len(near[d]) > 0 {
			for _, t := range near[d] {
				weight[t.document] += w * softShare * t.weight
			}
			w *= 1 - softShare
		}
		weight[d] += w
	}
	out := make([]target, 0, len(weight))
	for d, w := range weight {
		out = append(out, target{d, w})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].document < out[j].document })
	return out
}

// neighbours gives for each document those that share its codes, rare codes
// counting more; weights add up to 1.
func neighbours(docs []Document) [][]target {
	holders := make(map[string][]int)
	for i, d := range docs {
		seen := make(map[string]bool, len(d.Codes))
		for _, c := range d.Codes {
			if !seen[c] {
				seen[c] = true
				holders[c] = append(holders[c], i)
			}
		}
	}
	out := make([][]target, len(docs))
	shared := make(map[int]float32)
	for i, d := range docs {
		clear(shared)
		seen := make(map[string]bool, len(d.Codes))
		for _, c := range d.Codes {
			h := holders[c]
			if seen[c] || len(h) < 2 || len(h) > maxCodeSize {
				continue
			}
			seen[c] = true
			for _, j := range h {
				if j != i {
					n := float64(len(h))
					shared[j] += float32(1 / (math.Log(1+n) * math.Sqrt(n)))
				}
			}
		}
		for j, w := range shared {
			// What many others ask for too is what a new requirement asks for.
			asked := math.Sqrt(math.Sqrt(float64(len(docs[j].Codes))))
			out[i] = append(out[i], target{j, w * float32(asked)})
		}
		sort.Slice(out[i], func(a, b int) bool {
			if out[i][a].weight != out[i][b].weight {
				return out[i][a].weight > out[i][b].weight
			}
			return out[i][a].document < out[i][b].document
		})
		out[i] = out[i][:min(len(out[i]), softTargets)]
		var sum float32
		for _, t := range out[i] {
			sum += t.weight
		}
		for k := range out[i] {
			out[i][k].weight /= sum
		}
	}
	return out
}

func (s *trainingSet) steps(epochs int) int {
	return epochs * ((len(s.queries) + batchSize - 1) / batchSize)
}
