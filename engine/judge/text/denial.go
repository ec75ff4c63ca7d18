package text

import (
	"cmp"
	"slices"
	"strings"
)

// isDiscontinued reports whether the word at i indicates that something is no longer done: "we stopped reviewing
// logs", "the reviews have been discontinued", "the project is on hold".
func isDiscontinued(words []word, i int) bool {
	w, next, k := words[i].text, wordAt(words, i+1), i-1
	for strings.HasSuffix(wordAt(words, k), "ly") || wordAt(words, k) == "now" {
		k--
	}
	before := wordAt(words, k)
	if w == "stopped" && next == "by" {
		return false // "the attack was stopped by the firewall"
	}
	switch w {
	case "stopped", "ceased", "discontinued", "abandoned", "paused", "suspended", "cancelled", "canceled", "quit":
		return auxiliaryVerbs[before] || before == "we" || before == "they" || i > 0 && words[i-1].clause != words[i].clause ||
			(w == "stopped" || w == "ceased") && isOneOf(next, "", "in", "since", "on")
	case "decided":
		return next == "against" // "decided against penetration tests"
	case "ignored", "neglected", "overlooked":
		return (auxiliaryVerbs[before] || partialAdverbs[wordAt(words, i-1)]) &&
			!clauseHas(words, words[i].clause, "if", "not", "never", "or")
	case "abolished", "waived", "lapsed", "dissolved", "scrapped":
		return auxiliaryVerbs[before]
	case "dropped", "skipped", "omitted":
		return pastAuxiliaries[before]
	case "disabled", "deactivated", "withdrawn":
		return pastAuxiliaries[before] // "leavers' accounts are disabled" is a rule
	case "deferred", "postponed", "shelved":
		return auxiliaryVerbs[before] && !clauseHasModal(words, words[i].clause)
	case "switched", "turned", "given":
		return pastAuxiliaries[before] && (next == "off" || next == "up")
	case "put": // "put off"
		return next == "off" && (pastAuxiliaries[before] || before == "and")
	case "hold":
		twoBefore := wordAt(words, k-1)
		return before == "on" &&
			(k == 0 || words[k-1].clause != words[k].clause || auxiliaryVerbs[twoBefore] || continuationWords[twoBefore] ||
				clauseHas(words, words[i].clause, "put"))
	}
	return false
}

const (
	maxSubjectWords = 4 // maximum number of words in a subject
)

// isSegregationRule reports whether the "nobody" that ends at i states a rule on segregation of duties: "nobody
// approves their own request", "nobody who runs production has rights in the backup", but not "Nobody who joined
// was trained".
func isSegregationRule(words []word, i int) bool {
	next := wordAt(words, i+1)
	if next == "who" {
		return !slices.ContainsFunc(words[i+2:], func(w word) bool {
			return pastAuxiliaries[w.text] || w.text == "had" || strings.HasSuffix(w.text, "ed")
		})
	}
	return !auxiliaryVerbs[next] &&
		clauseHas(
			words,
			words[i].clause,
			"own",
			"same",
			"alone",
			"else",
			"themselves",
			"himself",
			"herself",
			"must",
			"may",
			"shall",
			"hand",
			"manually",
		)
}

// isAccessRestriction reports whether the "not" at i says who doesn't have access: "suppliers do
// not receive VPN access".
func isAccessRestriction(words []word, i int) bool {
	subject, verb := wordAt(words, i-2), wordAt(words, i+1)
	if wordAt(words, i-1) != "do" && wordAt(words, i-1) != "does" ||
		!isOneOf(verb, "receive", "get", "have", "hold") {
		return false
	}
	return subject != "" && subject != "we" && !pronouns[subject] &&
		clauseHas(words, words[i].clause, "access", "rights", "permissions", "privileges") &&
		!clauseHas(words, words[i].clause, "yet", "currently")
}

