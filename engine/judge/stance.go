package judge

import (
	"slices"
	"strings"
)

// stance is how a sentence says what it says. Clause masks hold a bit for each
// clause of the sentence, so that "A is done, but B is not" denies B alone.
type stance struct {
	denied      uint64 // clauses that say something is not so
	absent      uint64 // of these, those that lack nothing: "no incidents occurred"
	prohibited  uint64 // clauses that forbid something
	conditional uint64 // clauses that only suppose it
	unreal      uint64 // clauses that say what would have been
	exempt      uint64 // clauses that tell what a rule or document does not reach
	instead     uint64 // clauses behind a "but"
	over        uint64 // clauses that say that something was given up
	seldom      uint64 // clauses that say that something hardly happens
	pronoun     bool   // begins with "this", "they" …
	backward    bool   // a denied or planned clause speaks of what went before ("it is not enforced")
	plan        string // the words that put it in the future
	template    string // the blank that nobody filled
	hedge       string // the word that makes it a wish
	limit       string // the words that narrow it
	fewer       bool   // these tell for which share of all it is so
	still       bool   // says that something is there that may have had to go
	strong      bool   // must, shall, is required
	question    bool
	instruction bool // tells the reader of evidence what to conclude
	purpose     bool // says what a document is for, not what is done
	elsewhere   bool // says whom to ask
	definition  bool
	reference   bool // points elsewhere
	fragment    bool // has no verb: a heading, an entry of a list of contents
	happened    bool // tells what was done, as records do
	answersNo   bool // "No" under a question or in a status column
	answersYes  bool
	row         bool   // of a table, as "Name: value; Name: value"
	nobody      uint64 // denied clauses that say of people alone that they don't
	clauses     int
}

var (
	conditionals = wordSet("if where when whenever unless until should once before whether provided while")
	contrasts    = wordSet("but however although though whereas because who which whoever")
	relative     = wordSet("who which whose whom that whoever")
	auxiliaries  = wordSet("is are was were be been being has have had does do did am")
	modals       = wordSet("must shall should may might can could will would cannot can't")
	pronouns     = wordSet("this it that these those they such here both neither")
	hedges       = wordSet("should ought may might could recommended encouraged optional optionally ideally preferably advised discretion voluntary")
	// Words after "no" or "not" that don't deny.
	comparatives = wordSet("later other less more fewer longer than only limited exceed exceeding necessarily just merely otherwise")
	// What "without" may stand before in a rule.
	harmlessWithout = wordSet("delay undue exception exceptions interruption limitation prejudice notice unnecessary unreasonable fail")
	lacking         = wordSet("lack lacks lacking lacked absence absent missing fails failed fail unable insufficient incomplete inadequate nonexistent")
	negatives       = wordSet("not never no none neither nobody nothing cannot without nor")
	uninvolved      = wordSet("part role hand stake interest share")
	// What one says of oneself with "never" as a rule: "they never leave the vault".
	banned    = wordSet("permitted allowed acceptable accepted tolerated")
	neverDone = wordSet("leave share reuse expose store send copy appear contain include disclose transmit carry embed sell")
	undone    = map[string]string{"unencrypted": "encrypt", "untested": "test", "undocumented": "document", "unpatched": "patch",
		"unreviewed": "review", "unmonitored": "monitor", "untrained": "train", "unapproved": "approve", "unclassified": "classify",
		"unmanaged": "manage", "unprotected": "protect", "unassigned": "assign", "unrestricted": "restrict"}
)

// With these, "it is not …" takes back what was said before.
var undoing = []string{"yet", "currently", "enforced", "implemented", "done", "place", "followed", "happening", "happened", "case", "exist",
	"available", "performed", "completed", "active", "true", "practice", "practised", "practiced", "applied", "met", "operational", "working", "started", "begun"}

