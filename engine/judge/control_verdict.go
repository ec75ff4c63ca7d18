package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge/text"
	"github.com/scf-service/service/internal/lazyregexp"
	"github.com/scf-service/service/internal/prose"
)

// credit returns what a verdict contributes to the ratio of fulfilled requirements.
func (f *statementVerdict) credit() float64 {
	if !f.onTopic {
		return offTopicCredit * f.creditIgnoringTopic()
	}
	return f.creditIgnoringTopic()
}

// creditIgnoringTopic returns how much of the statement is satisfied, from 0 to 1.
func (f *statementVerdict) creditIgnoringTopic() float64 {
	switch {
	case f.verdict == VerdictCovered:
		return 1
	case f.verdict == VerdictPartial && f.nearlyFull:
		return 0.75
	case f.verdict == VerdictPartial || f.verdict == VerdictConflicting && !f.isDisputed:
		return 0.5
	}
	return 0
}

// Thresholds for the status "implemented": the share of statements that are at least nearly met, the share that
// are fully met, and the ratio of fulfilled requirements.
const (
	minNearlyFullShare  = 0.5
	minFullShare        = 0.25
	minImplementedRatio = 0.5
	minDocumentedRatio  = 0.62 // from here, documents in force suffice without records
	maxMissingShare     = 0.34 // the share of statements that may have no evidence at all
)

// minCount returns the smallest count that is at least the given share of n.
func minCount(share float64, n int) int { return int(math.Ceil(share*float64(n) - 1e-9)) }

const (
	MinStrongRatio  = 0.8
	minPartialRatio = 0.4
)

const (
	offTopicCredit     = 0.6 // factor for a statement supported only by passages on another topic
	minOnTopicShare    = 0.34
	minOnTopicCoverage = 0.68
	minWordingCoverage = 0.75 // for a passage with a word from each group of the statement's wording, whatever topic it names
	minEvidenceRatio   = 0.32 // below this, with fewer than two statements nearly met, a hit is not evidence of the control
)

func coverageLevel(ratio float64) api.EvidenceCoverage {
	switch {
	case ratio >= MinStrongRatio:
		return api.CoverageStrong
	case ratio >= minPartialRatio:
		return api.CoveragePartial
	case ratio > 0:
		return api.CoverageWeak
	}
	return api.CoverageAbsent
}

