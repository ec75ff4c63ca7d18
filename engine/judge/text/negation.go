package text

import (
	"cmp"
	"slices"
	"strings"
)

// readNegatedClauses finds the clauses that deny, prohibit or exempt something, or that are conditional or
// hypothetical.
func (s *Stance) readNegatedClauses(words []word) {
	for i, w := range words {
		bit := uint64(1) << w.clause
		if startsCondition(words, i) && (i == 0 || words[i-1].clause != w.clause) {
			s.Conditional |= bit
		}
		if startsHypothetical(words, i) {
			s.Hypothetical |= bit
		}
		if isOneOf(w.text, "but", "instead", "however") ||
			(i > 0 && s.AfterBut&(bit>>1) != 0 && words[i-1].clause != w.clause && !contrastWords[w.text]) {
			s.AfterBut |= bit
		}
		s.readNegativeWord(words, i)
	}
	if words[0].text == "without" && s.Prohibited&^1 != 0 {
		s.Denied &^= 1 // "without an agreement, they will not receive it"
	}
	s.denyRetractedClauses(words)
	s.prohibitDeniedPurposes(words)
	s.limitOtherDenials(words)
	s.markLateAsLimited(words)
	s.markDenialOfPreviousSentence(words)
	s.denyComplementQuestions(words)
	s.endFormerDenials(words)
	// A condition is not a denial: "where MFA is not possible, …".
	s.Denied &^= s.Conditional | s.Hypothetical
	s.prohibitUntilCondition(words)
	s.resolveDoubleNegatives(words)
}

// readNegativeWord interprets the word at i if it negates, limits or ends something.
func (s *Stance) readNegativeWord(words []word, i int) {
	w, next, prev := words[i], wordAt(words, i+1), wordAt(words, i-1)
	bit := uint64(1) << w.clause
	isNegation := negationWords[w.text] || lackWords[w.text] || negatedForms[w.text] != "" || strings.HasSuffix(w.text, "n't")
	switch {
	case isNegation && isInRelativeClause(words, i):
		// "Data that is not public is …" identifies the data.
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
	case isOneOf(w.text, "not", "never", "cannot", "can't"):
		s.readNot(words, i)
	case w.text == "no":
		s.readNo(words, i)
	case isOneOf(w.text, "none", "neither", "nobody", "nothing", "nowhere"):
		s.readNobody(words, i)
	case w.text == "without" && (next == "which" || next == "whom"):
		// "A change without which the service fails" identifies the change.
	case w.text == "without":
		s.readWithout(words, i)
	case isDiscontinued(words, i) && s.Conditional&bit == 0 && !clauseHasModal(words, w.clause) &&
		!clauseHas(words, w.clause, "that", "which", "who", "those"):
		s.Discontinued |= bit
		if first := firstWordOfClause(words, w.clause); w.clause > 0 && (first == w.text || first == "on") {
			s.Discontinued |= bit >> 1 // "log reviews: paused since May"
		}
	case w.text == "few" && !isOneOf(wordAt(words, i-1), "a", "the", "last", "every") && !isOneOf(wordAt(words, i+1), "days", "minutes"):
		s.Rare |= bit
	case isOneOf(w.text, "rarely", "seldom", "hardly", "scarcely", "barely"):
		s.Rare |= bit
	case isOneOf(w.text, "exempt", "exempted") && auxiliaryVerbs[prev] && s.Denied&bit == 0:
		if clauseHas(words, w.clause, "all", "every", "everyone", "everybody") {
			s.Denied |= bit // "all administrators are exempt from it"
			return
		}
		s.Exempt |= bit
	case w.text == "used" && next == "to" && !auxiliaryVerbs[prev] && prev != "be":
		s.Hypothetical |= bit // "the team used to review logs"
	case formerAdverbs[w.text]:
		s.Hypothetical |= bit
		if i == 0 {
			s.Hypothetical |= bit << 1
		}
	case lackWords[w.text]:
		s.readLackWord(words, i)
	case negatedForms[w.text] != "":
		if !clauseHasModal(words, w.clause) && !clauseHasAny(words, w.clause, refusalVerbs) {
			s.Denied |= bit
		}
	case w.text == "yet" && next == "to":
		s.Denied |= bit
	}
}

