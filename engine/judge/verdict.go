package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/lazyregexp"
)

// The verdicts on a statement.
const (
	covered     = "covered"
	partial     = "partial"
	plannedOnly = "planned"
	denied      = "denied"
	template    = "template"
	conflicting = "conflicting"
	missing     = "missing"
)

// Where a sentence begins to say a statement.
const (
	saysIt    = 0.62 // cover from which a sentence says it
	saysMost  = 0.59 // nearly all of it
	saysPart  = 0.39
	speaksOf  = 0.38 // cover from which a denial or plan is about it
	deniesIt  = 0.58 // cover from which a denial counts
	sinksIt   = 0.5  // cover from which a row of a table of failings counts
	ownShare  = 0.3  // share of the demand that the sentence itself must hold
	minOwn    = 0.7  // weight the sentence itself must hold, so that headings alone never cover
	saysPlan  = 0.62 // cover from which a plan is one of the statement, whatever its control
	planTopic = 0.5  // share of the control's title that a plan names
	minTopic  = 0.2  // share of the control's title, unless the statement stands by itself
	standAlon = 2.2  // distinct weight that needs no topic
	rowSense  = 0.4  // closeness that a row needs, whose cells are no sentence
	sameThing = 0.6  // closeness from which words that are missing may be said otherwise
	meaning   = 0.12 // what the best score by meaning adds to cover
	StaleDays = 3 * 365
	oldRecord = 550 // days; a record proves operation for a year and some slack
)

// reading is what one window of a passage says of a demand.
type reading struct {
	verdict  string
	cover    float64
	reason   string
	quote    string
	from     *candidate
	at       int // index of the sentence
	match    match
	strong   bool // of a partial one: most is said, and nothing takes it back
	happened bool
	concrete int
	named    bool // of a planned one: it names what the control is about
	odd      bool // a row that denies what its neighbours affirm
	fell     bool // a record that tells of its failing
	sunk     bool // of these, a row of a table of failings, which shows nothing by itself
}

// readPassage finds the window of a passage that says most of the demand, for each verdict.
func (s *Session) readPassage(d *demand, h hit) []reading {
	c := h.candidate
	var best []reading // one of each verdict, and one of failing
	topic, off, unnamed := -1.0, false, anchor(nil)
	for i := range c.sentences {
		cur := &c.sentences[i]
		if c.idle[i] || c.imprint[i] && !d.ofDocuments() {
			continue
		}
		window := c.windows[i]
		lacks := d.lacks(cur)
		if !lacks && !d.heldBy(window, minOwn*0.6) {
			continue
		}
		near := c.near[i]
		m := d.against(window, near, c.around)
		from := i
		if m.own > 0 && c.takesUp[i] && c.sentences[i-1].template == "" && (c.sentences[i-1].denied == 0 || d.negative()) {
			// A sentence that takes up the one before is read with it.
			if two := d.against([]*sentence{&c.sentences[i-1], cur}, near, c.around); two.cover > m.cover+0.12 && m.own >= 0.5 {
				m, from = two, i-1
			}
		}
		m.sense, m.crowd = s.meaning(d, c, i)
		m.outright = cur.denied != 0 && d.outright(cur)
		if m.worded = d.wording.best(); !m.outright && !lacks && s.worth(m) < speaksOf-meaning && s.heard == nil {
			continue // whatever words it has
		}
		read := window
		if from < i {
			read = append(slices.Clone(window), &c.sentences[from])
		}
		m.worded = d.wording.in(read, c.above)
		if _, is := negates(d, c, i, m); !is && cur.denied != 0 && !d.negative() {
			m = affirmed(d, window, near, c, m)
		}
		if s.heard != nil {
			s.heard(d.question(), c.quote(from, i), s.worth(m))
		}
		if !lacks && (!m.outright && s.worth(m) < speaksOf-meaning || m.own < minOwn*0.6) {
			continue
		}
		if topic < 0 {
			topic, off, unnamed = d.topicOf(c), c.unnamed(d.names) != nil, c.unnamed(d.says)
		}
		m.topic, m.off, m.lacks = topic, off, unnamed
		r, ok := s.judgeWindow(d, h, from, i, m)
		if !ok {
			continue
		}
		k := slices.IndexFunc(best, func(b reading) bool { return b.verdict == r.verdict && b.fell == r.fell })
		switch {
		case k < 0:
			k, best = len(best), append(best, r)
		case r.cover > best[k].cover:
			best[k] = r
		default:
			continue
		}
		best[k].quote = c.quote(from, i)
	}
	if len(best) > 1 {
		slices.SortFunc(best, func(a, b reading) int {
			return slices.Index(inOrder[:], a.verdict) - slices.Index(inOrder[:], b.verdict)
		})
	}
	return best
}

