// Package analysis answers the seven specialised questions by rules that can be read:
// whether evidence meets a requirement, whether a log shows an incident, how urgent a
// risk is, what a contract lacks, how to close a gap, what a processing of personal
// data asks for, and which risk remains in a project.
//
// Each answer is made from signs that are found in the text, and each sign is told in
// the trace. What a text orders the reader to do is no sign: it is data.
//
// It must not read a clock, a store or the network. The same input gives the same answer.
package analysis

import (
	"github.com/scf-service/service/api"
)

// Rules names the rule set; it changes when the same input may be answered otherwise.
const Rules = "analyses/2"

// Model is what answers by these rules name as their model.
const Model = "builtin"

// Indicator is one thing that was found, and what the rules made of it.
type Indicator struct {
	Rule  string // as "failed_logins"
	Found string // what stands in the text, or the figure
	Means string // what it changes
}

// Indicators are the trace of an answer, in the order they were met.
type Indicators []Indicator

func (s *Indicators) add(rule, found, means string) {
	*s = append(*s, Indicator{Rule: rule, Found: truncate(found, 200), Means: means})
}

// Controls is the catalog: Control is an error for a code that it lacks.
type Controls interface {
	Control(code string) (api.Control, error)
}

// newAnalysed marks what every built-in answer says of itself; the run's id is the caller's.
func newAnalysed() api.Analysed { return api.Analysed{Model: Model, Limitations: []string{}} }

// nonNil makes an absent list an empty one.
func nonNil(values []string) []string {
	if values == nil {
		return []string{}
	}
	return values
}

// clamp keeps a figure between two others.
func clamp(n, least, most float64) float64 { return max(least, min(most, n)) }
