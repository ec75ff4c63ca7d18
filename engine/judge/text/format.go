package text

import (
	"slices"
	"strings"

	"github.com/scf-service/service/internal/prose"
)

// CollapseSpace replaces runs of white space with a single space.
func CollapseSpace(s string) string { return strings.Join(strings.Fields(s), " ") }

// Shorten collapses the white space in s and shortens it to about n bytes, at a word boundary if possible, and marks
// the cut with "…".
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

// JoinSome joins words as "a, b and c". If there are more than five, it joins the first five and "more".
func JoinSome(words []string) string {
	if len(words) > 5 {
		words = append(slices.Clone(words[:5]), "more")
	}
	return prose.JoinAnd(words)
}