// inOrder are the verdicts of readings, in the order in which they are kept.
var inOrder = [...]string{covered, partial, denied, plannedOnly, template}

// saysNothing: a fragment that no list, answer or blank makes a whole, or a document's status or version
// by itself.
func (c *prepared) saysNothing(i int) bool {
	cur := &c.sentences[i]
	if cur.end-cur.start < 60 && ofDocument.MatchString(c.text[cur.start:cur.end]) {
		return true
	}
	return cur.fragment && !cur.answersYes && !cur.answersNo && cur.template == "" && cur.lead < 0 && !c.listsAhead(cur)
}

// beside are the sentences that give the one at i its subject: its heading in the
// passage and its neighbours. Rows stand alone.
func (a *analysis) beside(i int) []*sentence {
	cur := &a.sentences[i]
	var out []*sentence
	if cur.under >= 0 {
		out = append(out, &a.sentences[cur.under])
	}
	if cur.row {
		return out
	}
	for _, k := range [...]int{i - 1, i + 1} {
		if k >= 0 && k < len(a.sentences) {
			if n := &a.sentences[k]; n.under == cur.under && !n.row && !n.question && !n.instruction && n.template == "" && n.plan == "" && n.hedge == "" && n.limit == "" {
				out = append(out, n)
			}
		}
	}
	return out
}

