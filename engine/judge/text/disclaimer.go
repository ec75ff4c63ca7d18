package text

import (
	"slices"
	"strings"

	"github.com/scf-service/service/internal/lazyregexp"
)

// outsiders is the part of a regular expression that matches terms for outsiders.
const outsiders = `(?:other|another|former|previous|different|typical|some|fictional|imaginary|invented|neighbou?ring) (?:compan(?:y|ies)|organi[sz]ations?|` +
	`firms?|employers?|business(?:es)?|municipalit(?:y|ies)|banks?|hospitals?|universit(?:y|ies)|people|teams?)|competitors?`

var (
	// outsideHeadingPattern matches headings of text that isn't about the organization or isn't fact.
	outsideHeadingPattern = lazyregexp.NewPrefiltered(
		`(?i)\b(?:myths?|(?:common |frequent |popular )?(?:misconceptions?|misunderstandings|errors about)|rumou?rs?|hearsay|fiction|fairy tales?|thought experiments?|role[ -]?play|` +
			`fictional|imaginary|hypothetical|invented|quiz|exam(?:ination)? questions?|test your knowledge|(?:what|how) ` + outsiders + `|` +
			`(?:at|about|by|of|from) (?:our |the )?(?:` + outsiders + `)|(?:former|old|previous|past|abolished|repealed|superseded|withdrawn|obsolete) (?:\w+ )?(?:rules?|polic(?:y|ies)|regime|regulations?|wordings?|practices?|procedures?)|` +
			`(?:rules?|polic(?:y|ies)|practices?) (?:until|before|in) (?:19|20)\d\d|(?:abolished|repealed|superseded)\W*$|wish ?lists?|wishes|` +
			`what (?:the )?(?:law|laws|standards?|regulations?|regulators?|legislat\w+|auditors?|customers?|clients?) (?:says?|wants?|requires?|demands?|asks?|expects?)|` +
			`legal background|(?:bad|poor|negative|wrong) examples?|counter-?examples?|literature|bibliography|works cited|quoted message)\b`,
	)
	// undoneHeadingPattern matches headings of text about what isn't done.
	undoneHeadingPattern = lazyregexp.NewPrefiltered(
		`(?i)(?:\b(?:(?:not|never) (?:yet )?(?:implemented|in place|done|adopted|introduced|available|covered|fulfill?ed|met|started|achieved|accepted|followed|practi[sc]ed|applied)|` +
			`(?:controls?|measures?|safeguards?|items?|things?|practices|elements|what)(?: that)?(?: (?:is|are|we are|we're|still|currently))* (?:missing|lacking|absent)|` +
			`(?:missing|lacking|absent|unmet|unfulfilled|rejected|declined|discarded|dismissed|dropped|refused|abandoned) (?:\w+ )?(?:controls?|measures?|safeguards?|proposals?|requirements?|ideas?|options?|suggestions?|practices|elements|requests?|motions?)|` +
			`(?:what|things|controls|measures|practices) (?:we|they|is|are) (?:do not|don't|are not|aren't|never|not|lack|cannot|can't|have not|haven't)|to-?do(?: list)?|` +
			`(?:proposals|suggestions|ideas|options|motions|measures) (?:we )?(?:rejected|declined|discarded|dropped|turned down|not (?:adopted|pursued|accepted)))\b)|^\W*(?:missing|lacking|rejected|to do|not done)\W*$`,
	)
	// negatedListPattern matches the introduction to a list of things that aren't the case: "None
	// of the following is in place:".
	negatedListPattern = lazyregexp.NewPrefiltered(
		`(?i)\b(?:none|nothing|not one|neither|no one|nobody|never|not any|not|n't|lack(?:s|ing)?|missing|without|unable)\b[^.]{0,80}\b(?:following|these|below|this list)\b|` +
			`\b(?:following|these|below|this list)\b[^.]{0,80}\b(?:not|n't|nobody|never|none|lack(?:s|ing)?|missing|absent|unmet|wrong|false|untrue|incorrect|invented|fictional|made up|rejected|myths?)\b|` +
			`\b(?:and|but|which|that) we (?:have|do|did|are|could|can)(?: not|n't)\b[^.]*:|\bwe (?:have|do) (?:none|nothing) of\b`,
	)
	// nonDenyingIntroPattern matches introductions of a list that contain a negation but don't deny its items, such as "The
	// following must not be skipped without approval:".
	nonDenyingIntroPattern = lazyregexp.NewPrefiltered(
		`(?i)\b(?:exceptions?|exempt\w*|must|shall|may|should|required|without (?:exception|delay|permission|approval)|not only|not limited|unless|if|when|before|until)\b`,
	)
	// forwardPattern matches a sentence that disclaims what follows in its section.
	forwardPattern = lazyregexp.NewPrefiltered(
		`(?i)\b(?:what follows|the following|(?:this|the) (?:section|chapter|page|text|lesson|story|list|part|document|paragraph|article)|below)\b[^.]{0,60}\b(?:` +
			`not (?:our|the current|a description of|describe (?:our|what we)|in force|in effect|true|real|apply to us|what we do|about us)|fiction(?:al)?|invented|imaginary|made up|hypothetical|` +
			`no longer (?:in force|valid|followed|our)|describes? ` + outsiders + `|(?:is|are) (?:about|from|of|by) (?:` + outsiders + `)|(?:a |an )(?:bad|negative|fictional|invented) example)|` +
			`\b(?:how|what) (?:an?|the) (?:typical|average|other|fictional|ideal) (?:company|organi[sz]ation|firm|business) (?:works|does|looks|protects)\b|` +
			`\babout (?:its|their|his|her) own\b[^.]*:\W*$`,
	)
	// backwardPattern matches a sentence that retracts what comes before it. Group 1 is its subject.
	backwardPattern = lazyregexp.NewPrefiltered(
		`(?i)^\W*(?:(?:but|however|yet|sadly|unfortunately|in (?:reality|truth|fact)),? )?(?:` +
			`((?:none|nothing|not one)(?: (?:of (?:this|that|these|those|it|them|the (?:above|kind|sort|foregoing|preceding|statements|sentences))|like (?:this|that))))(?: \w+)? (?:is|are|was|were|has|have|happens?|applies|apply|exists?) ?(?:true|the case|done|so|in place|happen\w*|practi[sc]ed|our practice|here|at our|anywhere|implemented)?\b[^.,;]{0,40}|` +
			`((?:all|everything|every word|most)\b[^.,;]{0,40}|(?:these|those|the (?:above|preceding|previous|foregoing))\b[^.,;]{0,40}|(?:this|that|it|the (?:sentence|statement|rule|claim|practice|above))(?: \w+)?) ` +
			`(?:is|are|was|were|has been|have been|does|do|did)(?: (?:simply|just|all|only|of course|since|now|then|completely|entirely|plainly))?(?: not|n't)? ?` +
			`(?:not true|untrue|true|false|wrong|a lie|lies|made up|invented|fictional|fiction|a joke|nonsense|so|the case|our practice|a myth|rumou?rs?|wishful thinking|hold|happen|apply|exist|` +
			`dropped|abolished|repealed|abandoned|given up|scrapped|withdrawn|rejected|(?:taken|copied|quoted) from|no longer|only an example|an example|hearsay|what the (?:brochure|slide|vendor) says)\b[^.;]{0,60}|` +
			`(?:false|untrue|not true|wrong|incorrect|rejected|fiction|made up|invented|no longer true|nonsense|rubbish|not so|not at all|not really|not quite|hardly|far from it|as if|` +
			`nope|yeah,? right|just kidding|wishful thinking))\W*$`,
	)
	trueClaimPattern = lazyregexp.NewPrefiltered(`(?i)\b(?:is|are|was|were) (?:\w+ )?(?:true|so|the case|our practice)\W*$`)
	negationPattern  = lazyregexp.NewPrefiltered(`(?i)\b(?:none|nothing|not|n't|never|no)\b`)
)

