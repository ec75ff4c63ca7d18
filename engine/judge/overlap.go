package judge

import (
	"slices"
	"sync"
)

// match is how much of a demand a window of sentences says.
type match struct {
	cover    float64 // 0 to 1: weighed share of the demand's concepts
	sense    float64 // 0 to 1: closeness in meaning
	crowd    float64 // 0 to 1: how many other criteria the sentence is closer to; below 0 where it is by far the closest
	worded   worded  // of the words by which it is recognised
	share    float64 // 0 to 1: of the demand, what the sentences themselves hold
	own      float64 // weight that the sentences themselves hold, without headings
	hits     int     // concepts that the sentences hold and that aren't general
	distinct float64 // weight of the matched concepts that aren't general
	topic    float64 // 0 to 1: share of the control's title, in sentence, headings or passage
	off      bool    // the passage names nothing of the control
	lacks    anchor  // words of the statement of which the passage has none
	missed   []string
	core     []string // of them, things that the control is about
	unsaid   []string // actions asked for that are not said
	headless bool     // the first thing the demand speaks of is not there
	outright bool     // a sentence that denies, and speaks of nothing but the control's subject
	said     float64  // weight that the last sentence holds
	denied   float64  // of it, in clauses that deny
	heavy    int      // concepts of full weight that are missed
	focus    uint64   // clauses of the last sentence that hold what matched
	main     uint64   // of these, the one that holds most, or an action
}

// enough is how much weight makes a demand: all of a short one, and of a long one
// what a sentence can be expected to hold.
func (d *demand) enough() float64 {
	if d.total <= maxDemandWeight {
		return d.total
	}
	return maxDemandWeight + (d.total-maxDemandWeight)*0.35
}

// creditNear is for a thing that only the sentences beside the window name.
const creditNear = 0.6

// creditPassage is for a thing that the passage names somewhere else.
const creditPassage = 0.4

// surroundings are sorted concepts that a sentence stands among.
type surroundings struct {
	headings []uint64 // above it, and the document's title
	passage  []uint64 // in any sentence of its passage that denies and announces nothing
}

// against measures d against one or two sentences, among surroundings and beside the
// sentences of near.
func (d *demand) against(window, near []*sentence, around surroundings) match {
	var m match
	if d.total == 0 {
		return m
	}
	last := window[len(window)-1]
	got := 0.0
	var perClause [maxClause + 1]float64
	head := -1
	chosen := d.chosen(window)
	for i := range d.terms {
		a := &d.terms[i]
		if head < 0 && a.weight > weightGeneral && !a.action {
			head = i
		}
		best := 0.0
		for _, s := range window {
			t, ok := a.in(s)
			if !ok {
				continue
			}
			best = max(best, t.credit)
			if s == last {
				m.focus |= 1 << t.clause
				w := a.weight
				if a.action {
					w++
				}
				perClause[t.clause] += w
			}
		}
		if best > 0 {
			m.own += a.weight * best
			if a.weight > weightGeneral {
				m.distinct += a.weight * best
				m.hits++
			}
			got += a.weight * best
			continue
		}
		credit := a.around(near, around.headings)
		if _, named := slices.BinarySearch(around.passage, a.id); credit == 0 && named {
			credit = creditPassage
		}
		if credit > 0 && !a.action && (d.paper || !documentNouns()[a.id]) {
			got += a.weight * credit
			continue
		}
		if a.or != 0 && chosen[a.or-1][btoi(!a.after)] {
			got += a.weight // the other of two alternatives is there
			continue
		}
		if i == head && d.topicIn(window) < 0.5 {
			m.headless = true
		}
		if a.weight >= weightPlain {
			m.heavy++
		}
		if a.weight > weightGeneral {
			if m.missed == nil {
				m.missed = make([]string, 0, len(d.terms)-i)
			}
			m.missed = append(m.missed, a.name)
			if a.topical {
				m.core = append(m.core, a.name)
			}
			if a.action {
				m.unsaid = append(m.unsaid, a.name)
			}
		}
	}
	m.cover, m.share = min(1, got/d.enough()), min(1, m.own/d.enough())
	for c, w := range perClause[:last.clauses] {
		m.said += w
		if last.denied&(1<<c) != 0 {
			m.denied += w
		}
	}
	best := 0.0
	for c, w := range perClause[:last.clauses] {
		if w > best {
			best, m.main = w, 1<<c
		}
	}
	return m
}

// heldBy: a window itself holds concepts of so much weight.
func (d *demand) heldBy(window []*sentence, weight float64) bool {
	own := 0.0
	for i := range d.terms {
		a := &d.terms[i]
		if own += a.weight * a.heldBy(window); own >= weight {
			return true
		}
	}
	return false
}

// heldBy is what the best word for it in a window is worth; 0 where there is none.
func (a *asked) heldBy(window []*sentence) float64 {
	best := 0.0
	for _, s := range window {
		if t, ok := a.in(s); ok {
			best = max(best, t.credit)
		}
	}
	return best
}

