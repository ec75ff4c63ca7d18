package judge

import (
	"slices"
	"strings"

	"github.com/scf-service/service/engine/judge/reading"
	"github.com/scf-service/service/engine/judge/text"
	"github.com/scf-service/service/internal/lazyregexp"
)

// askingPattern matches a step in which somebody asks something: "the lodge asks whether the person was sent".
var askingPattern = lazyregexp.New(`(?i)\basks? (?:whether|if)\b`)

// unassertedReason returns why the words that a reader quoted from a passage are not something that
// the organization asserts about itself, or "" if they are. Otherwise, a reader might mistake
// practices that are merely reported, hypothetical, asked about or another organization's for the
// organization's own. Claims under a heading that denies them are rejected, too.
func (s *Session) unassertedReason(d *preparedStatement, c *analyzedPassage, label reading.Label, words string) string {
	if !c.IsEnglish || words == "" {
		return ""
	}
	isClaim := label == reading.States || label == reading.Part
	if disclaimed, _ := c.disclaimer(); disclaimed && isClaim {
		return "the quote follows a sentence that says this isn't done"
	}
	for _, heading := range c.HeadingPath {
		// a heading that names two subjects may also be about the organization: "What we promised
		// and what the law wants"
		if outside, _ := text.ReadDisclaimingHeading(heading); outside && !strings.Contains(heading, " and ") {
			return "the quote is under a heading for practices that are not the organization's own"
		}
	}
	reason := ""
	for from := 0; ; {
		at := strings.Index(c.Analysis.Text[from:], words)
		if at < 0 {
			return reason
		}
		at += from
		sentences := c.SentencesWithin(at, at+len(words))
		if len(sentences) == 0 {
			return ""
		}
		if reason = s.unassertedOccurrenceReason(d, c, label, sentences, words); reason == "" {
			return "" // another occurrence of the words is asserted
		}
		from = at + 1
	}
}

// unassertedOccurrenceReason is like unassertedReason, but checks only the sentences around one occurrence of the
// statement's terms. Of these, all sentences that name something specific to the statement, except questions, must be
// asserted. If there are none, one asserted sentence is enough.
func (s *Session) unassertedOccurrenceReason(
	d *preparedStatement, c *analyzedPassage, label reading.Label, sentences []*text.Sentence, words string,
) string {
	claims := slices.DeleteFunc(slices.Clone(sentences), func(cur *text.Sentence) bool {
		return cur.Question || !d.namesSpecificConceptOf(cur)
	})
	reason := ""
	for _, cur := range claims {
		if reason = s.unassertedSentenceReason(d, c, label, cur, words); reason != "" {
			return reason
		}
	}
	if len(claims) > 0 {
		return ""
	}
	for _, cur := range sentences {
		if reason = s.unassertedSentenceReason(d, c, label, cur, words); reason == "" {
			return ""
		}
	}
	return reason
}

// namesSpecificConceptOf reports whether a sentence itself names a concept of the statement that isn't general.
func (d *preparedStatement) namesSpecificConceptOf(cur *text.Sentence) bool {
	return slices.ContainsFunc(d.concepts, func(a text.Concept) bool {
		_, isNamed := a.FindIn(cur)
		return isNamed && a.Weight > text.WeightGeneral
	})
}

// unassertedSentenceReason returns why a sentence doesn't count as a statement of the organization, or "" if it
// counts.
func (s *Session) unassertedSentenceReason(
	d *preparedStatement,
	c *analyzedPassage,
	label reading.Label,
	cur *text.Sentence,
	words string,
) string {
	lead := c.LeadInOrSelf(cur)
	switch isClaim := label == reading.States || label == reading.Part; {
	case cur.Instruction:
		return "the quote tells the reader what to conclude"
	case s.namesOtherOrganization(d, c, cur):
		return "the quote is about another organization"
	case label == reading.Contradicts: // the other reasons would excuse a denial
	case cur.Question && strings.HasSuffix(cur.Text, "?"):
		return "the quote is a question"
	case cur.IsUnasserted() && !askingPattern.MatchString(cur.Text) || lead != cur && lead.IsUnasserted():
		return "the quote is reported, imagined or conditional, not asserted"
	case isClaim && (cur.Disclaimed || c.undone) && cur.Denied == 0, isClaim && lead != cur && lead.Denied != 0 && !d.isProhibition():
		return "the quote is under a heading or introduction that says this isn't done"
	case isClaim && (cur.IsTableRow && cur.AnswersNo || cur.Denied == 1<<cur.ClauseCount-1) && leavesOutDenial(words):
		return "the quote omits the words that deny this"
	}
	return ""
}

// leavesOutDenial reports whether the quoted words of a denying sentence omit the denial itself,
// such as "all doors are locked" in "It is not true that all doors are locked".
func leavesOutDenial(words string) bool {
	return !slices.ContainsFunc(text.Analyze(words, 0).Sentences, func(s text.Sentence) bool { return s.Denied != 0 || s.AnswersNo })
}
