package text

import (
	"slices"
	"strings"
)

// Stance is what a sentence says about its subject: whether it denies, prohibits, plans or limits it, and so on.
// The uint64 fields are masks with one bit per clause, so that "A is done, but B is not" denies only B.
type Stance struct {
	Denied            uint64 // clauses that state a negative: "logs are not reviewed"
	harmless          uint64 // denied clauses that indicate no gap: "no incidents occurred"
	Prohibited        uint64 // clauses that forbid something
	Conditional       uint64 // clauses that are conditions: "if an incident occurs"
	Hypothetical      uint64 // clauses about what would have been, was once, or is wished for
	Exempt            uint64 // clauses that state where a rule or document does not apply
	AfterBut          uint64 // clauses after "but", "instead" or "however"
	Discontinued      uint64 // clauses that state that something was stopped
	Rare              uint64 // clauses that state that something rarely happens
	StartsWithPronoun bool   // the first word is "this", "they" or the like
	RefersBack        bool   // what is denied or planned is in the previous sentence: "it is not enforced"
	PlanWords         string // words that put it in the future
	Placeholder       string // unfilled blank of a template, or unticked box
	Hedge             string // word that makes it optional: "should", "may"
	Limit             string // words that limit it: "on laptops only"
	LimitIsShare      bool   // Limit is a share, such as "48 % of"
	StillPresent      bool   // something that perhaps should have been removed is still there
	Mandatory         bool   // says "must", "shall", "required" or the like
	Question          bool
	Instruction       bool // tells the assessor what to conclude
	StatesPurpose     bool // describes a document, not a practice
	NamesContact      bool // names whom to ask
	Definition        bool
	Reference         bool   // refers to another document or quotes a standard
	Fragment          bool   // not a sentence, but for example a heading or an entry in a table of contents
	ReportsPast       bool   // reports a past event, as records do
	PointsBack        uint64 // denied clauses that name what they deny only by a pronoun, or not at all: "nobody looks at them"
	DeniesQuestion    bool   // says that a question isn't settled: "it isn't defined where data is stored"
	NoneOfAll         bool   // says that a figure is zero: "0 of 12 were tested"
	AnswersNo         bool   // "No" after a question or in a status column
	AnswersYes        bool   // "Yes" after a question or in a status column
	Choices           bool   // choices between answers to the preceding sentence
	Organization      string // the company, with its legal form, that makes the statement or that it is about
	IsTableRow        bool   // a table row, such as "Name: value; Name: value"
	DeniedForPeople   uint64 // denied clauses about people only: "nobody reviews the logs"
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
	// nonDenyingWords are words after a "no" or "not" that cancel the denial, as in "no later than".
	nonDenyingWords = wordSet("later other less more fewer longer than only limited exceed exceeding necessarily just merely otherwise")
	// harmlessAfterWithout are words that make a preceding "without" harmless: "without delay".
	harmlessAfterWithout = wordSet(
		"delay undue exception exceptions interruption limitation prejudice notice unnecessary unreasonable fail",
	)
	lackWords = wordSet(
		"lack lacks lacking lacked absence absent missing fails failed fail unable insufficient incomplete inadequate nonexistent",
	)
	negationWords    = wordSet("not never no none neither nobody nothing nowhere cannot without nor")
	involvementNouns = wordSet("part role hand stake interest share")
	permissionWords  = wordSet("permitted allowed acceptable accepted tolerated")
	// neverRuleVerbs are verbs with which "never" after a pronoun expresses a rule: "they never leave the vault".
	neverRuleVerbs = wordSet("leave share reuse expose store send copy appear contain include disclose transmit carry embed sell")
	// negatedForms maps words with a negative prefix to the verb that they negate, such as "untested" to "test".
	negatedForms = map[string]string{
		"unencrypted": "encrypt", "untested": "test", "undocumented": "document", "unpatched": "patch",
		"unreviewed": "review", "unmonitored": "monitor", "untrained": "train", "unapproved": "approve", "unclassified": "classify",
		"unmanaged": "manage", "unprotected": "protect", "unassigned": "assign", "unrestricted": "restrict",
	}
)

