package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/internal/lazyregexp"
)

// These words begin the parts of a drafted corrective action.
const (
	coverageLabel  = "It must cover:"
	firstStepLabel = "First step:"
	proofLabel     = "Proof:"
	ownerLabel     = "Usual owner:"
)

func describeCorrectiveAction(c api.Control, f api.Finding, action string, today api.Date) string {
	verb := map[string]string{
		"document":         "Write, approve and communicate the missing rules for %s.",
		"implement":        "Implement %s for everything in scope, and keep records of it.",
		"collect_evidence": "Collect evidence of %s. If it isn't in place, implement it and update this item.",
		"improve":          "Close the gaps in %s.",
		"monitor":          "Measure and monitor %s, and act on the results.",
	}[action]
	if f.GapType == "governance" && action == "document" {
		verb = "For %s, decide which of the conflicting documents applies, correct the others, and communicate the decision."
	}
	if action == "improve" && slices.ContainsFunc(f.MissingElements, judge.IsRuleNotFollowed) {
		verb = "Find out why %s failed in the recorded cases, fix the cause, and use new records to show that it works."
	}
	if action == "document" && len(f.MissingElements) == 0 {
		verb = "Document the current practice for %s in an approved policy or procedure, and communicate it."
	}
	s := fmt.Sprintf(verb, "“"+strings.TrimRight(c.Title, ".")+"”")
	if len(f.MissingElements) > 0 {
		s += " " + coverageLabel
		for i, m := range f.MissingElements {
			sep := " "
			if i > 0 {
				sep = "; "
			}
			s += sep + strings.TrimRight(judge.StripNote(m), ".")
		}
		s += "."
	}
	return s + " " + describeFirstStep(c, f, action, today)
}

// describeFirstStep returns a description of the first step, the evidence that will prove its completion, and the
// usual owner.
func describeFirstStep(c api.Control, f api.Finding, action string, today api.Date) string {
	subject, proof := strings.TrimRight(c.Title, "."), chooseExpectedEvidence(c, f, action)[0]
	if len(f.MissingElements) > 0 {
		subject = strings.TrimRight(judge.StripNote(f.MissingElements[0]), ".")
	}
	step := firstSteps[action]
	if action == "implement" && f.Owner != nil {
		step = "agree on a date and a budget with the owner, starting with this"
		if stated, _ := statedTiming(&f, today); stated != "" {
			step = "confirm the budget and the date stated in the documents with the owner, starting with this"
		}
	}
	return fmt.Sprintf("%s %s: “%s”. %s %s. %s %s.", firstStepLabel, step, subject,
		proofLabel, strings.TrimRight(proof, "."), ownerLabel, domainForCode(c.Code).role)
}

// firstSteps holds the beginning of the first step's description for each action. The subject follows the
// beginning.
var firstSteps = map[string]string{
	"document":         "document this and have it approved",
	"implement":        "agree on an owner, a date and a budget, starting with this",
	"collect_evidence": "ask the owner for evidence of this",
	"improve":          "find out with the owner why this is not the case",
	"monitor":          "choose a metric and a threshold for this",
}

var (
	coveragePart = lazyregexp.New(" " + coverageLabel + ` .*?\.( ` + firstStepLabel + " )")
	proofPart    = lazyregexp.New(" " + proofLabel + " .*? " + ownerLabel + ` [^.]*\.`)
)

// ShortAction returns the corrective action of an item without the parts that its other fields state: what has to
// be covered, the proof, and the usual owner. A text that a user wrote is kept.
func ShortAction(it *api.POAMItem) string {
	s := it.CorrectiveAction
	if it.IsManual("corrective_action") {
		return s
	}
	if len(it.AcceptanceCriteria) > 0 {
		s = coveragePart.ReplaceAllString(s, "$1")
	}
	if len(it.ExpectedEvidence) > 0 && strings.TrimSpace(ownerOrEmpty(it.Owner)+it.OwnerRole) != "" {
		s = proofPart.ReplaceAllString(s, "")
	}
	return s
}

// FirstStep returns the first step in the corrective action of an item, without a period at its end, or "" if the action
// names none.
func FirstStep(it *api.POAMItem) string {
	_, step, _ := strings.Cut(it.CorrectiveAction, firstStepLabel+" ")
	step, _, _ = strings.Cut(step, " "+proofLabel+" ")
	return strings.TrimRight(step, ".")
}
