package judge

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge/text"
	"github.com/scf-service/service/internal/lazyregexp"
)

// minSubjectShare is the share of a control title's words that a sentence must contain for its denial or plan to
// apply to the control as a whole, and so to all its statements. For example, "No penetration test has been
// done" settles the statements on testers, scope and findings without mentioning them.
const minSubjectShare = 0.75

// planListPattern matches document names and headings of lists of planned work.
var planListPattern = lazyregexp.NewPrefiltered(
	`(?i)\b(?:road ?maps?|okrs?|backlog|wish ?list|initiatives|proposals?|(?:security |isms )?improvement (?:plan|program(?:me)?)|(?:planned|future|upcoming|next) (?:measures|projects|work|improvements|steps)|what (?:we plan|comes next|is planned)|project (?:list|portfolio|pipeline))\b`,
)

// planListNameOf returns the words that show that a passage is part of a list of planned work, or "" if there
// are none. It looks in the headings, starting with the innermost, and then in the title and file name.
func planListNameOf(p Passage) string {
	for i := len(p.HeadingPath) - 1; i >= 0; i-- {
		if m := planListPattern.FindString(p.HeadingPath[i]); m != "" {
			return m
		}
	}
	return cmp.Or(planListPattern.FindString(p.DocumentTitle), planListPattern.FindString(replaceFilenameSeparators(p.Filename)))
}

// judgeWholeControl searches for sentences about a control as a whole and returns the strongest denial and the
// strongest plan. Each is nil if there is none.
func (s *Session) judgeWholeControl(ctx context.Context, c api.Control, w controlStatements) (denial, plan *passageVerdict, err error) {
	d := newWholeControlStatement(c, w)
	if err := s.embedStatement(ctx, d, w.wholeControlQuery(c)); err != nil {
		return nil, nil, err
	}
	candidates, err := s.findPassages(ctx, w.wholeControlQuery(c))
	if err != nil {
		return nil, nil, err
	}
	for _, h := range candidates {
		passageDenial, passagePlan := s.judgeWholeControlIn(d, s.analyzed(h.foundPassage))
		denial, plan = strongerOf(denial, passageDenial), strongerOf(plan, passagePlan)
	}
	return denial, plan, nil
}

// strongerOf returns the verdict with the higher coverage. If there is a tie, it returns a. Either argument may be nil.
func strongerOf(a, b *passageVerdict) *passageVerdict {
	if a == nil || b != nil && b.coverage > a.coverage {
		return b
	}
	return a
}

// judgeWholeControlIn returns the strongest denial and the strongest plan in one passage that concern the
// control as a whole. Each is nil if there is none.
func (s *Session) judgeWholeControlIn(d *preparedStatement, p *analyzedPassage) (denial, plan *passageVerdict) {
	if p.silenceReason(d) != "" {
		return nil, nil
	}
	for i := range p.Sentences {
		cur := &p.Sentences[i]
		if cur.Question || cur.Instruction || cur.IsUnasserted() || s.namesOtherOrganization(d, p, cur) || cur.Placeholder != "" ||
			cur.Fragment && !cur.AnswersNo && !p.isPlanListEntry(cur) {
			continue
		}
		window, from := []*text.Sentence{cur}, i
		if lead := p.LeadInOrSelf(cur); lead != cur {
			window = append(window, lead)
		}
		if prev := i - 1; prev >= 0 && !cur.IsTableRow && !cur.Item &&
			(!p.Sentences[prev].Item && (cur.StartsWithPronoun || cur.AnswersNo || p.Sentences[prev].Question) ||
				p.Sentences[prev].Fragment && !p.Sentences[prev].Choices) {
			window = append(window, &p.Sentences[prev])
			from = prev // "Internal audit. Nobody has done one yet."
		}
		share := d.topicShareBy(window, true, false)
		if share < minSubjectShare {
			continue
		}
		m := d.matchWindow([]*text.Sentence{cur}, p.neighbors[i], p.surroundings)
		similarity, _ := s.compareMeaning(d, p, i)
		r := passageVerdict{
			passage: p.foundPassage, sentence: cur, match: m.decisive(), coverage: min(1, 0.5*share+0.5*similarity), quote: p.Quote(from, i),
		}
		_, negated := deniesMatch(d, p, i, m)
		planWords := cmp.Or(p.PlanWords(i), s.planImpliedByList(p, cur))
		switch {
		case negated && !d.isProhibition() && cur.Conditional == 0 && !cur.IsHarmlessDenial() && !cur.DeniesOnlyObject() &&
			!cur.DeniesQuestion &&
			!cur.DeniesOnlyForThingsOutside(d.concepts, d.topic) && !d.isWindowAboutOtherThings(window):
			r.verdict, r.reason = VerdictDenied, "The evidence states that the control as a whole is not done: "+shortenAndQuote(r.quote)+"."
			if denial == nil || r.coverage > denial.coverage {
				denial = &r
			}
		case planWords != "" && !d.isWindowAboutOtherThings(window) && (!cur.IsTableRow ||
			d.topicShareBy([]*text.Sentence{cur.WithoutColumnNames()}, true, false) >= minSubjectShare):
			r.verdict, r.namesTopic, r.reason = VerdictPlanned, true, "The control as a whole is planned, not yet done: "+shortenAndQuote(
				r.quote,
			)+"."
			if plan == nil || r.coverage > plan.coverage {
				plan = &r
			}
		}
	}
	return denial, plan
}

