package search

import (
	"strings"
	"unicode"

	"github.com/scf-service/service/engine/evidence/embed/words"
)

// exactTerm is something that a query asks for literally, such as a code, a name or a quoted
// phrase, as a sequence of stems. Passages that contain it are ranked first.
type exactTerm struct {
	stems  []string
	isName bool // counts only if it is rare, because not every capitalized word is a name
}

const (
	// maxExactQueryUnits is the maximum length, in tokens, of a query in which exact terms are
	// looked for. In a longer query, quotes and codes are just part of the text.
	maxExactQueryUnits = 24
	maxExactTerms      = 8
	nameRarityShare    = 50 // a name occurs in at most one of this many passages,
	nameRarityCount    = 3  // or in at most this many passages
)

// findExactTerms returns the exact terms of a query: quoted phrases, codes and names.
func findExactTerms(text string, units []words.Token) []exactTerm {
	if len(units) > maxExactQueryUnits {
		return nil
	}
	var out []exactTerm
	quotes := quotedSpans(text)
	inQuote := func(u words.Token) bool {
		for _, q := range quotes {
			if u.Start >= q.Start && u.End <= q.End {
				return true
			}
		}
		return false
	}
	for _, q := range quotes {
		if stems := phraseStems(words.Split(text[q.Start:q.End])); len(stems) > 0 {
			out = append(out, exactTerm{stems: stems})
		}
	}
	plain := false // a lower-case word distinguishes names from titles
	for _, u := range units {
		plain = plain || u.Kind == words.Word && text[u.Start:u.End] == strings.ToLower(text[u.Start:u.End])
	}
	covered := 0
	for i := 0; i < len(units); i++ {
		u := units[i]
		if u.Start < covered || inQuote(u) {
			continue
		}
		if u.Kind == words.Code {
			out = append(out, exactTerm{stems: []string{u.Stem}})
			covered = u.End
			continue
		}
		var name []string
		from := i
		for ; i < len(units) && isProperName(text, units[i], i > 0, plain) && (i == from || onlyBlanksBetween(text, units[i-1], units[i])); i++ {
			name = append(name, units[i].Stem)
		}
		if len(name) > 0 {
			out = append(out, exactTerm{stems: name, isName: true})
			i--
		}
	}
	return out[:min(len(out), maxExactTerms)]
}

// onlyBlanksBetween reports whether there is only whitespace between two tokens.
func onlyBlanksBetween(text string, a, b words.Token) bool {
	return a.End <= b.Start && strings.TrimSpace(text[a.End:b.Start]) == ""
}

// isProperName reports whether a word is capitalized although grammar doesn't require it: it has a
// capital inside, or at the start although it isn't the first word and the text isn't a title.
// Acronyms don't count, because they are technical terms, which are compared by meaning.
func isProperName(text string, u words.Token, notFirst, hasLowercase bool) bool {
	if u.Kind != words.Word {
		return false
	}
	var first, inner, lower bool
	for i, r := range text[u.Start:u.End] {
		switch {
		case unicode.IsUpper(r) && i == 0:
			first = true
		case unicode.IsUpper(r):
			inner = true
		case unicode.IsLower(r):
			lower = true
		}
	}
	return lower && (inner || first && notFirst && hasLowercase)
}

type span struct{ Start, End int }

// quotedSpans returns the spans of text between quotation marks.
func quotedSpans(text string) []span {
	var out []span
	start, closing := -1, rune(0)
	for i, r := range text {
		if start >= 0 {
			if r == closing {
				out = append(out, span{start, i})
				start = -1
			}
			continue
		}
		switch r {
		case '"':
			start, closing = i+1, '"'
		case '“', '„':
			start, closing = i+len("“"), '”'
			if r == '„' {
				closing = '“'
			}
		case '«':
			start, closing = i+len("«"), '»'
		}
	}
	return out
}

// phraseStems returns the stems of a phrase in order. A code such as AC-2 yields one stem; the tokens of its parts are
// omitted.
func phraseStems(units []words.Token) []string {
	var out []string
	end := 0
	for _, u := range units {
		if u.Start < end {
			continue
		}
		out = append(out, u.Stem)
		if u.Kind == words.Code {
			end = u.End
		}
	}
	return out
}

// slotsWithExactTerm returns the slots of the passages that contain an exact term. It returns none
// if the term is a name that occurs too often.
func (x *Index) slotsWithExactTerm(d exactTerm) []int32 {
	var rarest *termPostings
	for _, s := range d.stems {
		h := x.postings.findTerm(s)
		if h == nil {
			if len(d.stems) > 1 && words.IsStopWord(s) {
				continue
			}
			return nil
		}
		if rarest == nil || len(h.list) < len(rarest.list) {
			rarest = h
		}
	}
	if rarest == nil || d.isName && rarest.liveCount > max(nameRarityCount, x.postings.passageCount/nameRarityShare) {
		return nil
	}
	var out []int32
	for _, p := range rarest.list {
		s := &x.slots[p.slot]
		if s.live && (len(d.stems) == 1 || len(findStemSequences(s.splitUnits(), d.stems)) > 0) {
			out = append(out, p.slot)
		}
	}
	return out
}

// findStemSequences returns the spans in which the stems occur consecutively.
func findStemSequences(units []words.Token, stems []string) []span {
	var row []words.Token
	end := 0
	for _, u := range units {
		if u.Start < end && len(stems) > 1 {
			continue
		}
		row = append(row, u)
		if u.Kind == words.Code {
			end = u.End
		}
	}
	var out []span
next:
	for i := 0; i+len(stems) <= len(row); i++ {
		for k, s := range stems {
			if row[i+k].Stem != s {
				continue next
			}
		}
		out = append(out, span{row[i].Start, row[i+len(stems)-1].End})
	}
	return out
}
