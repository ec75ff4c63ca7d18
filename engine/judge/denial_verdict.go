package judge

import (
	"slices"

	"github.com/scf-service/service/engine/judge/text"
)

// isDeniedInCells reports whether a negative cell of a table row contains only "no", or names both
// the control's topic and what the statement requires.
func (d *preparedStatement) isDeniedInCells(row *text.Sentence) bool {
	cells, bare := row.DeniedCells()
	return bare || slices.ContainsFunc(cells, func(cell *text.Sentence) bool {
		window := []*text.Sentence{cell}
		return d.topicShareIn(window) > 0 && d.matchWindow(window, nil, surroundings{}).specificHits >= min(2, d.specificConcepts)
	})
}

// isAboutTermination reports whether the statement itself is about ending or restricting something, such as
// disabling the accounts of leavers.
func (d *preparedStatement) isAboutTermination() bool {
	return d.requiresRemoval() || d.mentionsAny("terminate", "suspend", "stop", "block", "lock", "cancel", "discontinue", "dispose", "drop") ||
		d.isAboutRestriction()
}

// requiresRemoval reports whether the statement requires something to be removed.
func (d *preparedStatement) requiresRemoval() bool {
	return d.mentionsAny("disable", "remove", "revoke", "withdraw", "delete")
}

func (d *preparedStatement) mentionsAny(words ...string) bool {
	return slices.ContainsFunc(words, d.mentions)
}

// judgeDenial returns the verdict on a sentence that denies something. isConcerned is false if the
// denial doesn't concern the statement. reasonSuffix is appended to the reason.
func (s *Session) judgeDenial(
	d *preparedStatement,
	c *analyzedPassage,
	score float64,
	m match,
	readWithPrevious bool,
	r passageVerdict,
	reasonSuffix string,
) (result passageVerdict, isConcerned bool) {
	cur, fullCoverage := r.sentence, r.coverage
	decideAs := func(verdict, reason string) (passageVerdict, bool) {
		r.verdict, r.reason = verdict, reason
		if plan := cur.PlanWords; verdict == VerdictDenied && plan != "" && !cur.IsTableRow && !d.mentions("plan") {
			r.verdict, r.reason = VerdictPlanned, "Not yet done. "+s.formatPlanReason(plan, cur.Text)
		}
		return r, true
	}
	if cur.IsHarmlessDenial() && !cur.RefersBack {
		return r, false // the denial is harmless, such as that nothing exists to which the requirement applies
	}
	if d.isOrderReversedIn(cur.Text) || d.asksBefore && sincePattern.MatchString(cur.Text) && !beforePattern.MatchString(cur.Text) {
		return r, false // "not looked at again after signing" doesn't deny what comes before it
	}
	if fullCoverage >= coverDenied && !m.offTopic && m.missingAnchor == nil && d.requiresRemovalOfStillPresent(cur) {
		return decideAs(VerdictDenied, "The evidence shows that what should be gone was still present.")
	}
	if fullCoverage >= coverDenied && d.requiresAllMissing(cur) && m.confirmsAbsence(d.isMissingThingVague(cur)) {
		return decideAs(VerdictDenied, "The evidence states that this doesn't exist or was not done"+reasonSuffix+".")
	}
	r.coverage = s.coverageWithSearchBonus(c, score, withoutWording(m))
	if reasonSuffix == "" && !cur.IsTableRow && !cur.AnswersNo && !m.deniesOutright &&
		!cur.DeniesAny(!readWithPrevious, d.concepts, d.topic) {
		return r, false // the sentence denies something else
	}
	if cur.IsTableRow && reasonSuffix == "" && !cur.AnswersNo && !m.deniesOutright && !d.isDeniedInCells(cur) {
		return r, false // "exception list not reviewed" in a row of an incident doesn't concern other lists
	}
	scope := d.readDenialScope(cur, m.matchedClauses)
	if d.hasRelatedMeasureAfterBut(cur, m) {
		if r.coverage < coverPartial || !m.isRelevant() || m.ownWeight < minOwnWeight {
			return r, false
		}
		return decideAs(VerdictPartial, "Stated as not done, but something related is done instead.")
	}
	if m.deniesOutright && m.ownWeight >= minOwnWeight {
		r.coverage = max(r.coverage, coverDenied)
		return decideAs(VerdictDenied, "The evidence states that this is not done at all"+reasonSuffix+".")
	}
	if m.isRelevant() && m.wordCoverage >= coverOnTopic && r.coverage >= coverDenied && !m.missesHead &&
		m.ownWeight >= max(minOwnWeight, minOwnShare*d.fullCoverageWeight()) {
		return decideAs(VerdictDenied, "The evidence states that this is not the case"+reasonSuffix+".")
	}
	isWithin := scope.isWithinStatement() && r.coverage >= coverOnTopic || scope.isAboutAction() && r.coverage >= coverFailing
	if isWithin && !cur.IsTableRow && !readWithPrevious && m.isRelevant() && !m.missesHead && !m.offTopic && m.missingAnchor == nil &&
		m.ownWeight >= minOwnWeight {
		r.coverage = max(r.coverage, coverDenied)
		return decideAs(VerdictDenied, "The evidence states that this is not the case"+reasonSuffix+".")
	}
	return r, false
}

// denialScope counts the things that a sentence denies: those that the statement names, and specific ones that neither
// the statement nor the control's title names.
type denialScope struct {
	own, others int
	namesAction bool // one of the statement's actions, such as "assess"
}

// isAboutAction reports whether a denial names nothing but what the statement requires to be done: "without an assessment".
func (n denialScope) isAboutAction() bool { return n.others == 0 && n.namesAction }

// readDenialScope reads those of the given clauses of a sentence that are negated, or all negated ones if none of them is.
func (d *preparedStatement) readDenialScope(s *text.Sentence, clauses uint64) (scope denialScope) {
	for _, t := range s.DeniedThings(clauses) {
		switch {
		case t.IsAmong(d.concepts) || d.wording.ContainsStem(t.Stem):
			scope.own++
			scope.namesAction = scope.namesAction ||
				slices.ContainsFunc(d.concepts, func(a text.Concept) bool { return a.IsAction && a.ID == t.Concept })
		case !t.IsGeneric && !t.IsAmong(d.topic):
			scope.others++
		}
	}
	return scope
}

// isWithinStatement reports whether a denial names only things that the statement requires. It denies the statement even
// if it is more general: "training of AI users: none".
func (n denialScope) isWithinStatement() bool { return n.others == 0 && n.own >= 2 }

// withoutWording returns a match without its wording match. It is used for denials, because denials
// of other things use the same words.
func withoutWording(m match) match {
	m.wordingMatch = text.WordingMatch{}
	return m
}
