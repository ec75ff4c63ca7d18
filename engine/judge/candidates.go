package judge

import (
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge/reading"
)

// Candidates are the passages that search finds for a statement, best first, each with its score.
type Candidates struct {
	Statement reading.Statement
	Passages  []Passage
	// AddressesReader returns the result of the function AddressesReader for the passage with the given index.
	AddressesReader func(passage int) bool
}

// ReaderStatements returns the statements of a control as a reader sees them.
func ReaderStatements(c api.Control) []reading.Statement {
	w := newControlStatements(c)
	out := make([]reading.Statement, len(w.statements))
	for i, st := range w.statements {
		out[i] = w.readingStatement(c, st)
	}
	return out
}

// readingStatement returns a statement of a control as a reader sees it.
func (w controlStatements) readingStatement(c api.Control, statement string) reading.Statement {
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

// Candidates returns the statements of a control in the plan, each with the passages that a reader
// would read for it.
func (l *IncrementalEvaluator) Candidates(code string) []Candidates {
	c := l.plan.controls[code]
	if c == nil {
		return nil
	}
	out := make([]Candidates, len(c.statements))
	for i, s := range c.statements {
		var numbers []int
		out[i].Statement = s.question
		for _, f := range l.source.BestPassages(c.firstQuestion + i) {
			if p := l.source.Passage(f.Number); f.Score >= l.options.MinScore && strings.TrimSpace(p.Text) != "" {
				p.Score = f.Score
				out[i].Passages = append(out[i].Passages, p)
				numbers = append(numbers, f.Number)
			}
		}
		out[i].AddressesReader = func(passage int) bool { return l.cachedAddressesReader(numbers[passage]) }
	}
	return out
}

// cachedAddressesReader returns the result of AddressesReader for a passage and caches it.
func (l *IncrementalEvaluator) cachedAddressesReader(number int) bool {
	c := l.loadPassage(number)
	c.addressOnce.Do(func() { c.addresses = AddressesReader(c.Passage) })
	return c.addresses
}

// ForEachPassage calls use with each passage of the source.
func (l *IncrementalEvaluator) ForEachPassage(use func(Passage)) {
	for _, d := range l.source.Documents() {
		for _, n := range l.source.DocumentPassages(d) {
			use(l.source.Passage(n))
		}
	}
}
