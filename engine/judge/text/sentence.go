package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scf-service/service/internal/lazyregexp"
	"github.com/scf-service/service/internal/questionnaire"
)

// span is the position of a sentence, list item or table row in a text, without its bullet.
type span struct {
	start, end int  // byte offsets
	Item       bool // a list item
	heading    bool // ends its line without punctuation, as headings do
}

var abbreviations = wordSet("e.g i.e etc vs no nos inc ltd mr ms mrs dr art sec ch approx fig incl resp st cf al")

const maxSentenceBytes = 1200 // bytes; longer sentences are cut

// splitSentences returns the sentences, list items and table rows of a text. A line that begins in lower case
// continues the previous one, because lines of text from PDF files may break anywhere.
func splitSentences(text string) []span {
	var out []span
	add := func(start, end int, endsLine bool) {
		s := span{start: start, end: end}
		for s.end > s.start && isSpace(text[s.end-1]) {
			s.end--
		}
		for s.start < s.end && isSpace(text[s.start]) {
			s.start++
		}
		if n := bulletLength(text[s.start:s.end]); n > 0 {
			s.start += n
			s.Item = true
			s.start += findingNumberLength(text[s.start:s.end])
		} else if checkboxPattern.MatchString(text[s.start:s.end]) {
			s.Item = true // the checkbox is kept because it may be ticked
		}
		if strings.IndexFunc(text[s.start:s.end], unicode.IsLetter) < 0 {
			return
		}
		last := text[s.end-1]
		s.heading = endsLine && !s.Item && last != '.' && last != '!' && last != '?' && last != ';' && last != ':' && s.end-s.start < 90
		out = append(out, s)
	}
	from := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n':
			if lineBreakEndsSentence(text, from, i) {
				add(from, i, true)
				from = i + 1
			}
		case c == '.' || c == '!' || c == '?':
			if punctuationEndsSentence(text, from, i) && !isQuestionCondition(text[from:i+1], text[i+1:]) {
				add(from, i+1, false)
				from = i + 1
			}
		case c == ' ' && nextBoxBeginsSentence(text[from:i], text[i+1:]):
			add(from, i, true)
			from = i + 1
		case i-from >= maxSentenceBytes && isSpace(c), i-from >= 2*maxSentenceBytes && utf8.RuneStart(c):
			add(from, i, false)
			from = i
		}
	}
	if from < len(text) {
		add(from, len(text), true)
	}
	return out
}

