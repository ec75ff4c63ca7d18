package judge

import (
	"context"
	"fmt"
	"slices"

	"github.com/scf-service/service/api"
)

// Docket is what is asked of evidence for each of some controls. It hangs on the controls
// and the embedder alone, so it is made once and put to any number of collections.
type Docket struct {
	meaning   *Meaning
	briefs    map[string]*brief
	questions []Question
}

// Question is what a search is asked.
type Question struct {
	Text   string
	Vector []float32 // nil without an embedder
}

// brief is a control with its statements. Their questions stand in a row, from first on,
// and after them the one of the control as a whole.
type brief struct {
	control api.Control
	first   int
	demands []*demand
	subject *demand
	wants   wants
}

// NewDocket makes controls ready, several at once. One that comes twice is taken once.
func NewDocket(ctx context.Context, controls []api.Control, meaning *Meaning, workers int) (*Docket, error) {
	d := &Docket{meaning: meaning, briefs: make(map[string]*brief, len(controls))}
	all := make([]*brief, len(controls))
	s := &Session{options: Options{Meaning: meaning}}
	err := Each(ctx, len(controls), workers, func(ctx context.Context, i int) error {
		c := controls[i]
		w := wantsOf(c)
		b := &brief{control: c, wants: w}
		for _, one := range w.demands(c) {
			if err := s.embedDemand(ctx, one, one.question()); err != nil {
				return fmt.Errorf("judging %s: %w", c.Code, err)
			}
			b.demands = append(b.demands, one)
		}
		b.subject = newSubject(c, w)
		all[i] = b
		return s.embedDemand(ctx, b.subject, w.question(c))
	})
	if err != nil {
		return nil, err
	}
	for i, b := range all {
		if code := controls[i].Code; d.briefs[code] == nil {
			d.briefs[code], b.first = b, len(d.questions)
			for _, one := range b.demands {
				d.questions = append(d.questions, Question{one.question(), one.titled})
			}
			d.questions = append(d.questions, Question{b.wants.question(b.control), b.subject.titled})
		}
	}
	return d, nil
}

// Asks are the statements of controls, each with what its control is about.
func (d *Docket) Asks(ctx context.Context, controls []api.Control, workers int) ([]string, error) {
	of := make([][]string, len(controls))
	err := Each(ctx, len(controls), workers, func(_ context.Context, i int) error {
		if b := d.briefs[controls[i].Code]; b != nil && b.control.ID == controls[i].ID {
			of[i] = b.wants.questions()
		} else {
			of[i] = wantsOf(controls[i]).questions()
		}
		return nil
	})
	return slices.Concat(of...), err
}

// Questions are those to put to a search, in the order in which a Source is asked for them.
func (d *Docket) Questions() []Question { return d.questions }

// question is what a search is asked for a statement.
func (d *demand) question() string {
	if len(d.topic) == 0 {
		return d.text
	}
	return titleOf(d) + ": " + d.text
}

// question is what a search is asked for a control as a whole.
func (w wants) question(c api.Control) string { return w.topic + ". " + c.Description }
