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

// A sentence that denies or announces what a control is about speaks of all its
// statements, though it says none of them: "No penetration test has been done" leaves
// nothing to be said of testers, scope and findings.
const minSubjectShare = 0.75 // of the words of a control's title that such a sentence holds

// planListPattern are names of documents and headings that list what is to come.
var planListPattern = lazyregexp.New(
	`(?i)\b(?:road ?maps?|okrs?|backlog|wish ?list|initiatives|proposals?|(?:security |isms )?improvement (?:plan|program(?:me)?)|(?:planned|future|upcoming|next) (?:measures|projects|work|improvements|steps)|what (?:we plan|comes next|is planned)|project (?:list|portfolio|pipeline))\b`,
)

// planListNameOf is the name by which a passage stands among what is to come; empty where it doesn't.
func planListNameOf(p Passage) string {
	for i := len(p.HeadingPath) - 1; i >= 0; i-- {
		if m := planListPattern.FindString(p.HeadingPath[i]); m != "" {
			return m
		}
	}
	return cmp.Or(planListPattern.FindString(p.DocumentTitle), planListPattern.FindString(filenameWords(p.Filename)))
}

// judgeSubject is what is said of a control as a whole: the best sentence that denies it,
// and the best that announces it.
func (s *Session) judgeSubject(ctx context.Context, c api.Control, w controlStatements) (no, plan *passageVerdict, err error) {
	d := newSubjectStatement(c, w)
	if err := s.embedStatement(ctx, d, w.controlQuery(c)); err != nil {
		return nil, nil, err
	}
	candidates, err := s.findPassages(ctx, w.controlQuery(c))
	if err != nil {
		return nil, nil, err
	}
	for _, h := range candidates {
		deny, ahead := s.judgeSubjectIn(d, h.analyzedPassage)
		no, plan = strongerOf(no, deny), strongerOf(plan, ahead)
	}
	return no, plan, nil
}

// strongerOf is the reading that says more; the first where both say as much.
func strongerOf(a, b *passageVerdict) *passageVerdict {
	if a == nil || b != nil && b.coverage > a.coverage {
		return b
	}
	return a
}

// judgeSubjectIn is the best sentence of a passage that denies the control as a whole, and the
// best that announces it.
func (s *Session) judgeSubjectIn(d *preparedStatement, p *analyzedPassage) (no, plan *passageVerdict) {
	for i := range p.Sentences {
		cur := &p.Sentences[i]
		if cur.Question || cur.Instruction || cur.Placeholder != "" || cur.Fragment && !cur.AnswersNo && !p.isPlanListEntry(cur) {
			continue
		}
		window, from := []*text.Sentence{cur}, i
		if lead := p.Lead(cur); lead != cur {
			window = append(window, lead)
		}
		if prev := i - 1; prev >= 0 && !cur.IsTableRow && !cur.Item &&
			(!p.Sentences[prev].Item && (cur.StartsWithPronoun || cur.AnswersNo || p.Sentences[prev].Question) || p.Sentences[prev].Fragment) {
			window = append(window, &p.Sentences[prev])
			from = prev // "Internal audit. Nobody has done one yet."
		}
		share := d.topicShareBy(window, true, false)
		if share < minSubjectShare {
			continue
		}
		m := d.matchWindow([]*text.Sentence{cur}, p.neighbors[i], p.surroundings)
		sense, _ := s.compareMeaning(d, p, i)
		r := passageVerdict{passage: p, sentenceIndex: i, match: m, coverage: min(1, 0.5*share+0.5*sense), quote: p.Quote(from, i)}
		_, negated := deniesMatch(d, p, i, m)
		ahead := cmp.Or(p.PlanWords(i), s.impliedPlan(p, cur))
		switch {
		case negated && !d.isProhibition() && cur.Conditional == 0 && !cur.IsHarmlessDenial() && !cur.DeniesOnlyObject() &&
			!cur.DeniesSubset(d.concepts, d.topic) && !d.isOffSubject(window):
			r.verdict, r.reason = VerdictDenied, "The evidence states that the control as a whole is not done: "+shortQuote(r.quote)+"."
			if no == nil || r.coverage > no.coverage {
				no = &r
			}
		case ahead != "" && !d.isOffSubject(window) && (!cur.IsTableRow ||
			d.topicShareBy([]*text.Sentence{cur.Content()}, true, false) >= minSubjectShare):
			r.verdict, r.namesTopic, r.reason = VerdictPlanned, true, "The control as a whole is planned, not yet done: "+shortQuote(
				r.quote,
			)+"."
			if plan == nil || r.coverage > plan.coverage {
				plan = &r
			}
		}
	}
	return no, plan
}

// isOffSubject: a window names more things that the control doesn't speak of than things that it
// does. What it denies or announces is one of those, or something narrower.
func (d *preparedStatement) isOffSubject(window []*text.Sentence) bool {
	own, other := 0, 0
	for _, s := range window {
		for _, t := range s.Terms {
			switch {
			case t.Credit < 1 || text.IsEmptyConcept(t.ID) || text.IsDocumentNoun(t.ID):
			case d.isControlConcept(t.ID):
				own++
			default:
				other++
			}
		}
	}
	return other > own
}

// isPlanListEntry: an entry of a list of what is to come needs no verb.
func (c *passageAnalysis) isPlanListEntry(s *text.Sentence) bool {
	return c.planListName != "" && s.Item
}

// isControlConcept tells whether a concept is one of the control's own.
func (d *preparedStatement) isControlConcept(id uint64) bool {
	if _, ok := slices.BinarySearch(d.controlConcepts, id); ok {
		return true
	}
	return slices.ContainsFunc(d.topic, func(a text.Concept) bool { return a.ID == id || slices.Contains(a.Parts, id) })
}

// newSubjectStatement is a control as a whole.
func newSubjectStatement(c api.Control, w controlStatements) *preparedStatement {
	d := newPreparedStatement(w.topic+".", text.Concepts(w.topic))
	for _, s := range append(slices.Clone(w.statements), c.Title, c.Description) {
		d.controlConcepts = append(d.controlConcepts, text.ConceptIDs(s)...)
	}
	slices.Sort(d.controlConcepts)
	d.controlConcepts = slices.Compact(d.controlConcepts)
	return d
}

// impliedPlan is why a sentence that says nothing of the future stands for it all the same:
// the document lists what is to come. What it says is done or denied is no plan.
func (s *Session) impliedPlan(c *analyzedPassage, cur *text.Sentence) string {
	if cur.ReportsPast || cur.AnswersYes || cur.Denied != 0 {
		return ""
	}
	if c.planListName == "" {
		return ""
	}
	return fmt.Sprintf("in a list of planned items (%s)", c.planListName)
}

// applySubjectVerdict lets what is said of the control as a whole stand for the statements
// that nothing else bears, where few are borne.
func applySubjectVerdict(all []statementVerdict, denial, plan *passageVerdict) {
	strong := 0
	for i := range all {
		if all[i].verdict == VerdictCovered || all[i].verdict == VerdictPartial && all[i].basis.coverage >= coverFull {
			strong++
		}
	}
	if 3*strong > len(all) {
		return
	}
	on := denial
	if on == nil {
		on = plan
	}
	if on == nil {
		return
	}
	for i := range all {
		f := &all[i]
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
		f.verdict, f.basis, f.reason, f.score = on.verdict, on, on.reason, roundToThousandths(on.coverage)
		f.quoted = []passageVerdict{*on}
	}
}
