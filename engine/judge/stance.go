package judge

import (
	"cmp"
	"slices"
	"strings"
)

// stance is how a sentence says what it says. Clause masks hold a bit for each
// clause of the sentence, so that "A is done, but B is not" denies B alone.
type stance struct {
	denied            uint64 // clauses that say something is not so
	harmless          uint64 // of these, those that lack nothing: "no incidents occurred"
	prohibited        uint64 // clauses that forbid something
	conditional       uint64 // clauses that only suppose it
	hypothetical      uint64 // clauses that say what would have been
	exempt            uint64 // clauses that tell what a rule or document does not reach
	afterBut          uint64 // clauses behind a "but"
	discontinued      uint64 // clauses that say that something was given up
	rare              uint64 // clauses that say that something hardly happens
	startsWithPronoun bool   // begins with "this", "they" …
	refersBack        bool   // a denied or planned clause speaks of what went before ("it is not enforced")
	planWords         string // the words that put it in the future
	placeholder       string // the blank that nobody filled
	hedge             string // the word that makes it a wish
	limit             string // the words that narrow it
	limitIsShare      bool   // these tell for which share of all it is so
	stillPresent      bool   // says that something is there that may have had to go
	mandatory         bool   // must, shall, is required
	question          bool
	instruction       bool // tells the reader of evidence what to conclude
	statesPurpose     bool // says what a document is for, not what is done
	namesContact      bool // says whom to ask
	definition        bool
	reference         bool // points elsewhere
	fragment          bool // has no verb: a heading, an entry of a list of contents
	reportsPast       bool // tells what was done, as records do
	answersNo         bool // "No" under a question or in a status column
	answersYes        bool
	isTableRow        bool   // of a table, as "Name: value; Name: value"
	deniedForPeople   uint64 // denied clauses that say of people alone that they don't
	clauseCount       int
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
func parseStance(text string, words []word, year int) stance {
	s := stance{clauseCount: assignClauses(text, words)}
	if len(words) == 0 {
		s.fragment = true
		return s
	}
	s.isTableRow = isTableRow(text)
	s.startsWithPronoun = pronouns[words[0].text]
	if i := strings.IndexByte(text, '?'); i >= 0 && isQuestionCondition(text[:i+1], text[i+1:]) {
		s.conditional |= 1 // "Lost it? Tell us."
	}
	readNegation(&s, words)
	s.readHarmlessDenials(words)
	whole := s.denied&^s.harmless == 0
	spreadToRelativeClauses(&s, words)
	if s.hypothetical&2 != 0 && startsWithLabel(text, words) {
		s.hypothetical |= 1
	}
	readModality(&s, text, words)
	labels := spreadDenial(&s, text, words)
	if whole {
		s.harmless = s.denied
	}
	readPatterns(&s, text, words, year)
	s.spreadDiscontinuation(words)
	s.fragment = s.fragment || !labels && !hasVerb(words) && !isClosedSentence(text, words) ||
		!labels && !s.isTableRow && isKeywordList(text, words)
	return s
}

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

func readNegation(s *stance, words []word) {
	for i, w := range words {
		bit := uint64(1) << w.clause
		if startsCondition(words, i) && (i == 0 || words[i-1].clause != w.clause) {
			s.conditional |= bit
		}
		if startsHypothetical(words, i) {
			s.hypothetical |= bit
		}
		if w.text == "but" || w.text == "instead" || w.text == "however" ||
			(i > 0 && s.afterBut&(bit>>1) != 0 && words[i-1].clause != w.clause && !contrastWords[w.text]) {
			s.afterBut |= bit
		}
		next, prev := wordAt(words, i+1), wordAt(words, i-1)
		switch {
		case statesExemption(words, i):
			s.exempt |= bit
			s.limit = "not apply"
		case strings.HasSuffix(w.text, "n't") && w.text != "can't":
			if strings.HasPrefix(w.text, "must") || strings.HasPrefix(w.text, "should") || w.text == "won't" {
				s.prohibited |= bit
			} else if w.text == "don't" && isImperative(words, i) {
				s.prohibited |= bit
			} else {
				s.denied |= bit
			}
		case w.text == "not" || w.text == "never" || w.text == "cannot" || w.text == "can't":
			if nonDenyingWords[next] {
				continue
			}
			if next == "all" || next == "every" || next == "always" {
				s.limit = "not " + next
				continue
			}
			ability := w.text == "cannot" || w.text == "can't" || prev == "can" || prev == "could"
			now := clauseHas(words, w.clause, "yet", "currently", "presently", "today")
			switch {
			case isAccessRestriction(words, i):
				s.prohibited |= bit
			case isIndirectQuestion(words, i), isContrast(words, i), isDefinition(words, i):
				// "What did not", "reports to X and does not report to Y", "are not vendors in the sense of …".
			case next == "yet" || now || prev == "far":
				s.denied |= bit
			case prev == "do" && isImperative(words, i-1), auxiliaryVerbs[prev] && next == "to" && wordAt(words, i+2) == "be":
				s.prohibited |= bit // "documents are not to be left behind"
			case next == "one" && slices.ContainsFunc(words[i:], func(w word) bool { return w.text == "before" || w.text == "without" }):
				s.prohibited |= bit // "not one had gone live before approval"
			case qualifiesSubject(words, i):
				// "Staff who do not complete it lose their access" says who.
			case modalVerbs[prev] || ability || permissionWords[next]:
				s.prohibited |= bit
			case next == "need" || prev == "need" || (next == "to" || next == "have") && prev == "need" || next == "necessary":
				s.exempt |= bit // "need not be tested"
			case isDefiningClause(words, i), isRelativeQualifier(words, i):
				// "Data that is not public is …", "accounts which have not been used are …"
			case dataHandlingParticiples[next] && concernsData(words, i):
				s.prohibited |= bit // "production data is never used for testing"
			case auxiliaryVerbs[prev] || auxiliaryVerbs[wordAt(words, i-2)]:
				s.denied |= bit
			case next == "applicable":
				s.limit = "not applicable"
			case w.text == "never" && !auxiliaryVerbs[prev] && !isParticiple(next) && (!pronouns[prev] && prev != "we" || neverRuleVerbs[next]):
				s.prohibited |= bit
			case w.text == "not" && (isParticiple(next) || next == "being") && !pronouns[prev] && !auxiliaryVerbs[prev] &&
				clauseHasOtherVerb(words, i):
				// "Services not exposed to the internet are …" says which.
			case w.text == "not" && isParentheticalNot(words, i):
				// "The partner, not our admins, reads the log" says that it is read.
			default:
				s.denied |= bit
			}
		case w.text == "no":
			switch {
			case s.isTableRow && i == 0:
				// The number of a row: "No.: 12; …".
			case i == 0 && len(words) > 1 && words[1].clause > 0, len(words) == 1:
				s.answersNo = true
			case next == "longer" && permissionWords[wordAt(words, i+2)]:
				s.prohibited |= bit // "shared accounts are no longer permitted"
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
					s.denied |= bit // "is no longer required"
				} else if !clauseHas(words, w.clause, "need", "needs", "needed", "require", "requires", "required",
					"necessary", "employed", "works", "valid", "used", "supported", "maintained", "patched") {
					s.denied |= bit
				}
			case nonDenyingWords[next]:
			case hasMoreThan(words, i), deniesConflictingDuties(words, i):
				s.prohibited |= bit // "no user has more rights than the post needs"
			case next == "one" && wordAt(words, i+2) == "other":
				s.prohibited |= bit
			case words[0].text == "without" && w.clause > 0:
				s.prohibited |= bit | 1 // "without a badge, no one is admitted"
			case next == "one" && !auxiliaryVerbs[prev] && isSegregationRule(words, i+1):
				s.prohibited |= bit
			case clauseHas(words, w.clause, "beyond"):
				s.limit = "no " + next + " beyond" // "has no rights beyond the base role"
			case involvementNouns[next] && relativePronouns[firstWordOfClause(words, w.clause)]:
				// "Testers who have no part in running it" says who.
			case prev == "with":
				// "A server with no user data" says which.
			case prev == "or" && (next == "" || words[i+1].clause != w.clause):
				// "Yes, or no."
			case connectionNouns[next] || connectionNouns[wordAt(words, i+2)] && !stopWords[next]:
				s.prohibited |= bit // "no network path from test to production"
			case reportsNoHarm(words, w.clause):
				// "No customer data was lost."
			case i > 0 && words[i-1].clause != w.clause && clauseMatches(words, w.clause-1, func(w string) bool { return protectedStates[w] }) &&
				!clauseHasVerb(words, w.clause):
				s.prohibited |= bit // "the branch is protected: no direct pushes"
			case isWithinAllBut(words, i):
				// "Everything that no rule allows is dropped" says what.
			case next == "exceptions" || next == "exception" || next == "case" || next == "circumstances":
			case clauseHasModal(words, w.clause):
				s.prohibited |= bit
			case next != "one" && w.clause > 0 && words[i-1].clause != w.clause && verbs[firstWordOfClause(words, w.clause-1)] &&
				!clauseHasVerb(words, w.clause):
				s.prohibited |= bit // "use the query builder, no secrets in the repository"
			default:
				s.denied |= bit
				if next == "one" {
					s.deniedForPeople |= bit
				}
			}
		case w.text == "nobody" && (isRelativeNobody(words, i) || isWithinAllBut(words, i)):
			// "Accounts nobody used are disabled" says that they are.
		case w.text == "nobody" && isSegregationRule(words, i):
			s.prohibited |= bit
		case (w.text == "none" || w.text == "nobody") && (clauseHas(words, w.clause, "except", "beyond") ||
			clauseHas(words, w.clause, "other") && clauseHas(words, w.clause, "than")):
			s.limit = cmp.Or(s.limit, w.text+" except")
		case w.text == "none" && words[0].text == "for" && (prev == "is" || prev == "are"):
			s.limit = cmp.Or(s.limit, "for "+next+" none") // "for the cloud provider there is none"
		case w.text == "none" && auxiliaryVerbs[prev] && relativePronouns[wordAt(words, i-2)]:
			// "A phone that has none is refused."
		case w.text == "none" || w.text == "neither" || w.text == "nobody" || w.text == "nothing":
			s.denied |= bit
			if w.text == "none" || w.text == "nobody" {
				s.deniedForPeople |= bit
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
			if i > 0 && (s.denied|s.prohibited)&before != 0 || refused {
				// Two negatives make a rule: "no change goes live without approval".
				s.denied &^= before
				s.prohibited |= before | bit
				continue
			}
			if int(w.clause)+1 < s.clauseCount && clauseHas(words, w.clause+1, "could", "might") {
				continue // what might happen without it
			}
			if w.clause > 0 && clauseHas(words, w.clause-1, "may", "can", "could", "might") ||
				clauseHas(words, w.clause, "may", "can", "could", "might", "possible", "allowed", "permitted") {
				if s.limit == "" {
					s.limit = "without " + next // an exception that is allowed
				}
			} else if !harmlessAfterWithout[next] && !harmlessAfterWithout[wordAt(words, i+2)] && s.denied|s.prohibited == 0 &&
				!clauseHas(words, w.clause, "prohibited", "forbidden", "blocked", "rejected", "refused") && !isWithoutQualifier(words, i) {
				s.denied |= bit
			}
		case isDiscontinued(words, i) && s.conditional&bit == 0 && !clauseHasModal(words, w.clause) &&
			!clauseHas(words, w.clause, "that", "which", "who", "those"):
			s.discontinued |= bit
			if first := firstWordOfClause(words, w.clause); w.clause > 0 && (first == w.text || first == "on") {
				s.discontinued |= bit >> 1 // "log reviews: paused since May"
			}
		case w.text == "few" && wordAt(words, i-1) != "a" && wordAt(words, i-1) != "the" && wordAt(words, i-1) != "last" &&
			wordAt(words, i-1) != "every" && wordAt(words, i+1) != "days" && wordAt(words, i+1) != "minutes":
			s.rare |= bit
		case w.text == "rarely" || w.text == "seldom" || w.text == "hardly" || w.text == "scarcely" || w.text == "barely":
			s.rare |= bit
		case w.text == "exempt" && auxiliaryVerbs[prev] && s.denied&bit == 0:
			s.exempt |= bit
		case w.text == "used" && next == "to" && !auxiliaryVerbs[prev] && prev != "be":
			s.hypothetical |= bit // what was once
		case formerAdverbs[w.text]:
			s.hypothetical |= bit
			if i == 0 {
				s.hypothetical |= bit << 1
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
			if !clauseHasModal(words, w.clause) && s.conditional&bit == 0 {
				s.denied |= bit
			}
		case negatedForms[w.text] != "":
			if !clauseHasModal(words, w.clause) && !clauseMatches(words, w.clause, func(w string) bool { return refusalVerbs[w] }) {
				s.denied |= bit
			}
		case w.text == "yet" && next == "to":
			s.denied |= bit
		}
	}
	if words[0].text == "without" && s.prohibited&^1 != 0 {
		s.denied &^= 1 // "without an agreement, they will not receive it"
	}
	s.applyRetractions(words)
	s.applyPurposeRules(words)
	s.limitOtherDenials(words)
	s.limitLateActions(words)
	for i, w := range words {
		bit := uint64(1) << w.clause
		if (i == 0 || words[i-1].clause != w.clause) && (s.denied|s.prohibited)&bit != 0 && s.denied&bit != 0 {
			first := i
			for contrastWords[wordAt(words, first)] || wordAt(words, first) == "and" || wordAt(words, first) == "currently" {
				first++
			}
			if wordAt(words, first) == "in" && (wordAt(words, first+1) == "practice" || wordAt(words, first+1) == "reality") {
				first += 2
			}
			if pronouns[wordAt(words, first)] && clauseHas(words, w.clause, retractionWords...) && !isNotTheCase(words[first:]) {
				s.refersBack = true
			}
		}
	}
	// What is only supposed isn't denied: "where MFA is not possible, …".
	s.denied &^= s.conditional | s.hypothetical
	s.applyUntilRules(words)
	// Two negatives in a clause make a rule: "no change goes live without approval".
	for c := range s.clauseCount {
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
		if n >= 2 && s.denied&(1<<c) != 0 && !clauseHas(words, uint8(c), "yet", "neither", "none") {
			s.denied &^= 1 << c
			s.prohibited |= 1 << c
		}
	}
}

// applyRetractions: "there is none yet" at the end of a sentence denies what went before in it, and so does
// "but there are no rules for it".
func (s *stance) applyRetractions(words []word) {
	for i, w := range words {
		if w.text == "there" && w.clause > 0 && wordAt(words, i+2) == "no" && s.denied&(1<<w.clause) != 0 &&
			refersToPrevious(words[i+3:], w.clause) {
			s.denied |= 1<<w.clause - 1
			return
		}
	}
	last := words[len(words)-1].clause
	if last == 0 || s.denied&(1<<last) == 0 || !clauseHas(words, last, "none") || firstWordOfClause(words, last) != "there" {
		return
	}
	if own := slices.IndexFunc(words, func(w word) bool { return w.clause == last }); len(words)-own <= maxRetractionWords {
		s.denied |= 1<<last - 1
	}
}

const maxRetractionWords = 6 // words of "there is none yet"

// refersToPrevious: words of a clause speak of what was said before: "rules for it", "procedure on this".
func refersToPrevious(words []word, clause uint8) bool {
	for i, w := range words {
		if w.clause != clause || i > maxRetractionWords {
			return false
		}
		if next := wordAt(words, i+1); prepositions[w.text] && (next == "it" || next == "this" || next == "that" || next == "them") {
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
			if documentNouns()[conceptID(words[k].text)] {
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

// applyUntilRules makes a rule of a denial that ends with what it waits for: "nobody gets an
// account before the form is signed", "no data leaves unless it has been encrypted".
func (s *stance) applyUntilRules(words []word) {
	for i := 1; i < len(words); i++ {
		w := words[i]
		before := uint64(1) << words[i-1].clause
		if (w.text == "before" || w.text == "until" || w.text == "unless") && s.denied&1 != 0 && w.clause > 1 && startsWithNoWho(words) &&
			clauseHasParticiple(words, w.clause) {
			s.denied &^= 1 // "no supplier who holds data, or who connects to us, is signed before …"
			s.prohibited |= 1
		}
		if words[i-1].clause == w.clause || s.denied&before == 0 || clauseHas(words, words[i-1].clause, "yet", "currently") {
			continue
		}
		subject := s.deniedForPeople&before != 0 || startsWithNo(words, words[i-1].clause)
		// "No tests before release" is a denial: what it waits for has to be an event. So is that no assessment was
		// carried out before the system was introduced.
		tells := clauseHas(words, words[i-1].clause, "was", "were") && namesSafeguard(words, words[i-1].clause, 0)
		if subject && !tells && (w.text == "before" || w.text == "until" || w.text == "unless") && clauseHasParticiple(words, w.clause) {
			s.denied &^= before
			s.prohibited |= before
			s.joinNoClauses(words, words[i-1].clause)
		}
		// "Data under legal hold is not deleted until counsel lifts it."
		if (w.text == "until" || w.text == "unless") && hasPassiveDenial(words, words[i-1].clause) && describesEvent(words[i:]) {
			s.denied &^= before
			s.prohibited |= before
		}
	}
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
	if first := wordAt(words, i); first == "and" || first == "or" || first == "nor" {
		i++
	}
	return wordAt(words, i) == "no"
}

// joinNoClauses takes into a rule what "and no …" joins it to: "no data is sent and no account is opened before …".
func (s *stance) joinNoClauses(words []word, clause uint8) {
	for ; clause > 0; clause-- {
		before := uint64(1) << (clause - 1)
		if !startsWithNo(words, clause) || s.denied&before == 0 || !startsWithNo(words, clause-1) {
			return
		}
		s.denied &^= before
		s.prohibited |= before
	}
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
func spreadToRelativeClauses(s *stance, words []word) {
	for i := 1; i < len(words); i++ {
		w := words[i]
		if (w.text == "which" || w.text == "who" || w.text == "whom" || w.text == "whose" || w.text == "because") && w.clause > 0 &&
			words[i-1].clause != w.clause &&
			s.denied&(1<<(w.clause-1)) != 0 {
			s.denied |= 1 << w.clause
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
func spreadDenial(s *stance, text string, words []word) (labelDenied bool) {
	if s.isTableRow || s.denied == 0 {
		return false
	}
	type part struct{ from, to int }
	parts := make([]part, s.clauseCount)
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
	for c := 1; c < s.clauseCount; c++ {
		gap := text[words[parts[c].from-1].end:words[parts[c].from].start]
		// What follows a relative clause goes on with the sentence around it.
		if s.denied&(1<<(c-1)) != 0 && s.denied&(1<<c) == 0 && strings.TrimSpace(gap) == "," && bare(c) &&
			!relativePronouns[words[parts[c-1].from].text] {
			s.denied |= 1 << c
		}
	}
	for c := s.clauseCount - 2; c >= 0; c-- {
		if s.denied&(1<<(c+1)) == 0 || s.denied&(1<<c) != 0 || relativePronouns[words[parts[c+1].from].text] {
			continue
		}
		gap := strings.TrimSpace(text[words[parts[c+1].from-1].end:words[parts[c+1].from].start])
		clauseWords := words[parts[c].from:parts[c].to]
		switch {
		case gap == ":" && c == 0 && len(clauseWords) <= 8 && !hasAuxiliary(clauseWords):
			s.denied |= 1
			s.deniedForPeople |= s.deniedForPeople >> 1 & 1
			labelDenied = true
		case gap == "," && (bare(c) || endsEnumeration(words[parts[c+1].from:parts[c+1].to]) && !hasAuxiliary(clauseWords)):
			s.denied |= 1 << c
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
