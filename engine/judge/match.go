package judge

import (
	"slices"

	"github.com/scf-service/service/engine/judge/text"
)

// match describes how well a window, that is, one or two sentences, covers a statement.
type match struct {
	wordCoverage   float64           // 0 to 1: weighted share of the statement's concepts
	similarity     float64           // 0 to 1: closeness in meaning
	competition    float64           // 0 to 1: how many other criteria are closer to the sentence; negative if it is by far the closest
	wordingMatch   text.WordingMatch // match with the statement's typical wording
	ownShare       float64           // 0 to 1: share of the statement in the sentences themselves
	ownWeight      float64           // weight in the sentences themselves, without headings
	specificHits   int               // non-general concepts in the sentences
	specificWeight float64           // weight of the matched non-general concepts
	topicShare     float64           // 0 to 1: share of the control's title named in the sentence, headings or passage
	offTopic       bool              // the passage doesn't mention the control's topic
	missingAnchor  anchorGroup       // required words, none of which occur in the passage
	missedConcepts []string
	missedTopics   []string // missed concepts that belong to the control's topic
	missedActions  []string // required actions that are not stated
	missesHead     bool     // the first specific concept of the statement is missing
	deniesOutright bool     // a denial about nothing but the control's subject
	sentenceWeight float64  // weight in the last sentence
	deniedWeight   float64  // weight in the negated clauses of the last sentence
	deniesAction   bool     // a required action is named in a negated clause of the last sentence
	missedHeavy    int      // missed concepts of full weight
	matchedClauses uint64   // clauses of the last sentence with matches
	mainClause     uint64   // the matched clause with the most weight, where each action adds 1
}

// decisiveMatch holds the parts of a match that the verdicts on a statement and its control depend
// on.
type decisiveMatch struct {
	wordCoverage    float64
	topicShare      float64
	deniesOutright  bool
	wordingComplete bool
	matchedClauses  uint64
}

func (m match) decisive() decisiveMatch {
	return decisiveMatch{m.wordCoverage, m.topicShare, m.deniesOutright, m.wordingMatch.IsComplete(), m.matchedClauses}
}

// fullCoverageWeight returns the weight of the concepts that a sentence must contain to cover the
// statement fully. For a short statement, it is the total weight; for a long one, it is what can be
// expected of a single sentence.
func (d *preparedStatement) fullCoverageWeight() float64 {
	if d.totalWeight <= maxFullWeight {
		return d.totalWeight
	}
	return maxFullWeight + (d.totalWeight-maxFullWeight)*0.35
}

// Credit for a concept that the sentence itself doesn't name, as a share of the concept's weight.
const (
	creditContext  = 0.75 // named in a heading or the title
	creditNeighbor = 0.6  // named in an adjacent sentence
	creditPassage  = 0.4  // named elsewhere in the passage
)

// surroundings holds the sorted concepts that occur around a sentence.
type surroundings struct {
	headings []uint64 // of its headings and the document's title
	passage  []uint64 // of all affirmative sentences of its passage
}

