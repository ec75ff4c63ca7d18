package judge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge/text"
	"github.com/scf-service/service/internal/lazyregexp"
	"github.com/scf-service/service/internal/prose"
)

// statementVerdict is the verdict on one statement.
type statementVerdict struct {
	statement       *preparedStatement
	verdict         string
	reason          string
	score           float64
	basis           *passageVerdict  // the passage that decides the verdict
	quoted          []passageVerdict // the evidence to quote
	bestCoverage    float64          // the best coverage found, if that wasn't enough
	foreignCount    int              // passages with a similar meaning in another language
	silence         string           // why a passage with a similar meaning shows nothing
	isDisputed      bool             // for a conflicting verdict: a sentence denies it, beyond differing figures and recorded failures
	hasIntent       bool
	hasOperation    bool
	hasStaleRecord  bool // supported by a record that is too old
	nearlyFull      bool // fully or nearly met
	onTopic         bool // supported by a passage on the control's topic
	hasException    bool // a row denies it while neighboring rows affirm it
	isConcrete      bool // a concrete procedure: who, when, with what
	unread          bool // no passage shows it, but the reader has not read all passages that were found
	invalidReadings int
	corrections     []api.AppliedCorrection // corrections that made a difference
	decided         []string                // IDs of passages with a person's decision
	uncorrected     *statementVerdict       // the verdict without corrections, if there are any
}

// Evaluate judges one control: each of its statements, and the control as a whole.
func (s *Session) Evaluate(ctx context.Context, c api.Control) (Judgement, error) {
	if s.finder == nil {
		return Judgement{}, fmt.Errorf("judging %s: no Finder was provided to search for evidence", c.Code)
	}
	if err := s.loadDocumentStatus(ctx); err != nil {
		return Judgement{}, fmt.Errorf("judging %s: %w", c.Code, err)
	}
	w := newControlStatements(c)
	all := make([]statementVerdict, 0, len(w.statements))
	for _, d := range w.prepareStatements(c) {
		if err := ctx.Err(); err != nil {
			return Judgement{}, err
		}
		f, err := s.judgeStatement(ctx, d)
		if err != nil {
			return Judgement{}, fmt.Errorf("judging %s: %w", c.Code, err)
		}
		all = append(all, f)
	}
	if s.options.Reader != nil {
		return concludeWithAndWithoutCorrections(all, func(all []statementVerdict) Judgement {
			return concludeControlFromReadings(w.source, all)
		}), nil
	}
	no, plan, err := s.judgeWholeControl(ctx, c, w)
	if err != nil {
		return Judgement{}, fmt.Errorf("judging %s: %w", c.Code, err)
	}
	return concludeWithAndWithoutCorrections(all, func(all []statementVerdict) Judgement {
		applyWholeControlVerdict(all, no, plan)
		return s.concludeControl(c, w.source, all)
	}), nil
}

func (s *Session) judgeStatement(ctx context.Context, d *preparedStatement) (statementVerdict, error) {
	query := d.searchQuery()
	if err := s.embedStatement(ctx, d, query); err != nil {
		return statementVerdict{}, err
	}
	candidates, err := s.findPassages(ctx, query)
	if err != nil {
		return statementVerdict{}, err
	}
	if s.options.Reader != nil {
		readings, invalid, err := s.readPassages(ctx, d, candidates)
		if err != nil {
			return statementVerdict{}, err
		}
		f := s.concludeStatement(d, candidates, readings)
		f.invalidReadings = invalid
		return f, nil
	}
	var verdicts []passageVerdict
	for _, h := range candidates {
		verdicts = append(verdicts, s.judgePassage(d, s.analyzed(h.foundPassage), h.score)...)
	}
	return s.combineVerdicts(d, candidates, verdicts), nil
}

// combineVerdicts combines the verdicts on all passages into the verdict on a statement.
func (s *Session) combineVerdicts(d *preparedStatement, hits []retrievedPassage, verdicts []passageVerdict) statementVerdict {
	f := statementVerdict{statement: d}
	s.concludeFromVerdicts(&f, hits, s.correctVerdicts(&f, hits, verdicts))
	f.markCorrections()
	if len(f.corrections) > 0 {
		f.uncorrected = &statementVerdict{statement: d}
		s.concludeFromVerdicts(f.uncorrected, hits, verdicts)
	}
	return f
}

