package search

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/scf-service/service/engine/evidence/embed/words"
)

// Standing holds questions that are put again and again while documents come and go, and
// for each the passages that answer it best. What a passage scores hangs on the question, the
// passage and the Scale alone, so a document moves only the questions that it reaches, and
// the answers are those that a Standing filled at once would give.
//
//	Put ─▶ each passage against each question ─▶ those that come in ─▶ version of the question
//
// It is for one goroutine; what Best gave may be read by several.
type Standing struct {
	scale     *Scale
	topK      int
	dims      int
	stems     map[string]int32 // of the questions, numbered in their order
	asking    [][]asking       // by stem
	questions []question
	rows      flat
	held      []holds            // by slot
	places    map[string][]int32 // slots by document
	gone      int
	room      []float32 // for what passages that come in hold of each question
}

// Question is asked of every passage.
type Question struct {
	Text   string
	Vector []float32 // of Text; nil or zeros: by words only
}

// Best is a passage that answers a question.
type Best struct {
	Slot  int // tells passages apart also where one was put again with the same ID
	ID    string
	Score float64
}

type question struct {
	vector  []float32 // nil: none
	ground  Background
	terms   []share // by stem
	top     []ranked
	whole   bool // top holds every passage that says anything to it
	version int
}

// asking is a question that a stem stands in, with what it is worth there.
type asking struct {
	question int32
	weight   float32
}

// share is what a stem is worth in a question, or how much of it a passage holds.
type share struct {
	stem int32
	of   float32
}

type holds struct {
	id    string
	terms []share // by stem, of those that are asked for
	live  bool
}

type ranked struct {
	fused float64
	slot  int32
}

const (
	// spare are passages kept beyond those asked for, so that one that goes can be replaced
	// without looking at all again.
	spare = 20
	// putAtOnce bounds what is held of words while passages come in.
	putAtOnce = 64
)

// NewStanding makes the questions ready. All vectors have one length; the best topK are kept.
func NewStanding(scale *Scale, questions []Question, topK int) (*Standing, error) {
	s := &Standing{scale: scale, topK: topK, stems: map[string]int32{}, questions: make([]question, len(questions)), places: map[string][]int32{}}
	units := make([][]words.Token, len(questions))
	onAllCores(len(questions), func(i int) { units[i] = words.Split(questions[i].Text) })
	for i, q := range questions {
		if len(q.Vector) > 0 && s.dims == 0 {
			s.dims = len(q.Vector)
		}
		if len(q.Vector) > 0 && len(q.Vector) != s.dims {
			return nil, fmt.Errorf("%w: question %d has a vector of %d numbers, others of %d", ErrQuery, i, len(q.Vector), s.dims)
		}
		for _, u := range units[i] {
			if u.Kind != words.Stop {
				s.stems[u.Stem] = 0
			}
		}
	}
	s.asking = make([][]asking, len(s.stems))
	for n, stem := range slices.Sorted(maps.Keys(s.stems)) {
		s.stems[stem] = int32(n)
	}
	// One array for all, so that each begins where sums are done alike.
	vectors := make([]float32, len(questions)*s.dims)
	onAllCores(len(questions), func(i int) {
		q := &s.questions[i]
		q.whole, q.terms = true, s.termsOf(units[i])
		if v := questions[i].Vector; len(v) > 0 {
			own := vectors[i*s.dims : (i+1)*s.dims : (i+1)*s.dims]
			if copy(own, v); unit(own) {
				q.vector, q.ground = own, scale.around(own)
			}
		}
	})
	for i := range s.questions {
		for _, t := range s.questions[i].terms {
			s.asking[t.stem] = append(s.asking[t.stem], asking{int32(i), t.of})
		}
	}
	return s, nil
}

// termsOf are the distinct stems of a question with their share of its worth, by stem.
func (s *Standing) termsOf(units []words.Token) []share {
	var out []share
	worth := float32(0)
	for _, u := range units {
		if u.Kind == words.Stop {
			continue
		}
		w := s.scale.worth(u)
		worth += w
		stem := s.stems[u.Stem]
		if i := slices.IndexFunc(out, func(t share) bool { return t.stem == stem }); i >= 0 {
			out[i].of += w
			continue
		}
		out = append(out, share{stem, w})
	}
	for i := range out {
		out[i].of /= max(worth, 1e-9)
	}
	slices.SortFunc(out, func(a, b share) int { return int(a.stem - b.stem) })
	return out
}

// Best are the passages that answer a question best, best first.
func (s *Standing) Best(n int) []Best {
	q := &s.questions[n]
	top := q.top[:min(len(q.top), s.topK)]
	best := make([]Best, len(top))
	for i, r := range top {
		best[i] = Best{int(r.slot), s.held[r.slot].id, scaled(r.fused)}
	}
	return best
}

// Version of the answer to a question: as long as it is the same, so is what Best gives.
func (s *Standing) Version(n int) int { return s.questions[n].version }

// Len is the number of passages.
func (s *Standing) Len() int { return len(s.held) - s.gone }

// Gone is the number of passages that were put and went, whose places are kept.
func (s *Standing) Gone() int { return s.gone }