// retractionWords are words that, after "it is not", retract the previous sentence or clause: "it is not
// enforced".
var retractionWords = []string{
	"yet", "currently", "enforced", "implemented", "done", "place", "followed", "happening", "happened", "case", "exist",
	"available", "performed", "completed", "active", "true", "practice", "practised", "practiced", "applied",
	"met", "operational", "working", "started", "begun",
}

// parseStanceAndClauses returns the stance of a sentence and sets the clause of each word. Deadlines after
// currentYear count as plans. currentYear is 0 if unknown.
func parseStanceAndClauses(text string, words []word, currentYear int) Stance {
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
	s.readNegatedClauses(words)
	s.denyQuestionedThing(words)
	s.markHarmlessDenials(words)
	allHarmless := s.Denied&^s.harmless == 0
	s.markBackReferences(words)
	spreadDenialToRelativeClauses(&s, words)
	if s.Hypothetical&2 != 0 && startsWithLabel(text, words) {
		s.Hypothetical |= 1
	}
	readModality(&s, text, words)
	labelDenied := spreadDenial(&s, text, words)
	if allHarmless {
		s.harmless = s.Denied
	}
	readPatterns(&s, text, words, currentYear)
	s.spreadDiscontinuation(words)
	s.Fragment = s.Fragment || !labelDenied && !hasVerb(words) && !endsLikeFullSentence(text, words) ||
		!labelDenied && !s.IsTableRow && isKeywordList(text, words)
	return s
}

// Requirement is the analysis of a sentence that requires something.
type Requirement struct {
	Stance     Stance // determined without treating any date as future
	Concepts   []Concept
	Quantities []Quantity
	Words      []string // in lower case
}

// ReadRequirement analyzes a sentence that requires something.
func ReadRequirement(text string) Requirement {
	words := splitWords(text)
	r := Requirement{Concepts: findConcepts(text, words), Stance: parseStanceAndClauses(text, words, 0)}
	r.Quantities, _ = parseQuantitiesAndYears(text, words)
	for _, w := range words {
		r.Words = append(r.Words, w.text)
	}
	return r
}

const minClosedWords = 4 // minimum number of words

// endsLikeFullSentence reports whether text is long enough for a sentence and ends with a period or
// an exclamation mark. Such a text counts as a sentence even if its verb is unknown ("the CEO
// answers to the board"). An ellipsis or dot leader doesn't end a sentence.
func endsLikeFullSentence(text string, words []word) bool {
	text = strings.TrimRight(text, "*_\"'”) ")
	return len(words) >= minClosedWords && (strings.HasSuffix(text, ".") || strings.HasSuffix(text, "!")) && !strings.HasSuffix(text, "..")
}

const minKeywords = 8 // minimum number of words

// isKeywordList reports whether text is a comma-separated list of keywords.
func isKeywordList(text string, words []word) bool {
	if len(words) < minKeywords || hasAuxiliaryOrModal(words) || verbs[words[0].text] || 4*strings.Count(text, ",") < len(words) {
		return false
	}
	stops, run := 0, 0
	for i, w := range words {
		if stopWords[w.text] {
			stops++
		}
		if run++; i > 0 && strings.Contains(text[words[i-1].end:w.start], ",") {
			run = 1
		}
		if run > 3 {
			return false // longer than a keyword
		}
	}
	return 5*stops < len(words)
}

// wordAt returns the text of the word at i, or "" if i is out of range.
func wordAt(words []word, i int) string {
	if i < 0 || i >= len(words) {
		return ""
	}
	return words[i].text
}

// startsHypothetical reports whether the words at i begin a hypothetical statement: "would have prevented it",
// "could not have been", "was meant to", but not "would have to".
func startsHypothetical(words []word, i int) bool {
	switch words[i].text {
	case "meant", "supposed":
		return pastAuxiliaries[wordAt(words, i-1)] && wordAt(words, i+1) == "to" // "was supposed to"
	case "would", "could", "might", "wouldn't", "couldn't":
	default:
		return false
	}
	if wordAt(words, i+1) == "not" || wordAt(words, i+1) == "also" {
		i++
	}
	return wordAt(words, i+1) == "have" && wordAt(words, i+2) != "to"
}

