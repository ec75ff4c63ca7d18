package chunk

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// abbreviations lists abbreviations that don't end a sentence, in lower case and without the final
// dot. Abbreviations that may end a sentence, such as "etc." and "inc.", are not listed, because
// the text that follows decides whether they do.
var abbreviations = wordSet(
	"e.g",
	"i.e",
	"eg",
	"ie",
	"cf",
	"vs",
	"viz",
	"al",
	"approx",
	"dr",
	"mr",
	"mrs",
	"ms",
	"prof",
	"st",
	"no",
	"nos",
	"nr",
	"art",
	"arts",
	"sec",
	"sect",
	"ch",
	"chap",
	"fig",
	"figs",
	"tab",
	"para",
	"paras",
	"pp",
	"vol",
	"ed",
	"eds",
	"rev",
	"ver",
	"dept",
	"jan",
	"feb",
	"mar",
	"apr",
	"jun",
	"jul",
	"aug",
	"sep",
	"sept",
	"oct",
	"nov",
	"dec",
	"u.s",
	"u.k",
	"e.u",
	"ph.d",
	"z.b",
	"d.h",
	"u.a",
	"bzw",
	"ggf",
	"evtl",
	"abs",
	"nr",
	"vgl",
	"usw",
	"inkl",
	"exkl",
	"bspw",
	"bzgl",
	"sog",
	"ca",
	"p.ex",
	"p. ex",
	"c.-à-d",
	"n°",
	"env",
	"p.ej",
	"pág",
	"núm",
	"av",
	"bijv",
	"d.w.z",
	"o.a",
	"m.b.t",
	"es",
	"ecc",
	"pag",
)

func wordSet(words ...string) map[string]bool {
	m := map[string]bool{}
	for _, w := range words {
		m[w] = true
	}
	return m
}

// SplitSentences splits a text into sentences and drops only the whitespace between them. Abbreviations,
// initials, decimals, section numbers and versions don't end a sentence. A line break ends one only if the next
// line begins a list item.
func SplitSentences(text string) []string {
	var out []string
	start := 0
	cut := func(end int) {
		if s := strings.TrimSpace(text[start:end]); s != "" {
			out = append(out, s)
		}
		start = end
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		next := i + size
		switch {
		case r == '\n':
			if rest := strings.TrimLeft(text[next:], " \t"); strings.HasPrefix(rest, "\n") || startsListItem(rest) {
				cut(next)
			}
		case r == '.' || r == '!' || r == '?' || r == '…':
			if end := skipClosers(text, next); endsSentence(text[start:i], r, text[end:]) {
				cut(end)
				next = end
			}
		case r == '。' || r == '！' || r == '？':
			cut(next)
		case r == ';':
			// A list within one line: "(a) …; (b) …".
			if rest := strings.TrimLeft(text[next:], " "); startsListItem(rest) && rest[0] == '(' {
				cut(next)
			}
		}
		i = next
	}
	cut(len(text))
	return out
}

// skipClosers returns the index after any closing quotes and brackets at i; they belong to the preceding
// sentence.
func skipClosers(s string, i int) int {
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !strings.ContainsRune(`"'”’»)]*_.!?`, r) {
			break
		}
		i += size
	}
	return i
}

// endsSentence reports whether mark, the punctuation between before and rest, ends a sentence.
func endsSentence(before string, mark rune, rest string) bool {
	trimmed := strings.TrimLeft(rest, " \t\n")
	if trimmed == "" {
		return true
	}
	if len(trimmed) == len(rest) {
		return false // 3.5, example.com, v1.2, "what?!"
	}
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(trimmed, `"'“‘«([*_`))
	if unicode.IsLower(first) {
		return false
	}
	if mark != '.' {
		return true
	}
	i := strings.LastIndexAny(before, " \t\n(")
	word := strings.ToLower(before[i+1:])
	if abbreviations[word] {
		return false
	}
	switch n := utf8.RuneCountInString(word); {
	case word == "":
		return false
	case n == 1 && unicode.IsLetter(firstRune(word)) && strings.TrimSpace(before[:i+1]) == "":
		return false // "a. Item"
	case n == 1 && unicode.IsLetter(firstRune(word)) && word != "i":
		return false // an initial, as in "J. Roe"
	}
	// "1. Item" and "4.2. Scope": the sentence consists only of a number so far.
	return strings.Trim(strings.TrimSpace(before), "0123456789.()ivx") != ""
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// startsListItem reports whether a text begins with a list marker.
func startsListItem(s string) bool {
	if s == "" {
		return false
	}
	r, size := utf8.DecodeRuneInString(s)
	if strings.ContainsRune("-*•▪◦–·", r) {
		return strings.HasPrefix(s[size:], " ")
	}
	word, _, ok := strings.Cut(s, " ")
	if !ok || len(word) > 6 {
		return false
	}
	inner := strings.Trim(word, "().")
	if inner == word || inner == "" || !strings.HasSuffix(word, ")") && !strings.HasSuffix(word, ".") {
		return false
	}
	if strings.Trim(inner, "0123456789.") == "" {
		return true
	}
	return len(inner) == 1 || strings.Trim(strings.ToLower(inner), "ivx") == ""
}
