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

// looked is what a model is shown of a run.
type looked struct {
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

// advised is what it answers.
type advised struct {
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
	maxLines    = 40
	maxPassages = 40
	maxField    = 500
	// maxLook bounds lines and passages, each, in bytes: a small model's context is short.
	maxLook = 24 << 10
)

// subjects are the fields of a proposal that say what it is about, the clearest first.
var subjects = []string{"poam_code", "control_code", "filename", "framework", "trait", "category", "report_id"}

func subjectOf(p map[string]any) string {
	for _, key := range subjects {
		if s, ok := p[key].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

// look is what the model is shown: no more lines, passages and text than it can hold.
func (j *job) look(a *pipeline) (looked, map[string]map[string]any) {
	l := looked{Agent: a.ID, Summary: j.out.Summary, Lines: []map[string]any{}, Passages: []passage{}}
	about, size := map[string]map[string]any{}, 0
	for _, p := range j.out.Proposals {
		key := subjectOf(p)
		if key == "" || len(key) > maxField/2 || about[key] != nil || len(l.Lines) == maxLines {
			continue
		}
		line := map[string]any{"about": key}
		for name, v := range p {
			if !strings.HasSuffix(name, "_id") && name != "crosswalk" {
				line[name] = brief(v)
			}
		}
		if size += len(fmt.Sprint(line)); size > maxLook {
			break
		}
		about[key], l.Lines = p, append(l.Lines, line)
	}
	size = 0
	for _, e := range j.out.Sources[:min(len(j.out.Sources), maxPassages)] {
		one := passage{len(l.Passages) + 1, cut(e.Filename), cut(e.Quote)}
		if size += len(one.Document) + len(one.Quote); size > maxLook {
			break
		}
		l.Passages = append(l.Passages, one)
	}
	return l, about
}

func brief(v any) any {
	switch x := v.(type) {
	case string:
		return cut(x)
	case []string:
		out := make([]string, min(len(x), 10))
		for i := range out {
			out[i] = cut(x[i])
		}
		return out
	}
	return v
}

func cut(s string) string {
	if len(s) > maxField {
		return valid(s[:maxField]) + "…"
	}
	return s
}

// advise has the model look over what the rules made. Where it can't, the run is the
// rules' alone and says why.
func (j *job) advise(ctx context.Context, a *pipeline) error {
	shown, about := j.look(a)
	if len(shown.Lines) == 0 {
		return nil
	}
	var got advised
	c := j.s.consult(ctx, a.ID, shown, &got, func() dropped { return j.hold(&got, shown, about) })
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := j.keep(ctx, c.step); err != nil {
		return err
	}
	if c.note != "" {
		j.limit("%s", c.note)
	} else {
		var first []map[string]any // people read it before what a draft shows anyway
		for _, one := range got.Advice {
			p := map[string]any{"kind": "advice", "about": one.About, "text": one.Text, "model": c.model, "inference": one.Source == 0}
			for _, key := range subjects[:2] {
				if v, ok := about[one.About][key]; ok {
					p[key] = v
				}
			}
			if one.Source > 0 {
				p["quote"], p["document"] = one.Quote, shown.Passages[one.Source-1].Document
			}
			first = append(first, p)
		}
		j.out.Proposals = append(first, j.out.Proposals...)
		if got.Summary != "" {
			j.sum("%s In the words of %s: %s", j.out.Summary, c.model, got.Summary)
		}
		j.limit("Advice is the model's, to be judged by a person; it stands in no draft. What is marked as inference rests on no passage.")
	}
	return j.s.change(ctx, j.by, j.run, func(_ *store.Tx, r *api.AgentRun) error {
		if over(r.Status) {
			return nil
		}
		r.Tokens = c.tokens
		if c.note == "" {
			r.Model, r.PromptVersion = c.model, c.prompt
		}
		return nil
	})
}

var (
	controlCode = lazyregexp.Of(`\b[A-Z]{3}-\d{2}(?:\.\d{1,2})?\b`)
	// verdict finds sentences that decide what only rules and people may.
	verdict = lazyregexp.Of(`(?i)\b(?:approv\w+|sign(?:ed)?[ -]?off|(?:fully |is |are |be |as )(?:compliant|conformant|met|implemented|satisfied|effective)|no (?:gaps?|findings?|further action|action (?:is )?(?:needed|required))|not applicable|accept(?:ed|ing)? the risk|close (?:the|this|all))\b`)
)

// hold drops what the data does not bear, and advice that would decide something.
func (j *job) hold(got *advised, shown looked, about map[string]map[string]any) (d dropped) {
	all := shown.Summary
	for _, l := range shown.Lines {
		for _, k := range slices.Sorted(maps.Keys(l)) {
			all += "\n" + fmt.Sprint(l[k])
		}
	}
	for _, p := range shown.Passages {
		all += "\n" + p.Document + "\n" + p.Quote
	}
	ordered := map[int]bool{} // passages that give their reader orders
	for _, p := range shown.Passages {
		ordered[p.Number] = analysis.Orders(p.Quote) > 0
	}
	fits := func(s string) error {
		switch bad := invented(s, all); {
		case strings.TrimSpace(s) == "":
			return fmt.Errorf("it says nothing")
		case len(bad) > 0:
			return fmt.Errorf("figures that do not stand in the data: %s", strings.Join(bad, ", "))
		case verdict.MatchString(s):
			return fmt.Errorf("it decides: %q", verdict.FindString(s))
		case dangerous.MatchString(s):
			return fmt.Errorf("it could do harm")
		case analysis.Orders(s) > 0:
			return fmt.Errorf("it gives its reader orders")
		}
		for _, code := range controlCode.FindAllString(s, -1) {
			if !strings.Contains(all, code) {
				return fmt.Errorf("%s does not stand in the data", code)
			}
		}
		return nil
	}
	kept := []advice{}
	for _, one := range got.Advice {
		d.said++
		err := fits(one.Text)
		switch {
		case about[one.About] == nil:
			err = fmt.Errorf("there is no line about it")
		case one.Source < 0 || one.Source > len(shown.Passages):
			err = fmt.Errorf("there is no passage %d", one.Source)
		case one.Source > 0 && ordered[one.Source]:
			err = fmt.Errorf("passage %d gives its reader orders", one.Source)
		case one.Source > 0 && (fold(one.Quote) == "" || !strings.Contains(fold(shown.Passages[one.Source-1].Quote), fold(one.Quote))):
			err = fmt.Errorf("the quote does not stand in passage %d", one.Source)
		}
		if err != nil {
			d.add("the advice on %q: %v", cut(one.About), err)
			continue
		}
		kept = append(kept, one)
	}
	got.Advice = kept
	if got.Summary != "" {
		d.said++
		if err := fits(got.Summary); err != nil {
			d.add("the summary: %v", err)
			got.Summary = ""
		}
	}
	return d
}
