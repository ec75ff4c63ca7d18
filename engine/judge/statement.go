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

// Statements returns the requirements of a control, each searched for separately.
func Statements(c api.Control) []string { return newControlStatements(c).statements }

// controlStatements holds the statements of a control.
type controlStatements struct {
	hasOwnCriteria bool   // whether our own criteria cover it
	topic          string // the topic, in words that documents use
	statements     []string
	source         api.StatementSource
}

// newControlStatements uses the control's assessment objectives; if it has none of its own, our
// criteria for its code; otherwise the parts of its description, its question or its title. The
// opening phrases of frameworks are removed, and there are at most eight statements.
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

// searchQueries returns the search query for each statement.
func (w controlStatements) searchQueries() []string {
	out := make([]string, len(w.statements))
	for i, s := range w.statements {
		out[i] = w.topic + ": " + s
	}
	return out
}

// trimStatements returns the trimmed, distinct statements of texts.
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

// distinctObjectives returns a control's objectives, or nil if they only repeat the description or
// parts of it.
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

// ownCriteriaFor returns our criteria for a control described in framework style: those for its
// code, provided that its texts or question share a concept with the criteria's topic, its title
// shares one with the criteria, or its description shares two. Catalog versions reassign codes, so
// the code alone proves nothing; and a control described in plain words is taken literally.
func ownCriteriaFor(c api.Control) (criteria.Entry, bool) {
	e, ok := criteria.Lookup(c.Code)
	if !ok || !frameworkStylePattern.MatchString(c.Description) {
		return criteria.Entry{}, false
	}
	controlText := c.Title + ". " + c.Description
	if c.Question != nil {
		controlText += " " + *c.Question // complete even if a workbook truncates the description
	}
	if countSharedConcepts(e.Topic, controlText) > 0 {
		return e, true
	}
	if ours := strings.Join(e.AllTexts(), ". "); countSharedConcepts(c.Title, ours) > 0 || countSharedConcepts(c.Description, ours) > 1 {
		return e, true
	}
	return criteria.Entry{}, false
}

// countSharedConcepts returns the number of non-general concepts of one text that occur in another.
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

// splitDescription splits a description into sentences, and "do X for: (1) a; (2) b" into one
// statement per item, each with the lead-in.
func splitDescription(text string) []string {
	var out []string
	for _, sp := range splitSentences(text) {
		s := CollapseSpace(text[sp.start:sp.end])
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
	s = CollapseSpace(s)
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

// preparedStatement is a statement prepared for comparison with sentences.
type preparedStatement struct {
	text             string
	concepts         []requiredConcept
	totalWeight      float64           // total weight of all concepts
	topic            []requiredConcept // the control's title
	stance           stance
	quantities       []quantity
	years            []int
	heavyConcepts    int       // concepts of full weight
	specificConcepts int       // concepts that aren't general
	documentOnly     bool      // requires documentation only
	vector           []float32 // embedding; nil without an embedder
	titledVector     []float32 // embedding with the control's title
	controlConcepts  []uint64  // for a control as a whole: all concepts of its texts
	// asksExceptions: requires handling of exceptions to a rule.
	asksExceptions bool
	asksBefore     bool // requires something before something else
	aboutLimits    bool // the statement itself is about exceptions or limits
	// Anchors that evidence must name: the control's, and those specific to the statement.
	controlAnchors, statementAnchors []anchorGroup
	wording                          wording // empty for statements that aren't our own
}

// requiredConcept is a concept that a statement requires.
type requiredConcept struct {
	id          uint64
	weight      float64
	isAction    bool
	name        string   // as written in the statement
	firstWord   int      // index of its first word in the statement
	alternative int      // number of the "or" it belongs to, from 1; 0 if none
	afterOr     bool     // after that "or"
	inTopic     bool     // part of the control's topic
	parts       []uint64 // the words of a phrase, which may occur apart ("rights of access")
}

// maxFullWeight caps the weight required of a sentence, because long statements require several
// things at once.
const maxFullWeight = 7.0

// newPreparedStatement returns a statement of a control with the given topic.
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

// onlyStopWords reports whether words carry no topic, such as "their own".
func onlyStopWords(words []word) bool {
	return !slices.ContainsFunc(words, func(w word) bool { return !stopWords[w.text] || w.stem == "IT" })
}

var recurrenceConcepts = wordSet("annual quarter month week daili") // the concepts of annual, quarterly, …

// requiredConcepts returns the concepts of a statement: the longest phrases, and the words outside
// them.
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
			name:      CollapseSpace(text[words[from].start:words[to].end]),
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

// markAlternatives marks the concepts between which an "or" lets one choose, if compounds are
// involved ("real-time or behavior-based").
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
			continue // two plain words joined by "or" are often both required
		}
		n++
		for i := range terms {
			if t := &terms[i]; t.firstWord >= from && t.firstWord <= to {
				t.alternative, t.afterOr = n, t.firstWord > k
			}
		}
	}
}
