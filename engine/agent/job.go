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
	service      *Service
	by           api.Caller
	runID        string
	assessmentID string
	input        map[string]any
	stepCount    int
	output       api.AgentOutput
}

// recoverPanic turns a panic of a tool into a failure of the run: one bad record must not end the service.
func (j *job) recoverPanic(work func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the agent broke off: %v", p)
		}
	}()
	return work()
}

// callTool calls a tool and keeps the step, whether it went well or not.
func callTool[O any](
	ctx context.Context,
	j *job,
	name string,
	input map[string]any,
	tool func() (O, error),
	summarize func(O) map[string]any,
) (O, error) {
	var none O
	if err := ctx.Err(); err != nil {
		return none, err
	}
	began := j.service.Clock()
	_, span := tracing.Start(ctx, "tool "+name, tracing.Internal)
	result, err := tool()
	span.End(err)
	step := api.AgentStep{Kind: "tool", Name: name, Input: toStepData(input), DurationMS: j.service.Clock().Sub(began).Milliseconds()}
	if err != nil {
		step.Output = map[string]any{"error": publicMessage(err)}
	} else {
		step.Output = toStepData(summarize(result))
	}
	if keep := j.saveStep(ctx, step); err == nil {
		err = keep
	}
	return result, err
}

// saveStep writes the next step of the run, also where the run was stopped meanwhile.
func (j *job) saveStep(ctx context.Context, step api.AgentStep) error {
	step.Index = j.stepCount
	j.stepCount++
	return j.service.DB.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		return store.AgentSteps.Put(
			tx,
			j.by.OrganizationID,
			&store.AgentStep{AgentStep: step, OrganizationID: j.by.OrganizationID, AgentRunID: j.runID},
		)
	})
}

// assessmentInput is the input of tools that work on the run's assessment.
func (j *job) assessmentInput() api.AssessmentInput {
	return api.AssessmentInput{AssessmentID: j.assessmentID}
}

func (j *job) assessmentArgs() map[string]any { return map[string]any{"assessment_id": j.assessmentID} }

// maxProposals bounds what a run proposes; the drafts hold the rest.
const maxProposals = 200

func (j *job) addProposal(p map[string]any) {
	if len(j.output.Proposals) < maxProposals {
		j.output.Proposals = append(j.output.Proposals, p)
	}
}

// addSources adds passages that a proposal rests on, each once.
func (j *job) addSources(evidence []api.Evidence) {
	for _, e := range evidence {
		if len(j.output.Sources) >= maxProposals {
			return
		}
		known := false
		for _, have := range j.output.Sources {
			known = known || have.ChunkID == e.ChunkID && have.Quote == e.Quote
		}
		if !known {
			j.output.Sources = append(j.output.Sources, e)
		}
	}
}

func (j *job) addAssumption(format string, a ...any) {
	j.output.Assumptions = append(j.output.Assumptions, fmt.Sprintf(format, a...))
}

func (j *job) addLimitation(format string, a ...any) {
	j.output.Limitations = append(j.output.Limitations, fmt.Sprintf(format, a...))
}

func (j *job) setSummary(format string, a ...any) { j.output.Summary = fmt.Sprintf(format, a...) }

// inputText is a field of the run's input.
func (j *job) inputText(key string) string { s, _ := j.input[key].(string); return s }

// inputTexts is a field of the run's input that lists texts.
func (j *job) inputTexts(key string) []string {
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
