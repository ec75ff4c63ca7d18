package content

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/plan"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/engine/risk"
	"github.com/scf-service/service/internal/prose"
)

// Limits of the story, which keep it about equally long for fifty controls and for a thousand.
const (
	maxKeyRisks          = 10
	maxActionsPerQuarter = 12
	maxQuarters          = 8
	maxProfiles          = 33
)

// Story is what a report tells the client's management: the answer, the risks behind it, and what to do by when. It
// merges findings and plan items, and states how many it omits. All of its contents are either counted in the source
// or quoted from it.
type Story struct {
	Client string `json:"client"`
	// Headline is the answer in a few words; Answer is the answer in three sentences.
	Headline   string    `json:"headline"`
	Answer     []string  `json:"answer"`
	Decision   string    `json:"decision"`
	Posture    Posture   `json:"posture"`
	Trend      *Trend    `json:"trend,omitempty"`
	Risks      []KeyRisk `json:"risks"`
	MinorRisks []string  `json:"minor_risks"` // titles of risks that are not among the key risks
	// minorFindings is the number of findings that lead to them.
	minorFindings int
	// Strongest and Weakest are names of domains; empty if too few were assessed to compare them.
	Strongest string          `json:"strongest"`
	Weakest   string          `json:"weakest"`
	Domains   []DomainProfile `json:"domains"` // weakest first; if Weakest is set, domains that can't be compared are last
	Roadmap   []Quarter       `json:"roadmap"`
	Effort    Effort          `json:"effort"`
	// WithoutOwner is the number of open actions without an owner.
	WithoutOwner int        `json:"without_owner"`
	Appendices   []Appendix `json:"appendices"`
}

// Posture rates the whole assessment, based on the counts of applicable controls.
type Posture struct {
	// Rating is strong, adequate, partial, weak, unproven or not assessed.
	Rating         string   `json:"rating"`
	CompliancePct  *float64 `json:"compliance_pct"`
	Applicable     int      `json:"applicable"`
	Implemented    int      `json:"implemented"`
	Partially      int      `json:"partially_implemented"`
	Planned        int      `json:"planned"`
	NotImplemented int      `json:"not_implemented"`
	NotEvidenced   int      `json:"not_evidenced"`
	Excluded       int      `json:"excluded"`
	Maturity       *float64 `json:"maturity"`
	Target         *float64 `json:"target"`
	Critical       int      `json:"critical"`
	High           int      `json:"high"`
	shownGrave     int      // critical and high findings that the evidence shows
}

// KeyRisk is a business risk with all findings that lead to it.
type KeyRisk struct {
	Number      int          `json:"number"`
	ID          string       `json:"id"`
	Title       string       `json:"title"`
	Severity    api.Severity `json:"severity"` // of the worst finding
	Cause       string       `json:"cause"`
	Event       string       `json:"event"`
	Consequence string       `json:"consequence"`
	// Shown counts the findings shown by the evidence; Unknown counts those with too little evidence.
	Shown    int      `json:"shown"`
	Unknown  int      `json:"unknown"`
	Controls []string `json:"controls"`
	// Includes names the risks that were merged into this one, with the number of their findings.
	Includes []string `json:"includes"`
	// Evidence is up to two quotes that show the risk.
	Evidence []api.Evidence `json:"evidence"`
	// Actions counts the open plan items that reduce the risk, which are due from FirstDue to
	// LastDue. FirstStep, StepDue, Proof and Owner describe the first action, by priority, of those for the worst gaps that
	// the evidence shows, or of all if it shows none.
	Actions     int      `json:"actions"`
	firstAction string   // FirstStep without the part on how to begin
	dateReason  string   // the evidence for the date of the first step; empty if the date is not from evidence
	FirstStep   string   `json:"first_step"`
	Proof       string   `json:"proof"`
	Owner       string   `json:"owner"`
	StepDue     api.Date `json:"step_due"`
	FirstDue    api.Date `json:"first_due"`
	LastDue     api.Date `json:"last_due"`
}

// Effort is an estimate in person-days.
type Effort struct {
	MinDays int `json:"min_days"`
	MaxDays int `json:"max_days"`
}

// effortDays maps each size of effort to person-days.
var effortDays = map[string]Effort{"small": {1, 3}, "medium": {4, 10}, "large": {11, 30}, "extra_large": {31, 60}}

func (e *Effort) add(size string) {
	d := effortDays[size]
	e.MinDays, e.MaxDays = e.MinDays+d.MinDays, e.MaxDays+d.MaxDays
}

