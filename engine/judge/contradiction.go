package judge

import (
	"strings"

	"github.com/scf-service/service/api"
)

// contradictionKind classifies a contradiction.
type contradictionKind int

const (
	noContradiction contradictionKind = iota
	betweenPassages                   // documents disagree: one is wrong, or they cover different things
	withinDocument                    // a document disagrees with itself
	ruleNotFollowed                   // a rule exists, but records show that it isn't followed
)

// contradictionTexts holds the texts for each kind: the reason of an SoA line (with a count of
// statements), the note on each missing element, the likely cause and the advice.
var contradictionTexts = map[contradictionKind]struct{ reason, note, cause, advice string }{
	betweenPassages: {
		"Passages contradict each other on %s; decide which is correct.", "passages contradict each other",
		"Cause unknown. One document may have been updated and another not, or they cover different things; see the quotes.",
		"Review the conflicting passages; if they do conflict, decide which is correct and fix the other.",
	},
	withinDocument: {
		"A document contradicts itself on %s; decide what is correct.", "a document contradicts itself",
		"Cause unknown. The document may be inconsistent; see the quotes.",
		"Review the conflicting passages; if they do conflict, decide which is correct and fix the other.",
	},
	ruleNotFollowed: {
		"The rule exists, but records show that it isn't followed for %s; confirm with the owner.", "records show that it isn't followed",
		"The rule is documented but not, or not always, followed. The records don't show why; ask the owner.",
		"Find out why it failed in the recorded cases, fix the cause, and show with new records that it works.",
	},
}

// contradictionFromReason derives the kind from a statement's reason.
func contradictionFromReason(reason string) contradictionKind {
	switch {
	case strings.HasPrefix(reason, selfContradictionPrefix):
		return withinDocument
	case strings.HasPrefix(reason, notFollowedPrefix):
		return ruleNotFollowed
	}
	return betweenPassages
}

// classifyContradictions returns the common kind of a line's contradictions, or betweenPassages if
// they differ.
func classifyContradictions(statements []api.Statement) contradictionKind {
	kind := noContradiction
	for _, st := range statements {
		switch next := contradictionFromReason(st.Reason); {
		case st.Verdict != verdictConflicting:
		case kind == noContradiction:
			kind = next
		case kind != next:
			return betweenPassages
		}
	}
	return kind
}
