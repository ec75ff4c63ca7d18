package judge

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge/text"
	"github.com/scf-service/service/internal/lazyregexp"
)

// Verdicts on a statement.
const (
	VerdictCovered     = "covered"
	VerdictPartial     = "partial"
	VerdictPlanned     = "planned"
	VerdictDenied      = "denied"
	VerdictTemplate    = "template"
	VerdictConflicting = "conflicting"
	VerdictMissing     = "missing"
)

// Thresholds for deciding how well a sentence matches a statement.
const (
	coverFull            = 0.62 // minimum coverage of a sentence that states the requirement
	coverMost            = 0.59 // minimum coverage of a sentence that states nearly all of it
	coverPartial         = 0.39
	coverOnTopic         = 0.38 // minimum coverage of a denial or plan that is on topic
	coverDenied          = 0.58 // minimum coverage of a denial that counts
	coverFailing         = 0.5  // minimum coverage of a row in a failure table that counts
	minOwnShare          = 0.3  // share of the statement that the sentence itself must contain
	minOwnWeight         = 0.7  // weight that the sentence itself must contain, so that headings alone never suffice
	coverPlan            = 0.62 // minimum coverage of a plan that counts without naming the control's topic
	minPlanTopicShare    = 0.5  // share of the control's title that a plan must name
	minTopicShare        = 0.2  // share of the control's title required unless the statement is self-contained
	weightWithoutTopic   = 2.2  // minimum specific weight that makes the topic unnecessary
	minRowSimilarity     = 0.4  // similarity required of a row, whose cells aren't sentences
	paraphraseSimilarity = 0.6  // minimum similarity at which missing words may be paraphrased
	maxSearchBonus       = 0.12 // maximum contribution of the search score to coverage
	StaleDays            = 3 * 365
	maxRecordAgeDays     = 550 // a record proves operation for a year plus some tolerance
)

// passageVerdict is the verdict on a statement that is based on one window (one or two sentences) of a passage.
type passageVerdict struct {
	verdict        string
	coverage       float64
	reason         string
	quote          string
	passage        *foundPassage
	sentence       *text.Sentence // on which the verdict is based
	match          decisiveMatch
	nearlyFull     bool // for a partial verdict: nearly complete, without a limitation
	reportsPast    bool
	concreteness   int
	namesTopic     bool // for a planned verdict: names the control's topic
	outlierRow     bool // a row denies what its neighbors affirm
	recordsFailure bool // a record describes a failure
	inFailureTable bool // the record is a row of a failure table, which doesn't prove anything by itself
}

