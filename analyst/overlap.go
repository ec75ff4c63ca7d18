package analyst

import "slices"

// match is how much of a demand a window of sentences says.
type match struct {
	cover    float64 // 0 to 1: weighed share of the demand's concepts
	own      float64 // weight that the sentences themselves hold, without headings
	distinct float64 // weight of the matched concepts that aren't general
	topic    float64 // 0 to 1: share of the control's title, in sentence, headings or passage
	missed   []string
	unsaid   []string // actions asked for that are not said
	focus    uint64   // clauses of the last sentence that hold what matched
	main     uint64   // of these, the one that holds most, or an action
}

// enough is how much weight makes a demand: all of a short one, and of a long one
// what a sentence can be expected to hold.
func (d demand) enough() float64 {
	if d.total <= maxDemandWeight {
		return d.total
	}
	return maxDemandWeight + (d.total-maxDemandWeight)*0.35
}

// against measures d against one or two sentences below the headings of context.
func (d demand) against(window []*sentence, context []uint64) match {
	var m match
	if d.total == 0 {
		return m
	}
	last := window[len(window)-1]
	got := 0.0
	var perClause [maxClause + 1]float64
	for _, a := range d.terms {
		best := 0.0
		for _, s := range window {
			t, ok := lookup(s.terms, a.id)
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
			}
			got += a.weight * best
			continue
		}
		if _, ok := slices.BinarySearch(context, a.id); ok && !a.action {
			got += a.weight * creditContext
			continue
		}
		if a.weight > weightGeneral {
			m.missed = append(m.missed, a.name)
			if a.action {
				m.unsaid = append(m.unsaid, a.name)
			}
		}
	}
	m.cover = min(1, got/d.enough())
	best := 0.0
	for c, w := range perClause {
		if w > best {
			best, m.main = w, 1<<c
		}
	}
	return m
}

// topicOf is the share of the control's title that a window, its headings or the
// whole passage hold.
func (d demand) topicOf(c *candidate) float64 {
	total, got := 0.0, 0.0
	for _, a := range d.topic {
		total += a.weight
		if _, ok := slices.BinarySearch(c.context, a.id); ok {
			got += a.weight
			continue
		}
		for i := range c.sentences {
			if _, ok := lookup(c.sentences[i].terms, a.id); ok {
				got += a.weight
				break
			}
		}
	}
	if total == 0 {
		return 1
	}
	return got / total
}
