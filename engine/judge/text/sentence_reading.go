package text

import "slices"

// MentionsException reports whether a sentence mentions exceptions to a rule.
func (s *Sentence) MentionsException() bool {
	if s.Limit != "" && s.Exempt == 0 {
		return true
	}
	for _, concept := range [...]string{"exception", "waiver", "deviation", "exempt"} {
		if t, ok := s.FindTerm(ConceptID(concept)); ok && (s.Denied|s.DeniedForPeople)&(1<<t.Clause) == 0 {
			return true // but not "no contractor is exempt"
		}
	}
	return false
}

// ProhibitsImplicitly reports whether a sentence prohibits something without using a negation: "access is
// restricted".
func (s *Sentence) ProhibitsImplicitly() bool {
	for _, concept := range [...]string{"restrict", "prevent", "avoid", "reject"} {
		if _, ok := s.FindTerm(ConceptID(concept)); ok {
			return true
		}
	}
	return false
}

// WithoutNegatedClauses returns the sentence without its negated clauses.
func (s *Sentence) WithoutNegatedClauses() *Sentence {
	rest := *s
	rest.Terms = slices.DeleteFunc(slices.Clone(s.Terms), func(t Term) bool { return s.Denied&(1<<t.Clause) != 0 })
	rest.stems = s.affirmedStems
	return &rest
}

// InstructsReader reports whether a sentence tells the assessor what to conclude. "System:" alone
// isn't enough, because it may be the label of a form field.
func (s *Sentence) InstructsReader() bool {
	return s.Instruction && instructPattern.MatchString(s.Text)
}

// ConceptOverlap returns the share of concepts that two sentences have in common.
func ConceptOverlap(a, b *Sentence) float64 {
	common := 0
	for _, t := range a.Terms {
		if _, ok := searchTerms(b.Terms, t.ID); ok {
			common++
		}
	}
	if union := len(a.Terms) + len(b.Terms) - common; union > 0 {
		return float64(common) / float64(union)
	}
	return 0
}

// DeniesOnlyObject reports whether a sentence that begins with "no" denies the object of its verb rather than
// the subject: "no test found holes", but not "no test was done".
func (s *Sentence) DeniesOnlyObject() bool {
	words := splitWords(s.Text)
	return wordAt(words, 0) == "no" && !hasAuxiliaryOrModal(words) && hasVerb(words) && !statesOccurrence(words)
}

// statesOccurrence reports whether a sentence is about whether something exists or occurs: "no screening takes
// place".
func statesOccurrence(words []word) bool {
	for i, w := range words {
		switch w.text {
		case "exists", "exist", "happens", "happen", "occurs", "occur":
			return true
		case "takes", "take", "took":
			if wordAt(words, i+1) == "place" {
				return true
			}
		}
	}
	return false
}
