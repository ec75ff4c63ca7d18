// Package analysis answers the seven specialized questions with readable rules: whether evidence
// meets a requirement, whether a log shows an incident, how urgent a risk is, what a contract
// lacks, how to close a gap, what an activity that processes personal data requires, and which risk
// remains in a project.
//
// Each answer is based on indicators found in the text, and the trace lists each of them.
// Instructions in a text that address the reader are not obeyed.
//
// The package must not read a clock, a store or the network. The same input gives the same answer.
package analysis

import (
	"github.com/scf-service/service/api"
)

// Rules names the rule set. It changes whenever the answer to the same input may change.
const Rules = "analyses/2"

// Model is the model name in answers given by these rules.
const Model = "builtin"

// Indicator is something found in the text, and its effect on the answer.
type Indicator struct {
	Rule  string // such as "failed_logins"
	Found string // the text found, or the figure
	Means string // its effect
}

// Indicators lists the indicators that led to an answer, in the order in which they were found.
type Indicators []Indicator

// add adds an indicator: the rule that matched, the text found, and its meaning.
func (s *Indicators) add(rule, found, means string) {
	*s = append(*s, Indicator{Rule: rule, Found: truncate(found, 200), Means: means})
}

// Controls looks up controls in the catalog. Control returns an error for an unknown code.
type Controls interface {
	Control(code string) (api.Control, error)
}

// newAnalysisMetadata returns the fields common to all built-in answers; the caller sets the run's ID.
func newAnalysisMetadata() api.AnalysisMetadata {
	return api.AnalysisMetadata{Model: Model, Limitations: []string{}}
}

// emptyIfNil replaces a nil slice with an empty one.
func emptyIfNil(values []string) []string {
	if values == nil {
		return []string{}
	}
	return values
}

// clamp limits n to the range from least to most.
func clamp(n, lowest, highest float64) float64 { return max(lowest, min(highest, n)) }