// ReadDisclaimingHeading reports whether a heading says that the text below it isn't about the organization or isn't
// fact (outside), and whether it says that what the text describes isn't done (undone).
func ReadDisclaimingHeading(heading string) (outside, undone bool) {
	if len(heading) > 100 {
		return false, false
	}
	return outsideHeadingPattern.MatchString(heading), undoneHeadingPattern.MatchString(heading)
}

// DisclaimsFollowingText reports whether a sentence disclaims what follows in its section.
func DisclaimsFollowingText(sentence string) bool { return forwardPattern.MatchString(sentence) }

// applyDisclaimers applies headings, introductions and neighboring sentences that say that a passage's sentences aren't
// about the organization, aren't fact or aren't done.
func (a *Analysis) applyDisclaimers() {
	disowned := -1 // heading under which sentences are disclaimed
	active := false
	a.unassertWordSalad()
	for i := range a.Sentences {
		s := &a.Sentences[i]
		if literaturePattern.MatchString(s.Text) || citationPattern.MatchString(s.Text) {
			a.unassertLine(i)
		}
		if i > 0 && startsWithSpeechVerb(s.Text) { // "…," said the manager of another company
			a.Sentences[i-1].unassertAll()
			s.unassertAll()
		}
		if active && s.headingIndex != disowned && !s.Fragment {
			active = false
		}
		if active {
			s.unassertAll()
		}
		if s.headingIndex >= 0 {
			outside, undone := ReadDisclaimingHeading(a.Sentences[s.headingIndex].Text)
			if outside {
				s.unassertAll()
			}
			s.Disclaimed = s.Disclaimed || undone
		}
		if lead := s.LeadIndex; lead >= 0 && !s.IsTableRow {
			switch l := &a.Sentences[lead]; {
			case l.introducesOutsideItems():
				s.unassertAll()
			case l.introducesUndoneItems():
				s.Disclaimed = true
			}
		}
		switch {
		case s.IsTableRow:
		case forwardPattern.MatchString(s.Text), strings.HasSuffix(s.Text, ":") && s.IsUnasserted():
			disowned, active = s.headingIndex, true
		default:
			a.applyRetraction(i)
		}
	}
}

