package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/engine/judge/text"
	"github.com/scf-service/service/internal/lazyregexp"
)

// BudgetQueries are the search queries for passages about when money will be available.
var BudgetQueries = []string{
	"no budget before next year", "no spending or purchases until a later quarter", "budget is only available from a date", "spending freeze",
}

// Budget is the first day when money is available, for security or in general, according to a current document.
type Budget struct {
	From     api.Date
	Sentence string
	Source   judge.Passage
}

// FindBudget returns the budget stated in the passages, or nil if they state none. Only sentences about money in
// general are used, not sentences about a single purchase. If documents differ, the newest one takes precedence;
// if they are equally new, the later date does. Dates that have passed and dates more than maxStatedYears in the
// future are ignored.
func FindBudget(passages []judge.Passage, today api.Date) *Budget {
	now, err := today.Time()
	if err != nil {
		return nil
	}
	limit := api.DateOf(now.AddDate(maxStatedYears, 0, 0))
	var best *Budget
	for i := range passages {
		for _, s := range text.Sentences(passages[i].Text) {
			from := budgetStart(s)
			if from == "" || from <= today || from > limit {
				continue
			}
			if b := (&Budget{From: from, Sentence: s, Source: passages[i]}); best == nil || b.outweighs(best) {
				best = b
			}
		}
	}
	return best
}

// outweighs reports whether b takes precedence over o.
func (b *Budget) outweighs(o *Budget) bool {
	date := func(b *Budget) api.Date {
		if d := b.Source.EffectiveDate; d != nil {
			return *d
		}
		return ""
	}
	return cmp.Or(
		cmp.Compare(date(b), date(o)), cmp.Compare(b.From, o.From), strings.Compare(o.Source.Filename, b.Source.Filename),
		strings.Compare(o.Source.ChunkID, b.Source.ChunkID),
	) > 0
}

const (
	moneyWords = `(?:budgets?|fund(?:s|ing)|money|spend(?:ing)?|expenditures?|expenses|purchas(?:e|es|ing)|procurements?|investments?)`
	// generalPurpose matches the stated purpose of the money in sentences that are not about a single purchase. It matches
	// "IT", but not "it", which refers to a single thing named before.
	generalPurpose = `(?:\s+(?:is|are|will|be|of|on|for|in|any|all|the|new|additional|further|extra|other|information|cyber|` +
		`cyber-?security|security|(?-i:IT)|ict|tools?|tooling|products?|software|services?|technology|projects?|measures?|improvements?|` +
		`controls?|work|purchases?|spending|money|or|and|available|approved|planned|allocated|foreseen|released|expected|possible|` +
		`allowed|permitted|granted|spent|frozen|suspended|stopped|paused|hold|made|can|may|shall|must|there))*`
	// startDate matches the date from which money is available. Its groups are: "end of", the quarter as a figure, the
	// quarter as a word, the second half, an ISO date, the day, the month, a day after the month, and the year.
	startDate = `(?:the\s+)?(?:(end)\s+of\s+)?(?:(?:the\s+)?(?:beginning|start)\s+of\s+)?(?:the\s+)?(?:(?:budget|calendar|year)\s+)*` +
		`(?:Q([1-4])[\s/-]*(?:of\s+)?|(first|second|third|fourth)\s+quarter\s+(?:of\s+)?|(second)\s+half\s+of\s+|` +
		`(20\d\d-\d\d-\d\d)\b|(?:(\d{1,2})\s+)?(` + text.MonthNames + `)\s+(?:(\d{1,2}),\s+)?)?(20\d\d)?\b`
)

// budgetPatterns match sentences that state when money becomes available. Each pattern ends with startDate.
var budgetPatterns = []*lazyregexp.Prefiltered{
	lazyregexp.NewPrefiltered(`(?i)\b(?:no|not\s+any|neither)(?:\s+(?:new|additional|further|extra|security|it|information))*\s+` +
		moneyWords + generalPurpose + `\s+(?:before|until|till|prior\s+to|earlier\s+than)\s+` + startDate),
	lazyregexp.NewPrefiltered(`(?i)\b` + moneyWords + generalPurpose +
		`\s+only\s+(?:available\s+)?(?:from|as\s+of|after|starting(?:\s+in)?|in)\s+` + startDate),
	lazyregexp.NewPrefiltered(`(?i)\b` + moneyWords + generalPurpose +
		`\s+(?:not\s+(?:be\s+)?(?:available|approved|released|possible|allowed|permitted|planned)|` +
		`(?:be\s+)?(?:frozen|suspended|stopped|paused|on\s+hold))` +
		`\s+(?:before|until|till|prior\s+to|earlier\s+than)\s+` + startDate),
	lazyregexp.NewPrefiltered(`(?i)\b(?:budget|spending|purchasing|procurement|hiring and spending)\s+freeze` + generalPurpose +
		`\s+until\s+` + startDate),
	lazyregexp.NewPrefiltered(`(?i)\bnothing\s+(?:can|may|will|must|shall)\s+be\s+(?:bought|purchased|spent|procured|ordered)` +
		generalPurpose + `\s+(?:before|until|till)\s+` + startDate),
}

var (
	// purchasePattern matches the text after a date in sentences about a single purchase, such as "before 2027 for
	// the new SIEM".
	purchasePattern = lazyregexp.New(`(?i)^,?\s*(?:for|on|to)\s+(\S.*)`)
	// noRulePattern matches sentences that don't state a lack of money.
	noRulePattern     = lazyregexp.New(`(?i)^\W*(?:if|whether|should|unless|when|in case)\b|\?\s*$`)
	onlyGeneralPhrase = lazyregexp.New(`(?i)^` + generalPurpose + `\W*$`)
)