// concludeControl derives a control's judgement from the verdicts on its statements.
func (s *Session) concludeControl(c api.Control, source api.StatementSource, verdicts []statementVerdict) Judgement {
	j := Judgement{StatementsFrom: source}
	n := make(map[string]int)
	total, scores := 0.0, 0.0
	intent, foreign := false, 0
	operated, firm, strong, about := 0, 0, 0, 0
	announced, disputed, faded := 0, 0, false
	for i := range verdicts {
		f := &verdicts[i]
		n[f.verdict]++
		if f.verdict == VerdictPlanned && f.basis.namesTopic {
			announced++
		}
		if f.isDisputed {
			disputed++
		}
		f.setEvidenceFlags(s)
		total += f.credit()
		if f.credit() > 0 {
			intent = intent || f.hasIntent
			if f.hasOperation {
				operated++
			}
			if f.isConcrete {
				firm++
			}
			if f.nearlyFull {
				strong++
			}
			if f.onTopic {
				about++
			}
			faded = faded || f.hasStaleRecord
			scores += f.score
		}
		foreign = max(foreign, f.foreignCount)
		j.Exception = j.Exception || f.hasException
		j.addStatement(f)
	}
	j.Evidence = mergeDuplicateQuotes(j.Evidence)
	if len(verdicts) > 0 {
		j.Ratio = RoundToThousandths(total / float64(len(verdicts)))
	}
	j.Coverage = coverageLevel(j.Ratio)
	j.Operation = operated > 0
	asksOperation := requiresOperation(c, verdicts)
	bearing := n[VerdictCovered] + n[VerdictPartial] + n[VerdictConflicting]
	switch {
	case about > 0 && total >= float64(n[VerdictDenied]) && (j.Ratio >= minEvidenceRatio || n[VerdictCovered] > 0 && strong > 1):
		j.Implementation, j.Reason = api.PartiallyImplemented, ""
		clean := n[VerdictDenied]+n[VerdictConflicting]+n[VerdictPlanned] == 0
		switch {
		case n[VerdictConflicting] > 0:
			j.Reason = fmt.Sprintf(
				contradictionTexts[CommonContradictionKind(j.Statements)].reason,
				formatStatementCount(n[VerdictConflicting], len(verdicts)),
			)
		case !clean:
			j.Reason = "Partially implemented: " + formatVerdictCounts(n, len(verdicts)) + "." + formatDeniedStatements(verdicts)
		case n[VerdictMissing]+n[VerdictTemplate] > int(maxMissingShare*float64(len(verdicts))):
			j.Reason = fmt.Sprintf("%s. For “Implemented”, at most a third of the requirements can be without evidence.",
				formatFulfillmentDegrees(n, strong, n[VerdictMissing]+n[VerdictTemplate], len(verdicts)))
		case j.Ratio < minImplementedRatio || strong < minCount(minNearlyFullShare, len(verdicts)) ||
			n[VerdictCovered] < minCount(minFullShare, len(verdicts)):
			j.Reason = fmt.Sprintf(
				"%s, which is %.0f%% of the control. “Implemented” requires %.0f%%, with at least %d requirements nearly or fully met and %d fully met.",
				formatFulfillmentDegrees(n, strong, 0, len(verdicts)),
				j.Ratio*100,
				minImplementedRatio*100,
				minCount(minNearlyFullShare, len(verdicts)),
				minCount(minFullShare, len(verdicts)),
			)
		case !intent:
			j.Reason = "Records show that this is done, but no policy or procedure requires it."
		case asksOperation && operated == 0 && firm == 0 && faded:
			j.Reason = "Policies require this, but the records are too old, and no procedure states who does it and when."
		case asksOperation && operated == 0 && firm == 0 && j.Ratio < minDocumentedRatio:
			j.Reason = "Policies require part of this, but no record shows that it is done, and no procedure states who does it and when."
		default:
			j.Implementation = api.Implemented
			j.Reason = fmt.Sprintf("The evidence fully covers %s", formatStatementCount(n[VerdictCovered], len(verdicts)))
			if rest := strong - n[VerdictCovered]; rest > 0 {
				j.Reason += fmt.Sprintf(" and nearly covers %d more", rest)
			}
			switch {
			case operated > 0:
				j.Reason += ", and records show that this is done."
			case asksOperation && firm > 0:
				j.Reason += "; documents state who does this, when or with what, but no records were found."
			case asksOperation:
				j.Reason += ", in documents that are not marked as drafts but state no owner or timing. No records were found; request one."
			default:
				j.Reason += "."
			}
		}
	case announced > 0 || 2*n[VerdictPlanned] >= len(verdicts) && n[VerdictPlanned] > 0:
		j.Implementation = api.Planned
		j.Reason = "Planned, not yet done: " + formatVerdictCounts(n, len(verdicts)) + "."
	case n[VerdictCovered] > 0 && total > float64(n[VerdictDenied]) && n[VerdictDenied] > 0:
		// Here, positive evidence outweighs the denials.
		j.Implementation = api.PartiallyImplemented
		j.Reason = "Partially implemented: " + formatVerdictCounts(n, len(verdicts)) + "." + formatDeniedStatements(verdicts)
	case n[VerdictDenied] > 0:
		j.Implementation = api.NotImplemented
		j.Reason = "The documents state that this is not done: " + formatVerdictCounts(n, len(verdicts)) + "."
	case disputed > 0:
		// A claim that is denied elsewhere is worth no more than the denial, until a person decides.
		j.Implementation = api.NotImplemented
		j.Reason = fmt.Sprintf(
			contradictionTexts[CommonContradictionKind(j.Statements)].reason,
			formatStatementCount(n[VerdictConflicting], len(verdicts)),
		)
	default:
		j.Implementation = api.NotEvidenced
		switch {
		case n[VerdictTemplate] > 0:
			j.Reason = "Only a template with unfilled blanks covers this control; a template is not evidence."
		case n[VerdictPlanned] > 0:
			j.Reason = fmt.Sprintf(
				"A plan for something else mentions %s; nothing shows that this control is planned.",
				formatStatementCount(n[VerdictPlanned], len(verdicts)),
			)
		case total > 0:
			j.Reason = "A passage refers to the topic but is too weak to count as evidence."
		case foreign > 0:
			j.Reason = "No evidence was found in English. Passages with a similar meaning are in another language and could not " +
				"be analyzed; review them manually."
		default:
			j.Reason = "No supporting evidence was found. The control may still be in place."
		}
	}
	j.Confidence = computeConfidence(j, verdicts, scores, bearing, foreign)
	return j
}