// judgePassage returns, for each verdict in the order of verdictOrder, the window of the passage that supports
// it best. Recorded failures are listed separately from other partial support.
func (s *Session) judgePassage(d *preparedStatement, c *analyzedPassage, score float64) []passageVerdict {
	var best []passageVerdict // one per verdict, and one per recorded failure
	if c.silenceReason(d) != "" {
		return nil
	}
	topic, off, unnamed := -1.0, false, anchorGroup(nil)
	for i := range c.Sentences {
		cur := &c.Sentences[i]
		if s.namesOtherOrganization(d, c, cur) || c.uninformative[i] || c.imprints[i] && !d.isAboutDocuments() {
			continue
		}
		window, from := c.windows[i], i
		lacks := d.requiresAllMissing(cur)
		pointsBack := cur.PointsBack&1 != 0 && c.continues[i] && c.Sentences[i-1].Denied == 0 && c.Sentences[i-1].Placeholder == ""
		if pointsBack {
			window, from = []*text.Sentence{&c.Sentences[i-1], cur}, i-1 // "Lists go to a folder. Nobody reviews them."
		}
		if !lacks && !d.isWeightReachedBy(window, minOwnWeight*0.6) {
			continue
		}
		near := c.neighbors[i]
		m := d.matchWindow(window, near, c.surroundings)
		if m.ownWeight > 0 && !pointsBack && c.continues[i] && c.Sentences[i-1].Placeholder == "" &&
			(c.Sentences[i-1].Denied == 0 || d.isProhibition()) {
			// A sentence that continues the previous one is read together with it.
			if two := d.matchWindow([]*text.Sentence{&c.Sentences[i-1], cur}, near, c.surroundings); two.wordCoverage > m.wordCoverage+0.12 &&
				m.ownWeight >= 0.5 {
				m, from = two, i-1
			}
		}
		m.similarity, m.competition = s.compareMeaning(d, c, i)
		if pointsBack {
			similarity, competition := s.compareMeaning(d, c, i-1)
			m.similarity, m.competition = max(m.similarity, similarity), min(m.competition, competition)
		}
		m.deniesOutright = cur.Denied != 0 && d.isOnlyThingNamedIn(cur)
		if m.wordingMatch = d.wording.FullMatch(); !m.deniesOutright && !lacks && s.combinedCoverage(m) < coverOnTopic-maxSearchBonus &&
			s.trace == nil {
			continue // irrelevant, even if words match
		}
		read := window
		if from < i && !pointsBack {
			read = append(slices.Clone(window), &c.Sentences[from])
		}
		m.wordingMatch = d.wording.MatchIn(read, c.headingStems)
		if _, is := deniesMatch(d, c, i, m); !is && cur.Denied != 0 && !d.isProhibition() {
			m = matchAffirmedClauses(d, window, near, c, m)
		}
		if s.trace != nil {
			s.trace(d.searchQuery(), c.Quote(from, i), s.combinedCoverage(m))
		}
		if !lacks && (!m.deniesOutright && s.combinedCoverage(m) < coverOnTopic-maxSearchBonus || m.ownWeight < minOwnWeight*0.6) {
			continue
		}
		if topic < 0 {
			topic, off, unnamed = d.passageTopicShare(
				c,
			), c.firstMissingAnchor(
				d.controlAnchors,
			) != nil, c.firstMissingAnchor(
				d.statementAnchors,
			)
		}
		m.topicShare, m.offTopic, m.missingAnchor = topic, off, unnamed
		r, ok := s.judgeWindow(d, c, score, from, i, m)
		if !ok {
			continue
		}
		k := slices.IndexFunc(best, func(b passageVerdict) bool { return b.verdict == r.verdict && b.recordsFailure == r.recordsFailure })
		switch {
		case k < 0:
			k, best = len(best), append(best, r)
		case r.coverage > best[k].coverage:
			best[k] = r
		default:
			continue
		}
		best[k].quote = c.Quote(from, i)
	}
	if disclaimed, _ := c.disclaimer(); disclaimed {
		best = slices.DeleteFunc(best, func(r passageVerdict) bool { return r.verdict == VerdictCovered || r.verdict == VerdictPartial })
	}
	if len(best) > 1 {
		slices.SortFunc(best, func(a, b passageVerdict) int {
			return slices.Index(verdictOrder[:], a.verdict) - slices.Index(verdictOrder[:], b.verdict)
		})
	}
	return best
}

// verdictOrder is the order in which judgePassage returns verdicts.
var verdictOrder = [...]string{VerdictCovered, VerdictPartial, VerdictDenied, VerdictPlanned, VerdictTemplate}

// isUninformativeSentence reports whether sentence i states nothing. This is so if it only gives the document's status
// or version, or if it is a fragment and neither a list item nor an answer nor a blank to be filled in.
func (c *passageAnalysis) isUninformativeSentence(i int) bool {
	cur := &c.Sentences[i]
	if text.IsStatusLine(cur.Text) {
		return true
	}
	return cur.Fragment && !cur.AnswersYes && !cur.AnswersNo && cur.Placeholder == "" && cur.LeadIndex < 0 && !c.isPlanListEntry(cur)
}

