package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge/reading"
	"github.com/scf-service/service/engine/judge/text"
	"github.com/scf-service/service/internal/prose"
)

// findCorrection returns a person's decision about a passage for a statement, also as a reading, and the
// mark to show with it. It returns nil if there is none.
func findCorrection(
	corrections reading.StatementCorrections, h retrievedPassage,
) (*reading.Correction, reading.Reading, api.AppliedCorrection) {
	c, r, near := corrections.Find(h.DocumentID, h.ForReader())
	if c == nil {
		return nil, reading.Reading{}, api.AppliedCorrection{}
	}
	mark := api.AppliedCorrection{
		CorrectionID: c.ID, ChunkID: h.ChunkID, Decision: api.CorrectionAccepted, Label: string(c.Label), DecidedBy: c.By,
		DecidedOn: api.Date(c.Day), NearIdentical: near, Quote: cmp.Or(r.Words, c.Words),
	}
	if c.Label == reading.Silent {
		mark.Decision = api.CorrectionRefused
	}
	return c, r, mark
}

// correctVerdicts replaces the rules' verdicts on passages for a statement with people's decisions.
// It records the corrections that made a difference or concern a near-identical passage. The slice
// verdicts is not modified.
func (s *Session) correctVerdicts(f *statementVerdict, hits []retrievedPassage, verdicts []passageVerdict) []passageVerdict {
	corrections := s.options.Corrections.For(f.statement.question)
	if len(corrections) == 0 {
		return verdicts
	}
	verdicts = slices.Clone(verdicts)
	for _, h := range hits {
		c, r, mark := findCorrection(corrections, h)
		if c == nil {
			continue
		}
		isOfPassage := func(v passageVerdict) bool { return v.passage.ChunkID == h.ChunkID }
		if c.Confirms && slices.ContainsFunc(verdicts, func(v passageVerdict) bool {
			return isOfPassage(v) && v.verdict == verdictOfLabel[r.Label]
		}) {
			// Confirming a line as drafted changes nothing while the passage is still read the same.
			if mark.NearIdentical {
				f.corrections = append(f.corrections, mark)
			}
			continue
		}
		f.decided = append(f.decided, h.ChunkID)
		if r.Label == reading.Silent {
			if slices.ContainsFunc(verdicts, isOfPassage) {
				verdicts = slices.DeleteFunc(verdicts, isOfPassage)
				f.corrections = append(f.corrections, mark)
			}
			continue
		}
		v, ok := s.newCorrectedVerdict(f.statement, h, r)
		if !ok {
			continue
		}
		if r.Label == reading.States && v.verdict != VerdictCovered {
			mark.PartlyBecause = v.reason
		}
		asDecided := func(o passageVerdict) bool { return isOfPassage(o) && o.verdict == v.verdict && !o.recordsFailure }
		differs := !slices.ContainsFunc(verdicts, asDecided) // otherwise the rules' verdict is kept, because it has more details
		before := len(verdicts)
		verdicts = slices.DeleteFunc(verdicts, func(o passageVerdict) bool {
			isLess := v.verdict == VerdictCovered && o.verdict == VerdictPartial && !o.recordsFailure && !o.outlierRow
			return isOfPassage(o) && !asDecided(o) && !isLess
		})
		if differs = differs || len(verdicts) != before; !slices.ContainsFunc(verdicts, asDecided) {
			verdicts = append(verdicts, v)
		}
		if differs || mark.NearIdentical || mark.PartlyBecause != "" {
			f.corrections = append(f.corrections, mark)
		}
	}
	return verdicts
}

