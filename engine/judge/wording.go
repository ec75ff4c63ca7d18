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
	phrases []stemHashes // of each of them
}

// stemHashes are the stems of some words, sorted.
type stemHashes struct {
	hashes []uint64
	mask   uint64 // a bit for each, so that most of what isn't there need not be looked for
}

func newWording(groups criteria.WordGroups) wording {
	out := make(wording, len(groups))
	for i, words := range groups {
		out[i].words = words
		for _, text := range words {
			out[i].phrases = append(out[i].phrases, parsePhrase(text))
		}
	}
	return out
}

var phraseCache sync.Map // by text; the book has many a word a hundred times

func parsePhrase(text string) stemHashes {
	if p, ok := phraseCache.Load(text); ok {
		return p.(stemHashes)
	}
	p := hashStems(splitWords(strings.ReplaceAll(text, "-", " ")))
	phraseCache.Store(text, p)
	return p
}

// hashStems are the stems of words, with those of the parts of hyphenated ones.
func hashStems(words []word) (set stemHashes) {
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

func (of *stemHashes) contains(id uint64) bool {
	if of.mask>>(id%64)&1 == 0 {
		return false
	}
	_, ok := slices.BinarySearch(of.hashes, id)
	return ok
}

// wordingMatch is how much of a wording some sentences have.
type wordingMatch struct {
	hasWording   bool     // the statement has a wording
	ownShare     float64  // 0 to 1: the share of its groups of which the sentences have a word
	totalShare   float64  // the same, with what stands above them
	missingGroup []string // the first group of which neither has one
}

// fullMatch is what a sentence that has it all would have.
func (w wording) fullMatch() wordingMatch {
	if len(w) == 0 {
		return wordingMatch{}
	}
	return wordingMatch{hasWording: true, ownShare: 1, totalShare: 1}
}

// matchIn looks for a wording in sentences and in what stands above them.
func (w wording) matchIn(window []*sentence, above stemHashes) (h wordingMatch) {
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
		own, all = own+boolToInt(here), all+boolToInt(here || there)
		if !here && !there && h.missingGroup == nil {
			h.missingGroup = g.words
		}
	}
	h.hasWording, h.ownShare, h.totalShare = true, float64(own)/float64(len(w)), float64(all)/float64(len(w))
	return h
}

// matchIn tells whether sentences have one of the phrases, and whether they have one with what stands above.
func (g wordGroup) matchIn(window []*sentence, mask uint64, above stemHashes) (here, there bool) {
	for _, phrase := range g.phrases {
		if phrase.mask&^(mask|above.mask) != 0 {
			continue
		}
		own, any := true, true
		for _, stem := range phrase.hashes {
			if slices.ContainsFunc(window, func(s *sentence) bool { return s.stems.contains(stem) }) {
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

// Shares of the groups of a wording.
const (
	minFullWordingShare       = 0.6  // from which a sentence may say the whole: two of two, two of three
	minNearlyFullWordingShare = 0.49 // from which it may say nearly the whole
)

// averageShare is what a wording adds to the worth of a window: half for what it says itself, half for what
// it says together with what stands above it.
func (h wordingMatch) averageShare() float64 { return (h.ownShare + h.totalShare) / 2 }

// isComplete: there is a word of each group. What is then not said in the statement's words is said in others.
func (h wordingMatch) isComplete() bool { return h.hasWording && h.totalShare > 0.99 }

// withoutWording leaves a wording out: a denial of many a thing has its words.
func (m match) withoutWording() match {
	m.wordingMatch = wordingMatch{}
	return m
}

// scaleDown is what may be counted of a sentence of which a clause denies.
func (h wordingMatch) scaleDown(share float64) wordingMatch {
	if share < 1 {
		h.ownShare, h.totalShare = h.ownShare*share, min(h.totalShare*share, minFullWordingShare)
	}
	return h
}
