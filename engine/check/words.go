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

// Mistake is an error of what was given: a flag's value, or a line of a file.
type Mistake struct {
	File    string
	Line    int
	Message string
}

func (m *Mistake) Error() string {
	switch {
	case m.File == "":
		return m.Message
	case m.Line == 0:
		return m.File + ": " + m.Message
	}
	return m.File + ", line " + strconv.Itoa(m.Line) + ": " + m.Message
}

func mistake(file string, line int, format string, args ...any) *Mistake {
	return &Mistake{File: file, Line: line, Message: fmt.Sprintf(format, args...)}
}

// nearest proposes the one of the known words that a typo most likely means; empty for none.
func nearest(word string, known []string) string {
	if len(word) > 100 {
		return ""
	}
	best, far := "", max(1, utf8.RuneCountInString(word)/3)+1
	for _, k := range slices.Sorted(slices.Values(known)) {
		if d := distance(strings.ToLower(word), strings.ToLower(k)); d < far {
			best, far = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// distance is how many letters have to be changed, added, removed or swapped with the next.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if len(x) > 100 || len(y) > 100 {
		return 100
	}
	return editdistance.Distance(x, y)
}

func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// safe makes a text harmless in a terminal, a log and XML: what steers is replaced.
func safe(s string) string {
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

// clean is a text in one line.
func clean(s string) string { return strings.Join(strings.Fields(safe(s)), " ") }

// cut is the beginning of a long text.
func cut(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	r := []rune(s)
	return strings.TrimRight(string(r[:most-1]), " ") + "…"
}

// or is the first text that is not empty.
func or(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

func plain[S ~string](s S) string { return strings.ReplaceAll(string(s), "_", " ") }

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// number is a figure without zeros behind it.
func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// tally counts by severity, worst first.
func tally(counts map[api.Severity]int) string {
	var parts []string
	for _, s := range api.Severities {
		if counts[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[s], s))
		}
	}
	return or(strings.Join(parts, ", "), "none")
}