// Put adds the passages of a document in place of those it had; none: it is removed. The slots
// are those of the passages, in their order.
func (s *Standing) Put(document string, passages ...Passage) ([]int, error) {
	for _, p := range passages {
		if p.ID == "" {
			return nil, fmt.Errorf("%w: it has no id", ErrPassage)
		}
		if n := len(p.Vector); n > 0 && s.dims > 0 && n != s.dims {
			return nil, fmt.Errorf("%w: %s has a vector of %d numbers, the questions have %d; embed it again", ErrPassage, p.ID, n, s.dims)
		}
	}
	s.remove(document)
	first := len(s.held)
	held := make([]holds, len(passages))
	onAllCores(len(passages), func(i int) { held[i] = s.holds(passages[i]) })
	slots := make([]int, len(passages))
	for i, p := range passages {
		slots[i] = first + i
		s.places[document] = append(s.places[document], int32(first+i))
		v := p.Vector
		if s.dims == 0 {
			v = nil
		}
		s.rows.add(v, s.dims)
	}
	s.held = append(s.held, held...)
	for from := first; from < len(s.held); from += putAtOnce {
		s.enter(from, min(from+putAtOnce, len(s.held)))
	}
	return slots, nil
}

// holds is what a passage holds of what is asked for.
func (s *Standing) holds(p Passage) holds {
	counts, total := tally(words.Split(searchText(p)))
	h := holds{id: p.ID, live: true}
	for stem, times := range counts {
		if n, asked := s.stems[stem]; asked {
			h.terms = append(h.terms, share{n, saturated(times, total)})
		}
	}
	slices.SortFunc(h.terms, func(a, b share) int { return int(a.stem - b.stem) })
	return h
}

// enter offers the passages of some slots to every question.
func (s *Standing) enter(from, to int) {
	each := len(s.questions)
	if s.room == nil {
		s.room = make([]float32, putAtOnce*each)
	}
	covered := make([][]float32, to-from)
	onAllCores(len(covered), func(i int) {
		covered[i] = s.room[i*each : (i+1)*each]
		clear(covered[i])
		for _, t := range s.held[from+i].terms {
			for _, a := range s.asking[t.stem] {
				covered[i][a.question] += a.weight * t.of
			}
		}
	})
	onAllCores(len(s.questions), func(n int) {
		q, touched := &s.questions[n], false
		var close [putAtOnce]float32
		if q.vector != nil {
			s.rows.dots(close[:len(covered)], q.vector, from)
		}
		for i := range covered {
			if s.offer(q, from+i, close[i], covered[i][n]) {
				touched = true
			}
		}
		if touched {
			q.version++
		}
	})
}

// covers is how much of a question's worth a passage holds, summed up as enter does.
func covers(q *question, h *holds) (sum float32) {
	terms := h.terms
	for _, t := range q.terms {
		for len(terms) > 0 && terms[0].stem < t.stem {
			terms = terms[1:]
		}
		if len(terms) > 0 && terms[0].stem == t.stem {
			sum += t.of * terms[0].of
		}
	}
	return sum
}

// offer takes a passage in where it is good enough, and tells whether the answer changed.
func (s *Standing) offer(q *question, slot int, cosine, covered float32) bool {
	fused := wordsAlone * float64(covered)
	if q.vector != nil {
		if cosine == 0 && covered == 0 {
			return false // no vector and no word: nothing speaks for it
		}
		fused = q.ground.fuse(float64(cosine), covered)
	} else if covered == 0 {
		return false
	}
	r := ranked{fused, int32(slot)}
	if n := len(q.top); n > 0 && (n == s.topK+spare || !q.whole) && !s.ahead(r, q.top[n-1]) {
		q.whole = false
		return false
	}
	if q.top == nil {
		q.top = make([]ranked, 0, s.topK+spare+1)
	}
	at := sort.Search(len(q.top), func(i int) bool { return !s.ahead(q.top[i], r) })
	q.top = slices.Insert(q.top, at, r)
	if len(q.top) > s.topK+spare {
		q.top, q.whole = q.top[:s.topK+spare], false
	}
	return at < s.topK
}

func (s *Standing) ahead(a, b ranked) bool { return s.compare(a, b) < 0 }

// compare orders passages best first; equals by ID, so that it doesn't matter which came first.
func (s *Standing) compare(a, b ranked) int {
	switch {
	case a.fused > b.fused:
		return -1
	case a.fused < b.fused:
		return 1
	}
	return strings.Compare(s.held[a.slot].id, s.held[b.slot].id)
}

// remove takes a document's passages out.
func (s *Standing) remove(document string) {
	slots := s.places[document]
	if len(slots) == 0 {
		return
	}
	delete(s.places, document)
	s.gone += len(slots)
	for _, n := range slots {
		s.held[n] = holds{id: s.held[n].id}
	}
	onAllCores(len(s.questions), func(n int) {
		q, touched := &s.questions[n], false
		kept := q.top[:0]
		for i, r := range q.top {
			if s.held[r.slot].live {
				kept = append(kept, r)
			} else {
				touched = touched || i < s.topK
			}
		}
		if q.top = kept; !q.whole && len(kept) < s.topK {
			s.again(q)
		}
		if touched {
			q.version++
		}
	})
}

// again looks through all passages for one question.
func (s *Standing) again(q *question) {
	q.top, q.whole = q.top[:0], true
	for slot := range s.held {
		if s.held[slot].live {
			s.offer(q, slot, dot(q.vector, s.rows.row(slot)), covers(q, &s.held[slot]))
		}
	}
}
