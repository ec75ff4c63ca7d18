package embed

import (
	"math"
	"sort"
)

// trainingSet is a corpus in numbers: the documents to be found and the texts
// that should find them.
type trainingSet struct {
	vocab   *vocabulary
	company [][]int32 // stems of every distinct text, for counting
	anchors [][]int32 // per document: the terms it is found by
	queries []query
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
	maxOwners   = 30  // a text that stands at more documents than this asks for none
	softShare   = 0.3 // of a text's aim that goes to documents with shared codes
	softTargets = 12
	maxCodeSize = 40 // a code of more documents than this makes none of them close
)

func prepare(corpus Corpus) (*trainingSet, error) {
	docs, pairs := corpus.Documents, corpus.Pairs
	concepts := lexicon()
	var texts []string
	number := make(map[string]int) // text → place in texts
	add := func(text string) int {
		n, ok := number[text]
		if !ok {
			n = len(texts)
			number[text] = n
			texts = append(texts, text)
		}
		return n
	}
	owners := make(map[int]map[int]float32) // text → document → weight
	own := func(text string, doc int, weight float32) {
		n := add(text)
		if owners[n] == nil {
			owners[n] = make(map[int]float32)
		}
		owners[n][doc] = max(owners[n][doc], weight)
	}
	place := make(map[string]int, len(docs))
	for i, d := range docs {
		place[d.ID] = i
		for _, t := range d.Texts {
			own(t, i, 1)
		}
	}
	for _, p := range pairs {
		for k, id := range p.IDs {
			if i, ok := place[id]; ok {
				w := float32(1)
				if k < len(p.Weights) {
					w = p.Weights[k]
				}
				if w > 0 {
					own(p.Text, i, w)
				}
			}
		}
	}
	if len(texts) == 0 {
		return nil, ErrCorpus
	}
	catalog := len(texts)
	for i, c := range concepts {
		for _, t := range c {
			own(t, len(docs)+i, 1)
		}
	}
	return number2set(docs, concepts, texts, catalog, owners)
}

func number2set(docs []Document, concepts [][]string, texts []string, catalog int, owners map[int]map[int]float32) (*trainingSet, error) {
	stems := make([][]string, len(texts))
	always := make(map[string]bool)
	total := 0
	for i, t := range texts {
		stems[i] = stemsOf(t)
		total += len(stems[i])
		if i >= catalog {
			for _, s := range stems[i] {
				always[s] = true
			}
		}
	}
	if total == 0 {
		return nil, ErrCorpus
	}
	set := &trainingSet{vocab: countTerms(stems, always)}
	for _, s := range stems {
		set.company = append(set.company, set.vocab.stemIDs(s))
	}
	for _, c := range concepts { // the words of one concept keep company
		var all []int32
		for _, t := range c {
			all = append(all, set.vocab.stemIDs(stemsOf(t))...)
		}
		set.company = append(set.company, all)
	}
	for _, d := range docs {
		var anchor []int32
		for _, t := range d.Texts[:min(2, len(d.Texts))] {
			anchor = append(anchor, set.vocab.termIDs(stemsOf(t))...)
		}
		set.anchors = append(set.anchors, anchor)
	}
	for _, c := range concepts {
		var anchor []int32
		for _, t := range c {
			anchor = append(anchor, set.vocab.termIDs(stemsOf(t))...)
		}
		set.anchors = append(set.anchors, anchor)
	}
	near := neighbours(docs)
	for n := range texts {
		terms := set.vocab.termIDs(stems[n])
		if len(terms) > 0 && len(owners[n]) <= maxOwners {
			set.queries = append(set.queries, query{terms, aims(owners[n], near)})
		}
	}
	return set, nil
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
					shared[j] += float32(1 / math.Log(1+float64(len(h))))
				}
			}
		}
		for j, w := range shared {
			// A document with many codes is close to none in particular.
			out[i] = append(out[i], target{j, w / float32(math.Sqrt(float64(len(docs[j].Codes))))})
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