// unassertLine marks the sentences on the line of sentence i as not asserted.
func (a *Analysis) unassertLine(i int) {
	sameLine := func(from, to int) bool { return !strings.Contains(a.Text[from:to], "\n") }
	for k := i; k >= 0 && sameLine(a.Sentences[k].start, a.Sentences[i].start); k-- {
		a.Sentences[k].unassertAll()
	}
	for k := i + 1; k < len(a.Sentences) && sameLine(a.Sentences[i].start, a.Sentences[k].start); k++ {
		a.Sentences[k].unassertAll()
	}
}

// startsWithSpeechVerb reports whether a sentence continues direct speech: "said the manager".
func startsWithSpeechVerb(text string) bool {
	word, _, _ := strings.Cut(strings.TrimLeft(text, "\"”’ "), " ")
	return speechVerbs[word] && word == strings.ToLower(word)
}

// ReadOpenList reads the introduction to a list that extends to the end of a text and may continue
// after it. It reports whether the introduction says that the items aren't about the organization
// or aren't fact (outside), or that they aren't done (undone).
func ReadOpenList(text string) (outside, undone bool) {
	if !strings.Contains(text, ":") {
		return false, false
	}
	spans := splitSentences(text)
	for i := len(spans) - 1; i >= 0; i-- {
		if spans[i].Item {
			continue
		}
		lead := text[spans[i].start:spans[i].end]
		if !strings.HasSuffix(lead, ":") {
			return false, false
		}
		words := splitWords(lead)
		s := &Sentence{Text: lead, Stance: parseStanceAndClauses(lead, words, 0)}
		return s.introducesOutsideItems(), s.introducesUndoneItems()
	}
	return false, false
}

// introducesOutsideItems reports whether the items that follow the sentence are not the organization's own
// statements.
func (s *Sentence) introducesOutsideItems() bool {
	return s.IsUnasserted() || forwardPattern.MatchString(s.Text) ||
		namesOtherOrganization(splitWords(s.Text)) && negationPattern.MatchString(s.Text)
}

func (s *Sentence) introducesUndoneItems() bool {
	return s.Prohibited == 0 && negatedListPattern.MatchString(s.Text) && !nonDenyingIntroPattern.MatchString(s.Text)
}

// applyRetraction applies sentence i to the preceding ones if it retracts them: "None of the above is the case".
func (a *Analysis) applyRetraction(i int) {
	s := &a.Sentences[i]
	if i == 0 || s.Item || len(s.Text) > 160 || s.RefersBack && s.Denied != 0 {
		return
	}
	m := backwardPattern.FindStringSubmatch(s.Text)
	if m == nil || trueClaimPattern.MatchString(s.Text) && !negationPattern.MatchString(s.Text) {
		return
	}
	subject := strings.ToLower(m[1] + m[2])
	single := m[1] == "" && slices.ContainsFunc([]string{"this", "that", "it", ""}, func(p string) bool { return subject == p }) ||
		strings.HasPrefix(subject, "the sentence") || strings.HasPrefix(subject, "the rule") || strings.HasPrefix(subject, "the statement")
	for k := i - 1; k >= 0 && a.Sentences[k].headingIndex == s.headingIndex; k-- {
		a.Sentences[k].unassertAll()
		if single {
			break
		}
	}
	s.unassertAll()
}

