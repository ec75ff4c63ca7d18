package text

import (
	"fmt"
	"slices"
	"strings"
)

// CollapseSpace replaces runs of white space with a single space.
func CollapseSpace(s string) string { return strings.Join(strings.Fields(s), " ") }

// Shorten collapses the white space of s and cuts it to about n bytes at a word boundary; "…" marks
// the cut.
func Shorten(s string, n int) string {
	s = CollapseSpace(s)
	if len(s) <= n {
		return s
	}
	if i := strings.LastIndexByte(s[:n], ' '); i > n/2 {
		return s[:i] + " …"
	}
	return strings.ToValidUTF8(s[:n], "") + " …"
}

// FormatCount returns a number with its noun: "1 passage", "3 passages".
func FormatCount(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// JoinAnd lists words as "a, b and c"; after the fifth it writes "more".
func JoinAnd(words []string) string {
	if len(words) > 5 {
		words = append(slices.Clone(words[:5]), "more")
	}
	return joinLast(words, " and ")
}

// JoinOr lists words as "a, b or c".
func JoinOr(words []string) string { return joinLast(words, " or ") }

// joinLast joins words with commas, and the last word with lastSeparator.
func joinLast(words []string, lastSeparator string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + lastSeparator + words[len(words)-1]
}
