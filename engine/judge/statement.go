package judge

import (
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge/criteria"
	"github.com/scf-service/service/internal/lazyregexp"
)

const maxStatements = 8

var (
	objectiveLabelPattern   = lazyregexp.NewPrefiltered(`(?i)^\W*(?:[a-z]+ )?(?:assessment )?objective ?\d*\s*(?:[:.)–-]\s*|$)`)
	statementOpeningPattern = lazyregexp.NewPrefiltered(
		`(?i)^(?:(?:[a-z]+[- ]){0,3}(?:mechanisms?|processes|controls?|procedures|safeguards|capabilities) (?:exist|are (?:in place|employed|used)) (?:to|for|that)\s+|(?:determine|verify|examine|check) (?:if|whether|that)[: ]+|does the (?:organi[sz]ation|company|entity)\s+|(?:is|are) the (?:organi[sz]ation|company|entity) (?:able to\s+)?|the (?:organi[sz]ation|company|entity) (?:can|is able to|has the ability to)\s+|(?:the )?(?:organi[sz]ation|company|entity) (?:ensures? that )?)`,
	)
	frameworkStylePattern = lazyregexp.New(
		`(?i)^\s*$|\bmechanisms?\b|\b(?:mechanisms?|processes|controls?|procedures|safeguards|capabilities|measures) exist\b`,
	)
	enumerationPattern         = lazyregexp.New(`\s*\(?(?:\b\d{1,2}|[a-z]|[ivx]{1,4})\)\s+`)
	trailingConjunctionPattern = lazyregexp.New(`(?i)[;,.\s]*(?:\b(?:and|or|and ?/ ?or)\b)?[;,.\s]*$`)
)

// Statements are the things a control asks for, each to be looked for by itself.
func Statements(c api.Control) []string { return newControlStatements(c).statements }

// controlStatements is what a control asks for.
type controlStatements struct {
	hasOwnCriteria bool   // our criteria are for it
	topic          string // what it is about, in words that documents use
	statements     []string
	source         api.StatementSource
}

// newControlStatements takes the control's assessment objectives; where it has none of its own, our criteria
// for its code; else the parts of its description, its question or its title. Statements are
// without the phrases that frameworks begin with, and at most eight.
func newControlStatements(c api.Control) controlStatements {
	w := controlStatements{topic: c.Title}
	ours, known := ownCriteriaFor(c)
	if known {
		w.topic, w.hasOwnCriteria = ours.Topic, true
	}
	for _, option := range []struct {
		from  api.StatementSource
		texts func() []string
	}{
		{api.FromObjectives, func() []string { return distinctObjectives(c) }},
		{api.FromCriteria, func() []string { return ours.Sentences }},
		{api.FromDescription, func() []string { return splitDescription(c.Description) }},
		{api.FromQuestion, func() []string {
			if c.Question == nil {
				return nil
			}
			return splitDescription(*c.Question)
		}},
		{api.FromTitle, func() []string { return []string{c.Title} }},
	} {
		if w.statements = trimStatements(option.texts()); len(w.statements) > 0 {
			w.source = option.from
			break
		}
	}
	return w
}

// searchQueries are what a search is asked for each statement.
func (w controlStatements) searchQueries() []string {
	out := make([]string, len(w.statements))
	for i, s := range w.statements {
		out[i] = w.topic + ": " + s
	}
	return out
}

// trimStatements are the statements of some texts, each once.
func trimStatements(texts []string) (out []string) {
	seen := make(map[string]bool)
	for _, s := range texts {
		s = trimStatement(s)
		if key := strings.ToLower(s); len(s) > 2 && !seen[key] && len(out) < maxStatements {
			seen[key] = true
			out = append(out, s)
		}
	}
	return out
}

// distinctObjectives are a control's own; none where they only say again what the description says,
// or a part of it.
func distinctObjectives(c api.Control) []string {
	whole := strings.ToLower(trimStatement(c.Description))
	out := make([]string, len(c.AssessmentObjectives))
	own := whole == ""
	for i, o := range c.AssessmentObjectives {
		out[i] = o.Text
		own = own || !strings.Contains(whole, strings.ToLower(strings.TrimRight(trimStatement(o.Text), ".")))
	}
	if !own {
		return nil
	}
	return out
}

