package judge

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge/reading"
	"github.com/scf-service/service/engine/judge/text"
	"github.com/scf-service/service/internal/prose"
)

// This is the page of rules that turns readings into verdicts, whichever reader read.
//
// A statement, by what the passages show of it:
//
//	states or part, and contradicts → conflicting; counts as denied until a person decides
//	states                          → covered; partial if the passage's document is a draft, a template, outdated …
//	part                            → partial
//	contradicts and plans           → planned
//	contradicts                     → denied
//	plans                           → planned
//	nothing                         → missing
//
// A control, by its ratio, (covered + ½ partial) ÷ statements:
//
//	from 0.5, and nothing denied    → implemented
//	from 0.2                        → partially implemented
//	a statement planned, none denied or fewer → planned
//	a statement denied              → not implemented
//	otherwise                       → not evidenced
const (
	minReadImplementedRatio = 0.5
	minReadPartialRatio     = 0.2
	partCredit              = 0.5
	// unstatedProbability is the probability assumed for a label if the reader gives no probabilities.
	unstatedProbability = 0.7
)

// verdictOfLabel maps the label that a reader gave a passage to a verdict.
var verdictOfLabel = map[reading.Label]string{
	reading.States:      VerdictCovered,
	reading.Part:        VerdictPartial,
	reading.Plans:       VerdictPlanned,
	reading.Contradicts: VerdictDenied,
}

// readPassages reads passages for a statement with the session's reader.
func (s *Session) readPassages(
	ctx context.Context,
	d *preparedStatement,
	hits []retrievedPassage,
) (readings []reading.Reading, invalid int, _ error) {
	passages := make([]reading.Passage, len(hits))
	for i, h := range hits {
		passages[i] = h.Passage.ForReader()
		passages[i].Score = h.score
	}
	return reading.ReadAll(ctx, s.options.Reader, d.question, passages)
}

// ForReader returns the passage in the form that a reader gets.
func (p Passage) ForReader() reading.Passage {
	out := reading.Passage{Title: cmp.Or(p.DocumentTitle, p.Filename), Kind: p.Category, HeadingPath: p.HeadingPath, Text: p.Text}
	if p.EffectiveDate != nil {
		out.Date = string(*p.EffectiveDate)
	}
	return out
}

// concludeStatement concludes the verdict on a statement from the readings of its passages.
func (s *Session) concludeStatement(d *preparedStatement, hits []retrievedPassage, readings []reading.Reading) statementVerdict {
	f := statementVerdict{statement: d}
	s.concludeFromReadings(&f, hits, s.correctReadings(&f, hits, readings))
	f.markCorrections()
	if len(f.corrections) > 0 {
		f.uncorrected = &statementVerdict{statement: d}
		s.concludeFromReadings(f.uncorrected, hits, readings)
	}
	return f
}

// concludeFromReadings sets the verdict on a statement from a reader's readings of the retrieved passages.
func (s *Session) concludeFromReadings(f *statementVerdict, hits []retrievedPassage, readings []reading.Reading) {
	d := f.statement
	silence, unread, refused := 1.0, 0, ""
	var verdicts []passageVerdict
	last := len(readings)
	if l, ok := s.options.Reader.(reading.Limited); ok && l.MaxPassages() > 0 {
		last = l.MaxPassages()
	}
	for i, r := range readings {
		if i >= last && !slices.Contains(f.decided, hits[i].ChunkID) {
			continue
		}
		if !r.IsRead() {
			unread++
			continue
		}
		verdict := verdictOfLabel[r.Label]
		if verdict == "" {
			silence = min(silence, probability(r, reading.Silent))
			continue
		}
		quote := reading.FindQuote(hits[i].ForReader().Bounded().Text, r.Words)
		why := ""
		if !slices.Contains(f.decided, hits[i].ChunkID) {
			why = cmp.Or(hits[i].silenceReason(d), s.unassertedReason(d, s.analyzed(hits[i].foundPassage), r.Label, quote))
		}
		if why != "" {
			silence = min(silence, probability(r, reading.Silent))
			refused = cmp.Or(refused, fmt.Sprintf("Not counted: %s, because %s.", shortenAndQuote(text.CollapseSpace(quote)), why))
			continue
		}
		v := passageVerdict{
			verdict: verdict, coverage: probability(r, r.Label), passage: hits[i].foundPassage, sentence: &text.Sentence{}, quote: quote,
		}
		if limit := s.partialReason(s.analyzed(v.passage), v.sentence); limit != "" && verdict == VerdictCovered {
			v.verdict, v.reason = VerdictPartial, limit
		}
		verdicts = append(verdicts, v)
	}
	f.decideByReadings(verdicts)
	switch f.unread = f.verdict == VerdictMissing && unread > 0; {
	case f.unread && unread == len(hits):
		f.reason = "The reader has not read the passages found for this requirement."
	case f.unread:
		f.reason = fmt.Sprintf("The reader has not read %d of the %d passages found for this requirement, and the others don't support it.",
			unread, len(hits))
	case f.verdict == VerdictMissing:
		f.score, f.reason = RoundToThousandths(silence), cmp.Or(refused, f.reason)
	}
	f.setShownInOperation(s)
}