// concludeFromVerdicts sets the verdict on a statement from the verdicts on the retrieved passages.
func (s *Session) concludeFromVerdicts(f *statementVerdict, hits []retrievedPassage, verdicts []passageVerdict) {
	for _, h := range hits {
		if h.score < 0.5 {
			continue
		}
		if !h.isEnglish {
			f.foreignCount++
		}
		f.silence = cmp.Or(f.silence, h.silenceReason(f.statement))
	}
	for i := range verdicts {
		r := &verdicts[i]
		f.bestCoverage = max(f.bestCoverage, r.coverage)
		f.hasStaleRecord = f.hasStaleRecord ||
			r.coverage >= coverFull && r.passage.isRecord() && !s.isRecentOrUndated(r.passage, r.sentence)
	}
	s.downgradeOutlierRows(f.statement, hits, verdicts)
	s.decideVerdict(f, verdicts)
}

// downgradeOutlierRows turns a denial in a table row into a limitation if another row of the same
// document supports the statement equally well: for example, one late participant among many
// trained ones doesn't refute the rule.
func (s *Session) downgradeOutlierRows(d *preparedStatement, hits []retrievedPassage, verdicts []passageVerdict) {
	for i := range verdicts {
		r := &verdicts[i]
		if r.verdict != VerdictDenied || !r.sentence.IsTableRow {
			continue
		}
		if slices.ContainsFunc(hits, func(h retrievedPassage) bool {
			return h.DocumentID == r.passage.DocumentID && hasAffirmingRow(d, s.analyzed(h.foundPassage), r)
		}) {
			r.verdict, r.outlierRow = VerdictPartial, true
			r.reason = "One row in " + r.formatLocation() + " contradicts the others: " + shortenAndQuote(r.quote) + ". Review manually."
		}
	}
}

// hasAffirmingRow reports whether a table row in c covers d about as well as r does, without denying or planning
// it.
func hasAffirmingRow(d *preparedStatement, c *analyzedPassage, r *passageVerdict) bool {
	for i := range c.Sentences {
		cur := &c.Sentences[i]
		if !cur.IsTableRow || cur.PlanWords != "" || cur.Placeholder != "" || cur.Question || cur.Instruction {
			continue
		}
		m := d.matchWindow([]*text.Sentence{cur}, c.neighbors[i], c.surroundings)
		if _, no := deniesMatch(d, c, i, m); !no && m.wordCoverage >= r.match.wordCoverage-0.1 {
			return true
		}
	}
	return false
}

func joinTopicNames(d *preparedStatement) string {
	var names []string
	for _, t := range d.topic {
		names = append(names, t.Name)
	}
	return strings.Join(names, " ")
}

// strongestWithVerdict returns the passage with the given verdict that has the highest coverage, or nil if there is
// none. If there is a tie, it returns the first.
func strongestWithVerdict(verdicts []passageVerdict, verdict string) *passageVerdict {
	var b *passageVerdict
	for i := range verdicts {
		if r := &verdicts[i]; r.verdict == verdict && !r.inFailureTable && (b == nil || r.coverage > b.coverage) {
			b = r
		}
	}
	return b
}

// isLimitedToShare reports whether a record shows that the requirement was met in only a share of the cases.
func (r *passageVerdict) isLimitedToShare() bool {
	return r.verdict == VerdictPartial && r.coverage >= coverFull && r.reportsPast && r.sentence.LimitIsShare
}

// recordExceedingLimit returns a record that exceeds the time limit stated in rule by more than 5%, or nil if
// there is none.
func recordExceedingLimit(verdicts []passageVerdict, rule *passageVerdict) *passageVerdict {
	limit, ok := rule.sentence.TimeLimit()
	if !ok {
		return nil
	}
	var out *passageVerdict
	for i := range verdicts {
		r := &verdicts[i]
		if r.passage.DocumentID == rule.passage.DocumentID || !r.passage.isRecord() || r.coverage < coverDenied ||
			r.verdict != VerdictCovered && r.verdict != VerdictPartial {
			continue
		}
		cur := r.sentence
		if took, ok := cur.ReportedDuration(); ok && took > 1.05*limit &&
			(cur.ReportsPast || cur.IsTableRow) &&
			!cur.Mandatory {
			out = strongerOf(out, r)
		}
	}
	return out
}

// isWithinLimitOf reports whether r is a record of a duration within the limit stated in rule, with a tolerance
// of 5%.
func (r *passageVerdict) isWithinLimitOf(rule *passageVerdict) bool {
	limit, ok := rule.sentence.TimeLimit()
	if !ok || !r.passage.isRecord() {
		return false
	}
	took, ok := r.sentence.ReportedDuration()
	return ok && took <= 1.05*limit
}

