package judge

import (
	"strings"

	"github.com/scf-service/service/api"
)

// contradictionKind is what kind of thing a contradiction is.
type contradictionKind int

const (
	noContradiction contradictionKind = iota
	betweenPassages                   // documents say it otherwise: one of them is wrong, or they speak of different things
	withinDocument                    // one document does
	ruleNotFollowed                   // a rule is there, and records show that it isn't kept
)

// contradictionTexts are what a line and its gap say of each kind: how many statements it is of, what is
// noted at each, why it may be so, and what to do.
var contradictionTexts = map[contradictionKind]struct{ reason, note, cause, advice string }{
	betweenPassages: {
		"Passages contradict each other on %s; a person has to decide which holds.", "passages contradict each other",
		"Not known. Perhaps one document was changed and another wasn't, or they speak of different things; the quotes tell.",
		"Read the passages that disagree; if they do, decide which holds, and correct the other.",
	},
	withinDocument: {
		"A document contradicts itself on %s; a person has to decide what holds.", "a document contradicts itself",
		"Not known. Perhaps the document was changed in one place and not in another, or its passages speak of different things; the quotes tell.",
		"Read the passages that disagree; if they do, decide which holds, and correct the other.",
	},
	ruleNotFollowed: {
		"The rule is there, and records show that it isn't kept on %s; a person has to confirm it.", "records show that it isn't kept",
		"The rule was written, and is not, or not always, followed; why, the records don't say. To be asked of the owner.",
		"Find out why it failed where the records show it, mend that, and show by new records that it holds.",
	},
}

// contradictionFromReason reads the kind off a statement's reason.
func contradictionFromReason(reason string) contradictionKind {
	switch {
	case strings.HasPrefix(reason, selfContradictionPrefix):
		return withinDocument
	case strings.HasPrefix(reason, notFollowedPrefix):
		return ruleNotFollowed
	}
	return betweenPassages
}

// classifyContradictions is the kind of all contradictions of a line; that of passages where they are of several.
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