// isIndirectQuestion reports whether the negation at i is part of an indirect question: "what went
// well and what did not", but not "What lengths are allowed is not laid down".
func isIndirectQuestion(words []word, i int) bool {
	switch firstWordOfClause(words, words[i].clause) {
	case "what", "why", "how", "whether":
		prev := wordAt(words, i-1)
		return words[i].clause > 0 || i+1 == len(words) || isOneOf(prev, "do", "does", "did")
	}
	return false
}

// isContrast reports whether the "not" at i only introduces a contrast. The clause either repeats the verb before the
// contrasting term, as in "reports to the chief executive and does not report to engineering", or consists of that term
// alone, as in "covers our repositories, and not private ones".
func isContrast(words []word, i int) bool {
	prev := wordAt(words, i-1)
	if (prev == "and" || prev == "but") && i > 1 {
		for k := i + 1; k < len(words) && words[k].clause == words[i].clause; k++ {
			if w := words[k]; auxiliaryVerbs[w.text] || modalVerbs[w.text] || isPastParticiple(w.text) || verbs[w.text] || isInflectedVerb(w) {
				return false
			}
		}
		return hasVerb(words[:i-1]) && wordAt(words, i+1) != "" && wordAt(words, i+1) != "yet"
	}
	if before := wordAt(words, i-2); !auxiliaryVerbs[prev] || before != "and" && before != "but" {
		return false
	}
	verb := wordAt(words, i+1)
	if verb == "" || genericDenialObjects[verb] || isPastParticiple(verb) {
		return false
	}
	return slices.ContainsFunc(words[:i-2], func(w word) bool { return w.stem == stemOf(verb) })
}

// isDefinition reports whether the "not" at i belongs to the definition of a word: "libraries are not vendors in
// the sense of this policy".
func isDefinition(words []word, i int) bool {
	if !auxiliaryVerbs[wordAt(words, i-1)] {
		return false
	}
	for k := i + 1; k < len(words) && k <= i+6; k++ {
		if isOneOf(words[k].text, "sense", "meaning", "purposes") && wordAt(words, k+1) == "of" {
			return true
		}
	}
	return false
}

// reportsNoHarm reports whether a clause with "no" says that nothing bad happened: "no customer data was lost".
func reportsNoHarm(words []word, clause uint8) bool {
	return clauseHas(words, clause, "was", "were", "been") &&
		clauseHasAny(words, clause, harmParticiples)
}

// isQualifyingWithout reports whether the "without" at i only identifies things, while the rest of the sentence says
// what happens to them: "an account without an owner is disabled".
func isQualifyingWithout(words []word, i int) bool {
	from := i
	for from > 0 && words[from-1].clause+1 >= words[i].clause {
		from--
	}
	if i-from < 1 || i-from > 4 || hasAuxiliaryOrModal(words[from:i]) {
		return false
	}
	for k := i + 2; k < len(words) && k <= i+5; k++ {
		if auxiliaryVerbs[words[k].text] {
			return enforcementParticiples[wordAt(words, k+1)] ||
				strings.HasSuffix(wordAt(words, k+1), "ly") && enforcementParticiples[wordAt(words, k+2)]
		}
	}
	return false
}

// isNoMoreThan reports whether the "no" or "nothing" at i only sets a limit: "no user has more rights than needed",
// "nothing is kept longer than needed".
func isNoMoreThan(words []word, i int) bool {
	seenMore := false
	for k := i + 1; k < len(words) && words[k].clause == words[i].clause; k++ {
		seenMore = seenMore || isOneOf(words[k].text, "more", "further", "greater", "longer")
		if seenMore && (words[k].text == "than" || words[k].text == "beyond") {
			return true
		}
	}
	return false
}

// deniesConflictingDuties reports whether the "no" at i rules out conflicting duties: "has no operational
// duties".
func deniesConflictingDuties(words []word, i int) bool {
	return conflictAdjectives[wordAt(words, i+1)] &&
		(dutyNouns[wordAt(words, i+2)] || wordAt(words, i+2) == "or" && dutyNouns[wordAt(words, i+4)])
}

