package agent

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/agent/analysis"
	"github.com/scf-service/service/internal/lazyregexp"
	"github.com/scf-service/service/store"
)

// If a model is in use, a pipeline agent asks it to review what the rules produced: for a plain-language
// summary and for advice on single lines. The advice is added to the run's proposals, marked with the model's
// name. The draft itself is produced by the rules alone; users who agree with the advice edit the line.

// modelInput is the part of a run that is shown to a model.
type modelInput struct {
	Agent    string           `json:"agent"`
	Summary  string           `json:"summary"`
	Lines    []map[string]any `json:"lines"`
	Passages []passage        `json:"passages"`
}

// passage is a passage that supports a proposal, in the form shown to a model.
type passage struct {
	Number   int    `json:"number"`
	Document string `json:"document"`
	Quote    string `json:"quote"`
}

// modelAdvice is the model's answer.
type modelAdvice struct {
	Summary string   `json:"summary"`
	Advice  []advice `json:"advice"`
}

// advice is a remark of a model on a proposal.
type advice struct {
	About  string `json:"about"`
	Text   string `json:"text"`
	Source int    `json:"source"` // number of the passage, or 0 for an inference
	Quote  string `json:"quote"`
}

const (
	maxLines      = 40
	maxPassages   = 40
	maxFieldBytes = 500
	// maxModelInput is the maximum size in bytes of the lines in a model's input, and of the
	// passages in it, because small models have a short context.
	maxModelInput = 24 << 10
)

// subjectFields are the fields that identify a proposal's subject, the most specific first.
var subjectFields = []string{"poam_code", "control_code", "filename", "framework", "trait", "category", "report_id"}

