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

// Where a model is in use, a pipeline agent asks it to look over what the rules made: for
// a summary in plain words, and for advice on single lines. The advice joins the run's
// proposals, marked with the model's name; the draft itself stays the rules' work, and a
// person who likes a piece of advice edits the line.

// modelInput is what a model is shown of a run.
type modelInput struct {
	Agent    string           `json:"agent"`
	Summary  string           `json:"summary"`
	Lines    []map[string]any `json:"lines"`
	Passages []passage        `json:"passages"`
}

type passage struct {
	Number   int    `json:"number"`
	Document string `json:"document"`
	Quote    string `json:"quote"`
}

// modelAdvice is what it answers.
type modelAdvice struct {
	Summary string   `json:"summary"`
	Advice  []advice `json:"advice"`
}

type advice struct {
	About  string `json:"about"`
	Text   string `json:"text"`
	Source int    `json:"source"` // a passage's number; 0 where it concludes by itself
	Quote  string `json:"quote"`
}

const (
	maxLines      = 40
	maxPassages   = 40
	maxFieldBytes = 500
	// maxModelInput bounds lines and passages, each, in bytes: a small model's context is short.
	maxModelInput = 24 << 10
)

// subjectFields are the fields of a proposal that say what it is about, the clearest first.
var subjectFields = []string{"poam_code", "control_code", "filename", "framework", "trait", "category", "report_id"}

func subjectOf(p map[string]any) string {
	for _, key := range subjectFields {
		if s, ok := p[key].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

// buildModelInput is what the model is shown: no more lines, passages and text than it can hold.
func (j *job) buildModelInput(a *pipelineAgent) (modelInput, map[string]map[string]any) {
	l := modelInput{Agent: a.ID, Summary: j.output.Summary, Lines: []map[string]any{}, Passages: []passage{}}
	about, size := map[string]map[string]any{}, 0
	for _, p := range j.output.Proposals {
		key := subjectOf(p)
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

// addModelAdvice has the model look over what the rules made. Where it can't, the run is the
// rules' alone and says why.
func (j *job) addModelAdvice(ctx context.Context, a *pipelineAgent) error {
	input, about := j.buildModelInput(a)
	if len(input.Lines) == 0 {
		return nil
	}
	var answer modelAdvice
	c := j.service.callModel(ctx, a.ID, input, &answer, func() rejectedAnswers { return j.rejectUnsupported(&answer, input, about) })
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := j.saveStep(ctx, c.step); err != nil {
		return err
	}
	if c.note != "" {
		j.addLimitation("%s", c.note)
	} else {
		var first []map[string]any // people read it before what a draft shows anyway
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
			j.setSummary("%s In the words of %s: %s", j.output.Summary, c.model, answer.Summary)
		}
		j.addLimitation("Advice is the model's, to be judged by a person; it stands in no draft. What is marked as inference rests on no passage.")
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
	// verdictPhrase finds sentences that decide what only rules and people may.
	verdictPhrase = lazyregexp.New(
		`(?i)\b(?:approv\w+|sign(?:ed)?[ -]?off|(?:fully |is |are |be |as )(?:compliant|conformant|met|implemented|satisfied|effective)|no (?:gaps?|findings?|further action|action (?:is )?(?:needed|required))|not applicable|accept(?:ed|ing)? the risk|close (?:the|this|all))\b`,
	)
)

// rejectUnsupported drops what the data does not bear, and advice that would decide something.
func (j *job) rejectUnsupported(answer *modelAdvice, input modelInput, about map[string]map[string]any) (d rejectedAnswers) {
	all := input.Summary
	for _, l := range input.Lines {
		for _, k := range slices.Sorted(maps.Keys(l)) {
			all += "\n" + fmt.Sprint(l[k])
		}
	}
	for _, p := range input.Passages {
		all += "\n" + p.Document + "\n" + p.Quote
	}
	hasInstructions := map[int]bool{} // passages that give their reader orders
	for _, p := range input.Passages {
		hasInstructions[p.Number] = analysis.CountInstructions(p.Quote) > 0
	}
	checkText := func(s string) error {
		switch bad := inventedFigures(s, all); {
		case strings.TrimSpace(s) == "":
			return fmt.Errorf("it says nothing")
		case len(bad) > 0:
			return fmt.Errorf("figures that do not stand in the data: %s", strings.Join(bad, ", "))
		case verdictPhrase.MatchString(s):
			return fmt.Errorf("it decides: %q", verdictPhrase.FindString(s))
		case dangerousPattern.MatchString(s):
			return fmt.Errorf("it could do harm")
		case analysis.CountInstructions(s) > 0:
			return fmt.Errorf("it gives its reader orders")
		}
		for _, code := range controlCodePattern.FindAllString(s, -1) {
			if !strings.Contains(all, code) {
				return fmt.Errorf("%s does not stand in the data", code)
			}
		}
		return nil
	}
	kept := []advice{}
	for _, one := range answer.Advice {
		d.claims++
		err := checkText(one.Text)
		switch {
		case about[one.About] == nil:
			err = fmt.Errorf("there is no line about it")
		case one.Source < 0 || one.Source > len(input.Passages):
			err = fmt.Errorf("there is no passage %d", one.Source)
		case one.Source > 0 && hasInstructions[one.Source]:
			err = fmt.Errorf("passage %d gives its reader orders", one.Source)
		case one.Source > 0 && (normalizeText(one.Quote) == "" || !strings.Contains(normalizeText(input.Passages[one.Source-1].Quote), normalizeText(one.Quote))):
			err = fmt.Errorf("the quote does not stand in passage %d", one.Source)
		}
		if err != nil {
			d.reject("the advice on %q: %v", truncateField(one.About), err)
			continue
		}
		kept = append(kept, one)
	}
	answer.Advice = kept
	if answer.Summary != "" {
		d.claims++
		if err := checkText(answer.Summary); err != nil {
			d.reject("the summary: %v", err)
			answer.Summary = ""
		}
	}
	return d
}
