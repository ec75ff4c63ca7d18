package embed

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"github.com/scf-service/service/engine/evidence/embed/words"
)

// trainingSet is a corpus in numeric form: the documents to be found, and the texts that should find them.
type trainingSet struct {
	vocab             *vocabulary
	cooccurrenceTexts [][]int32 // stems of every distinct text, for counting
	documentTerms     [][]int32 // per document: terms by which it is found
	queries           []query
	knownTexts        map[uint64]knownText
	// corpusQueries and corpusDocuments count the queries and documents of the corpus; those of the
	// lexicon come after them.
	corpusQueries, corpusDocuments int
	// documentRows is the number of documents with a row of their own, after the rows of the terms.
	documentRows int
}

// query is a training text with the documents that it should find.
type query struct {
	terms   []int32
	targets []target // weights add up to 1
}

// target is a document that a query should find.
type target struct {
	document int
	weight   float32
}

const (
	maxOwners           = 30   // a text shared by more documents than this is not assigned to any
	neighborShare       = 0.45 // share of a text's weight that goes to documents with shared codes
	maxNeighborTargets  = 16   // maximum number of these
	maxCodeDocuments    = 40   // a code shared by more documents than this doesn't relate them
	minPairsPerDocument = 4    // minimum number of pairs per document for documents to have their own rows
)

// textCollector collects distinct texts and the documents they belong to.
type textCollector struct {
	texts     []string
	textIndex map[string]int
	owners    []map[int]float32 // per text: document and weight
}

// addOwner records, with a weight, that a text belongs to a document.
func (g *textCollector) addOwner(text string, document int, weight float32) {
	n, ok := g.textIndex[text]
	if !ok {
		n = len(g.texts)
		g.textIndex[text] = n
		g.texts = append(g.texts, text)
		g.owners = append(g.owners, make(map[int]float32))
	}
	g.owners[n][document] = max(g.owners[n][document], weight)
}

// newTrainingSet builds the training set from a corpus, the phrase book and the lexicon. The concepts of the
// latter two become documents that follow those of the corpus.
func newTrainingSet(corpus Corpus) (*trainingSet, error) {
	docs := corpus.Documents
	g := textCollector{textIndex: make(map[string]int)}
	place := make(map[string]int, len(docs))
	for i, d := range docs {
		place[d.ID] = i
		for _, t := range d.Texts {
			g.addOwner(t, i, 1)
		}
	}
	for _, p := range corpus.Pairs {
		for k, id := range p.IDs {
			w := float32(1)
			if k < len(p.Weights) {
				w = p.Weights[k]
			}
			if i, ok := place[id]; ok && w > 0 && w < maxWeight {
				g.addOwner(p.Text, i, w)
			}
		}
	}
	fromCatalog := len(g.texts)
	concepts := append(readLexicon(), g.addPhrasebook(docs)...)
	for i, c := range concepts {
		for _, t := range c {
			g.addOwner(t, len(docs)+i, 1)
		}
	}
	stems := make([][]string, len(g.texts))
	always := make(map[string]bool)
	total, known := 0, 0
	for i, t := range g.texts {
		stems[i] = words.ContentWordStems(t)
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
		return nil, fmt.Errorf("the catalog's texts have %d words; an embedding model can be trained on at most %d", total, maxTokens)
	}
	set := &trainingSet{vocab: newVocabulary(stems, always)}
	if len(corpus.Pairs) >= minPairsPerDocument*len(docs) {
		// Titles, descriptions and questions only teach the words of a document. Learning more
		// takes many other texts.
		set.documentRows = len(docs)
	}
	set.setDocumentTerms(docs, concepts, stems)
	set.setKnownTexts(docs)
	near := relatedDocuments(docs)
	set.corpusDocuments = len(docs)
	for n := range g.texts {
		if n == fromCatalog {
			set.corpusQueries = len(set.queries)
		}
		terms := set.vocab.termIDs(stems[n])
		if len(terms) > 0 && len(g.owners[n]) <= maxOwners {
			set.queries = append(set.queries, query{terms, spreadTargets(g.owners[n], near)})
		}
	}
	return set, nil
}

// setDocumentTerms sets the terms by which each document is found, and the texts in which
// co-occurring words are counted: every text and, for each concept, all of its words together.
func (s *trainingSet) setDocumentTerms(docs []Document, concepts [][]string, stems [][]string) {
	for _, t := range stems {
		s.cooccurrenceTexts = append(s.cooccurrenceTexts, s.vocab.stemIDs(t))
	}
	terms := func(texts []string) (all []int32) {
		for _, t := range texts {
			all = append(all, s.vocab.termIDs(words.ContentWordStems(t))...)
		}
		return all
	}
	for i, d := range docs {
		a := terms(d.Texts[:min(2, len(d.Texts))])
		if i < s.documentRows {
			a = append(a, int32(len(s.vocab.terms)+i))
		}
		s.documentTerms = append(s.documentTerms, a)
	}
	for _, c := range concepts {
		s.documentTerms = append(s.documentTerms, terms(c))
		s.cooccurrenceTexts = append(s.cooccurrenceTexts, s.vocab.stemIDs(words.ContentWordStems(strings.Join(c, " "))))
	}
}

// spreadTargets distributes the weight of a text over the documents it belongs to. Each of them
// passes a share of its weight on to related documents.
func spreadTargets(owners map[int]float32, near [][]target) []target {
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
				weight[t.document] += w * neighborShare * t.weight
			}
			w *= 1 - neighborShare
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

// relatedDocuments returns, for each document, the documents that share the most codes with it. Rare codes count
// more, and the weights of each list add up to 1.
func relatedDocuments(docs []Document) [][]target {
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
			if seen[c] || len(h) < 2 || len(h) > maxCodeDocuments {
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
			// Documents with many codes are more likely targets of a new requirement.
			asked := math.Sqrt(math.Sqrt(float64(len(docs[j].Codes))))
			out[i] = append(out[i], target{j, w * float32(asked)})
		}
		sort.Slice(out[i], func(a, b int) bool {
			if out[i][a].weight != out[i][b].weight {
				return out[i][a].weight > out[i][b].weight
			}
			return out[i][a].document < out[i][b].document
		})
		out[i] = out[i][:min(len(out[i]), maxNeighborTargets)]
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

func (s *trainingSet) stepCount(epochs int) int {
	return epochs * ((len(s.queries) + batchSize - 1) / batchSize)
}
