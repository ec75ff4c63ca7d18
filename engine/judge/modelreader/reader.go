// Package modelreader lets a language model read passages for the statements of a control. A prompt contains all
// statements and the passages that search finds for them. The answer must follow a JSON Schema, and its quotes are
// matched against the passages.
//
// It doesn't judge, and it trusts no answer: quotes that a passage doesn't contain are dropped, and
// a statement without a valid answer is sent once more and then left to another reader. It knows
// nothing about assessments or the store.
package modelreader

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/scf-service/service/engine/judge/reading"
	"github.com/scf-service/service/engine/llm"
)

// Model is a language model that answers prompts.
type Model interface {
	Chat(context.Context, llm.Request) (llm.Answer, error)
}

// Statement is a statement with the passages to read for it.
type Statement struct {
	reading.Statement
	Passages []reading.Passage
}

// Outcome holds the result of reading a statement's passages with a model.
type Outcome struct {
	// Readings has one reading per passage of the statement, in order. Passages without a valid answer have the zero
	// Reading.
	Readings []reading.Reading
	// Dropped counts findings whose quote isn't in its passage or is only a heading, or that were otherwise invalid.
	Dropped int
	// Problem explains why some passages were not read; "" if all were.
	Problem string
}

// Reasons for rejecting an answer that follows the schema: invalid quotes, or findings for the check statement.
const (
	ProblemQuotes = "the model's quotes don't appear in the passages, or are only headings"
	ProblemFooled = "the model cites passages for a check statement that no document supports"
)

// Call is a request that the model answered.
type Call struct {
	Digest, ServedModel            string
	PromptTokens, CompletionTokens int
	Seed                           int
	Text                           string // the answer
	Fooled                         bool   // whether it has findings for the check statement
}

// Reader reads passages with a language model. Optional fields may be left empty.
type Reader struct {
	Model Model
	// ContextTokens is the size of the model's context; 0 means DefaultContextTokens. Prompts are split to fit.
	ContextTokens int
	// Before, if set, is called before each request with the maximum number of tokens that it may
	// use. An error ends the reading.
	Before func(tokens int) error
	// After, if set, is called with each answer. An error ends the reading.
	After func(Call) error
	// Wait waits before a request is repeated; nil means that a timer is used.
	Wait func(context.Context, time.Duration) error
}

// DefaultContextTokens is a context size that current models support on an ordinary computer.
const DefaultContextTokens = 16384

const (
	bytesPerToken      = 3 // a cautious value, used for limits
	usualBytesPerToken = 4 // a typical value, used for estimates
	maxTries           = 5 // attempts to send a request that the server doesn't answer
	firstPause         = time.Second
)

