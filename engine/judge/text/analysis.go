package text

import (
	"slices"
	"strings"

	"github.com/scf-service/service/internal/lazyregexp"
)

// Analysis is the analysis of a passage's sentences, independent of any control. Because it depends
// only on the text and the current year, it can be cached.
type Analysis struct {
	Text        string
	paddedWords string // words in lower case, separated by and between spaces
	Sentences   []Sentence
	Placeholder string // first unfilled blank in the passage
	IsEnglish   bool
}

// Sentence is a sentence, list item or table row, together with its stance (what it says about its subject) and
// concepts.
type Sentence struct {
	span
	Stance
	Text           string
	Terms          []Term      // sorted by ID, one per concept
	termFilter     bloomFilter // contains the IDs of Terms
	stems          Stems
	affirmedStems  Stems     // stems outside of negated clauses
	cellContent    *Sentence // for a row: its cells without column names
	LeadIndex      int       // index of the sentence that introduces this item ("the following must be encrypted:"), or -1
	headingIndex   int       // index of its heading in the same passage, or -1
	Quantities     []Quantity
	Years          []int
	Concreteness   int            // how many of who, when, how much and with what it names
	MissingThings  []MissingThing // what it plainly states is missing
	InFailureTable bool           // for a row: reports a failure, as most rows of its table do
	failedColumns  *Stems         // the columns that report a failure; nil if the whole row does
	Disclaimed     bool           // under a heading or introduction that says that it isn't done
}

// Copy returns a copy of a sentence that doesn't keep the other sentences of its passage in memory. The copy has no
// stems, so it can't be matched with a Wording.
func (s *Sentence) Copy() *Sentence {
	out := *s
	out.stems, out.affirmedStems = Stems{}, Stems{}
	return &out
}

// Term is a concept that occurs in a sentence.
type Term struct {
	ID     uint64
	Credit float64 // 1 if the sentence names it; less for a related concept
	Clause uint8   // index of the clause that names it
}

// Limits on how much of a passage is analyzed. Text beyond them is ignored; a passage that long is a sign of bad
// splitting.
const (
	maxSentences = 400
	MaxBytes     = 64 << 10 // bytes
)

// Analyze analyzes the sentences of a passage. Deadlines after currentYear count as plans. currentYear is 0 if
// unknown.
func Analyze(text string, currentYear int) *Analysis {
	a := &Analysis{Text: text, IsEnglish: true}
	text = blankStrikethrough(text[:min(len(text), MaxBytes)])
	spans := splitSentences(text)
	if len(spans) > maxSentences {
		spans = spans[:maxSentences]
	}
	lead, heading := -1, -1 // sentence indexes
	forbidding := false     // whether the lead-in introduces prohibitions
	all := make([]word, 0, len(text)/6)
	a.Sentences = make([]Sentence, 0, len(spans))
	for _, sp := range spans {
		raw := text[sp.start:sp.end]
		cleaned := blankChoices(blankEmptyCells(raw))
		words := splitWords(cleaned)
		s := Sentence{
			span:         sp,
			Stance:       parseStanceAndClauses(cleaned, words, currentYear),
			Text:         a.Text[sp.start:sp.end],
			LeadIndex:    -1,
			headingIndex: heading,
		}
		s.IsTableRow = s.IsTableRow || isTableRow(raw)
		switch row := lineAround(text, sp); {
		case row != raw && isTableRow(row):
			s.readRowAnswer(row, splitWords(blankEmptyCells(row)), currentYear)
		case s.IsTableRow:
			s.readRowAnswer(raw, words, currentYear)
			s.readVerdictCell(raw)
		default:
			s.readInlineAnswer(raw, words)
		}
		s.Terms, s.stems = extractTerms(words, s.Stance), hashStems(words)
		s.MissingThings = findMissingSafeguards(cleaned, words, &s.Stance)
		s.affirmedStems = s.stems
		s.termFilter = newBloomFilter(s.Terms)
		if s.Denied != 0 {
			s.affirmedStems = hashStems(slices.DeleteFunc(slices.Clone(words), func(w word) bool { return s.Denied&(1<<w.clause) != 0 }))
		}
		if s.IsTableRow {
			s.cellContent = rowWithoutColumnNames(cleaned, &s)
		}
		s.Quantities, s.Years = parseQuantitiesAndYears(cleaned, words)
		s.Concreteness = countConcreteDetails(cleaned, words, s)
		if s.heading && !s.IsTableRow && !s.Mandatory && len(words) <= 10 && (!hasAuxiliaryOrModal(words) || questionWords[words[0].text]) {
			s.Fragment = true
			heading, s.headingIndex = len(a.Sentences), -1
		}
		if sp.Item && lead >= 0 {
			s.LeadIndex = lead
			if forbidding {
				s.Denied, s.Prohibited = 0, 1<<s.ClauseCount-1
			}
		}
		if s.Placeholder != "" && a.Placeholder == "" && strings.ContainsAny(s.Placeholder[:1], "[<{$_") &&
			!StartsWithUntickedBox(s.Placeholder) {
			a.Placeholder = s.Placeholder
		}
		a.Sentences = append(a.Sentences, s)
		switch {
		case strings.HasSuffix(raw, ":"):
			lead, forbidding = len(a.Sentences)-1, prohibitionLeadPattern.MatchString(raw)
		case !sp.Item:
			lead = -1
		}
		all = append(all, words...)
	}
	a.paddedWords, a.IsEnglish = joinPadded(all), isEnglishOrUnknown(text)
	mergeAnswersIntoQuestions(a)
	applyRejectionsToProposals(a)
	a.applyDisclaimers()
	a.markFailureTables()
	return a
}