// read finds the stance of a sentence. text is the sentence, words its words, whose
// clauses it sets; today is empty where unknown.
func read(text string, words []word, year int) stance {
	s := stance{clauses: cutClauses(text, words)}
	if len(words) == 0 {
		s.fragment = true
		return s
	}
	s.row = isRow(text)
	s.pronoun = pronouns[words[0].text]
	if i := strings.IndexByte(text, '?'); i >= 0 && supposing(text[:i+1], text[i+1:]) {
		s.conditional |= 1 // "Lost it? Tell us."
	}
	readNegation(&s, words)
	s.readAbsent(words)
	whole := s.denied&^s.absent == 0
	relate(&s, words)
	if s.unreal&2 != 0 && titled(text, words) {
		s.unreal |= 1
	}
	readModality(&s, text, words)
	labels := spreadDenial(&s, text, words)
	if whole {
		s.absent = s.denied
	}
	readPatterns(&s, text, words, year)
	s.spreadOver(words)
	s.fragment = s.fragment || !labels && !hasVerb(words) && !closes(text, words) || !labels && !s.row && keywords(text, words)
	return s
}

const leastEnded = 4 // words

// closes: what closes with a full stop is a sentence, also where its verb is none of the
// field's ("the CEO answers to the board"). Dots that lead to a page number are none.
func closes(text string, words []word) bool {
	text = strings.TrimRight(text, "*_\"'”) ")
	return len(words) >= leastEnded && (strings.HasSuffix(text, ".") || strings.HasSuffix(text, "!")) && !strings.HasSuffix(text, "..")
}

const leastKeywords = 8 // words