// String returns the estimate in the form shown to readers, such as "40 to 110 person-days".
func (e Effort) String() string {
	if e.MaxDays == 0 {
		return "no effort"
	}
	return fmt.Sprintf("%s to %s person-days", prose.GroupThousands(e.MinDays), prose.GroupThousands(e.MaxDays))
}

// Quarter holds the open plan items that are due in a calendar quarter, or those that have no date. Name says which.
type Quarter struct {
	Name   string   `json:"name"`
	End    api.Date `json:"end"`
	Items  int      `json:"items"`
	Effort Effort   `json:"effort"`
	// BySeverity counts the items by severity.
	BySeverity map[api.Severity]int `json:"by_severity"`
	// Actions are the first items by priority; More is the number of further items.
	Actions []Action `json:"actions"`
	More    int      `json:"more"`
}

// Action is an item of the plan.
type Action struct {
	Code     string       `json:"code"`
	Title    string       `json:"title"`
	Severity api.Severity `json:"severity"`
	Controls int          `json:"controls"` // number of controls whose gaps it closes
	Effort   string       `json:"effort"`
	Owner    string       `json:"owner"`
	Due      api.Date     `json:"due"`
	priority int
}

// DomainProfile summarizes the results for a domain of controls.
type DomainProfile struct {
	Code   string                 `json:"code"`
	Name   string                 `json:"name"`
	Counts map[coverageStatus]int `json:"counts"`
	// Applicable is the number of applicable controls, and Score is the percentage of them that is
	// implemented, counting partially implemented ones as half.
	Applicable int      `json:"applicable"`
	Score      float64  `json:"score"`
	Maturity   *float64 `json:"maturity"`
	Target     *float64 `json:"target"`
	// InPlace and Missing are the titles of up to three controls each.
	InPlace    []string `json:"in_place"`
	Missing    []string `json:"missing"`
	NextAction *Action  `json:"next_action,omitempty"`
}

// Appendix is a part of the report that is written to a separate file.
type Appendix struct {
	Letter   string `json:"letter"`
	Title    string `json:"title"`
	Template string `json:"template"`
	Format   string `json:"format"`
	Items    int    `json:"items"`
	Content  string `json:"content"`
	section  SectionID
	filename string
}

// hasStory reports whether the report begins with its story.
func (v *Report) hasStory() bool { return v.Template.Name == TemplateClient || v.isBrief() }

// Story returns the report's story. It is computed on first use.
func (v *Report) Story() *Story {
	if v.story == nil {
		v.story = v.newStory()
	}
	return v.story
}

func (v *Report) newStory() *Story {
	s := &Story{Client: v.Organization.Name, Appendices: v.appendices()}
	s.Posture = v.ratePosture()
	v.addKeyRisks(s)
	v.addDomainProfiles(s)
	v.addRoadmap(s)
	s.Trend = v.newTrend()
	s.Headline = s.writeHeadline()
	s.Answer = v.writeAnswer(s)
	s.Decision = v.writeDecision(s)
	return s
}

// Minimum shares of applicable controls required for each rating of a posture.
const (
	unprovenShare = 0.5
	strongPct     = 85
	adequatePct   = 65
	partialPct    = 40
	postureRule   = "The overall rating is “unproven” if there is too little evidence for half of the measures that apply or more. " +
		"Otherwise it follows from the share of those measures that the evidence shows in place, " +
		"counting half of those partially in place: strong from 85% without a critical or high finding that the evidence shows, " +
		"adequate from 65%, partial from 40%, else weak."
	// A passage is quoted as evidence of a risk if its score is at least minQuoteScore, or minDenialScore if it denies what
	// no other passage affirms and may therefore speak of something else, and if it is not a long row of a record.
	minQuoteScore    = 0.75
	minDenialScore   = 0.8
	maxQuoteLength   = 300 // bytes
	effortAssumption = "Effort is a planning range, not a quotation: small is 1 to 3 person-days, medium 4 to 10, large 11 to 30, " +
		"extra large 31 to 60. It excludes licenses and purchases; an action that asks for evidence includes only collecting it."
)

