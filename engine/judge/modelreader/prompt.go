package modelreader

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/scf-service/service/engine/judge/reading"
	"github.com/scf-service/service/engine/llm"
)

//go:embed prompts/reader.md
var promptFile string

//go:embed prompts/reader.schema.json
var answerSchema []byte

// promptVersion and instructions are the parts of the prompt file. Whoever changes the file must change the version,
// because each reading belongs to a particular version.
var promptVersion, instructions = func() (string, string) {
	head, body, _ := strings.Cut(promptFile, "\n\n")
	return strings.TrimPrefix(head, "version: "), strings.TrimSpace(body)
}()

// PromptVersion returns the version of the prompt, such as reader/1.
func PromptVersion() string { return promptVersion }

// Limits on the answer to one prompt, in tokens.
const (
	baseAnswerTokens      = 200
	answerTokensStatement = 400
)

// repeatRequest precedes statements that are sent a second time.
const repeatRequest = "An earlier answer left out these statements, or had quotes that are not in their passages. " +
	"Copy each quote exactly, or leave the finding out.\n\n"

// question is one prompt. It contains the statements, a check statement and the passages found for them, and it
// includes each passage only once.
type question struct {
	statements []Statement
	check      reading.Statement
	passages   []reading.Passage
	numbers    map[string]int // of passages, from 1, by hash
}

// newQuestion returns a question about statements, in which each passage occurs only once.
func newQuestion(statements []Statement, repeated bool) *question {
	q := &question{statements: statements, numbers: map[string]int{}}
	for _, s := range statements {
		for _, p := range s.Passages {
			if h := p.Hash(); q.numbers[h] == 0 {
				q.passages = append(q.passages, p.Bounded())
				q.numbers[h] = len(q.passages)
			}
		}
	}
	q.check = newCheckStatement(q.numbers, repeated)
	return q
}

// text returns the statements and passages as text. The passages are enclosed in two delimiter lines, which contain a
// hash of the passages and therefore can't occur in them. Each line of a passage begins with a vertical bar, so that it
// can't be mistaken for the start of another passage or the end of the data.
func (q *question) text() string {
	var data strings.Builder
	for i, p := range q.passages {
		fmt.Fprintf(&data, "PASSAGE %d\n", i+1)
		fmt.Fprintf(&data, "document: %s\n", oneLine(p.Title))
		if kind := strings.TrimSpace(p.Kind + " " + p.Date); kind != "" {
			fmt.Fprintf(&data, "kind and date: %s\n", oneLine(kind))
		}
		if len(p.HeadingPath) > 0 {
			fmt.Fprintf(&data, "under: %s\n", oneLine(strings.Join(p.HeadingPath, " / ")))
		}
		for line := range strings.SplitSeq(visible(p.Text), "\n") {
			fmt.Fprintf(&data, "| %s\n", line)
		}
	}
	var out strings.Builder
	statement := func(number int, s reading.Statement) {
		fmt.Fprintf(&out, "STATEMENT %d\n", number)
		if s.Topic != "" {
			fmt.Fprintf(&out, "about: %s\n", oneLine(s.Topic))
		}
		fmt.Fprintf(&out, "%s\n", oneLine(s.Text))
	}
	for i, s := range q.statements {
		statement(i+1, s.Statement)
	}
	statement(len(q.statements)+1, q.check)
	sum := sha256.Sum256([]byte(data.String()))
	fence := hex.EncodeToString(sum[:8])
	fmt.Fprintf(&out, "\nPASSAGES %s BEGIN\n%sPASSAGES %s END\n", fence, data.String(), fence)
	return out.String()
}

func (q *question) request(repeated bool) llm.Request {
	r := llm.Request{
		System: instructions, User: q.text(), Schema: json.RawMessage(answerSchema), MaxTokens: maxAnswerTokens(len(q.statements)),
		Seed: llm.DefaultSeed,
	}
	if repeated { // with the same seed, the answer could be the same
		r.User, r.Seed = repeatRequest+r.User, llm.DefaultSeed+1
	}
	return r
}

func maxAnswerTokens(statements int) int { return baseAnswerTokens + answerTokensStatement*statements }

// requestSize returns the length of a request in bytes.
func requestSize(r llm.Request) int { return len(r.System) + len(r.User) + len(r.Schema) }

// oneLine returns a text without invisible characters and with each run of white space replaced by a single space.
func oneLine(s string) string { return strings.Join(strings.Fields(visible(s)), " ") }

// visible returns a text with line feeds as its only line breaks and without invisible characters,
// which could contain a message that only the model sees.
func visible(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n").Replace(s)
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && isInvisible(r) {
			return -1
		}
		return r
	}, s)
}

// isInvisible reports whether a character has no visible form: controls, joiners, direction marks,
// tags and variation selectors.
func isInvisible(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector) && !unicode.IsSpace(r)
}
