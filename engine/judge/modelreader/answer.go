package modelreader

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scf-service/service/engine/judge/reading"
)

// answer is a model's answer to a question.
type answer struct {
	Statements []statementAnswer `json:"statements"`
}

type statementAnswer struct {
	Statement int       `json:"statement"`
	Findings  []finding `json:"findings"`
}

type finding struct {
	Passage int           `json:"passage"`
	Label   reading.Label `json:"label"`
	Quote   string        `json:"quote"`
}

// maxFindings is the maximum number of findings considered per statement.
const maxFindings = 200

var errNotAnswer = errors.New("the answer is not JSON that follows the schema")

// parseAnswer decodes an answer. It accepts answers that begin with the model's reasoning or that
// put the JSON in a code fence; any other text around the object is an error.
func parseAnswer(text string) (a answer, err error) {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "<think>") {
		_, text, _ = strings.Cut(text, "</think>")
		text = strings.TrimSpace(text)
	}
	if fenced, ok := strings.CutPrefix(text, "```"); ok {
		text = strings.TrimSuffix(strings.TrimPrefix(fenced, "json"), "```")
	}
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return a, fmt.Errorf("%w: %w", errNotAnswer, err)
	}
	if _, more := d.Token(); !errors.Is(more, io.EOF) {
		return a, fmt.Errorf("%w: there is more text after the JSON", errNotAnswer)
	}
	if a.Statements == nil {
		return a, fmt.Errorf("%w: the answer contains no statements", errNotAnswer)
	}
	return a, nil
}

// readings returns the readings that an answer contains for the passages of statement i, and the number of findings
// that were dropped because their quote is not in the passage or is only a heading, or because they are otherwise
// invalid. ok is false if the answer doesn't include the statement.
func (q *question) readings(a answer, i int) (out []reading.Reading, dropped int, ok bool) {
	at := slices.IndexFunc(a.Statements, func(s statementAnswer) bool { return s.Statement == i+1 })
	if at < 0 {
		return nil, 0, false
	}
	found := map[int]reading.Reading{}
	for n, f := range a.Statements[at].Findings {
		if n == maxFindings || f.Passage < 1 || f.Passage > len(q.passages) {
			dropped++
			continue
		}
		p := q.passages[f.Passage-1]
		r := reading.Reading{Label: f.Label, Words: matchQuote(p.Text, f.Quote)}
		if f.Label == reading.Silent || r.Check(p.Text) != nil || isHeading(p, r.Words) {
			dropped++
			continue
		}
		if before, twice := found[f.Passage]; !twice || losesTo(before.Label, r.Label) {
			found[f.Passage] = r
		}
	}
	out = make([]reading.Reading, len(q.statements[i].Passages))
	for k, p := range q.statements[i].Passages {
		if r, shown := found[q.numbers[p.Hash()]]; shown {
			out[k] = r
		} else {
			out[k] = reading.Reading{Label: reading.Silent}
		}
	}
	return out, dropped, true
}

// losesTo reports whether the first label gives way to the second if a model assigns both to a passage. The label that
// is less favorable to the organization wins.
func losesTo(before, after reading.Label) bool {
	order := []reading.Label{reading.States, reading.Part, reading.Plans, reading.Contradicts}
	return slices.Index(order, before) < slices.Index(order, after)
}

// matchQuote returns the part of a text that equals a quote, ignoring differences in white space,
// hyphens, quotation marks and invisible characters. It returns "" if the text doesn't contain the
// quote.
func matchQuote(text, quote string) string {
	quote = strings.TrimSpace(quote)
	if exact := reading.FindQuote(text, quote); exact != "" {
		return exact
	}
	wanted, _ := significantCharacters(quote)
	have, starts := significantCharacters(text)
	if wanted == "" {
		return ""
	}
	at := strings.Index(have, wanted)
	if at < 0 {
		return ""
	}
	last := starts[at+len(wanted)-1]
	_, width := utf8.DecodeRuneInString(text[last:])
	return text[starts[at] : last+width]
}

// significantCharacters returns the characters of a text that a quote must reproduce. For each byte of letters, offsets
// contains the offset of the original character in text.
func significantCharacters(text string) (letters string, offsets []int) {
	var out strings.Builder
	var starts []int
	for i, r := range text {
		switch {
		case unicode.IsSpace(r), isInvisible(r), unicode.Is(unicode.Pd, r), r == '\u2212':
			continue
		case strings.ContainsRune("‘’‚‛′`", r):
			r = '\''
		case strings.ContainsRune("“”„‟″«»", r):
			r = '"'
		}
		for range utf8.RuneLen(r) {
			starts = append(starts, i)
		}
		out.WriteRune(r)
	}
	return out.String(), starts
}
