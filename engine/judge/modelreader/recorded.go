package modelreader

import (
	"context"

	"github.com/scf-service/service/engine/judge/reading"
)

// Recorded is a reader that returns readings added earlier. The zero value contains no readings.
type Recorded struct {
	readings map[[2]string]reading.Reading // by statement and passage
}

// Add adds the result of reading a statement.
func (r *Recorded) Add(s Statement, o Outcome) {
	if r.readings == nil {
		r.readings = map[[2]string]reading.Reading{}
	}
	for i, p := range s.Passages {
		r.readings[[2]string{s.ID(), p.Hash()}] = o.Readings[i]
	}
}

// Name implements reading.Reader.
func (r *Recorded) Name() string { return promptVersion }

// Read implements reading.Reader.
func (r *Recorded) Read(_ context.Context, s reading.Statement, passages []reading.Passage) ([]reading.Reading, error) {
	out := make([]reading.Reading, len(passages))
	for i, p := range passages {
		out[i] = r.readings[[2]string{s.ID(), p.Hash()}]
	}
	return out, nil
}