// judgeWindow returns the verdict that is based on the window ending with sentence i. It checks for denials,
// failures and plans before support. It returns false if the window proves nothing either way.
func (s *Session) judgeWindow(
	d *preparedStatement,
	c *analyzedPassage,
	score float64,
	from, i int,
	m match,
) (result passageVerdict, isProof bool) {
	cur := &c.Sentences[i]
	r := passageVerdict{
		passage:      c.foundPassage,
		sentence:     cur,
		match:        m.decisive(),
		reportsPast:  cur.ReportsPast || c.isRecord() && !cur.Mandatory,
		concreteness: cur.Concreteness,
	}
	r.coverage = s.coverageWithSearchBonus(c, score, m)
	relevant := m.isRelevant()
	if cur.Instruction || from < i && c.Sentences[from].Instruction || c.LeadInOrSelf(cur).Instruction {
		return r, false // instructions in the evidence on how to judge it don't count
	}
	if cur.Question || m.mainClause != 0 && m.mainClause&^(cur.Hypothetical|cur.Exempt) == 0 {
		return r, false // states no fact
	}
	decideAs := func(verdict, reason string) (passageVerdict, bool) {
		r.verdict, r.reason = verdict, reason
		return r, true
	}
	if cur.IsTableRow && cur.AnswersNo && failureStatementPattern.MatchString(d.text) && failedCellPattern.MatchString(cur.Text) {
		return r, false // a failure doesn't show how failures are handled
	}
	inFailureTable := cur.InFailureTable && !isPrescriptive(c.category) && c.category != "template" && cur.FailureConcerns(d.text)
	word, negated := deniesMatch(d, c, i, m)
	if negated = negated && !d.isProhibition(); negated {
		if no, ok := s.judgeDenial(d, c, score, m, from < i, r, word); ok || !inFailureTable {
			return no, ok
		}
	}
	if !d.isProhibition() && relevant && m.confirmsAbsence(false) &&
		(inFailureTable && r.coverage >= coverFailing || r.coverage >= coverDenied && c.DescribesUnremediedFailure(i, c.isRecord())) {
		r.recordsFailure, r.inFailureTable = true, inFailureTable
		return decideAs(VerdictPartial, "A record shows that it failed.")
	}
	if negated {
		return r, false // a denied sentence doesn't support anything
	}
	if d.isNamedAfterWithout(cur.Text) && !refusalPattern.MatchString(cur.Text) ||
		d.isProhibition() && switchOffPattern.MatchString(d.text) && switchedOffPattern.MatchString(cur.Text) {
		return r, false // that something is off doesn't show that it can't be turned off
	}
	plan := cmp.Or(c.PlanWords(i), s.planImpliedByList(c, cur))
	if plan != "" && cur.IsTableRow && !d.matchesCells(c, i, m) {
		return r, false // the row plans something else; only the column names match
	}
	if r.coverage < coverPartial || !relevant || m.ownWeight < minOwnWeight {
		if plan != "" && relevant && !m.missesHead && r.coverage >= coverOnTopic && m.ownWeight >= minOwnWeight && !d.mentions("plan") &&
			d.recordPlanTopicAndMatch(&r, c, i) {
			return decideAs(VerdictPlanned, s.formatPlanReason(plan, cur.Text))
		}
		return r, false
	}
	if m.offTopic || plan == "" && (cur.Disclaimed || c.undone) {
		return r, false // similar, but about something else, or under a heading that says that it isn't done
	}
	if t := cmp.Or(cur.Placeholder, c.LeadInOrSelf(cur).Placeholder); t != "" {
		if c.isStepOfUntickedChecklist(cur) {
			return decideAs(VerdictPartial, "This is a checklist step that isn't ticked; nothing shows that it was done.")
		}
		return decideAs(VerdictTemplate, fmt.Sprintf("The sentence still contains template text: %q.", t))
	}
	if plan != "" && !d.mentions("plan") {
		if !d.recordPlanTopicAndMatch(&r, c, i) {
			return r, false
		}
		r.namesTopic = r.namesTopic && !m.offTopic
		return decideAs(VerdictPlanned, s.formatPlanReason(plan, cur.Text))
	}
	if cur.Conditional != 0 && m.mainClause != 0 && m.matchedClauses&^cur.Conditional == 0 && d.stance.Conditional == 0 {
		return decideAs(VerdictPartial, "This is stated only as a condition, not as a rule or a fact.")
	}
	if cur.IsTableRow && s.options.Embedder != nil && m.similarity < minRowSimilarity {
		return r, false // cells share words by chance
	}
	if r.coverage < coverFull && (m.missesHead && m.similarity < paraphraseSimilarity || c.isUnderPreamble(cur) && !d.mentions("scope")) {
		return r, false // about something else
	}
	if d.asksExceptions && !cur.MentionsException() && !c.LeadInOrSelf(cur).MentionsException() {
		return r, false // the rule doesn't mention exceptions
	}
	if why := s.omissionReason(d, cur, m, r.coverage); why != "" {
		r.nearlyFull = r.coverage >= coverMost && s.limitationReason(d, c, cur, m) == "" && len(m.missedTopics) == 0 &&
			m.missingAnchor == nil &&
			(!m.wordingMatch.HasWording || m.wordingMatch.TotalShare >= minNearlyFullWordingShare)
		return decideAs(VerdictPartial, why)
	}
	if m.wordingMatch.HasWording && m.wordingMatch.TotalShare < minFullWordingShare {
		return decideAs(VerdictPartial, "Related, but doesn't mention any of: "+formatAlternatives(m.wordingMatch.MissingGroup)+".")
	}
	if m.missingAnchor != nil {
		return decideAs(VerdictPartial, "Related, but doesn't mention any of: "+m.missingAnchor.String()+".")
	}
	if len(m.missedTopics) > 0 {
		return decideAs(VerdictPartial, "Related, but doesn't cover: "+text.JoinSome(m.missedTopics)+".")
	}
	if why := s.limitationReason(d, c, cur, m); why != "" {
		return decideAs(VerdictPartial, why)
	}
	return decideAs(VerdictCovered, formatSupportReason(m))
}

