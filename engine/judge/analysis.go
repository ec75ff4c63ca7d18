package judge

import (
	"slices"
	"strings"

	"github.com/scf-service/service/internal/lazyregexp"
)

// textAnalysis is the analysis of a passage's sentences, independent of any control. It depends
// only on the text and the year, so it can be cached.
type textAnalysis struct {
	text        string
	paddedWords string // lower case, with a space on both sides
	sentences   []sentence
	placeholder string // a blank anywhere in the passage
	isEnglish   bool
}

// sentence is a sentence, list item or row with its concepts.
type sentence struct {
	span
	stance
	terms          []term      // sorted by ID, one per concept
	termFilter     bloomFilter // filter of the term IDs
	stems          stemHashes
	affirmedStems  stemHashes // without those of negated clauses
	cellContent    *sentence  // of a row: its cells without column names
	leadIndex      int        // index of the sentence that introduces this item ("the following must be encrypted:"), or -1
	headingIndex   int        // index of its heading in the same passage, or -1
	quantities     []quantity
	years          []int
	concreteness   int            // how many of who, when, how much and with what it names
	missingThings  []missingThing // what it plainly states is missing
	inFailureTable bool           // of a row: reports a failure, as most of its table do
	failedColumns  *stemHashes    // the columns that report it; nil if the whole row does
}

// term is a concept occurring in a sentence.
type term struct {
	id     uint64
	credit float64
	clause uint8
}

// Limits per passage. Longer passages are badly split; the rest is ignored.
const (
	maxSentences    = 400
	maxPassageBytes = 64 << 10 // bytes
)

func analyzeText(text string, year int) *textAnalysis {
	a := &textAnalysis{text: text, isEnglish: true}
	text = blankStrikethrough(text[:min(len(text), maxPassageBytes)])
	spans := splitSentences(text)
	if len(spans) > maxSentences {
		spans = spans[:maxSentences]
	}
	lead, under := -1, -1
	forbidding := false // whether the lead-in introduces prohibitions
	all := make([]word, 0, len(text)/6)
	a.sentences = make([]sentence, 0, len(spans))
	for _, sp := range spans {
		raw := text[sp.start:sp.end]
		cleaned := blankEmptyCells(raw)
		words := splitWords(cleaned)
		s := sentence{span: sp, stance: parseStance(cleaned, words, year), leadIndex: -1, headingIndex: under}
		s.isTableRow = s.isTableRow || isTableRow(raw)
		s.terms, s.stems = extractTerms(words, s.stance), hashStems(words)
		s.missingThings = findMissingThings(cleaned, words, &s.stance)
		s.affirmedStems = s.stems
		s.termFilter = newBloomFilter(s.terms)
		if s.denied != 0 {
			s.affirmedStems = hashStems(slices.DeleteFunc(slices.Clone(words), func(w word) bool { return s.denied&(1<<w.clause) != 0 }))
		}
		if s.isTableRow {
			s.cellContent = cellSentence(cleaned, &s)
		}
		s.quantities, s.years = parseQuantities(cleaned, words)
		s.concreteness = countConcreteDetails(cleaned, words, s)
		if s.heading && !s.isTableRow && !s.mandatory && len(words) <= 10 && (!hasAuxiliary(words) || questionWords[words[0].text]) {
			s.fragment = true
			under, s.headingIndex = len(a.sentences), -1
		}
		if sp.item && lead >= 0 {
			s.leadIndex = lead
			if forbidding {
				s.denied, s.prohibited = 0, 1<<s.clauseCount-1
			}
		}
		if s.placeholder != "" && a.placeholder == "" && strings.ContainsAny(s.placeholder[:1], "[<{$_") && !isUntickedBox(s.placeholder) {
			a.placeholder = s.placeholder
		}
		a.sentences = append(a.sentences, s)
		switch {
		case strings.HasSuffix(raw, ":"):
			lead, forbidding = len(a.sentences)-1, prohibitionLeadPattern.MatchString(raw)
		case !sp.item:
			lead = -1
		}
		all = append(all, words...)
	}
	a.paddedWords, a.isEnglish = joinPadded(all), isEnglish(all)
	linkAnswers(a)
	linkDecisions(a)
	a.markFailureTables()
	return a
}