// proposalSubject returns the value that identifies what a proposal is about, such as its control code.
func proposalSubject(p map[string]any) string {
	for _, key := range subjectFields {
		if s, ok := p[key].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

// buildModelInput returns the part of the run that the model is shown, shortened to what it can process,
// and the proposals by subject.
func (j *job) buildModelInput(a *pipelineAgent) (input modelInput, proposalsBySubject map[string]map[string]any) {
	l := modelInput{Agent: a.ID, Summary: j.output.Summary, Lines: []map[string]any{}, Passages: []passage{}}
	about, size := map[string]map[string]any{}, 0
	for _, p := range j.output.Proposals {
		key := proposalSubject(p)
		if key == "" || len(key) > maxFieldBytes/2 || about[key] != nil || len(l.Lines) == maxLines {
			continue
		}
		line := map[string]any{"about": key}
		for name, v := range p {
			if !strings.HasSuffix(name, "_id") && name != "crosswalk" {
				line[name] = shortenField(v)
			}
		}
		if size += len(fmt.Sprint(line)); size > maxModelInput {
			break
		}
		about[key], l.Lines = p, append(l.Lines, line)
	}
	size = 0
	for _, e := range j.output.Sources[:min(len(j.output.Sources), maxPassages)] {
		one := passage{Number: len(l.Passages) + 1, Document: truncateField(e.Filename), Quote: truncateField(e.Quote)}
		if size += len(one.Document) + len(one.Quote); size > maxModelInput {
			break
		}
		l.Passages = append(l.Passages, one)
	}
	return l, about
}

func shortenField(v any) any {
	switch x := v.(type) {
	case string:
		return truncateField(x)
	case []string:
		out := make([]string, min(len(x), 10))
		for i := range out {
			out[i] = truncateField(x[i])
		}
		return out
	}
	return v
}

func truncateField(s string) string {
	if len(s) > maxFieldBytes {
		return trimPartialRune(s[:maxFieldBytes]) + "…"
	}
	return s
}

// addModelAdvice adds the model's advice to the run. If the model fails, the run contains only the rules'
// results and the reason for the failure.
func (j *job) addModelAdvice(ctx context.Context, a *pipelineAgent) error {
	input, about := j.buildModelInput(a)
	if len(input.Lines) == 0 {
		return nil
	}
	var answer modelAdvice
	c := j.service.callModel(ctx, j.by.OrganizationID, j.assessmentID, a.ID, input, &answer, func() rejectedAnswers {
		return j.removeUnacceptableAnswers(&answer, input, about)
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := j.saveStep(ctx, c.step); err != nil {
		return err
	}
	if c.note != "" {
		j.addLimitation("%s", c.note)
	} else {
		var first []map[string]any // listed before the proposals that the draft contains as well
		for _, one := range answer.Advice {
			p := map[string]any{"kind": "advice", "about": one.About, "text": one.Text, "model": c.model, "inference": one.Source == 0}
			for _, key := range subjectFields[:2] {
				if v, ok := about[one.About][key]; ok {
					p[key] = v
				}
			}
			if one.Source > 0 {
				p["quote"], p["document"] = one.Quote, input.Passages[one.Source-1].Document
			}
			first = append(first, p)
		}
		j.output.Proposals = append(first, j.output.Proposals...)
		if answer.Summary != "" {
			j.setSummary("%s Summary by %s: %s", j.output.Summary, c.model, answer.Summary)
		}
		j.addLimitation("Advice comes from a model and needs human review; drafts don't include it. Inferences are not supported by a passage.")
	}
	return j.service.updateRun(ctx, j.by, j.runID, func(_ *store.Tx, r *api.AgentRun) error {
		if isFinished(r.Status) {
			return nil
		}
		r.Tokens = c.tokens
		if c.note == "" {
			r.Model, r.PromptVersion = c.model, c.promptVersion
		}
		return nil
	})
}

var (
	controlCodePattern = lazyregexp.New(`\b[A-Z]{3}-\d{2}(?:\.\d{1,2})?\b`)
	// verdictPhrase matches phrases that express a decision, which only rules and users may make.
	verdictPhrase = lazyregexp.New(
		`(?i)\b(?:approv\w+|sign(?:ed)?[ -]?off|(?:fully |is |are |be |as )(?:compliant|conformant|met|implemented|satisfied|effective)|no (?:gaps?|findings?|further action|action (?:is )?(?:needed|required))|not applicable|accept(?:ed|ing)? the risk|close (?:the|this|all))\b`,
	)
)

// removeUnacceptableAnswers removes advice and summaries that the data does not support, that make
// a decision, that could cause damage or that contain instructions.
func (j *job) removeUnacceptableAnswers(answer *modelAdvice, input modelInput, about map[string]map[string]any) (d rejectedAnswers) {
	all := input.Summary
	for _, l := range input.Lines {
		for _, k := range slices.Sorted(maps.Keys(l)) {
			all += "\n" + fmt.Sprint(l[k])
		}
	}
	for _, p := range input.Passages {
		all += "\n" + p.Document + "\n" + p.Quote
	}
	hasInstructions := map[int]bool{} // passages that contain instructions to the reader
	for _, p := range input.Passages {
		hasInstructions[p.Number] = analysis.CountInstructions(p.Quote) > 0
	}
	checkText := func(s string) error {
		switch bad := inventedFigures(s, all); {
		case strings.TrimSpace(s) == "":
			return fmt.Errorf("it is empty")
		case len(bad) > 0:
			return fmt.Errorf("figures that are not in the data: %s", strings.Join(bad, ", "))
		case verdictPhrase.MatchString(s):
			return fmt.Errorf("it makes a decision: %q", verdictPhrase.FindString(s))
		case dangerousPattern.MatchString(s):
			return fmt.Errorf("the text could cause damage")
		case analysis.CountInstructions(s) > 0:
			return fmt.Errorf("the text contains instructions to the reader")
		}
		for _, code := range controlCodePattern.FindAllString(s, -1) {
			if !strings.Contains(all, code) {
				return fmt.Errorf("%s is not in the data", code)
			}
		}
		return nil
	}
	supported := []advice{}
	for _, one := range answer.Advice {
		d.claims++
		err := checkText(one.Text)
		switch {
		case about[one.About] == nil:
			err = fmt.Errorf("the answer refers to an unknown line")
		case one.Source < 0 || one.Source > len(input.Passages):
			err = fmt.Errorf("there is no passage %d", one.Source)
		case one.Source > 0 && hasInstructions[one.Source]:
			err = fmt.Errorf("passage %d contains instructions to the reader", one.Source)
		case one.Source > 0 && (normalizeText(one.Quote) == "" || !strings.Contains(
			normalizeText(input.Passages[one.Source-1].Quote),
			normalizeText(one.Quote),
		)):
			err = fmt.Errorf("the quote is not in passage %d", one.Source)
		}
		if err != nil {
			d.reject("the advice on %q: %v", truncateField(one.About), err)
			continue
		}
		supported = append(supported, one)
	}
	answer.Advice = supported
	if answer.Summary != "" {
		d.claims++
		if err := checkText(answer.Summary); err != nil {
			d.reject("the summary: %v", err)
			answer.Summary = ""
		}
	}
	return d
}