// ratePosture counts the controls by status and rates the assessment by postureRule.
func (v *Report) ratePosture() (p Posture) {
	all, _ := countControlStatuses(v.SoAItems)
	p.Implemented, p.Partially, p.Planned = all[statusImplemented], all[statusPartly], all[statusPlanned]
	p.NotImplemented, p.NotEvidenced, p.Excluded = all[statusMissing], all[statusNotEvidenced], all[statusExcluded]
	p.Applicable = countApplicable(v.SoAItems)
	p.CompliancePct = v.Summary.CompliancePct
	if m := v.MaturitySummary; m != nil {
		p.Maturity, p.Target = m.Overall.Mean, m.Overall.TargetMean
	}
	for i := range v.Findings {
		f := &v.Findings[i]
		switch f.Severity {
		case api.SeverityCritical:
			p.Critical++
		case api.SeverityHigh:
			p.High++
		}
		if f.EvidencedRank() > 0 && f.Result != api.Met && isGrave(f.Severity) {
			p.shownGrave++
		}
	}
	score := weightedShare(all, p.Applicable)
	switch {
	case v.SoA == nil || p.Applicable == 0:
		p.Rating = "not assessed"
	case float64(p.NotEvidenced+all[statusNotAssessed]) >= unprovenShare*float64(p.Applicable):
		p.Rating = "unproven"
	case score >= strongPct && p.shownGrave == 0:
		p.Rating = "strong"
	case score >= adequatePct:
		p.Rating = "adequate"
	case score >= partialPct:
		p.Rating = "partial"
	default:
		p.Rating = "weak"
	}
	return p
}

// weightedShare returns the percentage of implemented controls, counting partially implemented ones as half.
func weightedShare(counts map[coverageStatus]int, applicable int) float64 {
	return 100 * (float64(counts[statusImplemented]) + float64(counts[statusPartly])/2) / float64(max(applicable, 1))
}

// unprovenRisk is the ID of the risk that the company can't prove what it does.
const unprovenRisk = "unproven"

// addKeyRisks groups the findings into risks by theme. Themes for which the evidence shows no gap are merged into
// a single risk: that the company can't prove what it does.
func (v *Report) addKeyRisks(s *Story) {
	type group struct {
		theme  risk.Theme
		at     []int // indexes of findings, worst first
		points float64
		shown  int
	}
	groups := map[string]*group{}
	for i := range v.Findings {
		f := &v.Findings[i]
		if f.Result == api.Met || f.Result == api.ResultNotApplic {
			continue
		}
		t := risk.ForControl(f.ControlCode)
		g := groups[t.ID]
		if g == nil {
			g = &group{theme: t}
			groups[t.ID] = g
		}
		g.at = append(g.at, i)
		g.points += f.SeverityPoints
		g.shown += f.EvidencedRank()
	}
	var all, merged []*group
	unproven := &group{theme: risk.Theme{
		ID: unprovenRisk, Title: "Security measures without evidence",
		Event: "measures that everyone relies on may not exist or may not work",
	}}
	for _, t := range risk.Themes() {
		switch g := groups[t.ID]; {
		case g == nil:
		case g.shown == 0:
			unproven.at = append(unproven.at, g.at...)
			merged = append(merged, g)
		default:
			all = append(all, g)
		}
	}
	rank := func(g *group) int { return slices.Index(api.Severities, v.Findings[g.at[0]].Severity) }
	slices.SortStableFunc(all, func(a, b *group) int { return cmp.Or(rank(a)-rank(b), cmp.Compare(b.points, a.points)) })
	if len(unproven.at) > 0 {
		slices.Sort(unproven.at)
		at, larger := min(len(all), maxKeyRisks-1), "the risks above"
		if s.Posture.Rating == "unproven" {
			at, larger = 0, "the other risks"
		}
		if len(all) == 0 {
			larger = "risks"
		}
		unproven.theme.Consequence = larger +
			" may be larger than they appear, and an auditor, customer or insurer may not accept measures without evidence"
		all = slices.Insert(all, at, unproven)
	}
	s.Risks, s.MinorRisks = []KeyRisk{}, []string{}
	quoted := map[string]bool{}
	for n, g := range all {
		if n >= maxKeyRisks {
			s.MinorRisks = append(s.MinorRisks, g.theme.Title)
			s.minorFindings += len(g.at)
			continue
		}
		r := v.newKeyRisk(len(s.Risks)+1, g.theme, g.at, quoted)
		if g == unproven {
			for _, m := range merged {
				r.Includes = append(r.Includes, fmt.Sprintf("%s (%s)", m.theme.Title, prose.Count(len(m.at), "measure", "measures")))
			}
		}
		s.Risks = append(s.Risks, r)
	}
}

