// Package prose formats parts of messages: counts with their nouns, lists of words, and API values as words.
package prose

import (
	"cmp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Count returns a number with the matching form of its noun: "1 passage", "1,468 controls".
func Count(n int, singular, plural string) string {
	if n == 1 {
		return "1 " + singular
	}
	return GroupThousands(n) + " " + plural
}

// GroupThousands formats a number with thousands separators.
func GroupThousands(n int) string {
	s := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// Decimal formats a figure, such as a mean or a percentage, with one decimal. All such figures are shown this way.
func Decimal(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }

// JoinAnd lists words as "a, b and c".
func JoinAnd(words []string) string { return joinLast(words, " and ") }

// JoinOr lists words as "a, b or c".
func JoinOr(words []string) string { return joinLast(words, " or ") }

// joinLast joins words with commas, and adds the last word with lastSeparator.
func joinLast(words []string, lastSeparator string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + lastSeparator + words[len(words)-1]
}

// Humanize returns an API value as words: "partially implemented" for partially_implemented, "SoA drafted" for soa_drafted.
func Humanize[S ~string](value S) string {
	if p, ok := phrases[string(value)]; ok {
		return p
	}
	words := strings.Split(string(value), "_")
	for i, w := range words {
		words[i] = cmp.Or(acronyms[w], w)
	}
	return strings.Join(words, " ")
}

// Label returns an API value as capitalized words.
func Label[S ~string](value S) string { return Capitalize(Humanize(value)) }

// acronyms holds the spelling of acronyms and names that occur in values, such as in the states of an assessment.
var acronyms = map[string]string{
	"soa": "SoA", "poam": "POA&M", "scf": "SCF", "sha256": "SHA-256", "id": "ID", "ai": "AI", "api": "API", "url": "URL", "ok": "OK",
	"smtp": "SMTP", "tls": "TLS", "github": "GitHub", "servicenow": "ServiceNow",
}

// phrases holds the texts for values whose words alone would be misleading.
var phrases = map[string]string{
	"has_ot": "has operational technology", "outsources_it": "outsources IT", "handles_cards": "handles payment cards",
}

// Capitalize returns s with its first letter in upper case.
func Capitalize(s string) string {
	if s == "" {
		return s
	}
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// Truncate shortens a text of more than maxRunes characters, ending it with "…".
func Truncate(s string, maxRunes int) string {
	if utf8.RuneCountInString(s) <= maxRunes {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:maxRunes-1]), " ") + "…"
}
