package text

import (
	"slices"
	"strings"
)

// Stance is how a sentence says what it says. Clause masks hold a bit for each
// clause of the sentence, so that "A is done, but B is not" denies B alone.
type Stance struct {
	Denied            uint64 // clauses that say something is not so
	harmless          uint64 // of these, those that lack nothing: "no incidents occurred"
	Prohibited        uint64 // clauses that forbid something
	Conditional       uint64 // clauses that only suppose it
	Hypothetical      uint64 // clauses that say what would have been
	Exempt            uint64 // clauses that tell what a rule or document does not reach
	AfterBut          uint64 // clauses behind a "but"
	Discontinued      uint64 // clauses that say that something was given up
	Rare              uint64 // clauses that say that something hardly happens
	StartsWithPronoun bool   // begins with "this", "they" …
	RefersBack        bool   // a denied or planned clause speaks of what went before ("it is not enforced")
	PlanWords         string // the words that put it in the future
	Placeholder       string // the blank that nobody filled
	Hedge             string // the word that makes it a wish
	Limit             string // the words that narrow it
	LimitIsShare      bool   // these tell for which share of all it is so
	StillPresent      bool   // says that something is there that may have had to go
	Mandatory         bool   // must, shall, is required
	Question          bool
	Instruction       bool // tells the reader of evidence what to conclude
	StatesPurpose     bool // says what a document is for, not what is done
	NamesContact      bool // says whom to ask
	Definition        bool
	Reference         bool // points elsewhere
	Fragment          bool // has no verb: a heading, an entry of a list of contents
	ReportsPast       bool // tells what was done, as records do
	AnswersNo         bool // "No" under a question or in a status column
	AnswersYes        bool
	IsTableRow        bool   // of a table, as "Name: value; Name: value"
	DeniedForPeople   uint64 // denied clauses that say of people alone that they don't
	ClauseCount       int
}

var (
	conditionalWords = wordSet("if where when whenever unless until should once before whether provided while")
	contrastWords    = wordSet("but however although though whereas because who which whoever")
	relativePronouns = wordSet("who which whose whom that whoever")
	auxiliaryVerbs   = wordSet("is are was were be been being has have had does do did am")
	modalVerbs       = wordSet("must shall should may might can could will would cannot can't")
	pronouns         = wordSet("this it that these those they such here both neither")
	hedgeWords       = wordSet(
		"should ought may might could recommended encouraged optional optionally ideally preferably advised discretion voluntary",
	)
	// Words after "no" or "not" that don't deny.
	nonDenyingWords = wordSet("later other less more fewer longer than only limited exceed exceeding necessarily just merely otherwise")
	// What "without" may stand before in a rule.
	harmlessAfterWithout = wordSet(
		"delay undue exception exceptions interruption limitation prejudice notice unnecessary unreasonable fail",
	)
	lackWords = wordSet(
		"lack lacks lacking lacked absence absent missing fails failed fail unable insufficient incomplete inadequate nonexistent",
	)
	negationWords    = wordSet("not never no none neither nobody nothing cannot without nor")
	involvementNouns = wordSet("part role hand stake interest share")
	// What one says of oneself with "never" as a rule: "they never leave the vault".
	permissionWords = wordSet("permitted allowed acceptable accepted tolerated")
	neverRuleVerbs  = wordSet("leave share reuse expose store send copy appear contain include disclose transmit carry embed sell")
	negatedForms    = map[string]string{
		"unencrypted": "encrypt", "untested": "test", "undocumented": "document", "unpatched": "patch",
		"unreviewed": "review", "unmonitored": "monitor", "untrained": "train", "unapproved": "approve", "unclassified": "classify",
		"unmanaged": "manage", "unprotected": "protect", "unassigned": "assign", "unrestricted": "restrict",
	}
)

// With these, "it is not …" takes back what was said before.
var retractionWords = []string{
	"yet", "currently", "enforced", "implemented", "done", "place", "followed", "happening", "happened", "case", "exist",
	"available", "performed", "completed", "active", "true", "practice", "practised", "practiced", "applied",
	"met", "operational", "working", "started", "begun",
}

// parseStance finds the stance of a sentence. text is the sentence, words its words, whose
// clauses it sets; today is empty where unknown.
func parseStance(text string, words []word, year int) Stance {
	s := Stance{ClauseCount: assignClauses(text, words)}
	if len(words) == 0 {
		s.Fragment = true
		return s
	}
	s.IsTableRow = isTableRow(text)
	s.StartsWithPronoun = pronouns[words[0].text]
	if i := strings.IndexByte(text, '?'); i >= 0 && isQuestionCondition(text[:i+1], text[i+1:]) {
		s.Conditional |= 1 // "Lost it? Tell us."
	}
	s.readNegation(words)
	s.readHarmlessDenials(words)
	whole := s.Denied&^s.harmless == 0
	spreadToRelativeClauses(&s, words)
	if s.Hypothetical&2 != 0 && startsWithLabel(text, words) {
		s.Hypothetical |= 1
	}
	readModality(&s, text, words)
	labels := spreadDenial(&s, text, words)
	if whole {
		s.harmless = s.Denied
	}
	readPatterns(&s, text, words, year)
	s.spreadDiscontinuation(words)
	s.Fragment = s.Fragment || !labels && !hasVerb(words) && !isClosedSentence(text, words) ||
		!labels && !s.IsTableRow && isKeywordList(text, words)
	return s
}