// newKeyRisk describes a risk based on its findings, whose indexes are sorted worst first. It adds the quotes of
// the risk to quoted and skips quotes that are already there.
func (v *Report) newKeyRisk(number int, t risk.Theme, at []int, quoted map[string]bool) KeyRisk {
	r := KeyRisk{
		Number: number, ID: t.ID, Title: t.Title, Event: t.Event, Consequence: t.Consequence, Severity: v.Findings[at[0]].Severity,
		Evidence: []api.Evidence{}, Includes: []string{},
	}
	var missing, planned, partly, unknown []string
	documents := map[string]bool{}
	var first, firstShown *api.POAMItem
	var last api.Date
	var worstShown api.Severity
	seen := map[*api.POAMItem]bool{}
	for _, i := range at {
		f := &v.Findings[i]
		r.Controls = append(r.Controls, f.ControlCode)
		name := wording.OrDefault(f.ControlTitle, f.ControlCode)
		switch {
		case f.EvidencedRank() == 0:
			r.Unknown++
			unknown = append(unknown, name)
		case f.Result == api.PartiallyMet:
			partly = append(partly, name)
		case f.Status == api.Planned:
			planned = append(planned, name)
		default:
			missing = append(missing, name)
		}
		if len(r.Evidence) < 2 {
			if e := adverseQuote(f, documents, quoted); e != nil {
				documents[e.DocumentID+e.Filename], quoted[e.Quote] = true, true
				r.Evidence = append(r.Evidence, *e)
			}
		}
		it := v.planByControl[f.ControlCode]
		if it == nil || !it.IsOpen() {
			continue
		}
		if f.EvidencedRank() > 0 && (firstShown == nil || f.Severity == worstShown && it.Priority < firstShown.Priority) {
			firstShown, worstShown = it, f.Severity
		}
		if seen[it] {
			continue
		}
		seen[it] = true
		r.Actions++
		if first == nil || it.Priority < first.Priority {
			first = it
		}
		last = max(last, it.CurrentDueDate())
		if due := it.CurrentDueDate(); due != "" && (r.FirstDue == "" || due < r.FirstDue) {
			r.FirstDue = due
		}
	}
	r.Shown = len(missing) + len(planned) + len(partly)
	r.Cause = describeRiskCause(missing, planned, partly, unknown)
	if len(r.Evidence) == 0 {
		if e := v.firstDenial(at, quoted); e != nil {
			quoted[e.Quote] = true
			r.Evidence = append(r.Evidence, *e)
		}
	}
	if first = cmp.Or(firstShown, first); first != nil {
		r.firstAction, r.Owner, r.StepDue, r.LastDue = actionTitle(first), ownerName(first), first.CurrentDueDate(), last
		r.FirstStep, r.dateReason = r.firstAction, wording.OrEmpty(first.Resources)
		if step := plan.FirstStep(first); step != "" {
			r.FirstStep += ". To begin, " + step
		}
		if len(first.ExpectedEvidence) > 0 {
			r.Proof = first.ExpectedEvidence[0]
		}
	}
	return r
}

// adverseQuote returns the first passage that clearly shows the gap and is neither from a document in documents nor
// itself in quoted, or nil if there is none. A passage about plans shows a gap only if the whole measure is still
// planned, and if the clause about the measure is the one that is planned.
func adverseQuote(f *api.Finding, documents, quoted map[string]bool) *api.Evidence {
	for i := range f.Evidence {
		e := &f.Evidence[i]
		adverse := (e.Stance == "denies" && e.Score >= minDenialScore || e.Stance == "conflicts") && !deniesOnlyInSubject(e.Quote) ||
			e.Stance == "plans" && f.Status == api.Planned && plansMatchingClause(e)
		if adverse && e.Score >= minQuoteScore && len(e.Quote) <= maxQuoteLength && !documents[e.DocumentID+e.Filename] && !quoted[e.Quote] {
			return e
		}
	}
	return nil
}

// firstDenial returns the passage on which the worst of the given findings rests if it is critical or high and not in
// place, or nil if there is none. It is shown if no clearer passage is, so that readers can check what is said to be missing.
func (v *Report) firstDenial(at []int, quoted map[string]bool) *api.Evidence {
	for _, i := range at {
		f := &v.Findings[i]
		for k := range f.Evidence {
			e := &f.Evidence[k]
			denied := f.Status == api.NotImplemented && isGrave(f.Severity) && e.Stance == "denies" && !deniesOnlyInSubject(e.Quote)
			if denied && e.Score >= minQuoteScore && len(e.Quote) <= maxQuoteLength && !quoted[e.Quote] {
				return e
			}
		}
	}
	return nil
}

