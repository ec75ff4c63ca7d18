package scf

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/lazyregexp"
)

// textIndex is an inverted index. Its documents are the controls, followed by the requirements that have titles,
// ordered by number.
type textIndex struct {
	controls   int
	terms      map[string][]posting
	length     []float32 // weighted words of a document
	meanLength float64
	// codes is each control's code in lower case.
	codes []string
}

// posting is a document that contains a term, with the term's weight in it.
type posting struct {
	doc    int32
	weight float32
}

// Weights of a word, depending on the field that contains it.
const (
	titleWeight       = 4
	tagWeight         = 3
	questionWeight    = 1.5
	descriptionWeight = 1
	objectiveWeight   = 0.5
)

func (s *Snapshot) makeTextIndex() *textIndex {
	x := &textIndex{controls: len(s.src.Controls), terms: map[string][]posting{}}
	total := x.controls + int(s.firstRequirement[len(s.firstRequirement)-1])
	x.length = make([]float32, total)
	x.codes = make([]string, x.controls)
	w := indexer{index: x, words: newStemmer(), counts: map[string]float32{}}
	for i := range s.src.Controls {
		c := &s.src.Controls[i]
		x.codes[i] = strings.ToLower(c.Code)
		w.addText(c.Title, titleWeight)
		w.addText(c.Description, descriptionWeight)
		w.addText(c.Question, questionWeight)
		for _, t := range c.Tags {
			w.addText(t, tagWeight)
		}
		for k := range c.Objectives {
			w.addText(c.Objectives[k].Text, objectiveWeight)
		}
		w.flushDocument(int32(i))
	}
	n := int32(0)
	for f := range s.src.Frameworks {
		for r := range s.src.Frameworks[f].Requirements {
			q := &s.src.Frameworks[f].Requirements[r]
			if q.Title != "" || q.Text != "" {
				w.addText(q.Title, titleWeight)
				w.addText(q.Text, descriptionWeight)
				w.flushDocument(int32(x.controls) + n)
			}
			n++
		}
	}
	docs := 0
	for _, l := range x.length {
		if l > 0 {
			x.meanLength += float64(l)
			docs++
		}
	}
	if docs > 0 {
		x.meanLength /= float64(docs)
	}
	return x
}

// indexer collects the words of each document (control or requirement) for the index.
type indexer struct {
	index  *textIndex
	words  *stemmer
	counts map[string]float32
	order  []string
}

func (w *indexer) addText(text string, weight float32) {
	addTerm := func(term string) {
		if _, seen := w.counts[term]; !seen {
			w.order = append(w.order, term)
		}
		w.counts[term] += weight
	}
	w.words.eachStem(text, addTerm)
	w.words.eachCompound(text, addTerm)
}

// flushDocument adds the collected terms to the index as the terms of the given document.
func (w *indexer) flushDocument(doc int32) {
	for _, term := range w.order {
		weight := w.counts[term]
		w.index.terms[term] = append(w.index.terms[term], posting{doc, weight})
		w.index.length[doc] += weight
	}
	w.order = w.order[:0]
	clear(w.counts)
}

// stemmer splits text into word stems. It caches the stem of each word.
type stemmer struct {
	stems map[string]string
	env   *snowballstem.Env
}

func newStemmer() *stemmer { return &stemmer{stems: map[string]string{}, env: snowballstem.NewEnv("")} }

// eachStem calls yield with the stem of each word that is not a stop word.
func (w *stemmer) eachStem(text string, yield func(stem string)) {
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		if len(word) < 2 || len(word) > 64 || stopWords[word] { // a single digit is part of a code
			continue
		}
		yield(w.stem(word))
	}
}

// eachCompound calls yield with the stem of each hyphenated compound in a text, joined into one word, such as
// "multifactor" for "multi-factor".
func (w *stemmer) eachCompound(text string, yield func(stem string)) {
	for at := strings.IndexByte(text, '-'); at >= 0; {
		next := strings.IndexByte(text[at+1:], '-')
		before, after := text[:at], text[at+1:]
		before = before[strings.LastIndexFunc(before, isNotLetter)+1:]
		if end := strings.IndexFunc(after, isNotLetter); end >= 0 {
			after = after[:end]
		}
		if len(before) > 1 && len(after) > 1 && len(before)+len(after) <= 64 {
			yield(w.stem(strings.ToLower(before + after)))
		}
		if next < 0 {
			return
		}
		at += 1 + next
	}
}