// probability returns the probability of a label according to a reading.
func probability(r reading.Reading, l reading.Label) float64 {
	switch {
	case r.Probabilities != nil:
		return r.Probabilities[l]
	case r.Label == l:
		return unstatedProbability
	}
	return 0
}

// decideByReadings sets the verdict of a statement from the verdicts of its passages. Evidence for and against it is
// a conflict.
func (f *statementVerdict) decideByReadings(verdicts []passageVerdict) {
	strongest := func(verdict string) *passageVerdict { return strongestWithVerdict(verdicts, verdict) }
	yes, part, plan, no := strongest(VerdictCovered), strongest(VerdictPartial), strongest(VerdictPlanned), strongest(VerdictDenied)
	set := func(verdict string, on *passageVerdict, reason string) {
		f.verdict, f.basis, f.reason, f.score = verdict, on, reason, RoundToThousandths(on.coverage)
	}
	switch {
	case yes != nil && no != nil:
		set(VerdictConflicting, yes, formatContradiction(yes, no, "the requirement", "it"))
	case part != nil && no != nil:
		set(VerdictConflicting, part, formatContradiction(part, no, "part of the requirement", "it"))
	case yes != nil:
		set(VerdictCovered, yes, formatSupportReason(match{}))
	case part != nil:
		set(VerdictPartial, part, cmp.Or(part.reason, "Covers part of the requirement."))
	case plan != nil && no != nil:
		set(VerdictPlanned, plan, fmt.Sprintf("The document says that this is not yet done. Planned: %s.", shortenAndQuote(plan.quote)))
	case no != nil:
		set(VerdictDenied, no, "The evidence states that this is not the case.")
	case plan != nil:
		set(VerdictPlanned, plan, fmt.Sprintf("Planned, not yet done: %s.", shortenAndQuote(plan.quote)))
	default:
		f.verdict, f.reason = VerdictMissing, "No passage supports this requirement."
		return
	}
	f.selectQuotes(verdicts)
}

// setShownInOperation records whether a recent record supports the statement.
func (f *statementVerdict) setShownInOperation(s *Session) {
	for _, r := range f.quoted {
		supports := r.verdict == VerdictCovered || r.verdict == VerdictPartial
		f.hasOperation = f.hasOperation || supports && r.passage.isRecord() && s.isRecentOrUndated(r.passage, &text.Sentence{})
	}
}

// concludeControlFromReadings concludes the verdict on a control from the verdicts on its statements.
func concludeControlFromReadings(source api.StatementSource, verdicts []statementVerdict) Judgement {
	j := Judgement{StatementsFrom: source}
	n := make(map[string]int)
	certainty := 0.0
	for i := range verdicts {
		f := &verdicts[i]
		n[f.verdict]++
		certainty += f.score
		j.Operation = j.Operation || f.hasOperation && f.verdict != VerdictConflicting
		j.InvalidReadings += f.invalidReadings
		if f.unread {
			j.UnreadStatements++
		}
		j.addStatement(f)
	}
	j.Evidence = mergeDuplicateQuotes(j.Evidence)
	total := max(1, len(verdicts))
	j.Ratio = RoundToThousandths((float64(n[VerdictCovered]) + partCredit*float64(n[VerdictPartial])) / float64(total))
	j.Coverage = coverageLevel(j.Ratio)
	j.Confidence = RoundToThousandths(min(0.95, certainty/float64(total)))
	denied := n[VerdictDenied] + n[VerdictConflicting]
	counts := formatVerdictCounts(n, len(verdicts))
	switch {
	case j.Ratio >= minReadImplementedRatio && denied == 0:
		j.Implementation, j.Reason = api.Implemented, prose.Capitalize(counts)+"."
		if !j.Operation {
			j.Reason += " No record shows that this is done."
		}
	case j.Ratio >= minReadPartialRatio:
		j.Implementation, j.Reason = api.PartiallyImplemented, prose.Capitalize(counts)+"."
		if n[VerdictConflicting] > 0 {
			j.Reason = fmt.Sprintf(
				contradictionTexts[CommonContradictionKind(j.Statements)].reason,
				formatStatementCount(n[VerdictConflicting], len(verdicts)),
			)
		}
	case n[VerdictPlanned] > 0 && n[VerdictPlanned] >= denied:
		j.Implementation, j.Reason = api.Planned, "Planned, not yet done: "+counts+"."
	case denied > 0:
		j.Implementation, j.Reason = api.NotImplemented, "The documents state that this is not done: "+counts+"."
	case n[VerdictPartial]+n[VerdictCovered] > 0:
		j.Implementation, j.Reason = api.NotEvidenced, "Too little was found to count as evidence: "+counts+"."
	default:
		j.Implementation, j.Reason = api.NotEvidenced, "No supporting evidence was found. The control may still be in place."
	}
	if j.UnreadStatements > 0 {
		j.Reason += fmt.Sprintf(" The reader has not read all passages for %s.", formatStatementCount(j.UnreadStatements, len(verdicts)))
	}
	return j
}
