package judge

import (
	"slices"
	"strings"

	"github.com/scf-service/service/internal/lazyregexp"
)

// analysis is what a passage's sentences say, apart from any control. It depends
// on nothing but the text and the year, so it is kept.
type analysis struct {
	text      string
	words     string // between blanks, in small letters
	sentences []sentence
	template  string // a blank somewhere in the passage
	english   bool
}

// sentence is one sentence, item or row with its concepts.
type sentence struct {
	span
	stance
	terms    []term // sorted by id, one for each concept
	held     bits   // their ids
	roots    roots
	affirmed roots     // without those of clauses that deny
	cells    *sentence // of a row: what its cells say, without the names of their columns
	lead     int       // the sentence that introduces this item ("the following must be encrypted:"), or -1
	under    int       // the heading in the same passage that it stands under, or -1
	times    []quantity
	years    []int
	concrete int     // how many of who, when, how much, with what it names
	lacked   []thing // what it plainly says there is none of
	sunk     bool    // of a row: it tells of a failing, as most of its table do
	lost     *roots  // the columns that tell it; nil where they speak of the whole row
}

// term is a concept in a sentence.
type term struct {
	id     uint64
	credit float64
	clause uint8
}

// What is read of one passage. Longer ones were cut badly; the rest is left out.
const (
	maxSentences = 400
	maxRead      = 64 << 10 // bytes
)

func analyse(text string, year int) *analysis {
	a := &analysis{text: text, english: true}
	text = unstruck(text[:min(len(text), maxRead)])
	spans := sentences(text)
	if len(spans) > maxSentences {
		spans = spans[:maxSentences]
	}
	lead, under := -1, -1
	forbidding := false // what the lead leads to
	all := make([]word, 0, len(text)/6)
	a.sentences = make([]sentence, 0, len(spans))
	for _, sp := range spans {
		raw := text[sp.start:sp.end]
		said := filled(raw)
		words := split(said)
		s := sentence{span: sp, stance: read(said, words, year), lead: -1, under: under}
		s.row = s.row || isRow(raw)
		s.terms, s.roots = termsOf(words, s.stance), rootsOf(words)
		s.lacked = lacked(said, words, &s.stance)
		s.affirmed = s.roots
		s.held = bitsOf(s.terms)
		if s.denied != 0 {
			s.affirmed = rootsOf(slices.DeleteFunc(slices.Clone(words), func(w word) bool { return s.denied&(1<<w.clause) != 0 }))
		}
		if s.row {
			s.cells = cellsOf(said, &s)
		}
		s.times, s.years = quantities(said, words)
		s.concrete = concreteness(said, words, s)
		if s.heading && !s.row && !s.strong && len(words) <= 10 && (!hasAuxiliary(words) || asking[words[0].text]) {
			s.fragment = true
			under, s.under = len(a.sentences), -1
		}
		if sp.item && lead >= 0 {
			s.lead = lead
			if forbidding {
				s.denied, s.prohibited = 0, 1<<s.clauses-1
			}
		}
		if s.template != "" && a.template == "" && strings.ContainsAny(s.template[:1], "[<{$_") && !openBox(s.template) {
			a.template = s.template
		}
		a.sentences = append(a.sentences, s)
		switch {
		case strings.HasSuffix(raw, ":"):
			lead, forbidding = len(a.sentences)-1, forbids.MatchString(raw)
		case !sp.item:
			lead = -1
		}
		all = append(all, words...)
	}
	a.words, a.english = spaced(all), isEnglish(all)
	linkAnswers(a)
	linkDecisions(a)
	a.tally()
	return a
}

// decided begins a sentence without a subject that says what became of the words before it.
var decided = lazyregexp.Guard(`(?i)^\W*(?:rejected|declined|refused|dropped|abandoned|postponed|deferred|put off|turned down|not (?:agreed|approved|accepted|pursued))\b`)

const maxProposal = 8 // words that a decision follows

// linkDecisions lets "Rejected for now" deny the words without a verb that it stands behind: "Encryption of mail. Rejected for now."
func linkDecisions(a *analysis) {
	for i := 1; i < len(a.sentences); i++ {
		of, s := &a.sentences[i-1], &a.sentences[i]
		if s.row || s.item || of.row || !decided.MatchString(a.text[s.start:s.end]) {
			continue
		}
		if words := split(a.text[of.start:of.end]); len(words) <= maxProposal && !hasAuxiliary(words) && !hasVerb(words) {
			of.denied, of.affirmed = 1<<of.clauses-1, rootsOf(nil)
		}
	}
}

// struck is what somebody crossed out.
var struck = lazyregexp.Of(`~~[^\s~](?:[^~\n]*[^\s~])?~~`)

// unstruck blanks out what is crossed out; all else stays in its place.
func unstruck(text string) string {
	if !strings.Contains(text, "~~") {
		return text
	}
	return struck.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat(" ", len(s)) })
}

func spaced(words []word) string {
	var b strings.Builder
	b.WriteByte(' ')
	for _, w := range words {
		b.WriteString(w.text)
		b.WriteByte(' ')
	}
	return b.String()
}

// forbids leads to a list of what is not to be done.
var forbids = lazyregexp.Guard(`(?i)\b(?:prohibited|forbidden|not (?:be )?(?:allowed|permitted)|(?:must|may|shall) not)\b[^.]{0,60}:\W*$`)

// asking begins headings such as "What is logged".
var asking = wordSet("what how who where when why which")

