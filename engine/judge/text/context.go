package text

// HeadingAndNeighbors returns the sentences that can show what sentence i is about: its heading in the passage
// and the adjacent sentences. Table rows have no adjacent sentences.
func (a *Analysis) HeadingAndNeighbors(i int) []*Sentence {
	cur := &a.Sentences[i]
	var out []*Sentence
	if cur.headingIndex >= 0 {
		out = append(out, &a.Sentences[cur.headingIndex])
	}
	if cur.IsTableRow {
		return out
	}
	for _, k := range [...]int{i - 1, i + 1} {
		if k >= 0 && k < len(a.Sentences) {
			if n := &a.Sentences[k]; n.headingIndex == cur.headingIndex && !n.IsTableRow && !n.Question && !n.Instruction &&
				n.Placeholder == "" &&
				n.PlanWords == "" &&
				n.Hedge == "" &&
				n.Limit == "" {
				out = append(out, n)
			}
		}
	}
	return out
}

// maxLeadBytes is the maximum length in bytes of the text from the start of a list's lead-in to the end of an item. In
// longer texts, the two are not quoted together.
const maxLeadBytes = 600

// LeadInOrSelf returns the sentence that introduces a list item, or the item itself if there is none nearby.
func (a *Analysis) LeadInOrSelf(s *Sentence) *Sentence {
	if s.LeadIndex >= 0 && s.end-a.Sentences[s.LeadIndex].start <= maxLeadBytes {
		return &a.Sentences[s.LeadIndex]
	}
	return s
}

// ContinuesPrevious reports whether a sentence continues the previous one: it begins with a pronoun or shares
// concepts with it.
func (a *Analysis) ContinuesPrevious(i int) bool {
	if i == 0 {
		return false
	}
	cur, prev := &a.Sentences[i], &a.Sentences[i-1]
	return !cur.Item && !prev.Item && !cur.IsTableRow && !prev.IsTableRow && !prev.Fragment && !prev.Question &&
		(cur.StartsWithPronoun || cur.PointsBack&1 != 0 || ConceptOverlap(prev, cur) >= 0.2)
}

// PlanWords returns the words that show that sentence i is about the future, or "" if there are
// none. They may be in the sentence itself, in its lead-in or in the next sentence.
func (a *Analysis) PlanWords(i int) string {
	s := &a.Sentences[i]
	if s.PlanWords != "" {
		return s.PlanWords
	}
	if plan := a.LeadInOrSelf(s).PlanWords; plan != "" {
		return plan
	}
	if n := i + 1; n < len(a.Sentences) && !s.IsTableRow && a.Sentences[n].RefersBack && a.Sentences[n].PlanWords != "" &&
		!a.Sentences[n].Item {
		return a.Sentences[n].PlanWords
	}
	return ""
}

// Quote returns the text from one sentence to another, with white space collapsed. If the last sentence is a list item,
// the sentence that introduces the list is included unless it is too far away.
func (a *Analysis) Quote(from, to int) string {
	start, end := a.Sentences[from].start, a.Sentences[to].end
	if lead := a.LeadInOrSelf(&a.Sentences[to]); lead.start < start {
		start = lead.start
	}
	return CollapseSpace(a.Text[start:end])
}

// SentencesWithin returns the sentences that overlap with the text between two byte offsets.
func (a *Analysis) SentencesWithin(from, to int) (out []*Sentence) {
	for i := range a.Sentences {
		if s := &a.Sentences[i]; s.start < to && from < s.end {
			out = append(out, s)
		}
	}
	return out
}

// Heading returns the heading above a sentence within the passage, or "" if there is none.
func (a *Analysis) Heading(s *Sentence) string {
	if s.headingIndex < 0 {
		return ""
	}
	return a.Sentences[s.headingIndex].Text
}