var (
	conflictAdjectives = wordSet("operational line operating executive other managerial conflicting")
	dutyNouns          = wordSet(
		"duties duty tasks task responsibilities responsibility role roles interests interest functions function involvement",
	)
	urgencyAdverbs = wordSet("earlier sooner immediately anew again")
)

// limitOtherDenials turns a denial that concerns only other things into a limitation: "software changes are tested;
// other changes are not".
func (s *Stance) limitOtherDenials(words []word) {
	for i, w := range words {
		if w.clause == 0 || words[i-1].clause == w.clause || s.Denied&(1<<w.clause) == 0 || s.Denied&(1<<(w.clause-1)) != 0 ||
			s.IsTableRow {
			continue
		}
		first := i
		for isOneOf(wordAt(words, first), "and", "but", "all", "the", "any") {
			first++
		}
		if o := wordAt(words, first); isOneOf(o, "other", "others", "rest", "remaining", "remainder") {
			s.Limit = cmp.Or(s.Limit, o+" not")
		}
	}
}

// markLateAsLimited marks a sentence as limited if it says that something was done late.
func (s *Stance) markLateAsLimited(words []word) {
	for i, w := range words {
		if w.text != "late" && w.text != "belatedly" || !clauseHas(words, w.clause, "was", "were", "been", "had") ||
			clauseHas(words, w.clause, "no", "not", "none", "never", "nobody") {
			continue
		}
		if prev := wordAt(words, i-1); isPastParticiple(prev) && prev != "been" || prev == "too" || w.text == "belatedly" {
			s.Limit = cmp.Or(s.Limit, "late")
			return
		}
	}
}

var enforcementParticiples = wordSet(
	"disabled locked removed deleted revoked denied closed blocked refused rejected returned suspended quarantined " +
		"isolated reported escalated corrected flagged stopped destroyed withdrawn",
)

var (
	harmParticiples = wordSet(
		"exfiltrated viewed impacted abused manipulated read lost affected exposed stolen disclosed leaked compromised " +
			"damaged harmed copied accessed breached injured hurt misused",
	)
	connectionNouns = wordSet("path paths route routes connection connections") // the absence of these means separation
	protectedStates = wordSet("protected locked restricted limited blocked forbidden enforced")
	refusalVerbs    = wordSet(
		"refuse refuses refused reject rejects rejected block blocks blocked prevent prevents prevented detect detects " +
			"detected deny denies denied forbid forbids forbidden find finds flag flags flagged stop stops quarantine " +
			"quarantines quarantined alert alerts prohibit prohibits prohibited",
	)
	determiners       = wordSet("the a an our your its their this each every")
	continuationWords = wordSet("remains remain currently still")
	pastAuxiliaries   = wordSet("been was were")
	partialAdverbs    = wordSet("often mostly usually generally largely widely simply")
	formerAdverbs     = wordSet("previously formerly historically")
	// reportingVerbs are verbs that are followed by "that" and a statement.
	reportingVerbs = stemSet(
		"ensure verify say said state mean show found confirm report note assume know tell told indicate see saw agree " +
			"guarantee demonstrate declare",
	)
)

// stemSet returns the set of stems of the space-separated words in s.
func stemSet(s string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(s) {
		m[stemOf(w)] = true
	}
	return m
}

// spreadDiscontinuation extends a discontinuation from the last item of an enumeration to all
// items: "backups of servers, laptops and phones have been discontinued".
func (s *Stance) spreadDiscontinuation(words []word) {
	for i := len(words) - 1; i > 0; i-- {
		c := words[i].clause
		if before := words[i-1].clause; before != c && s.Discontinued&(1<<c) != 0 && !s.IsTableRow && !clauseHasAuxiliaryOrModal(words, before) &&
			clauseHasAuxiliary(words, c) {
			s.Discontinued |= 1 << before
		}
	}
}

// undoingVerbs are verbs for what should not be done to a safeguard.
var undoingVerbs = wordSet(
	"disable deactivate bypass circumvent evade alter change manipulate modify tamper override uninstall remove delete erase disclose share lose forget",
)

