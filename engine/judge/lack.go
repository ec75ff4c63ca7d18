package judge

import (
	"slices"

	"github.com/scf-service/service/engine/judge/text"
)

// requiresAllMissing reports whether the statement requires all the things that a sentence says are missing.
func (d *preparedStatement) requiresAllMissing(s *text.Sentence) bool {
	if len(s.MissingThings) == 0 || d.isProhibition() {
		return false
	}
	own := false
	for _, t := range s.MissingThings {
		its := t.IsAmong(d.concepts) || d.wording.ContainsStem(t.Stem)
		if !its && !t.IsAmong(d.topic) {
			return false
		}
		own = own || its
	}
	return own
}

// isMissingThingVague reports whether a sentence describes what is missing only in generic words ("the review
// was not held"), or in words that the statement uses for actions ("no monitoring", if clocks must be
// monitored).
func (d *preparedStatement) isMissingThingVague(s *text.Sentence) bool {
	return !slices.ContainsFunc(s.MissingThings, func(t text.MissingThing) bool {
		return !t.IsGeneric && !slices.ContainsFunc(d.concepts, func(a text.Concept) bool { return a.IsAction && a.ID == t.Concept })
	})
}

const (
	minLackTitleShare = 0.6 // share of the control's title required nearby if the absence itself is vague
	minLackCoverage   = 0.5 // share of the statement required as well
)

// confirmsAbsence reports whether a sentence about an absence or failure concerns what the
// statement requires. If vague is set, as for "the review was not held", the context must confirm
// it.
func (m match) confirmsAbsence(vague bool) bool {
	return !m.offTopic && m.missingAnchor == nil &&
		(!vague && m.ownWeight >= minOwnWeight || m.topicShare >= minLackTitleShare && m.wordCoverage >= minLackCoverage)
}