// isFailureRecord reports whether r is a record that shows a failure of what the statement requires.
func (r *passageVerdict) isFailureRecord() bool { return r.recordsFailure }

// strongestMatching returns the matching passage with the highest coverage, or nil if there is
// none.
func strongestMatching(verdicts []passageVerdict, matches func(*passageVerdict) bool) *passageVerdict {
	var out *passageVerdict
	for i := range verdicts {
		if matches(&verdicts[i]) {
			out = strongerOf(out, &verdicts[i])
		}
	}
	return out
}

const maxQuotesPerVerdict = 3 // per statement and verdict

// decideVerdict combines all passage verdicts on a statement.
//
//	affirmed       and only a part or something related is denied → partial
//	affirmed       and denied → conflicting
//	affirmed       and another document states other figures → conflicting
//	affirmed       and a row denies what its neighbors affirm → partial
//	affirmed       and a record shows that it failed → conflicting
//	affirmed       and a record shows that it took longer → conflicting
//	affirmed       and a record shows it for a share only → partial
//	affirmed       and only planned elsewhere → partial
//	affirmed                  → covered
//	mostly stated  and denied → conflicting, or partial as above
//	denied         and planned → planned
//	otherwise the first that applies: denied, planned (unless partly stated with more coverage), partly, template, missing
func (s *Session) decideVerdict(f *statementVerdict, verdicts []passageVerdict) {
	yes, part := strongestWithVerdict(verdicts, VerdictCovered), strongestWithVerdict(verdicts, VerdictPartial)
	no, plan, blank := strongestWithVerdict(
		verdicts,
		VerdictDenied,
	), strongestWithVerdict(
		verdicts,
		VerdictPlanned,
	), strongestWithVerdict(
		verdicts,
		VerdictTemplate,
	)
	var odd *passageVerdict
	if i := slices.IndexFunc(verdicts, func(r passageVerdict) bool { return r.outlierRow }); i >= 0 {
		odd, f.hasException = &verdicts[i], true
	}
	set := func(verdict string, on *passageVerdict, reason string) {
		f.verdict, f.basis, f.reason, f.score = verdict, on, reason, RoundToThousandths(on.coverage)
	}
	switch {
	case yes != nil && no != nil && f.statement.isMinorDenial(no, yes):
		yes.nearlyFull = true
		set(
			VerdictPartial,
			yes,
			fmt.Sprintf(
				"%s supports the requirement, but part of it, or something related, is stated as not done: %s",
				yes.formatLocation(),
				shortenAndQuote(no.quote),
			),
		)
	case yes != nil && no != nil:
		set(VerdictConflicting, yes, formatContradiction(yes, no, "the requirement", "it"))
		f.isDisputed = true
	case yes != nil && s.differingFiguresReason(f.statement, verdicts, yes) != "":
		set(VerdictConflicting, yes, s.differingFiguresReason(f.statement, verdicts, yes))
	case yes != nil && odd != nil:
		set(VerdictPartial, yes, yes.formatLocation()+" supports the requirement. "+odd.reason)
	case yes != nil && strongestMatching(verdicts, (*passageVerdict).isFailureRecord) != nil:
		fell := strongestMatching(verdicts, (*passageVerdict).isFailureRecord)
		set(
			VerdictConflicting,
			yes,
			fmt.Sprintf(
				notFollowedPrefix+"%s supports the requirement, but %s shows that it was not met: %s",
				yes.formatLocation(),
				fell.formatLocation(),
				shortenAndQuote(fell.quote),
			),
		)
	case yes != nil && recordExceedingLimit(verdicts, yes) != nil:
		slow := recordExceedingLimit(verdicts, yes)
		slow.recordsFailure = true
		set(
			VerdictConflicting,
			yes,
			fmt.Sprintf(
				notFollowedPrefix+"%s states %s, but %s shows that it took longer: %s",
				yes.formatLocation(),
				shortenAndQuote(yes.quote),
				slow.formatLocation(),
				shortenAndQuote(slow.quote),
			),
		)
	case yes != nil && strongestMatching(verdicts, (*passageVerdict).isLimitedToShare) != nil:
		few := strongestMatching(verdicts, (*passageVerdict).isLimitedToShare)
		set(
			VerdictPartial,
			yes,
			fmt.Sprintf(
				"%s supports the requirement, but %s shows that it is met only for some: %s",
				yes.formatLocation(),
				few.formatLocation(),
				shortenAndQuote(few.quote),
			),
		)
	case yes != nil && plan != nil && plan.coverage >= coverFull:
		set(
			VerdictPartial,
			yes,
			fmt.Sprintf(
				"%s supports the requirement, but according to %s, this is only planned: %s",
				yes.formatLocation(),
				plan.formatLocation(),
				shortenAndQuote(plan.quote),
			),
		)
	case yes != nil:
		set(VerdictCovered, yes, yes.reason)
	case no != nil && part != nil && part.coverage >= coverFull && f.statement.isMinorDenial(no, part):
		set(
			VerdictPartial,
			part,
			fmt.Sprintf(
				"%s supports part of the requirement, but another part, or something related, is stated as not done: %s",
				part.formatLocation(),
				shortenAndQuote(no.quote),
			),
		)
	case no != nil && part != nil && part.coverage >= coverFull:
		set(VerdictConflicting, part, formatContradiction(part, no, "part of the requirement", "another part"))
		f.isDisputed = true
	case no != nil && plan != nil:
		set(VerdictPlanned, plan, "The document says that this is not yet done. "+plan.reason)
	case no != nil:
		set(VerdictDenied, no, no.reason)
	case plan != nil && (part == nil || plan.coverage >= part.coverage-0.1):
		set(VerdictPlanned, plan, plan.reason)
	case part != nil:
		set(VerdictPartial, part, part.reason)
	case blank != nil:
		set(VerdictTemplate, blank, blank.reason)
	default:
		f.verdict = VerdictMissing
		f.reason = f.formatMissingReason()
		return
	}
	f.selectQuotes(verdicts)
}

