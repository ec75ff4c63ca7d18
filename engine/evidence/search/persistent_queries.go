package search

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/scf-service/service/engine/evidence/embed/words"
)

// PersistentQueries keeps the best passages for questions that are asked repeatedly while documents change. A
// passage's score depends only on the question, the passage and the Scale, so a document affects only the questions it
// matches, and the answers are the same as if all documents had been added at once.
//
//	Put ─▶ each passage against each question ─▶ those that rank ─▶ version of the question
//
// It is not safe for concurrent use; the result of TopAnswers may be read concurrently.
type PersistentQueries struct {
	scale           *Scale
	topK            int
	dims            int
	stemIDs         map[string]int32 // stems of the questions, numbered in order
	queriesByStem   [][]stemWeight   // by stem
	questions       []question
	vectors         flatVectors
	passages        []indexedPassage   // by slot
	slotsByDocument map[string][]int32 // slots by document
	removedCount    int
	coverageBuffer  []float32 // share of each question that new passages cover
}

// Question is a question that every passage is matched against.
type Question struct {
	Text   string
	Vector []float32 // of Text; nil or zeros: by words only
	// Language is set if the question is in a language other than English. The question is then
	// matched only by words, against passages in that language.
	Language string
}

// Answer is a passage that answers a question.
type Answer struct {
	Slot  int // distinguishes passages even if one was added again with the same ID
	ID    string
	Score float64
}

// question is a query together with its best passages.
type question struct {
	vector     []float32 // nil: none
	background Background
	terms      []stemShare // by stem
	top        []rankedSlot
	isComplete bool // top holds every passage that matches at all
	version    int
}

// stemWeight is the weight of a stem in a question.
type stemWeight struct {
	question int32
	weight   float32
}

// stemShare is a stem's share of a question's weight, or the degree to which a passage covers the stem.
type stemShare struct {
	stem  int32
	share float32
}

type indexedPassage struct {
	id    string
	terms []stemShare // by stem, only stems of the questions
	live  bool
}

// rankedSlot is a passage with its score.
type rankedSlot struct {
	fusedScore float64
	slot       int32
}

const (
	// spareRanks is the number of passages kept beyond topK, so that removed passages can be
	// replaced without a full scan.
	spareRanks = 20
	// putBatch is the number of passages added at once. It limits the memory used for their words.
	putBatch = 64
)

// NewPersistentQueries prepares the questions. All vectors must have the same length. For each question, the
// topK best passages are kept.
func NewPersistentQueries(scale *Scale, questions []Question, topK int) (*PersistentQueries, error) {
	s := &PersistentQueries{
		scale:           scale,
		topK:            topK,
		stemIDs:         map[string]int32{},
		questions:       make([]question, len(questions)),
		slotsByDocument: map[string][]int32{},
	}
	units := make([][]words.Token, len(questions))
	foreign := make([][]string, len(questions))
	parallelFor(len(questions), func(i int) {
		if code := questions[i].Language; code != "" {
			foreign[i] = words.ForeignStems(code, questions[i].Text)
			return
		}
		units[i] = words.Split(questions[i].Text)
	})
	for i, q := range questions {
		if len(q.Vector) > 0 && s.dims == 0 {
			s.dims = len(q.Vector)
		}
		if len(q.Vector) > 0 && len(q.Vector) != s.dims {
			return nil, fmt.Errorf("%w: the vector of question %d has %d numbers, but the other questions' vectors have %d",
				ErrQuery, i, len(q.Vector), s.dims)
		}
		if q.Language != "" {
			for _, stem := range foreign[i] {
				s.stemIDs[stem] = 0
			}
			continue
		}
		for _, u := range units[i] {
			if u.Kind != words.Stop {
				s.stemIDs[u.Stem] = 0
			}
		}
	}
	s.queriesByStem = make([][]stemWeight, len(s.stemIDs))
	for n, stem := range slices.Sorted(maps.Keys(s.stemIDs)) {
		s.stemIDs[stem] = int32(n)
	}
	// One array holds all vectors, so that all are aligned in the same way.
	vectors := make([]float32, len(questions)*s.dims)
	parallelFor(len(questions), func(i int) {
		q := &s.questions[i]
		q.isComplete, q.terms = true, s.queryTerms(units[i])
		if questions[i].Language != "" {
			q.terms = s.foreignQueryTerms(foreign[i])
			return
		}
		if v := questions[i].Vector; len(v) > 0 {
			own := vectors[i*s.dims : (i+1)*s.dims : (i+1)*s.dims]
			if copy(own, v); normalize(own) {
				q.vector, q.background = own, scale.queryBackground(own)
			}
		}
	})
	for i := range s.questions {
		for _, t := range s.questions[i].terms {
			s.queriesByStem[t.stem] = append(s.queriesByStem[t.stem], stemWeight{int32(i), t.share})
		}
	}
	return s, nil
}

