package text

import (
	"slices"
	"strings"
)

// denyRetractedClauses marks as denied the clauses that a sentence retracts at its end, as with "there is none yet" or
// "but there are no rules for it".
func (s *Stance) denyRetractedClauses(words []word) {
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

const maxRetractionWords = 6 // words of a retraction such as "there is none yet"

// refersToPrevious reports whether words, up to the end of the clause, refer back to the previous clause: "rules
// for it", "procedure on this".
func refersToPrevious(words []word, clause uint8) bool {
	for i, w := range words {
		if w.clause != clause || i > maxRetractionWords {
			return false
		}
		if next := wordAt(words, i+1); prepositions[w.text] && isOneOf(next, "it", "this", "that", "them") {
			return !hasFollowingNoun(words, i+1)
		}
	}
	return false
}

// hasFollowingNoun reports whether the pronoun at i is followed by a noun: "for this purpose".
func hasFollowingNoun(words []word, i int) bool {
	next := wordAt(words, i+1)
	return words[i].text != "it" && words[i].text != "them" && next != "" && words[i+1].clause == words[i].clause && !stopWords[next] &&
		next != "yet" &&
		next != "far"
}

// startsWithIsNotTheCase reports whether words begin with "it is not the case that …". Such a
// phrase denies what follows instead of retracting what precedes it.
func startsWithIsNotTheCase(words []word) bool {
	return wordAt(words, 2) == "not" && wordAt(words, 4) == "case" && wordAt(words, 5) == "that"
}

// prohibitUntilCondition turns a denial that is followed by a precondition into a prohibition: "nobody gets an
// account before the form is signed", "no data leaves unless it has been encrypted".
func (s *Stance) prohibitUntilCondition(words []word) {
	for i := 1; i < len(words); i++ {
		w := words[i]
		before := uint64(1) << words[i-1].clause
		if isOneOf(w.text, "before", "until", "unless") && s.Denied&1 != 0 && w.clause > 1 && startsWithNoWho(words) &&
			clauseHasParticiple(words, w.clause) {
			s.Denied &^= 1 // "no supplier who holds data, or who connects to us, is signed before …"
			s.Prohibited |= 1
		}
		if words[i-1].clause == w.clause || s.Denied&before == 0 || clauseHas(words, words[i-1].clause, "yet", "currently") {
			continue
		}
		subject := s.DeniedForPeople&before != 0 || startsWithNo(words, words[i-1].clause)
		// The precondition has to be an event: "no tests before release" remains a denial, and so does
		// "no assessment was carried out before the system was introduced".
		reportsLack := clauseHas(words, words[i-1].clause, "was", "were") && namesSafeguard(words, words[i-1].clause, 0)
		if subject && !reportsLack && isOneOf(w.text, "before", "until", "unless") && clauseHasParticiple(words, w.clause) {
			s.Denied &^= before
			s.Prohibited |= before
			s.markPrecedingNoClausesProhibited(words, words[i-1].clause)
		}
		// "Data under legal hold is not deleted until counsel lifts it", "starters get no account until they are trained"
		if (w.text == "until" || w.text == "unless") && !isPastTense(words, words[i-1].clause) && describesEvent(words[i:]) {
			s.Denied &^= before
			s.Prohibited |= before
		}
	}
}

// startsWithNoWho reports whether words begin with a phrase such as "no supplier who …".
func startsWithNoWho(words []word) bool {
	return words[0].text == "no" &&
		slices.ContainsFunc(words[:min(len(words), maxSubjectWords+1)], func(w word) bool { return relativePronouns[w.text] })
}

// describesEvent reports whether words describe an event ("counsel lifts the hold") rather than a date.
func describesEvent(words []word) bool {
	return hasVerb(words) || slices.ContainsFunc(words[:max(0, len(words)-1)], func(w word) bool {
		next := slices.IndexFunc(words, func(o word) bool { return o.start > w.start })
		return next > 2 && strings.HasSuffix(w.text, "s") && determiners[words[next].text]
	})
}

// isPastTense reports whether a clause has an auxiliary verb in the past tense.
func isPastTense(words []word, clause uint8) bool {
	return clauseHasAny(words, clause, pastTenseAuxiliaries)
}

// startsWithNo reports whether a clause begins with "no", "and no", "or no" or "nor no".
func startsWithNo(words []word, clause uint8) bool {
	i := slices.IndexFunc(words, func(w word) bool { return w.clause == clause })
	if first := wordAt(words, i); isOneOf(first, "and", "or", "nor") {
		i++
	}
	return wordAt(words, i) == "no"
}

// markPrecedingNoClausesProhibited turns the "no …" clauses that precede the given one and are joined to it
// into prohibitions: "no data is sent and no account is opened before …".
func (s *Stance) markPrecedingNoClausesProhibited(words []word, clause uint8) {
	for ; clause > 0; clause-- {
		before := uint64(1) << (clause - 1)
		if !startsWithNo(words, clause) || s.Denied&before == 0 || !startsWithNo(words, clause-1) {
			return
		}
		s.Denied &^= before
		s.Prohibited |= before
	}
}

// prohibitDeniedPurposes turns a denial in a clause of purpose into a prohibition: "so that there is no single point of
// failure".
func (s *Stance) prohibitDeniedPurposes(words []word) {
	if s.Denied == 0 || s.IsTableRow {
		return
	}
	for i, w := range words {
		if negationWords[w.text] {
			return // the sentence denies more than the purpose
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

// denyComplementQuestions extends a denial to the question that its verb governs: "it isn't defined where data
// may be stored", "nobody knows who approves changes".
func (s *Stance) denyComplementQuestions(words []word) {
	for i := 1; i < len(words); i++ {
		w, before := words[i], words[i-1]
		if w.clause != before.clause && s.Denied&(1<<before.clause) != 0 && before.end+1 == w.start && definingStems[before.stem] &&
			isOneOf(w.text, "where", "when", "whether", "who", "which", "whose", "whom") {
			s.Denied |= 1 << w.clause
			s.Conditional &^= 1 << w.clause
			s.DeniesQuestion = true
		}
	}
}

// definingStems are the stems of verbs that govern a question.
var definingStems = stemSet(
	`define defined determine determined decide decided specify specified record recorded document documented state stated say said know knows known
clear agree agreed settle settled establish established regulate regulated describe described written list listed set note noted track tracked down`,
)

// endFormerDenials makes a denial in the past tense hypothetical if a later clause says what is the case now: "rights
// were not reviewed; owners now review them".
func (s *Stance) endFormerDenials(words []word) {
	for i, w := range words {
		if w.clause == 0 || s.Denied&(1<<w.clause) != 0 || !isOneOf(w.text, "now", "meanwhile") ||
			isOneOf(wordAt(words, i-1), "until", "by", "till") {
			continue
		}
		for c := range w.clause {
			if s.Denied&(1<<c) != 0 && clauseHas(words, c, "was", "were", "had", "did", "wasn't", "weren't", "hadn't", "didn't") {
				s.Denied, s.Hypothetical = s.Denied&^(1<<c), s.Hypothetical|1<<c
			}
		}
	}
}

// markBackReferences marks the denied clauses that name what they deny only by a pronoun, or not at all: "nobody looks
// at them", "there is none", "no one checks".
func (s *Stance) markBackReferences(words []word) {
	if s.IsTableRow || s.Denied == 0 {
		return
	}
	for i, w := range words {
		bit := uint64(1) << w.clause
		if s.Denied&bit == 0 || s.harmless&bit != 0 || !deniesForAll(words, w.clause) {
			continue
		}
		switch w.text {
		case "it", "them", "they", "these", "those", "this":
			if !isOneOf(w.text, "it", "them", "they") && hasFollowingNoun(words, i) || w.text == "it" && s.isExpletive(words, i) {
				continue
			}
			s.PointsBack |= bit
		case "none":
			if wordAt(words, i+1) != "of" {
				s.PointsBack |= bit
			}
		case "nobody":
			if clauseLength(words, w.clause) <= maxBareDenialWords && !clauseHasAny(words, w.clause, possessionVerbs) {
				s.PointsBack |= bit
			}
		}
	}
}

// deniesForAll reports whether the subject of a clause is "nobody", "we" or a pronoun, rather than particular things:
// "laboratory workstations do not require it".
func deniesForAll(words []word, clause uint8) bool {
	for _, w := range words {
		if w.clause != clause || isOneOf(w.text, "and", "but", "so", "yet", "since", "then", "however", "to", "date") {
			continue
		}
		return negationWords[w.text] || pronouns[w.text] || isOneOf(w.text, "we", "there", "there's")
	}
	return false
}

const maxBareDenialWords = 3 // words of a clause such as "and nobody checks"

// isExpletive reports whether the "it" at i stands for a clause that follows: "it isn't defined where …", "it is not
// possible to …".
func (s *Stance) isExpletive(words []word, i int) bool {
	if next := wordAt(words, i+2); isOneOf(next, "not", "possible") && clauseHas(words, words[i].clause, "to") &&
		isOneOf(wordAt(words, i+3), "possible", "necessary", "allowed", "permitted", "for", "to") {
		return true
	}
	return int(words[i].clause)+1 < s.ClauseCount && s.Denied&(2<<words[i].clause) != 0 && (i == 0 || words[i-1].clause != words[i].clause)
}

// clauseLength returns the number of words in a clause.
func clauseLength(words []word, clause uint8) (n int) {
	for _, w := range words {
		if w.clause == clause {
			n++
		}
	}
	return n
}

// denyQuestionedThing denies what a question names and a negative answer refers to: "An incident response plan? We don't
// have one."
func (s *Stance) denyQuestionedThing(words []word) {
	last := words[len(words)-1]
	if s.Conditional == 1 && last.clause > 0 && s.Denied&(1<<last.clause) != 0 &&
		isOneOf(last.text, "one", "it", "that", "this", "any", "none", "those", "them") {
		s.Conditional, s.Denied = 0, s.Denied|1
	}
}