// isRelevant reports whether a window is about the control's topic, or specific enough to count without it.
func (m match) isRelevant() bool {
	return m.topicShare >= minTopicShare || m.specificWeight >= weightWithoutTopic || m.similarity >= paraphraseSimilarity
}

// coverageWithSearchBonus returns how much of a statement a window covers, plus a bonus for the search score of
// its passage.
func (s *Session) coverageWithSearchBonus(c *analyzedPassage, score float64, m match) float64 {
	cover := s.combinedCoverage(m)
	if cover >= coverPartial && c.IsEnglish {
		cover = min(1, cover+maxSearchBonus*min(1, max(0, (score-0.5)*2)))
	}
	return cover
}

// combinedCoverage returns how much of a statement a window covers, from 0 to 1. It combines coverage by words
// and by meaning, since neither suffices alone: words may be shared by chance, and a related topic may have a
// similar meaning.
func (s *Session) combinedCoverage(m match) float64 {
	if s.options.Embedder == nil {
		return m.wordCoverage
	}
	if !m.wordingMatch.HasWording {
		return min(1, max(0, 0.26+0.55*m.wordCoverage+0.1*m.ownShare+0.35*m.similarity-0.5*m.competition))
	}
	return min(1, max(0, 0.265+0.39*m.wordCoverage+0.08*m.ownShare+0.08*m.similarity-0.58*m.competition+0.5*m.wordingMatch.AverageShare()))
}

// recordPlanTopicAndMatch records in r whether the plan in sentence i of c names the control's topic. It returns
// true if the plan does so or covers the statement.
func (d *preparedStatement) recordPlanTopicAndMatch(r *passageVerdict, c *analyzedPassage, i int) bool {
	cur := &c.Sentences[i]
	window := append([]*text.Sentence{cur.WithoutColumnNames(), c.LeadInOrSelf(cur)}, c.neighbors[i]...)
	r.namesTopic = max(d.topicShareIn(window), d.topicShareBy(window, false, true)) >= minPlanTopicShare
	return r.namesTopic || r.coverage >= coverPlan
}

// isStepOfUntickedChecklist reports whether a sentence is a step in a procedure's checklist in which no step is ticked.
// Such a step is an instruction rather than a form field.
func (c *analyzedPassage) isStepOfUntickedChecklist(s *text.Sentence) bool {
	return s.Item && text.StartsWithUntickedBox(s.Placeholder) && strings.Count(s.Text, "[") <= 1 && c.category == "procedure" &&
		!tickedBoxPattern.MatchString(c.Passage.Text)
}

var tickedBoxPattern = lazyregexp.New(`(?i)\[x\]|[☑☒✓✔✅]`)

func (s *Session) formatPlanReason(plan, sentence string) string {
	reason := fmt.Sprintf("Planned, not yet done: %q", plan)
	if s.isPlanOverdue(sentence) {
		reason += ", although the date has passed"
	}
	return reason + "."
}

