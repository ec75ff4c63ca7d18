package text

import (
	"slices"
	"strings"
)

// isInRelativeClause reports whether the negation at i is in a relative clause that only says which things are meant.
// Such a negation doesn't deny what the sentence states: "weaknesses that have not been exploited are recorded", "data
// is encrypted with keys that the provider does not hold". After a comma, a relative clause states a fact instead, and
// so does one in a sentence that only says that there are such things: "we have staff who are not trained".
func isInRelativeClause(words []word, i int) bool {
	start := relativePronounBefore(words, i)
	if start < 0 {
		return false
	}
	group := verbGroupStart(words, i)
	if !isSubjectOfRelativeClause(words[start:group]) {
		return false // the verb of the relative clause precedes, and the negation belongs to the main clause
	}
	first := start
	for first > 0 && words[first-1].end+1 == words[first].start {
		first--
	}
	switch {
	case reportsConcern(words, start):
		return false
	case hasFiniteVerb(words[first:start]):
		return !statesExistence(words[first:start])
	}
	return !isPastVerbGroup(words, group) || startsPresentPredicate(words, i)
}

// isPastVerbGroup reports whether the verb group at i is in the past tense.
func isPastVerbGroup(words []word, i int) bool {
	first := wordAt(words, i)
	return pastTenseAuxiliaries[first] || pastTenseAuxiliaries[strings.TrimSuffix(first, "n't")]
}

// startsPresentPredicate reports whether a predicate in the present tense follows the relative clause that contains the
// negation at i: "staff who had not been told | are told now", but not "staff who had not been trained ran the plant",
// which reports a failure.
func startsPresentPredicate(words []word, i int) bool {
	return slices.ContainsFunc(words[i+1:], func(w word) bool {
		return (auxiliaryVerbs[w.text] || modalVerbs[w.text]) && !pastTenseAuxiliaries[w.text] && w.text != "being"
	})
}

var pastTenseAuxiliaries = wordSet("was were had did been")

// statesExistence reports whether the main clause before a relative clause only says that there are such things, or that
// they were found: "we have servers that …".
func statesExistence(words []word) bool {
	for _, w := range words {
		if isOneOf(w.text, "there", "have", "has", "had", "found", "saw", "showed", "revealed", "uses", "runs", "employs") {
			return true
		}
	}
	return false
}

// reportsConcern reports whether the clause at start is the content of a finding or concern that somebody had, rather
// than one that is to be reported: "the auditor noted the concern that …".
func reportsConcern(words []word, start int) bool {
	return isOneOf(words[start-1].text, "concern", "finding", "observation", "remark", "complaint", "result", "conclusion") &&
		words[start].text == "that" && !verbs[words[0].text] &&
		!hasModal(words[:start])
}

// hasModal reports whether words contain a modal verb.
func hasModal(words []word) bool {
	return slices.ContainsFunc(words, func(w word) bool { return modalVerbs[w.text] })
}

// isSubjectOfRelativeClause reports whether words consist of a relative pronoun and, at most, the subject of its clause:
// "that", "that the provider", "whose owner", but not "that leaves", "that consultants bring".
func isSubjectOfRelativeClause(words []word) bool {
	switch len(words) {
	case 1:
		return true
	case 2:
		return words[0].text == "whose" || !hasFiniteVerb(words[1:]) && !strings.HasSuffix(words[1].text, "s")
	case 3:
		return determiners[words[1].text]
	}
	return false
}

// relativePronounBefore returns the index of the relative pronoun that follows a noun without a comma and whose clause
// may contain the word at i, or -1.
func relativePronounBefore(words []word, i int) int {
	for k := i - 1; k > 0 && words[k].end+1 == words[k+1].start; k-- {
		if !relativePronouns[words[k].text] {
			continue
		}
		before := words[k-1]
		isNoun := before.end+1 == words[k].start && !auxiliaryVerbs[before.text] && !modalVerbs[before.text] &&
			!strings.HasSuffix(before.text, "ly") && !reportingVerbs[before.stem] &&
			(!stopWords[before.text] || indefinitePronouns[before.text]) && !prepositions[before.text]
		if words[k].text == "that" {
			isNoun = isNoun && wordAt(words, k-2) != "so" && !wordsBeforeContent[before.text] &&
				(before.text != "case" || isOneOf(wordAt(words, k-3), "for", "in"))
		}
		if isNoun {
			return k
		}
		return -1
	}
	return -1
}

var (
	indefinitePronouns = wordSet("those anyone everyone anybody everybody someone anything everything something all any one people")
	// wordsBeforeContent are words after which "that" begins what is known, ensured or shown.
	wordsBeforeContent = wordSet("so such note fact rule sure clear evidence proof possible likely important required and but")
)

// verbGroupStart returns the index of the first auxiliary, modal verb or adverb of the verb group that contains the
// negation at i.
func verbGroupStart(words []word, i int) int {
	for i > 0 && (auxiliaryVerbs[words[i-1].text] || modalVerbs[words[i-1].text] || strings.HasSuffix(words[i-1].text, "ly") ||
		isOneOf(words[i-1].text, "still", "also", "yet")) {
		i--
	}
	return i
}

// hasFiniteVerb reports whether a finite verb is among words.
func hasFiniteVerb(words []word) bool {
	return slices.ContainsFunc(words, func(w word) bool {
		return auxiliaryVerbs[w.text] || modalVerbs[w.text] || strings.HasSuffix(w.text, "n't") || finiteVerbForms[w.text] || verbs[w.text] ||
			(strings.HasSuffix(w.text, "s") || strings.HasSuffix(w.text, "ed")) && isInflectedVerb(w)
	})
}