// newCorrectedVerdict returns the verdict on a passage that a person accepted. The passage counts
// only partly if its document isn't in force or is too old. It returns false for a passage without
// sentences.
func (s *Session) newCorrectedVerdict(d *preparedStatement, h retrievedPassage, r reading.Reading) (passageVerdict, bool) {
	c := s.analyzed(h.foundPassage)
	if len(c.Sentences) == 0 {
		return passageVerdict{}, false
	}
	i := max(0, slices.IndexFunc(c.Sentences, func(one text.Sentence) bool {
		return strings.Contains(r.Words, one.Text) || strings.Contains(one.Text, r.Words)
	}))
	m := d.matchWindow(c.windows[i], c.neighbors[i], c.surroundings)
	m.topicShare, m.offTopic, m.missingAnchor = 1, false, nil
	m.missedConcepts, m.missedTopics, m.missedActions = nil, nil, nil
	v := passageVerdict{
		verdict: verdictOfLabel[r.Label], passage: h.foundPassage, sentence: &c.Sentences[i], match: m.decisive(),
		quote: r.Words, namesTopic: true,
		reportsPast: c.Sentences[i].ReportsPast || c.isRecord() && !c.Sentences[i].Mandatory, concreteness: c.Sentences[i].Concreteness,
		coverage: max(coverFull, s.combinedCoverage(m)),
	}
	switch v.verdict {
	case VerdictCovered:
		v.reason = formatSupportReason(m)
		if limit := s.partialReason(c, &c.Sentences[i]); limit != "" {
			v.verdict, v.reason = VerdictPartial, limit
		}
	case VerdictPartial:
		v.coverage, v.reason = coverPartial, "Covers part of the requirement."
	case VerdictPlanned:
		v.reason = fmt.Sprintf("Planned, not yet done: %s.", shortenAndQuote(r.Words))
	case VerdictDenied:
		v.reason = "The evidence states that this is not the case."
	}
	return v, true
}

// partialReason returns why a passage counts only partly, or "" if it counts in full.
func (s *Session) partialReason(c *analyzedPassage, cur *text.Sentence) string {
	return cmp.Or(s.staleReason(c.foundPassage, cur), c.documentLimitation())
}

// correctReadings is like correctVerdicts, but for the readings of a reader.
func (s *Session) correctReadings(f *statementVerdict, hits []retrievedPassage, readings []reading.Reading) []reading.Reading {
	corrections := s.options.Corrections.For(f.statement.question)
	if len(corrections) == 0 {
		return readings
	}
	readings = slices.Clone(readings)
	for i, h := range hits {
		c, r, mark := findCorrection(corrections, h)
		if c == nil {
			continue
		}
		f.decided = append(f.decided, h.ChunkID)
		if r.Label == reading.States {
			mark.PartlyBecause = s.partialReason(s.analyzed(h.foundPassage), &text.Sentence{})
		}
		if readings[i].Label != r.Label || mark.NearIdentical && r.Label != reading.Silent || mark.PartlyBecause != "" {
			f.corrections = append(f.corrections, mark)
		}
		readings[i] = r
	}
	return readings
}

// concludeWithAndWithoutCorrections concludes the verdict on a control from the verdicts on its
// statements. If there are corrections, it also determines the evidence without them. conclude may
// change the verdicts passed to it.
func concludeWithAndWithoutCorrections(all []statementVerdict, conclude func([]statementVerdict) Judgement) Judgement {
	var without []statementVerdict
	if slices.ContainsFunc(all, func(f statementVerdict) bool { return f.uncorrected != nil }) {
		for _, f := range all {
			if f.uncorrected != nil {
				f = *f.uncorrected
			}
			without = append(without, f)
		}
	}
	j := conclude(all)
	if without != nil {
		j.Uncorrected = append([]api.Evidence{}, conclude(without).Evidence...)
	}
	return j
}

const maxMarksInReason = 3

// markCorrections adds notes to a statement's reason about the corrections it depends on: the one
// for the deciding passage, and those for passages that don't count or count only in part.
func (f *statementVerdict) markCorrections() {
	marked := slices.DeleteFunc(slices.Clone(f.corrections), func(c api.AppliedCorrection) bool {
		isBasis := f.basis != nil && f.basis.passage.ChunkID == c.ChunkID
		return c.Decision == api.CorrectionAccepted && !isBasis && c.PartlyBecause == ""
	})
	for n, c := range marked {
		switch {
		case n == maxMarksInReason:
			f.reason += fmt.Sprintf(" %s.", prose.Count(len(marked)-n, "more correction applies", "more corrections apply"))
			return
		case c.Decision == api.CorrectionRefused:
			f.reason += fmt.Sprintf(" Not counted, %s: %s", c.Mark(), shortenAndQuote(c.Quote))
		case c.PartlyBecause != "":
			f.reason += fmt.Sprintf(" Accepted, %s.", c.Mark())
		default:
			f.reason += " " + prose.Capitalize(c.Mark()) + "."
		}
	}
}
