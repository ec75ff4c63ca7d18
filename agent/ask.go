package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/scf-service/service/analysis"
	"github.com/scf-service/service/engine/api"
	"github.com/scf-service/service/model"
)

// Model is what answers questions better than the rules, where there is one.
type Model interface {
	Name() string
	Chat(context.Context, model.Request) (model.Answer, error)
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

// askModel asks the model in use. Its answer is checked against the schema, then against
// the facts; a nil answer means that the rules' stands, and the note says why.
func askModel[O any](ctx context.Context, s *Service, q question[O], rules *O, controls analysis.Controls, run *api.AgentRun) (*O, api.AgentStep, string) {
	began := s.Clock()
	step := api.AgentStep{Kind: "model", Name: s.Model.Name(), Input: map[string]any{}, Output: map[string]any{}}
	out, err := func() (*O, error) {
		p, err := promptOf(q.agent)
		if err != nil {
			return nil, err
		}
		data, err := asData(q.asked)
		if err != nil {
			return nil, err
		}
		step.Input = map[string]any{"prompt_version": p.version, "input": kept(q.asked), "max_tokens": p.maxTokens}
		if len(data) > maxData {
			return nil, fmt.Errorf("%w: %d bytes", model.ErrContext, len(data))
		}
		a, err := s.Model.Chat(ctx, model.Request{System: p.system, User: data, Schema: p.schema, MaxTokens: p.maxTokens})
		run.Tokens = api.Tokens{Prompt: a.Prompt, Completion: a.Completion}
		step.Output["tokens"] = kept(run.Tokens)
		if err != nil {
			return nil, err
		}
		step.Output["text"] = shortened(a.Text, 0)
		var got O
		if err := p.decode(a.Text, &got); err != nil {
			return nil, err
		}
		api.NeverNull(&got)
		d := q.check(&got, rules, controls)
		step.Output["claims"], step.Output["dropped"], step.Output["why"] = d.said, d.gone, d.why
		if d.tooMuch() {
			return nil, fmt.Errorf("%d of %d things it said do not stand in the text: %s", d.gone, d.said, strings.Join(d.why, "; "))
		}
		run.Model, run.PromptVersion = a.Model, p.version
		return &got, nil
	}()
	step.DurationMS = s.Clock().Sub(began).Milliseconds()
	if err != nil {
		step.Output["error"] = err.Error()
		return nil, step, "The rules answered, since the model " + s.Model.Name() + " could not: " + reasonOf(err) + "."
	}
	return out, step, ""
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
