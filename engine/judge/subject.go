package judge

import (
	"context"
	"fmt"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/lazyregexp"
)

// A sentence that denies or announces what a control is about speaks of all its
// statements, though it says none of them: "No penetration test has been done" leaves
// nothing to be said of testers, scope and findings.
const subjectShare = 0.75 // of the words of a control's title that such a sentence holds

// plansAhead are names of documents and headings that list what is to come.
var plansAhead = lazyregexp.Of(`(?i)\b(?:road ?maps?|okrs?|backlog|wish ?list|initiatives|proposals?|(?:security |isms )?improvement (?:plan|program(?:me)?)|(?:planned|future|upcoming|next) (?:measures|projects|work|improvements|steps)|what (?:we plan|comes next|is planned)|project (?:list|portfolio|pipeline))\b`)

// listedAhead is the name by which a passage stands among what is to come; empty where it doesn't.
func listedAhead(p Passage) string {
	for i := len(p.HeadingPath) - 1; i >= 0; i-- {
		if m := plansAhead.FindString(p.HeadingPath[i]); m != "" {
			return m
		}
	}
	return firstOf(plansAhead.FindString(p.DocumentTitle), plansAhead.FindString(fileWords(p.Filename)))
}

// subject is what is said of a control as a whole: the best sentence that denies it,
// and the best that announces it.
func (s *Session) subject(ctx context.Context, c api.Control, w wants) (no, plan *reading, err error) {
	d := newSubject(c, w)
	if err := s.embedDemand(ctx, d, w.question(c)); err != nil {
		return nil, nil, err
	}
	candidates, err := s.find(ctx, w.question(c))
	if err != nil {
		return nil, nil, err
	}
	for _, h := range candidates {
		deny, ahead := s.subjectIn(d, h.candidate)
		no, plan = better(no, deny), better(plan, ahead)
	}
	return no, plan, nil
}

// better is the reading that says more; the first where both say as much.
func better(a, b *reading) *reading {
	if a == nil || b != nil && b.cover > a.cover {
		return b
	}
	return a
}

// subjectIn is the best sentence of a passage that denies the control as a whole, and the
// best that announces it.
func (s *Session) subjectIn(d *demand, p *candidate) (no, plan *reading) {
	for i := range p.sentences {
		cur := &p.sentences[i]
		if cur.question || cur.instruction || cur.template != "" || cur.fragment && !cur.answersNo && !p.listsAhead(cur) {
			continue
		}
		window, from := []*sentence{cur}, i
		if lead := p.leadOf(cur); lead != cur {
			window = append(window, lead)
		}
		if prev := i - 1; prev >= 0 && !cur.row && !cur.item && (!p.sentences[prev].item && (cur.pronoun || cur.answersNo || p.sentences[prev].question) || p.sentences[prev].fragment) {
			window = append(window, &p.sentences[prev])
			from = prev // "Internal audit. Nobody has done one yet."
		}
		share := d.topicBy(window, true, false)
		if share < subjectShare {
			continue
		}
		m := d.against([]*sentence{cur}, p.near[i], p.around)
		sense, _ := s.meaning(d, p, i)
		r := reading{from: p, at: i, match: m, cover: min(1, 0.5*share+0.5*sense), quote: p.quote(from, i)}
		_, negated := negates(d, p, i, m)
		ahead := firstOf(cur.planOf(p, i), s.ahead(p, cur))
		switch {
		case negated && !d.negative() && cur.conditional == 0 && !cur.lacksNothing() && !ofSomethingElse(p.text[cur.start:cur.end]) && !d.ofPart(cur, p.text[cur.start:cur.end]) && !d.strays(window):
			r.verdict, r.reason = denied, "The evidence says of the control as a whole that it is not done: "+quoteWords(r.quote)+"."
			if no == nil || r.cover > no.cover {
				no = &r
			}
		case ahead != "" && !d.strays(window) && (!cur.row || d.topicBy([]*sentence{cur.body()}, true, false) >= subjectShare):
			r.verdict, r.named, r.reason = plannedOnly, true, "The control as a whole is announced, not done: "+quoteWords(r.quote)+"."
			if plan == nil || r.cover > plan.cover {
				plan = &r
			}
		}
	}
	return no, plan
}

// ofSomethingElse: "no test found holes" denies the holes, "no test was done" the test.
func ofSomethingElse(text string) bool {
	words := split(text)
	return at(words, 0) == "no" && !hasAuxiliary(words) && hasVerb(words) && !occurs(words)
}

// occurs: a sentence says of its subject only that it is or happens: "no screening takes place".
func occurs(words []word) bool {
	for i, w := range words {
		switch w.text {
		case "exists", "exist", "happens", "happen", "occurs", "occur":
			return true
		case "takes", "take", "took":
			if at(words, i+1) == "place" {
				return true
			}
		}
	}
	return false
}

// strays: a window names more things that the control doesn't speak of than things that it
// does. What it denies or announces is one of those, or something narrower.
func (d *demand) strays(window []*sentence) bool {
	own, other := 0, 0
	for _, s := range window {
		for _, t := range s.terms {
			switch {
			case t.credit < 1 || emptyWords()[t.id] || documentNouns()[t.id]:
			case d.knows(t.id):
				own++
			default:
				other++
			}
		}
	}
	return other > own
}

// listsAhead: an entry of a list of what is to come needs no verb.
func (c *prepared) listsAhead(s *sentence) bool { return c.listed != "" && s.item }

// knows tells whether a concept is one of the control's own.
func (d *demand) knows(id uint64) bool {
	if _, ok := slices.BinarySearch(d.known, id); ok {
		return true
	}
	return slices.ContainsFunc(d.topic, func(a asked) bool { return a.id == id || slices.Contains(a.parts, id) })
}

// newSubject is a control as a whole.
func newSubject(c api.Control, w wants) *demand {
	d := newDemand(w.topic+".", askedOf(w.topic, split(w.topic)))
	for _, text := range append(slices.Clone(w.statements), c.Title, c.Description) {
		for _, t := range termsOf(split(text), stance{}) {
			d.known = append(d.known, t.id)
		}
	}
	slices.Sort(d.known)
	d.known = slices.Compact(d.known)
	return d
}

// ahead is why a sentence that says nothing of the future stands for it all the same:
// the document lists what is to come. What it says is done or denied is no plan.
func (s *Session) ahead(c *candidate, cur *sentence) string {
	if cur.happened || cur.answersYes || cur.denied != 0 {
		return ""
	}
	if c.listed == "" {
		return ""
	}
	return fmt.Sprintf("in a list of what is to come (%s)", c.listed)
}

// applySubject lets what is said of the control as a whole stand for the statements
// that nothing else bears, where few are borne.
func applySubject(all []found, no, plan *reading) {
	strong := 0
	for i := range all {
		if all[i].verdict == covered || all[i].verdict == partial && all[i].best.cover >= saysIt {
			strong++
		}
	}
	if 3*strong > len(all) {
		return
	}
	on := no
	if on == nil {
		on = plan
	}
	if on == nil {
		return
	}
	for i := range all {
		f := &all[i]
		switch f.verdict {
		case denied, plannedOnly, conflicting:
			continue
		case covered:
			continue
		case partial:
			if f.best.cover >= saysMost {
				continue
			}
		}
		f.verdict, f.best, f.reason, f.score = on.verdict, on, on.reason, round(on.cover)
		f.shown = []reading{*on}
	}
}