// decisionPattern matches the beginning of a sentence without a subject that decides on the
// preceding words.
var decisionPattern = lazyregexp.NewPrefiltered(
	`(?i)^\W*(?:rejected|declined|refused|dropped|abandoned|postponed|deferred|put off|turned down|not (?:agreed|approved|accepted|pursued))\b`,
)

const maxProposalWords = 8 // maximum words of the proposal before a decision

// linkDecisions lets "Rejected for now" deny the verbless words before it: "Encryption of mail.
// Rejected for now."
func linkDecisions(a *textAnalysis) {
	for i := 1; i < len(a.sentences); i++ {
		subject, s := &a.sentences[i-1], &a.sentences[i]
		if s.isTableRow || s.item || subject.isTableRow || !decisionPattern.MatchString(a.text[s.start:s.end]) {
			continue
		}
		if words := splitWords(a.text[subject.start:subject.end]); len(words) <= maxProposalWords && !hasAuxiliary(words) &&
			!hasVerb(words) {
			subject.denied, subject.affirmedStems = 1<<subject.clauseCount-1, hashStems(nil)
		}
	}
}

// strikethroughPattern matches struck-through text.
var strikethroughPattern = lazyregexp.New(`~~[^\s~](?:[^~\n]*[^\s~])?~~`)

// blankStrikethrough blanks out struck-through text; offsets stay the same.
func blankStrikethrough(text string) string {
	if !strings.Contains(text, "~~") {
		return text
	}
	return strikethroughPattern.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat(" ", len(s)) })
}

func joinPadded(words []word) string {
	var b strings.Builder
	b.WriteByte(' ')
	for _, w := range words {
		b.WriteString(w.text)
		b.WriteByte(' ')
	}
	return b.String()
}

// prohibitionLeadPattern matches the lead-in of a list of prohibitions.
var prohibitionLeadPattern = lazyregexp.NewPrefiltered(
	`(?i)\b(?:prohibited|forbidden|not (?:be )?(?:allowed|permitted)|(?:must|may|shall) not)\b[^.]{0,60}:\W*$`,
)

// questionWords begin headings such as "What is logged".
var questionWords = wordSet("what how who where when why which")

func hasAuxiliary(words []word) bool {
	for _, w := range words {
		if auxiliaryVerbs[w.text] || modalVerbs[w.text] {
			return true
		}
	}
	return false
}

// linkAnswers applies "Yes" and "No" answers to the preceding question.
func linkAnswers(a *textAnalysis) {
	for i := 1; i < len(a.sentences); i++ {
		q, s := &a.sentences[i-1], &a.sentences[i]
		if !q.question {
			continue
		}
		first := strings.ToLower(strings.TrimLeft(a.text[s.start:min(s.end, s.start+12)], " *_|"))
		switch {
		case s.answersNo || strings.HasPrefix(first, "not ") || strings.HasPrefix(first, "never") ||
			strings.HasPrefix(first, "no") && (len(first) == 2 || strings.ContainsAny(first[2:3], " .,;|")):
			q.denied = 1<<q.clauseCount - 1
			q.question = false
			q.answersNo = true
		case strings.HasPrefix(first, "yes"):
			q.question = false
			q.answersYes = true
			q.hedge = "an answer to a question"
		}
	}
}