// StanceOf returns the stance of a sentence in which no date counts as future.
func StanceOf(text string) Stance { return parseStance(text, splitWords(text), 0) }

const minClosedWords = 4 // words

// isClosedSentence: what closes with a full stop is a sentence, also where its verb is none of the
// field's ("the CEO answers to the board"). Dots that lead to a page number are none.
func isClosedSentence(text string, words []word) bool {
	text = strings.TrimRight(text, "*_\"'”) ")
	return len(words) >= minClosedWords && (strings.HasSuffix(text, ".") || strings.HasSuffix(text, "!")) && !strings.HasSuffix(text, "..")
}

const minKeywords = 8 // words

// isKeywordList: words between commas that nothing makes a sentence of.
func isKeywordList(text string, words []word) bool {
	if len(words) < minKeywords || hasAuxiliary(words) || verbs[words[0].text] || 4*strings.Count(text, ",") < len(words) {
		return false
	}
	small, run := 0, 0
	for i, w := range words {
		if stopWords[w.text] {
			small++
		}
		if run++; i > 0 && strings.Contains(text[words[i-1].end:w.start], ",") {
			run = 1
		}
		if run > 3 {
			return false // more than a name
		}
	}
	return 5*small < len(words)
}

func wordAt(words []word, i int) string {
	if i < 0 || i >= len(words) {
		return ""
	}
	return words[i].text
}

// startsHypothetical: "would have prevented it", "could not have been" begin here; "would have to" doesn't.
func startsHypothetical(words []word, i int) bool {
	switch words[i].text {
	case "meant", "supposed":
		return pastAuxiliaries[wordAt(words, i-1)] && wordAt(words, i+1) == "to" // what should have been
	case "would", "could", "might", "wouldn't", "couldn't":
	default:
		return false
	}
	if wordAt(words, i+1) == "not" || wordAt(words, i+1) == "also" {
		i++
	}
	return wordAt(words, i+1) == "have" && wordAt(words, i+2) != "to"
}

// statesExemption: the negation at i tells what a rule or document does not reach: "it does not apply to …", "this
// plan does not cover …". "We do not apply patches" and "backups do not cover laptops" deny.
func statesExemption(words []word, i int) bool {
	w := words[i].text
	if !oneOf(w, "not", "doesn't", "don't") {
		return false
	}
	if after := wordAt(words, i+2); wordAt(words, i+1) == "covered" &&
		(after == "here" || (after == "by" || after == "in") && wordAt(words, i+3) == "this") {
		return true
	}
	if next := wordAt(words, i+1); oneOf(next, "cover", "address", "extend") {
		for k := i - 1; k >= 0 && k >= i-3; k-- {
			if documentNouns()[ConceptID(words[k].text)] {
				return wordAt(words, k-1) == "this" || wordAt(words, k-1) == "the"
			}
		}
		return false
	} else if next != "apply" {
		return false
	}
	if after := wordAt(words, i+3); oneOf(after, "any", "anyone", "anybody", "all", "everyone") {
		return false // nobody is left
	}
	switch wordAt(words, i+2) {
	case "to", "for", "in", "where", "when", "if", "outside", "":
		return true
	}
	return false
}

var (
	// dataHandlingParticiples is what is done with data that had better not be; dataNouns are what it is done with.
	dataHandlingParticiples = wordSet(
		"used copied sent shared transferred taken entered published pasted uploaded emailed e-mailed exported carried disclosed sold passed",
	)
	dataNouns = wordSet("data information documents files copies credentials passwords secrets")
)

// concernsData: the "not" at i says of data, or of "them", what is not done with it, today.
func concernsData(words []word, i int) bool {
	if prev := wordAt(words, i-1); prev != "is" && prev != "are" {
		return false
	}
	return i == 2 && pronouns[words[0].text] && wordAt(words, i+1) != "used" ||
		slices.ContainsFunc(words[:i], func(w word) bool { return dataNouns[w.text] })
}

// isImperative tells whether the word at i begins an order: "don't share passwords" is a rule.
// "Don't have any" leaves out who doesn't.
func isImperative(words []word, i int) bool {
	for i > 0 && words[i-1].clause == words[i].clause && oneOf(words[i-1].text, "and", "or", "please", "so") {
		i--
	}
	if i > 0 && words[i-1].clause == words[i].clause {
		return false
	}
	for _, w := range words[i:] {
		if w.clause == words[i].clause && oneOf(w.text, "have", "yet", "currently", "any") {
			return false
		}
	}
	return true
}

// isWithinAllBut: the "no" or "nobody" at i tells of what little is left out of all: "everything that no rule
// allows is dropped", "anything which nobody ordered".
func isWithinAllBut(words []word, i int) bool {
	if prev := wordAt(words, i-1); prev != "that" && prev != "which" {
		return false
	}
	for k := i - 2; k >= 0 && k >= i-maxAllButDistance; k-- {
		switch words[k].text {
		case "everything", "anything", "all", "any", "whatever":
			return true
		}
	}
	return false
}