// selfContradictionPrefix is the start of the reason that is reported if one document both affirms and denies a
// statement.
const selfContradictionPrefix = "One document contradicts itself: "

// notFollowedPrefix is the start of the reason that is reported if documents affirm a statement and a record shows that
// it isn't followed.
const notFollowedPrefix = "Not followed: "

// formatContradiction describes an affirmation and a denial, from one document or two, with their locations. If
// a record denies what a rule states, the description says that the rule isn't followed.
func formatContradiction(affirming, denying *passageVerdict, affirmedPart, deniedPart string) string {
	quote, at := shortenAndQuote(denying.quote), denying.formatLocation()
	switch {
	case affirming.passage.DocumentID != denying.passage.DocumentID && denying.passage.isRecord() && !affirming.passage.isRecord():
		return fmt.Sprintf(
			notFollowedPrefix+"%s supports %s, but %s denies %s: %s",
			affirming.formatLocation(),
			affirmedPart,
			at,
			deniedPart,
			quote,
		)
	case affirming.passage.DocumentID != denying.passage.DocumentID:
		return fmt.Sprintf("Passages disagree: %s supports %s, but %s denies it: %s", affirming.formatLocation(), affirmedPart, at, quote)
	case affirming.passage.ChunkID == denying.passage.ChunkID || affirming.formatLocation() == at && at != denying.documentName():
		return fmt.Sprintf(
			selfContradictionPrefix+"%s supports %s and denies %s in the same passage: %s",
			affirming.formatLocation(),
			affirmedPart,
			deniedPart,
			quote,
		)
	}
	return fmt.Sprintf(
		selfContradictionPrefix+"%s supports %s and elsewhere%s denies %s: %s",
		affirming.formatLocation(),
		affirmedPart,
		strings.TrimPrefix(at, denying.documentName()),
		deniedPart,
		quote,
	)
}

func (f *statementVerdict) formatMissingReason() string {
	switch {
	case f.foreignCount > 0:
		return fmt.Sprintf(
			"No evidence was found in English. %s with a similar meaning could not be analyzed (not in English); review them manually.",
			prose.Count(f.foreignCount, "passage", "passages"),
		)
	case f.silence != "":
		return "No supporting passage was found; " + f.silence + "."
	case f.bestCoverage > 0:
		return "Passages touch on the topic, but none supports the requirement."
	}
	return "No supporting passage was found."
}