// judgeWindow turns a match into a verdict, worst news first.
func (s *Session) judgeWindow(d *demand, h hit, from, i int, m match) (reading, bool) {
	c := h.candidate
	cur := &c.sentences[i]
	r := reading{from: c, at: i, match: m, happened: cur.happened || c.isRecord() && !cur.strong, concrete: cur.concrete}
	r.cover = s.coverOf(h, m)
	relevant := m.relevant()
	if cur.instruction || from < i && c.sentences[from].instruction || c.leadOf(cur).instruction {
		return r, false // evidence doesn't tell how it is to be judged
	}
	if cur.question || m.main != 0 && m.main&^(cur.unreal|cur.exempt) == 0 {
		return r, false // it says nothing of what is
	}
	say := func(verdict, reason string) (reading, bool) {
		r.verdict, r.reason = verdict, reason
		return r, true
	}
	text := c.text[cur.start:cur.end]
	if cur.row && cur.answersNo && ofFailure.MatchString(d.text) && failedCell.MatchString(text) {
		return r, false // what failed tells nothing of what is done then
	}
	sunk := cur.sunk && !intends(c.category) && c.category != "template" && d.loses(cur)
	word, negated := negates(d, c, i, m)
	if negated = negated && !d.negative(); negated {
		if no, ok := s.denial(d, h, from, r, word); ok || !sunk {
			return no, ok
		}
	}
	if !d.negative() && relevant && m.plain(false) && (sunk && r.cover >= sinksIt || r.cover >= deniesIt && c.fell(i)) {
		r.fell, r.sunk = true, sunk
		return say(partial, "A record tells that it failed.")
	}
	if negated {
		return r, false // what is denied supports nothing
	}
	if d.lackedBy(text) && !refuses.MatchString(text) || d.negative() && turnsOff.MatchString(d.text) && isOff.MatchString(text) {
		return r, false // of what is off, nothing tells that it can't be turned off
	}
	plan := firstOf(cur.planOf(c, i), s.ahead(c, cur))
	if plan != "" && cur.row && !d.inCells(c, i, m) {
		return r, false // the row announces something else, which its columns' names are not
	}
	if r.cover < saysPart || !relevant || m.own < minOwn {
		if plan != "" && relevant && !m.headless && r.cover >= speaksOf && m.own >= minOwn && !d.mentions("plan") && d.plans(&r) {
			return say(plannedOnly, s.planReason(plan, text))
		}
		return r, false
	}
	if m.off {
		return r, false // near it, and about something else
	}
	if t := firstOf(cur.template, c.leadOf(cur).template); t != "" {
		if c.checklist(cur) {
			return say(partial, "It is a step of a checklist; nothing shows that it was taken.")
		}
		return say(template, fmt.Sprintf("The sentence still holds the template words %q.", t))
	}
	if plan != "" && !d.mentions("plan") {
		if !d.plans(&r) {
			return r, false
		}
		r.named = r.named && !m.off
		return say(plannedOnly, s.planReason(plan, text))
	}
	if cur.conditional != 0 && m.main != 0 && m.focus&^cur.conditional == 0 && d.stance.conditional == 0 {
		return say(partial, "It is said only as a condition, not as a rule or a fact.")
	}
	if cur.row && s.options.Meaning != nil && m.sense < rowSense {
		return r, false // cells share words by chance
	}
	if r.cover < saysIt && (m.headless && m.sense < sameThing || c.preamble(cur) && !d.mentions("scope")) {
		return r, false // about something else
	}
	if d.excused && !excuses(cur, c.leadOf(cur)) {
		return r, false // the rule says nothing of exceptions from it
	}
	if why := s.unsaid(d, cur, text, m, r.cover); why != "" {
		r.strong = r.cover >= saysMost && s.weakened(d, c, cur, m) == "" && len(m.core) == 0 && m.lacks == nil && (!m.worded.known || m.worded.all >= saidHalf)
		return say(partial, why)
	}
	if m.worded.known && m.worded.all < saidMost {
		return say(partial, "It speaks of the matter; not said: any of "+likes(m.worded.lacks)+".")
	}
	if m.lacks != nil {
		return say(partial, "It speaks of the matter, but of none of: "+m.lacks.String()+".")
	}
	if len(m.core) > 0 {
		return say(partial, "It speaks of the matter, but not of: "+list(m.core)+".")
	}
	if why := s.weakened(d, c, cur, m); why != "" {
		return say(partial, why)
	}
	return say(covered, "The passage says it"+unsaidMinor(m)+".")
}

// relevant: a window speaks of what the control is about, or says so much that it need not.
func (m match) relevant() bool {
	return m.topic >= minTopic || m.distinct >= standAlon || m.sense >= sameThing
}

// coverOf is what a window is worth, with what the search thinks of its passage.
func (s *Session) coverOf(h hit, m match) float64 {
	cover := s.worth(m)
	if cover >= saysPart && h.english {
		cover = min(1, cover+meaning*min(1, max(0, (h.score-0.5)*2)))
	}
	return cover
}

// worth is how much of a demand a window says, by words and by meaning. Neither
// suffices alone: words are shared by chance, and what is close in meaning may be
// the next thing.
func (s *Session) worth(m match) float64 {
	if s.options.Meaning == nil {
		return m.cover
	}
	if !m.worded.known {
		return min(1, max(0, 0.26+0.55*m.cover+0.1*m.share+0.35*m.sense-0.5*m.crowd))
	}
	return min(1, max(0, 0.265+0.39*m.cover+0.08*m.share+0.08*m.sense-0.58*m.crowd+0.5*m.worded.share()))
}

// plans tells whether what is announced is the statement, or what its control is about
// by name; r notes the latter.
func (d *demand) plans(r *reading) bool {
	cur := &r.from.sentences[r.at]
	window := append([]*sentence{cur.body(), r.from.leadOf(cur)}, r.from.near[r.at]...)
	r.named = max(d.topicIn(window), d.topicBy(window, false, true)) >= planTopic
	return r.named || r.cover >= saysPlan
}

// checklist: a step with its box in a list in which nobody has ticked any: what is to be done, where a
// form would ask for a yes or no.
func (c *candidate) checklist(s *sentence) bool {
	return s.item && openBox(s.template) && strings.Count(c.text[s.start:s.end], "[") <= 1 && c.category == "procedure" && !ticked.MatchString(c.text)
}

