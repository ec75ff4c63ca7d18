package judge

import (
	"context"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge/reading"
	"github.com/scf-service/service/engine/judge/text"
)

// rulesReader is a reader that uses the rules. It returns only labels, whereas a Session without a
// Reader returns the rules' own verdicts, which are more detailed.
type rulesReader struct {
	session    *Session
	statements map[string]*preparedStatement // by the ID of the statement
}

// NewRulesReader returns the rules as a reader for the statements of a plan. For other statements,
// it only uses their text.
func NewRulesReader(plan *EvaluationPlan, o Options) reading.Reader {
	o.Embedder, o.Reader = plan.embedder, nil
	r := rulesReader{session: NewSession(nil, o), statements: make(map[string]*preparedStatement)}
	for _, c := range plan.controls {
		for _, d := range c.statements {
			r.statements[d.question.ID()] = d
		}
	}
	return r
}

// Name implements reading.Reader.
func (r rulesReader) Name() string { return RulesVersion }

// labelOfVerdict maps the rules' verdict on a passage to a label. A template blank counts as silent.
var labelOfVerdict = map[string]reading.Label{
	VerdictCovered: reading.States, VerdictPartial: reading.Part, VerdictPlanned: reading.Plans, VerdictDenied: reading.Contradicts,
}

// Read implements reading.Reader.
func (r rulesReader) Read(ctx context.Context, st reading.Statement, passages []reading.Passage) ([]reading.Reading, error) {
	d := r.statements[st.ID()]
	if d == nil {
		d = newPreparedStatement(st.Text, text.Concepts(st.Topic))
		if err := r.session.embedStatement(ctx, d, d.searchQuery()); err != nil {
			return nil, err
		}
	}
	out := make([]reading.Reading, len(passages))
	for i, seen := range passages {
		p := Passage{DocumentTitle: seen.Title, Category: seen.Kind, HeadingPath: seen.HeadingPath, Text: seen.Text, Score: seen.Score}
		if seen.Date != "" {
			date := api.Date(seen.Date)
			p.EffectiveDate = &date
		}
		analysis, err := r.session.loadOrAnalyzePassage(ctx, p)
		if err != nil {
			return nil, err
		}
		found := newFoundPassage(p, analysis, documentStatus{})
		verdicts := r.session.judgePassage(d, &analyzedPassage{found, analysis}, p.Score)
		best := strongestMatching(verdicts, func(v *passageVerdict) bool { return labelOfVerdict[v.verdict] != "" && !v.inFailureTable })
		out[i] = reading.Reading{Label: reading.Silent, Probabilities: map[reading.Label]float64{reading.Silent: 1}}
		if best == nil {
			continue
		}
		label, sure := labelOfVerdict[best.verdict], max(0.5, min(1, best.coverage)) // at least as likely as all others together
		out[i] = reading.Reading{
			Label: label, Words: best.quote, Probabilities: map[reading.Label]float64{label: sure, reading.Silent: 1 - sure},
		}
	}
	return out, nil
}
