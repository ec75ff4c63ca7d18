package analyst

import (
	"slices"
	"strings"

	"github.com/scf-service/service/criteria"
)

// wording is how a criterion is said: groups of words and phrases, of each of which a sentence that
// says it has one. Unlike a demand's concepts they are compared by stems alone, since whoever wrote
// them thought of the other words himself.
type wording []wordGroup

type wordGroup struct {
	words   []string
	phrases [][]uint64 // of each of them the stems
}

func wordingOf(of criteria.Groups) wording {
	out := make(wording, len(of))
	for i, words := range of {
		out[i].words = words
		for _, text := range words {
			out[i].phrases = append(out[i].phrases, stemsOf(split(strings.ReplaceAll(text, "-", " "))))
		}
	}
	return out
}

// String is a group for a reader: its first words.
func (g wordGroup) String() string { return likes(g.words) }

// stemsOf are the stems of words, sorted, with those of the parts of hyphenated ones.
func stemsOf(words []word) []uint64 {
	var out []uint64
	for _, w := range words {
		out = append(out, termID(w.stem))
		if !strings.Contains(w.text, "-") {
			continue
		}
		for part := range strings.SplitSeq(w.text, "-") {
			if part != "" {
				out = append(out, termID(stemOf(part)))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// heard is how much of a wording some sentences have.
type heard struct {
	known bool    // the statement has a wording
	own   float64 // 0 to 1: the share of its groups of which the sentences have a word
	all   float64 // the same, with what stands above them
	lacks string  // the first group of which neither has one, for a reader
}

// in looks for a wording in sentences and in the sorted stems of what stands above them.
func (w wording) in(window []*sentence, above []uint64) (h heard) {
	if len(w) == 0 {
		return h
	}
	own, all := 0, 0
	for _, g := range w {
		here, there := g.in(window, above)
		own, all = own+btoi(here), all+btoi(here || there)
		if !here && !there && h.lacks == "" {
			h.lacks = g.String()
		}
	}
	h.known, h.own, h.all = true, float64(own)/float64(len(w)), float64(all)/float64(len(w))
	return h
}

// in tells whether sentences have one of the phrases, and whether they have one with what stands above.
func (g wordGroup) in(window []*sentence, above []uint64) (here, there bool) {
	for _, phrase := range g.phrases {
		own, any := true, true
		for _, stem := range phrase {
			if saidIn(window, stem) {
				continue
			}
			own = false
			if any = among(above, stem); !any {
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

func saidIn(window []*sentence, stem uint64) bool {
	return slices.ContainsFunc(window, func(s *sentence) bool { return among(s.stems, stem) })
}

func among(sorted []uint64, id uint64) bool {
	_, ok := slices.BinarySearch(sorted, id)
	return ok
}

// Shares of the groups of a wording.
const (
	saidMost = 0.6  // from which a sentence may say the whole: two of two, two of three
	saidHalf = 0.49 // from which it may say nearly the whole
)

// share is what a wording adds to the worth of a window: half for what it says itself, half for what
// it says together with what stands above it.
func (h heard) share() float64 { return (h.own + h.all) / 2 }

// whole: there is a word of each group. What is then not said in the statement's words is said in others.
func (h heard) whole() bool { return h.known && h.all > 0.99 }

// unworded leaves a wording out: a denial of many a thing has its words.
func (m match) unworded() match {
	m.heard = heard{}
	return m
}

// left is what may be counted of a sentence of which a clause denies.
func (h heard) left(share float64) heard {
	if share < 1 {
		h.own, h.all = h.own*share, min(h.all*share, saidMost)
	}
	return h
}