var ticked = lazyregexp.Of(`(?i)\[x\]|[☑☒✓✔✅]`)

func (s *Session) planReason(plan, text string) string {
	reason := fmt.Sprintf("It is announced, not done: %q", plan)
	if s.overdue(text) {
		reason += ", for a day that has passed"
	}
	return reason + "."
}

func unsaidMinor(m match) string {
	if len(m.missed) == 0 {
		return ""
	}
	return ", though not in these words: " + list(m.missed)
}

// unsaid is what of a statement a sentence that speaks of it leaves out; empty where it says all.
func (s *Session) unsaid(d *demand, cur *sentence, text string, m match, cover float64) string {
	switch {
	case cover < saysIt && len(m.missed) > 0:
		return "It says part of it; not said: " + list(m.missed) + "."
	case cover < saysIt:
		return "It says part of it, in general words."
	case m.worded.whole():
		// said in other words
	case m.sense < sameThing && (m.own < ownShare*d.enough() || m.hits < min(2, d.hits)):
		return "Its heading speaks of the matter, the sentence says little of it."
	case m.headless && m.sense < sameThing || float64(m.heavy) > float64(d.heavy)*(0.2+0.3*m.sense):
		return "It speaks of the matter; not said: " + list(m.missed) + "."
	case len(m.unsaid) > 0 && m.sense < sameThing:
		return "It speaks of the matter, but doesn't say: " + list(m.unsaid) + "."
	}
	if d.afterwards(text) {
		return "It says after, where before is asked for."
	}
	if why, is := seldom(d.times, cur.times); is {
		return "It is weaker than asked: " + why + "."
	}
	return ""
}

// weakened is why a sentence that says a statement doesn't bear it fully.
func (s *Session) weakened(d *demand, c *candidate, cur *sentence, m match) string {
	switch {
	case cur.purpose && !d.mentions("scope") && !d.mentions("applies"):
		return "It states a purpose, not a rule or a practice."
	case c.preamble(cur) && !d.mentions("scope"):
		return "It stands in the part on purpose, scope or terms, which says what the document is for."
	case cur.definition:
		return "It explains a term; it doesn't say what is done."
	case cur.reference:
		return "It only points to another document."
	case cur.elsewhere && !d.mentions("contact") && !d.mentions("help") && !d.mentions("question"):
		return "It says whom to ask, not what is done."
	case d.negative() && (cur.denied|cur.prohibited)&m.main == 0 && (cur.row || !saysNo(cur) && !(ofAccess.MatchString(d.text) && withdrawn.MatchString(c.text[cur.start:cur.end]))):
		return "The statement says what must not be, and the sentence doesn't rule that out."
	case !d.negative() && cur.prohibited&m.main != 0 && cur.conditional == 0 && !d.mentions("restrict") && !d.mentions("protect") && !d.lackedBy(c.text[cur.start:cur.end]):
		return "The sentence forbids something; it doesn't say that this is done."
	case m.main != 0 && m.main&^cur.seldom == 0:
		return "It hardly ever happens, or to few, the sentence says."
	case c.leadOf(cur).hedge != "" || cur.hedge != "":
		return fmt.Sprintf("It is a wish, not a rule: %q.", firstOf(cur.hedge, c.leadOf(cur).hedge))
	case !d.only && (cur.limit != "" || c.leadOf(cur).limit != ""):
		return fmt.Sprintf("It is limited: %q.", firstOf(cur.limit, c.leadOf(cur).limit))
	}
	if why := s.stale(c, cur); why != "" {
		return why
	}
	if day := s.ranOut(c.text[cur.start:cur.end]); day != "" {
		return fmt.Sprintf("What it tells of ran out: %q.", day)
	}
	if words := c.notInForce(); words != "" {
		return fmt.Sprintf("The document is not in force: %q.", words)
	}
	if c.facts.blanks >= manyBlanks {
		return fmt.Sprintf("The document is a template with %d blanks: %q.", c.facts.blanks, c.facts.blank)
	}
	if c.facts.sample != "" {
		return fmt.Sprintf("The document is an example that nobody has adapted: %q.", c.facts.sample)
	}
	if name := c.praise(); name != "" {
		return fmt.Sprintf("It is what %q says, which wants to sell or tells of others.", name)
	}
	if at := slices.IndexFunc(c.sentences, c.tellsHow); at >= 0 {
		return fmt.Sprintf("Beside it stands a sentence that tells the reader how to judge: %q.", shorten(c.text[c.sentences[at].start:c.sentences[at].end], 60))
	}
	if head := c.ideal(cur); head != "" {
		return fmt.Sprintf("It stands under %q, which says what should be.", head)
	}
	if c.template != "" {
		return fmt.Sprintf("The passage still holds the template words %q.", c.template)
	}
	if cur.answersYes && !c.isRecord() && strings.HasPrefix(cur.hedge, "an answer") {
		return "It is an answer in a questionnaire; nothing shows it."
	}
	return ""
}