// addStatement adds a statement with its verdict, its quotes and the missing element.
func (j *Judgement) addStatement(f *statementVerdict) {
	st := api.Statement{Text: f.statement.text, Verdict: f.verdict, Reason: f.reason, Score: f.score, Corrections: f.corrections}
	if f.basis != nil {
		st.ChunkID = f.basis.passage.ChunkID
	}
	j.Statements = append(j.Statements, st)
	for _, r := range f.quoted {
		e := r.toEvidence(f.statement.text)
		if f.verdict == VerdictConflicting && (r.verdict == VerdictDenied || r.recordsFailure) {
			e.Stance = "conflicts"
		}
		j.Evidence = append(j.Evidence, e)
	}
	if m := f.formatMissingElement(); m != "" {
		j.Missing = append(j.Missing, m)
	}
}

// formatDeniedStatements lists the denied statements in a sentence, or returns "" if there are none.
func formatDeniedStatements(all []statementVerdict) string {
	var names []string
	for i := range all {
		if all[i].verdict == VerdictDenied {
			names = append(names, shortenAndQuote(strings.TrimRight(all[i].statement.text, ".")))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " Stated as not done: " + text.JoinSome(names) + "."
}

// stanceRank ranks the stances of quotes by their importance to the reader.
var stanceRank = map[string]int{"conflicts": 6, "denies": 5, "supports": 4, "limits": 3, "plans": 2, "template": 1}

// mergeDuplicateQuotes returns each quote once, with all statements it supports and the most important of its
// stances.
func mergeDuplicateQuotes(all []api.Evidence) []api.Evidence {
	at := make(map[string]int)
	var out []api.Evidence
	for _, e := range all {
		key := e.DocumentID + "\n" + e.Quote
		i, seen := at[key]
		if !seen {
			at[key] = len(out)
			out = append(out, e)
			continue
		}
		first := &out[i]
		first.Statement += " " + e.Statement
		first.Score = max(first.Score, e.Score)
		if stanceRank[e.Stance] > stanceRank[first.Stance] {
			first.Stance = e.Stance
		}
	}
	return out
}

// setEvidenceFlags records how well, and by which kinds of documents, a statement is supported.
func (f *statementVerdict) setEvidenceFlags(s *Session) {
	for _, r := range f.quoted {
		if r.verdict != VerdictCovered && r.verdict != VerdictPartial {
			continue
		}
		f.nearlyFull = f.nearlyFull || f.verdict == VerdictCovered || f.verdict == VerdictPartial && r.nearlyFull
		f.onTopic = f.onTopic || r.match.topicShare >= minOnTopicShare && r.coverage >= minOnTopicCoverage ||
			r.match.wordingComplete && r.coverage >= minWordingCoverage
		cur := r.sentence
		// "Access that has been granted is reviewed" doesn't report an action; in a rule, only a
		// dated sentence does.
		record := r.passage.isRecord() || r.reportsPast && !cur.Mandatory && (!isPrescriptive(r.passage.category) || len(cur.Years) > 0)
		if record && s.isRecentOrUndated(r.passage, cur) {
			f.hasOperation = true
		}
		if !r.passage.isRecord() {
			f.hasIntent = true
		}
		if !r.passage.isRecord() &&
			(r.concreteness >= 2 || r.concreteness >= 1 && (r.passage.category == "procedure" || r.passage.category == "standard" ||
				r.passage.category == "plan")) {
			f.isConcrete = true
		}
	}
}

// lowercaseFirstUnlessName lowercases the first letter so that s can follow a colon. Acronyms, names with inner
// capitals ("eIDAS", "NetBox"), quotes and figures are left unchanged.
func lowercaseFirstUnlessName(s string) string {
	first, _, _ := strings.Cut(s, " ")
	if first == "" || first[0] < 'A' || first[0] > 'Z' ||
		strings.IndexFunc(first[1:], func(r rune) bool { return unicode.IsUpper(r) || unicode.IsDigit(r) }) >= 0 {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

func formatStatementCount(n, total int) string {
	if n == total {
		if total == 1 {
			return "the one requirement"
		}
		return fmt.Sprintf("all %d requirements", total)
	}
	return fmt.Sprintf("%d of %d requirements", n, total)
}

// formatFulfillmentDegrees describes how many requirements are met to which degree. strong is the
// number of requirements that are fully or nearly met; without is the number of those without
// evidence.
func formatFulfillmentDegrees(n map[string]int, strong, without, total int) string {
	return fmt.Sprintf(
		"Of %s: %s",
		prose.Count(total, "requirement", "requirements"),
		joinPositiveAmounts(
			[]countWithWords{
				{n[VerdictCovered], "fully met"},
				{strong - n[VerdictCovered], "nearly met"},
				{n[VerdictPartial] - strong + n[VerdictCovered], "partially met"},
				{without, "without evidence"},
			},
		),
	)
}

func formatVerdictCounts(n map[string]int, total int) string {
	return fmt.Sprintf("of %s, %s", prose.Count(total, "requirement", "requirements"), joinPositiveAmounts([]countWithWords{
		{n[VerdictCovered], "fully met"},
		{n[VerdictPartial], "partially met"},
		{n[VerdictConflicting], "contradicted"},
		{n[VerdictPlanned], "planned"},
		{n[VerdictDenied], "stated as not done"},
		{n[VerdictTemplate], "only in a template"},
		{n[VerdictMissing], "without evidence"},
	}))
}

// countWithWords is a number with the words that follow it.
type countWithWords struct {
	n     int
	words string
}

// joinPositiveAmounts formats those amounts that are above zero as a list.
func joinPositiveAmounts(all []countWithWords) string {
	var parts []string
	for _, a := range all {
		if a.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", a.n, a.words))
		}
	}
	return text.JoinSome(parts)
}

var (
	recordArtifactPattern = lazyregexp.New(
		`(?i)\b(?:logs?|records?|exports?|screenshots?|reports?|minutes|tickets?|results?|configuration|samples?|scans?|register|inventory|list of|evidence of)\b`,
	)
	documentationActions = []string{
		"document",
		"define",
		"policy",
		"procedure",
		"plan",
		"approve",
		"communicate",
		"assign",
		"update",
		"review",
		"standard",
		"state",
	}
)

// requiresOperation reports whether a control requires something to be done, not only documented.
func requiresOperation(c api.Control, all []statementVerdict) bool {
	for _, a := range c.Applicability {
		if a == "technology" || a == "facility" {
			return true
		}
	}
	for _, e := range c.EvidenceRequests {
		if recordArtifactPattern.MatchString(e.Artifact) {
			return true
		}
	}
	var paper []uint64
	for _, w := range documentationActions {
		paper = append(paper, text.ConceptID(w))
	}
	for i := range all {
		for _, t := range all[i].statement.concepts {
			if t.IsAction && !slices.Contains(paper, t.ID) {
				return true
			}
		}
	}
	return false
}

// computeConfidence returns the confidence of a judgement. Clear, consistent evidence raises it. If
// no evidence was found, confidence is medium, because there may be evidence in other words.
func computeConfidence(j Judgement, all []statementVerdict, scores float64, bearing, foreign int) float64 {
	near := 0.0
	for _, f := range all {
		near = max(near, f.bestCoverage)
	}
	switch j.Implementation {
	case api.NotEvidenced:
		v := 0.75 - 0.4*near
		if foreign > 0 {
			v = min(v, 0.3)
		}
		return RoundToThousandths(max(0.2, v))
	case api.Planned, api.NotImplemented:
		v := 0.0
		for _, f := range all {
			v = max(v, f.score)
		}
		return RoundToThousandths(min(0.9, 0.3+0.55*v))
	}
	mean := scores / float64(max(1, bearing))
	v := 0.2 + 0.6*mean
	documents := make(map[string]bool)
	for _, e := range j.Evidence {
		documents[e.DocumentID] = true
		if e.Stance == "conflicts" {
			v -= 0.25
		}
	}
	if len(documents) > 1 {
		v += 0.05
	}
	if j.Operation {
		v += 0.1
	}
	if j.Implementation == api.PartiallyImplemented {
		v -= 0.1
	}
	return RoundToThousandths(min(0.95, max(0.15, v)))
}
