package search

import (
	"sort"
	"unicode/utf8"

	"github.com/scf-service/service/engine/evidence/embed/words"
)

// Highlight is a part of a passage that shows why the passage was found. Start and End are byte offsets in the
// passage's text. Matches are the words in it that also occur in the query, likewise as offsets in the text;
// there are none if only the meaning matches.
type Highlight struct {
	Start, End int
	Text       string
	Matches    []Match
}

// Match is a word or phrase that also occurs in the query.
type Match struct{ Start, End int }

const (
	maxHighlights = 3
	maxSnippet    = 300 // bytes
)

// findHighlights returns the sentences of text that cover most of the query's weight, in text order. If no word
// is shared, it returns the sentence closest in meaning, or the first one if closestText is nil.
func findHighlights(
	text string,
	query []words.Token,
	exactTerms []exactTerm,
	rarity func(string) float32,
	closestText func(texts []string) int,
) []Highlight {
	wanted := make(map[string]bool, len(query))
	for _, u := range query {
		if u.Kind != words.Stop {
			wanted[u.Stem] = true
		}
	}
	units := words.Split(text)
	matches := make([]Match, 0, 8)
	stems := make([]string, 0, 8)
	for _, d := range exactTerms {
		if len(d.stems) > 1 {
			for _, s := range findStemSequences(units, d.stems) {
				matches, stems = append(matches, Match(s)), append(stems, d.stems[0])
			}
		}
	}
	for _, u := range units {
		if wanted[u.Stem] {
			matches, stems = append(matches, Match{u.Start, u.End}), append(stems, u.Stem)
		}
	}
	type scored struct {
		Highlight
		worth float32
	}
	var found []scored
	for _, s := range splitIntoSnippets(text) {
		h := scored{Highlight: Highlight{Start: s.Start, End: s.End}}
		seen := make(map[string]bool)
		for i, m := range matches {
			if m.Start >= s.Start && m.End <= s.End {
				h.Matches = append(h.Matches, m)
				if !seen[stems[i]] {
					seen[stems[i]] = true
					h.worth += rarity(stems[i])
				}
			}
		}
		found = append(found, h)
	}
	if len(found) == 0 {
		return nil
	}
	if len(matches) == 0 && len(found) > 1 && closestText != nil {
		texts := make([]string, min(len(found), maxPieces))
		for i := range texts {
			texts[i] = text[found[i].Start:found[i].End]
		}
		found[closestText(texts)].worth = 1
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].worth > found[j].worth })
	keep := 1
	for keep < len(found) && keep < maxHighlights && found[keep].worth > found[0].worth/3 {
		keep++
	}
	found = found[:keep]
	sort.Slice(found, func(i, j int) bool { return found[i].Start < found[j].Start })
	out := make([]Highlight, keep)
	for i, f := range found {
		out[i] = f.Highlight
		out[i].Matches = mergeOverlaps(out[i].Matches)
		out[i].Text = text[f.Start:f.End]
	}
	return out
}

// mergeOverlaps sorts matches and merges those that overlap.
func mergeOverlaps(m []Match) []Match {
	sort.Slice(m, func(i, j int) bool { return m[i].Start < m[j].Start || m[i].Start == m[j].Start && m[i].End > m[j].End })
	out := m[:0]
	for _, a := range m {
		if n := len(out); n > 0 && a.Start < out[n-1].End {
			out[n-1].End = max(out[n-1].End, a.End)
			continue
		}
		out = append(out, a)
	}
	return out
}

// splitIntoSnippets splits text at the ends of sentences and at line breaks. It splits longer pieces at blanks, so
// that none is longer than maxSnippet bytes.
func splitIntoSnippets(text string) []span {
	var out []span
	add := func(from, to int) {
		for from < to && isBlank(text[from]) {
			from++
		}
		for to > from && isBlank(text[to-1]) {
			to--
		}
		for to-from > maxSnippet {
			cut := from + maxSnippet
			for cut > from+maxSnippet/2 && !isBlank(text[cut]) {
				cut--
			}
			for k := 0; k < utf8.UTFMax && !utf8.RuneStart(text[cut]); k++ {
				cut-- // not inside a character; invalid UTF-8 is cut anywhere
			}
			out = append(out, span{from, cut})
			for from = cut; from < to && isBlank(text[from]); from++ {
			}
		}
		if from < to {
			out = append(out, span{from, to})
		}
	}
	from := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\n':
			add(from, i)
			from = i + 1
		case '.', '!', '?', ';':
			if i+1 < len(text) && isBlank(text[i+1]) {
				add(from, i+1)
				from = i + 1
			}
		}
	}
	add(from, len(text))
	return out
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
