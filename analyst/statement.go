package analyst

import (
	"strings"

	"github.com/scf-service/service/engine/api"
	"github.com/scf-service/service/expression"
)

const maxStatements = 8

var (
	labelled   = expression.Of(`(?i)^\W*(?:[a-z]+ )?(?:assessment )?objective ?\d*\s*[:.)–-]\s*`)
	openings   = expression.Of(`(?i)^(?:(?:[a-z]+[- ])?(?:mechanisms?|processes|controls?|procedures|safeguards|capabilities) (?:exist|are (?:in place|employed|used)) (?:to|for|that)\s+|(?:determine|verify|examine|check) (?:if|whether|that)[: ]+|does the (?:organi[sz]ation|company|entity)\s+|(?:is|are) the (?:organi[sz]ation|company|entity) (?:able to\s+)?|the (?:organi[sz]ation|company|entity) (?:can|is able to|has the ability to)\s+|(?:the )?(?:organi[sz]ation|company|entity) (?:ensures? that )?)`)
	enumerated = expression.Of(`\s*\(?(?:\b\d{1,2}|[a-z]|[ivx]{1,4})\)\s+`)
	trailing   = expression.Of(`(?i)[;,.\s]*(?:\b(?:and|or|and ?/ ?or)\b)?[;,.\s]*$`)
)

// Statements are the things a control asks for, each to be looked for by itself:
// its assessment objectives, else the parts of its description, else its question.
// They are without the phrases that frameworks begin with, and at most eight.
func Statements(c api.Control) []string {
	var out []string
	seen := make(map[string]bool)
	add := func(s string) {
		s = trimStatement(s)
		if key := strings.ToLower(s); len(s) > 2 && !seen[key] && len(out) < maxStatements {
			seen[key] = true
			out = append(out, s)
		}
	}
	for _, o := range c.AssessmentObjectives {
		add(o.Text)
	}
	if len(out) == 0 {
		for _, part := range parts(c.Description) {
			add(part)
		}
	}
	if len(out) == 0 && c.Question != nil {
		for _, part := range parts(*c.Question) {
			add(part)
		}
	}
	if len(out) == 0 {
		add(c.Title)
	}
	return out
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
	only    bool // the statement itself is about exceptions or limits
}

// asked is a concept that a statement asks for.
type asked struct {
	id     uint64
	weight float64
	action bool
	name   string   // as the statement writes it
	from   int      // its first word in the statement
	or     int      // the "or" it stands beside, counted from 1; 0 where none
	after  bool     // behind that "or"
	parts  []uint64 // of a phrase: its words, which may stand apart ("rights of access")
}

// maxDemandWeight: a long statement says several things at once; a sentence that
// bears this much of it is not to be asked for more.
const maxDemandWeight = 7.0

func newDemand(text, title string) demand {
	words := split(text)
	d := demand{text: text, stance: read(text, words, 0)}
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
	d.topic = askedOf(title, split(title))
	d.times, d.years = quantities(text, words)
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
		if concept, n := l.at(words, i); n > 0 {
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