func formatSupportReason(m match) string {
	if len(m.missedConcepts) == 0 {
		return "Supported by the passage."
	}
	return "Supported, although the passage doesn't mention: " + text.JoinSome(m.missedConcepts) + "."
}

// omissionReason returns why a related sentence doesn't cover a statement completely, or "" if it does.
func (s *Session) omissionReason(d *preparedStatement, cur *text.Sentence, m match, cover float64) string {
	switch {
	case cover < coverFull && len(m.missedConcepts) > 0:
		return "Covers part of the requirement, but doesn't mention: " + text.JoinSome(m.missedConcepts) + "."
	case cover < coverFull:
		return "Covers part of the requirement in general terms."
	case m.wordingMatch.IsComplete():
		// the statement is expressed in other words
	case m.similarity < paraphraseSimilarity &&
		(m.ownWeight < minOwnShare*d.fullCoverageWeight() || m.specificHits < min(2, d.specificConcepts)):
		return "The heading is relevant; the text itself says little."
	case m.missesHead && m.similarity < paraphraseSimilarity || float64(m.missedHeavy) > float64(d.heavyConcepts)*(0.2+0.3*m.similarity):
		return "Related, but doesn't mention: " + text.JoinSome(m.missedConcepts) + "."
	case len(m.missedActions) > 0 && m.similarity < paraphraseSimilarity:
		return "Related, but doesn't state: " + text.JoinSome(m.missedActions) + "."
	}
	if d.isOrderReversedIn(cur.Text) {
		return "The sentence says “after”, but the requirement says “before”."
	}
	if why, is := text.ReasonIfLessFrequent(d.quantities, cur.Quantities); is {
		return "Weaker than required: " + why + "."
	}
	return ""
}

// limitationReason returns why a matching sentence doesn't fully support a statement, or "" if it does.
func (s *Session) limitationReason(d *preparedStatement, c *analyzedPassage, cur *text.Sentence, m match) string {
	switch {
	case cur.StatesPurpose && !d.mentions("scope") && !d.mentions("applies"):
		return "The sentence states a purpose, not a rule or a practice."
	case c.isUnderPreamble(cur) && !d.mentions("scope"):
		return "The quote is from the section on purpose, scope or terms, which only describes the document."
	case cur.Definition:
		return "The sentence defines a term; it doesn't state what is done."
	case cur.Reference:
		return "The sentence only refers to another document."
	case cur.NamesContact && !d.mentions("contact") && !d.mentions("help") && !d.mentions("question"):
		return "The sentence states whom to ask, not what is done."
	case d.isProhibition() && (cur.Denied|cur.Prohibited)&m.mainClause == 0 &&
		(cur.IsTableRow || !cur.ProhibitsImplicitly() && !(accessPattern.MatchString(d.text) &&
			withdrawnPattern.MatchString(cur.Text))):
		return "The requirement is a prohibition, and the sentence doesn't rule it out."
	case !d.isProhibition() && cur.Prohibited&m.mainClause != 0 && cur.Conditional == 0 && !d.mentions("restrict") && !d.mentions("protect") &&
		!d.isNamedAfterWithout(cur.Text):
		return "The sentence prohibits something; it doesn't state that this is done."
	case m.mainClause != 0 && m.mainClause&^cur.Rare == 0:
		return "According to the sentence, this is done only rarely or only for a few."
	case c.LeadInOrSelf(cur).Hedge != "" || cur.Hedge != "":
		return fmt.Sprintf("The wording is permissive (%q), not a requirement.", cmp.Or(cur.Hedge, c.LeadInOrSelf(cur).Hedge))
	case !d.aboutLimits && (cur.Limit != "" || c.LeadInOrSelf(cur).Limit != ""):
		return fmt.Sprintf("Limited in scope: %q.", cmp.Or(cur.Limit, c.LeadInOrSelf(cur).Limit))
	}
	if why := s.staleReason(c.foundPassage, cur); why != "" {
		return why
	}
	if day := s.expiredDate(cur.Text); day != "" {
		return fmt.Sprintf("It has expired: %q.", day)
	}
	if why := c.documentLimitation(); why != "" {
		return why
	}
	if head := c.bestPracticeHeading(cur); head != "" {
		return fmt.Sprintf("The quote is under %q, which describes what should be done, not what is done.", head)
	}
	if c.Placeholder != "" {
		return fmt.Sprintf("The passage still contains template text: %q.", c.Placeholder)
	}
	if cur.AnswersYes && !c.isRecord() && strings.HasPrefix(cur.Hedge, "an answer") {
		return "This is a questionnaire answer without supporting evidence."
	}
	return ""
}