// statesExemption reports whether the negation at i says where a rule or document doesn't apply: "it does not
// apply to …", "this plan does not cover …", but not "we do not apply patches" or "backups do not cover
// laptops".
func statesExemption(words []word, i int) bool {
	w := words[i].text
	if !isOneOf(w, "not", "doesn't", "don't") {
		return false
	}
	if after := wordAt(words, i+2); wordAt(words, i+1) == "covered" &&
		(after == "here" || (after == "by" || after == "in") && wordAt(words, i+3) == "this") {
		return true
	}
	if next := wordAt(words, i+1); isOneOf(next, "cover", "address", "extend") {
		for k := i - 1; k >= 0 && k >= i-3; k-- {
			if documentNouns()[ConceptID(words[k].text)] {
				return wordAt(words, k-1) == "this" || wordAt(words, k-1) == "the"
			}
		}
		return false
	} else if next != "apply" {
		return false
	}
	if after := wordAt(words, i+3); isOneOf(after, "any", "anyone", "anybody", "all", "everyone") {
		return false // "does not apply to anyone" is a denial
	}
	switch wordAt(words, i+2) {
	case "to", "for", "in", "where", "when", "if", "outside", "":
		return true
	}
	return false
}

var (
	// dataHandlingParticiples are verb forms for uses of data that a rule may forbid. dataNouns are words for such
	// data.
	dataHandlingParticiples = wordSet(
		"used copied sent shared transferred taken entered published pasted uploaded emailed e-mailed exported carried disclosed sold passed",
	)
	dataNouns = wordSet("data information documents files copies credentials passwords secrets")
)

// negatesStatementAboutData reports whether the "not" at i follows "is" or "are", and the subject is data or a
// pronoun that may refer to data.
func negatesStatementAboutData(words []word, i int) bool {
	if prev := wordAt(words, i-1); prev != "is" && prev != "are" {
		return false
	}
	return i == 2 && pronouns[words[0].text] && wordAt(words, i+1) != "used" ||
		slices.ContainsFunc(words[:i], func(w word) bool { return dataNouns[w.text] })
}

// isImperative reports whether the word at i begins a command: "don't share passwords", but not "don't have
// any", in which the subject is omitted.
func isImperative(words []word, i int) bool {
	for i > 0 && words[i-1].clause == words[i].clause && isOneOf(words[i-1].text, "and", "or", "please", "so") {
		i--
	}
	if i > 0 && words[i-1].clause == words[i].clause {
		return false
	}
	for _, w := range words[i:] {
		if w.clause == words[i].clause && isOneOf(w.text, "have", "yet", "currently", "any") {
			return false
		}
	}
	return true
}

