package judge

import (
	"slices"
	"strings"
)

// ended: the word at i says that something was done once and is no more: "we stopped reviewing logs",
// "the reviews have been discontinued", "the project is on hold".
func ended(words []word, i int) bool {
	w, next, k := words[i].text, at(words, i+1), i-1
	for strings.HasSuffix(at(words, k), "ly") || at(words, k) == "now" {
		k--
	}
	before := at(words, k)
	if w == "stopped" && next == "by" {
		return false // an attack, by the firewall
	}
	switch w {
	case "stopped", "ceased", "discontinued", "abandoned", "paused", "suspended", "cancelled", "canceled", "quit":
		return auxiliaries[before] || before == "we" || before == "they" || i > 0 && words[i-1].clause != words[i].clause ||
			(w == "stopped" || w == "ceased") && (next == "" || next == "in" || next == "since" || next == "on")
	case "decided": // … against penetration tests
		return next == "against"
	case "ignored", "neglected", "overlooked":
		return (auxiliaries[before] || inPart[at(words, i-1)]) && !clauseHas(words, words[i].clause, "if", "not", "never", "or")
	case "abolished":
		return auxiliaries[before]
	case "disabled", "deactivated", "withdrawn":
		return past[before] // "leavers' accounts are disabled" is a rule
	case "deferred", "postponed", "shelved":
		return auxiliaries[before] && !clauseHasModal(words, words[i].clause)
	case "switched", "turned", "given":
		return past[before] && (next == "off" || next == "up")
	case "put": // … off
		return next == "off" && (past[before] || before == "and")
	case "hold":
		far := at(words, k-1)
		return before == "on" && (k == 0 || words[k-1].clause != words[k].clause || auxiliaries[far] || holding[far] || clauseHas(words, words[i].clause, "put"))
	}
	return false
}

// saysWhich: the negation at i belongs to a side clause that only says which things are meant, and the
// sentence goes on: "systems that are not managed are blocked". "We ensure that it is not lost" is none.
func saysWhich(words []word, i int) bool {
	subject := 0
	for k := i - 1; k >= 0 && k >= i-4 && words[k].clause == words[i].clause; k-- {
		switch words[k].text {
		case "which", "who":
			return false // after a comma or a noun; told by its own clause
		case "that":
			before := at(words, k-1)
			// "With keys that the provider does not hold" says which keys; "systems that staff use are not patched" denies.
			whose := subject == 0 || subject == 2 && determiners[at(words, k+1)] ||
				subject == 1 && at(words, i-1) == "does" && !strings.HasSuffix(at(words, k+1), "s") // a name, not the verb of "that leaves"
			return k > 0 && whose && !saysThat[stemOf(before)] && before != "so" && before != "is" && before != "note" && before != "fact" && before != "rule" && before != "case"
		}
		if !auxiliaries[words[k].text] && !strings.HasSuffix(words[k].text, "ly") {
			if subject++; k == i-1 {
				return false
			}
		}
	}
	return false
}

// ofSubject: the negation at i tells who or what the subject of a sentence is, and the sentence goes on: "staff who
// do not complete the training lose their access". "We have staff who do not" denies.
func ofSubject(words []word, i int) bool {
	k := i - 1
	for k >= 0 && (auxiliaries[words[k].text] || strings.HasSuffix(words[k].text, "ly")) {
		k--
	}
	if k < 1 || k > maxSubjectName || !relative[words[k].text] || hasVerb(words[:k]) || words[0].text == "we" {
		return false
	}
	if i-1 > k && past[words[i-1].text] || at(words, i-1) == "did" || at(words, i-1) == "had" {
		return false
	}
	return len(words) > i+leastBehind && words[len(words)-1].clause >= words[i].clause && words[k-1].end+1 == words[k].start
}

const (
	maxSubjectName = 4 // words of a subject
	leastBehind    = 4 // words that a sentence goes on with
)

// keepsApart: the "nobody" that ends at i is a rule on who does what: "nobody approves their own request",
// "nobody who runs production has rights in the backup". "Nobody who joined was trained" tells what was.
func keepsApart(words []word, i int) bool {
	next := at(words, i+1)
	if next == "who" {
		return !slices.ContainsFunc(words[i+2:], func(w word) bool { return past[w.text] || w.text == "had" || strings.HasSuffix(w.text, "ed") })
	}
	return !auxiliaries[next] && clauseHas(words, words[i].clause, "own", "same", "alone", "else", "themselves", "himself", "herself", "must", "may", "shall", "hand", "manually")
}

