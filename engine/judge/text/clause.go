package text

import (
	"slices"
	"strings"
)

// MaxClause is the highest clause index. In a sentence with more clauses, the last clause contains all the remaining
// text.
const MaxClause = 63

// assignClauses numbers the clauses, sets the clause of each word, and returns the number of clauses.
func assignClauses(text string, words []word) int {
	n := uint8(0)
	for i := range words {
		if i > 0 && n < MaxClause {
			gap := text[words[i-1].end:words[i].start]
			if strings.ContainsAny(gap, ",;:()|—–?") || contrastWords[words[i].text] ||
				words[i].text == "without" && !auxiliaryVerbs[words[i-1].text] || // not "the room is without a detector"
				startsCondition(words, i) ||
				startsPredicate(words, i, n) {
				n++
			}
		}
		words[i].clause = n
	}
	return int(n) + 1
}

// startsPredicate reports whether the word at i begins a second predicate, to which a negation of the first one doesn't
// apply: "… is required and no user is exempt", "… is encrypted so that nothing is lost".
func startsPredicate(words []word, i int, clause uint8) bool {
	switch next := wordAt(words, i+1); words[i].text {
	case "and":
		if negationWords[next] {
			break
		}
		if !hasPredicateAhead(words, i+1) {
			return false
		}
	case "so":
		if next != "that" && !hasPredicateAhead(words, i+1) {
			return false
		}
	case "that":
		if before := wordAt(words, i-1); !isOneOf(before, "sure", "ensure", "ensures", "ensuring") ||
			!hasPredicateAhead(words, i+1) {
			return false
		}
	case "as", "since":
		if next == "well" || next == "a" || next == "an" || next == "the" && words[i].text == "since" || !hasPredicateAhead(words, i+1) {
			return false
		}
	default:
		return false
	}
	first := i
	for first > 0 && words[first-1].clause == clause {
		first--
	}
	if conditionalWords[words[first].text] || relativePronouns[words[first].text] {
		return false // the condition continues
	}
	return hasAuxiliaryOrModal(words[first:i]) || hasVerb(words[first:i])
}

const maxWordsBeforeVerb = 8 // words before a verb

// hasPredicateAhead reports whether an auxiliary or modal verb is at i or follows i after a short subject.
func hasPredicateAhead(words []word, i int) bool {
	for k := i; k < len(words) && k <= i+maxWordsBeforeVerb; k++ {
		switch w := words[k].text; {
		case auxiliaryVerbs[w] || modalVerbs[w] || strings.HasSuffix(w, "n't"):
			return true
		case conditionalWords[w] || contrastWords[w] || isOneOf(w, "and", "or", "to", "that"):
			return false
		}
	}
	return false
}

// startsCondition reports whether the word at i begins a condition. "Once a year" and "may not be
// provided" don't contain a condition, and "should" begins one only at the start of a sentence.
func startsCondition(words []word, i int) bool {
	w, next := words[i].text, wordAt(words, i+1)
	switch {
	case !conditionalWords[w]:
		return false
	case w == "once":
		return !isOneOf(next, "a", "per", "every", "each", "in")
	case w == "should":
		return i == 0 || urgencyAdverbs[wordAt(words, i-1)] // "earlier should the law change"
	case w == "provided":
		return next == "that"
	}
	return true
}

// startsWithLabel reports whether the first clause is a label for the text that follows it.
func startsWithLabel(text string, words []word) bool {
	for i := 1; i < len(words); i++ {
		if words[i].clause > 0 {
			return strings.Contains(text[words[i-1].end:words[i].start], ":") && !hasAuxiliaryOrModal(words[:i])
		}
	}
	return false
}

// clauseHasMatch reports whether test returns true for any word of a clause.
func clauseHasMatch(words []word, clause uint8, test func(w string) bool) bool {
	return slices.ContainsFunc(words, func(w word) bool { return w.clause == clause && test(w.text) })
}

// clauseHasAny reports whether a clause contains a word in set.
func clauseHasAny(words []word, clause uint8, set map[string]bool) bool {
	return clauseHasMatch(words, clause, func(w string) bool { return set[w] })
}

// clauseHas reports whether a clause contains one of the words in options.
func clauseHas(words []word, clause uint8, options ...string) bool {
	return clauseHasMatch(words, clause, func(w string) bool { return slices.Contains(options, w) })
}

// clauseHasModal reports whether a clause contains a modal verb.
func clauseHasModal(words []word, clause uint8) bool {
	return clauseHas(words, clause, "must", "shall", "may", "should", "can", "will")
}

// clauseHasAuxiliary reports whether a clause contains an auxiliary verb.
func clauseHasAuxiliary(words []word, clause uint8) bool {
	return clauseHasAny(words, clause, auxiliaryVerbs)
}

// clauseHasAuxiliaryOrModal reports whether a clause contains an auxiliary or modal verb.
func clauseHasAuxiliaryOrModal(words []word, clause uint8) bool {
	return clauseHasMatch(words, clause, func(w string) bool { return auxiliaryVerbs[w] || modalVerbs[w] })
}

// clauseHasParticiple reports whether a clause contains a past participle other than "been".
func clauseHasParticiple(words []word, clause uint8) bool {
	return clauseHasMatch(words, clause, func(w string) bool { return isPastParticiple(w) && w != "been" })
}

// clauseHasOtherVerb reports whether the clause of the word at i contains another auxiliary or modal verb, or
// any known verb after i.
func clauseHasOtherVerb(words []word, i int) bool {
	for k, w := range words {
		if isPastParticiple(w.text) && isOneOf(wordAt(words, k-1), "or", "and", "nor") {
			continue // "not removed or protected"
		}
		if k != i && w.clause == words[i].clause &&
			(auxiliaryVerbs[w.text] || modalVerbs[w.text] || k > i+1 && (verbs[w.text] || isInflectedVerb(w))) {
			return true
		}
	}
	return false
}

// firstWordOfClause returns the text of the first word of a clause, or "".
func firstWordOfClause(words []word, clause uint8) string {
	for _, w := range words {
		if w.clause == clause {
			return w.text
		}
	}
	return ""
}

// ClauseMaskAt returns the bit mask of the clause that contains the byte offset at.
func ClauseMaskAt(text string, at int) uint64 {
	words := splitWords(text)
	assignClauses(text, words)
	for _, w := range words {
		if w.end > at {
			return 1 << w.clause
		}
	}
	return 1
}