// keywords: words between commas that nothing makes a sentence of.
func keywords(text string, words []word) bool {
	if len(words) < leastKeywords || hasAuxiliary(words) || verbs[words[0].text] || 4*strings.Count(text, ",") < len(words) {
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

func at(words []word, i int) string {
	if i < 0 || i >= len(words) {
		return ""
	}
	return words[i].text
}

// unreal: "would have prevented it", "could not have been" begin here; "would have to" doesn't.
func unreal(words []word, i int) bool {
	switch words[i].text {
	case "meant", "supposed":
		return past[at(words, i-1)] && at(words, i+1) == "to" // what should have been
	case "would", "could", "might", "wouldn't", "couldn't":
	default:
		return false
	}
	if at(words, i+1) == "not" || at(words, i+1) == "also" {
		i++
	}
	return at(words, i+1) == "have" && at(words, i+2) != "to"
}

func readNegation(s *stance, words []word) {
	for i, w := range words {
		bit := uint64(1) << w.clause
		if supposes(words, i) && (i == 0 || words[i-1].clause != w.clause) {
			s.conditional |= bit
		}
		if unreal(words, i) {
			s.unreal |= bit
		}
		if w.text == "but" || w.text == "instead" || w.text == "however" || (i > 0 && s.instead&(bit>>1) != 0 && words[i-1].clause != w.clause && !contrasts[w.text]) {
			s.instead |= bit
		}
		next, prev := at(words, i+1), at(words, i-1)
		switch {
		case exempts(words, i):
			s.exempt |= bit
			s.limit = "not apply"
		case strings.HasSuffix(w.text, "n't") && w.text != "can't":
			if strings.HasPrefix(w.text, "must") || strings.HasPrefix(w.text, "should") || w.text == "won't" {
				s.prohibited |= bit
			} else if w.text == "don't" && orders(words, i) {
				s.prohibited |= bit
			} else {
				s.denied |= bit
			}
		case w.text == "not" || w.text == "never" || w.text == "cannot" || w.text == "can't":
			if comparatives[next] {
				continue
			}
			if next == "all" || next == "every" || next == "always" {
				s.limit = "not " + next
				continue
			}
			ability := w.text == "cannot" || w.text == "can't" || prev == "can" || prev == "could"
			now := clauseHas(words, w.clause, "yet", "currently", "presently", "today")
			switch {
			case keptFrom(words, i):
				s.prohibited |= bit
			case asksWhich(words, i), contrasted(words, i), defines(words, i):
				// "What did not", "reports to X and does not report to Y", "are not vendors in the sense of …".
			case next == "yet" || now || prev == "far":
				s.denied |= bit
			case prev == "do" && orders(words, i-1), auxiliaries[prev] && next == "to" && at(words, i+2) == "be":
				s.prohibited |= bit // "documents are not to be left behind"
			case next == "one" && slices.ContainsFunc(words[i:], func(w word) bool { return w.text == "before" || w.text == "without" }):
				s.prohibited |= bit // "not one had gone live before approval"
			case ofSubject(words, i):
				// "Staff who do not complete it lose their access" says who.
			case modals[prev] || ability || banned[next]:
				s.prohibited |= bit
			case next == "need" || prev == "need" || (next == "to" || next == "have") && prev == "need" || next == "necessary":
				s.exempt |= bit // "need not be tested"
			case saysWhich(words, i), restricts(words, i):
				// "Data that is not public is …", "accounts which have not been used are …"
			case handling[next] && ofData(words, i):
				s.prohibited |= bit // "production data is never used for testing"
			case auxiliaries[prev] || auxiliaries[at(words, i-2)]:
				s.denied |= bit
			case next == "applicable":
				s.limit = "not applicable"
			case w.text == "never" && !auxiliaries[prev] && !participle(next) && (!pronouns[prev] && prev != "we" || neverDone[next]):
				s.prohibited |= bit
			case w.text == "not" && (participle(next) || next == "being") && !pronouns[prev] && !auxiliaries[prev] && clauseHasOther(words, i):
				// "Services not exposed to the internet are …" says which.
			case w.text == "not" && aside(words, i):
				// "The partner, not our admins, reads the log" says that it is read.
			default:
				s.denied |= bit
			}
		case w.text == "no":
			switch {
			case s.row && i == 0:
				// The number of a row: "No.: 12; …".
			case i == 0 && len(words) > 1 && words[1].clause > 0, len(words) == 1:
				s.answersNo = true
			case next == "longer" && banned[at(words, i+2)]:
				s.prohibited |= bit // "shared accounts are no longer permitted"
			case next == "longer" && at(words, i+2) != "than":
				if auxiliaries[prev] && !clauseHas(words, w.clause, "that", "which", "who", "whose", "if", "when", "where", "once", "as", "until", "because", "whether", "they", "it", "what", "whatever") {
					s.denied |= bit // "is no longer required"
				} else if !clauseHas(words, w.clause, "need", "needs", "needed", "require", "requires", "required", "necessary", "employed", "works", "valid", "used", "supported", "maintained", "patched") {
					s.denied |= bit
				}
			case comparatives[next]:
			case hasMoreThan(words, i), keptApart(words, i):
				s.prohibited |= bit // "no user has more rights than the post needs"
			case next == "one" && at(words, i+2) == "other":
				s.prohibited |= bit
			case words[0].text == "without" && w.clause > 0:
				s.prohibited |= bit | 1 // "without a badge, no one is admitted"
			case next == "one" && !auxiliaries[prev] && keepsApart(words, i+1):
				s.prohibited |= bit
			case clauseHas(words, w.clause, "beyond"):
				s.limit = "no " + next + " beyond" // "has no rights beyond the base role"
			case uninvolved[next] && relative[firstOfClause(words, w.clause)]:
				// "Testers who have no part in running it" says who.
			case prev == "with":
				// "A server with no user data" says which.
			case prev == "or" && (next == "" || words[i+1].clause != w.clause):
				// "Yes, or no."
			case separating[next] || separating[at(words, i+2)] && !stopWords[next]:
				s.prohibited |= bit // "no network path from test to production"
			case unharmed(words, w.clause):
				// "No customer data was lost."
			case i > 0 && words[i-1].clause != w.clause && clauseSome(words, w.clause-1, func(w string) bool { return shielded[w] }) && !clauseHasVerb(words, w.clause):
				s.prohibited |= bit // "the branch is protected: no direct pushes"
			case allBut(words, i):
				// "Everything that no rule allows is dropped" says what.
			case next == "exceptions" || next == "exception" || next == "case" || next == "circumstances":
			case clauseHasModal(words, w.clause):
				s.prohibited |= bit
			case next != "one" && w.clause > 0 && words[i-1].clause != w.clause && verbs[firstOfClause(words, w.clause-1)] && !clauseHasVerb(words, w.clause):
				s.prohibited |= bit // "use the query builder, no secrets in the repository"
			default:
				s.denied |= bit
				if next == "one" {
					s.nobody |= bit
				}
			}
		case w.text == "nobody" && (describes(words, i) || allBut(words, i)):
			// "Accounts nobody used are disabled" says that they are.
		case w.text == "nobody" && keepsApart(words, i):
			s.prohibited |= bit
		case (w.text == "none" || w.text == "nobody") && (clauseHas(words, w.clause, "except", "beyond") || clauseHas(words, w.clause, "other") && clauseHas(words, w.clause, "than")):
			s.limit = firstOf(s.limit, w.text+" except")
		case w.text == "none" && words[0].text == "for" && (prev == "is" || prev == "are"):
			s.limit = firstOf(s.limit, "for "+next+" none") // "for the cloud provider there is none"
		case w.text == "none" && auxiliaries[prev] && relative[at(words, i-2)]:
			// "A phone that has none is refused."
		case w.text == "none" || w.text == "neither" || w.text == "nobody" || w.text == "nothing":
			s.denied |= bit
			if w.text == "none" || w.text == "nobody" {
				s.nobody |= bit
			}
		case w.text == "without" && (next == "which" || next == "whom"):
			// "A change without which the service fails" says which.
		case w.text == "without":
			before := uint64(0)
			if w.clause > 0 {
				before = bit >> 1
			}
			refused := w.clause > 0 && clauseHas(words, w.clause-1, "refuses", "refuse", "refused", "rejects", "reject", "rejected", "blocks", "blocked", "stops", "stopped", "prevents", "prevented", "impossible", "prohibited", "forbidden")
			if i > 0 && (s.denied|s.prohibited)&before != 0 || refused {
				// Two negatives make a rule: "no change goes live without approval".
				s.denied &^= before
				s.prohibited |= before | bit
				continue
			}
			if int(w.clause)+1 < s.clauses && clauseHas(words, w.clause+1, "could", "might") {
				continue // what might happen without it
			}
			if w.clause > 0 && clauseHas(words, w.clause-1, "may", "can", "could", "might") || clauseHas(words, w.clause, "may", "can", "could", "might", "possible", "allowed", "permitted") {
				if s.limit == "" {
					s.limit = "without " + next // an exception that is allowed
				}
			} else if !harmlessWithout[next] && !harmlessWithout[at(words, i+2)] && s.denied|s.prohibited == 0 && !clauseHas(words, w.clause, "prohibited", "forbidden", "blocked", "rejected", "refused") && !subjectWithout(words, i) {
				s.denied |= bit
			}
		case ended(words, i) && s.conditional&bit == 0 && !clauseHasModal(words, w.clause) && !clauseHas(words, w.clause, "that", "which", "who", "those"):
			s.over |= bit
			if first := firstOfClause(words, w.clause); w.clause > 0 && (first == w.text || first == "on") {
				s.over |= bit >> 1 // "log reviews: paused since May"
			}
		case w.text == "few" && at(words, i-1) != "a" && at(words, i-1) != "the" && at(words, i-1) != "last" && at(words, i-1) != "every" && at(words, i+1) != "days" && at(words, i+1) != "minutes":
			s.seldom |= bit
		case w.text == "rarely" || w.text == "seldom" || w.text == "hardly" || w.text == "scarcely" || w.text == "barely":
			s.seldom |= bit
		case w.text == "exempt" && auxiliaries[prev] && s.denied&bit == 0:
			s.exempt |= bit
		case w.text == "used" && next == "to" && !auxiliaries[prev] && prev != "be":
			s.unreal |= bit // what was once
		case former[w.text]:
			s.unreal |= bit
			if i == 0 {
				s.unreal |= bit << 1
			}
		case lacking[w.text]:
			// "Looks for missing entries" misses nothing.
			if relative[prev] && i <= maxSubjectName && strings.HasPrefix(w.text, "fail") && len(words) > i+leastBehind {
				continue // "visitors who fail to show it are refused"
			}
			if (w.text == "missing" || strings.HasPrefix(w.text, "fail") && next != "to") && !auxiliaries[prev] || (w.text == "absence" || w.text == "lack") && prev == "the" && at(words, i-2) == "in" || w.text == "absence" && next != "of" {
				continue
			}
			if !clauseHasModal(words, w.clause) && s.conditional&bit == 0 {
				s.denied |= bit
			}
		case undone[w.text] != "":
			if !clauseHasModal(words, w.clause) && !clauseSome(words, w.clause, func(w string) bool { return refusing[w] }) {
				s.denied |= bit
			}
		case w.text == "yet" && next == "to":
			s.denied |= bit
		}
	}
	if words[0].text == "without" && s.prohibited&^1 != 0 {
		s.denied &^= 1 // "without an agreement, they will not receive it"
	}
	s.takeBack(words)
	s.soThat(words)
	s.toOthers(words)
	s.tooLate(words)
	for i, w := range words {
		bit := uint64(1) << w.clause
		if (i == 0 || words[i-1].clause != w.clause) && (s.denied|s.prohibited)&bit != 0 && s.denied&bit != 0 {
			first := i
			for contrasts[at(words, first)] || at(words, first) == "and" || at(words, first) == "currently" {
				first++
			}
			if at(words, first) == "in" && (at(words, first+1) == "practice" || at(words, first+1) == "reality") {
				first += 2
			}
			if pronouns[at(words, first)] && clauseHas(words, w.clause, undoing...) && !notTheCase(words[first:]) {
				s.backward = true
			}
		}
	}
	// What is only supposed isn't denied: "where MFA is not possible, …".
	s.denied &^= s.conditional | s.unreal
	s.onlyAfter(words)
	// Two negatives in a clause make a rule: "no change goes live without approval".
	for c := range s.clauses {
		n := 0
		for i, w := range words {
			switch {
			case int(w.clause) != c, w.text == "no" && at(words, i+1) == "longer": // "rights no longer needed"
			case negatives[w.text] || undone[w.text] != "":
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

// takeBack: "there is none yet" at the end of a sentence denies what went before in it, and so does
// "but there are no rules for it".
func (s *stance) takeBack(words []word) {
	for i, w := range words {
		if w.text == "there" && w.clause > 0 && at(words, i+2) == "no" && s.denied&(1<<w.clause) != 0 && ofIt(words[i+3:], w.clause) {
			s.denied |= 1<<w.clause - 1
			return
		}
	}
	last := words[len(words)-1].clause
	if last == 0 || s.denied&(1<<last) == 0 || !clauseHas(words, last, "none") || firstOfClause(words, last) != "there" {
		return
	}
	if own := slices.IndexFunc(words, func(w word) bool { return w.clause == last }); len(words)-own <= maxNone {
		s.denied |= 1<<last - 1
	}
}

const maxNone = 6 // words of "there is none yet"

// ofIt: words of a clause speak of what was said before: "rules for it", "procedure on this".
func ofIt(words []word, clause uint8) bool {
	for i, w := range words {
		if w.clause != clause || i > maxNone {
			return false
		}
		if next := at(words, i+1); prepositions[w.text] && (next == "it" || next == "this" || next == "that" || next == "them") {
			return !nounBehind(words, i+1)
		}
	}
	return false
}

// nounBehind: the "this" or "that" at i has its noun behind it, "for this purpose".
func nounBehind(words []word, i int) bool {
	next := at(words, i+1)
	return words[i].text != "it" && words[i].text != "them" && next != "" && words[i+1].clause == words[i].clause && !stopWords[next] && next != "yet" && next != "far"
}

// notTheCase: "it is not the case that …" goes on with what it denies, and takes nothing back.
func notTheCase(words []word) bool {
	return at(words, 2) == "not" && at(words, 4) == "case" && at(words, 5) == "that"
}

// exempts: the negation at i tells what a rule or document does not reach: "it does not apply to …", "this
// plan does not cover …". "We do not apply patches" and "backups do not cover laptops" deny.
func exempts(words []word, i int) bool {
	w := words[i].text
	if w != "not" && w != "doesn't" && w != "don't" {
		return false
	}
	if after := at(words, i+2); at(words, i+1) == "covered" && (after == "here" || (after == "by" || after == "in") && at(words, i+3) == "this") {
		return true
	}
	if next := at(words, i+1); next == "cover" || next == "address" || next == "extend" {
		for k := i - 1; k >= 0 && k >= i-3; k-- {
			if documentNouns()[conceptID(words[k].text)] {
				return at(words, k-1) == "this" || at(words, k-1) == "the"
			}
		}
		return false
	} else if next != "apply" {
		return false
	}
	if after := at(words, i+3); after == "any" || after == "anyone" || after == "anybody" || after == "all" || after == "everyone" {
		return false // nobody is left
	}
	switch at(words, i+2) {
	case "to", "for", "in", "where", "when", "if", "outside", "":
		return true
	}
	return false
}

// onlyAfter makes a rule of a denial that ends with what it waits for: "nobody gets an
// account before the form is signed", "no data leaves unless it has been encrypted".
func (s *stance) onlyAfter(words []word) {
	for i := 1; i < len(words); i++ {
		w := words[i]
		before := uint64(1) << words[i-1].clause
		if (w.text == "before" || w.text == "until" || w.text == "unless") && s.denied&1 != 0 && w.clause > 1 && saysWho(words) && clauseHasParticiple(words, w.clause) {
			s.denied &^= 1 // "no supplier who holds data, or who connects to us, is signed before …"
			s.prohibited |= 1
		}
		if words[i-1].clause == w.clause || s.denied&before == 0 || clauseHas(words, words[i-1].clause, "yet", "currently") {
			continue
		}
		subject := s.nobody&before != 0 || saysNone(words, words[i-1].clause)
		// "No tests before release" is a denial: what it waits for has to be an event. So is that no assessment was
		// carried out before the system was introduced.
		tells := clauseHas(words, words[i-1].clause, "was", "were") && safeguarding(words, words[i-1].clause, 0)
		if subject && !tells && (w.text == "before" || w.text == "until" || w.text == "unless") && clauseHasParticiple(words, w.clause) {
			s.denied &^= before
			s.prohibited |= before
			s.andNo(words, words[i-1].clause)
		}
		// "Data under legal hold is not deleted until counsel lifts it."
		if (w.text == "until" || w.text == "unless") && notDone(words, words[i-1].clause) && happens(words[i:]) {
			s.denied &^= before
			s.prohibited |= before
		}
	}
}

var (
	// handling is what is done with data that had better not be; dataWords are what it is done with.
	handling  = wordSet("used copied sent shared transferred taken entered published pasted uploaded emailed e-mailed exported carried disclosed sold passed")
	dataWords = wordSet("data information documents files copies credentials passwords secrets")
)

// ofData: the "not" at i says of data, or of "them", what is not done with it, today.
func ofData(words []word, i int) bool {
	if prev := at(words, i-1); prev != "is" && prev != "are" {
		return false
	}
	return i == 2 && pronouns[words[0].text] && at(words, i+1) != "used" || slices.ContainsFunc(words[:i], func(w word) bool { return dataWords[w.text] })
}

// saysWho: words begin with "no supplier who …".
func saysWho(words []word) bool {
	return words[0].text == "no" && slices.ContainsFunc(words[:min(len(words), maxSubjectName+1)], func(w word) bool { return relative[w.text] })
}

// happens: words tell of an event ("counsel lifts the hold"), not of a date.
func happens(words []word) bool {
	return hasVerb(words) || slices.ContainsFunc(words[:max(0, len(words)-1)], func(w word) bool {
		next := slices.IndexFunc(words, func(o word) bool { return o.start > w.start })
		return next > 2 && strings.HasSuffix(w.text, "s") && determiners[words[next].text]
	})
}

// notDone: a clause has "is not deleted", "are not opened".
func notDone(words []word, clause uint8) bool {
	for i, w := range words {
		if prev := at(words, i-1); w.clause == clause && w.text == "not" && (prev == "is" || prev == "are") && participle(at(words, i+1)) {
			return true
		}
	}
	return false
}

// saysNone: a clause begins with "no …" or "and no …".
func saysNone(words []word, clause uint8) bool {
	i := slices.IndexFunc(words, func(w word) bool { return w.clause == clause })
	if first := at(words, i); first == "and" || first == "or" || first == "nor" {
		i++
	}
	return at(words, i) == "no"
}

// andNo takes into a rule what "and no …" joins it to: "no data is sent and no account is opened before …".
func (s *stance) andNo(words []word, clause uint8) {
	for ; clause > 0; clause-- {
		before := uint64(1) << (clause - 1)
		if !saysNone(words, clause) || s.denied&before == 0 || !saysNone(words, clause-1) {
			return
		}
		s.denied &^= before
		s.prohibited |= before
	}
}

// orders tells whether the word at i begins an order: "don't share passwords" is a rule.
// "Don't have any" leaves out who doesn't.
func orders(words []word, i int) bool {
	for i > 0 && words[i-1].clause == words[i].clause && (words[i-1].text == "and" || words[i-1].text == "or" || words[i-1].text == "please" || words[i-1].text == "so") {
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

// allBut: the "no" or "nobody" at i tells of what little is left out of all: "everything that no rule
// allows is dropped", "anything which nobody ordered".
func allBut(words []word, i int) bool {
	if prev := at(words, i-1); prev != "that" && prev != "which" {
		return false
	}
	for k := i - 2; k >= 0 && k >= i-maxAllBut; k-- {
		switch words[k].text {
		case "everything", "anything", "all", "any", "whatever":
			return true
		}
	}
	return false
}

const maxAllBut = 8 // words back to the "everything"

// aside: the "not" at i opens words between commas that only name who else it could have been.
func aside(words []word, i int) bool {
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
	return n <= 4 && !participle(at(words, i+1)) && !clauseHas(words, c, "yet", "currently")
}

// describes: the "nobody" at i only describes the noun before it, and the clause goes on
// with a verb of that noun.
func describes(words []word, i int) bool {
	if i == 0 || words[i-1].clause != words[i].clause || len(words[i-1].text) < 3 || stopWords[words[i-1].text] || auxiliaries[words[i-1].text] || isVerb(words[i-1]) && i == 1 {
		return false
	}
	for k := i + 2; k < len(words) && words[k].clause == words[i].clause; k++ {
		if auxiliaries[words[k].text] || modals[words[k].text] {
			return true
		}
	}
	return false
}

// relate lets a relative clause share the denial of what it describes: "there is no
// server to which logs are sent". So does the reason for it: "… was not held, because the owner was on leave".
func relate(s *stance, words []word) {
	for i := 1; i < len(words); i++ {
		w := words[i]
		if (w.text == "which" || w.text == "who" || w.text == "whom" || w.text == "whose" || w.text == "because") && w.clause > 0 && words[i-1].clause != w.clause && s.denied&(1<<(w.clause-1)) != 0 {
			s.denied |= 1 << w.clause
		}
	}
}

// participle: "never done", "never tested".
func participle(w string) bool {
	return strings.HasSuffix(w, "ed") || w == "done" || w == "held" || w == "made" || w == "run" || w == "been" || w == "taken" || w == "kept" || w == "written" || w == "set" || w == "sent" || w == "given" || w == "shown" || w == "seen" || w == "paid" || w == "met"
}

// spreadDenial lets what has no verb of its own share the denial beside it: a label
// ("Log review: nobody does it") and the members of an enumeration ("we don't encrypt
// laptops, phones"). A label shares it even where it is a word that can be a verb. It
// tells whether a label is denied. Rows are left alone: their cells are clauses.
func spreadDenial(s *stance, text string, words []word) (label bool) {
	if s.row || s.denied == 0 {
		return false
	}
	type part struct{ from, to int }
	parts := make([]part, s.clauses)
	for i, w := range words {
		if i == 0 || words[i-1].clause != w.clause {
			parts[w.clause].from = i
		}
		parts[w.clause].to = i + 1
	}
	bare := func(c int) bool {
		own := words[parts[c].from:parts[c].to]
		return len(own) > 0 && !hasVerb(own) && !contrasts[own[0].text] && !supposes(words, parts[c].from) && own[0].text != "only" && own[0].text != "without"
	}
	for c := 1; c < s.clauses; c++ {
		gap := text[words[parts[c].from-1].end:words[parts[c].from].start]
		// What follows a relative clause goes on with the sentence around it.
		if s.denied&(1<<(c-1)) != 0 && s.denied&(1<<c) == 0 && strings.TrimSpace(gap) == "," && bare(c) && !relative[words[parts[c-1].from].text] {
			s.denied |= 1 << c
		}
	}
	for c := s.clauses - 2; c >= 0; c-- {
		if s.denied&(1<<(c+1)) == 0 || s.denied&(1<<c) != 0 || relative[words[parts[c+1].from].text] {
			continue
		}
		gap := strings.TrimSpace(text[words[parts[c+1].from-1].end:words[parts[c+1].from].start])
		own := words[parts[c].from:parts[c].to]
		switch {
		case gap == ":" && c == 0 && len(own) <= 8 && !hasAuxiliary(own):
			s.denied |= 1
			s.nobody |= s.nobody >> 1 & 1
			label = true
		case gap == "," && (bare(c) || enumerates(words[parts[c+1].from:parts[c+1].to]) && !hasAuxiliary(own)):
			s.denied |= 1 << c
		}
	}
	return label
}

// enumerates: a clause ends an enumeration of subjects ("… and phones are not scanned").
func enumerates(clause []word) bool {
	for i, w := range clause {
		switch {
		case auxiliaries[w.text] || modals[w.text] || contrasts[w.text]:
			return false
		case w.text == "and" || w.text == "or":
			return i <= 3
		}
	}
	return false
}
