package judge

import (
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge/reading"
	"github.com/scf-service/service/engine/judge/text"
)

// Candidates are the passages that search brings for a statement, best first, each with its score.
type Candidates struct {
	Statement reading.Statement
	Passages  []Passage
	// AddressesReader reports of each passage whether it tells its reader what to conclude.
	AddressesReader []bool
}

// ReaderStatements returns the statements of a control as a reader sees them.
func ReaderStatements(c api.Control) []reading.Statement {
	w := newControlStatements(c)
	out := make([]reading.Statement, len(w.statements))
	for i, st := range w.statements {
		out[i] = w.question(c, st)
	}
	return out
}

// question returns a statement of a control as a reader sees it.
func (w controlStatements) question(c api.Control, statement string) reading.Statement {
	return reading.Statement{ControlCode: c.Code, Topic: w.topic, Text: statement}
}

// TraitStatements returns the statements about traits of the organization.
func TraitStatements() (out []reading.Statement) {
	for _, name := range api.TraitNames {
		if _, ok := traitRules[name]; ok {
			out = append(out, traitStatement(name))
		}
	}
	return out
}

// Candidates returns what a reader would read for a control of the plan: its statements with their passages.
func (l *IncrementalEvaluator) Candidates(code string) []Candidates {
	c := l.plan.controls[code]
	if c == nil {
		return nil
	}
	out := make([]Candidates, len(c.statements))
	for i, s := range c.statements {
		out[i].Statement = s.question
		for _, f := range l.source.BestPassages(c.firstQuestion + i) {
			if p := l.source.Passage(f.Number); f.Score >= l.options.MinScore && strings.TrimSpace(p.Text) != "" {
				p.Score = f.Score
				out[i].Passages = append(out[i].Passages, p)
				out[i].AddressesReader = append(out[i].AddressesReader, l.loadAnalyzedPassage(f.Number).addressesReader())
			}
		}
	}
	return out
}

// addressesReader reports whether the passage, or what is above it, tells its reader what to conclude.
func (c *analyzedPassage) addressesReader() bool {
	instructs := func(s text.Sentence) bool { return s.Instruction }
	return slices.ContainsFunc(c.Sentences, instructs) ||
		slices.ContainsFunc(text.Analyze(c.DocumentTitle+".\n"+strings.Join(c.HeadingPath, ".\n"), 0).Sentences, instructs)
}

// ForEachPassage calls use with each passage of the source.
func (l *IncrementalEvaluator) ForEachPassage(use func(Passage)) {
	for _, d := range l.source.Documents() {
		for _, n := range l.source.DocumentPassages(d) {
			use(l.source.Passage(n))
		}
	}
}
