package modelreader

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scf-service/service/engine/judge/reading"
)

// Maximum number of words in a line that is recognized as a heading by its form. The lower maximum applies to headings
// that are harder to recognize, such as those without a number.
const (
	maxHeadingWords      = 8
	maxPlainHeadingWords = 5
)

// isHeading reports whether every occurrence of the words in the passage is just a title, heading or number. Such words
// name a subject but don't say what is done.
func isHeading(p reading.Passage, words string) bool {
	name := headingName(words)
	if name == "" {
		return true // numbers and punctuation
	}
	names := []string{headingName(p.Title)}
	for _, h := range p.HeadingPath {
		names = append(names, headingName(h))
	}
	if slices.Contains(names, name) {
		return true
	}
	lines := strings.Split(p.Text, "\n")
	for from := 0; from < len(p.Text); {
		at := strings.Index(p.Text[from:], words)
		if at < 0 {
			break
		}
		at += from
		first := strings.Count(p.Text[:at], "\n")
		last := first + strings.Count(words, "\n")
		for i := first; i <= last; i++ {
			if strings.TrimSpace(lines[i]) != "" && !slices.Contains(names, headingName(lines[i])) && !looksLikeHeading(lines, i) &&
				!isHeadingWithin(p.Text[:at], words, p.Text[at+len(words):]) {
				return false
			}
		}
		from = at + len(words)
	}
	return true
}

// headingName returns a heading in lower case without its number and without surrounding punctuation and white space,
// or "" if it has no letters.
func headingName(s string) string {
	s = strings.ToLower(strings.Join(strings.Fields(s), " "))
	return strings.TrimFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })
}

// looksLikeHeading reports whether a line looks like a heading of the text below it: it is short,
// has no punctuation and, if it has no number or mark, is followed by a sentence. List items, table
// rows, labels with values and parts of a sentence that spans several lines don't count.
func looksLikeHeading(lines []string, i int) bool {
	line := strings.TrimSpace(lines[i])
	bare := strings.TrimSpace(strings.TrimLeft(line, "# 0123456789.§)"))
	isMarked, isNumbered := strings.HasPrefix(line, "#"), unicode.IsDigit(firstRune(line))
	words := len(strings.Fields(bare))
	if words > maxHeadingWords || strings.ContainsAny(bare, ".:;!?|=,") || !unicode.IsUpper(firstRune(bare)) {
		return false
	}
	next := ""
	for _, l := range lines[i+1:] {
		if next = strings.TrimSpace(l); next != "" {
			break
		}
	}
	switch {
	case isMarked:
		return true
	case isNumbered: // unless it is one of several numbered items
		return next != "" && !unicode.IsLower(firstRune(next)) && !unicode.IsDigit(firstRune(next))
	}
	return words <= maxPlainHeadingWords && unicode.IsUpper(firstRune(next)) && len(strings.Fields(next)) > words &&
		strings.ContainsAny(next, ".!")
}

// isHeadingWithin reports whether the words are a numbered heading that is followed by text on the
// same line, as in text from a PDF.
func isHeadingWithin(before, words, after string) bool {
	bare := strings.TrimSpace(strings.TrimLeft(words, " 0123456789.§)"))
	before, _ = strings.CutSuffix(strings.TrimSpace(before), ".")
	last, _ := utf8.DecodeLastRuneInString(before)
	next := firstRune(strings.TrimSpace(after))
	return (unicode.IsDigit(firstRune(words)) || unicode.IsDigit(last)) && unicode.IsUpper(firstRune(bare)) &&
		len(strings.Fields(bare)) <= maxPlainHeadingWords && !strings.ContainsAny(bare, ".:;!?|=,") && (unicode.IsUpper(next) || next == '•')
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}
