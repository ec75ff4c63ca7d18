package agent

import (
	"context"
	"fmt"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/tracing"
	"github.com/scf-service/service/store"
)

// job is a run in progress.
type job struct {
	service      *Service
	by           api.Caller
	runID        string
	assessmentID string
	input        map[string]any
	stepCount    int
	output       api.AgentOutput
}

// runRecoveringPanic turns a panic in work into a failure of the run, so that one bad record does
// not crash the service.
func (j *job) runRecoveringPanic(work func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the agent panicked: %v", p)
		}
	}()
	return work()
}

// callTool calls a tool and records the step, even if it fails.
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
	step := api.AgentStep{Kind: "tool", Name: name, Input: toStepRecord(input), DurationMS: j.service.Clock().Sub(began).Milliseconds()}
	if err != nil {
		step.Output = map[string]any{"error": publicMessage(err)}
	} else {
		step.Output = toStepRecord(summarize(result))
	}
	if keep := j.saveStep(ctx, step); err == nil {
		err = keep
	}
	return result, err
}

// saveStep stores the next step of the run, even if the run was stopped in the meantime.
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

// assessmentInput returns the tool input for the run's assessment.
func (j *job) assessmentInput() api.AssessmentInput {
	return api.AssessmentInput{AssessmentID: j.assessmentID}
}

func (j *job) assessmentArgs() map[string]any { return map[string]any{"assessment_id": j.assessmentID} }

// maxProposals is the maximum number of proposals of a run; the drafts contain the rest.
const maxProposals = 200

func (j *job) addProposal(p map[string]any) {
	if len(j.output.Proposals) < maxProposals {
		j.output.Proposals = append(j.output.Proposals, p)
	}
}

// addSources adds a proposal's supporting passages without duplicates.
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

// inputText returns a string field of the run's input.
func (j *job) inputText(key string) string { s, _ := j.input[key].(string); return s }

// inputTexts returns a string list field of the run's input.
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
