package judge

import (
	"slices"
	"sync"
)

// match is how much of a demand a window of sentences says.
type match struct {
	wordCoverage   float64      // 0 to 1: weighed share of the demand's concepts
	similarity     float64      // 0 to 1: closeness in meaning
	competition    float64      // 0 to 1: how many other criteria the sentence is closer to; below 0 where it is by far the closest
	wordingMatch   wordingMatch // of the words by which it is recognised
	ownShare       float64      // 0 to 1: of the demand, what the sentences themselves hold
	ownWeight      float64      // weight that the sentences themselves hold, without headings
	specificHits   int          // concepts that the sentences hold and that aren't general
	specificWeight float64      // weight of the matched concepts that aren't general
	topicShare     float64      // 0 to 1: share of the control's title, in sentence, headings or passage
	offTopic       bool         // the passage names nothing of the control
	missingAnchor  anchorGroup  // words of the statement of which the passage has none
	missedConcepts []string
	missedTopics   []string // of them, things that the control is about
	missedActions  []string // actions asked for that are not said
	missesHead     bool     // the first thing the demand speaks of is not there
	deniesOutright bool     // a sentence that denies, and speaks of nothing but the control's subject
	sentenceWeight float64  // weight that the last sentence holds
	deniedWeight   float64  // of it, in clauses that deny
	missedHeavy    int      // concepts of full weight that are missed
	matchedClauses uint64   // clauses of the last sentence that hold what matched
	mainClause     uint64   // of these, the one that holds most, or an action
}

// requiredWeight is how much weight makes a demand: all of a short one, and of a long one
// what a sentence can be expected to hold.
func (d *preparedStatement) requiredWeight() float64 {
	if d.totalWeight <= maxFullWeight {
		return d.totalWeight
	}
	return maxFullWeight + (d.totalWeight-maxFullWeight)*0.35
}

// creditNeighbor is for a thing that only the sentences beside the window name.
const creditNeighbor = 0.6

// creditPassage is for a thing that the passage names somewhere else.
const creditPassage = 0.4

// surroundings are sorted concepts that a sentence stands among.
type surroundings struct {
	headings []uint64 // above it, and the document's title
	passage  []uint64 // in any sentence of its passage that denies and announces nothing
}

// matchWindow measures d against one or two sentences, among surroundings and beside the
// sentences of near.
func (d *preparedStatement) matchWindow(window, near []*sentence, around surroundings) match {
	var m match
	if d.totalWeight == 0 {
		return m
	}
	last := window[len(window)-1]
	got := 0.0
	var perClause [maxClause + 1]float64
	head := -1
	chosen := d.chosenAlternatives(window)
	for i := range d.concepts {
		a := &d.concepts[i]
		if head < 0 && a.weight > weightGeneral && !a.isAction {
			head = i
		}
		best := 0.0
		for _, s := range window {
			t, ok := a.findIn(s)
			if !ok {
				continue
			}
			best = max(best, t.credit)
			if s == last {
				m.matchedClauses |= 1 << t.clause
				w := a.weight
				if a.isAction {
					w++
				}
				perClause[t.clause] += w
			}
		}
		if best > 0 {
			m.ownWeight += a.weight * best
			if a.weight > weightGeneral {
				m.specificWeight += a.weight * best
				m.specificHits++
			}
			got += a.weight * best
			continue
		}
		credit := a.contextCredit(near, around.headings)
		if _, named := slices.BinarySearch(around.passage, a.id); credit == 0 && named {
			credit = creditPassage
		}
		if credit > 0 && !a.isAction && (d.documentOnly || !documentNouns()[a.id]) {
			got += a.weight * credit
			continue
		}
		if a.alternative != 0 && chosen[a.alternative-1][boolToInt(!a.afterOr)] {
			got += a.weight // the other of two alternatives is there
			continue
		}
		if i == head && d.topicShareIn(window) < 0.5 {
			m.missesHead = true
		}
		if a.weight >= weightFull {
			m.missedHeavy++
		}
		if a.weight > weightGeneral {
			if m.missedConcepts == nil {
				m.missedConcepts = make([]string, 0, len(d.concepts)-i)
			}
			m.missedConcepts = append(m.missedConcepts, a.name)
			if a.inTopic {
				m.missedTopics = append(m.missedTopics, a.name)
			}
			if a.isAction {
				m.missedActions = append(m.missedActions, a.name)
			}
		}
	}
	m.wordCoverage, m.ownShare = min(1, got/d.requiredWeight()), min(1, m.ownWeight/d.requiredWeight())
	for c, w := range perClause[:last.clauseCount] {
		m.sentenceWeight += w
		if last.denied&(1<<c) != 0 {
			m.deniedWeight += w
		}
	}
	best := 0.0
	for c, w := range perClause[:last.clauseCount] {
		if w > best {
			best, m.mainClause = w, 1<<c
		}
	}
	return m
}

// reachesWeight: a window itself holds concepts of so much weight.
func (d *preparedStatement) reachesWeight(window []*sentence, weight float64) bool {
	own := 0.0
	for i := range d.concepts {
		a := &d.concepts[i]
		if own += a.weight * a.bestCredit(window); own >= weight {
			return true
		}
	}
	return false
}

// bestCredit is what the best word for it in a window is worth; 0 where there is none.
func (a *requiredConcept) bestCredit(window []*sentence) float64 {
	best := 0.0
	for _, s := range window {
		if t, ok := a.findIn(s); ok {
			best = max(best, t.credit)
		}
	}
	return best
}