func hasAuxiliary(words []word) bool {
	for _, w := range words {
		if auxiliaries[w.text] || modals[w.text] {
			return true
		}
	}
	return false
}

// linkAnswers lets "Yes" and "No" under a question speak for it.
func linkAnswers(a *analysis) {
	for i := 1; i < len(a.sentences); i++ {
		q, s := &a.sentences[i-1], &a.sentences[i]
		if !q.question {
			continue
		}
		first := strings.ToLower(strings.TrimLeft(a.text[s.start:min(s.end, s.start+12)], " *_|"))
		switch {
		case s.answersNo || strings.HasPrefix(first, "not ") || strings.HasPrefix(first, "never") || strings.HasPrefix(first, "no") && (len(first) == 2 || strings.ContainsAny(first[2:3], " .,;|")):
			q.denied = 1<<q.clauses - 1
			q.question = false
			q.answersNo = true
		case strings.HasPrefix(first, "yes"):
			q.question = false
			q.answersYes = true
			q.hedge = "an answer to a question"
		}
	}
}

// termsOf are the concepts of a sentence: phrases, the words in them, and what
// they are kinds of.
func termsOf(words []word, s stance) []term {
	l := lex()
	out := make([]term, 0, 2*len(words)) // seldom more
	add := func(concept string, credit float64, clause uint8) {
		out = append(out, term{termID(concept), credit, clause})
		for _, k := range l.kin[concept] {
			out = append(out, term{k.id, credit * k.credit, clause})
		}
	}
	for i, w := range words {
		if concept, n := l.at(words, i); n > 0 {
			add(concept, 1, words[i+n-1].clause)
			if n == 1 {
				continue
			}
		}
		if positive := undone[w.text]; positive != "" {
			add(l.concept(positive), 1, w.clause)
			continue
		}
		if (!stopWords[w.text] || anybody[w.text]) && len(w.stem) > 1 {
			add(l.concept(w.stem), 1, w.clause)
		}
	}
	particles(words, add)
	if s.strong {
		add("enforc", 1, 0) // the concept of "required"
	}
	return unique(out)
}

// anybody are words for people that carry no topic in a statement, and do in a house rule.
var anybody = wordSet("you we everyone anyone everybody nobody")

// parted are verbs whose second half may stand after their object: "switch the firewall off".
var parted = map[string]map[string]string{
	"turn": {"off": "disable", "on": "enable"}, "switch": {"off": "disable", "on": "enable"}, "shut": {"off": "disable", "down": "disable"},
	"take": {"away": "remove", "off": "remove", "back": "remove"}, "hand": {"in": "return", "back": "return"}, "give": {"back": "return"}, "strike": {"off": "remove"},
}

const maxParted = 7 // words between the halves

func particles(words []word, add func(concept string, credit float64, clause uint8)) {
	for i, w := range words {
		halves := parted[w.stem]
		if halves == nil {
			continue
		}
		for k := i + 1; k < len(words) && k <= i+maxParted; k++ {
			if whole := halves[words[k].text]; whole != "" {
				add(lex().concept(stemOf(whole)), 1, w.clause)
				break
			}
		}
	}
}

// unique sorts terms and keeps the best of each concept.
func unique(terms []term) []term {
	slices.SortStableFunc(terms, func(a, b term) int {
		switch {
		case a.id < b.id, a.id == b.id && a.credit > b.credit:
			return -1
		case a.id == b.id && a.credit == b.credit:
			return 0
		}
		return 1
	})
	return slices.CompactFunc(terms, func(a, b term) bool { return a.id == b.id })
}

// concepts are those given and those that sentences name, sorted; of the sentences only some, where
// which tells them.
func (a *analysis) concepts(given []uint64, which func(*sentence) bool) []uint64 {
	out := slices.Clone(given)
	for i := range a.sentences {
		if s := &a.sentences[i]; which == nil || which(s) {
			for _, t := range s.terms {
				if t.credit >= creditBroader {
					out = append(out, t.id)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// affirms: a sentence that denies, announces and asks nothing.
func (s *sentence) affirms() bool {
	return s.denied == 0 && s.plan == "" && s.template == "" && !s.question && !s.row
}

// bits are a bit for each of some ids, many to a bit: they tell most of what isn't among them.
type bits [4]uint64

func bitsOf(terms []term) (b bits) {
	for _, t := range terms {
		b[t.id>>6&3] |= 1 << (t.id & 63)
	}
	return b
}

func (b *bits) may(id uint64) bool { return b[id>>6&3]>>(id&63)&1 != 0 }

// holds finds a concept among those of a sentence.
func (s *sentence) holds(id uint64) (term, bool) {
	if !s.held.may(id) {
		return term{}, false
	}
	return lookup(s.terms, id)
}

func lookup(terms []term, id uint64) (term, bool) {
	lo, hi := 0, len(terms) // by hand: no other code runs as often
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); terms[mid].id < id {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == len(terms) || terms[lo].id != id {
		return term{}, false
	}
	return terms[lo], true
}

// contextTerms are the concepts that headings, title and kind of document give to
// every sentence below them.
func contextTerms(p Passage, category string) []uint64 {
	words := split(p.DocumentTitle + " . " + strings.Join(p.HeadingPath, " . "))
	terms := termsOf(words, stance{})
	out := make([]uint64, 0, len(terms)+3)
	for _, t := range terms {
		out = append(out, t.id)
	}
	// A document that rules something documents and defines it.
	if intends(category) {
		out = append(out, conceptID("document"), conceptID("define"), conceptID(category))
	}
	slices.Sort(out)
	return slices.Compact(out)
}