// isInClauseAfterEverything reports whether the "no" or "nobody" at i only specifies what "everything" or
// "anything" includes: "everything that no rule allows is dropped", "anything which nobody ordered".
func isInClauseAfterEverything(words []word, i int) bool {
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

const maxAllButDistance = 8 // words between "everything" and the negation

// isParentheticalNot reports whether the "not" at i begins a short insertion without a verb: "the partner, not
// our admins, reads the log".
func isParentheticalNot(words []word, i int) bool {
	c := words[i].clause
	if i == 0 || words[i-1].clause == c || clauseHasAuxiliaryOrModal(words, c) || words[len(words)-1].clause == c {
		return false
	}
	length := 0
	for _, w := range words {
		if w.clause == c {
			length++
		}
	}
	return length <= 4 && !isPastParticiple(wordAt(words, i+1)) && !clauseHas(words, c, "yet", "currently")
}

// isNobodyInRelativeClause reports whether the "nobody" at i begins a relative clause, and the noun before it
// has a verb of its own: "accounts nobody used are disabled".
func isNobodyInRelativeClause(words []word, i int) bool {
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

// spreadDenialToRelativeClauses extends a denial to a relative clause ("there is no server, which …") or reason
// ("… was not held, because the owner was on leave") that follows it.
func spreadDenialToRelativeClauses(s *Stance, words []word) {
	for i := 1; i < len(words); i++ {
		w := words[i]
		if isOneOf(w.text, "which", "who", "whom", "whose", "because") && w.clause > 0 &&
			words[i-1].clause != w.clause &&
			s.Denied&(1<<(w.clause-1)) != 0 {
			s.Denied |= 1 << w.clause
		}
	}
}

// isPastParticiple reports whether a word is a past participle, as in "never tested".
func isPastParticiple(w string) bool { return strings.HasSuffix(w, "ed") || irregularParticiples[w] }

var irregularParticiples = wordSet("done held made run been taken kept written set sent given shown seen paid met")

// spreadDenial extends denials to adjacent clauses without their own verb. Such clauses are labels ("Log review: nobody
// does it"), even those with a word that can also be a verb, and items of an enumeration ("we don't encrypt laptops,
// phones"). labelDenied reports whether a label was denied. spreadDenial doesn't change table rows, because their cells
// are separate clauses.
func spreadDenial(s *Stance, text string, words []word) (labelDenied bool) {
	if s.IsTableRow || s.Denied == 0 {
		return false
	}
	type wordRange struct{ from, to int }
	clauses := make([]wordRange, s.ClauseCount)
	for i, w := range words {
		if i == 0 || words[i-1].clause != w.clause {
			clauses[w.clause].from = i
		}
		clauses[w.clause].to = i + 1
	}
	verbless := func(c int) bool {
		clauseWords := words[clauses[c].from:clauses[c].to]
		return len(clauseWords) > 0 && !hasVerb(clauseWords) && !contrastWords[clauseWords[0].text] &&
			!startsCondition(words, clauses[c].from) &&
			clauseWords[0].text != "only" &&
			clauseWords[0].text != "without"
	}
	for c := 1; c < s.ClauseCount; c++ {
		gap := text[words[clauses[c].from-1].end:words[clauses[c].from].start]
		// After a relative clause, the main clause continues, and the denial doesn't apply to it.
		if s.Denied&(1<<(c-1)) != 0 && s.Denied&(1<<c) == 0 && strings.TrimSpace(gap) == "," && verbless(c) &&
			!relativePronouns[words[clauses[c-1].from].text] {
			s.Denied |= 1 << c
		}
	}
	for c := s.ClauseCount - 2; c >= 0; c-- {
		if s.Denied&(1<<(c+1)) == 0 || s.Denied&(1<<c) != 0 || relativePronouns[words[clauses[c+1].from].text] {
			continue
		}
		gap := strings.TrimSpace(text[words[clauses[c+1].from-1].end:words[clauses[c+1].from].start])
		clauseWords := words[clauses[c].from:clauses[c].to]
		switch {
		case gap == ":" && c == 0 && len(clauseWords) <= 8 && !hasAuxiliaryOrModal(clauseWords):
			s.Denied |= 1
			s.DeniedForPeople |= s.DeniedForPeople >> 1 & 1
			labelDenied = true
		case gap == "," && (verbless(c) || endsEnumeration(words[clauses[c+1].from:clauses[c+1].to]) && !hasAuxiliaryOrModal(clauseWords)):
			s.Denied |= 1 << c
		}
	}
	return labelDenied
}

// endsEnumeration reports whether a clause is the end of an enumeration of subjects: "… and phones are not
// scanned".
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

// forbidsDataHandling reports whether the "no" at i rules out a use of data: "no production data is used in tests",
// "no passwords are stored in code".
func forbidsDataHandling(words []word, i int) bool {
	for k := i + 1; k < len(words) && k <= i+maxSubjectWords && words[k].clause == words[i].clause; k++ {
		if w := words[k].text; w == "is" || w == "are" {
			use := wordAt(words, k+1)
			return (dataHandlingParticiples[use] || isOneOf(use, "stored", "kept", "retained", "saved", "written")) && dataNouns[words[k-1].text]
		}
	}
	return false
}