// matchWindow compares d with a window of one or two sentences, the last of which is the one being judged. It
// takes into account the adjacent sentences (near) and the concepts in the surroundings.
func (d *preparedStatement) matchWindow(window, near []*text.Sentence, around surroundings) match {
	var m match
	if d.totalWeight == 0 {
		return m
	}
	last := window[len(window)-1]
	got := 0.0
	var perClause [text.MaxClause + 1]float64
	head := -1 // index of the first specific concept that isn't an action
	chosen := d.alternativesStatedIn(window)
	for i := range d.concepts {
		a := &d.concepts[i]
		if head < 0 && a.Weight > text.WeightGeneral && !a.IsAction {
			head = i
		}
		best := 0.0
		for _, s := range window {
			t, ok := a.FindIn(s)
			if !ok {
				continue
			}
			best = max(best, t.Credit)
			if s == last {
				m.matchedClauses |= 1 << t.Clause
				m.deniesAction = m.deniesAction || a.IsAction && last.Denied&(1<<t.Clause) != 0
				w := a.Weight
				if a.IsAction {
					w++
				}
				perClause[t.Clause] += w
			}
		}
		if best > 0 {
			m.ownWeight += a.Weight * best
			if a.Weight > text.WeightGeneral {
				m.specificWeight += a.Weight * best
				m.specificHits++
			}
			got += a.Weight * best
			continue
		}
		credit := contextCredit(a, near, around.headings)
		if _, named := slices.BinarySearch(around.passage, a.ID); credit == 0 && named {
			credit = creditPassage
		}
		if credit > 0 && !a.IsAction && (d.documentOnly || !text.IsDocumentNoun(a.ID)) {
			got += a.Weight * credit
			continue
		}
		if a.Alternative != 0 && chosen[a.Alternative-1][boolToInt(!a.AfterOr)] {
			got += a.Weight // the other alternative is present
			continue
		}
		if i == head && d.topicShareIn(window) < 0.5 {
			m.missesHead = true
		}
		if a.Weight >= text.WeightFull {
			m.missedHeavy++
		}
		if a.Weight > text.WeightGeneral {
			if m.missedConcepts == nil {
				m.missedConcepts = make([]string, 0, len(d.concepts)-i)
			}
			m.missedConcepts = append(m.missedConcepts, a.Name)
			if d.inTopic[i] {
				m.missedTopics = append(m.missedTopics, a.Name)
			}
			if a.IsAction {
				m.missedActions = append(m.missedActions, a.Name)
			}
		}
	}
	m.wordCoverage, m.ownShare = min(1, got/d.fullCoverageWeight()), min(1, m.ownWeight/d.fullCoverageWeight())
	for c, w := range perClause[:last.ClauseCount] {
		m.sentenceWeight += w
		if last.Denied&(1<<c) != 0 {
			m.deniedWeight += w
		}
	}
	best := 0.0
	for c, w := range perClause[:last.ClauseCount] {
		if w > best {
			best, m.mainClause = w, 1<<c
		}
	}
	return m
}

// isWeightReachedBy reports whether a window (one or two sentences) itself contains concepts of at least the
// given weight.
func (d *preparedStatement) isWeightReachedBy(window []*text.Sentence, weight float64) bool {
	own := 0.0
	for i := range d.concepts {
		a := &d.concepts[i]
		if own += a.Weight * a.BestCredit(window); own >= weight {
			return true
		}
	}
	return false
}

// alternativesStatedIn returns, for each "or" in the statement, which of its sides a window states.
// The result is empty for a prohibition, because that applies to both sides.
func (d *preparedStatement) alternativesStatedIn(window []*text.Sentence) [][2]bool {
	var out [][2]bool
	for i := range d.concepts {
		a := &d.concepts[i]
		for len(out) < a.Alternative {
			out = append(out, [2]bool{})
		}
		if a.Alternative == 0 || a.Weight <= text.WeightGeneral || d.isProhibition() {
			continue
		}
		for _, s := range window {
			if _, ok := a.FindIn(s); ok {
				out[a.Alternative-1][boolToInt(a.AfterOr)] = true
			}
		}
	}
	return out
}

// Shares of a wording's word groups that a sentence must match.
const (
	minFullWordingShare       = 0.6  // to state the whole requirement: two of two, two of three
	minNearlyFullWordingShare = 0.49 // to state nearly all of it
)

