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
	labelled   = lazyregexp.Guard(`(?i)^\W*(?:[a-z]+ )?(?:assessment )?objective ?\d*\s*(?:[:.)–-]\s*|$)`)
	openings   = lazyregexp.Guard(`(?i)^(?:(?:[a-z]+[- ]){0,3}(?:mechanisms?|processes|controls?|procedures|safeguards|capabilities) (?:exist|are (?:in place|employed|used)) (?:to|for|that)\s+|(?:determine|verify|examine|check) (?:if|whether|that)[: ]+|does the (?:organi[sz]ation|company|entity)\s+|(?:is|are) the (?:organi[sz]ation|company|entity) (?:able to\s+)?|the (?:organi[sz]ation|company|entity) (?:can|is able to|has the ability to)\s+|(?:the )?(?:organi[sz]ation|company|entity) (?:ensures? that )?)`)
	formal     = lazyregexp.Of(`(?i)^\s*$|\bmechanisms?\b|\b(?:mechanisms?|processes|controls?|procedures|safeguards|capabilities|measures) exist\b`)
	enumerated = lazyregexp.Of(`\s*\(?(?:\b\d{1,2}|[a-z]|[ivx]{1,4})\)\s+`)
	trailing   = lazyregexp.Of(`(?i)[;,.\s]*(?:\b(?:and|or|and ?/ ?or)\b)?[;,.\s]*$`)
)

// Statements are the things a control asks for, each to be looked for by itself.
func Statements(c api.Control) []string { return wantsOf(c).statements }

// wants is what a control asks for.
type wants struct {
	ours       bool   // our criteria are for it
	topic      string // what it is about, in words that documents use
	statements []string
	from       api.StatementSource
}

// wantsOf takes the control's assessment objectives; where it has none of its own, our criteria
// for its code; else the parts of its description, its question or its title. Statements are
// without the phrases that frameworks begin with, and at most eight.
func wantsOf(c api.Control) wants {
	w := wants{topic: c.Title}
	ours, known := oursFor(c)
	if known {
		w.topic, w.ours = ours.Topic, true
	}
	for _, of := range []struct {
		from  api.StatementSource
		texts func() []string
	}{
		{api.FromObjectives, func() []string { return objectives(c) }},
		{api.FromCriteria, func() []string { return ours.Sentences }},
		{api.FromDescription, func() []string { return parts(c.Description) }},
		{api.FromQuestion, func() []string {
			if c.Question == nil {
				return nil
			}
			return parts(*c.Question)
		}},
		{api.FromTitle, func() []string { return []string{c.Title} }},
	} {
		if w.statements = trimmed(of.texts()); len(w.statements) > 0 {
			w.from = of.from
			break
		}
	}
	return w
}

// questions are what a search is asked for each statement.
func (w wants) questions() []string {
	out := make([]string, len(w.statements))
	for i, s := range w.statements {
		out[i] = w.topic + ": " + s
	}
	return out
}

