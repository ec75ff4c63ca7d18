package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/llm"
)

// Model is what answers questions better than the rules, where there is one.
type Model interface {
	Name() string
	Chat(context.Context, llm.Request) (llm.Answer, error)
}

// dropped counts what a model said and the facts don't bear.
type dropped struct {
	said, gone int
	why        []string
}

func (d *dropped) add(format string, a ...any) {
	d.gone++
	if len(d.why) < 20 {
		d.why = append(d.why, fmt.Sprintf(format, a...))
	}
}

// tooMuch: a model that is wrong more often than right is not heard.
func (d *dropped) tooMuch() bool { return d.gone >= 3 && d.gone*2 > d.said }

// maxData bounds what a model is asked to read, in bytes.
const maxData = 96 << 10

// consulted is what a model was asked and came to: the step of the run, and where its
// answer stands, who gave it to which prompt.
type consulted struct {
	step          api.AgentStep
	model, prompt string // empty where it could not answer
	tokens        api.Tokens
	note          string // why the rules' answer stands, for the run's limitations
}

// consult asks the model in use. Its answer is checked against the schema, then by check
// against the facts; where it does not stand, the note says why.
func (s *Service) consult(ctx context.Context, agent string, asked, answer any, check func() dropped) (c consulted) {
	began := s.Clock()
	c.step = api.AgentStep{Kind: "model", Name: s.Model.Name(), Input: map[string]any{}, Output: map[string]any{}}
	err := func() error {
		p, err := promptOf(agent)
		if err != nil {
			return err
		}
		r, err := p.ask(asked)
		if err != nil {
			return err
		}
		c.step.Input = map[string]any{"prompt_version": p.version, "input": kept(asked), "max_tokens": p.maxTokens}
		if len(r.User) > maxData {
			return fmt.Errorf("%w: %d bytes", llm.ErrContext, len(r.User))
		}
		a, err := s.Model.Chat(ctx, r)
		c.tokens = api.Tokens{Prompt: a.Prompt, Completion: a.Completion}
		c.step.Output["tokens"] = kept(c.tokens)
		if a.Digest != "" {
			c.step.Output["digest"] = a.Digest
		}
		if err != nil {
			return err
		}
		c.step.Output["text"] = shortened(a.Text, 0)
		if err := p.decode(a.Text, answer); err != nil {
			return err
		}
		api.NeverNull(answer)
		d := check()
		c.step.Output["claims"], c.step.Output["dropped"], c.step.Output["why"] = d.said, d.gone, d.why
		if d.tooMuch() {
			return fmt.Errorf("%d of %d things it said do not stand in the text: %s", d.gone, d.said, strings.Join(d.why, "; "))
		}
		c.model, c.prompt = a.Model, p.version
		return nil
	}()
	c.step.DurationMS = s.Clock().Sub(began).Milliseconds()
	if err != nil {
		c.step.Output["error"] = err.Error()
		c.note = "The rules answered, since the model " + s.Model.Name() + " could not: " + reasonOf(err) + "."
	}
	return c
}

func reasonOf(err error) string {
	if errors.Is(err, context.Canceled) {
		return "the caller went away"
	}
	return err.Error()
}

// maxDepth bounds the nesting of an answer.
const maxDepth = 32

// decode reads an answer: JSON by the schema, and nothing behind it.
func (p *prompt) decode(text string, into any) error {
	text = strings.TrimSpace(text)
	if deep(text) > maxDepth {
		return fmt.Errorf("the answer is nested more than %d deep", maxDepth)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return fmt.Errorf("the answer is no JSON: %w", err)
	}
	if err := p.compiled.Validate(doc); err != nil {
		return fmt.Errorf("the answer does not fit the schema: %s", firstLine(err.Error()))
	}
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

func firstLine(s string) string {
	s = strings.ReplaceAll(s, "\n", "; ")
	return s[:min(len(s), 300)]
}

// deep is how far brackets nest, those in texts too: a bound, not a measure.
func deep(s string) int {
	depth, most := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '{', '[':
			depth++
			most = max(most, depth)
		case '}', ']':
			depth--
		}
	}
	return most
}