// describeRiskCause returns a sentence that describes what is missing. The lists contain titles, ordered from worst
// to best.
func describeRiskCause(missing, planned, partly, unknown []string) string {
	var parts []string
	add := func(all []string, one, many string, named int) {
		if len(all) == 0 {
			return
		}
		if len(parts) == 0 {
			one, many = "measure "+one, "measures "+many
		}
		s := prose.Count(len(all), one, many)
		if named > 0 {
			s += " (" + quoteFirstNames(all, named) + ")"
		}
		parts = append(parts, s)
	}
	add(missing, "is not in place", "are not in place", 2)
	add(planned, "is only planned", "are only planned", 2)
	add(partly, "is only partly in place", "are only partly in place", 2)
	unknownNames := 0
	if len(parts) == 0 {
		unknownNames = 3
	}
	add(unknown, "could not be judged because evidence is missing", "could not be judged because evidence is missing", unknownNames)
	return prose.JoinAnd(parts)
}

// quoteFirstNames returns the first n names in quotation marks, followed by the number of remaining names.
func quoteFirstNames(all []string, n int) string {
	var out []string
	for _, s := range all[:min(n, len(all))] {
		out = append(out, "“"+strings.TrimRight(s, ".")+"”")
	}
	return strings.Join(out, ", ") + formatMore(len(all)-n)
}

// formatMore returns the words that end a list and state how many more entries there are, or "" if n is not
// positive.
func formatMore(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %s more", prose.GroupThousands(n))
}

// actionTitle returns a short description of what a plan item requires: of a text that a user wrote, the first sentence.
func actionTitle(it *api.POAMItem) string {
	if it.IsManual("corrective_action") {
		return strings.TrimSuffix(FirstSentence(it.CorrectiveAction), " …")
	}
	return it.ShortAction()
}

// addDomainProfiles describes each domain that has applicable controls, weakest first. If domains can be compared,
// it sets the strongest and the weakest one, and puts those that can't be compared last.
func (v *Report) addDomainProfiles(s *Story) {
	_, counts := countControlStatuses(v.SoAItems)
	at := map[string]int{}
	for i := range v.SoAItems {
		it := &v.SoAItems[i]
		if !it.Applicability.IsApplicable() {
			continue
		}
		n, seen := at[it.DomainCode]
		if !seen {
			n = len(s.Domains)
			at[it.DomainCode] = n
			s.Domains = append(s.Domains, DomainProfile{
				Code: it.DomainCode, Name: v.domainName(it.DomainCode), Counts: counts[it.DomainCode],
				InPlace: []string{}, Missing: []string{},
			})
		}
		d := &s.Domains[n]
		d.Applicable++
		if name := wording.OrDefault(it.ControlTitle, it.ControlCode); it.ImplementationStatus == api.Implemented && len(d.InPlace) < 3 {
			d.InPlace = append(d.InPlace, name)
		}
	}
	for i := range v.Findings {
		f := &v.Findings[i]
		if n, ok := at[f.DomainCode]; ok && f.Result != api.Met && len(s.Domains[n].Missing) < 3 {
			s.Domains[n].Missing = append(s.Domains[n].Missing, wording.OrDefault(f.ControlTitle, f.ControlCode))
		}
	}
	for i := range v.POAMItems { // by priority
		it := &v.POAMItems[i]
		if n, ok := at[it.DomainCode]; ok && it.IsOpen() && s.Domains[n].NextAction == nil {
			a := newAction(it)
			s.Domains[n].NextAction = &a
		}
	}
	if m := v.MaturitySummary; m != nil {
		for _, d := range m.Domains {
			if n, ok := at[d.DomainCode]; ok {
				s.Domains[n].Maturity, s.Domains[n].Target = d.Mean, d.TargetMean
			}
		}
	}
	for i := range s.Domains {
		s.Domains[i].Score = weightedShare(s.Domains[i].Counts, s.Domains[i].Applicable)
	}
	slices.SortStableFunc(s.Domains, func(a, b DomainProfile) int {
		return cmp.Or(cmp.Compare(a.Score, b.Score), b.Applicable-a.Applicable, cmp.Compare(a.Code, b.Code))
	})
	var known, rest []DomainProfile
	for _, d := range s.Domains {
		if d.isComparable() {
			known = append(known, d)
		} else {
			rest = append(rest, d)
		}
	}
	if n := len(known); n >= 2 && known[0].Score < known[n-1].Score {
		s.Weakest, s.Strongest = known[0].Name, known[n-1].Name
		s.Domains = append(known, rest...)
	}
}