// unassertAll marks all clauses of a sentence as not asserted.
func (s *Sentence) unassertAll() {
	s.Hypothetical, s.Denied, s.PlanWords, s.RefersBack = 1<<s.ClauseCount-1, 0, "", false
}

const (
	minSaladWords  = 6
	minSortedWords = 8  // "A copy is sent to Tollgate." may be in alphabetical order by chance
	maxTerseWords  = 14 // maximum number of words in a terse record with figures
	minJoinedWords = 4  // minimum number of joined words per field for a text to count as addresses and file names
	recordMarks    = "0123456789:|"
)

// isWordSalad reports whether a text looks like a sentence but isn't one. It may consist of sorted or shuffled words, a
// series of titles, a bibliographic reference or contact details.
func isWordSalad(text string, words []word) bool {
	if len(words) < minSaladWords {
		return false
	}
	if len(words) >= minSortedWords && slices.IsSortedFunc(words, func(a, b word) int { return strings.Compare(a.text, b.text) }) {
		return true
	}
	capitals := 0
	for _, w := range words {
		if text[w.start] >= 'A' && text[w.start] <= 'Z' {
			capitals++
		}
	}
	return countBrokenPairs(text, words) >= 2 || len(words) >= minJoinedWords*len(strings.Fields(text)) || isStringOfNouns(text, words) ||
		capitals == len(words) && !hasAuxiliaryOrModal(words) && len(words) <= 40 && !strings.ContainsAny(text, ",:;|") ||
		literaturePattern.MatchString(text) || citationPattern.MatchString(text) ||
		contactLinePattern.MatchString(text) && !hasVerb(words) && countStopWords(words) <= maxContactStopWords
}

// maxContactStopWords is the maximum number of stop words in a line with a phone number or address that counts as
// contact details.
const maxContactStopWords = 2

func countStopWords(words []word) (n int) {
	for _, w := range words {
		if stopWords[w.text] {
			n++
		}
	}
	return n
}

// countBrokenPairs returns the number of adjacent words that can't follow each other in a sentence.
func countBrokenPairs(text string, words []word) int {
	n := 0
	for i, w := range words {
		next := ""
		if i+1 < len(words) {
			if next = words[i+1].text; strings.TrimSpace(text[w.end:words[i+1].start]) != "" || text[words[i+1].start] <= 'Z' {
				continue
			}
		} else if len(w.text) < 2 {
			continue // an initial
		}
		if isBrokenPair(w.text, next) {
			n++
		}
	}
	return n
}

var (
	articles     = wordSet("the a an our their its every your")
	joiningWords = wordSet("of from into onto between during")
	finiteVerbs  = wordSet("is are was were must shall has have and or")
	beforeBe     = wordSet("must shall should may might can could will would to not cannot only also always never then ever either both and or still already now therefore first later")
)

// isBrokenPair reports whether the word w can't be followed by the word next in a sentence. next is "" if w is the last
// word.
func isBrokenPair(w, next string) bool {
	switch {
	case articles[w]:
		return articles[next] || joiningWords[next] || finiteVerbs[next] || isOneOf(next, "", "with", "by", "for", "that", "when")
	case joiningWords[w]:
		return finiteVerbs[next] || joiningWords[next] && w != "from"
	case isOneOf(w, "must", "shall"):
		return articles[next] || joiningWords[next] || isOneOf(next, "is", "are", "was", "were", "must", "shall", "and")
	case isOneOf(w, "and", "or"):
		return isOneOf(next, "and", "or", "")
	case isOneOf(w, "is", "are"):
		return isOneOf(next, "is", "are", "must", "shall", "have", "has")
	}
	return next == "be" && !beforeBe[w] && !strings.HasSuffix(w, "ly")
}

var (
	literaturePattern = lazyregexp.NewPrefiltered(
		`(?i)\b(?:pp\. ?\d|et al\.|journal of|proc\. of|proceedings of|doi:|isbn\b|vol\. ?\d)`,
	)
	citationPattern    = lazyregexp.New(`^\W{0,2}\[\d+\] `)
	contactLinePattern = lazyregexp.NewPrefiltered(`(?i)\b(?:ext\.|tel\.?:?|phone:?) ?[+\d(]|[\w.]+@[\w-]+\.\w`)
)

