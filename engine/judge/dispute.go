package judge

import (
	"strings"

	"github.com/scf-service/service/api"
)

// dispute is what kind of thing a contradiction is.
type dispute int

const (
	noDispute  dispute = iota
	ofPassages         // documents say it otherwise: one of them is wrong, or they speak of different things
	withItself         // one document does
	ofRecords          // a rule is there, and records show that it isn't kept
)

// contradictions are what a line and its gap say of each kind: how many statements it is of, what is
// noted at each, why it may be so, and what to do.
var contradictions = map[dispute]struct{ reason, note, cause, advice string }{
	ofPassages: {"Passages contradict each other on %s; a person has to decide which holds.", "passages contradict each other",
		"Not known. Perhaps one document was changed and another wasn't, or they speak of different things; the quotes tell.",
		"Read the passages that disagree; if they do, decide which holds, and correct the other."},
	withItself: {"A document contradicts itself on %s; a person has to decide what holds.", "a document contradicts itself",
		"Not known. Perhaps the document was changed in one place and not in another, or its passages speak of different things; the quotes tell.",
		"Read the passages that disagree; if they do, decide which holds, and correct the other."},
	ofRecords: {"The rule is there, and records show that it isn't kept on %s; a person has to confirm it.", "records show that it isn't kept",
		"The rule was written, and is not, or not always, followed; why, the records don't say. To be asked of the owner.",
		"Find out why it failed where the records show it, mend that, and show by new records that it holds."},
}

// disputeIn reads the kind off a statement's reason.
func disputeIn(reason string) dispute {
	switch {
	case strings.HasPrefix(reason, byItself):
		return withItself
	case strings.HasPrefix(reason, notKept):
		return ofRecords
	}
	return ofPassages
}

// disputeOf is the kind of all contradictions of a line; that of passages where they are of several.
func disputeOf(statements []api.Statement) dispute {
	kind := noDispute
	for _, st := range statements {
		switch of := disputeIn(st.Reason); {
		case st.Verdict != conflicting:
		case kind == noDispute:
			kind = of
		case kind != of:
			return ofPassages
		}
	}
	return kind
}
