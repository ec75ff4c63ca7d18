package reading

import (
	"hash/fnv"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	shingleWords         = 5
	minNearIdenticalness = 0.7
)

// nearIdentical reports whether a person's decision on passage a also holds for passage b. For the decision to apply,
// the words on which the person decided must also occur unchanged in b; findWords checks that. Case, punctuation and
// white space are ignored. Two passages are near-identical if
//   - of all sequences of five words that occur in a or b, at least 70 % occur in both, and
//   - the words that can reverse a meaning are the same, in the same order: numbers, words for frequency and quantity,
//     negations, exceptions, "may" and "must", plans, opposites such as enabled and disabled, and ticks in boxes. In the
//     headings and the title, only these words are compared, except for numbers.
func nearIdentical(a, b fingerprint) bool {
	if len(a.words) < MinWordsElsewhere || len(b.words) < MinWordsElsewhere ||
		!slices.Equal(a.decisive, b.decisive) || !slices.Equal(a.context, b.context) {
		return false
	}
	inA, inB, shared := shingles(a.words), shingles(b.words), 0
	for i, j := 0, 0; i < len(inA) && j < len(inB); {
		switch {
		case inA[i] < inB[j]:
			i++
		case inA[i] > inB[j]:
			j++
		default:
			shared, i, j = shared+1, i+1, j+1
		}
	}
	return float64(shared) >= minNearIdenticalness*float64(len(inA)+len(inB)-shared)
}

// shingles returns the sorted hashes of all sequences of five words in a text.
func shingles(words []word) (out []uint64) {
	for i := 0; i == 0 || i+shingleWords <= len(words); i++ {
		h := fnv.New64a()
		for _, w := range words[i:min(len(words), i+shingleWords)] {
			h.Write([]byte(w.text + " "))
		}
		out = append(out, h.Sum64())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// fingerprint holds the properties of a passage that nearIdentical compares.
type fingerprint struct {
	words    []word
	decisive []string // words that can turn a meaning around
	context  []string // such words in the title and the headings, without numbers
}

func newFingerprint(p Passage) fingerprint {
	f := fingerprint{words: splitWords(p.Text)}
	for _, w := range f.words {
		if isDecisive(w.text) {
			f.decisive = append(f.decisive, w.text)
		}
	}
	for _, w := range splitWords(strings.Join(append([]string{p.Title}, p.HeadingPath...), "\n")) {
		if isDecisive(w.text) && !hasDigit(w.text) {
			f.context = append(f.context, w.text)
		}
	}
	return f
}

// word is a word of a text in lower case, with its position in the text.
type word struct {
	text       string
	start, end int
}

// splitWords splits a text into words. Numbers keep their decimal points and commas; signs such as %, < and ☑ are
// words.
func splitWords(text string) (out []word) {
	start := -1
	end := func(at int) {
		if start >= 0 {
			w := strings.TrimRight(text[start:at], ".,'’")
			out = append(out, word{strings.ReplaceAll(strings.ToLower(w), "’", "'"), start, start + len(w)})
		}
		start = -1
	}
	for i, r := range text {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			if start < 0 {
				start = i
			}
		case start >= 0 && (r == '\'' || r == '’' || (r == '.' || r == ',') && endsInDigit(text[start:i])):
			// part of the word if something follows
		default:
			end(i)
			if unicode.IsSymbol(r) || r == '%' {
				out = append(out, word{string(r), i, i + utf8.RuneLen(r)})
			}
		}
	}
	end(len(text))
	return out
}

func endsInDigit(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return unicode.IsDigit(r)
}

func hasDigit(s string) bool { return strings.ContainsFunc(s, unicode.IsDigit) }

// findWords returns the part of a text that contains the given words in the same order, ignoring case and punctuation.
// It returns "" if there is none.
func findWords(text, words string) string {
	in, wanted := splitWords(text), splitWords(words)
	for i := 0; len(wanted) > 0 && i+len(wanted) <= len(in); i++ {
		if slices.EqualFunc(in[i:i+len(wanted)], wanted, func(a, b word) bool { return a.text == b.text }) {
			return text[in[i].start:in[i+len(wanted)-1].end]
		}
	}
	return ""
}

// isDecisive reports whether a word or sign can reverse the meaning of a passage.
func isDecisive(w string) bool {
	r, _ := utf8.DecodeRuneInString(w)
	return decisiveWords[w] || hasDigit(w) || unicode.IsSymbol(r) || r == '%' || strings.HasSuffix(w, "n't")
}

var decisiveWords = func() map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(`
		no not never none nobody nothing nowhere neither nor without cannot lacks lack lacking missing absent hardly rarely seldom
		except excepting excluding excluded exclude excludes exclusion exempt exempted exemption unless only solely partial partially
		partly mostly limited
		may might could can should would will shall must ought need needs optional optionally recommended required mandatory
		voluntary allowed permitted prohibited forbidden banned
		if when where whenever until before after
		plan plans planned planning intend intends intended propose proposes proposed proposal schedule scheduled future upcoming
		soon yet pending draft template example roadmap todo tbd tba aim aims goal goals target wish postponed
		always all any some every each most many few several both either half
		zero one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty sixty seventy eighty ninety
		hundred thousand million first second third once twice single
		hourly daily nightly weekly fortnightly biweekly monthly bimonthly quarterly semiannually biannually annually yearly annual
		periodically regularly occasionally sometimes immediately continuously ad-hoc
		minute minutes hour hours day days week weeks month months quarter quarters year years
		yes x true false pass passed fail failed fails failure done undone open closed complete completed incomplete
		enable enabled enables disable disabled disables disabling on off active inactive activated deactivated
		start started starts stop stopped stops end ended ends discontinued suspended withdrawn obsolete expired former formerly
		previously past invalid valid approved rejected unapproved
		internal external inside outside above below more less least minimum maximum`) {
		out[w] = true
	}
	return out
}()
