package judge

import (
	"slices"
	"strings"
)

const maxClause = 63

// cutClauses gives each word its clause and returns their number.
func cutClauses(text string, words []word) int {
	n := uint8(0)
	for i := range words {
		if i > 0 && n < maxClause {
			gap := text[words[i-1].end:words[i].start]
			if strings.ContainsAny(gap, ",;:()|—–?") || contrasts[words[i].text] || words[i].text == "without" || supposes(words, i) || goesOn(words, i, n) {
				n++
			}
		}
		words[i].clause = n
	}
	return int(n) + 1
}

// goesOn: at the word a second predicate begins, of which a "not" says nothing of the first: "… is
// required and no user is exempt", "… is encrypted so that nothing is lost".
func goesOn(words []word, i int, clause uint8) bool {
	switch next := at(words, i+1); words[i].text {
	case "and":
		if negatives[next] {
			break
		}
		if !predicateAhead(words, i+1) {
			return false
		}
	case "so":
		if next != "that" && !predicateAhead(words, i+1) {
			return false
		}
	case "that":
		if before := at(words, i-1); before != "sure" && before != "ensure" && before != "ensures" && before != "ensuring" || !predicateAhead(words, i+1) {
			return false
		}
	case "as", "since":
		if next == "well" || next == "a" || next == "an" || next == "the" && words[i].text == "since" || !predicateAhead(words, i+1) {
			return false
		}
	default:
		return false
	}
	first := i
	for first > 0 && words[first-1].clause == clause {
		first--
	}
	if conditionals[words[first].text] || relative[words[first].text] {
		return false // what is supposed goes on
	}
	return hasAuxiliary(words[first:i]) || hasVerb(words[first:i])
}

const maxSubject = 8 // words before a verb

// predicateAhead: a subject of a few words, or none, and its auxiliary stand at i.
func predicateAhead(words []word, i int) bool {
	for k := i; k < len(words) && k <= i+maxSubject; k++ {
		switch w := words[k].text; {
		case auxiliaries[w] || modals[w] || strings.HasSuffix(w, "n't"):
			return true
		case conditionals[w] || contrasts[w] || w == "and" || w == "or" || w == "to" || w == "that":
			return false
		}
	}
	return false
}

// supposes tells whether the word at i begins a condition. "Once a year" and "may
// not be provided" don't, nor does "should" but at the beginning.
func supposes(words []word, i int) bool {
	w, next := words[i].text, at(words, i+1)
	switch {
	case !conditionals[w]:
		return false
	case w == "once":
		return next != "a" && next != "per" && next != "every" && next != "each" && next != "in"
	case w == "should":
		return i == 0 || sooner[at(words, i-1)] // "earlier should the law change"
	case w == "provided":
		return next == "that"
	}
	return true
}

// titled: the first clause is a label, and what follows is said of it.
func titled(text string, words []word) bool {
	for i := 1; i < len(words); i++ {
		if words[i].clause > 0 {
			return strings.Contains(text[words[i-1].end:words[i].start], ":") && !hasAuxiliary(words[:i])
		}
	}
	return false
}

// clauseSome: a word of the clause is such a one.
func clauseSome(words []word, clause uint8, such func(w string) bool) bool {
	return slices.ContainsFunc(words, func(w word) bool { return w.clause == clause && such(w.text) })
}

func clauseHas(words []word, clause uint8, any ...string) bool {
	return clauseSome(words, clause, func(w string) bool { return slices.Contains(any, w) })
}

func clauseHasModal(words []word, clause uint8) bool {
	return clauseHas(words, clause, "must", "shall", "may", "should", "can", "will")
}

func clauseHasAuxiliary(words []word, clause uint8) bool {
	return clauseSome(words, clause, func(w string) bool { return auxiliaries[w] })
}

func clauseHasVerb(words []word, clause uint8) bool {
	return clauseSome(words, clause, func(w string) bool { return auxiliaries[w] || modals[w] })
}

func clauseHasParticiple(words []word, clause uint8) bool {
	return clauseSome(words, clause, func(w string) bool { return participle(w) && w != "been" })
}

// clauseHasOther: beside the word at i, its clause has an auxiliary, or a verb further on.
func clauseHasOther(words []word, i int) bool {
	for k, w := range words {
		if k != i && w.clause == words[i].clause && (auxiliaries[w.text] || modals[w.text] || k > i+1 && (verbs[w.text] || isVerb(w))) {
			return true
		}
	}
	return false
}

func firstOfClause(words []word, clause uint8) string {
	for _, w := range words {
		if w.clause == clause {
			return w.text
		}
	}
	return ""
}
