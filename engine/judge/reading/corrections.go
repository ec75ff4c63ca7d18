package reading

import (
	"slices"
	"strings"
	"sync"
)

// Correction is a person's decision on what a passage shows about a statement.
type Correction struct {
	ID          string
	StatementID string
	DocumentID  string  // of the passage's document
	Passage     Passage // in the form that the person saw
	Label       Label
	Confirms    bool   // a person confirmed the line as drafted, with this label
	Words       string // the part of the passage that was accepted or rejected
	By          string
	Day         string // day of the decision, e.g. 2026-11-27
}

// Corrections finds the correction that applies to a statement and a passage. It is safe for
// concurrent use. A nil *Corrections contains none.
type Corrections struct {
	byStatement map[string]StatementCorrections
}

// StatementCorrections are the corrections for a statement, latest first.
type StatementCorrections []*indexedCorrection

type indexedCorrection struct {
	Correction
	passage func() fingerprint
}

// NewCorrections returns an index of corrections, which must be in the order in which they were made.
func NewCorrections(all []Correction) *Corrections {
	c := &Corrections{byStatement: map[string]StatementCorrections{}}
	for _, one := range slices.Backward(all) {
		c.byStatement[one.StatementID] = append(c.byStatement[one.StatementID], &indexedCorrection{
			Correction: one, passage: sync.OnceValue(func() fingerprint { return newFingerprint(one.Passage) }),
		})
	}
	return c
}

// For returns the corrections for a statement. It takes no time if there are no corrections at all.
func (c *Corrections) For(st Statement) StatementCorrections {
	if c == nil {
		return nil
	}
	return c.byStatement[st.ID()]
}

// Revision returns a string that changes whenever the corrections change. It returns "" if there
// are none.
func (c StatementCorrections) Revision() string {
	var ids []string
	for _, one := range c {
		ids = append(ids, one.ID)
	}
	return strings.Join(ids, " ")
}

// AcceptedTexts returns the texts of the passages that people accepted.
func (c StatementCorrections) AcceptedTexts() (out []string) {
	for _, one := range c {
		if one.Label != Silent {
			out = append(out, one.Passage.Text)
		}
	}
	return out
}

// MinWordsElsewhere is the minimum number of words that a passage must have for its correction to apply to other
// documents as well. Shorter passages, such as "Yes", may mean something else there.
const MinWordsElsewhere = 6

// Find returns the latest correction that applies to a passage of a document, and the resulting reading. near is set if
// the correction was made on a near-identical passage (see nearIdentical) rather than on this one. If no correction
// applies, found is nil.
func (c StatementCorrections) Find(documentID string, p Passage) (found *Correction, r Reading, near bool) {
	p = p.Bounded()
	here := sync.OnceValue(func() fingerprint { return newFingerprint(p) })
	for _, one := range c {
		if one.Passage.Text != p.Text {
			continue
		}
		if one.DocumentID == documentID && slices.Equal(one.Passage.HeadingPath, p.HeadingPath) ||
			len(here().words) >= MinWordsElsewhere && slices.Equal(one.passage().context, here().context) {
			return &one.Correction, one.reading(one.Words), false
		}
	}
	for _, one := range c {
		if one.Passage.Text == p.Text || !nearIdentical(one.passage(), here()) {
			continue
		}
		if words := findWords(p.Text, one.Words); words != "" {
			return &one.Correction, one.reading(words), true
		}
	}
	return nil, Reading{}, false
}

// reading returns the correction as a reading of a passage with the given words.
func (c *indexedCorrection) reading(words string) Reading {
	if c.Label == Silent {
		words = ""
	}
	return Reading{Label: c.Label, Words: words, Probabilities: map[Label]float64{c.Label: 1}}
}
