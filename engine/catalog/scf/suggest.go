package scf

import (
	"cmp"
	"slices"
	"strings"

	"github.com/scf-service/service/internal/editdistance"
)

// SuggestFrameworks returns up to n codes of frameworks with names similar to a mistyped one, best first.
func (s *Snapshot) SuggestFrameworks(ref string, n int) []string {
	want := FrameworkCode(ref)
	names := s.frameworkNames()
	return bestMatches(len(names), n, func(i int) (string, float64) {
		score := 0.0
		for _, name := range names[i] {
			score = max(score, similarity(want, name))
		}
		return names[i][0], score
	})
}

// makeFrameworkNames returns, for each framework, the slugs of all its names, with its code first.
func (s *Snapshot) makeFrameworkNames() [][]string {
	names := make([][]string, len(s.src.Frameworks))
	for i := range s.src.Frameworks {
		f := &s.src.Frameworks[i]
		names[i] = append([]string{f.Code}, f.Aliases...)
		for _, other := range []string{Slug(f.Name), Slug(f.Column)} {
			if other != "" && !slices.Contains(names[i], other) {
				names[i] = append(names[i], other)
			}
		}
	}
	return names
}

func (s *Snapshot) suggestControls(ref string) []string {
	want := strings.ToUpper(strings.TrimSpace(ref))
	return bestMatches(len(s.src.Controls), 3, func(i int) (string, float64) {
		code := s.src.Controls[i].Code
		return code, similarity(want, code)
	})
}

// bestMatches returns at most limit candidates with a similarity of at least 0.5, best first. Ties are
// ordered by code.
func bestMatches(count, limit int, candidateAt func(i int) (string, float64)) []string {
	type candidate struct {
		code  string
		score float64
	}
	var found []candidate
	for i := range count {
		if code, score := candidateAt(i); score >= 0.5 {
			found = append(found, candidate{code, score})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), CompareNatural(a.code, b.code))
	})
	out := []string{}
	for _, c := range found[:min(limit, len(found))] {
		out = append(out, c.code)
	}
	return out
}

// similarity returns how similar two slugs are, from 0 to 1. It is the larger of two measures, one based on common
// parts and one on edit distance, because people both omit parts of a name ("27001") and mistype parts.
func similarity(a, b string) float64 {
	if a == "" || b == "" {
		return 0
	}
	if a == b {
		return 1
	}
	if len(a) > 100 || len(b) > 100 { // edit distance takes quadratic time
		return 0
	}
	edits := 1 - float64(editdistance.Distance([]byte(a), []byte(b)))/float64(max(len(a), len(b)))
	if wa, wb := strings.ReplaceAll(a, "-", ""), strings.ReplaceAll(b, "-", ""); len(wa) > 3 && strings.HasPrefix(wb, wa) {
		return 0.9 + 0.09*float64(len(wa))/float64(len(wb)) // written in one word: iso27001
	}
	pa, pb := strings.Split(a, "-"), strings.Split(b, "-")
	shared := 0
	for _, p := range pa {
		if slices.Contains(pb, p) {
			shared++
		}
	}
	// Missing parts count more than extra ones.
	parts := 0.8*float64(shared)/float64(len(pa)) + 0.2*float64(shared)/float64(len(pb))
	return max(edits, parts) * 0.99
}

// Suggest returns up to three known words that are similar to a mistyped one, best first. Words may have
// several parts, separated by _ or -.
func Suggest(word string, known []string) []string {
	want := FrameworkCode(word)
	return bestMatches(len(known), 3, func(i int) (string, float64) { return known[i], similarity(want, FrameworkCode(known[i])) })
}