// isStringOfNouns reports whether a text has many words, but none that hold a sentence together, as in tags, titles or
// breadcrumbs. Records may be just as terse, but they contain figures.
func isStringOfNouns(text string, words []word) bool {
	if len(words) < minSaladWords || endsLikeFullSentence(text, words) || checkboxPattern.MatchString(text) {
		return false
	}
	if len(words) > maxTerseWords {
		return 10*countStopWords(words) <= len(words)
	}
	return !hasAuxiliaryOrModal(words) && countStopWords(words) == 0 &&
		!strings.ContainsAny(strings.TrimRight(text, " .0123456789"), recordMarks)
}

// unassertWordSalad marks a whole passage as not asserted if enough of its sentences have broken pairs (see
// isBrokenPair). Not every sentence has to have some, because a shuffled sentence may have none by chance.
func (a *Analysis) unassertWordSalad() {
	sentences, broken, strung := 0, 0, 0
	for i := range a.Sentences {
		if s := &a.Sentences[i]; !s.IsTableRow {
			sentences++
			words := splitWords(s.Text)
			if countBrokenPairs(s.Text, words) > 0 {
				broken++
			}
			if isStringOfNouns(s.Text, words) {
				strung++
			}
		}
	}
	if (broken < 2 || 5*broken < sentences) && (strung < 3 || 2*strung < sentences) {
		return
	}
	for i := range a.Sentences {
		a.Sentences[i].unassertAll()
	}
}

// verdictColumnPattern matches columns that judge the statement in their row. harmlessColumnPattern
// matches columns in which a "no" or "0" is not a verdict.
var verdictColumnPattern = lazyregexp.NewPrefiltered(
	`(?i)^\W*$|\b(?:status|state|in place|rag|traffic light|colou?r|score|rating|points|grade|level|maturity|correct|true|accurate|found|finding|result|outcome|verdict|` +
		`assessment|evaluation|answer|response|done|implemented|implementation|compliant|compliance|conform\w*|fulfill?ed|met|ok|applies|applied|exists?|achieved|practi[sc]ed|reality|actual|today|current)\b`,
)

var harmlessColumnPattern = lazyregexp.NewPrefiltered(
	`(?i)\b(?:no\.?|nr|number|id|ref|exceptions?|deviations?|findings|incidents?|gaps?|issues?|overdue|remarks?|comments?|notes?|exempt|breach|complaints?|errors?|failures?|failed|open|missed|late|outsourced|personal|critical|priority|page|row|section|days|cost|age|count)\b`,
)

var (
	denyingCellPattern = lazyregexp.New(
		`(?i)^\W*(?:no|n|none|never|nil|absent|red|not at all|nowhere|nobody|0(?:[.,]0)?(?: ?(?:%|percent|points?))?(?: ?(?:/|of|out of) ?\d+)?|missing|not (?:yet |at all )?\w+)\W*$|^\s*(?:[✗✘❌×🔴]|\[ ?\])\s*$`,
	)
	falseCellPattern = lazyregexp.New(
		`(?i)^\W*(?:false|untrue|wrong|incorrect|myth|rejected|declined|nothing(?: of (?:the|that) (?:kind|sort))?|nothing found|to ?do|f)\W*$`,
	)
)

const (
	minStatedWords  = 4 // minimum number of words in a cell with a verb for it to be a statement that another cell may judge
	maxVerdictCells = 4 // maximum number of cells in the row; in a longer row, a "no" describes only one of many properties
)

// readVerdictCell looks for a cell of a table row with a value such as no, 0, red or false, and treats it as a denial
// of the statement in another cell of the row.
func (s *Sentence) readVerdictCell(row string) {
	states := 0 // number of cells that state something
	var names, values []string
	for cell := range strings.FieldsFuncSeq(row, func(r rune) bool { return r == ';' || r == '|' }) {
		name, value, named := strings.Cut(cell, ":")
		if !named || len(name) > maxColumnName {
			name, value = "", cell
		}
		names, values = append(names, name), append(values, strings.TrimSpace(value))
		w := splitWords(value)
		if len(w) >= minStatedWords && hasVerb(w) {
			states++
		}
	}
	if states != 1 || len(values) > maxVerdictCells || s.PlanWords != "" {
		return
	}
	for i, value := range values {
		switch {
		case value == "" || !verdictColumnPattern.MatchString(names[i]) || harmlessColumnPattern.MatchString(names[i]):
		case denyingCellPattern.MatchString(value):
			s.Denied, s.affirmedStems, s.AnswersNo, s.AnswersYes = 1<<s.ClauseCount-1, hashStems(nil), true, false
			return
		case falseCellPattern.MatchString(value):
			s.unassertAll()
			return
		}
	}
}
