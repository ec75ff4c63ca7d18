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

// Sign is one thing that was found, and what the rules made of it.
type Sign struct {
	Rule  string // as "failed_logins"
	Found string // what stands in the text, or the figure
	Means string // what it changes
}

// Signs are the trace of an answer, in the order they were met.
type Signs []Sign

func (s *Signs) add(rule, found, means string) {
	*s = append(*s, Sign{Rule: rule, Found: clip(found, 200), Means: means})
}

// Controls is the catalog: Control is an error for a code that it lacks.
type Controls interface {
	Control(code string) (api.Control, error)
}

// answered marks what every built-in answer says of itself; the run's id is the caller's.
func answered() api.Analysed { return api.Analysed{Model: Model, Limitations: []string{}} }

// list makes an absent list an empty one.
func list(of []string) []string {
	if of == nil {
		return []string{}
	}
	return of
}

// bounded keeps a figure between two others.
func bounded(n, least, most float64) float64 { return max(least, min(most, n)) }
