package text

import (
	"slices"
	"strings"
)

// applyRetractions: "there is none yet" at the end of a sentence denies what went before in it, and so does
// "but there are no rules for it".
func (s *Stance) applyRetractions(words []word) {
	for i, w := range words {
		if w.text == "there" && w.clause > 0 && wordAt(words, i+2) == "no" && s.Denied&(1<<w.clause) != 0 &&
			refersToPrevious(words[i+3:], w.clause) {
			s.Denied |= 1<<w.clause - 1
			return
		}
	}
	last := words[len(words)-1].clause
	if last == 0 || s.Denied&(1<<last) == 0 || !clauseHas(words, last, "none") || firstWordOfClause(words, last) != "there" {
		return
	}
	if own := slices.IndexFunc(words, func(w word) bool { return w.clause == last }); len(words)-own <= maxRetractionWords {
		s.Denied |= 1<<last - 1
	}
}

const maxRetractionWords = 6 // words of "there is none yet"

// refersToPrevious: words of a clause speak of what was said before: "rules for it", "procedure on this".
func refersToPrevious(words []word, clause uint8) bool {
	for i, w := range words {
		if w.clause != clause || i > maxRetractionWords {
			return false
		}
		if next := wordAt(words, i+1); prepositions[w.text] && oneOf(next, "it", "this", "that", "them") {
			return !hasFollowingNoun(words, i+1)
		}
	}
	return false
}

// hasFollowingNoun: the "this" or "that" at i has its noun behind it, "for this purpose".
func hasFollowingNoun(words []word, i int) bool {
	next := wordAt(words, i+1)
	return words[i].text != "it" && words[i].text != "them" && next != "" && words[i+1].clause == words[i].clause && !stopWords[next] &&
		next != "yet" &&
		next != "far"
}

// isNotTheCase: "it is not the case that …" goes on with what it denies, and takes nothing back.
func isNotTheCase(words []word) bool {
	return wordAt(words, 2) == "not" && wordAt(words, 4) == "case" && wordAt(words, 5) == "that"
}

// applyUntilRules makes a rule of a denial that ends with what it waits for: "nobody gets an
// account before the form is signed", "no data leaves unless it has been encrypted".
func (s *Stance) applyUntilRules(words []word) {
	for i := 1; i < len(words); i++ {
		w := words[i]
		before := uint64(1) << words[i-1].clause
		if oneOf(w.text, "before", "until", "unless") && s.Denied&1 != 0 && w.clause > 1 && startsWithNoWho(words) &&
			clauseHasParticiple(words, w.clause) {
			s.Denied &^= 1 // "no supplier who holds data, or who connects to us, is signed before …"
			s.Prohibited |= 1
		}
		if words[i-1].clause == w.clause || s.Denied&before == 0 || clauseHas(words, words[i-1].clause, "yet", "currently") {
			continue
		}
		subject := s.DeniedForPeople&before != 0 || startsWithNo(words, words[i-1].clause)
		// "No tests before release" is a denial: what it waits for has to be an event. So is that no assessment was
		// carried out before the system was introduced.
		tells := clauseHas(words, words[i-1].clause, "was", "were") && namesSafeguard(words, words[i-1].clause, 0)
		if subject && !tells && oneOf(w.text, "before", "until", "unless") && clauseHasParticiple(words, w.clause) {
			s.Denied &^= before
			s.Prohibited |= before
			s.joinNoClauses(words, words[i-1].clause)
		}
		// "Data under legal hold is not deleted until counsel lifts it."
		if (w.text == "until" || w.text == "unless") && hasPassiveDenial(words, words[i-1].clause) && describesEvent(words[i:]) {
			s.Denied &^= before
			s.Prohibited |= before
		}
	}
}

// startsWithNoWho: words begin with "no supplier who …".
func startsWithNoWho(words []word) bool {
	return words[0].text == "no" &&
		slices.ContainsFunc(words[:min(len(words), maxSubjectWords+1)], func(w word) bool { return relativePronouns[w.text] })
}

// describesEvent: words tell of an event ("counsel lifts the hold"), not of a date.
func describesEvent(words []word) bool {
	return hasVerb(words) || slices.ContainsFunc(words[:max(0, len(words)-1)], func(w word) bool {
		next := slices.IndexFunc(words, func(o word) bool { return o.start > w.start })
		return next > 2 && strings.HasSuffix(w.text, "s") && determiners[words[next].text]
	})
}

// hasPassiveDenial: a clause has "is not deleted", "are not opened".
func hasPassiveDenial(words []word, clause uint8) bool {
	for i, w := range words {
		if prev := wordAt(words, i-1); w.clause == clause && w.text == "not" && (prev == "is" || prev == "are") &&
			isParticiple(wordAt(words, i+1)) {
			return true
		}
	}
	return false
}

// startsWithNo: a clause begins with "no …" or "and no …".
func startsWithNo(words []word, clause uint8) bool {
	i := slices.IndexFunc(words, func(w word) bool { return w.clause == clause })
	if first := wordAt(words, i); oneOf(first, "and", "or", "nor") {
		i++
	}
	return wordAt(words, i) == "no"
}

// joinNoClauses takes into a rule what "and no …" joins it to: "no data is sent and no account is opened before …".
func (s *Stance) joinNoClauses(words []word, clause uint8) {
	for ; clause > 0; clause-- {
		before := uint64(1) << (clause - 1)
		if !startsWithNo(words, clause) || s.Denied&before == 0 || !startsWithNo(words, clause-1) {
			return
		}
		s.Denied &^= before
		s.Prohibited |= before
	}
}

// applyPurposeRules makes a rule of what is to keep something from being: "so that there is no single point of failure".
func (s *Stance) applyPurposeRules(words []word) {
	if s.Denied == 0 || s.IsTableRow {
		return
	}
	for i, w := range words {
		if negationWords[w.text] {
			return // which denies more than what follows a "that"
		}
		if w.text != "that" || i == 0 {
			continue
		}
		p := words[i-1].text
		if p != "so" && p != "such" &&
			!slices.ContainsFunc(words[max(0, i-6):i], func(w word) bool { return w.text == "sufficient" || w.text == "enough" }) {
			continue
		}
		s.Denied, s.Prohibited = 0, s.Prohibited|s.Denied
		return
	}
}