func isNotLetter(r rune) bool { return !unicode.IsLetter(r) }

func (w *stemmer) stem(word string) string {
	stem, known := w.stems[word]
	if !known {
		w.env.SetCurrent(word)
		english.Stem(w.env)
		stem = w.env.Current()
		w.stems[strings.Clone(word)] = strings.Clone(stem)
	}
	return stem
}

func (w *stemmer) uniqueStems(text string) []string {
	var out []string
	w.eachStem(text, func(stem string) {
		if !slices.Contains(out, stem) {
			out = append(out, stem)
		}
	})
	return out
}

var stopWords = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields("a an and are as at be by does for from has have in is it its of on or that the this to with") {
		m[w] = true
	}
	return m
}()

// normalizeControlCode returns the SCF spelling of a control code: IAC-06 for "iac 6" and "IAC6".
// It returns "" if the text is not such a code.
func normalizeControlCode(text string) string {
	m := controlSpelling.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return ""
	}
	code := strings.ToUpper(m[1]) + "-"
	if len(m[2]) < 2 {
		code += "0"
	}
	code += m[2]
	if enhancement := strings.TrimLeft(m[3], "0"); enhancement != "" {
		code += "." + enhancement
	}
	return code
}

var controlSpelling = lazyregexp.New(`^([A-Za-z]{3})[\s_.–-]*(\d{1,2})(?:[\s_.(-]+(\d{1,2})\)?)?$`)

const maxQueryBytes = 1000 // maximum length of a query that is searched

// controlsWithAllWords returns the controls that contain every word of the text, and those whose
// codes begin with the text.
func (x *textIndex) controlsWithAllWords(text string) map[int32]bool {
	text = text[:min(len(text), maxQueryBytes)]
	found := map[int32]bool{}
	if code := strings.ToLower(strings.TrimSpace(text)); len(code) >= 3 {
		tidy := strings.ToLower(normalizeControlCode(code))
		for i, c := range x.codes {
			if strings.HasPrefix(c, code) || tidy != "" && strings.HasPrefix(c, tidy) {
				found[int32(i)] = true
			}
		}
	}
	hits := map[int32]int{}
	terms := newStemmer().uniqueStems(text)
	for _, t := range terms {
		for _, p := range x.terms[t] {
			if int(p.doc) < x.controls {
				hits[p.doc]++
			}
		}
	}
	for doc, n := range hits {
		if n == len(terms) {
			found[doc] = true
		}
	}
	return found
}

// Search returns the controls and requirements that best match a text, based on the words they have in common. It
// also finds them by code, in any spelling and with or without the framework's name in front. It returns at most
// limit hits (50 if limit is not positive), best first. A text that contains no words has no hits.
func (s *Snapshot) Search(text string, limit int) []api.CatalogHit {
	if limit <= 0 {
		limit = 50
	}
	ranked := s.rankDocuments(text)
	out := []api.CatalogHit{}
	for _, r := range ranked[:min(limit, len(ranked))] {
		out = append(out, s.toHit(r.doc, math.Round(r.score*1e4)/1e4))
	}
	return out
}

// RankControls returns the indexes of the controls that match a filter, best match first. They are ranked by how
// well the filter's query matches the text of the controls and of the requirements they map to. The other fields of
// the filter do not affect the ranking.
func (s *Snapshot) RankControls(f ControlFilter) ([]int32, error) {
	query := f.Query
	f.Query = ""
	left, err := s.controlsMatching(f)
	if err != nil {
		return nil, err
	}
	out := []int32{}
	addControl := func(c int32) {
		if left[c] {
			left[c] = false
			out = append(out, c)
		}
	}
	controls := int32(len(s.src.Controls))
	for _, r := range s.rankDocuments(query) {
		if r.doc < controls {
			addControl(r.doc)
			continue
		}
		for _, m := range s.requirementMappingIndexes(r.doc - controls) {
			addControl(int32(s.src.Mappings[m].Control))
		}
	}
	return out, nil
}

type scoredDocument struct {
	doc   int32
	score float64
}