// queryTerms returns the distinct stems of a question, each with its share of the question's weight, ordered by
// stem number.
func (s *PersistentQueries) queryTerms(units []words.Token) []stemShare {
	var out []stemShare
	worth := float32(0)
	for _, u := range units {
		if u.Kind == words.Stop {
			continue
		}
		w := s.scale.unitWeight(u)
		worth += w
		stem := s.stemIDs[u.Stem]
		if i := slices.IndexFunc(out, func(t stemShare) bool { return t.stem == stem }); i >= 0 {
			out[i].share += w
			continue
		}
		out = append(out, stemShare{stem, w})
	}
	for i := range out {
		out[i].share /= max(worth, 1e-9)
	}
	slices.SortFunc(out, func(a, b stemShare) int { return int(a.stem - b.stem) })
	return out
}

// foreignQueryTerms is like queryTerms, but for a question in another language, whose stems all have the same weight.
func (s *PersistentQueries) foreignQueryTerms(stems []string) (out []stemShare) {
	slices.Sort(stems)
	for _, stem := range slices.Compact(stems) {
		out = append(out, stemShare{stem: s.stemIDs[stem]})
	}
	for i := range out {
		out[i].share = 1 / float32(len(out))
	}
	slices.SortFunc(out, func(a, b stemShare) int { return int(a.stem - b.stem) })
	return out
}

// TopAnswers returns the passages that best answer a question, best first.
func (s *PersistentQueries) TopAnswers(questionIndex int) []Answer {
	q := &s.questions[questionIndex]
	top := q.top[:min(len(q.top), s.topK)]
	best := make([]Answer, len(top))
	for i, r := range top {
		best[i] = Answer{Slot: int(r.slot), ID: s.passages[r.slot].id, Score: calibratedOnScale(r.fusedScore)}
	}
	return best
}

// Version returns a number that changes whenever the result of TopAnswers for the question changes.
func (s *PersistentQueries) Version(questionIndex int) int { return s.questions[questionIndex].version }

// PassageCount returns the number of passages.
func (s *PersistentQueries) PassageCount() int { return len(s.passages) - s.removedCount }

// RemovedCount returns the number of removed passages, whose slots are not reused.
func (s *PersistentQueries) RemovedCount() int { return s.removedCount }

// ReplaceDocument replaces the passages of a document. If there are none, the document is removed. It returns the slots of
// the passages, in order.
func (s *PersistentQueries) ReplaceDocument(document string, passages ...Passage) ([]int, error) {
	for _, p := range passages {
		if p.ID == "" {
			return nil, fmt.Errorf("%w: the passage has no ID", ErrPassage)
		}
		if n := len(p.Vector); n > 0 && s.dims > 0 && n != s.dims {
			return nil, fmt.Errorf("%w: the vector of %s has %d numbers, but those of the questions have %d; embed the passage again",
				ErrPassage, p.ID, n, s.dims)
		}
	}
	s.removeDocument(document)
	first := len(s.passages)
	held := make([]indexedPassage, len(passages))
	parallelFor(len(passages), func(i int) { held[i] = s.toIndexedPassage(passages[i]) })
	slots := make([]int, len(passages))
	for i, p := range passages {
		slots[i] = first + i
		s.slotsByDocument[document] = append(s.slotsByDocument[document], int32(first+i))
		v := p.Vector
		if s.dims == 0 {
			v = nil
		}
		s.vectors.addNormalized(v, s.dims)
	}
	s.passages = append(s.passages, held...)
	for from := first; from < len(s.passages); from += putBatch {
		s.offerSlots(from, min(from+putBatch, len(s.passages)))
	}
	return slots, nil
}

// toIndexedPassage reduces a passage to the stems that it has in common with the questions.
func (s *PersistentQueries) toIndexedPassage(p Passage) indexedPassage {
	counts, total := countNonStopStems(words.Split(searchableText(p)))
	h := indexedPassage{id: p.ID, live: true}
	for stem, times := range counts {
		if n, asked := s.stemIDs[stem]; asked {
			h.terms = append(h.terms, stemShare{n, termSaturation(times, total)})
		}
	}
	if p.Language != "" {
		counts, stems := map[string]int{}, words.ForeignStems(p.Language, searchableText(p))
		for _, stem := range stems {
			counts[stem]++
		}
		for stem, times := range counts {
			if n, asked := s.stemIDs[stem]; asked {
				h.terms = append(h.terms, stemShare{n, termSaturation(times, len(stems))})
			}
		}
	}
	slices.SortFunc(h.terms, func(a, b stemShare) int { return int(a.stem - b.stem) })
	return h
}