// documentLimitation returns why sentences of the passage can't fully support a statement, whatever
// they say, or "" if they can.
func (c *analyzedPassage) documentLimitation() string {
	if words := c.notInForceWords(); words != "" {
		return fmt.Sprintf("The document is not in force: %q.", words)
	}
	if c.status.placeholderCount >= minTemplatePlaceholders {
		return fmt.Sprintf("The document is a template with %d blanks: %q.", c.status.placeholderCount, c.status.firstPlaceholder)
	}
	if c.status.sampleWords != "" {
		return fmt.Sprintf("The document is an example that hasn't been adapted: %q.", c.status.sampleWords)
	}
	if limitOfCategory(c.category) != showsAll {
		return fmt.Sprintf("A document of this kind can show only part of the requirement: %s.", c.category)
	}
	if name := c.nameIfMarketing(); name != "" {
		return fmt.Sprintf("The quote is from %q, which is marketing material or describes another organization.", name)
	}
	if at := slices.IndexFunc(c.Sentences, func(s text.Sentence) bool { return s.InstructsReader() }); at >= 0 {
		return fmt.Sprintf(
			"The passage contains a sentence that tells the reader how to judge it: %q.",
			text.Shorten(c.Sentences[at].Text, 60),
		)
	}
	return ""
}

// isOrderReversedIn reports whether a sentence says that something is done after an event although
// the statement requires it before the event.
func (d *preparedStatement) isOrderReversedIn(sentence string) bool {
	return d.asksBefore && afterPattern.MatchString(sentence) && !beforePattern.MatchString(sentence)
}

// bestPracticeHeading returns the heading or title above a sentence if it announces best practice, that is, what
// organizations should have. Otherwise it returns "".
func (c *analyzedPassage) bestPracticeHeading(s *text.Sentence) string {
	for _, head := range append(append([]string{c.DocumentTitle}, c.HeadingPath...), c.Heading(s)) {
		if len(head) < 100 && idealHeadingPattern.MatchString(head) {
			return head
		}
	}
	return ""
}

var idealHeadingPattern = lazyregexp.NewPrefiltered(
	`(?i)\b(?:what|which|things) (?:\w+ ){0,4}(?:should|ought to|would) (?:have|be|do)\b|\bwhat good looks like\b|\b(?:control|requirements?) catalog(?:ue)?\b|\bcatalog(?:ue)? of (?:controls|requirements)\b|\bbest practices?\b`,
)

var preambleHeadingPattern = lazyregexp.NewPrefiltered(
	`(?i)^\W*(?:[\d.]+\W+)?(?:(?:and|the|of|this|purpose|scope|background|introduction|definitions?|glossary|terms|applicability|policy|document|procedure)\b[\s,&/:]*)+$`,
)

// isUnderPreamble reports whether the heading above a sentence announces the document's purpose, scope or terms.
func (c *analyzedPassage) isUnderPreamble(s *text.Sentence) bool {
	head := c.Heading(s)
	if n := len(c.HeadingPath); head == "" && n > 0 {
		head = c.HeadingPath[n-1]
	}
	return len(head) < 80 && preambleWordPattern.MatchString(head) && preambleHeadingPattern.MatchString(head)
}

var preambleWordPattern = lazyregexp.NewPrefiltered(
	`(?i)\b(?:purpose|scope|background|introduction|definitions?|glossary|terms|applicability)\b`,
)