// readNot interprets the "not", "never", "cannot" or "can't" at i.
func (s *Stance) readNot(words []word, i int) {
	w, next, prev := words[i], wordAt(words, i+1), wordAt(words, i-1)
	bit := uint64(1) << w.clause
	if nonDenyingWords[next] {
		return
	}
	if isOneOf(next, "all", "every", "always") {
		s.Limit = "not " + next
		return
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
	case modalVerbs[prev] || ability || permissionWords[next]:
		s.Prohibited |= bit
	case next == "need" || prev == "need" || (next == "to" || next == "have") && prev == "need" || next == "necessary":
		s.Exempt |= bit // "need not be tested"
	case dataHandlingParticiples[next] && negatesStatementAboutData(words, i):
		s.Prohibited |= bit // "production data is never used for testing"
	case auxiliaryVerbs[prev] || auxiliaryVerbs[wordAt(words, i-2)]:
		s.Denied |= bit
	case next == "applicable":
		s.Limit = "not applicable"
	case w.text == "never" && i > 0 && words[i-1].clause != w.clause && (next == "" || words[i+1].clause != w.clause):
		s.Denied |= bit // "rotation: never"
	case w.text == "never" && !auxiliaryVerbs[prev] && !isPastParticiple(next) && (!pronouns[prev] && prev != "we" || neverRuleVerbs[next]):
		s.Prohibited |= bit
	case w.text == "not" && (isPastParticiple(next) || next == "being") && !pronouns[prev] && !auxiliaryVerbs[prev] &&
		clauseHasOtherVerb(words, i):
		// "Services not exposed to the internet are …" identifies the services.
	case w.text == "not" && isParentheticalNot(words, i):
		// "The partner, not our admins, reads the log" affirms that it is read.
	default:
		s.Denied |= bit
	}
}

// readNo interprets the "no" at i.
func (s *Stance) readNo(words []word, i int) {
	w, next, prev := words[i], wordAt(words, i+1), wordAt(words, i-1)
	bit := uint64(1) << w.clause
	switch {
	case s.IsTableRow && i == 0:
		// "No.: 12; …" is the number of a row.
	case i == 0 && len(words) > 1 && words[1].clause > 0, len(words) == 1:
		s.AnswersNo = true
	case next == "longer" && permissionWords[wordAt(words, i+2)]:
		s.Prohibited |= bit // "shared accounts are no longer permitted"
	case next == "longer" && wordAt(words, i+2) != "than":
		if auxiliaryVerbs[prev] &&
			!clauseHasAny(words, w.clause, subordinators) {
			s.Denied |= bit // "is no longer required"
		} else if !clauseHasAny(words, w.clause, needWords) {
			s.Denied |= bit
		}
	case nonDenyingWords[next]:
	case isNoMoreThan(words, i), deniesConflictingDuties(words, i):
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
		// "Testers who have no part in running it" identifies the testers.
	case prev == "with":
		// "A server with no user data" identifies the server.
	case prev == "or" && (next == "" || words[i+1].clause != w.clause):
		// "Yes, or no." is not a denial.
	case connectionNouns[next] || connectionNouns[wordAt(words, i+2)] && !stopWords[next]:
		s.Prohibited |= bit // "no network path from test to production"
	case reportsNoHarm(words, w.clause):
		// "No customer data was lost." is good news.
	case i > 0 && words[i-1].clause != w.clause && clauseHasAny(words, w.clause-1, protectedStates) &&
		!clauseHasAuxiliaryOrModal(words, w.clause):
		s.Prohibited |= bit // "the branch is protected: no direct pushes"
	case isInClauseAfterEverything(words, i):
		// "Everything that no rule allows is dropped" identifies what is dropped.
	case forbidsDataHandling(words, i):
		s.Prohibited |= bit // "no passwords are stored in source code"
	case isOneOf(next, "exceptions", "exception", "case", "circumstances"):
	case clauseHasModal(words, w.clause):
		s.Prohibited |= bit
	case next != "one" && w.clause > 0 && words[i-1].clause != w.clause && verbs[firstWordOfClause(words, w.clause-1)] &&
		!clauseHasAuxiliaryOrModal(words, w.clause):
		s.Prohibited |= bit // "use the query builder, no secrets in the repository"
	default:
		s.Denied |= bit
		if next == "one" {
			s.DeniedForPeople |= bit
		}
	}
}

