package text

import (
	"slices"
	"strings"
	"sync"
)

// Wording is how a criterion is said: groups of words and phrases, of each of which a sentence that
// says it has one. Unlike a demand's concepts they are compared by stems alone, since whoever wrote
// them thought of the other words himself.
type Wording []wordGroup

type wordGroup struct {
	words   []string
	phrases []Stems // of each of them
}

// Stems are the stems of some words, sorted.
type Stems struct {
	hashes []uint64
	mask   uint64 // a bit for each, so that most of what isn't there need not be looked for
}

func NewWording(groups [][]string) Wording {
	out := make(Wording, len(groups))
	for i, words := range groups {
		out[i].words = words
		for _, text := range words {
			out[i].phrases = append(out[i].phrases, parsePhrase(text))
		}
	}
	return out
}

var phraseCache sync.Map // by text; the book has many a word a hundred times

func parsePhrase(text string) Stems {
	if p, ok := phraseCache.Load(text); ok {
		return p.(Stems)
	}
	p := hashStems(splitWords(strings.ReplaceAll(text, "-", " ")))
	phraseCache.Store(text, p)
	return p
}

// StemsOf returns the stems of the words of a text.
func StemsOf(text string) Stems { return hashStems(splitWords(text)) }

// hashStems are the stems of words, with those of the parts of hyphenated ones.
func hashStems(words []word) (set Stems) {
	add := func(stem string) {
		id := hashTerm(stem)
		set.hashes, set.mask = append(set.hashes, id), set.mask|1<<(id%64)
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
	slices.Sort(set.hashes)
	set.hashes = slices.Compact(set.hashes)
	return set
}

func (of *Stems) contains(id uint64) bool {
	if of.mask>>(id%64)&1 == 0 {
		return false
	}
	_, ok := slices.BinarySearch(of.hashes, id)
	return ok
}

// WordingMatch is how much of a wording some sentences have.
type WordingMatch struct {
	HasWording   bool     // the statement has a wording
	OwnShare     float64  // 0 to 1: the share of its groups of which the sentences have a word
	TotalShare   float64  // the same, with what stands above them
	MissingGroup []string // the first group of which neither has one
}

// FullMatch is what a sentence that has it all would have.
func (w Wording) FullMatch() WordingMatch {
	if len(w) == 0 {
		return WordingMatch{}
	}
	return WordingMatch{HasWording: true, OwnShare: 1, TotalShare: 1}
}

// MatchIn looks for a wording in sentences and in what stands above them.
func (w Wording) MatchIn(window []*Sentence, above Stems) (h WordingMatch) {
	if len(w) == 0 {
		return h
	}
	mask := uint64(0)
	for _, s := range window {
		mask |= s.stems.mask
	}
	own, all := 0, 0
	for _, g := range w {
		here, there := g.matchIn(window, mask, above)
		if here {
			own++
		}
		if here || there {
			all++
		}
		if !here && !there && h.MissingGroup == nil {
			h.MissingGroup = g.words
		}
	}
	h.HasWording, h.OwnShare, h.TotalShare = true, float64(own)/float64(len(w)), float64(all)/float64(len(w))
	return h
}

// matchIn tells whether sentences have one of the phrases, and whether they have one with what stands above.
func (g wordGroup) matchIn(window []*Sentence, mask uint64, above Stems) (here, there bool) {
	for _, phrase := range g.phrases {
		if phrase.mask&^(mask|above.mask) != 0 {
			continue
		}
		own, any := true, true
		for _, stem := range phrase.hashes {
			if slices.ContainsFunc(window, func(s *Sentence) bool { return s.stems.contains(stem) }) {
				continue
			}
			own = false
			if any = above.contains(stem); !any {
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

// AverageShare is what a wording adds to the worth of a window: half for what it says itself, half for what
// it says together with what stands above it.
func (h WordingMatch) AverageShare() float64 { return (h.OwnShare + h.TotalShare) / 2 }

// IsComplete: there is a word of each group. What is then not said in the statement's words is said in others.
func (h WordingMatch) IsComplete() bool { return h.HasWording && h.TotalShare > 0.99 }

// Contains reports whether a wording contains a word.
func (w Wording) Contains(stem uint64) bool {
	return slices.ContainsFunc(w, func(g wordGroup) bool {
		return slices.ContainsFunc(g.phrases, func(p Stems) bool { return p.contains(stem) })
	})
}
