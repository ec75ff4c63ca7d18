package judge

import "strings"

// readModality finds how far a sentence binds: what must be, what should be, what may be only so.
func readModality(s *stance, text string, words []word) {
	weak := ""
	for i, w := range words {
		if s.row && inLabel(text, w) {
			continue // the name of a column
		}
		switch {
		case w.text == "must" || w.text == "shall" || w.text == "mandatory" || w.text == "required" || w.text == "requires" || w.text == "enforced" || w.text == "obliged":
			s.strong = true
		case hedges[w.text] && at(words, i+1) != "not" && (s.conditional|s.denied)&(1<<w.clause) == 0:
			// "may not" and "no visitor may" forbid, "may only" restricts; "should an incident occur" supposes.
			if w.text == "may" && (limits(words, i) || threatens(words, i) || entitled[at(words, i+1)]) {
				s.strong = true
				continue
			}
			if w.text == "should" && i == 0 || (w.text == "may" || w.text == "might" || w.text == "could") && subordinate(words, i) {
				continue
			}
			weak = w.text
		case w.text == "possible" || w.text == "feasible" || w.text == "practicable" || w.text == "practical":
			for k := i - 1; k >= 0 && k >= i-4 && words[k].text != "not"; k-- {
				if p := words[k].text; p == "where" || p == "if" || p == "when" || p == "wherever" || p == "whenever" || p == "reasonably" || p == "extent" {
					weak = p + " " + w.text
				}
			}
		case w.text == "try" || w.text == "aim" && at(words, i+1) == "to" || w.text == "aims" || w.text == "strives" || w.text == "endeavours" || w.text == "endeavors" || w.text == "endeavor" || w.text == "seeks" || w.text == "attempts" && at(words, i+1) == "to":
			weak = w.text
		}
	}
	if weak != "" && !s.strong || strings.Contains(weak, " ") {
		s.hedge = weak
	}
}

// limits: the "may" at i says what alone is allowed: "may use encrypted sticks only", "no visitor may enter".
func limits(words []word, i int) bool {
	return clauseHas(words, words[i].clause, "only", "no", "nobody", "none", "neither", "nor", "never")
}

// threatens: the "may" at i says what follows a breach: "may be subject to disciplinary action".
func threatens(words []word, i int) bool {
	next := at(words, i+1)
	return next == "result" || next == "lead" || next == "be" && punished[at(words, i+2)]
}

// entitled: what one may do by right: "the authority to which the patient may complain".
var entitled = wordSet("complain appeal object")

var punished = wordSet("subject subjected disciplined dismissed")

// inLabel: the word stands in the name of a column, "Name: value; …".
func inLabel(text string, w word) bool {
	from := strings.LastIndexAny(text[:w.start], ";|") + 1
	rest := text[w.end:]
	if end := strings.IndexAny(rest, ";|"); end >= 0 {
		rest = rest[:end]
	}
	return !strings.Contains(text[from:w.start], ": ") && strings.Contains(rest, ": ")
}

// subordinate: the verb belongs to a side clause ("systems that may hold personal data").
func subordinate(words []word, i int) bool {
	p := at(words, i-1)
	return p == "that" || p == "which" || p == "who" || p == "as" || p == "they" || p == "it"
}