// keptFrom: the "not" at i says who has no access: "suppliers do not receive VPN access".
func keptFrom(words []word, i int) bool {
	subject, verb := at(words, i-2), at(words, i+1)
	if at(words, i-1) != "do" && at(words, i-1) != "does" || verb != "receive" && verb != "get" && verb != "have" && verb != "hold" {
		return false
	}
	return subject != "" && subject != "we" && !pronouns[subject] && clauseHas(words, words[i].clause, "access", "rights", "permissions", "privileges") && !clauseHas(words, words[i].clause, "yet", "currently")
}

// asksWhich: the negation at i stands in words that only name a question: "what went well and what did not".
// "What lengths are allowed is not laid down" denies.
func asksWhich(words []word, i int) bool {
	switch firstOfClause(words, words[i].clause) {
	case "what", "why", "how", "whether":
		prev := at(words, i-1)
		return words[i].clause > 0 || i+1 == len(words) || prev == "do" || prev == "does" || prev == "did"
	}
	return false
}

// contrasted: the "not" at i goes on with the same subject and the verb that stood before, of another thing:
// "reports to the chief executive and does not report to engineering"; or it names that thing alone: "covers our
// repositories, and not private ones".
func contrasted(words []word, i int) bool {
	prev := at(words, i-1)
	if (prev == "and" || prev == "but") && i > 1 {
		for k := i + 1; k < len(words) && words[k].clause == words[i].clause; k++ {
			if w := words[k]; auxiliaries[w.text] || modals[w.text] || participle(w.text) || verbs[w.text] || isVerb(w) {
				return false
			}
		}
		return hasVerb(words[:i-1]) && at(words, i+1) != "" && at(words, i+1) != "yet"
	}
	if before := at(words, i-2); !auxiliaries[prev] || before != "and" && before != "but" {
		return false
	}
	verb := at(words, i+1)
	if verb == "" || generally[verb] || participle(verb) {
		return false
	}
	return slices.ContainsFunc(words[:i-2], func(w word) bool { return w.stem == stemOf(verb) })
}

// defines: the "not" at i tells what a word means: "libraries are not vendors in the sense of this policy".
func defines(words []word, i int) bool {
	if !auxiliaries[at(words, i-1)] {
		return false
	}
	for k := i + 1; k < len(words) && k <= i+6; k++ {
		if (words[k].text == "sense" || words[k].text == "meaning" || words[k].text == "purposes") && at(words, k+1) == "of" {
			return true
		}
	}
	return false
}

// unharmed: the "no" of a clause tells that something bad did not happen: "no customer data was lost".
func unharmed(words []word, clause uint8) bool {
	return clauseHas(words, clause, "was", "were", "been") && clauseSome(words, clause, func(w string) bool { return harm[w] })
}

// subjectWithout: the "without" at i tells which things are spoken of, and what is done with them follows:
// "an account without an owner is disabled".
func subjectWithout(words []word, i int) bool {
	from := i
	for from > 0 && words[from-1].clause+1 >= words[i].clause {
		from--
	}
	if i-from < 1 || i-from > 4 || hasAuxiliary(words[from:i]) {
		return false
	}
	for k := i + 2; k < len(words) && k <= i+5; k++ {
		if auxiliaries[words[k].text] {
			return enforced[at(words, k+1)] || strings.HasSuffix(at(words, k+1), "ly") && enforced[at(words, k+2)]
		}
	}
	return false
}

// restricts: the negation at i stands in a clause that a "which" or "who" opens and in which what it
// describes goes on with a verb of its own: "accounts which have not been used for a month are disabled".
func restricts(words []word, i int) bool {
	if first := firstOfClause(words, words[i].clause); first != "which" && first != "who" {
		return false
	}
	for k := i + 2; k < len(words) && words[k].clause == words[i].clause; k++ {
		if w := words[k].text; w != "been" && w != "being" && (auxiliaries[w] || modals[w]) {
			return true
		}
	}
	return false
}

// hasMoreThan: the "no" at i says that nobody has more than what follows.
func hasMoreThan(words []word, i int) bool {
	more := false
	for k := i + 1; k < len(words) && words[k].clause == words[i].clause; k++ {
		more = more || words[k].text == "more" || words[k].text == "further" || words[k].text == "greater"
		if more && (words[k].text == "than" || words[k].text == "beyond") {
			return true
		}
	}
	return false
}

// keptApart: the "no" at i is of duties that would stand in the way: "has no operational duties".
func keptApart(words []word, i int) bool {
	return inTheWay[at(words, i+1)] && (duties[at(words, i+2)] || at(words, i+2) == "or" && duties[at(words, i+4)])
}

var (
	inTheWay = wordSet("operational line operating executive other managerial conflicting")
	duties   = wordSet("duties duty tasks task responsibilities responsibility role roles interests interest functions function involvement")
	sooner   = wordSet("earlier sooner immediately anew again")
)

