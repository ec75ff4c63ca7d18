package judge

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge/reading"
)

// EvaluationPlan holds the questions used to find evidence for a set of controls. It depends only
// on the controls and the embedder, so one plan can be used for any number of document collections.
type EvaluationPlan struct {
	embedder  *Embedder
	controls  map[string]*controlPlan
	questions []Question
}

// Question is a search query for one statement, or for a control as a whole.
type Question struct {
	Text   string
	Vector []float32 // nil without an embedder
}

// controlPlan is a control with its statements. The questions for the statements are consecutive, starting at
// firstQuestion, and are followed by the question for the control as a whole.
type controlPlan struct {
	control        api.Control
	firstQuestion  int
	statements     []*preparedStatement
	subject        *preparedStatement
	statementTexts controlStatements
}

// NewEvaluationPlan prepares controls, using up to the given number of workers. If several controls
// have the same code, only the first is included.
func NewEvaluationPlan(ctx context.Context, controls []api.Control, embedder *Embedder, workers int) (*EvaluationPlan, error) {
	d := &EvaluationPlan{embedder: embedder, controls: make(map[string]*controlPlan, len(controls))}
	all := make([]*controlPlan, len(controls))
	s := &Session{options: Options{Embedder: embedder}}
	err := ForEach(ctx, len(controls), workers, func(ctx context.Context, i int) error {
		c := controls[i]
		w := newControlStatements(c)
		b := &controlPlan{control: c, statementTexts: w}
		for _, one := range w.prepareStatements(c) {
			if err := s.embedStatement(ctx, one, one.searchQuery()); err != nil {
				return fmt.Errorf("judging %s: %w", c.Code, err)
			}
			b.statements = append(b.statements, one)
		}
		b.subject = newWholeControlStatement(c, w)
		all[i] = b
		return s.embedStatement(ctx, b.subject, w.wholeControlQuery(c))
	})
	if err != nil {
		return nil, err
	}
	for i, b := range all {
		if code := controls[i].Code; d.controls[code] == nil {
			d.controls[code], b.firstQuestion = b, len(d.questions)
			for _, one := range b.statements {
				d.questions = append(d.questions, Question{one.searchQuery(), one.titledVector})
			}
			d.questions = append(d.questions, Question{b.statementTexts.wholeControlQuery(b.control), b.subject.titledVector})
		}
	}
	return d, nil
}

// StatementQueries returns the search queries for the statements of the controls. Each query begins with the
// control's topic.
func (d *EvaluationPlan) StatementQueries(ctx context.Context, controls []api.Control, workers int) ([]string, error) {
	queries := make([][]string, len(controls))
	err := ForEach(ctx, len(controls), workers, func(_ context.Context, i int) error {
		if b := d.controls[controls[i].Code]; b != nil && b.control.ID == controls[i].ID {
			queries[i] = b.statementTexts.searchQueries()
		} else {
			queries[i] = newControlStatements(controls[i]).searchQueries()
		}
		return nil
	})
	return slices.Concat(queries...), err
}

// Questions returns the search questions. Their indexes are the question numbers that a PassageSource expects.
func (d *EvaluationPlan) Questions() []Question { return d.questions }

// ForEachStatement calls use for each statement, in order, with the number of the statement's question and the
// statement.
func (d *EvaluationPlan) ForEachStatement(use func(question int, st reading.Statement)) {
	for _, code := range slices.Sorted(maps.Keys(d.controls)) {
		for i, s := range d.controls[code].statements {
			use(d.controls[code].firstQuestion+i, s.question)
		}
	}
}

// searchQuery returns the search query for a statement.
func (d *preparedStatement) searchQuery() string {
	if len(d.topic) == 0 {
		return d.text
	}
	return joinTopicNames(d) + ": " + d.text
}

// wholeControlQuery returns the search query for a control as a whole.
func (w controlStatements) wholeControlQuery(c api.Control) string {
	return w.topic + ". " + c.Description
}
