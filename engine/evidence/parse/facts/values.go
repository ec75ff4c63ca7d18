package facts

import (
	"strings"
	"time"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/lazyregexp"
)

// recordFact stores a value if its key is known and the value is suitable for it.
func (f *factCollector) recordFact(key, value string) {
	kind, ok := document.FactKindOf(key)
	if !ok {
		return
	}
	value = cutValue(strings.Trim(document.CleanLine(value), " :*_|"))
	if value == "" || len(value) > maxFactValue || isPlaceholder(value) {
		return
	}
	date, isDate, ambiguous := document.FindDate(value)
	if ambiguous {
		f.doc.AddWarning("The date " + value + " could mean day/month or month/day, so it was not used as the document's date.")
		return
	}
	switch kind {
	case document.FactEffective:
		setDateIfUnset(&f.effective, date, isDate)
	case document.FactApproved, document.FactApprovedBy:
		setDateIfUnset(&f.approved, date, isDate)
		if person := personIn(value, isDate); !dutyPattern.MatchString(person) {
			setTextIfUnset(&f.approver, person)
		}
	case document.FactRevised:
		setDateIfUnset(&f.revised, date, isDate)
	case document.FactVersion:
		if v := extractVersion(value); v != "" {
			setTextIfUnset(&f.version, strings.TrimRight(v, "."))
			setDateIfUnset(&f.revised, date, isDate) // "1.4 of 2 May 2026"
		}
	case document.FactOwner:
		setTextIfUnset(&f.owner, personIn(value, isDate))
	case document.FactTitle:
		setTextIfUnset(&f.doc.Title, value)
	}
}

// cutValue returns a value without the key or page number that follows it on its line.
func cutValue(value string) string {
	m := valueEndPattern.FindStringSubmatchIndex(value)
	if m == nil {
		return value
	}
	if m[2] < 0 {
		return value[:m[0]]
	}
	// "Head of Operations Classification: Internal": the key is the last word, unless the preceding
	// word belongs to the key.
	first, last := value[m[2]:m[3]], value[m[4]:m[5]]
	if document.IsLabelNoun(last) && !document.IsLabelNoun(first) && !keyLeads[strings.ToLower(first)] {
		return strings.TrimRight(value[:m[4]], " ")
	}
	return value[:m[0]]
}

// keyLeads are words with which the name of a key may begin, before a noun, as in "Document Classification".
var keyLeads = func() map[string]bool {
	m := map[string]bool{}
	for word := range strings.FieldsSeq(`approval business change control creation current data distribution doc document due effective
		expiry file first governance information initial internal issue issuing job last latest next original planned plan policy
		procedure publication published record release responsible revision risk security service sign-off standard start
		target template valid validity`) {
		m[word] = true
	}
	return m
}()

// personIn returns the person, role or body in a value, without a date after it, or "" if there is none.
func personIn(value string, hasDate bool) string {
	person := sentenceEndPattern.ReplaceAllString(strings.TrimPrefix(value, "the "), "$1")
	if hasDate {
		person = dateSuffixPattern.ReplaceAllString(person, "")
	}
	person = finalDotPattern.ReplaceAllString(strings.TrimRight(person, " ,;("), "$1")
	if !namePattern.MatchString(person) {
		return ""
	}
	return person
}

var (
	// dateSuffixPattern matches a date after a name, including the words and punctuation before it.
	dateSuffixPattern = lazyregexp.New(`(?i)(?:^|[,(–-]? *(?:\bon\b|\bam\b|\bdated\b)? *\(?)(?:\b(?:jan|feb|mar|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez|mär)` +
		`\p{L}*\.? )?\d.*$`)
	// finalDotPattern matches the dot at the end of a sentence, but not of an abbreviation.
	finalDotPattern = lazyregexp.New(`(\p{L}{4}|\b\p{Lu}{2,})\.$`)
	namePattern     = lazyregexp.New(`\p{L}{2}`)
)

// valueEndPattern matches what follows a value on its line: another key, whether it is known or not, or a page number.
// Its groups are the words of a key that consists of two capitalized words.
var valueEndPattern = lazyregexp.New(`[.,;]?(?:\s+(\p{Lu}[\p{L}-]{2,20}) (\p{Lu}[\p{L}-]{1,15}) ?:\s.*|` +
	`\s+\p{Lu}[\p{L}-]{2,20}(?: \p{L}[\p{L}-]{1,15}|(?: \p{Ll}{2,15}){2})? ?:\s.*|` +
	`[\s(-]+(?:[Pp]age|[Ss]eite|[Pp]\.) \d+\b.*)$`)

// sentenceEndPattern matches the end of a person's or role's name, together with the sentence that follows. It doesn't
// match after abbreviations, as in "Dr. Roe" and "J. Roe".
var sentenceEndPattern = lazyregexp.New(`([\p{Ll}\d)]{3,}|\b[A-Z]{2,})\. +\p{Lu}.*$`)

// dutyPattern matches a verb that states a duty. For example, "the CIO must approve the plan" doesn't name an
// approver.
var dutyPattern = lazyregexp.New(`(?i)\b(?:must|shall|should|will|needs? to|has to|have to)\b`)

func setDateIfUnset(to **time.Time, t time.Time, ok bool) {
	if ok && *to == nil {
		*to = &t
	}
}

func setTextIfUnset(to *string, v string) {
	if *to == "" {
		*to = v
	}
}

// promptPattern matches placeholders and prompts left over from a template or a form.
var promptPattern = lazyregexp.New(
	`(?i)^(?:tb[dac]|to be (?:determined|decided|defined|confirmed|completed|added|announced)|n/?a|none|unknown|` +
		`not (?:assigned|set|known)|pending|[-–—?…._x]+|(?:click|tap|click or tap)(?: or tap)? here\b.*|` +
		`(?:please )?(?:enter|insert|type|choose|select|add|provide|specify|fill in|complete)\b.*|` +
		`dd[./ -]mm[./ -]yy(?:yy)?|yyyy[./ -]mm[./ -]dd|mm[./ -]dd[./ -]yy(?:yy)?|` +
		`[\[<{«].*[\]>}»])$`,
)

// isPlaceholder reports whether a value is a placeholder left over from a template, such as "TBD" or "[name]".
func isPlaceholder(v string) bool { return promptPattern.MatchString(v) }

// extractVersion returns the version in a value such as "v1.2 (draft)" or "1.2 – 3 May 2026", or "" if there is
// none.
func extractVersion(v string) string {
	for _, w := range strings.Fields(v) {
		w = strings.Trim(w, ",;()")
		if looksLikeVersion(w) {
			return strings.TrimLeft(w, "vV")
		}
	}
	return ""
}

func looksLikeVersion(w string) bool {
	w = strings.TrimLeft(w, "vV")
	if w == "" || len(w) > 20 || w[0] < '0' || w[0] > '9' {
		return false
	}
	if _, isDate, _ := document.FindDate(w); isDate && strings.Count(w, ".") != 1 {
		return len(w) <= 7 // 2026.1.1 is a software version, 12.01.2026 a date
	}
	for _, r := range w {
		if !(r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_' || r >= 'a' && r <= 'z') {
			return false
		}
	}
	return true
}