// ownCriteriaFor are our criteria for a control that is described in the way of frameworks: those of its
// code, if its texts or its question say something of their topic, its title something of what they
// say, or its description two things of that. Codes are given anew in some versions of a catalog, so
// that the code alone proves nothing; and who describes a control in plain words means these.
func ownCriteriaFor(c api.Control) (criteria.Entry, bool) {
	e, ok := criteria.Lookup(c.Code)
	if !ok || !frameworkStylePattern.MatchString(c.Description) {
		return criteria.Entry{}, false
	}
	controlText := c.Title + ". " + c.Description
	if c.Question != nil {
		controlText += " " + *c.Question // which is whole where a workbook cuts the description
	}
	if countSharedConcepts(e.Topic, controlText) > 0 {
		return e, true
	}
	if ours := strings.Join(e.AllTexts(), ". "); countSharedConcepts(c.Title, ours) > 0 || countSharedConcepts(c.Description, ours) > 1 {
		return e, true
	}
	return criteria.Entry{}, false
}

// countSharedConcepts is how many concepts of one text that are more than general words stand in another.
func countSharedConcepts(one, other string) (n int) {
	target := sentence{terms: extractTerms(splitWords(other), stance{})}
	target.termFilter = newBloomFilter(target.terms)
	for _, a := range requiredConcepts(one, splitWords(one)) {
		if _, there := a.findIn(&target); there && a.weight > weightGeneral {
			n++
		}
	}
	return n
}

// splitDescription cuts a description into sentences, and "do X for: (1) a; (2) b" into one
// statement for each, with what stands before them.
func splitDescription(text string) []string {
	var out []string
	for _, sp := range splitSentences(text) {
		s := collapseSpace(text[sp.start:sp.end])
		marks := enumerationPattern.FindAllStringIndex(s, -1)
		if len(marks) < 2 || marks[0][0] == 0 {
			out = append(out, s)
			continue
		}
		lead := strings.TrimRight(s[:marks[0][0]], " :,;")
		for i, m := range marks {
			end := len(s)
			if i+1 < len(marks) {
				end = marks[i+1][0]
			}
			out = append(out, lead+" "+trailingConjunctionPattern.ReplaceAllString(s[m[1]:end], ""))
		}
	}
	return out
}

