package agent

import (
	"context"
	"fmt"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/tracing"
	"github.com/scf-service/service/store"
)

// job is a run at work.
type job struct {
	s          *Service
	by         api.Caller
	run        string
	assessment string
	input      map[string]any
	steps      int
	out        api.AgentOutput
}

// safely turns a panic of a tool into a failure of the run: one bad record must not end the service.
func (j *job) safely(work func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the agent broke off: %v", p)
		}
	}()
	return work()
}

// use calls a tool and keeps the step, whether it went well or not.
func use[O any](ctx context.Context, j *job, name string, input map[string]any, tool func() (O, error), tells func(O) map[string]any) (O, error) {
	var none O
	if err := ctx.Err(); err != nil {
		return none, err
	}
	began := j.s.Clock()
	_, span := tracing.Start(ctx, "tool "+name, tracing.Internal)
	got, err := tool()
	span.End(err)
	step := api.AgentStep{Kind: "tool", Name: name, Input: kept(input), DurationMS: j.s.Clock().Sub(began).Milliseconds()}
	if err != nil {
		step.Output = map[string]any{"error": said(err)}
	} else {
		step.Output = kept(tells(got))
	}
	if keep := j.keep(ctx, step); err == nil {
		err = keep
	}
	return got, err
}

// keep writes the next step of the run, also where the run was stopped meanwhile.
func (j *job) keep(ctx context.Context, step api.AgentStep) error {
	step.Index = j.steps
	j.steps++
	return j.s.DB.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		return store.AgentSteps.Put(tx, j.by.OrganizationID, &store.AgentStep{AgentStep: step, OrganizationID: j.by.OrganizationID, AgentRunID: j.run})
	})
}

// on is the input of tools that work on the run's assessment.
func (j *job) on() api.AssessmentInput { return api.AssessmentInput{AssessmentID: j.assessment} }

func (j *job) about() map[string]any { return map[string]any{"assessment_id": j.assessment} }

// maxProposals bounds what a run proposes; the drafts hold the rest.
const maxProposals = 200

func (j *job) propose(p map[string]any) {
	if len(j.out.Proposals) < maxProposals {
		j.out.Proposals = append(j.out.Proposals, p)
	}
}

// cite adds passages that a proposal rests on, each once.
func (j *job) cite(of []api.Evidence) {
	for _, e := range of {
		if len(j.out.Sources) >= maxProposals {
			return
		}
		known := false
		for _, have := range j.out.Sources {
			known = known || have.ChunkID == e.ChunkID && have.Quote == e.Quote
		}
		if !known {
			j.out.Sources = append(j.out.Sources, e)
		}
	}
}

func (j *job) assume(format string, a ...any) {
	j.out.Assumptions = append(j.out.Assumptions, fmt.Sprintf(format, a...))
}

func (j *job) limit(format string, a ...any) {
	j.out.Limitations = append(j.out.Limitations, fmt.Sprintf(format, a...))
}

func (j *job) sum(format string, a ...any) { j.out.Summary = fmt.Sprintf(format, a...) }

// text is a field of the run's input.
func (j *job) text(key string) string { s, _ := j.input[key].(string); return s }

// texts is a field of the run's input that lists texts.
func (j *job) texts(key string) []string {
	var out []string
	if of, ok := j.input[key].([]any); ok {
		for _, v := range of {
			if s, ok := v.(string); ok && len(out) < 100 {
				out = append(out, s)
			}
		}
	}
	return out
}