// afterwards: a sentence tells of what comes after, where the statement asks for what comes before.
func (d *demand) afterwards(text string) bool {
	return d.ahead && saysAfter.MatchString(text) && !saysBefore.MatchString(text)
}

// tellsHow: a sentence tells the reader how to judge. "System:" alone may be the label of a form.
func (c *candidate) tellsHow(s sentence) bool {
	return s.instruction && instructPattern.MatchString(c.text[s.start:s.end])
}

// ideal is the heading or title above a sentence that says what organizations should have, not what this one does.
func (c *candidate) ideal(s *sentence) string {
	above := append([]string{c.DocumentTitle}, c.HeadingPath...)
	if s.under >= 0 {
		above = append(above, c.text[c.sentences[s.under].start:c.sentences[s.under].end])
	}
	for _, head := range above {
		if len(head) < 100 && idealHead.MatchString(head) {
			return head
		}
	}
	return ""
}

var idealHead = lazyregexp.Guard(`(?i)\b(?:what|which|things) (?:\w+ ){0,4}(?:should|ought to|would) (?:have|be|do)\b|\bwhat good looks like\b|\b(?:control|requirements?) catalog(?:ue)?\b|\bcatalog(?:ue)? of (?:controls|requirements)\b|\bbest practices?\b`)

var preambles = lazyregexp.Guard(`(?i)^\W*(?:[\d.]+\W+)?(?:(?:and|the|of|this|purpose|scope|background|introduction|definitions?|glossary|terms|applicability|policy|document|procedure)\b[\s,&/:]*)+$`)

// preamble: the heading above a sentence is of what the document is for, not of what is to be done.
func (c *candidate) preamble(s *sentence) bool {
	head := ""
	if s.under >= 0 {
		head = c.text[c.sentences[s.under].start:c.sentences[s.under].end]
	} else if n := len(c.HeadingPath); n > 0 {
		head = c.HeadingPath[n-1]
	}
	return len(head) < 80 && preambleWord.MatchString(head) && preambles.MatchString(head)
}

var preambleWord = lazyregexp.Guard(`(?i)\b(?:purpose|scope|background|introduction|definitions?|glossary|terms|applicability)\b`)

// negates tells whether the sentence denies what matched, and with which words.
func negates(d *demand, c *candidate, i int, m match) (string, bool) {
	cur := &c.sentences[i]
	if cur.nobody != 0 && cur.nobody == cur.denied && d.restricts() {
		return "", false // "nobody has standing access" denies nothing of a restriction
	}
	// Nor does "they have no access" deny anything but their access.
	elsewhere := cur.denied != 0 && keptOut.MatchString(c.text[cur.start:cur.end]) && !d.grants()
	if cur.denied != 0 && !elsewhere && (cur.backward || cur.clauses == 1 || cur.denied&m.main != 0 && m.denied >= m.said/2) {
		return "", true
	}
	if m.main != 0 && m.main&^cur.over == 0 && !d.ends() {
		return ": it was given up", true
	}
	if d.stillThere(cur) {
		return ": it was still there", true
	}
	if lead := c.leadOf(cur); lead != cur && lead.denied != 0 {
		return ", as the words before the list say", true
	}
	// "MFA is required. This is not yet enforced."
	if n := i + 1; n < len(c.sentences) && !cur.row && c.sentences[n].backward && c.sentences[n].denied != 0 && !c.sentences[n].item {
		return ", as the next sentence says: " + quoteWords(c.text[c.sentences[n].start:c.sentences[n].end]), true
	}
	return "", false
}