// extractTerms returns the concepts of a sentence: phrases, their words, and broader concepts.
func extractTerms(words []word, s stance) []term {
	l := sharedLexicon()
	out := make([]term, 0, 2*len(words)) // rarely more
	add := func(concept string, credit float64, clause uint8) {
		out = append(out, term{id: hashTerm(concept), credit: credit, clause: clause})
		for _, k := range l.related[concept] {
			out = append(out, term{id: k.id, credit: credit * k.credit, clause: clause})
		}
	}
	for i, w := range words {
		if concept, n := l.longestPhrase(words, i); n > 0 {
			add(concept, 1, words[i+n-1].clause)
			if n == 1 {
				continue
			}
		}
		if positive := negatedForms[w.text]; positive != "" {
			add(l.concept(positive), 1, w.clause)
			continue
		}
		if (!stopWords[w.text] || genericPeopleWords[w.text]) && len(w.stem) > 1 {
			add(l.concept(w.stem), 1, w.clause)
		}
	}
	addPhrasalVerbs(words, add)
	if s.mandatory {
		add("enforc", 1, 0) // the concept of "required"
	}
	return dedupeTerms(out)
}

// genericPeopleWords carry no topic in a statement, but do in house rules.
var genericPeopleWords = wordSet("you we everyone anyone everybody nobody")

// separableVerbs are verbs whose particle may follow their object: "switch the firewall off".
var separableVerbs = map[string]map[string]string{
	"turn": {"off": "disable", "on": "enable"}, "switch": {"off": "disable", "on": "enable"}, "shut": {"off": "disable", "down": "disable"},
	"take": {
		"away": "remove",
		"off":  "remove",
		"back": "remove",
	}, "hand": {"in": "return", "back": "return"}, "give": {"back": "return"}, "strike": {"off": "remove"},
}

const maxParticleGap = 7 // words between verb and particle

func addPhrasalVerbs(words []word, add func(concept string, credit float64, clause uint8)) {
	for i, w := range words {
		halves := separableVerbs[w.stem]
		if halves == nil {
			continue
		}
		for k := i + 1; k < len(words) && k <= i+maxParticleGap; k++ {
			if whole := halves[words[k].text]; whole != "" {
				add(sharedLexicon().concept(stemOf(whole)), 1, w.clause)
				break
			}
		}
	}
}

// dedupeTerms sorts terms and keeps the highest credit of each concept.
func dedupeTerms(terms []term) []term {
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

// collectConcepts returns the sorted union of the initial concepts and those of the sentences for
// which include returns true, or of all sentences if include is nil.
func (a *textAnalysis) collectConcepts(initial []uint64, include func(*sentence) bool) []uint64 {
	out := slices.Clone(initial)
	for i := range a.sentences {
		if s := &a.sentences[i]; include == nil || include(s) {
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

// isAffirmative reports whether a sentence denies, announces and asks nothing.
func (s *sentence) isAffirmative() bool {
	return s.denied == 0 && s.planWords == "" && s.placeholder == "" && !s.question && !s.isTableRow
}

// bloomFilter is a small Bloom filter of term IDs that quickly rules out most absent ones.
type bloomFilter [4]uint64

func newBloomFilter(terms []term) (b bloomFilter) {
	for _, t := range terms {
		b[t.id>>6&3] |= 1 << (t.id & 63)
	}
	return b
}

func (b *bloomFilter) mayContain(id uint64) bool { return b[id>>6&3]>>(id&63)&1 != 0 }

// findTerm returns a sentence's term by ID.
func (s *sentence) findTerm(id uint64) (term, bool) {
	if !s.termFilter.mayContain(id) {
		return term{}, false
	}
	return searchTerms(s.terms, id)
}

func searchTerms(terms []term, id uint64) (term, bool) {
	lo, hi := 0, len(terms) // hand-written binary search: this is the hottest code
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

// headingTerms returns the concepts that headings, title and document kind add to every sentence
// below them.
func headingTerms(p Passage, category string) []uint64 {
	words := splitWords(p.DocumentTitle + " . " + strings.Join(p.HeadingPath, " . "))
	terms := extractTerms(words, stance{})
	out := make([]uint64, 0, len(terms)+3)
	for _, t := range terms {
		out = append(out, t.id)
	}
	// A prescriptive document documents and defines its subject.
	if isPrescriptive(category) {
		out = append(out, conceptID("document"), conceptID("define"), conceptID(category))
	}
	slices.Sort(out)
	return slices.Compact(out)
}
