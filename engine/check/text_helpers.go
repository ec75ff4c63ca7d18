package check

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/editdistance"
)

// InputError is an error in user input: a flag's value or a line of a file.
type InputError struct {
	File    string
	Line    int
	Message string
}

func (m *InputError) Error() string {
	switch {
	case m.File == "":
		return m.Message
	case m.Line == 0:
		return m.File + ": " + m.Message
	}
	return m.File + ", line " + strconv.Itoa(m.Line) + ": " + m.Message
}

func inputErrorf(file string, line int, format string, args ...any) *InputError {
	return &InputError{File: file, Line: line, Message: fmt.Sprintf(format, args...)}
}

// didYouMean suggests the known word closest to a typo, or returns "".
func didYouMean(word string, known []string) string {
	if len(word) > 100 {
		return ""
	}
	best, maxDistance := "", max(1, utf8.RuneCountInString(word)/3)+1
	for _, k := range slices.Sorted(slices.Values(known)) {
		if d := editDistance(strings.ToLower(word), strings.ToLower(k)); d < maxDistance {
			best, maxDistance = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// editDistance returns the number of letters to change, add, remove or transpose to turn a into b.
func editDistance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if len(x) > 100 || len(y) > 100 {
		return 100
	}
	return editdistance.Distance(x, y)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// replaceControlCharacters replaces control characters so that text is safe in a terminal, a log and XML.
func replaceControlCharacters(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r' || r == '\u2028' || r == '\u2029':
			return ' '
		case r == utf8.RuneError, r == '\ufffe', r == '\uffff', unicode.In(r, unicode.Cc, unicode.Cf, unicode.Cs, unicode.Co):
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}

// sanitizeLine returns sanitized text on one line.
func sanitizeLine(s string) string {
	return strings.Join(strings.Fields(replaceControlCharacters(s)), " ")
}

// firstNonEmpty returns the first string that is not empty, or "" if there is none.
func firstNonEmpty(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// formatNumber formats a figure without trailing zeros.
func formatNumber(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// formatSeverityCounts formats counts by severity, worst first.
func formatSeverityCounts(counts map[api.Severity]int) string {
	var parts []string
	for _, s := range api.Severities {
		if counts[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[s], s))
		}
	}
	return firstNonEmpty(strings.Join(parts, ", "), "none")
}