// toOthers: what is denied of others alone limits what is said of the first: "software changes are tested;
// other changes are not".
func (s *stance) toOthers(words []word) {
	for i, w := range words {
		if w.clause == 0 || words[i-1].clause == w.clause || s.denied&(1<<w.clause) == 0 || s.denied&(1<<(w.clause-1)) != 0 || s.row {
			continue
		}
		first := i
		for at(words, first) == "and" || at(words, first) == "but" || at(words, first) == "all" || at(words, first) == "the" || at(words, first) == "any" {
			first++
		}
		if o := at(words, first); o == "other" || o == "others" || o == "rest" || o == "remaining" || o == "remainder" {
			s.limit = firstOf(s.limit, o+" not")
		}
	}
}

// tooLate: what was done late was not done in time.
func (s *stance) tooLate(words []word) {
	for i, w := range words {
		if w.text != "late" && w.text != "belatedly" || !clauseHas(words, w.clause, "was", "were", "been", "had") || clauseHas(words, w.clause, "no", "not", "none", "never", "nobody") {
			continue
		}
		if prev := at(words, i-1); participle(prev) && prev != "been" || prev == "too" || w.text == "belatedly" {
			s.limit = firstOf(s.limit, "late")
			return
		}
	}
}

var enforced = wordSet("disabled locked removed deleted revoked denied closed blocked refused rejected returned suspended quarantined isolated reported escalated corrected flagged stopped destroyed withdrawn")

var (
	harm        = wordSet("exfiltrated viewed impacted abused manipulated read lost affected exposed stolen disclosed leaked compromised damaged harmed copied accessed breached injured hurt misused")
	separating  = wordSet("path paths route routes connection connections") // that there is none keeps apart
	shielded    = wordSet("protected locked restricted limited blocked forbidden enforced")
	refusing    = wordSet("refuse refuses refused reject rejects rejected block blocks blocked prevent prevents prevented detect detects detected deny denies denied forbid forbids forbidden find finds flag flags flagged stop stops quarantine quarantines quarantined alert alerts prohibit prohibits prohibited")
	determiners = wordSet("the a an our your its their this each every")
	holding     = wordSet("remains remain currently still")
	past        = wordSet("been was were")
	inPart      = wordSet("often mostly usually generally largely widely simply")
	former      = wordSet("previously formerly historically")
	// Verbs that "that" follows with what is said.
	saysThat = stemSet("ensure verify say said state mean show found confirm report note assume know tell told indicate see saw agree guarantee demonstrate declare")
)

// stemSet are words in all their forms.
func stemSet(s string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(s) {
		m[stemOf(w)] = true
	}
	return m
}

// spreadOver lets the members of an enumeration share what is said of the last: "backups of servers,
// laptops and phones have been discontinued".
func (s *stance) spreadOver(words []word) {
	for i := len(words) - 1; i > 0; i-- {
		c := words[i].clause
		if before := words[i-1].clause; before != c && s.over&(1<<c) != 0 && !s.row && !clauseHasVerb(words, before) && clauseHasAuxiliary(words, c) {
			s.over |= 1 << before
		}
	}
}

// generally are words that a "not" before denies all that a sentence is about.
var generally = wordSet("do done have has had use uses used using run runs perform performed conduct conducted exist exists place available implement implemented carry carried follow followed enforce enforced require required happen happens take taken make made attempted tried looked complete completed yet currently any anything one way process procedure policy control rule formal official")

// targeted tells whether what a sentence denies is of the statement: in "we don't notify users of
// flaws" not the finding of flaws. Where it stands alone, without the sentence before, "they don't
// require it" is of nothing.
func (d *demand) targeted(s *sentence, text string, alone bool) bool {
	words := split(text)
	cutClauses(text, words)
	for i, w := range words {
		switch {
		case s.denied&(1<<w.clause) == 0:
			continue
		case undone[w.text] != "":
			if d.asks(words[i : i+1]) {
				return true
			}
			continue
		case !negatives[w.text] && !lacking[w.text] && !strings.HasSuffix(w.text, "n't"):
			continue
		}
		if alone && pointsBack(words, i) {
			continue
		}
		n := 0
		for k := i + 1; k < len(words) && n < 3; k++ {
			next := words[k]
			if next.clause != w.clause && next.text != words[i+1].text {
				break
			}
			if n > 0 && prepositions[next.text] {
				break
			}
			if generally[next.text] {
				return true
			}
			if stopWords[next.text] || strings.HasSuffix(next.text, "ly") {
				continue
			}
			n++
			if d.asks(words[k:k+1]) || k+1 < len(words) && words[k+1].clause == next.clause && d.asks(words[k:k+2]) {
				return true // "not switched on" is of what is to be enabled
			}
		}
		if n == 0 {
			return true // nothing in particular
		}
	}
	return false
}