// deniesMatch reports whether sentence i of c denies the concepts that it has in common with the statement. It
// also returns a suffix for the reason, which may be empty.
func deniesMatch(d *preparedStatement, c *analyzedPassage, i int, m match) (reasonSuffix string, denies bool) {
	cur := &c.Sentences[i]
	if cur.DeniedForPeople != 0 && cur.DeniedForPeople == cur.Denied && d.isAboutRestriction() {
		return "", false // "nobody has standing access" doesn't deny a restriction
	}
	// "They have no access" denies only access.
	elsewhere := cur.Denied != 0 && noAccessPattern.MatchString(cur.Text) && !d.isAboutAccess()
	if cur.Denied != 0 && !elsewhere &&
		(cur.RefersBack || cur.ClauseCount == 1 || cur.Denied&m.mainClause != 0 && m.deniedWeight >= m.sentenceWeight/2 ||
			!cur.IsTableRow && cur.Denied&m.matchedClauses != 0 && d.readDenialScope(cur, m.matchedClauses).isWithinStatement()) {
		return "", true
	}
	if cur.Denied&cur.PointsBack&^1 != 0 && m.deniesAction && !elsewhere {
		return "", true // "the lists are kept, but nobody reviews them"
	}
	if m.mainClause != 0 && m.mainClause&^cur.Discontinued == 0 && !d.isAboutTermination() {
		return ": it was discontinued", true
	}
	if d.requiresRemovalOfStillPresent(cur) {
		return ": it was still present", true
	}
	if lead := c.LeadInOrSelf(cur); lead != cur && lead.Denied != 0 {
		return ", according to the introduction of the list", true
	}
	// The next sentence may deny this one: "MFA is required. This is not yet enforced."
	if n := i + 1; n < len(c.Sentences) && !cur.IsTableRow && c.Sentences[n].RefersBack && c.Sentences[n].Denied != 0 &&
		!c.Sentences[n].Item {
		return ", according to the next sentence: " + shortenAndQuote(c.Sentences[n].Text), true
	}
	return "", false
}

// matchAffirmedClauses matches d with only those clauses of a sentence that are not negated. Embeddings ignore
// "not", so the similarity is scaled down to the share of words that remain.
func matchAffirmedClauses(d *preparedStatement, window, near []*text.Sentence, c *analyzedPassage, fullMatch match) match {
	last := len(window) - 1
	remaining := append(slices.Clone(window[:last]), window[last].WithoutNegatedClauses())
	m := d.matchWindow(remaining, near, c.surroundings)
	m.competition, m.wordingMatch = fullMatch.competition, d.wording.MatchIn(remaining, c.headingStems)
	if fullMatch.ownWeight > 0 {
		share := min(1, m.ownWeight/fullMatch.ownWeight, float64(m.specificHits)/float64(max(1, fullMatch.specificHits)))
		m.similarity, m.wordingMatch = fullMatch.similarity*share, scaleDown(m.wordingMatch, share)
		m.competition = max(m.competition, m.competition*share) // a negative competition is scaled down likewise
	}
	return m
}

func shortenAndQuote(s string) string { return "“" + text.Shorten(s, 120) + "”" }

var withoutPattern = lazyregexp.NewPrefiltered(`(?i)\bwithout (?:(?:any|an?|the|prior|proper) )*([a-z]+)`)

var switchOffPattern = lazyregexp.NewPrefiltered(`(?i)\b(?:(?:turn|switch)(?:ed)? off|disabled?|deactivated?)\b`)

// switchedOffPattern matches text that says that something is off, such as "the firewall is not
// switched on" or "was turned off".
var switchedOffPattern = lazyregexp.NewPrefiltered(
	`(?i)\b(?:is|are|was|were|been) (?:(?:not|no longer|never) (?:\w+ )?(?:(?:switched|turned) on|enabled|activated|active|running)|(?:switched|turned) off)\b`,
)

// refusalPattern matches expressions of refusal. In "no access without a badge", they show that the badge is
// required.
var refusalPattern = lazyregexp.New(
	`(?i)\b(?:no|not|never|nobody|none|cannot|can't|don't|blocked|refuse[sd]?|reject(?:s|ed)?|prevent(?:s|ed)?|denied|impossible|prohibited|forbidden)\b`,
)

// isNamedAfterWithout reports whether a sentence says that something lacks what d requires, as in
// "without encryption".
func (d *preparedStatement) isNamedAfterWithout(sentence string) bool {
	if d.isProhibition() {
		return false
	}
	for _, m := range withoutPattern.FindAllStringSubmatch(sentence, -1) {
		id := text.ConceptID(strings.ToLower(m[1]))
		if slices.ContainsFunc(d.concepts, func(a text.Concept) bool { return a.ID == id || slices.Contains(a.Parts, id) }) {
			return true
		}
	}
	return false
}