// genericDenialObjects are words whose negation denies the sentence's whole subject.
var genericDenialObjects = wordSet(
	"do done have has had use uses used using run runs perform performed conduct conducted exist exists place available " +
		"implement implemented carry carried follow followed enforce enforced require required happen happens take taken make " +
		"made attempted tried looked got gotten gone bothered managed complete completed yet currently any anything one way process procedure " +
		"policy control rule formal official met",
)

// DeniesAny reports whether the sentence denies one of the concepts: for example, "we don't notify
// users of flaws" doesn't deny finding flaws. isReadAlone is set if the sentence is read without
// the previous one, in which case "they don't require it" denies nothing.
func (s *Sentence) DeniesAny(isReadAlone bool, concepts ...[]Concept) bool {
	if s.NoneOfAll {
		return true
	}
	words := splitWords(s.Text)
	assignClauses(s.Text, words)
	for i, w := range words {
		switch {
		case s.Denied&(1<<w.clause) == 0:
			continue
		case negatedForms[w.text] != "":
			if namesAny(words[i:i+1], concepts...) {
				return true
			}
			continue
		case !negationWords[w.text] && !lackWords[w.text] && !strings.HasSuffix(w.text, "n't"):
			continue
		}
		if lackWords[w.text] && auxiliaryVerbs[wordAt(words, i-1)] { // "the agent is missing on most of them"
			if first := slices.IndexFunc(words, func(o word) bool { return o.clause == w.clause }); namesAny(words[first:i], concepts...) {
				return true
			}
		}
		if isReadAlone && w.clause == 0 && deniesPronoun(words, i) {
			continue
		}
		n, most := 0, 3
		subject := isOneOf(w.text, "none", "nobody", "nothing", "neither") // denies the whole predicate
		if subject {
			most = len(words)
		}
		for k := i + 1; k < len(words) && n < most; k++ {
			next := words[k]
			if next.clause != w.clause && next.text != words[i+1].text {
				break
			}
			if n > 0 && prepositions[next.text] && !subject {
				break
			}
			if genericDenialObjects[next.text] || genericActionStems[next.stem] {
				return true
			}
			if stopWords[next.text] || strings.HasSuffix(next.text, "ly") {
				continue
			}
			if n++; undoingVerbs[next.text] && !namesAny(words[k:k+1], concepts...) {
				break // "users are not able to disable it" denies only that they disable it
			}
			if namesAny(words[k:k+1], concepts...) || k+1 < len(words) && words[k+1].clause == next.clause && namesAny(words[k:k+2], concepts...) {
				return true // "not switched on" concerns what must be enabled
			}
		}
		if n == 0 {
			return true // the denial has no particular object
		}
	}
	return false
}

// DeniedCells returns the negative cells of a table row, each as a sentence. bare is set if one of them contains
// little more than "no".
func (s *Sentence) DeniedCells() (cells []*Sentence, bare bool) {
	words := splitWords(s.Text)
	assignClauses(s.Text, words)
	for _, c := range splitCells(s.Text) {
		cellWords := slices.DeleteFunc(slices.Clone(words), func(w word) bool { return w.start < c.value || w.end > c.end })
		switch {
		case !slices.ContainsFunc(cellWords, func(w word) bool { return s.Denied&(1<<w.clause) != 0 }):
		case len(cellWords) < minCellWords:
			bare = true
		default:
			cells = append(cells, newSentenceWithoutStance(cellWords))
		}
	}
	return cells, bare
}

const minCellWords = 3 // words of a cell that names its subject

// deniesPronoun reports whether the negation at i denies an "it" or "them" that refers to the previous sentence.
func deniesPronoun(words []word, i int) bool {
	end := i
	for end+1 < len(words) && words[end+1].clause == words[i].clause {
		end++
	}
	return end-i <= 3 && isOneOf(words[end].text, "it", "them", "so")
}

// prepositions are words that introduce another noun.
var prepositions = wordSet("for to with of in on at by from about against through during under over into until before after")