// trimmed are the statements of some texts, each once.
func trimmed(texts []string) (out []string) {
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

// objectives are a control's own; none where they only say again what the description says,
// or a part of it.
func objectives(c api.Control) []string {
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

// oursFor are our criteria for a control that is described in the way of frameworks: those of its
// code, if its texts or its question say something of their topic, its title something of what they
// say, or its description two things of that. Codes are given anew in some versions of a catalog, so
// that the code alone proves nothing; and who describes a control in plain words means these.
func oursFor(c api.Control) (criteria.Entry, bool) {
	e, ok := criteria.Of(c.Code)
	if !ok || !formal.MatchString(c.Description) {
		return criteria.Entry{}, false
	}
	said := c.Title + ". " + c.Description
	if c.Question != nil {
		said += " " + *c.Question // which is whole where a workbook cuts the description
	}
	if shared(e.Topic, said) > 0 {
		return e, true
	}
	if ours := strings.Join(e.Texts(), ". "); shared(c.Title, ours) > 0 || shared(c.Description, ours) > 1 {
		return e, true
	}
	return criteria.Entry{}, false
}

// shared is how many concepts of one text that are more than general words stand in another.
func shared(one, other string) (n int) {
	said := sentence{terms: termsOf(split(other), stance{})}
	said.held = bitsOf(said.terms)
	for _, a := range askedOf(one, split(one)) {
		if _, there := a.in(&said); there && a.weight > weightGeneral {
			n++
		}
	}
	return n
}

// parts cuts a description into sentences, and "do X for: (1) a; (2) b" into one
// statement for each, with what stands before them.
func parts(text string) []string {
	var out []string
	for _, sp := range sentences(text) {
		s := fold(text[sp.start:sp.end])
		marks := enumerated.FindAllStringIndex(s, -1)
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
			out = append(out, lead+" "+trailing.ReplaceAllString(s[m[1]:end], ""))
		}
	}
	return out
}

func trimStatement(s string) string {
	s = fold(s)
	s = labelled.ReplaceAllString(s, "")
	for range 2 {
		s = openings.ReplaceAllString(s, "")
	}
	s = strings.TrimRight(s, " ?;:,")
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// demand is a statement ready to be compared with sentences.
type demand struct {
	text   string
	terms  []asked
	total  float64 // weight of all terms
	topic  []asked // the control's title
	stance stance
	times  []quantity
	years  []int
	heavy  int       // concepts of full weight
	hits   int       // concepts that aren't general
	paper  bool      // nothing is to be done but written
	vector []float32 // what it means; nil without an embedder
	titled []float32 // the same with the control's title
	known  []uint64  // of a control as a whole: all concepts of its texts
	// excused: it asks what is done about exceptions from a rule.
	excused bool
	ahead   bool // it asks for something before something else
	only    bool // the statement itself is about exceptions or limits
	// What its evidence has to name: that of its control, and that of the statement beyond.
	names, says []anchor
	wording     wording // none for texts of others
}

// asked is a concept that a statement asks for.
type asked struct {
	id      uint64
	weight  float64
	action  bool
	name    string   // as the statement writes it
	from    int      // its first word in the statement
	or      int      // the "or" it stands beside, counted from 1; 0 where none
	after   bool     // behind that "or"
	topical bool     // a thing that the control is about
	parts   []uint64 // of a phrase: its words, which may stand apart ("rights of access")
}

// maxDemandWeight: a long statement says several things at once; a sentence that
// bears this much of it is not to be asked for more.
const maxDemandWeight = 7.0

// newDemand is the statement of a control that is about a topic.
func newDemand(text string, topic []asked) *demand {
	words := split(text)
	d := &demand{text: text, topic: topic, stance: read(text, words, 0)}
	d.terms = askedOf(text, words)
	d.paper = true
	for _, t := range d.terms {
		d.paper = d.paper && !t.action
		d.total += t.weight
		if t.weight >= weightPlain {
			d.heavy++
		}
		if t.weight > weightGeneral {
			d.hits++
		}
	}
	for i := range d.terms {
		t := &d.terms[i]
		t.topical = !t.action && slices.ContainsFunc(d.topic, func(of asked) bool { return of.id == t.id })
	}
	d.times, d.years = quantities(text, words)
	d.ahead = saysBefore.MatchString(text) && !saysAfter.MatchString(text)
	for _, w := range words {
		switch w.text {
		case "exception", "exceptions", "exemption", "exemptions", "waiver", "waivers", "deviation", "deviations":
			d.only, d.excused = true, true
		case "only", "except", "unless", "exclusion", "exclusions", "exempt", "limited":
			d.only = true
		}
	}
	return d
}

// allStop: nothing but words without a topic, such as "their own".
func allStop(words []word) bool {
	return !slices.ContainsFunc(words, func(w word) bool { return !stopWords[w.text] || w.stem == "IT" })
}

var recurring = wordSet("annual quarter month week daili") // the concepts of annual, quarterly, …

// askedOf are the concepts of a statement: the longest phrases, and the words outside them.
func askedOf(text string, words []word) []asked {
	l := lex()
	var out []asked
	seen := make(map[uint64]bool)
	add := func(concept string, from, to int, weight float64) {
		id := termID(concept)
		if seen[id] {
			return
		}
		seen[id] = true
		a := asked{id: id, from: from, weight: weight, action: l.action[concept], name: fold(text[words[from].start:words[to].end])}
		if to > from {
			for _, w := range words[from : to+1] {
				if !stopWords[w.text] {
					a.parts = append(a.parts, termID(l.concept(w.stem)))
				}
			}
		}
		out = append(out, a)
	}
	for i := 0; i < len(words); i++ {
		w := words[i]
		if concept, n := l.at(words, i); n > 0 && !allStop(words[i:i+n]) {
			if recurring[concept] {
				i += n - 1
				continue // compared as a quantity
			}
			add(concept, i, i+n-1, l.weightOf(concept)*(1+0.25*float64(min(n, 3)-1)))
			i += n - 1
			continue
		}
		if positive := undone[w.text]; positive != "" {
			add(l.concept(positive), i, i, 1)
			continue
		}
		if stopWords[w.text] || len(w.stem) < 2 {
			continue
		}
		if _, isNumber := number(w.text); isNumber {
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
func markAlternatives(terms []asked, text string, words []word) {
	tied := func(i int) bool { // words i and i+1
		return i >= 0 && i+1 < len(words) && text[words[i].end:words[i+1].start] == "-"
	}
	n := 0
	for k := 1; k+1 < len(words); k++ {
		if words[k].text != "or" {
			continue
		}
		from, to := k-1, k+1
		for tied(from - 1) {
			from--
		}
		for tied(to) {
			to++
		}
		if to-from == 2 {
			continue // two plain words are often a list of what is all asked for
		}
		n++
		for i := range terms {
			if t := &terms[i]; t.from >= from && t.from <= to {
				t.or, t.after = n, t.from > k
			}
		}
	}
}