// namedInCell: a cell of a row that denies something says no more than "no", or names what the control is
// about and the statement asks for.
func (d *demand) namedInCell(row *sentence, text string) bool {
	words := split(text)
	cutClauses(text, words)
	for _, c := range cellsIn(text) {
		own := slices.DeleteFunc(slices.Clone(words), func(w word) bool { return w.start < c.value || w.end > c.end })
		if !slices.ContainsFunc(own, func(w word) bool { return row.denied&(1<<w.clause) != 0 }) {
			continue
		}
		if len(own) < leastOfText {
			return true
		}
		s := &sentence{terms: termsOf(own, stance{})}
		s.held = bitsOf(s.terms)
		if window := []*sentence{s}; d.topicIn(window) > 0 && d.against(window, nil, surroundings{}).hits >= min(2, d.hits) {
			return true
		}
	}
	return false
}

const leastOfText = 3 // words of a cell that says what it speaks of

// pointsBack: what is denied at i is an "it" that the sentence before names.
func pointsBack(words []word, i int) bool {
	end := i
	for end+1 < len(words) && words[end+1].clause == words[i].clause {
		end++
	}
	return end-i <= 3 && (words[end].text == "it" || words[end].text == "them" || words[end].text == "so")
}

// prepositions are words behind which another thing is named.
var prepositions = wordSet("for to with of in on at by from about against through during under over into until before after")

// asks tells whether words name something of the statement or its control.
func (d *demand) asks(words []word) bool {
	terms := termsOf(words, stance{})
	for _, of := range [2][]asked{d.terms, d.topic} {
		for _, a := range of {
			if _, ok := lookup(terms, a.id); ok {
				return true
			}
			for _, p := range a.parts {
				if _, ok := lookup(terms, p); ok {
					return true
				}
			}
		}
	}
	return false
}

// ends tells whether the statement itself is about ending things: leavers' accounts are disabled.
func (d *demand) ends() bool {
	return d.withdraws() || d.mentionsAny("terminate", "suspend", "stop", "block", "lock", "cancel", "discontinue", "dispose") || d.restricts()
}

// withdraws tells whether the statement asks for something to be taken away.
func (d *demand) withdraws() bool {
	return d.mentionsAny("disable", "remove", "revoke", "withdraw", "delete")
}

func (d *demand) mentionsAny(words ...string) bool {
	return slices.ContainsFunc(words, d.mentions)
}

// denial reads a window that denies, with the words that tell why, as far as it denies what is asked.
func (s *Session) denial(d *demand, h hit, from int, r reading, word string) (reading, bool) {
	c, m, whole := h.candidate, r.match, r.cover
	cur := &c.sentences[r.at]
	text := c.text[cur.start:cur.end]
	say := func(verdict, reason string) (reading, bool) {
		r.verdict, r.reason = verdict, reason
		return r, true
	}
	if cur.lacksNothing() && !cur.backward {
		return r, false // there is nothing that it could be done with
	}
	if d.afterwards(text) || d.ahead && saysSince.MatchString(text) && !saysBefore.MatchString(text) {
		return r, false // "not looked at again after signing" denies nothing of what comes before it
	}
	if whole >= deniesIt && !m.off && m.lacks == nil && d.stillThere(cur) {
		return say(denied, "The evidence tells of what was still there.")
	}
	if whole >= deniesIt && d.lacks(cur) && m.plain(d.lacksLittle(cur)) {
		return say(denied, "The evidence says that there is none, or that it was not done"+word+".")
	}
	r.cover = s.coverOf(h, m.unworded())
	if word == "" && !cur.row && !cur.answersNo && !m.outright && !d.targeted(cur, text, from == r.at) {
		return r, false // it denies something else
	}
	if cur.row && word == "" && !cur.answersNo && !m.outright && !d.namedInCell(cur, text) {
		return r, false // "exception list not reviewed" in a row of an incident denies nothing of other lists
	}
	if d.saidInstead(cur, m) {
		if r.cover < saysPart || !m.relevant() || m.own < minOwn {
			return r, false
		}
		return say(partial, "It is denied, but something near is said to be done instead.")
	}
	if m.outright && m.own >= minOwn {
		r.cover = max(r.cover, deniesIt)
		return say(denied, "The evidence says that it is not done at all"+word+".")
	}
	if m.relevant() && m.cover >= speaksOf && r.cover >= deniesIt && !m.headless && m.own >= max(minOwn, ownShare*d.enough()) {
		return say(denied, "The evidence says that it is not so"+word+".")
	}
	return r, false
}
