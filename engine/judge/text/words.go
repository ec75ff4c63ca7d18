package text

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

// word is a word in a text.
type word struct {
	text       string // in lower case, except the month "May"
	stem       string
	start, end int   // byte offsets
	clause     uint8 // index of its clause in the sentence
}

// splitWords splits text into words. Hyphens and slashes separate words; apostrophes within words and
// dots or commas within numbers don't ("don't", "1.2"). Contractions such as "there's" become two
// words.
func splitWords(text string) []word {
	out := make([]word, 0, len(text)/6+1)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !isWordRune(r) {
			i += size
			continue
		}
		start := i
		for i < len(text) {
			r, size = utf8.DecodeRuneInString(text[i:])
			if !isWordRune(r) && !(isJoiner(r) && i+size < len(text) && isInsideWordOrNumber(text, i, size)) {
				break
			}
			i += size
		}
		w := text[start:i]
		if strings.ContainsFunc(w, isApostropheVariant) {
			w = apostropheReplacer.Replace(w)
		}
		w = strings.ToLower(w)
		if first, second, ok := splitContraction(w); ok {
			mark := start + len(first)
			_, markSize := utf8.DecodeRuneInString(text[mark:])
			out = append(
				out,
				word{text: first, stem: stemOf(first), start: start, end: mark},
				word{text: second, stem: stemOf(second), start: mark + markSize, end: i},
			)
			continue
		}
		token := word{text: w, stem: stemOf(w), start: start, end: i}
		switch raw := text[start:i]; {
		case raw == "IT":
			token.stem = "IT" // not the pronoun
		case raw == "May" && (len(out) > 0 || i+1 < len(text) && text[i] == ' ' && text[i+1] >= '0' && text[i+1] <= '9'):
			token.text = raw // the month or a name, not the verb
		}
		if corrected := missingApostrophes[w]; corrected != "" {
			token.text, token.stem = corrected, corrected
		}
		out = append(out, token)
	}
	return out
}

// isWordRune reports whether r is a letter, a digit or a percent sign.
func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '%' }

// missingApostrophes maps negations typed without their apostrophe to the correct spelling.
var missingApostrophes = map[string]string{
	"isnt": "isn't", "arent": "aren't", "wasnt": "wasn't", "werent": "weren't", "dont": "don't", "doesnt": "doesn't",
	"didnt": "didn't", "hasnt": "hasn't", "havent": "haven't",
}

// splitContraction splits a contraction into its two words: "there's" into "there" and "is".
func splitContraction(w string) (first, second string, ok bool) {
	first, end, ok := strings.Cut(w, "'")
	if !ok {
		return "", "", false
	}
	switch {
	case end == "s" && contractibleWords[first]:
		return first, "is", true
	case end == "re" && pronouns[first], end == "re" && first == "we":
		return first, "are", true
	case end == "ve" && len(first) < 6:
		return first, "have", true
	case end == "ll" && len(first) < 6:
		return first, "will", true
	}
	return "", "", false
}

var contractibleWords = wordSet("there here that it what who he she where how")

// apostropheReplacer replaces the characters that people type as an apostrophe with "'".
var apostropheReplacer = strings.NewReplacer("’", "'", "‘", "'", "´", "'", "`", "'", "ʼ", "'", "′", "'")

// isApostropheVariant reports whether r is a character other than "'" that is used as an apostrophe.
func isApostropheVariant(r rune) bool { return r == '`' || r >= utf8.RuneSelf && isJoiner(r) }

// isJoiner reports whether r can join parts of a word or number: an apostrophe, a dot or a comma.
func isJoiner(r rune) bool { return strings.ContainsRune("'’‘´`ʼ′.,", r) }

// isInsideWordOrNumber reports whether the joiner at i is inside a word or number: an apostrophe between
// letters, or a dot or comma between digits. size is the length of the joiner in bytes.
func isInsideWordOrNumber(text string, i, size int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	after, _ := utf8.DecodeRuneInString(text[i+size:])
	if text[i] == '.' || text[i] == ',' {
		return unicode.IsDigit(before) && unicode.IsDigit(after)
	}
	return unicode.IsLetter(before) && unicode.IsLetter(after)
}

const maxStemBytes = 40 // longer "words" are keys and hashes

// stemOf returns the stem of a word. Words that contain digits, or are very short or very long, are their own
// stems.
func stemOf(w string) string {
	w = strings.TrimSuffix(w, "'s")
	if len(w) < 3 || len(w) > maxStemBytes {
		return w
	}
	for _, r := range w {
		if unicode.IsDigit(r) {
			return w
		}
	}
	if stem, ok := stemOverrides[w]; ok {
		return stem
	}
	if cached, ok := stemCache.Load(w); ok {
		return cached.(string)
	}
	base := w
	if infinitive, ok := irregularForms[w]; ok {
		base = infinitive
	}
	env := snowballstem.NewEnv(americanSpelling(base))
	english.Stem(env)
	result := env.Current()
	if stemCacheSize.Add(1) <= maxCachedStems {
		stemCache.Store(w, result)
	}
	return result
}

// stemCache caches the stems of words, which repeat across documents.
var (
	stemCache     sync.Map // stem by word
	stemCacheSize atomic.Int64
)

const maxCachedStems = 1 << 15