// rankDocuments returns all documents (controls and requirements) that match a text, best first.
func (s *Snapshot) rankDocuments(text string) []scoredDocument {
	text = strings.TrimSpace(text[:min(len(text), maxQueryBytes)])
	x := s.textIndex()
	scores := x.scoreByCodeAndText(text)
	for _, n := range s.requirementsByCode(text) {
		scores[int32(x.controls)+n] = 1
	}
	ranked := make([]scoredDocument, 0, len(scores))
	for doc, score := range scores {
		ranked = append(ranked, scoredDocument{doc, score})
	}
	slices.SortFunc(ranked, func(a, b scoredDocument) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.doc, b.doc))
	})
	return ranked
}

// requirementsByCode returns the requirements whose codes a text contains. The codes may have any of the usual
// spellings, such as "A.5.17", "5.17", "iso 27002 5.17" or "nis2:21.2(a)".
func (s *Snapshot) requirementsByCode(text string) []int32 {
	loose := NormalizeRequirementCode(text)
	if loose == "" {
		return nil
	}
	refs := s.requirementRefs()
	found := slices.Concat(refs.loose[loose], s.findISO27001AnnexRequirements(text))
	if len(found) == 0 && isDigit(loose[0]) { // of ISO 27001, if Annex A is included
		for clauses := range annexFrameworks {
			if f, ok := s.frameworks[clauses]; ok {
				found = append(found, s.filterRequirementsByFramework(f, refs.loose["a."+loose])...)
			}
		}
	}
	const most = 12 // words of "framework code"; a longer text is not a code
	words := strings.Fields(strings.ReplaceAll(text, ":", " "))
	for i := 1; i < len(words) && len(words) <= most && len(found) == 0; i++ {
		code := strings.Join(words[i:], " ")
		if !strings.ContainsAny(code, "0123456789") {
			break
		}
		for _, f := range s.frameworksByCodeOrPrefix(strings.Join(words[:i], " ")) {
			if n, err := s.findRequirementIn(f, code); err == nil {
				found = append(found, n)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// frameworksByCodeOrPrefix returns the indexes of the frameworks that a name could refer to: the framework with
// that code or, if there is none, the frameworks whose codes begin with the name.
func (s *Snapshot) frameworksByCodeOrPrefix(name string) []int {
	slug := FrameworkCode(name)
	if i, ok := s.frameworks[slug]; ok {
		return []int{i}
	}
	var out []int
	for i := range s.src.Frameworks {
		if strings.HasPrefix(s.src.Frameworks[i].Code, slug+"-") && len(slug) > 2 {
			out = append(out, i)
		}
	}
	return out
}

// scoreByCodeAndText returns the scores of the documents that match a text, from 0 to 1. Shared words are
// scored by BM25, scaled to stay below 0.9. A control scores 1 if the text is its code, and 0.95 if the text
// is the beginning of its code.
func (x *textIndex) scoreByCodeAndText(text string) map[int32]float64 {
	scores := map[int32]float64{}
	const k1, b = 1.2, 0.6
	terms := newStemmer().uniqueStems(text)
	docs := float64(len(x.length))
	best := 0.0
	for _, t := range terms {
		list := x.terms[t]
		idf := math.Log(1 + (docs-float64(len(list))+0.5)/(float64(len(list))+0.5))
		best += idf * (k1 + 1)
		for _, p := range list {
			tf := float64(p.weight)
			norm := k1 * (1 - b + b*float64(x.length[p.doc])/x.meanLength)
			scores[p.doc] += idf * tf * (k1 + 1) / (tf + norm)
		}
	}
	for doc := range scores {
		scores[doc] = 0.9 * scores[doc] / best
	}
	code, tidy := strings.ToLower(text), strings.ToLower(normalizeControlCode(text))
	for i, c := range x.codes {
		if c == code || c == tidy {
			scores[int32(i)] = 1
		} else if len(code) >= 3 && strings.HasPrefix(c, code) || tidy != "" && strings.HasPrefix(c, tidy) {
			scores[int32(i)] = 0.95
		}
	}
	return scores
}

func (s *Snapshot) toHit(doc int32, score float64) api.CatalogHit {
	if int(doc) < len(s.src.Controls) {
		c := &s.src.Controls[doc]
		return api.CatalogHit{
			Kind: "control", ID: s.controlIDs[doc], Code: c.Code, Title: NilIfEmpty(c.Title), DomainCode: NilIfEmpty(c.DomainCode()), Score: score,
		}
	}
	q := s.requirementRecord(doc - int32(len(s.src.Controls)))
	return api.CatalogHit{
		Kind: "requirement", ID: q.ID, Code: q.Code, Title: q.Title, FrameworkCode: &q.FrameworkCode, Score: score,
	}
}
