package text

import (
	"slices"
	"strings"
	"sync"
)

// Wording describes how a criterion is usually expressed, as groups of alternative words and phrases. A text that
// states the criterion contains at least one alternative from each group. Unlike concepts, the alternatives are
// compared only by stem, because each group lists its own synonyms.
type Wording []wordGroup

// wordGroup is a group of alternative words and phrases.
type wordGroup struct {
	words   []string
	phrases []*Stems // stems of each of words
}

// Stems is a set of word stems.
type Stems struct {
	hashes []uint64 // sorted
	mask   uint64   // one bit per stem; rules out most absent stems quickly
}

// NewWording returns a wording that consists of groups of alternative words and phrases.
func NewWording(groups [][]string) Wording {
	out := make(Wording, len(groups))
	for i, words := range groups {
		out[i] = wordGroup{words, make([]*Stems, len(words))}
		for k, text := range words {
			out[i].phrases[k] = stemsOfPhrase(text)
		}
	}
	return out
}

var phraseCache sync.Map // *Stems by phrase; criteria repeat many phrases

// stemsOfPhrase returns the stems of a phrase. Hyphens are treated as spaces.
func stemsOfPhrase(text string) *Stems {
	if p, ok := phraseCache.Load(text); ok {
		return p.(*Stems)
	}
	p := hashStems(splitWords(strings.ReplaceAll(text, "-", " ")))
	phraseCache.Store(text, &p)
	return &p
}

// StemsOf returns the stems of the words in a text.
func StemsOf(text string) Stems { return hashStems(splitWords(text)) }

// hashStems returns the stems of words, including those of the parts of hyphenated words.
func hashStems(words []word) (set Stems) {
	set.hashes = make([]uint64, 0, len(words))
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

// contains reports whether the set contains the stem with the given hash.
func (s *Stems) contains(stemHash uint64) bool {
	if s.mask>>(stemHash%64)&1 == 0 {
		return false
	}
	_, ok := slices.BinarySearch(s.hashes, stemHash)
	return ok
}

// WordingMatch states how much of a wording occurs in a window (one or two sentences) and in the text above it.
type WordingMatch struct {
	HasWording   bool     // the wording has groups
	OwnShare     float64  // share of groups that occur in the sentences, from 0 to 1
	TotalShare   float64  // the same, including the text above them
	MissingGroup []string // words of the first group that occurs in neither
}

// FullMatch returns the match of a text that contains every group.
func (w Wording) FullMatch() WordingMatch {
	if len(w) == 0 {
		return WordingMatch{}
	}
	return WordingMatch{HasWording: true, OwnShare: 1, TotalShare: 1}
}

// MatchIn matches a wording against a window (one or two sentences) and the text above it.
func (w Wording) MatchIn(window []*Sentence, above Stems) (m WordingMatch) {
	if len(w) == 0 {
		return m
	}
	mask := uint64(0)
	for _, s := range window {
		mask |= s.stems.mask
	}
	own, all := 0, 0
	for _, g := range w {
		inWindow, withAbove := g.matchIn(window, mask, above)
		if inWindow {
			own++
		}
		if inWindow || withAbove {
			all++
		}
		if !inWindow && !withAbove && m.MissingGroup == nil {
			m.MissingGroup = g.words
		}
	}
	m.HasWording, m.OwnShare, m.TotalShare = true, float64(own)/float64(len(w)), float64(all)/float64(len(w))
	return m
}

// matchIn reports whether the window contains all stems of one of the group's phrases, and whether the window and the
// text above it together contain them. mask is the union of the window's stem masks.
func (g wordGroup) matchIn(window []*Sentence, mask uint64, above Stems) (inWindow, withAbove bool) {
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
		withAbove = withAbove || any
	}
	return false, withAbove
}

// AverageShare returns the mean of two shares: that of the sentences alone and that of the sentences together with the
// text above them.
func (m WordingMatch) AverageShare() float64 { return (m.OwnShare + m.TotalShare) / 2 }

// IsComplete reports whether every group of the wording occurs in the window or the text above it.
func (m WordingMatch) IsComplete() bool { return m.HasWording && m.TotalShare > 0.99 }

// ContainsStem reports whether a phrase of the wording contains the stem with the given hash.
func (w Wording) ContainsStem(stem uint64) bool {
	return slices.ContainsFunc(w, func(g wordGroup) bool {
		return slices.ContainsFunc(g.phrases, func(p *Stems) bool { return p.contains(stem) })
	})
}
