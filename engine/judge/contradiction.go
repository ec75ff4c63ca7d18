package judge

import (
	"strings"

	"github.com/scf-service/service/api"
)

// Contradiction classifies how evidence contradicts itself.
type Contradiction int

const (
	NoContradiction Contradiction = iota
	BetweenPassages               // documents disagree: one is wrong, or they cover different things
	WithinDocument                // a document disagrees with itself
	RuleNotFollowed               // a rule exists, but records show that it isn't followed
)

// contradictionTexts holds, for each kind of contradiction, the reason for an SoA line, with a placeholder for
// the number of requirements, and the note added to a missing element.
var contradictionTexts = map[Contradiction]struct{ reason, note string }{
	BetweenPassages: {
		"Passages contradict each other on %s; decide which is correct.",
		"passages contradict each other",
	},
	WithinDocument: {
		"A document contradicts itself on %s; decide what is correct.",
		"a document contradicts itself",
	},
	RuleNotFollowed: {
		"The rule exists, but records show that it isn't followed for %s; confirm with the owner.",
		"records show that it isn't followed",
	},
}

// contradictionFromReason derives the kind of a contradiction from a statement's reason.
func contradictionFromReason(reason string) Contradiction {
	switch {
	case strings.HasPrefix(reason, selfContradictionPrefix):
		return WithinDocument
	case strings.HasPrefix(reason, notFollowedPrefix):
		return RuleNotFollowed
	}
	return BetweenPassages
}

// CommonContradictionKind returns the kind that all contradictions of an SoA line have in common, or
// BetweenPassages if their kinds differ.
func CommonContradictionKind(statements []api.Statement) Contradiction {
	kind := NoContradiction
	for _, st := range statements {
		switch next := contradictionFromReason(st.Reason); {
		case st.Verdict != VerdictConflicting:
		case kind == NoContradiction:
			kind = next
		case kind != next:
			return BetweenPassages
		}
	}
	return kind
}
