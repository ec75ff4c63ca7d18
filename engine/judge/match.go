package judge

import (
	"slices"
	"sync"
)

// match describes how much of a statement a window of sentences covers.
type match struct {
	wordCoverage   float64      // 0 to 1: weighted share of the statement's concepts
	similarity     float64      // 0 to 1: closeness in meaning
	competition    float64      // 0 to 1: how many other criteria are closer to the sentence; negative if it is by far the closest
	wordingMatch   wordingMatch // match with the statement's typical wording
	ownShare       float64      // 0 to 1: share of the statement in the sentences themselves
	ownWeight      float64      // weight in the sentences themselves, without headings
	specificHits   int          // non-general concepts in the sentences
	specificWeight float64      // weight of the matched non-general concepts
	topicShare     float64      // 0 to 1: share of the control's title, in sentence, headings or passage
	offTopic       bool         // the passage doesn't mention the control's topic
	missingAnchor  anchorGroup  // required words of which the passage has none
	missedConcepts []string
	missedTopics   []string // missed concepts that belong to the control's topic
	missedActions  []string // required actions that are not stated
	missesHead     bool     // the first thing in the statement is missing
	deniesOutright bool     // a denial about nothing but the control's subject
	sentenceWeight float64  // weight in the last sentence
	deniedWeight   float64  // the part of it in negated clauses
	missedHeavy    int      // missed concepts of full weight
	matchedClauses uint64   // clauses of the last sentence with matches
	mainClause     uint64   // the one of these with the most weight, or an action
}

// requiredWeight returns the weight required for full coverage: all of a short statement, and of a
// long one what a sentence can be expected to hold.
func (d *preparedStatement) requiredWeight() float64 {
	if d.totalWeight <= maxFullWeight {
		return d.totalWeight
	}
	return maxFullWeight + (d.totalWeight-maxFullWeight)*0.35
}

// creditNeighbor is the credit for a thing that only adjacent sentences name.
const creditNeighbor = 0.6

// creditPassage is the credit for a thing named elsewhere in the passage.
const creditPassage = 0.4

// surroundings holds the sorted concepts around a sentence.
type surroundings struct {
	headings []uint64 // of its headings and the document's title
	passage  []uint64 // of all affirmative sentences of its passage
}

// matchWindow matches d with one or two sentences, given their surroundings and adjacent sentences.
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
			got += a.weight // the alternative is present
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

// reachesWeight reports whether a window itself holds concepts of the given weight.
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

// bestCredit returns the credit of the best matching word in a window, or 0.
func (a *requiredConcept) bestCredit(window []*sentence) float64 {
	best := 0.0
	for _, s := range window {
		if t, ok := a.findIn(s); ok {
			best = max(best, t.credit)
		}
	}
	return best
}

// chosenAlternatives returns, for each "or", which sides a window states. A prohibition applies to
// both sides.
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

// isSoleSubject reports whether a sentence names the topic of control and statement and nothing
// else ("penetration tests: never done"). Its denial then denies everything required of it.
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

// emptyConcepts returns the concepts that add nothing to a denial, such as "done", "performed" and
// "in place".
var emptyConcepts = sync.OnceValue(func() map[uint64]bool {
	m := make(map[uint64]bool)
	for concept, w := range sharedLexicon().weights {
		if w <= weightGeneral {
			m[hashTerm(concept)] = true
		}
	}
	for _, w := range append([]string{
		"run", "held", "ever", "never", "none", "nobody", "nothing", "far",
		"new", "people",
	}, retractionWords...) {
		m[conceptID(w)] = true
	}
	return m
})

// contextCredit returns the credit for a concept named in headings or adjacent sentences.
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

// documentNouns returns the kinds of documents. That a policy states something doesn't show that
// the policy was approved.
var documentNouns = sync.OnceValue(func() map[uint64]bool {
	m := make(map[uint64]bool)
	for _, w := range []string{"policy", "procedure", "plan", "standard", "document", "register", "program", "contract"} {
		m[conceptID(w)] = true
	}
	return m
})

// findIn finds the concept, or all words of its phrase, among the terms of a sentence.
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

// topicShareIn returns the share of the control's title that a window itself names, directly or by
// related words.
func (d *preparedStatement) topicShareIn(window []*sentence) float64 {
	return d.topicShareBy(window, false, false)
}

// topicShareBy is like topicShareIn; if strict, related words count only in part, and withActions
// includes the actions in the title ("hardened configuration").
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
		return d.topicShareBy(window, strict, true) // a title of actions only ("background checks")
	case total == 0:
		return 0
	}
	return got / total
}

// passageTopicShare returns the share of the control's title found in a passage, its headings or
// title.
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

// mentionsConcept reports whether a concept occurs in the passage or its headings.
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
