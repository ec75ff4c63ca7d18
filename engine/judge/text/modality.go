package text

import "strings"

// readModality determines how binding a sentence is: must, should or may.
func readModality(s *Stance, text string, words []word) {
	weak := ""
	for i, w := range words {
		if s.IsTableRow && isInColumnName(text, w) {
			continue // part of a column name
		}
		switch {
		case isOneOf(w.text, "must", "shall", "mandatory", "required", "requires", "enforced", "obliged"):
			s.Mandatory = true
		case hedgeWords[w.text] && wordAt(words, i+1) != "not" && (s.Conditional|s.Denied)&(1<<w.clause) == 0:
			// "may not" and "no visitor may" are prohibitions, and "may only" is a restriction;
			// "should an incident occur" is a condition.
			if w.text == "may" && (isRestrictingMay(words, i) || isSanctionMay(words, i) || entitlementVerbs[wordAt(words, i+1)]) {
				s.Mandatory = true
				continue
			}
			if w.text == "should" && i == 0 || isOneOf(w.text, "may", "might", "could") && isVerbOfSubordinateClause(words, i) {
				continue
			}
			weak = w.text
		case isOneOf(w.text, "possible", "feasible", "practicable", "practical"):
			for k := i - 1; k >= 0 && k >= i-4 && words[k].text != "not"; k-- {
				if p := words[k].text; isOneOf(p, "where", "if", "when", "wherever", "whenever", "reasonably", "extent") {
					weak = p + " " + w.text
				}
			}
		case w.text == "try" || w.text == "aim" && wordAt(words, i+1) == "to" || w.text == "aims" || w.text == "strives" ||
			w.text == "endeavours" || w.text == "endeavors" || w.text == "endeavor" || w.text == "seeks" ||
			w.text == "attempts" && wordAt(words, i+1) == "to":
			weak = w.text
		}
	}
	if weak != "" && !s.Mandatory || strings.Contains(weak, " ") {
		s.Hedge = weak
	}
}

// isRestrictingMay reports whether the "may" at i expresses a restriction: "may use encrypted sticks only", "no
// visitor may enter".
func isRestrictingMay(words []word, i int) bool {
	return clauseHas(words, words[i].clause, "only", "no", "nobody", "none", "neither", "nor", "never")
}

// isSanctionMay reports whether the "may" at i announces a sanction: "may be subject to disciplinary action".
func isSanctionMay(words []word, i int) bool {
	next := wordAt(words, i+1)
	return next == "result" || next == "lead" || next == "be" && sanctionWords[wordAt(words, i+2)]
}

// entitlementVerbs are verbs that express a right after "may": "the authority to which the patient may
// complain".
var entitlementVerbs = wordSet("complain appeal object")

var sanctionWords = wordSet("subject subjected disciplined dismissed")

// isInColumnName reports whether a word of a table row ("Name: value; …") belongs to a column name.
func isInColumnName(text string, w word) bool {
	from := strings.LastIndexAny(text[:w.start], ";|") + 1
	rest := text[w.end:]
	if end := strings.IndexAny(rest, ";|"); end >= 0 {
		rest = rest[:end]
	}
	return !strings.Contains(text[from:w.start], ": ") && strings.Contains(rest, ": ")
}

// isVerbOfSubordinateClause reports whether the verb at i belongs to a subordinate clause, as in "systems that may
// hold personal data".
func isVerbOfSubordinateClause(words []word, i int) bool {
	p := wordAt(words, i-1)
	return isOneOf(p, "that", "which", "who", "as", "they", "it")
}
