package judge

import (
	"slices"
	"strings"
	"sync"

	"github.com/scf-service/service/engine/judge/criteria"
)

// wording is how a criterion is said: groups of words and phrases, of each of which a sentence that
// says it has one. Unlike a demand's concepts they are compared by stems alone, since whoever wrote
// them thought of the other words himself.
type wording []wordGroup

type wordGroup struct {
	words   []string
	phrases []roots // of each of them
}

// roots are the stems of some words, sorted.
type roots struct {
	ids  []uint64
	mask uint64 // a bit for each, so that most of what isn't there need not be looked for
}

func wordingOf(of criteria.Groups) wording {
	out := make(wording, len(of))
	for i, words := range of {
		out[i].words = words
		for _, text := range words {
			out[i].phrases = append(out[i].phrases, phraseOf(text))
		}
	}
	return out
}

var phrases sync.Map // by text; the book has many a word a hundred times

func phraseOf(text string) roots {
	if p, ok := phrases.Load(text); ok {
		return p.(roots)
	}
	p := rootsOf(split(strings.ReplaceAll(text, "-", " ")))
	phrases.Store(text, p)
	return p
}

// rootsOf are the stems of words, with those of the parts of hyphenated ones.
func rootsOf(words []word) (of roots) {
	add := func(stem string) {
		id := termID(stem)
		of.ids, of.mask = append(of.ids, id), of.mask|1<<(id%64)
	}
	for _, w := range words {
		add(w.stem)
		if !strings.Contains(w.text, "-") {
			continue
		}
		for part := range strings.SplitSeq(w.text, "-") {
			if part != "" {
				add(stemOf(part))
			}
		}
	}
	slices.Sort(of.ids)
	of.ids = slices.Compact(of.ids)
	return of
}

func (of *roots) has(id uint64) bool {
	if of.mask>>(id%64)&1 == 0 {
		return false
	}
	_, ok := slices.BinarySearch(of.ids, id)
	return ok
}

// worded is how much of a wording some sentences have.
type worded struct {
	known bool     // the statement has a wording
	own   float64  // 0 to 1: the share of its groups of which the sentences have a word
	all   float64  // the same, with what stands above them
	lacks []string // the first group of which neither has one
}

// best is what a sentence that has it all would have.
func (w wording) best() worded {
	if len(w) == 0 {
		return worded{}
	}
	return worded{known: true, own: 1, all: 1}
}

// in looks for a wording in sentences and in what stands above them.
func (w wording) in(window []*sentence, above roots) (h worded) {
	if len(w) == 0 {
		return h
	}
	mask := uint64(0)
	for _, s := range window {
		mask |= s.roots.mask
	}
	own, all := 0, 0
	for _, g := range w {
		here, there := g.in(window, mask, above)
		own, all = own+btoi(here), all+btoi(here || there)
		if !here && !there && h.lacks == nil {
			h.lacks = g.words
		}
	}
	h.known, h.own, h.all = true, float64(own)/float64(len(w)), float64(all)/float64(len(w))
	return h
}

// in tells whether sentences have one of the phrases, and whether they have one with what stands above.
func (g wordGroup) in(window []*sentence, mask uint64, above roots) (here, there bool) {
	for _, phrase := range g.phrases {
		if phrase.mask&^(mask|above.mask) != 0 {
			continue
		}
		own, any := true, true
		for _, stem := range phrase.ids {
			if slices.ContainsFunc(window, func(s *sentence) bool { return s.roots.has(stem) }) {
				continue
			}
			own = false
			if any = above.has(stem); !any {
				break
			}
		}
		if own {
			return true, true
		}
		there = there || any
	}
	return false, there
}

// Shares of the groups of a wording.
const (
	saidMost = 0.6  // from which a sentence may say the whole: two of two, two of three
	saidHalf = 0.49 // from which it may say nearly the whole
)

// share is what a wording adds to the worth of a window: half for what it says itself, half for what
// it says together with what stands above it.
func (h worded) share() float64 { return (h.own + h.all) / 2 }

// whole: there is a word of each group. What is then not said in the statement's words is said in others.
func (h worded) whole() bool { return h.known && h.all > 0.99 }

// unworded leaves a wording out: a denial of many a thing has its words.
func (m match) unworded() match {
	m.worded = worded{}
	return m
}

// left is what may be counted of a sentence of which a clause denies.
func (h worded) left(share float64) worded {
	if share < 1 {
		h.own, h.all = h.own*share, min(h.all*share, saidMost)
	}
	return h
}