// affirmed measures a sentence by the clauses alone that don't deny. Vectors are blind
// to a "not", so the meaning counts no more than what is left of the words.
func affirmed(d *demand, window, near []*sentence, c *candidate, whole match) match {
	cur := *window[len(window)-1]
	cur.terms = slices.DeleteFunc(slices.Clone(cur.terms), func(t term) bool { return cur.denied&(1<<t.clause) != 0 })
	cur.roots = cur.affirmed
	left := append(slices.Clone(window[:len(window)-1]), &cur)
	m := d.against(left, near, c.around)
	m.crowd, m.worded = whole.crowd, d.wording.in(left, c.above)
	if whole.own > 0 {
		share := min(1, m.own/whole.own, float64(m.hits)/float64(max(1, whole.hits)))
		m.sense, m.worded = whole.sense*share, m.worded.left(share)
		m.crowd = max(m.crowd, m.crowd*share) // being ahead of all others counts no more either
	}
	return m
}

func quoteWords(s string) string { return "“" + shorten(s, 120) + "”" }

func (s *sentence) planOf(c *candidate, i int) string {
	if s.plan != "" {
		return s.plan
	}
	if plan := c.leadOf(s).plan; plan != "" {
		return plan
	}
	if n := i + 1; n < len(c.sentences) && !s.row && c.sentences[n].backward && c.sentences[n].plan != "" && !c.sentences[n].item {
		return c.sentences[n].plan
	}
	return ""
}

// maxLead is how far a list's first words reach, in bytes: what can be quoted as one.
const maxLead = 600

// leadOf is the sentence that introduces an item; the item itself where there is none
// near.
func (a *analysis) leadOf(s *sentence) *sentence {
	if s.lead >= 0 && s.end-a.sentences[s.lead].start <= maxLead {
		return &a.sentences[s.lead]
	}
	return s
}

var lacks = lazyregexp.Guard(`(?i)\bwithout (?:(?:any|an?|the|prior|proper) )*([a-z]+)`)

var turnsOff = lazyregexp.Guard(`(?i)\b(?:(?:turn|switch)(?:ed)? off|disabled?|deactivated?)\b`)

// isOff: "the firewall is not switched on", "was turned off".
var isOff = lazyregexp.Guard(`(?i)\b(?:is|are|was|were|been) (?:(?:not|no longer|never) (?:\w+ )?(?:(?:switched|turned) on|enabled|activated|active|running)|(?:switched|turned) off)\b`)

// refuses: "no access without a badge" asks for the badge.
var refuses = lazyregexp.Of(`(?i)\b(?:no|not|never|nobody|none|cannot|can't|don't|blocked|refuse[sd]?|reject(?:s|ed)?|prevent(?:s|ed)?|denied|impossible|prohibited|forbidden)\b`)

// lackedBy tells whether a sentence speaks of something without what d asks for.
func (d *demand) lackedBy(text string) bool {
	if d.negative() {
		return false
	}
	for _, m := range lacks.FindAllStringSubmatch(text, -1) {
		id := conceptID(strings.ToLower(m[1]))
		if slices.ContainsFunc(d.terms, func(a asked) bool { return a.id == id || slices.Contains(a.parts, id) }) {
			return true
		}
	}
	return false
}

// saidInstead: behind what a sentence denies, a "but" tells of another thing of the matter
// that is done ("no criminal checks, but references are checked").
func (d *demand) saidInstead(cur *sentence, m match) bool {
	if m.outright || cur.instead&^(cur.denied|cur.prohibited|cur.conditional) == 0 {
		return false
	}
	for _, of := range [2][]asked{d.terms, d.topic} {
		for _, a := range of {
			if a.action || a.weight < weightCommon {
				continue
			}
			for _, t := range cur.terms {
				if (t.id == a.id || slices.Contains(a.parts, t.id)) && cur.instead&(1<<t.clause) != 0 {
					return true
				}
			}
		}
	}
	return false
}