// isWindowAboutOtherThings reports whether a window (one or two sentences) names more concepts that are foreign to the
// control than concepts that belong to it. If so, its denial or plan concerns something else, or something narrower.
func (d *preparedStatement) isWindowAboutOtherThings(window []*text.Sentence) bool {
	own, other := 0, 0
	for _, s := range window {
		for _, t := range s.Terms {
			switch {
			case t.Credit < 1 || text.IsUninformativeConcept(t.ID) || text.IsDocumentNoun(t.ID):
			case d.isControlConcept(t.ID):
				own++
			default:
				other++
			}
		}
	}
	return other > own
}

// isWithinDenial reports whether a denial of the control as a whole applies to the statement. A denial that names
// nothing but the control's topic, or says that there is no such thing ("No screening of new employees takes place"),
// applies to all statements. A narrower denial, such as one that is limited to a particular use, group of people or
// system, applies only to statements that mention it, too.
func (d *preparedStatement) isWithinDenial(denial *text.Sentence) bool {
	if !denial.IsTableRow {
		isOwn := func(a text.Concept) bool { return a.Weight <= text.WeightGeneral || containsConcept(d.topic, a.ID) }
		if m := absencePattern.FindStringSubmatch(denial.Text); m != nil && (m[1] == "" || slices.ContainsFunc(text.Concepts(m[1]), isOwn)) {
			return true
		}
	}
	narrower := false
	for _, t := range denial.Terms {
		if t.Credit < 1 || t.ID == weConcept || text.IsUninformativeConcept(t.ID) || containsConcept(d.topic, t.ID) {
			continue
		}
		if containsConcept(d.concepts, t.ID) {
			return true
		}
		narrower = true
	}
	return !narrower
}

// weConcept is the concept of "we", which names the organization itself.
var weConcept = text.ConceptID("we")

// absencePattern matches the beginning of a sentence that says that something doesn't exist. Group 1 is what doesn't
// exist.
var absencePattern = lazyregexp.NewPrefiltered(`(?i)^\W*(?:there (?:is|are|was|were) )?(?:no|none)\b((?: [\w-]+){0,4}?)(?: (?:of|for|in|on|to|about|is|are|was|were|has|have|takes?|exists?)\b|\W*$)`)

// isPlanListEntry reports whether a sentence is an item in a list of planned work. Such an item doesn't need a verb.
func (c *passageAnalysis) isPlanListEntry(s *text.Sentence) bool {
	return c.planListName != "" && s.Item
}

// isControlConcept reports whether a concept occurs in the control's texts or topic.
func (d *preparedStatement) isControlConcept(conceptID uint64) bool {
	if _, ok := slices.BinarySearch(d.controlConcepts, conceptID); ok {
		return true
	}
	return slices.ContainsFunc(d.topic, func(a text.Concept) bool { return a.ID == conceptID || slices.Contains(a.Parts, conceptID) })
}

// newWholeControlStatement returns a statement that represents a control as a whole.
func newWholeControlStatement(c api.Control, w controlStatements) *preparedStatement {
	d := newPreparedStatement(w.topic+".", text.Concepts(w.topic))
	for _, s := range append(slices.Clone(w.statements), c.Title, c.Description) {
		d.controlConcepts = append(d.controlConcepts, text.ConceptAndBroaderIDs(s)...)
	}
	slices.Sort(d.controlConcepts)
	d.controlConcepts = slices.Compact(d.controlConcepts)
	return d
}

// planImpliedByList describes the list of planned work that a sentence belongs to. It returns "" if there is no
// such list, or if the sentence reports or confirms that something was done, or denies it.
func (s *Session) planImpliedByList(c *analyzedPassage, cur *text.Sentence) string {
	if cur.ReportsPast || cur.AnswersYes || cur.Denied != 0 {
		return ""
	}
	if c.planListName == "" {
		return ""
	}
	return fmt.Sprintf("in a list of planned items (%s)", c.planListName)
}

// applyWholeControlVerdict applies the denial of the control as a whole to those statements that have little or no
// support. If there is no denial, it applies the plan for the control instead. It changes nothing if more than a third
// of the statements are well supported.
func applyWholeControlVerdict(all []statementVerdict, denial, plan *passageVerdict) {
	strong := 0
	for i := range all {
		if all[i].verdict == VerdictCovered || all[i].verdict == VerdictPartial && all[i].basis.coverage >= coverFull {
			strong++
		}
	}
	if 3*strong > len(all) {
		return
	}
	subject := denial
	if subject == nil {
		subject = plan
	}
	if subject == nil {
		return
	}
	for i := range all {
		f := &all[i]
		if slices.Contains(f.decided, subject.passage.ChunkID) {
			continue // a person's decision on the passage takes precedence
		}
		if subject.verdict == VerdictDenied && !f.statement.isWithinDenial(subject.sentence) {
			continue
		}
		switch f.verdict {
		case VerdictDenied, VerdictPlanned, VerdictConflicting:
			continue
		case VerdictCovered:
			continue
		case VerdictPartial:
			if f.basis.coverage >= coverMost {
				continue
			}
		}
		f.verdict, f.basis, f.reason, f.score = subject.verdict, subject, subject.reason, RoundToThousandths(subject.coverage)
		f.quoted = []passageVerdict{*subject}
	}
}