// minComparedControls is the minimum number of applicable controls that a domain must have to be named as the
// strongest or weakest.
const minComparedControls = 3

// isComparable reports whether a domain can be called strong or weak. It can if it has enough controls, and if there
// is evidence for at least half of them.
func (d *DomainProfile) isComparable() bool {
	return d.Applicable >= minComparedControls && 2*d.Counts[statusNotEvidenced] <= d.Applicable
}

// addRoadmap assigns the open plan items to the calendar quarters in which they are due.
func (v *Report) addRoadmap(s *Story) {
	s.Roadmap = []Quarter{}
	const undated = "No date yet"
	byName := map[string]*Quarter{}
	var order []*Quarter
	for _, it := range v.openItemsByDueDate() {
		name, end := undated, api.Date("")
		if t, ok := parseDate(it.CurrentDueDate()); ok {
			name, end = quarterOf(t)
		}
		q := byName[name]
		if q == nil && len(order) == maxQuarters { // the last quarter also contains all later items
			q = order[maxQuarters-1]
			if end > q.End {
				q.End = end
			}
			if !strings.HasSuffix(q.Name, " and later") {
				q.Name += " and later"
			}
			byName[name] = q
		}
		if q == nil {
			q = &Quarter{Name: name, End: end, BySeverity: map[api.Severity]int{}, Actions: []Action{}}
			byName[name], order = q, append(order, q)
		}
		q.Items++
		q.Effort.add(it.Effort)
		s.Effort.add(it.Effort)
		q.BySeverity[it.Severity]++
		if hasNoOwner(it) {
			s.WithoutOwner++
		}
		q.Actions = append(q.Actions, newAction(it))
	}
	for _, q := range order {
		slices.SortStableFunc(q.Actions, func(a, b Action) int { return a.priority - b.priority })
		if n := len(q.Actions) - maxActionsPerQuarter; n > 0 {
			q.Actions, q.More = q.Actions[:maxActionsPerQuarter], n
		}
		slices.SortStableFunc(q.Actions, func(a, b Action) int { return cmp.Compare(a.Due, b.Due) })
		s.Roadmap = append(s.Roadmap, *q)
	}
}

func newAction(it *api.POAMItem) Action {
	return Action{
		Code: it.POAMCode, Title: actionTitle(it), Severity: it.Severity, Controls: 1 + len(it.AlsoCloses), Effort: it.Effort,
		Owner: ownerName(it), Due: it.CurrentDueDate(), priority: it.Priority,
	}
}

func hasNoOwner(it *api.POAMItem) bool { return strings.TrimSpace(wording.OrEmpty(it.Owner)) == "" }

// quarterOf returns the name of the calendar quarter that contains t, and its last day.
func quarterOf(t time.Time) (name string, end api.Date) {
	q := (int(t.Month()) - 1) / 3
	last := time.Date(t.Year(), time.Month(3*q+4), 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, -1)
	return fmt.Sprintf("Q%d %d", q+1, t.Year()), api.DateOf(last)
}

// appendices lists the appendices, which together contain every item.
func (v *Report) appendices() (out []Appendix) {
	for _, a := range api.ReportAppendices {
		x := Appendix{Letter: a.Letter, Title: a.Title, Template: a.Template, Format: a.Format, filename: a.Filename()}
		switch a.Template {
		case TemplateSoA:
			x.Items, x.section = len(v.SoAItems), SectionSoA
			x.Content = "all measures with applicability, reasons, status and quoted evidence, and the document register"
		case TemplateGapAnalysis:
			x.Items, x.section = len(v.Findings), SectionGap
			x.Content = "all findings with condition, cause, effect, recommendation and quotes"
		case TemplatePOAM:
			x.Items, x.section = len(v.POAMItems), SectionPOAM
			x.Content = "all actions with owner, effort, milestones, acceptance criteria and the evidence required as proof"
		case TemplateMaturity:
			x.Items, x.section = len(v.Scores), SectionMaturity
			x.Content = "the maturity level, target and rationale of all measures"
		}
		out = append(out, x)
	}
	return out
}

// appendixName returns the name of the appendix with the given template, such as "Appendix B".
func (s *Story) appendixName(template string) string {
	for _, a := range s.Appendices {
		if a.Template == template {
			return "Appendix " + a.Letter
		}
	}
	return "the full report"
}