// takesUp tells whether a sentence goes on with the one before: it begins with a
// pronoun, or with what that one ended on.
func (a *analysis) takesUp(i int) bool {
	if i == 0 {
		return false
	}
	cur, prev := &a.sentences[i], &a.sentences[i-1]
	return !cur.item && !prev.item && !cur.row && !prev.row && !prev.fragment && !prev.question && (cur.pronoun || alike(prev, cur) >= 0.2)
}

// negative tells whether the statement itself rules something out.
func (d *demand) negative() bool { return d.stance.denied|d.stance.prohibited != 0 }

// restricts tells whether the statement, or its control, is about keeping people from things.
func (d *demand) restricts() bool {
	for _, word := range [...]string{"restrict", "deny", "block", "prohibit", "prevent", "limit"} {
		id := conceptID(word)
		if d.mentions(word) || slices.ContainsFunc(d.topic, func(a asked) bool { return a.id == id }) {
			return true
		}
	}
	return false
}

// grants tells whether the statement asks for somebody's access or rights.
func (d *demand) grants() bool {
	return !d.only && !d.restricts() && ofAccess.MatchString(d.text)
}

func (d *demand) mentions(word string) bool {
	id := conceptID(word)
	return slices.ContainsFunc(d.terms, func(a asked) bool { return a.id == id })
}

// excuses: a sentence speaks of what is let off a rule.
func excuses(of ...*sentence) bool {
	for _, s := range of {
		if s.limit != "" && s.exempt == 0 {
			return true
		}
		for _, concept := range [...]string{"exception", "waiver", "deviation", "exempt"} {
			if t, ok := s.holds(conceptID(concept)); ok && (s.denied|s.nobody)&(1<<t.clause) == 0 {
				return true // "no contractor is exempt" tells of none
			}
		}
	}
	return false
}

const accessWords = `(?:access|rights?|permissions?|privileges?)\b`

var (
	ofAccess   = lazyregexp.Guard(`(?i)\b` + accessWords)
	keptOut    = lazyregexp.Guard(`(?i)\b(?:no|without|never) (?:\w+ )?` + accessWords + `|\b(?:not|never) (?:\w+ )?administrators\b`)
	withdrawn  = lazyregexp.Guard(`(?i)\b(?:taken (?:away|back)|withdrawn|removed|revoked) (?:from|for)\b`)
	saysBefore = lazyregexp.Guard(`(?i)\b(?:before|prior|until|first|ahead)\b`)
	saysSince  = lazyregexp.Guard(`(?i)\bsince\b`)
	saysAfter  = lazyregexp.Guard(`(?i)\bafter\b`)
)

// saysNo: a sentence may rule out without a "not".
func saysNo(s *sentence) bool {
	for _, concept := range [...]string{"restrict", "prevent", "avoid", "reject"} {
		if _, ok := s.holds(conceptID(concept)); ok {
			return true
		}
	}
	return false
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// list writes words as "a, b and c".
func list(words []string) string {
	if len(words) > 5 {
		words = append(slices.Clone(words[:5]), "more")
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// quote is the text from one sentence to another as the passage has it, white space
// folded; an item comes with its lead where that is near.
func (c *candidate) quote(from, to int) string {
	start, end := c.sentences[from].start, c.sentences[to].end
	if lead := c.leadOf(&c.sentences[to]); lead.start < start {
		start = lead.start
	}
	return fold(c.text[start:end])
}

// evidence is a reading as a line of a deliverable.
func (r reading) evidence(statement string) api.Evidence {
	p := r.from.Passage
	stanceOf := map[string]string{covered: "supports", partial: "limits", plannedOnly: "plans", denied: "denies", template: "template", conflicting: "conflicts"}
	title := p.DocumentTitle
	if title == "" {
		title = p.Filename
	}
	return api.Evidence{
		ChunkID: p.ChunkID, DocumentID: p.DocumentID, DocumentTitle: title, Filename: p.Filename,
		HeadingPath: append([]string{}, p.HeadingPath...), Locator: p.Locator, Quote: r.quote,
		Score: round(r.cover), SHA256: p.SHA256, Supports: statement, Stance: stanceOf[r.verdict],
	}
}

func round(f float64) float64 { return float64(int(f*1000+0.5)) / 1000 }