// scaleDown multiplies a match by share, which is the part of the sentence outside its negated
// clauses. If share < 1, TotalShare is capped at minFullWordingShare.
func scaleDown(h text.WordingMatch, share float64) text.WordingMatch {
	if share < 1 {
		h.OwnShare, h.TotalShare = h.OwnShare*share, min(h.TotalShare*share, minFullWordingShare)
	}
	return h
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// isOnlyThingNamedIn reports whether a sentence names only the topic of the control and the
// statement ("penetration tests: never done"). If such a sentence denies the topic, it denies
// everything that the statement requires.
func (d *preparedStatement) isOnlyThingNamedIn(cur *text.Sentence) bool {
	if d.topicShareIn([]*text.Sentence{cur}) < 0.9 {
		return false
	}
	head := slices.IndexFunc(d.concepts, func(a text.Concept) bool { return a.Weight > text.WeightGeneral })
	if head < 0 {
		return false
	}
	if _, ok := d.concepts[head].FindIn(cur); !ok {
		return false
	}
	return !slices.ContainsFunc(cur.Terms, func(t text.Term) bool {
		return t.Credit == 1 && !containsConcept(d.concepts, t.ID) && !containsConcept(d.topic, t.ID) && !text.IsUninformativeConcept(t.ID)
	})
}

// containsConcept reports whether a concept is one of the given concepts or part of one.
func containsConcept(concepts []text.Concept, id uint64) bool {
	return slices.ContainsFunc(concepts, func(a text.Concept) bool { return a.ID == id || slices.Contains(a.Parts, id) })
}

// contextCredit returns the credit for a concept named in headings or adjacent sentences.
func contextCredit(a *text.Concept, near []*text.Sentence, headings []uint64) float64 {
	if _, ok := slices.BinarySearch(headings, a.ID); ok {
		return creditContext
	}
	for _, s := range near {
		if t, ok := a.FindIn(s); ok && s.Denied&(1<<t.Clause) == 0 {
			if s.Fragment {
				return creditContext // named in a heading
			}
			return creditNeighbor
		}
	}
	return 0
}

// topicShareIn returns the share of the control's title that the window's sentences themselves name, directly or
// by related words.
func (d *preparedStatement) topicShareIn(window []*text.Sentence) float64 {
	return d.topicShareBy(window, false, false)
}

// topicShareBy is like topicShareIn. If strict is set, related words count only in part. If withActions is set,
// the actions in the title count too ("hardened configuration").
func (d *preparedStatement) topicShareBy(window []*text.Sentence, strict, withActions bool) float64 {
	total, got := 0.0, 0.0
	for i := range d.topic {
		a := &d.topic[i]
		if a.Weight <= text.WeightGeneral || a.IsAction && !withActions {
			continue
		}
		total += a.Weight
		best := a.BestCredit(window)
		if best > 0 && !strict {
			best = 1
		}
		got += a.Weight * best
	}
	switch {
	case total == 0 && !withActions:
		return d.topicShareBy(window, strict, true) // the title consists only of actions ("background checks")
	case total == 0:
		return 0
	}
	return got / total
}

// passageTopicShare returns the share of the control's title that is named in a passage, its headings or its
// document's title.
func (d *preparedStatement) passageTopicShare(c *analyzedPassage) float64 {
	total, got := 0.0, 0.0
	for _, a := range d.topic {
		if a.Weight <= text.WeightGeneral {
			continue
		}
		total += a.Weight
		if c.mentionsConcept(a.ID) {
			got += a.Weight
			continue
		}
		some := 0
		for _, p := range a.Parts {
			if c.mentionsConcept(p) {
				some++
			}
		}
		if some > 0 {
			got += a.Weight * text.CreditBroader * float64(some) / float64(len(a.Parts))
		}
	}
	if total == 0 {
		return 1
	}
	return got / total
}

// mentionsConcept reports whether a concept occurs in the passage's sentences, headings or title.
func (c *analyzedPassage) mentionsConcept(conceptID uint64) bool {
	if _, ok := slices.BinarySearch(c.headingConcepts, conceptID); ok {
		return true
	}
	for i := range c.Sentences {
		if _, ok := c.Sentences[i].FindTerm(conceptID); ok {
			return true
		}
	}
	return false
}