// selectQuotes selects the quotes to show as evidence for a statement.
func (f *statementVerdict) selectQuotes(verdicts []passageVerdict) {
	wanted := map[string][]string{
		VerdictCovered:     {VerdictCovered},
		VerdictPartial:     {VerdictCovered, VerdictPartial, VerdictPlanned},
		VerdictConflicting: {VerdictCovered, VerdictPartial, VerdictDenied},
		VerdictDenied:      {VerdictDenied},
		VerdictPlanned:     {VerdictPlanned, VerdictDenied},
		VerdictTemplate:    {VerdictTemplate},
	}[f.verdict]
	for _, v := range wanted {
		var matching []passageVerdict
		for _, r := range verdicts {
			if r.verdict == v {
				matching = append(matching, r)
			}
		}
		slices.SortStableFunc(matching, func(a, b passageVerdict) int {
			switch {
			case a.coverage > b.coverage:
				return -1
			case a.coverage < b.coverage:
				return 1
			}
			return strings.Compare(a.passage.ChunkID, b.passage.ChunkID)
		})
		for i, r := range matching {
			if i < maxQuotesPerVerdict || r.recordsFailure ||
				r.outlierRow && !slices.ContainsFunc(f.quoted, func(s passageVerdict) bool { return s.outlierRow }) ||
				r.passage.isRecord() && !slices.ContainsFunc(f.quoted, func(s passageVerdict) bool { return s.passage.isRecord() }) {
				f.quoted = append(f.quoted, r)
			}
		}
	}
}

// differingFiguresReason returns the reason to report if another document states the requirement with different
// numbers, or "" if none does.
func (s *Session) differingFiguresReason(d *preparedStatement, verdicts []passageVerdict, affirmation *passageVerdict) string {
	a := affirmation.sentence
	if len(a.Quantities) == 0 || imprintLinePattern.MatchString(affirmation.quote) {
		return ""
	}
	for i := range verdicts {
		r := &verdicts[i]
		if r.verdict != VerdictCovered && r.verdict != VerdictPartial || r.passage.DocumentID == affirmation.passage.DocumentID ||
			r.coverage < coverPartial {
			continue
		}
		b := r.sentence
		if text.ConceptOverlap(a, b) < 0.6 || r.isWithinLimitOf(affirmation) || affirmation.isWithinLimitOf(r) {
			continue
		}
		if text.ConflictingQuantities(a.Quantities, b.Quantities) {
			return fmt.Sprintf(
				"Documents give different figures: %s states %s, %s states %s.",
				affirmation.formatLocation(),
				shortenAndQuote(affirmation.quote),
				r.formatLocation(),
				shortenAndQuote(r.quote),
			)
		}
	}
	return ""
}

// imprintLinePattern matches a line that gives a document's own version and dates.
var imprintLinePattern = lazyregexp.NewPrefiltered(`(?i)\bversion\b.*\b(?:owner|approved|author|effective|review|date)\b`)

// documentName returns the title of the passage's document, or its file name if it has no title.
func (r *passageVerdict) documentName() string {
	return r.passage.documentName()
}

// formatLocation returns the passage's location for display.
func (r *passageVerdict) formatLocation() string {
	return FormatLocation(r.documentName(), r.passage.Locator, r.passage.HeadingPath)
}

// FormatLocation formats a location in a document for display: the document's name, the page or line, and the
// nearest heading.
func FormatLocation(document string, l api.Locator, headings []string) string {
	l.LineEnd = 0
	return formatRange(document, l, headings)
}

// formatRange is like FormatLocation, but also states the last line of a passage that spans several lines.
func formatRange(document string, l api.Locator, headings []string) string {
	var at []string
	switch {
	case l.Page > 0:
		at = append(at, fmt.Sprintf("page %d", l.Page))
	case l.Sheet != "":
		at = append(at, strings.TrimSpace(l.Sheet+" "+l.CellRange))
	case l.Slide > 0:
		at = append(at, fmt.Sprintf("slide %d", l.Slide))
	case l.LineStart > 0 && l.LineEnd > l.LineStart:
		at = append(at, fmt.Sprintf("lines %d to %d", l.LineStart, l.LineEnd))
	case l.LineStart > 0:
		at = append(at, fmt.Sprintf("line %d", l.LineStart))
	}
	if n := len(headings); n > 0 && headings[n-1] != document {
		at = append(at, "“"+headings[n-1]+"”")
	}
	if len(at) == 0 {
		return document
	}
	return document + " (" + strings.Join(at, ", ") + ")"
}

// isMinorDenial reports whether a denial concerns only a part of what is affirmed, or something
// related. A denial in the same document is minor if it has lower coverage and names other things, or too little. A
// denial in another document must be limited to a specific subset, because otherwise one of the documents may be wrong.
func (d *preparedStatement) isMinorDenial(denial, affirmation *passageVerdict) bool {
	cur := denial.sentence
	if cur.DeniesOnlyForThingsOutside(d.concepts, d.topic) {
		return true
	}
	return denial.passage.DocumentID == affirmation.passage.DocumentID && denial.coverage < affirmation.coverage &&
		!denial.match.deniesOutright && !d.readDenialScope(cur, denial.match.matchedClauses).isWithinStatement()
}