// chosenAlternatives tells of each "or" which sides a window says, before it and after it. What a
// statement rules out, it rules out on both sides.
func (d *preparedStatement) chosenAlternatives(window []*sentence) [][2]bool {
	var out [][2]bool
	for i := range d.concepts {
		a := &d.concepts[i]
		for len(out) < a.alternative {
			out = append(out, [2]bool{})
		}
		if a.alternative == 0 || a.weight <= weightGeneral || d.isProhibition() {
			continue
		}
		for _, s := range window {
			if _, ok := a.findIn(s); ok {
				out[a.alternative-1][boolToInt(a.afterOr)] = true
			}
		}
	}
	return out
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// isSoleSubject: a sentence holds what the control and the statement are about, and nothing
// else ("penetration tests: never done"). Denying that, it denies whatever is asked of it.
func (d *preparedStatement) isSoleSubject(cur *sentence) bool {
	if d.topicShareIn([]*sentence{cur}) < 0.9 {
		return false
	}
	head := slices.IndexFunc(d.concepts, func(a requiredConcept) bool { return a.weight > weightGeneral })
	if head < 0 {
		return false
	}
	if _, ok := d.concepts[head].findIn(cur); !ok {
		return false
	}
	contains := func(concepts []requiredConcept, id uint64) bool {
		return slices.ContainsFunc(concepts, func(a requiredConcept) bool { return a.id == id || slices.Contains(a.parts, id) })
	}
	for _, t := range cur.terms {
		if t.credit == 1 && !contains(d.concepts, t.id) && !contains(d.topic, t.id) && !emptyConcepts()[t.id] {
			return false
		}
	}
	return true
}

// emptyConcepts are the concepts that add nothing to a denial: those of nearly every
// sentence, and "done", "performed", "in place" and their like.
var emptyConcepts = sync.OnceValue(func() map[uint64]bool {
	m := make(map[uint64]bool)
	for concept, w := range sharedLexicon().weights {
		if w <= weightGeneral {
			m[hashTerm(concept)] = true
		}
	}
	for _, w := range append([]string{"run", "held", "ever", "never", "none", "nobody", "nothing", "far", "new", "people"}, retractionWords...) {
		m[conceptID(w)] = true
	}
	return m
})

// contextCredit is what it is worth that headings or sentences nearby name the concept.
func (a *requiredConcept) contextCredit(near []*sentence, context []uint64) float64 {
	if _, ok := slices.BinarySearch(context, a.id); ok {
		return creditContext
	}
	for _, s := range near {
		if t, ok := a.findIn(s); ok && s.denied&(1<<t.clause) == 0 {
			if s.fragment {
				return creditContext // a heading
			}
			return creditNeighbor
		}
	}
	return 0
}

// documentNouns are the kinds of documents. That a policy says something is no sign
// that the policy itself was approved.
var documentNouns = sync.OnceValue(func() map[uint64]bool {
	m := make(map[uint64]bool)
	for _, w := range []string{"policy", "procedure", "plan", "standard", "document", "register", "program", "contract"} {
		m[conceptID(w)] = true
	}
	return m
})

// findIn finds the concept among the terms of a sentence, or all words of its phrase.
func (a *requiredConcept) findIn(s *sentence) (term, bool) {
	t, ok := s.findTerm(a.id)
	if ok || len(a.parts) < 2 {
		return t, ok
	}
	for _, p := range a.parts {
		if t, ok = s.findTerm(p); !ok {
			return term{}, false
		}
	}
	t.credit *= creditBroader
	return t, true
}

// topicShareIn is the share of the control's title that a window itself holds, by its own words
// or what they may stand for.
func (d *preparedStatement) topicShareIn(window []*sentence) float64 {
	return d.topicShareBy(window, false, false)
}

// topicShareBy counts a word that only may stand for another in part, if strict; and, if deeds,
// also what the title says is done ("hardened configuration").
func (d *preparedStatement) topicShareBy(window []*sentence, strict, withActions bool) float64 {
	total, got := 0.0, 0.0
	for i := range d.topic {
		a := &d.topic[i]
		if a.weight <= weightGeneral || a.isAction && !withActions {
			continue
		}
		total += a.weight
		best := a.bestCredit(window)
		if best > 0 && !strict {
			best = 1
		}
		got += a.weight * best
	}
	switch {
	case total == 0 && !withActions:
		return d.topicShareBy(window, strict, true) // a title of nothing but deeds ("background checks")
	case total == 0:
		return 0
	}
	return got / total
}

// passageTopicShare is the share of the control's title that a window, its headings or the
// whole passage hold.
func (d *preparedStatement) passageTopicShare(c *analyzedPassage) float64 {
	total, got := 0.0, 0.0
	for _, a := range d.topic {
		if a.weight <= weightGeneral {
			continue
		}
		total += a.weight
		if c.mentionsConcept(a.id) {
			got += a.weight
			continue
		}
		some := 0
		for _, p := range a.parts {
			if c.mentionsConcept(p) {
				some++
			}
		}
		if some > 0 {
			got += a.weight * creditBroader * float64(some) / float64(len(a.parts))
		}
	}
	if total == 0 {
		return 1
	}
	return got / total
}

// mentionsConcept tells whether a concept stands anywhere in the passage or above it.
func (c *analyzedPassage) mentionsConcept(id uint64) bool {
	if _, ok := slices.BinarySearch(c.headingConcepts, id); ok {
		return true
	}
	for i := range c.sentences {
		if _, ok := c.sentences[i].findTerm(id); ok {
			return true
		}
	}
	return false
}