// Sentences returns the sentences, list items and table rows of a text, without bullets.
func Sentences(text string) []string {
	var out []string
	for _, s := range splitSentences(text) {
		out = append(out, text[s.start:s.end])
	}
	return out
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// lineBreakEndsSentence reports whether the line break at i ends the sentence that began at from.
func lineBreakEndsSentence(text string, from, i int) bool {
	rest := strings.TrimLeft(text[i+1:], " \t\r")
	if rest == "" || rest[0] == '\n' || bulletLength(rest) > 0 || checkboxPattern.MatchString(rest) {
		return true
	}
	before := strings.TrimRight(text[from:i], " \t\r")
	if before == "" || isTableRow(rest) || isTableRow(before) {
		return true
	}
	switch before[len(before)-1] {
	case '.', '!', '?', ':', ';', '|':
		return true
	case ',', '-':
		return false
	}
	if startsWithAnswer(rest) {
		return true
	}
	r, _ := utf8.DecodeRuneInString(rest)
	// After a long line, a capital may be a name in wrapped text; after a short one it begins a sentence.
	return !unicode.IsLower(r) && r != '(' && (len(before) < 60 || unicode.IsUpper(r) && !unicode.IsLower(rune(before[len(before)-1])))
}

// minBoxWords is the minimum number of words that a check box label must have to count as a statement rather than an
// answer to a question.
const minBoxWords = 3

// nextBoxBeginsSentence reports whether a check box at the start of rest begins a new sentence, because both its label
// and that of the preceding check box are statements: "☒ Keys are rotated ☐ Logs are kept".
func nextBoxBeginsSentence(before, rest string) bool {
	if !checkboxPattern.MatchString(rest) || !checkboxPattern.MatchString(strings.TrimLeft(before, " \t\r\n")) {
		return false
	}
	label, _, _ := strings.Cut(rest, "\n")
	_, n := utf8.DecodeRuneInString(label)
	if i := strings.IndexAny(label[n:], "☐□❏⬜☑☒["); i >= 0 {
		label = label[:n+i]
	}
	return len(splitWords(before)) >= minBoxWords && len(splitWords(label)) >= minBoxWords
}

// isTableRow reports whether the first line of a text is a table row: either "Name: value; Name: value", the
// format written by the document parsers, or cells separated by bars.
func isTableRow(text string) bool {
	line, _, _ := strings.Cut(text, "\n")
	if strings.Count(line, "|") >= 2 || strings.Contains(line, " | ") {
		return true
	}
	first, rest, ok := strings.Cut(line, ": ")
	if !ok || len(first) > 60 || strings.Contains(first, ". ") || strings.Contains(first, ";") {
		return false
	}
	_, rest, ok = strings.Cut(rest, "; ")
	label, _, labelled := strings.Cut(rest+" ", ": ")
	return ok && labelled && len(label) <= 60 && !strings.Contains(label, ". ")
}

// punctuationEndsSentence reports whether the punctuation mark at i ends the sentence that began at from.
func punctuationEndsSentence(text string, from, i int) bool {
	j := i + 1
	for j < len(text) && strings.IndexByte(`"')]*_`, text[j]) >= 0 {
		j++
	}
	if j >= len(text) {
		return true
	}
	if !isSpace(text[j]) || strings.HasPrefix(strings.TrimLeft(text[j:], " "), "|") { // except before the next cell of a row
		return false
	}
	if text[i] != '.' {
		return true
	}
	k := i
	for k > from && !isSpace(text[k-1]) && text[k-1] != '(' {
		k--
	}
	token := strings.ToLower(text[k:i])
	if abbreviations[token] {
		next := strings.TrimLeft(text[j:], " \t\r\n")
		r, _ := utf8.DecodeRuneInString(next)
		return token == "etc" && unicode.IsUpper(r) || token == "no" && !unicode.IsDigit(r) // not "no. 12"
	}
	if len(token) == 1 && k > from && text[k] >= 'A' && text[k] <= 'Z' {
		// "A. Smith" is a name with an initial; "as in Annex A. The …" ends a sentence.
		next, _, _ := strings.Cut(strings.TrimLeft(text[j:], " \t\r\n"), " ")
		if r, _ := utf8.DecodeRuneInString(next); unicode.IsUpper(r) && !stopWords[strings.ToLower(next)] {
			return false
		}
	}
	before := strings.TrimSpace(text[from:k])
	if before == "" { // "1." or "a." before a list item
		return len(token) > 3 && !isFindingNumber(token)
	}
	return !isFindingNumber(token) || bulletLength(before+" ") <= len(before)
}

// findingNumberLength returns the length of the number of a finding or risk at the start of an item, such as
// "NC-3. ", or 0 if there is none.
func findingNumberLength(item string) int {
	token, rest, ok := strings.Cut(item, ". ")
	if !ok || !isFindingNumber(strings.ToLower(token)) {
		return 0
	}
	return len(item) - len(strings.TrimLeft(rest, " \t"))
}

// isFindingNumber reports whether a token in lower case is the number of a finding or risk, such as "nc-3" or
// "r12".
func isFindingNumber(token string) bool {
	head := strings.TrimRight(token, "0123456789")
	head = strings.TrimSuffix(head, "-")
	return len(head) > 0 && len(head) <= 4 && len(token) > len(head) && strings.Trim(head, "abcdefghijklmnopqrstuvwxyz") == ""
}

const maxConditionWords = 5 // maximum number of words in a question that is a condition

// isQuestionCondition reports whether a short question is a condition for the rest of its line: "Lost it? Tell
// us at once.", "Personal data involved? The counsel decides." Such a question doesn't begin with a verb or
// question word.
func isQuestionCondition(question, rest string) bool {
	rest, _, _ = strings.Cut(rest, "\n")
	if rest = strings.TrimLeft(rest, " \t*_)"); rest == "" || question[len(question)-1] != '?' {
		return false
	}
	words, next := splitWords(question), splitWords(rest)
	if len(words) == 0 || len(words) > maxConditionWords || len(next) < 3 || strings.HasSuffix(strings.TrimRight(rest, "*_ "), "?") {
		return false
	}
	first := words[0].text
	return !auxiliaryVerbs[first] && !modalVerbs[first] && !questionWords[first] && !contrastWords[first] &&
		!strings.HasSuffix(first, "n't") &&
		next[0].text != "yes" && !negationWords[next[0].text] &&
		next[0].text != "n/a" && questionnaire.Parse(rest) == questionnaire.None
}

// bulletLength returns the length of the bullet, list number or heading mark at the start of s, including the
// spaces after it, or 0 if there is none.
func bulletLength(s string) int {
	i := 0
	switch {
	case s == "":
		return 0
	case strings.HasPrefix(s, "#"):
		for i < len(s) && s[i] == '#' {
			i++
		}
	case s[0] == '-' || s[0] == '*' || s[0] == '+':
		i = 1
	case strings.HasPrefix(s, "•") || strings.HasPrefix(s, "▪") || strings.HasPrefix(s, "–") || strings.HasPrefix(s, "◦") ||
		strings.HasPrefix(s, "●"):
		_, i = utf8.DecodeRuneInString(s)
	default:
		if n := strings.IndexAny(s[:min(len(s), 6)], ".)"); n > 0 && strings.Trim(s[:n], "ivx") == "" {
			i = n // "iii."
		}
		for i < len(s) && i < 4 && (s[i] >= '0' && s[i] <= '9' || i == 0 && s[i] == '(' || i < 2 && s[i] >= 'a' && s[i] <= 'z') {
			i++
		}
		if i == 0 || i >= len(s) || s[i] != '.' && s[i] != ')' {
			return 0
		}
		i++
	}
	if i >= len(s) || !isSpace(s[i]) {
		return 0
	}
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	return i
}

// checkboxPattern matches a checkbox, ticked or not, at the start of a text.
var checkboxPattern = lazyregexp.New(`^(?:\[[ xX✓✔]?\]\s|[☐□❏⬜☑☒])`)
