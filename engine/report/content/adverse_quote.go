package content

import (
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/lazyregexp"
)

var (
	// subjectDenial matches sentences whose negation only limits their subject, such as "Weaknesses that have not yet led to
	// an incident are reported".
	subjectDenial = lazyregexp.New(`(?i)^(?:[\w'’-]+\s+){1,4}(?:that|which|who|whom|whose)\s[^,;.:]*` +
		`\b(?:not|never|no|nobody|none)\b[^,;.:]*\s(?:are|is|was|were|must|shall|will|may|can|has to|have to)\s`)
	negation = lazyregexp.New(`(?i)\b(?:not|never|no|nobody|none|neither|nor|without|cannot)\b|n['’]t\b`)
	// futureWords match clauses that say what is planned.
	futureWords = lazyregexp.New(`(?i)\b(?:will|shall|plan(?:s|ned|ning)?|intend(?:s|ed)?|schedul(?:es|ed)|propos(?:es|ed)|to\s+be(?:gin)?|` +
		`going\s+to|next\s+(?:year|quarter|month)|20\d\d|not\s+(?:yet\s+)?started|roadmap|until)\b`)
)

// deniesOnlyInSubject reports whether a sentence negates only a part of its subject and therefore denies nothing.
func deniesOnlyInSubject(quote string) bool {
	at := subjectDenial.FindStringIndex(quote)
	return at != nil && !negation.MatchString(quote[at[1]:])
}

// plansMatchingClause reports whether the clause of a passage that has most in common with the measure is about plans.
// Rows of tables are about plans as a whole.
func plansMatchingClause(e *api.Evidence) bool {
	if strings.Contains(e.Quote, ": ") {
		return true
	}
	wanted := map[string]bool{}
	for _, w := range longWords(e.Statement) {
		wanted[w] = true
	}
	best, most := "", -1
	for clause := range strings.SplitSeq(e.Quote, ";") {
		n := 0
		for _, w := range longWords(clause) {
			if wanted[w] {
				n++
			}
		}
		if n > most {
			best, most = clause, n
		}
	}
	return futureWords.MatchString(best)
}

// longWords returns the words of a text in lowercase, without those that are too short to have a meaning of their own.
func longWords(s string) (out []string) {
	for _, w := range strings.Fields(strings.ToLower(s)) {
		if w = strings.Trim(w, ".,;:()“”\"'"); len(w) > 3 {
			out = append(out, w)
		}
	}
	return out
}