// irregularForms maps irregular verb forms to their infinitives.
var irregularForms = parseIrregularForms(
	`withdraw withdrew withdrawn, keep kept, hold held, write wrote written, choose chose chosen, break broke broken, give gave given, make made,
send sent, build built, buy bought, tell told, teach taught, know knew known, show shown, see saw seen, draw drew drawn, hide hid hidden, steal stole stolen, sell sold,
lose lost, begin began begun, bring brought, understand understood, bind bound, deal dealt, take took taken, speak spoke spoken, forget forgot forgotten, overwrite overwrote overwritten,
rewrite rewrote rewritten, undertake undertook undertaken, oversee oversaw overseen, uphold upheld, withhold withheld, think thought, pay paid, run ran, mean meant`,
)

// parseIrregularForms parses a comma-separated list of verbs. Each is given by its infinitive and its irregular
// forms.
func parseIrregularForms(list string) map[string]string {
	m := make(map[string]string)
	for line := range strings.SplitSeq(list, ",") {
		forms := strings.Fields(line)
		for _, f := range forms[1:] {
			m[f] = forms[0]
		}
	}
	return m
}

// stemOverrides holds the stems of words that the stemmer would confuse with other words, such as "manager" with
// "management", "officer" with "office", and "server" with "service".
var stemOverrides = map[string]string{
	"manager": "manager", "managers": "manager", "officer": "officer", "officers": "officer", "office": "office", "offices": "office",
	"provider": "provider", "providers": "provider", "processor": "processor", "processors": "processor",
	"server": "server", "servers": "server",
	"executive": "executive", "executives": "executive", "operator": "operator", "operators": "operator", "owner": "owner", "owners": "owner",
	"controller": "controller", "controllers": "controller", "authority": "authority", "authorities": "authority",
	"user": "user", "users": "user", "customer": "customer", "customers": "customer", "general": "general",
	"contractor": "contractor", "contractors": "contractor",
	"facility": "facility", "facilities": "facility", "personal": "personal", "personnel": "personnel", "incidental": "incidental",
	"accountable": "accountable", "accountability": "accountable", "responsible": "responsible",
	"responsibility": "responsibility", "responsibilities": "responsibility",
	"author": "author", "authors": "author", "authorize": "authorize", "authorized": "authorize",
	"authorizes": "authorize", "authorizing": "authorize", "authorization": "authorize",
	"authorizations": "authorize",
	"authorise":      "authorize", "authorised": "authorize", "authorises": "authorize", "authorising": "authorize",
	"authorisation": "authorize", "authorisations": "authorize",
	"container": "container", "containers": "container", "containerized": "container", "logic": "logic", "logical": "logical",
	"information": "information", "informational": "information",
	"employment": "employment", "department": "department", "importance": "importance", "reporter": "reporter",
	"logon": "logon", "recorder": "recorder",
}

// americanSpelling returns the American spelling of a British form ("organisation"), or w itself.
func americanSpelling(w string) string {
	switch w {
	case "programme":
		return "program"
	case "programmes":
		return "programs"
	case "licence", "licences":
		return "license"
	case "defence", "defences":
		return "defense"
	case "centre", "centres":
		return "center"
	case "behaviour", "behaviours":
		return "behavior"
	}
	if len(w) < 7 || strings.Contains(w, "promis") || strings.Contains(w, "precis") || strings.Contains(w, "superv") {
		return w
	}
	for _, s := range [...]string{"isation", "isations", "ised", "ises", "ising", "ise"} {
		if head, ok := strings.CutSuffix(w, s); ok {
			switch {
			case strings.HasSuffix(head, "exerc"), strings.HasSuffix(head, "enterpr"), strings.HasSuffix(head, "otherw"),
				strings.HasSuffix(head, "adv"), strings.HasSuffix(head, "rev"), strings.HasSuffix(head, "expert"),
				strings.HasSuffix(head, "prem"), strings.HasSuffix(head, "conc"), strings.HasSuffix(head, "ra"):
				return w
			}
			return head + "iz" + s[2:]
		}
	}
	return w
}

// hashTerm returns the 64-bit FNV-1a hash of a concept or stem, which serves as its ID.
func hashTerm(concept string) uint64 {
	h := uint64(14695981039346656037) // FNV-1a offset basis
	for i := range len(concept) {
		h = (h ^ uint64(concept[i])) * 1099511628211
	}
	return h
}

// wordSet returns the set of space-separated words in s.
func wordSet(s string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

// stopWords are words that don't show what a text is about. Those that express negation or modality are interpreted by
// parseStanceAndClauses.
var stopWords = wordSet(`a about above after again against all also am an and any are aren't as at be because been
before being below between both but by can can't cannot could couldn't did didn't do does doesn't doing don't down during each either etc
for from further had has hasn't have haven't having he her here hers him his how however i if in into is isn't it its itself
least less let may me might more most must my neither no nor not now of off on once one only or other our ours out over own per same she should
so some such than that the their theirs them themselves then there thereby therefore these they this those through thus to too
under until up upon us very via was wasn't we were weren't what when where whether which while who whom whose why will with within without won't would
yet you your yours shall every everyone including include includes e.g i.e well order case cases way ways set sets`)

// isOneOf reports whether w is one of the options.
func isOneOf(w string, options ...string) bool { return slices.Contains(options, w) }