// decisionPattern matches the beginning of a sentence that has no subject and states a decision on
// the preceding sentence, such as "Rejected".
var decisionPattern = lazyregexp.NewPrefiltered(
	`(?i)^\W*(?:rejected|declined|refused|dropped|abandoned|postponed|deferred|put off|turned down|not (?:agreed|approved|accepted|pursued))\b`,
)

const maxProposalWords = 8 // maximum words of the proposal before a decision

// applyRejectionsToProposals applies a decision such as "Rejected for now" to the preceding
// sentence if that sentence has no verb: "Encryption of mail. Rejected for now."
func applyRejectionsToProposals(a *Analysis) {
	for i := 1; i < len(a.Sentences); i++ {
		subject, s := &a.Sentences[i-1], &a.Sentences[i]
		if s.IsTableRow || s.Item || subject.IsTableRow || !decisionPattern.MatchString(s.Text) {
			continue
		}
		if words := splitWords(subject.Text); len(words) <= maxProposalWords && !hasAuxiliaryOrModal(words) &&
			!hasVerb(words) {
			subject.Denied, subject.affirmedStems = 1<<subject.ClauseCount-1, hashStems(nil)
		}
	}
}

// strikethroughPattern matches struck-through text.
var strikethroughPattern = lazyregexp.New(`~~[^\s~](?:[^~\n]*[^\s~])?~~`)

// blankStrikethrough replaces struck-through text with blanks, so that offsets don't change.
func blankStrikethrough(text string) string {
	if !strings.Contains(text, "~~") {
		return text
	}
	return strikethroughPattern.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat(" ", len(s)) })
}

// ContainsPhrase reports whether the text contains the given words consecutively; words must be in lower case.
func (a *Analysis) ContainsPhrase(words string) bool {
	return strings.Contains(a.paddedWords, " "+words+" ")
}

// joinPadded joins words with single spaces, and also adds a space at the beginning and at the end.
func joinPadded(words []word) string {
	var b strings.Builder
	b.WriteByte(' ')
	for _, w := range words {
		b.WriteString(w.text)
		b.WriteByte(' ')
	}
	return b.String()
}

// prohibitionLeadPattern matches the introduction to a list of prohibitions, such as "It is not allowed to:".
var prohibitionLeadPattern = lazyregexp.NewPrefiltered(
	`(?i)\b(?:prohibited|forbidden|not (?:be )?(?:allowed|permitted)|(?:must|may|shall) not)\b[^.]{0,60}:\W*$`,
)

// questionWords are words that begin headings such as "What is logged".
var questionWords = wordSet("what how who where when why which")

// hasAuxiliaryOrModal reports whether words contain an auxiliary or modal verb.
func hasAuxiliaryOrModal(words []word) bool {
	for _, w := range words {
		if auxiliaryVerbs[w.text] || modalVerbs[w.text] {
			return true
		}
	}
	return false
}