// chosen tells of each "or" which sides a window says, before it and after it. What a
// statement rules out, it rules out on both sides.
func (d *demand) chosen(window []*sentence) [][2]bool {
	var out [][2]bool
	for i := range d.terms {
		a := &d.terms[i]
		for len(out) < a.or {
			out = append(out, [2]bool{})
		}
		if a.or == 0 || a.weight <= weightGeneral || d.negative() {
			continue
		}
		for _, s := range window {
			if _, ok := a.in(s); ok {
				out[a.or-1][btoi(a.after)] = true
			}
		}
	}
	return out
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// outright: a sentence holds what the control and the statement are about, and nothing
// else ("penetration tests: never done"). Denying that, it denies whatever is asked of it.
func (d *demand) outright(cur *sentence) bool {
	if d.topicIn([]*sentence{cur}) < 0.9 {
		return false
	}
	head := slices.IndexFunc(d.terms, func(a asked) bool { return a.weight > weightGeneral })
	if head < 0 {
		return false
	}
	if _, ok := d.terms[head].in(cur); !ok {
		return false
	}
	known := func(of []asked, id uint64) bool {
		return slices.ContainsFunc(of, func(a asked) bool { return a.id == id || slices.Contains(a.parts, id) })
	}
	for _, t := range cur.terms {
		if t.credit == 1 && !known(d.terms, t.id) && !known(d.topic, t.id) && !emptyWords()[t.id] {
			return false
		}
	}
	return true
}

// emptyWords are the concepts that add nothing to a denial: those of nearly every
// sentence, and "done", "performed", "in place" and their like.
var emptyWords = sync.OnceValue(func() map[uint64]bool {
	m := make(map[uint64]bool)
	for concept, w := range lex().weight {
		if w <= weightGeneral {
			m[termID(concept)] = true
		}
	}
	for _, w := range append([]string{"run", "held", "ever", "never", "none", "nobody", "nothing", "far", "new", "people"}, undoing...) {
		m[conceptID(w)] = true
	}
	return m
})

// around is what it is worth that headings or sentences nearby name the concept.
func (a *asked) around(near []*sentence, context []uint64) float64 {
	if _, ok := slices.BinarySearch(context, a.id); ok {
		return creditContext
	}
	for _, s := range near {
		if t, ok := a.in(s); ok && s.denied&(1<<t.clause) == 0 {
			if s.fragment {
				return creditContext // a heading
			}
			return creditNear
		}
	}
	return 0
}

// documentNouns are the kinds of documents. That a policy says something is no sign
// that the policy itself was approved.
var documentNouns = sync.OnceValue(func() map[uint64]bool {
	m := make(map[uint64]bool)
	for _, w := range []string{"policy", "procedure", "plan", "standard", "document", "register", "program", "contract"} {
		m[conceptID(w)] = true
	}
	return m
})

// in finds the concept among the terms of a sentence, or all words of its phrase.
func (a *asked) in(s *sentence) (term, bool) {
	t, ok := s.holds(a.id)
	if ok || len(a.parts) < 2 {
		return t, ok
	}
	for _, p := range a.parts {
		if t, ok = s.holds(p); !ok {
			return term{}, false
		}
	}
	t.credit *= creditBroader
	return t, true
}

// topicIn is the share of the control's title that a window itself holds, by its own words
// or what they may stand for.
func (d *demand) topicIn(window []*sentence) float64 { return d.topicBy(window, false, false) }

// topicBy counts a word that only may stand for another in part, if strict; and, if deeds,
// also what the title says is done ("hardened configuration").
func (d *demand) topicBy(window []*sentence, strict, deeds bool) float64 {
	total, got := 0.0, 0.0
	for i := range d.topic {
		a := &d.topic[i]
		if a.weight <= weightGeneral || a.action && !deeds {
			continue
		}
		total += a.weight
		best := a.heldBy(window)
		if best > 0 && !strict {
			best = 1
		}
		got += a.weight * best
	}
	switch {
	case total == 0 && !deeds:
		return d.topicBy(window, strict, true) // a title of nothing but deeds ("background checks")
	case total == 0:
		return 0
	}
	return got / total
}

// topicOf is the share of the control's title that a window, its headings or the
// whole passage hold.
func (d *demand) topicOf(c *candidate) float64 {
	total, got := 0.0, 0.0
	for _, a := range d.topic {
		if a.weight <= weightGeneral {
			continue
		}
		total += a.weight
		if c.speaks(a.id) {
			got += a.weight
			continue
		}
		some := 0
		for _, p := range a.parts {
			if c.speaks(p) {
				some++
			}
		}
		if some > 0 {
			got += a.weight * creditBroader * float64(some) / float64(len(a.parts))
		}
	}
	if total == 0 {
		return 1
	}
	return got / total
}

// speaks tells whether a concept stands anywhere in the passage or above it.
func (c *candidate) speaks(id uint64) bool {
	if _, ok := slices.BinarySearch(c.context, id); ok {
		return true
	}
	for i := range c.sentences {
		if _, ok := c.sentences[i].holds(id); ok {
			return true
		}
	}
	return false
}