// Read returns one outcome per statement. It returns an error if the model can't be reached at all,
// or if Before or After returns one; invalid answers are not errors.
func (r *Reader) Read(ctx context.Context, statements []Statement) ([]Outcome, error) {
	out := make([]Outcome, len(statements))
	at := map[string]int{}
	for i, s := range statements {
		out[i].Readings = make([]reading.Reading, len(s.Passages))
		at[s.ID()] = i
	}
	merge := func(part Statement, o Outcome) {
		i := at[part.ID()]
		out[i].Dropped += o.Dropped
		if o.Problem != "" {
			out[i].Problem = o.Problem
		}
		byHash := map[string]reading.Reading{}
		for k, p := range part.Passages {
			byHash[p.Hash()] = o.Readings[k]
		}
		for k, p := range statements[i].Passages {
			if one, ok := byHash[p.Hash()]; ok {
				out[i].Readings[k] = one
			}
		}
	}
	for _, part := range r.split(statements) {
		if err := r.ask(ctx, part, merge); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Estimate holds the expected number of requests and tokens.
type Estimate struct{ Calls, PromptTokens, CompletionTokens int }

// Estimate estimates the requests and tokens needed to read the statements, assuming that no
// request has to be repeated.
func (r *Reader) Estimate(statements []Statement) (e Estimate) {
	const usualAnswerTokens = 60
	for _, part := range r.split(statements) {
		e.Calls++
		e.PromptTokens += requestSize(newQuestion(part, false).request(false)) / usualBytesPerToken
		e.CompletionTokens += 20 + usualAnswerTokens*len(part)
	}
	return e
}

// split splits statements into parts whose prompts fit into the model's context.
func (r *Reader) split(statements []Statement) [][]Statement {
	context := r.ContextTokens
	if context <= 0 {
		context = DefaultContextTokens
	}
	limit := (context - maxAnswerTokens(len(statements))) * bytesPerToken
	if requestSize(newQuestion(statements, true).request(true)) <= limit {
		return [][]Statement{statements}
	}
	a, b, ok := halve(statements)
	if !ok {
		return [][]Statement{statements}
	}
	return append(r.split(a), r.split(b)...)
}

// halve splits the statements into two halves or, if there is only one statement, splits its
// passages. ok is false if there is only one passage.
func halve(statements []Statement) (a, b []Statement, ok bool) {
	if n := len(statements); n > 1 {
		return statements[:n/2], statements[n/2:], true
	}
	one := statements[0]
	n := len(one.Passages)
	if n < 2 {
		return nil, nil, false
	}
	other := one
	one.Passages, other.Passages = one.Passages[:n/2], other.Passages[n/2:]
	return []Statement{one}, []Statement{other}, true
}

// ask sends statements to the model, sends those without a valid answer once more, and passes each outcome to use.
func (r *Reader) ask(ctx context.Context, statements []Statement, use func(Statement, Outcome)) error {
	dropped := map[string]int{}
	misquoted := map[string]bool{} // in the last answer
	problem := ""
	for _, repeated := range []bool{false, true} {
		clear(misquoted)
		q := newQuestion(statements, repeated)
		isFooled := false
		text, err := r.send(ctx, q.request(repeated), func(text string) bool {
			a, err := parseAnswer(text)
			isFooled = err == nil && q.isFooled(a)
			return isFooled
		})
		switch {
		case isFooled:
			problem = ProblemFooled
			continue
		case errors.Is(err, llm.ErrContextExceeded), errors.Is(err, llm.ErrAnswerTooLong):
			if a, b, ok := halve(statements); ok {
				return r.askBoth(ctx, a, b, use)
			}
			problem = err.Error()
			continue
		case errors.Is(err, llm.ErrTimeout) && !errors.Is(err, llm.ErrBusy):
			if a, b, ok := halve(statements); ok {
				return r.askBoth(ctx, a, b, use)
			}
			return err
		case errors.Is(err, llm.ErrInvalidResponse):
			problem = err.Error()
			continue
		case err != nil:
			return err
		}
		parsed, err := parseAnswer(text)
		if err != nil {
			problem = err.Error()
			continue
		}
		var again []Statement
		for i, s := range statements {
			readings, n, ok := q.readings(parsed, i)
			dropped[s.ID()] += n
			if ok && n == 0 {
				use(s, Outcome{Readings: readings, Dropped: dropped[s.ID()]})
				continue
			}
			again = append(again, s)
			misquoted[s.ID()] = ok
		}
		problem = "the model omitted the statement"
		if statements = again; len(again) == 0 {
			return nil
		}
	}
	for _, s := range statements {
		problem := problem
		if misquoted[s.ID()] {
			problem = ProblemQuotes
		}
		use(s, Outcome{Readings: make([]reading.Reading, len(s.Passages)), Dropped: dropped[s.ID()], Problem: problem})
	}
	return nil
}

// askBoth asks about two sets of statements, one after the other.
func (r *Reader) askBoth(ctx context.Context, a, b []Statement, use func(Statement, Outcome)) error {
	if err := r.ask(ctx, a, use); err != nil {
		return err
	}
	return r.ask(ctx, b, use)
}

// send sends a request and, if the server doesn't answer, retries it at increasing intervals. isFooled checks an
// answer; it may be nil.
func (r *Reader) send(ctx context.Context, request llm.Request, isFooled func(answer string) bool) (string, error) {
	pause, fooled := firstPause, false
	for try := 1; ; try++ {
		if r.Before != nil {
			if err := r.Before(requestSize(request)/bytesPerToken + request.MaxTokens); err != nil {
				return "", err
			}
		}
		a, err := r.Model.Chat(ctx, request)
		if err == nil && isFooled != nil {
			fooled = isFooled(a.Text)
		}
		if r.After != nil && (err == nil || a.PromptTokens+a.CompletionTokens > 0) {
			if stop := r.After(Call{
				Digest: a.Digest, ServedModel: a.ServedModel, PromptTokens: a.PromptTokens, CompletionTokens: a.CompletionTokens,
				Seed: request.Seed, Text: a.Text, Fooled: fooled,
			}); stop != nil {
				return "", stop
			}
		}
		isTemporary := errors.Is(err, llm.ErrUnavailable) || errors.Is(err, llm.ErrBusy)
		switch {
		case !isTemporary || ctx.Err() != nil:
			return a.Text, err
		case try == maxTries:
			return "", fmt.Errorf("%w (tried %d times)", err, try)
		}
		if err := r.wait(ctx, pause); err != nil {
			return "", err
		}
		pause *= 3
	}
}

func (r *Reader) wait(ctx context.Context, d time.Duration) error {
	if r.Wait != nil {
		return r.Wait(ctx, d)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