// hasRelatedMeasureAfterBut reports whether a denial is followed by "but" and a related measure that is in place
// ("no criminal checks, but references are checked").
func (d *preparedStatement) hasRelatedMeasureAfterBut(cur *text.Sentence, m match) bool {
	if m.deniesOutright || cur.AfterBut&^(cur.Denied|cur.Prohibited|cur.Conditional) == 0 {
		return false
	}
	for _, group := range [2][]text.Concept{d.concepts, d.topic} {
		for _, a := range group {
			if a.IsAction || a.Weight < text.WeightCommon {
				continue
			}
			for _, t := range cur.Terms {
				if (t.ID == a.ID || slices.Contains(a.Parts, t.ID)) && cur.AfterBut&(1<<t.Clause) != 0 {
					return true
				}
			}
		}
	}
	return false
}

// isProhibition reports whether the statement itself prohibits something.
func (d *preparedStatement) isProhibition() bool { return d.stance.Denied|d.stance.Prohibited != 0 }

// isAboutRestriction reports whether the statement, or its control, is about restricting access.
func (d *preparedStatement) isAboutRestriction() bool {
	for _, word := range [...]string{"restrict", "deny", "block", "prohibit", "prevent", "limit"} {
		id := text.ConceptID(word)
		if d.mentions(word) || slices.ContainsFunc(d.topic, func(a text.Concept) bool { return a.ID == id }) {
			return true
		}
	}
	return false
}

// isAboutAccess reports whether the statement is about having access or rights, rather than restricting them.
func (d *preparedStatement) isAboutAccess() bool {
	return !d.aboutLimits && !d.isAboutRestriction() && accessPattern.MatchString(d.text)
}

func (d *preparedStatement) mentions(word string) bool {
	id := text.ConceptID(word)
	return slices.ContainsFunc(d.concepts, func(a text.Concept) bool { return a.ID == id })
}

const accessWords = `(?:access|rights?|permissions?|privileges?)\b`

var (
	accessPattern   = lazyregexp.NewPrefiltered(`(?i)\b` + accessWords)
	noAccessPattern = lazyregexp.NewPrefiltered(
		`(?i)\b(?:no|without|never) (?:\w+ ){0,3}` + accessWords + `|\b(?:not|never) (?:\w+ )?administrators\b`,
	)
	withdrawnPattern = lazyregexp.NewPrefiltered(`(?i)\b(?:taken (?:away|back)|withdrawn|removed|revoked) (?:from|for)\b`)
	beforePattern    = lazyregexp.NewPrefiltered(`(?i)\b(?:before|prior|until|first|ahead)\b`)
	sincePattern     = lazyregexp.NewPrefiltered(`(?i)\w\W+since\b`)
	afterPattern     = lazyregexp.NewPrefiltered(`(?i)\bafter\b`)
)

// toEvidence converts a verdict into an evidence entry of a deliverable.
func (r passageVerdict) toEvidence(statementText string) api.Evidence {
	p := r.passage.Passage
	stanceOf := map[string]string{
		VerdictCovered:     "supports",
		VerdictPartial:     "limits",
		VerdictPlanned:     "plans",
		VerdictDenied:      "denies",
		VerdictTemplate:    "template",
		VerdictConflicting: "conflicts",
	}
	title := p.DocumentTitle
	if title == "" {
		title = p.Filename
	}
	return api.Evidence{
		ChunkID: p.ChunkID, DocumentID: p.DocumentID, DocumentTitle: title, Filename: p.Filename,
		HeadingPath: append([]string{}, p.HeadingPath...), Locator: p.Locator, Quote: r.quote,
		Score: RoundToThousandths(r.coverage), SHA256: p.SHA256, Statement: statementText, Stance: stanceOf[r.verdict],
	}
}

// RoundToThousandths rounds a ratio or confidence to the precision with which it is stored.
func RoundToThousandths(f float64) float64 { return math.Round(f*1000) / 1000 }