// offerSlots matches the passages of a range of slots against every question.
func (s *PersistentQueries) offerSlots(from, to int) {
	each := len(s.questions)
	if s.coverageBuffer == nil {
		s.coverageBuffer = make([]float32, putBatch*each)
	}
	covered := make([][]float32, to-from)
	parallelFor(len(covered), func(i int) {
		covered[i] = s.coverageBuffer[i*each : (i+1)*each]
		clear(covered[i])
		for _, t := range s.passages[from+i].terms {
			for _, a := range s.queriesByStem[t.stem] {
				covered[i][a.question] += a.weight * t.share
			}
		}
	})
	parallelFor(len(s.questions), func(n int) {
		q, touched := &s.questions[n], false
		var close [putBatch]float32
		if q.vector != nil {
			s.vectors.computeDots(close[:len(covered)], q.vector, from)
		}
		for i := range covered {
			if s.offerSlot(q, from+i, close[i], covered[i][n]) {
				touched = true
			}
		}
		if touched {
			q.version++
		}
	})
}

// coverageBy returns the share of a question's weight that a passage covers. It adds numbers in the same order as
// offerSlots, so that both round the same way.
func coverageBy(q *question, h *indexedPassage) (sum float32) {
	terms := h.terms
	for _, t := range q.terms {
		for len(terms) > 0 && terms[0].stem < t.stem {
			terms = terms[1:]
		}
		if len(terms) > 0 && terms[0].stem == t.stem {
			sum += t.share * terms[0].share
		}
	}
	return sum
}

// offerSlot adds a passage to a question's answers if it is good enough, and reports whether the answers
// changed.
func (s *PersistentQueries) offerSlot(q *question, slot int, cosine, covered float32) (changed bool) {
	fused := wordsOnlyDeviations * float64(covered)
	if q.vector != nil {
		if cosine == 0 && covered == 0 {
			return false // neither a vector nor a word in common
		}
		fused = q.background.fuse(float64(cosine), covered)
	} else if covered == 0 {
		return false
	}
	r := rankedSlot{fused, int32(slot)}
	if n := len(q.top); n > 0 && (n == s.topK+spareRanks || !q.isComplete) && !s.ranksBefore(r, q.top[n-1]) {
		q.isComplete = false
		return false
	}
	if q.top == nil {
		q.top = make([]rankedSlot, 0, s.topK+spareRanks+1)
	}
	at := sort.Search(len(q.top), func(i int) bool { return !s.ranksBefore(q.top[i], r) })
	q.top = slices.Insert(q.top, at, r)
	if len(q.top) > s.topK+spareRanks {
		q.top, q.isComplete = q.top[:s.topK+spareRanks], false
	}
	return at < s.topK
}

func (s *PersistentQueries) ranksBefore(a, b rankedSlot) bool { return s.compare(a, b) < 0 }

// compare orders passages best first. Equally good ones are ordered by ID, so that the order in
// which they were added doesn't matter.
func (s *PersistentQueries) compare(a, b rankedSlot) int {
	switch {
	case a.fusedScore > b.fusedScore:
		return -1
	case a.fusedScore < b.fusedScore:
		return 1
	}
	return strings.Compare(s.passages[a.slot].id, s.passages[b.slot].id)
}

// removeDocument removes a document's passages and also removes them from the answers to the questions.
func (s *PersistentQueries) removeDocument(document string) {
	slots := s.slotsByDocument[document]
	if len(slots) == 0 {
		return
	}
	delete(s.slotsByDocument, document)
	s.removedCount += len(slots)
	for _, n := range slots {
		s.passages[n] = indexedPassage{id: s.passages[n].id}
	}
	parallelFor(len(s.questions), func(n int) {
		q, touched := &s.questions[n], false
		kept := q.top[:0]
		for i, r := range q.top {
			if s.passages[r.slot].live {
				kept = append(kept, r)
			} else {
				touched = touched || i < s.topK
			}
		}
		if q.top = kept; !q.isComplete && len(kept) < s.topK {
			s.rescan(q)
		}
		if touched {
			q.version++
		}
	})
}

// rescan matches all passages against one question again.
func (s *PersistentQueries) rescan(q *question) {
	q.top, q.isComplete = q.top[:0], true
	for slot := range s.passages {
		if s.passages[slot].live {
			s.offerSlot(q, slot, dot(q.vector, s.vectors.row(slot)), coverageBy(q, &s.passages[slot]))
		}
	}
}
