package text

import (
	"cmp"
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
	readNegation(&s, words)
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

func readNegation(s *Stance, words []word) {
	for i, w := range words {
		bit := uint64(1) << w.clause
		if startsCondition(words, i) && (i == 0 || words[i-1].clause != w.clause) {
			s.Conditional |= bit
		}
		if startsHypothetical(words, i) {
			s.Hypothetical |= bit
		}
		if w.text == "but" || w.text == "instead" || w.text == "however" ||
			(i > 0 && s.AfterBut&(bit>>1) != 0 && words[i-1].clause != w.clause && !contrastWords[w.text]) {
			s.AfterBut |= bit
		}
		next, prev := wordAt(words, i+1), wordAt(words, i-1)
		switch {
		case statesExemption(words, i):
			s.Exempt |= bit
			s.Limit = "not apply"
		case strings.HasSuffix(w.text, "n't") && w.text != "can't":
			if strings.HasPrefix(w.text, "must") || strings.HasPrefix(w.text, "should") || w.text == "won't" {
				s.Prohibited |= bit
			} else if w.text == "don't" && isImperative(words, i) {
				s.Prohibited |= bit
			} else {
				s.Denied |= bit
			}
		case w.text == "not" || w.text == "never" || w.text == "cannot" || w.text == "can't":
			if nonDenyingWords[next] {
				continue
			}
			if next == "all" || next == "every" || next == "always" {
				s.Limit = "not " + next
				continue
			}
			ability := w.text == "cannot" || w.text == "can't" || prev == "can" || prev == "could"
			now := clauseHas(words, w.clause, "yet", "currently", "presently", "today")
			switch {
			case isAccessRestriction(words, i):
				s.Prohibited |= bit
			case isIndirectQuestion(words, i), isContrast(words, i), isDefinition(words, i):
				// "What did not", "reports to X and does not report to Y", "are not vendors in the sense of …".
			case next == "yet" || now || prev == "far":
				s.Denied |= bit
			case prev == "do" && isImperative(words, i-1), auxiliaryVerbs[prev] && next == "to" && wordAt(words, i+2) == "be":
				s.Prohibited |= bit // "documents are not to be left behind"
			case next == "one" && slices.ContainsFunc(words[i:], func(w word) bool { return w.text == "before" || w.text == "without" }):
				s.Prohibited |= bit // "not one had gone live before approval"
			case qualifiesSubject(words, i):
				// "Staff who do not complete it lose their access" says who.
			case modalVerbs[prev] || ability || permissionWords[next]:
				s.Prohibited |= bit
			case next == "need" || prev == "need" || (next == "to" || next == "have") && prev == "need" || next == "necessary":
				s.Exempt |= bit // "need not be tested"
			case isDefiningClause(words, i), isRelativeQualifier(words, i):
				// "Data that is not public is …", "accounts which have not been used are …"
			case dataHandlingParticiples[next] && concernsData(words, i):
				s.Prohibited |= bit // "production data is never used for testing"
			case auxiliaryVerbs[prev] || auxiliaryVerbs[wordAt(words, i-2)]:
				s.Denied |= bit
			case next == "applicable":
				s.Limit = "not applicable"
			case w.text == "never" && !auxiliaryVerbs[prev] && !isParticiple(next) && (!pronouns[prev] && prev != "we" || neverRuleVerbs[next]):
				s.Prohibited |= bit
			case w.text == "not" && (isParticiple(next) || next == "being") && !pronouns[prev] && !auxiliaryVerbs[prev] &&
				clauseHasOtherVerb(words, i):
				// "Services not exposed to the internet are …" says which.
			case w.text == "not" && isParentheticalNot(words, i):
				// "The partner, not our admins, reads the log" says that it is read.
			default:
				s.Denied |= bit
			}
		case w.text == "no":
			switch {
			case s.IsTableRow && i == 0:
				// The number of a row: "No.: 12; …".
			case i == 0 && len(words) > 1 && words[1].clause > 0, len(words) == 1:
				s.AnswersNo = true
			case next == "longer" && permissionWords[wordAt(words, i+2)]:
				s.Prohibited |= bit // "shared accounts are no longer permitted"
			case next == "longer" && wordAt(words, i+2) != "than":
				if auxiliaryVerbs[prev] &&
					!clauseHas(
						words,
						w.clause,
						"that",
						"which",
						"who",
						"whose",
						"if",
						"when",
						"where",
						"once",
						"as",
						"until",
						"because",
						"whether",
						"they",
						"it",
						"what",
						"whatever",
					) {
					s.Denied |= bit // "is no longer required"
				} else if !clauseHas(words, w.clause, "need", "needs", "needed", "require", "requires", "required",
					"necessary", "employed", "works", "valid", "used", "supported", "maintained", "patched") {
					s.Denied |= bit
				}
			case nonDenyingWords[next]:
			case hasMoreThan(words, i), deniesConflictingDuties(words, i):
				s.Prohibited |= bit // "no user has more rights than the post needs"
			case next == "one" && wordAt(words, i+2) == "other":
				s.Prohibited |= bit
			case words[0].text == "without" && w.clause > 0:
				s.Prohibited |= bit | 1 // "without a badge, no one is admitted"
			case next == "one" && !auxiliaryVerbs[prev] && isSegregationRule(words, i+1):
				s.Prohibited |= bit
			case clauseHas(words, w.clause, "beyond"):
				s.Limit = "no " + next + " beyond" // "has no rights beyond the base role"
			case involvementNouns[next] && relativePronouns[firstWordOfClause(words, w.clause)]:
				// "Testers who have no part in running it" says who.
			case prev == "with":
				// "A server with no user data" says which.
			case prev == "or" && (next == "" || words[i+1].clause != w.clause):
				// "Yes, or no."
			case connectionNouns[next] || connectionNouns[wordAt(words, i+2)] && !stopWords[next]:
				s.Prohibited |= bit // "no network path from test to production"
			case reportsNoHarm(words, w.clause):
				// "No customer data was lost."
			case i > 0 && words[i-1].clause != w.clause && clauseMatches(words, w.clause-1, func(w string) bool { return protectedStates[w] }) &&
				!clauseHasVerb(words, w.clause):
				s.Prohibited |= bit // "the branch is protected: no direct pushes"
			case isWithinAllBut(words, i):
				// "Everything that no rule allows is dropped" says what.
			case next == "exceptions" || next == "exception" || next == "case" || next == "circumstances":
			case clauseHasModal(words, w.clause):
				s.Prohibited |= bit
			case next != "one" && w.clause > 0 && words[i-1].clause != w.clause && verbs[firstWordOfClause(words, w.clause-1)] &&
				!clauseHasVerb(words, w.clause):
				s.Prohibited |= bit // "use the query builder, no secrets in the repository"
			default:
				s.Denied |= bit
				if next == "one" {
					s.DeniedForPeople |= bit
				}
			}
		case w.text == "nobody" && (isRelativeNobody(words, i) || isWithinAllBut(words, i)):
			// "Accounts nobody used are disabled" says that they are.
		case w.text == "nobody" && isSegregationRule(words, i):
			s.Prohibited |= bit
		case (w.text == "none" || w.text == "nobody") && (clauseHas(words, w.clause, "except", "beyond") ||
			clauseHas(words, w.clause, "other") && clauseHas(words, w.clause, "than")):
			s.Limit = cmp.Or(s.Limit, w.text+" except")
		case w.text == "none" && words[0].text == "for" && (prev == "is" || prev == "are"):
			s.Limit = cmp.Or(s.Limit, "for "+next+" none") // "for the cloud provider there is none"
		case w.text == "none" && auxiliaryVerbs[prev] && relativePronouns[wordAt(words, i-2)]:
			// "A phone that has none is refused."
		case w.text == "none" || w.text == "neither" || w.text == "nobody" || w.text == "nothing":
			s.Denied |= bit
			if w.text == "none" || w.text == "nobody" {
				s.DeniedForPeople |= bit
			}
		case w.text == "without" && (next == "which" || next == "whom"):
			// "A change without which the service fails" says which.
		case w.text == "without":
			before := uint64(0)
			if w.clause > 0 {
				before = bit >> 1
			}
			refused := w.clause > 0 &&
				clauseHas(
					words,
					w.clause-1,
					"refuses",
					"refuse",
					"refused",
					"rejects",
					"reject",
					"rejected",
					"blocks",
					"blocked",
					"stops",
					"stopped",
					"prevents",
					"prevented",
					"impossible",
					"prohibited",
					"forbidden",
				)
			if i > 0 && (s.Denied|s.Prohibited)&before != 0 || refused {
				// Two negatives make a rule: "no change goes live without approval".
				s.Denied &^= before
				s.Prohibited |= before | bit
				continue
			}
			if int(w.clause)+1 < s.ClauseCount && clauseHas(words, w.clause+1, "could", "might") {
				continue // what might happen without it
			}
			if w.clause > 0 && clauseHas(words, w.clause-1, "may", "can", "could", "might") ||
				clauseHas(words, w.clause, "may", "can", "could", "might", "possible", "allowed", "permitted") {
				if s.Limit == "" {
					s.Limit = "without " + next // an exception that is allowed
				}
			} else if !harmlessAfterWithout[next] && !harmlessAfterWithout[wordAt(words, i+2)] && s.Denied|s.Prohibited == 0 &&
				!clauseHas(words, w.clause, "prohibited", "forbidden", "blocked", "rejected", "refused") && !isWithoutQualifier(words, i) {
				s.Denied |= bit
			}
		case isDiscontinued(words, i) && s.Conditional&bit == 0 && !clauseHasModal(words, w.clause) &&
			!clauseHas(words, w.clause, "that", "which", "who", "those"):
			s.Discontinued |= bit
			if first := firstWordOfClause(words, w.clause); w.clause > 0 && (first == w.text || first == "on") {
				s.Discontinued |= bit >> 1 // "log reviews: paused since May"
			}
		case w.text == "few" && wordAt(words, i-1) != "a" && wordAt(words, i-1) != "the" && wordAt(words, i-1) != "last" &&
			wordAt(words, i-1) != "every" && wordAt(words, i+1) != "days" && wordAt(words, i+1) != "minutes":
			s.Rare |= bit
		case w.text == "rarely" || w.text == "seldom" || w.text == "hardly" || w.text == "scarcely" || w.text == "barely":
			s.Rare |= bit
		case w.text == "exempt" && auxiliaryVerbs[prev] && s.Denied&bit == 0:
			s.Exempt |= bit
		case w.text == "used" && next == "to" && !auxiliaryVerbs[prev] && prev != "be":
			s.Hypothetical |= bit // what was once
		case formerAdverbs[w.text]:
			s.Hypothetical |= bit
			if i == 0 {
				s.Hypothetical |= bit << 1
			}
		case lackWords[w.text]:
			// "Looks for missing entries" misses nothing.
			if relativePronouns[prev] && i <= maxSubjectWords && strings.HasPrefix(w.text, "fail") && len(words) > i+minWordsAfter {
				continue // "visitors who fail to show it are refused"
			}
			if (w.text == "missing" || strings.HasPrefix(w.text, "fail") && next != "to") && !auxiliaryVerbs[prev] ||
				(w.text == "absence" || w.text == "lack") && prev == "the" && wordAt(words, i-2) == "in" ||
				w.text == "absence" && next != "of" {
				continue
			}
			if !clauseHasModal(words, w.clause) && s.Conditional&bit == 0 {
				s.Denied |= bit
			}
		case negatedForms[w.text] != "":
			if !clauseHasModal(words, w.clause) && !clauseMatches(words, w.clause, func(w string) bool { return refusalVerbs[w] }) {
				s.Denied |= bit
			}
		case w.text == "yet" && next == "to":
			s.Denied |= bit
		}
	}
	if words[0].text == "without" && s.Prohibited&^1 != 0 {
		s.Denied &^= 1 // "without an agreement, they will not receive it"
	}
	s.applyRetractions(words)
	s.applyPurposeRules(words)
	s.limitOtherDenials(words)
	s.limitLateActions(words)
	for i, w := range words {
		bit := uint64(1) << w.clause
		if (i == 0 || words[i-1].clause != w.clause) && (s.Denied|s.Prohibited)&bit != 0 && s.Denied&bit != 0 {
			first := i
			for contrastWords[wordAt(words, first)] || wordAt(words, first) == "and" || wordAt(words, first) == "currently" {
				first++
			}
			if wordAt(words, first) == "in" && (wordAt(words, first+1) == "practice" || wordAt(words, first+1) == "reality") {
				first += 2
			}
			if pronouns[wordAt(words, first)] && clauseHas(words, w.clause, retractionWords...) && !isNotTheCase(words[first:]) {
				s.RefersBack = true
			}
		}
	}
	// What is only supposed isn't denied: "where MFA is not possible, …".
	s.Denied &^= s.Conditional | s.Hypothetical
	s.applyUntilRules(words)
	// Two negatives in a clause make a rule: "no change goes live without approval".
	for c := range s.ClauseCount {
		n := 0
		for i, w := range words {
			switch {
			case int(w.clause) != c, w.text == "no" && wordAt(words, i+1) == "longer": // "rights no longer needed"
			case negationWords[w.text] || negatedForms[w.text] != "":
				n++
			case n == 1 && (w.text == "and" || w.text == "or"):
				n = 0 // "logs are not collected and nobody reviews them" denies twice
			}
		}
		if n >= 2 && s.Denied&(1<<c) != 0 && !clauseHas(words, uint8(c), "yet", "neither", "none") {
			s.Denied &^= 1 << c
			s.Prohibited |= 1 << c
		}
	}
}

// statesExemption: the negation at i tells what a rule or document does not reach: "it does not apply to …", "this
// plan does not cover …". "We do not apply patches" and "backups do not cover laptops" deny.
func statesExemption(words []word, i int) bool {
	w := words[i].text
	if w != "not" && w != "doesn't" && w != "don't" {
		return false
	}
	if after := wordAt(words, i+2); wordAt(words, i+1) == "covered" &&
		(after == "here" || (after == "by" || after == "in") && wordAt(words, i+3) == "this") {
		return true
	}
	if next := wordAt(words, i+1); next == "cover" || next == "address" || next == "extend" {
		for k := i - 1; k >= 0 && k >= i-3; k-- {
			if documentNouns()[ConceptID(words[k].text)] {
				return wordAt(words, k-1) == "this" || wordAt(words, k-1) == "the"
			}
		}
		return false
	} else if next != "apply" {
		return false
	}
	if after := wordAt(words, i+3); after == "any" || after == "anyone" || after == "anybody" || after == "all" || after == "everyone" {
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
	for i > 0 && words[i-1].clause == words[i].clause && (words[i-1].text == "and" || words[i-1].text == "or" || words[i-1].text == "please" ||
		words[i-1].text == "so") {
		i--
	}
	if i > 0 && words[i-1].clause == words[i].clause {
		return false
	}
	for _, w := range words[i:] {
		if w.clause == words[i].clause && (w.text == "have" || w.text == "yet" || w.text == "currently" || w.text == "any") {
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
		if (w.text == "which" || w.text == "who" || w.text == "whom" || w.text == "whose" || w.text == "because") && w.clause > 0 &&
			words[i-1].clause != w.clause &&
			s.Denied&(1<<(w.clause-1)) != 0 {
			s.Denied |= 1 << w.clause
		}
	}
}

// isParticiple: "never done", "never tested".
func isParticiple(w string) bool {
	return strings.HasSuffix(w, "ed") || w == "done" || w == "held" || w == "made" || w == "run" || w == "been" || w == "taken" ||
		w == "kept" ||
		w == "written" ||
		w == "set" ||
		w == "sent" ||
		w == "given" ||
		w == "shown" ||
		w == "seen" ||
		w == "paid" ||
		w == "met"
}

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