// budgetStart returns the first day when money is available according to a sentence, or "" if the sentence doesn't
// state one.
func budgetStart(sentence string) api.Date {
	for _, p := range budgetPatterns {
		at := p.FindStringSubmatchIndex(sentence)
		if at == nil || noRulePattern.MatchString(sentence) {
			continue
		}
		if m := purchasePattern.FindStringSubmatch(sentence[at[1]:]); m != nil && !onlyGeneralPhrase.MatchString(" "+m[1]) {
			continue
		}
		group := func(n int) string {
			if at[2*n] < 0 {
				return ""
			}
			return sentence[at[2*n]:at[2*n+1]]
		}
		if d := firstDay(group); d != "" {
			return d
		}
	}
	return ""
}

// firstDay returns the day that the groups of startDate describe: the first day of a period or, if the groups describe
// its end, the day after it.
func firstDay(group func(n int) string) api.Date {
	if iso := api.Date(group(5)); iso != "" {
		if _, err := iso.Time(); err != nil {
			return ""
		}
		return iso
	}
	year, err := strconv.Atoi(group(9))
	if err != nil {
		return ""
	}
	month, months, day := 1, 12, 1
	switch {
	case group(2) != "":
		q, _ := strconv.Atoi(group(2))
		month, months = 3*q-2, 3
	case group(3) != "":
		month, months = 3*parseOrdinal(group(3))-2, 3
	case group(4) != "":
		month, months = 7, 6
	case group(7) != "":
		t, err := time.Parse("January", group(7)) // letter case doesn't matter
		if err != nil {
			return ""
		}
		month, months = int(t.Month()), 1
		if n, err := strconv.Atoi(cmp.Or(group(6), group(8))); err == nil && n <= 31 {
			day = n
		}
	}
	if group(1) != "" {
		month += months
	}
	return api.DateOf(time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC))
}

// moneyDomains are the domains where implementing a measure usually requires products, services or construction
// work.
var moneyDomains = map[string]bool{
	"AST": true, "BCD": true, "CAP": true, "CFG": true, "CLD": true, "CRY": true, "DCH": true, "EMB": true, "END": true, "IAC": true,
	"MDM": true, "MON": true, "NET": true, "PES": true, "SEA": true, "TDA": true, "THR": true, "VPM": true, "WEB": true,
}

// needsMoney reports whether the action for a finding usually requires money in addition to work. That is the case if
// it implements a sizable measure in one of the moneyDomains. Writing rules, collecting evidence and correcting
// existing measures requires only work.
func needsMoney(f *api.Finding) bool {
	prefix, _, _ := strings.Cut(f.ControlCode, "-")
	action := chooseActionType(*f)
	return action == "implement" && moneyDomains[prefix] && estimateEffort(*f, action) != "small"
}

// DelayFor returns the first day on which the action for a finding can be carried out. It returns "" if the action
// requires no money, if a user or the evidence set a date for it, or if the law requires an earlier date.
func (b *Budget) DelayFor(f *api.Finding, own Basis) api.Date {
	if b == nil || own.SetByUser || own.Stated != "" || !needsMoney(f) || legalDays(f.RequirementCodes) <= maxCMMCDays {
		return ""
	}
	return b.From
}

// Delay makes the time allowed for an item start on the day when money becomes available, and cites the source of
// that date.
func (b *Budget) Delay(it *api.POAMItem, today api.Date) {
	from, err := b.From.Time()
	if err != nil || it.DueDate == "" {
		return
	}
	it.DueDate = lastWorkdayWithin(from, daysBetween(today, it.DueDate))
	respaceMilestones(it, b.From)
	note := fmt.Sprintf(
		"This item needs a budget that is not available before %s, according to %s: “%s”. To override this, set a due date.",
		b.From, judge.FormatEvidenceLocation(&api.Evidence{
			DocumentTitle: b.Source.DocumentTitle, Filename: b.Source.Filename, Locator: b.locator(), HeadingPath: b.Source.HeadingPath,
		}),
		text.Shorten(strings.TrimRight(text.CollapseSpace(b.Sentence), "."), 240),
	)
	it.Resources = &note
}

// locator returns the location of the sentence: the line of the sentence if the passage keeps the document's
// lines, or else the location of the passage.
func (b *Budget) locator() api.Locator {
	l, passage := b.Source.Locator, b.Source.Text
	if at := strings.Index(passage, b.Sentence); at >= 0 && l.LineStart > 0 && strings.Count(passage, "\n") == l.LineEnd-l.LineStart {
		l.LineStart += strings.Count(passage[:at], "\n")
		l.LineEnd = l.LineStart
	}
	return l
}

// respaceMilestones spreads an item's milestones between the day when money becomes available and the due date.
// The first milestone, which is about planning the work, is due by the day when money becomes available.
func respaceMilestones(it *api.POAMItem, from api.Date) {
	start, err := from.Time()
	if err != nil {
		return
	}
	days := daysBetween(from, it.DueDate)
	it.Milestones = slices.Clone(it.Milestones)
	for k, m := range milestoneTemplates[it.ActionType] {
		if k >= len(it.Milestones) {
			break
		}
		if k == 0 {
			it.Milestones[k].DueDate = min(it.Milestones[k].DueDate, lastWorkdayWithin(start, 0))
			continue
		}
		it.Milestones[k].DueDate = min(lastWorkdayWithin(start, max(1, days*m.percent/100)), it.DueDate)
	}
}
