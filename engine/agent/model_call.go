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

// Model is a language model that answers questions in place of the rules.
type Model interface {
	Name() string
	Chat(context.Context, llm.Request) (llm.Answer, error)
	Status(context.Context) llm.Status
}

// rejectedAnswers counts a model's claims and those that were rejected because the facts don't support
// them.
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

// isMostlyRejected reports whether most claims, and at least three, were rejected; in that case,
// the answer is discarded.
func (d *rejectedAnswers) isMostlyRejected() bool { return d.rejected >= 3 && d.rejected*2 > d.claims }

// maxModelData is the maximum size of a model's input in bytes.
const maxModelData = 96 << 10

// modelCall is the result of asking a model: the run's step and, if the answer was accepted, the
// model and prompt version.
type modelCall struct {
	step                 api.AgentStep
	model, promptVersion string // "" if it could not answer
	tokens               api.Tokens
	note                 string // why the rules' answer is used, for the run's limitations
}

// callModel sends input to the model. The answer is validated against the schema and then by check;
// if it is rejected, the returned call's note says why. The organization and the assessment that
// the input belongs to may forbid models on other machines; assessment may be empty.
func (s *Service) callModel(
	ctx context.Context, org, assessment, agent string, input, answer any, check func() rejectedAnswers,
) (c modelCall) {
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
		c.step.Input = map[string]any{"prompt_version": p.version, "input": toStepRecord(input), "max_tokens": p.maxTokens}
		if len(r.User) > maxModelData {
			return fmt.Errorf("%w: %d bytes", llm.ErrContextExceeded, len(r.User))
		}
		if err := s.Assessments.RequireNoRemoteBan(ctx, org, assessment, s.Model); err != nil {
			return err
		}
		a, err := s.Model.Chat(ctx, r)
		c.tokens = api.Tokens{Prompt: a.PromptTokens, Completion: a.CompletionTokens}
		c.step.Output["tokens"] = toStepRecord(c.tokens)
		if a.Digest != "" {
			c.step.Output["digest"] = a.Digest
		}
		if err != nil {
			return err
		}
		c.step.Output["text"] = shortenValue(a.Text, 0)
		if err := p.decodeAnswer(a.Text, answer); err != nil {
			return err
		}
		api.ReplaceNilCollections(answer)
		d := check()
		c.step.Output["claims"], c.step.Output["dropped"], c.step.Output["why"] = d.claims, d.rejected, d.reasons
		if d.isMostlyRejected() {
			return fmt.Errorf("%d of %d claims are not supported by the text: %s", d.rejected, d.claims, strings.Join(d.reasons, "; "))
		}
		c.model, c.promptVersion = a.Model, p.version
		return nil
	}()
	c.step.DurationMS = s.Clock().Sub(began).Milliseconds()
	if err != nil {
		c.step.Output["error"] = err.Error()
		c.note = "The built-in rules answered because the model " + s.Model.Name() + " could not: " + failureReason(err) + "."
	}
	return c
}

func failureReason(err error) string {
	if errors.Is(err, context.Canceled) {
		return "the request was cancelled"
	}
	return err.Error()
}

// maxDepth is the maximum nesting depth of an answer.
const maxDepth = 32

// decodeAnswer decodes an answer, which must be a single JSON value that conforms to the schema.
func (p *prompt) decodeAnswer(text string, into any) error {
	text = strings.TrimSpace(text)
	if nestingDepth(text) > maxDepth {
		return fmt.Errorf("the answer is nested more than %d levels deep", maxDepth)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return fmt.Errorf("the answer is not valid JSON: %w", err)
	}
	if err := p.compiled.Validate(doc); err != nil {
		return fmt.Errorf("the answer does not match the schema: %s", truncateToLine(err.Error()))
	}
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

func truncateToLine(s string) string {
	s = strings.ReplaceAll(s, "\n", "; ")
	return s[:min(len(s), 300)]
}

// nestingDepth returns how deeply brackets are nested. It also counts those in strings, so the
// result is an upper bound.
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
