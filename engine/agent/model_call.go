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

// rejectedAnswers counts what a model said and the facts don't bear.
type rejectedAnswers struct {
	claims, rejected int
	reasons          []string
}

func (d *rejectedAnswers) reject(format string, a ...any) {
	d.rejected++
	if len(d.reasons) < 20 {
		d.reasons = append(d.reasons, fmt.Sprintf(format, a...))
	}
}

// isMostlyRejected: a model that is wrong more often than right is not heard.
func (d *rejectedAnswers) isMostlyRejected() bool { return d.rejected >= 3 && d.rejected*2 > d.claims }

// maxModelData bounds what a model is asked to read, in bytes.
const maxModelData = 96 << 10

// modelCall is what a model was asked and came to: the step of the run, and where its
// answer stands, who gave it to which prompt.
type modelCall struct {
	step                 api.AgentStep
	model, promptVersion string // empty where it could not answer
	tokens               api.Tokens
	note                 string // why the rules' answer stands, for the run's limitations
}

// callModel asks the model in use. Its answer is checked against the schema, then by check
// against the facts; where it does not stand, the note says why.
func (s *Service) callModel(ctx context.Context, agent string, input, answer any, check func() rejectedAnswers) (c modelCall) {
	began := s.Clock()
	c.step = api.AgentStep{Kind: "model", Name: s.Model.Name(), Input: map[string]any{}, Output: map[string]any{}}
	err := func() error {
		p, err := loadPrompt(agent)
		if err != nil {
			return err
		}
		r, err := p.newRequest(input)
		if err != nil {
			return err
		}
		c.step.Input = map[string]any{"prompt_version": p.version, "input": toStepData(input), "max_tokens": p.maxTokens}
		if len(r.User) > maxModelData {
			return fmt.Errorf("%w: %d bytes", llm.ErrContextExceeded, len(r.User))
		}
		a, err := s.Model.Chat(ctx, r)
		c.tokens = api.Tokens{Prompt: a.PromptTokens, Completion: a.CompletionTokens}
		c.step.Output["tokens"] = toStepData(c.tokens)
		if a.Digest != "" {
			c.step.Output["digest"] = a.Digest
		}
		if err != nil {
			return err
		}
		c.step.Output["text"] = shortenValue(a.Text, 0)
		if err := p.decode(a.Text, answer); err != nil {
			return err
		}
		api.NeverNull(answer)
		d := check()
		c.step.Output["claims"], c.step.Output["dropped"], c.step.Output["why"] = d.claims, d.rejected, d.reasons
		if d.isMostlyRejected() {
			return fmt.Errorf("%d of %d things it said do not stand in the text: %s", d.rejected, d.claims, strings.Join(d.reasons, "; "))
		}
		c.model, c.promptVersion = a.Model, p.version
		return nil
	}()
	c.step.DurationMS = s.Clock().Sub(began).Milliseconds()
	if err != nil {
		c.step.Output["error"] = err.Error()
		c.note = "The rules answered, since the model " + s.Model.Name() + " could not: " + failureReason(err) + "."
	}
	return c
}

func failureReason(err error) string {
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
	if nestingDepth(text) > maxDepth {
		return fmt.Errorf("the answer is nested more than %d deep", maxDepth)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return fmt.Errorf("the answer is no JSON: %w", err)
	}
	if err := p.compiled.Validate(doc); err != nil {
		return fmt.Errorf("the answer does not fit the schema: %s", truncateToLine(err.Error()))
	}
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

func truncateToLine(s string) string {
	s = strings.ReplaceAll(s, "\n", "; ")
	return s[:min(len(s), 300)]
}

// nestingDepth is how far brackets nest, those in texts too: a bound, not a measure.
func nestingDepth(s string) int {
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