// extractTerms returns the concepts that occur in a sentence: those named by its phrases, those named by the words of
// these phrases, and related broader concepts.
func extractTerms(words []word, s Stance) []Term {
	l := sharedLexicon()
	out := make([]Term, 0, 2*len(words)) // rarely more
	add := func(concept string, credit float64, clause uint8) {
		out = append(out, Term{ID: hashTerm(concept), Credit: credit, Clause: clause})
		for _, k := range l.related[concept] {
			out = append(out, Term{ID: k.ID, Credit: credit * k.Credit, Clause: clause})
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
	if s.Mandatory {
		add("enforc", 1, 0) // the concept of "required"
	}
	return dedupeTerms(out)
}

// genericPeopleWords are stop words that still count as concepts of a sentence, because informal rules use them for
// the people they apply to.
var genericPeopleWords = wordSet("you we everyone anyone everybody nobody")

// separableVerbs are verbs whose particle may follow the object: "switch the firewall off".
var separableVerbs = map[string]map[string]string{
	"turn": {"off": "disable", "on": "enable"}, "switch": {"off": "disable", "on": "enable"}, "shut": {"off": "disable", "down": "disable"},
	"take": {
		"away": "remove",
		"off":  "remove",
		"back": "remove",
	}, "hand": {"in": "return", "back": "return"}, "give": {"back": "return"}, "strike": {"off": "remove"},
}

const maxParticleGap = 7 // words between verb and particle

// addPhrasalVerbs adds the concepts of separable verbs, such as "switch … off", whose particle follows their
// object.
func addPhrasalVerbs(words []word, add func(concept string, credit float64, clause uint8)) {
	for i, w := range words {
		particles := separableVerbs[w.stem]
		if particles == nil {
			continue
		}
		for k := i + 1; k < len(words) && k <= i+maxParticleGap; k++ {
			if verb := particles[words[k].text]; verb != "" {
				add(sharedLexicon().concept(stemOf(verb)), 1, w.clause)
				break
			}
		}
	}
}

// dedupeTerms sorts terms by ID and keeps only the highest credit of each concept.
func dedupeTerms(terms []Term) []Term {
	slices.SortStableFunc(terms, func(a, b Term) int {
		switch {
		case a.ID < b.ID, a.ID == b.ID && a.Credit > b.Credit:
			return -1
		case a.ID == b.ID && a.Credit == b.Credit:
			return 0
		}
		return 1
	})
	// An Analysis is kept, so it gets a copy without room for more.
	return slices.Clone(slices.CompactFunc(terms, func(a, b Term) bool { return a.ID == b.ID }))
}

// Concepts returns the sorted union of initial and the concepts of those sentences for which include returns
// true. If include is nil, it uses all sentences.
func (a *Analysis) Concepts(initial []uint64, include func(*Sentence) bool) []uint64 {
	out := slices.Clone(initial)
	for i := range a.Sentences {
		if s := &a.Sentences[i]; include == nil || include(s) {
			for _, t := range s.Terms {
				if t.Credit >= CreditBroader {
					out = append(out, t.ID)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Clone(slices.Compact(out))
}

// IsAffirmativeProse reports whether a sentence is prose that contains no denial, plan, blank or question.
func (s *Sentence) IsAffirmativeProse() bool {
	return s.Denied == 0 && s.PlanWords == "" && s.Placeholder == "" && !s.Question && !s.IsTableRow
}

// bloomFilter is a small Bloom filter of term IDs. It quickly rules out most terms that don't occur.
type bloomFilter [4]uint64

// newBloomFilter returns a filter with the IDs of terms.
func newBloomFilter(terms []Term) (b bloomFilter) {
	for _, t := range terms {
		b[t.ID>>6&3] |= 1 << (t.ID & 63)
	}
	return b
}

// mayContain reports whether the filter may contain a term. If it returns false, the filter certainly doesn't.
func (b *bloomFilter) mayContain(termID uint64) bool { return b[termID>>6&3]>>(termID&63)&1 != 0 }

// FindTerm returns the sentence's term with the given ID.
func (s *Sentence) FindTerm(termID uint64) (Term, bool) {
	if !s.termFilter.mayContain(termID) {
		return Term{}, false
	}
	return searchTerms(s.Terms, termID)
}

// searchTerms returns the term with the given ID. terms must be sorted by ID.
func searchTerms(terms []Term, id uint64) (Term, bool) {
	lo, hi := 0, len(terms) // hand-written binary search: this is the hottest code
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); terms[mid].ID < id {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == len(terms) || terms[lo].ID != id {
		return Term{}, false
	}
	return terms[lo], true
}