const maxAllButDistance = 8 // words back to the "everything"

// isParentheticalNot: the "not" at i opens words between commas that only name who else it could have been.
func isParentheticalNot(words []word, i int) bool {
	c := words[i].clause
	if i == 0 || words[i-1].clause == c || clauseHasVerb(words, c) || words[len(words)-1].clause == c {
		return false
	}
	n := 0
	for _, w := range words {
		if w.clause == c {
			n++
		}
	}
	return n <= 4 && !isParticiple(wordAt(words, i+1)) && !clauseHas(words, c, "yet", "currently")
}

// isRelativeNobody: the "nobody" at i only describes the noun before it, and the clause goes on
// with a verb of that noun.
func isRelativeNobody(words []word, i int) bool {
	if i == 0 || words[i-1].clause != words[i].clause || len(words[i-1].text) < 3 || stopWords[words[i-1].text] ||
		auxiliaryVerbs[words[i-1].text] ||
		isInflectedVerb(words[i-1]) && i == 1 {
		return false
	}
	for k := i + 2; k < len(words) && words[k].clause == words[i].clause; k++ {
		if auxiliaryVerbs[words[k].text] || modalVerbs[words[k].text] {
			return true
		}
	}
	return false
}

// spreadToRelativeClauses lets a relative clause share the denial of what it describes: "there is no
// server to which logs are sent". So does the reason for it: "… was not held, because the owner was on leave".
func spreadToRelativeClauses(s *Stance, words []word) {
	for i := 1; i < len(words); i++ {
		w := words[i]
		if oneOf(w.text, "which", "who", "whom", "whose", "because") && w.clause > 0 &&
			words[i-1].clause != w.clause &&
			s.Denied&(1<<(w.clause-1)) != 0 {
			s.Denied |= 1 << w.clause
		}
	}
}

// isParticiple reports whether a word is a past participle, as in "never tested".
func isParticiple(w string) bool { return strings.HasSuffix(w, "ed") || irregularParticiples[w] }

var irregularParticiples = wordSet("done held made run been taken kept written set sent given shown seen paid met")

// spreadDenial lets what has no verb of its own share the denial beside it: a label
// ("Log review: nobody does it") and the members of an enumeration ("we don't encrypt
// laptops, phones"). A label shares it even where it is a word that can be a verb. It
// tells whether a label is denied. Rows are left alone: their cells are clauses.
func spreadDenial(s *Stance, text string, words []word) (labelDenied bool) {
	if s.IsTableRow || s.Denied == 0 {
		return false
	}
	type part struct{ from, to int }
	parts := make([]part, s.ClauseCount)
	for i, w := range words {
		if i == 0 || words[i-1].clause != w.clause {
			parts[w.clause].from = i
		}
		parts[w.clause].to = i + 1
	}
	bare := func(c int) bool {
		clauseWords := words[parts[c].from:parts[c].to]
		return len(clauseWords) > 0 && !hasVerb(clauseWords) && !contrastWords[clauseWords[0].text] &&
			!startsCondition(words, parts[c].from) &&
			clauseWords[0].text != "only" &&
			clauseWords[0].text != "without"
	}
	for c := 1; c < s.ClauseCount; c++ {
		gap := text[words[parts[c].from-1].end:words[parts[c].from].start]
		// What follows a relative clause goes on with the sentence around it.
		if s.Denied&(1<<(c-1)) != 0 && s.Denied&(1<<c) == 0 && strings.TrimSpace(gap) == "," && bare(c) &&
			!relativePronouns[words[parts[c-1].from].text] {
			s.Denied |= 1 << c
		}
	}
	for c := s.ClauseCount - 2; c >= 0; c-- {
		if s.Denied&(1<<(c+1)) == 0 || s.Denied&(1<<c) != 0 || relativePronouns[words[parts[c+1].from].text] {
			continue
		}
		gap := strings.TrimSpace(text[words[parts[c+1].from-1].end:words[parts[c+1].from].start])
		clauseWords := words[parts[c].from:parts[c].to]
		switch {
		case gap == ":" && c == 0 && len(clauseWords) <= 8 && !hasAuxiliary(clauseWords):
			s.Denied |= 1
			s.DeniedForPeople |= s.DeniedForPeople >> 1 & 1
			labelDenied = true
		case gap == "," && (bare(c) || endsEnumeration(words[parts[c+1].from:parts[c+1].to]) && !hasAuxiliary(clauseWords)):
			s.Denied |= 1 << c
		}
	}
	return labelDenied
}

// endsEnumeration: a clause ends an enumeration of subjects ("… and phones are not scanned").
func endsEnumeration(clause []word) bool {
	for i, w := range clause {
		switch {
		case auxiliaryVerbs[w.text] || modalVerbs[w.text] || contrastWords[w.text]:
			return false
		case w.text == "and" || w.text == "or":
			return i <= 3
		}
	}
	return false
}