func trimStatement(s string) string {
	s = collapseSpace(s)
	s = objectiveLabelPattern.ReplaceAllString(s, "")
	for range 2 {
		s = statementOpeningPattern.ReplaceAllString(s, "")
	}
	s = strings.TrimRight(s, " ?;:,")
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// preparedStatement is a statement ready to be compared with sentences.
type preparedStatement struct {
	text             string
	concepts         []requiredConcept
	totalWeight      float64           // weight of all terms
	topic            []requiredConcept // the control's title
	stance           stance
	quantities       []quantity
	years            []int
	heavyConcepts    int       // concepts of full weight
	specificConcepts int       // concepts that aren't general
	documentOnly     bool      // nothing is to be done but written
	vector           []float32 // what it means; nil without an embedder
	titledVector     []float32 // the same with the control's title
	controlConcepts  []uint64  // of a control as a whole: all concepts of its texts
	// asksExceptions: it asks what is done about exceptions from a rule.
	asksExceptions bool
	asksBefore     bool // it asks for something before something else
	aboutLimits    bool // the statement itself is about exceptions or limits
	// What its evidence has to name: that of its control, and that of the statement beyond.
	controlAnchors, statementAnchors []anchorGroup
	wording                          wording // none for texts of others
}

// requiredConcept is a concept that a statement asks for.
type requiredConcept struct {
	id          uint64
	weight      float64
	isAction    bool
	name        string   // as the statement writes it
	firstWord   int      // its first word in the statement
	alternative int      // the "or" it stands beside, counted from 1; 0 where none
	afterOr     bool     // behind that "or"
	inTopic     bool     // a thing that the control is about
	parts       []uint64 // of a phrase: its words, which may stand apart ("rights of access")
}

// maxFullWeight: a long statement says several things at once; a sentence that
// bears this much of it is not to be asked for more.
const maxFullWeight = 7.0

// newPreparedStatement is the statement of a control that is about a topic.
func newPreparedStatement(text string, topic []requiredConcept) *preparedStatement {
	words := splitWords(text)
	d := &preparedStatement{text: text, topic: topic, stance: parseStance(text, words, 0)}
	d.concepts = requiredConcepts(text, words)
	d.documentOnly = true
	for _, t := range d.concepts {
		d.documentOnly = d.documentOnly && !t.isAction
		d.totalWeight += t.weight
		if t.weight >= weightFull {
			d.heavyConcepts++
		}
		if t.weight > weightGeneral {
			d.specificConcepts++
		}
	}
	for i := range d.concepts {
		t := &d.concepts[i]
		t.inTopic = !t.isAction && slices.ContainsFunc(d.topic, func(topicConcept requiredConcept) bool { return topicConcept.id == t.id })
	}
	d.quantities, d.years = parseQuantities(text, words)
	d.asksBefore = beforePattern.MatchString(text) && !afterPattern.MatchString(text)
	for _, w := range words {
		switch w.text {
		case "exception", "exceptions", "exemption", "exemptions", "waiver", "waivers", "deviation", "deviations":
			d.aboutLimits, d.asksExceptions = true, true
		case "only", "except", "unless", "exclusion", "exclusions", "exempt", "limited":
			d.aboutLimits = true
		}
	}
	return d
}

// onlyStopWords: nothing but words without a topic, such as "their own".
func onlyStopWords(words []word) bool {
	return !slices.ContainsFunc(words, func(w word) bool { return !stopWords[w.text] || w.stem == "IT" })
}

var recurrenceConcepts = wordSet("annual quarter month week daili") // the concepts of annual, quarterly, …

// requiredConcepts are the concepts of a statement: the longest phrases, and the words outside them.
func requiredConcepts(text string, words []word) []requiredConcept {
	l := sharedLexicon()
	var out []requiredConcept
	seen := make(map[uint64]bool)
	add := func(concept string, from, to int, weight float64) {
		id := hashTerm(concept)
		if seen[id] {
			return
		}
		seen[id] = true
		a := requiredConcept{
			id:        id,
			firstWord: from,
			weight:    weight,
			isAction:  l.actions[concept],
			name:      collapseSpace(text[words[from].start:words[to].end]),
		}
		if to > from {
			for _, w := range words[from : to+1] {
				if !stopWords[w.text] {
					a.parts = append(a.parts, hashTerm(l.concept(w.stem)))
				}
			}
		}
		out = append(out, a)
	}
	for i := 0; i < len(words); i++ {
		w := words[i]
		if concept, n := l.longestPhrase(words, i); n > 0 && !onlyStopWords(words[i:i+n]) {
			if recurrenceConcepts[concept] {
				i += n - 1
				continue // compared as a quantity
			}
			add(concept, i, i+n-1, l.weightOf(concept)*(1+0.25*float64(min(n, 3)-1)))
			i += n - 1
			continue
		}
		if positive := negatedForms[w.text]; positive != "" {
			add(l.concept(positive), i, i, 1)
			continue
		}
		if stopWords[w.text] || len(w.stem) < 2 {
			continue
		}
		if _, isNumber := parseNumber(w.text); isNumber {
			continue // compared as a quantity
		}
		concept := l.concept(w.stem)
		add(concept, i, i, l.weightOf(concept))
	}
	markAlternatives(out, text, words)
	return out
}

// markAlternatives notes what an "or" between compounds lets choose between
// ("real-time or behavior-based").
func markAlternatives(terms []requiredConcept, text string, words []word) {
	hyphenated := func(i int) bool { // words i and i+1
		return i >= 0 && i+1 < len(words) && text[words[i].end:words[i+1].start] == "-"
	}
	n := 0
	for k := 1; k+1 < len(words); k++ {
		if words[k].text != "or" {
			continue
		}
		from, to := k-1, k+1
		for hyphenated(from - 1) {
			from--
		}
		for hyphenated(to) {
			to++
		}
		if to-from == 2 {
			continue // two plain words are often a list of what is all asked for
		}
		n++
		for i := range terms {
			if t := &terms[i]; t.firstWord >= from && t.firstWord <= to {
				t.alternative, t.afterOr = n, t.firstWord > k
			}
		}
	}
}