// readNobody interprets the "none", "neither", "nobody" or "nothing" at i.
func (s *Stance) readNobody(words []word, i int) {
	w, next, prev := words[i], wordAt(words, i+1), wordAt(words, i-1)
	bit := uint64(1) << w.clause
	switch {
	case w.text == "nobody" && (isNobodyInRelativeClause(words, i) || isInClauseAfterEverything(words, i)):
		// "Accounts nobody used are disabled" affirms that they are disabled.
	case w.text == "nobody" && isSegregationRule(words, i), isNoMoreThan(words, i):
		s.Prohibited |= bit
	case (w.text == "none" || w.text == "nobody") && (clauseHas(words, w.clause, "except", "beyond") ||
		clauseHas(words, w.clause, "other") && clauseHas(words, w.clause, "than")):
		s.Limit = cmp.Or(s.Limit, w.text+" except")
	case w.text == "none" && words[0].text == "for" && (prev == "is" || prev == "are"):
		s.Limit = cmp.Or(s.Limit, "for "+next+" none") // "for the cloud provider there is none"
	default:
		s.Denied |= bit
		if w.text == "none" || w.text == "nobody" {
			s.DeniedForPeople |= bit
		}
	}
}

// readWithout interprets the "without" at i.
func (s *Stance) readWithout(words []word, i int) {
	w, next := words[i], wordAt(words, i+1)
	bit := uint64(1) << w.clause
	before := uint64(0)
	if w.clause > 0 {
		before = bit >> 1
	}
	refused := w.clause > 0 && clauseHasAny(words, w.clause-1, refusalStates)
	if i > 0 && (s.Denied|s.Prohibited)&before != 0 || refused {
		// Two negatives make a rule: "no change goes live without approval".
		s.Denied &^= before
		s.Prohibited |= before | bit
		return
	}
	if int(w.clause)+1 < s.ClauseCount && clauseHas(words, w.clause+1, "could", "might") {
		return // "without it, data could be lost"
	}
	if w.clause > 0 && clauseHas(words, w.clause-1, "may", "can", "could", "might") ||
		clauseHas(words, w.clause, "may", "can", "could", "might", "possible", "allowed", "permitted") {
		if s.Limit == "" {
			s.Limit = "without " + next // an exception that is allowed
		}
	} else if !harmlessAfterWithout[next] && !harmlessAfterWithout[wordAt(words, i+2)] && s.Denied|s.Prohibited == 0 &&
		!clauseHas(words, w.clause, "prohibited", "forbidden", "blocked", "rejected", "refused") && !isQualifyingWithout(words, i) {
		s.Denied |= bit
	}
}

// readLackWord interprets a word such as "lacks", "missing" or "fails" at i.
func (s *Stance) readLackWord(words []word, i int) {
	w, next, prev := words[i], wordAt(words, i+1), wordAt(words, i-1)
	bit := uint64(1) << w.clause
	// "Looks for missing entries" is not a denial.
	if (w.text == "missing" || strings.HasPrefix(w.text, "fail") && next != "to") && !auxiliaryVerbs[prev] ||
		(w.text == "absence" || w.text == "lack") && prev == "the" && wordAt(words, i-2) == "in" ||
		w.text == "absence" && next != "of" {
		return
	}
	if !clauseHasModal(words, w.clause) && s.Conditional&bit == 0 {
		s.Denied |= bit
	}
}

// markDenialOfPreviousSentence detects that a sentence denies the previous one: "this is not yet enforced".
func (s *Stance) markDenialOfPreviousSentence(words []word) {
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
			if pronouns[wordAt(words, first)] && clauseHas(words, w.clause, retractionWords...) && !startsWithIsNotTheCase(words[first:]) {
				s.RefersBack = true
			}
		}
	}
}

// resolveDoubleNegatives turns two negatives in one clause into a prohibition: "no change goes live without
// approval".
func (s *Stance) resolveDoubleNegatives(words []word) {
	for c := range s.ClauseCount {
		n := 0
		for i, w := range words {
			switch {
			case int(w.clause) != c, w.text == "no" && wordAt(words, i+1) == "longer": // "rights no longer needed"
			case negationWords[w.text] || negatedForms[w.text] != "" || strings.HasSuffix(w.text, "n't"):
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

var (
	subordinators = wordSet("that which who whose if when where once as until because whether they it what whatever")
	// needWords are words after which a "no longer" only describes a thing: "rights no longer needed".
	needWords     = wordSet("need needs needed require requires required necessary employed works valid used supported maintained patched")
	refusalStates = wordSet(
		"refuses refuse refused rejects reject rejected blocks blocked stops stopped prevents prevented impossible prohibited forbidden",
	)
)
