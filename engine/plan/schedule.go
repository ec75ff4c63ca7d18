package plan

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge/text"
	"github.com/scf-service/service/internal/lazyregexp"
)

// Basis holds what determines the order and the dates of a plan item, in addition to the item itself.
type Basis struct {
	// Points are the severity points of its finding.
	Points float64
	// Stated is the date that the evidence states for the work; empty if it states none.
	Stated api.Date
	// SetByUser is set if a user gave the due date.
	SetByUser bool
	// NotBefore is the first day on which money can be spent on the work; empty if it needs none or there is no limit.
	NotBefore api.Date
}

// isLate reports whether the evidence makes it impossible to do the work earlier.
func (b Basis) isLate() bool { return b.Stated != "" || b.NotBefore != "" }

// NewDueDateBasis returns the Basis for a finding's plan item.
func NewDueDateBasis(f *api.Finding, today api.Date) Basis {
	b := Basis{Points: f.SeverityPoints, SetByUser: f.DueDate != nil}
	if !b.SetByUser {
		b.Stated, _ = statedTiming(f, today)
	}
	return b
}

// window holds the first and the last day, counted from today, on which items of a severity are due.
type window struct{ first, last int }

var windows = map[api.Severity]window{
	api.SeverityCritical: {7, 30}, api.SeverityHigh: {21, 90}, api.SeverityMedium: {45, 180}, api.SeverityLow: {90, 365},
	api.SeverityInformational: {90, 365},
}

// maxCMMCDays is the number of days within which 32 CFR 170.21 requires the items of a plan to be closed.
const maxCMMCDays = 180

// daysAllowedFor returns the days within which an item is due. Evidence has to be collected in half the usual time,
// because it shows what else has to be done.
func daysAllowedFor(severity api.Severity, action string, codes api.RequirementCodes) window {
	w := cmp.Or(windows[severity], windows[api.SeverityLow])
	if action == "collect_evidence" {
		w = window{w.first / 2, w.last / 2}
	}
	w.last = min(w.last, legalDays(codes))
	return w
}

// legalDays returns the number of days within which the law requires an item to be closed, or a number larger than all
// others if it doesn't.
func legalDays(codes api.RequirementCodes) int {
	for framework, all := range codes {
		if slices.ContainsFunc(all, func(code string) bool { return parseCMMCLevel2Requirement(framework, code) != "" }) {
			return maxCMMCDays
		}
	}
	return math.MaxInt
}

// effortWeights are the relative amounts of work, used to spread due dates.
var effortWeights = map[string]int{"small": 1, "medium": 4, "large": 10, "extra_large": 20}

// leastDays are the days that work of an effort takes at least, from today, when it is done beside other work.
var leastDays = map[string]int{"medium": 14, "large": 28, "extra_large": 56}

// assignDueDates spreads the due dates of items of the same severity over the days allowed for it, in their order and
// by their effort, and postpones items if the pace of the plan would be too fast. Dates that a user set or the
// evidence states are kept.
func assignDueDates(items []api.POAMItem, today api.Date, basis map[string]Basis) {
	now, err := today.Time()
	if err != nil {
		return
	}
	type group struct {
		severity api.Severity
		window   window
		delay    int // days from today until money can be spent
	}
	total, done := map[group]int{}, map[group]int{}
	groupOf := func(it *api.POAMItem) (g group, ok bool) {
		b := basis[it.FindingID]
		g = group{it.Severity, daysAllowedFor(it.Severity, it.ActionType, it.RequirementCodes), daysBetween(today, b.NotBefore)}
		return g, !b.SetByUser && b.Stated == "" && it.Status == "open"
	}
	for i := range items {
		if g, ok := groupOf(&items[i]); ok {
			total[g] += effortWeights[items[i].Effort]
		}
	}
	for i := range items {
		g, ok := groupOf(&items[i])
		if !ok {
			continue
		}
		done[g] += effortWeights[items[i].Effort]
		w := g.window
		days := w.first + (w.last-w.first)*done[g]/max(total[g], 1)
		days = max(days, min(leastDays[items[i].Effort], w.last))
		advanceDueDate(&items[i], today, lastFridayWithin(now, g.delay+days))
	}
	limitPace(items, now, func(it *api.POAMItem) (lastDay int, ok bool) {
		g, ok := groupOf(it)
		return g.delay + latestDay(g.severity, it.RequirementCodes), ok
	})
}

// A plan is paced so that a few people can carry it out: the total weight of the items due by any given day is at most
// minWeeklyWeight, or about 12 person-days, for each week until then. The pace is faster if the plan would otherwise
// take more than planWeeks, or an item more than latestDay.
const (
	minWeeklyWeight = 6
	planWeeks       = 78
)

// latestDay returns the last day, counted from today, to which limitPace may postpone an item. It is twice the time
// allowed for the item's severity, but critical items are not postponed beyond that time, and no item beyond what the
// law allows.
func latestDay(severity api.Severity, codes api.RequirementCodes) int {
	last := cmp.Or(windows[severity], windows[api.SeverityLow]).last
	if severity != api.SeverityCritical {
		last *= 2
	}
	return min(last, legalDays(codes))
}

// limitPace postpones items, in the order of their due dates, until the pace of the plan is acceptable. Items for
// which lastDay returns false have fixed dates; they are neither moved nor counted.
func limitPace(items []api.POAMItem, now time.Time, lastDay func(*api.POAMItem) (int, bool)) {
	type paced struct {
		*api.POAMItem
		weight, last int
	}
	var all []paced
	for i := range items {
		if last, ok := lastDay(&items[i]); ok {
			all = append(all, paced{&items[i], effortWeights[items[i].Effort], last})
		}
	}
	slices.SortStableFunc(all, func(a, b paced) int { return a.last - b.last })
	done, daily := 0, float64(minWeeklyWeight)/7
	for _, it := range all {
		done += it.weight
		daily = max(daily, float64(done)/float64(min(it.last, 7*planWeeks)))
	}
	slices.SortStableFunc(all, func(a, b paced) int { return strings.Compare(string(a.DueDate), string(b.DueDate)) })
	done = 0
	for _, it := range all {
		done += it.weight
		if due := lastFridayWithin(now, min(int(float64(done)/daily), it.last)); due > it.DueDate {
			postponeDueDate(it.POAMItem, due)
		}
	}
}

// lastFridayWithin returns the last Friday that is at most the given number of days after t, except for those around
// the turn of the year. If there is none, it returns the last working day in that period.
func lastFridayWithin(t time.Time, days int) api.Date {
	for back := range min(21, days) {
		d := t.AddDate(0, 0, days-back)
		holidays := d.Month() == time.December && d.Day() > 23 || d.Month() == time.January && d.Day() < 3
		if d.Weekday() == time.Friday && !holidays {
			return api.DateOf(d)
		}
	}
	return lastWorkdayWithin(t, days)
}

// postponeDependents postpones items whose prerequisite has a date from the evidence or waits for money, so that no
// item is due before its prerequisite can be done. Items that only collect evidence are not moved.
func postponeDependents(items []api.POAMItem, waits [][]int, basis map[string]Basis) {
	for i := range items {
		for _, w := range waits[i] {
			due, free := items[w].DueDate, !basis[items[i].FindingID].SetByUser && items[i].ActionType != "collect_evidence"
			if basis[items[w].FindingID].isLate() && free && due > items[i].DueDate {
				postponeDueDate(&items[i], due)
			}
		}
	}
}

// postponeDueDate postpones an item to due, and its milestones by the same number of days.
func postponeDueDate(it *api.POAMItem, due api.Date) {
	days := daysBetween(it.DueDate, due)
	it.DueDate = due
	it.Milestones = slices.Clone(it.Milestones)
	for k := range it.Milestones {
		if at, err := it.Milestones[k].DueDate.Time(); err == nil {
			it.Milestones[k].DueDate = min(lastWorkdayWithin(at, days), due)
		}
	}
}

// maxStatedYears is how many years in the future a date in the evidence may be to count.
const maxStatedYears = 3

// budgetDays is the number of days between the date when the budget becomes available and the due
// date of the work.
const budgetDays = 90

var (
	statedDatePattern = lazyregexp.New(
		`(?i)\b(20\d\d-\d\d-\d\d)\b|\b(\d{1,2}) (` + text.MonthNames + `) (20\d\d)\b|\b(` + text.MonthNames + `) (\d{1,2}), (20\d\d)\b|` +
			`\bQ([1-4])[ /-]?(20\d\d)\b|\b(first|second|third|fourth) quarter (?:of )?(20\d\d)\b|` +
			`\b(?:by|in|until|end of|during|before the end of) (?:(?:late|early|mid) )?(` + text.MonthNames + `) (20\d\d)\b`,
	)
	noMoneyPattern = lazyregexp.New(
		`(?i)\b(?:no|not|without|lacks?)\b[^.;\n]{0,60}\b(?:budget(?:ed)?|fund(?:s|ing|ed)|money|resources|start\w*|begin\w*|before)\b` +
			`[^.;\n]{0,30}\b(?:before|until|earlier than) (?:the (?:year|budget) )?(?:Q([1-4])[ /-]?)?(20\d\d)\b`,
	)
)

// statedTiming returns the date by which the missing work will be done according to the finding's evidence, and the
// passage that states it. If the evidence says that there is no budget before a date, the work is due a quarter after
// that date. Dates that have passed and dates in the far future don't count. If the passages state several dates, the
// last one counts.
func statedTiming(f *api.Finding, today api.Date) (due api.Date, from *api.Evidence) {
	now, err := today.Time()
	if err != nil {
		return "", nil
	}
	limit := api.DateOf(now.AddDate(maxStatedYears, 0, 0))
	for i := range f.Evidence {
		e := &f.Evidence[i]
		var all []api.Date
		if e.Stance == "plans" {
			all = datesStatedIn(e.Quote)
		}
		for _, m := range noMoneyPattern.FindAllStringSubmatch(e.Quote, -1) {
			quarter, _ := strconv.Atoi(m[1])
			year, _ := strconv.Atoi(m[2])
			start := time.Date(year, time.Month(3*max(quarter-1, 0)+1), 1, 0, 0, 0, 0, time.UTC)
			all = append(all, lastWorkdayWithin(start, budgetDays))
		}
		for _, d := range all {
			if d > today && d <= limit && d > due {
				due, from = d, e
			}
		}
	}
	return due, from
}

// datesStatedIn returns the dates in a passage. For a month or quarter, it returns the last working day.
func datesStatedIn(quote string) (out []api.Date) {
	month := func(name string) time.Month {
		t, _ := time.Parse("January", name) // letter case doesn't matter
		return t.Month()
	}
	number := func(s string) int {
		n, _ := strconv.Atoi(s)
		return n
	}
	endOf := func(year int, m time.Month) api.Date {
		return lastWorkdayWithin(time.Date(year, m, 1, 0, 0, 0, 0, time.UTC), time.Date(year, m+1, 0, 0, 0, 0, 0, time.UTC).Day()-1)
	}
	for _, m := range statedDatePattern.FindAllStringSubmatch(quote, -1) {
		switch {
		case m[1] != "":
			if _, err := api.Date(m[1]).Time(); err == nil {
				out = append(out, api.Date(m[1]))
			}
		case m[2] != "":
			out = append(out, api.DateOf(time.Date(number(m[4]), month(m[3]), number(m[2]), 0, 0, 0, 0, time.UTC)))
		case m[5] != "":
			out = append(out, api.DateOf(time.Date(number(m[7]), month(m[5]), number(m[6]), 0, 0, 0, 0, time.UTC)))
		case m[8] != "":
			out = append(out, endOf(number(m[9]), time.Month(3*number(m[8]))))
		case m[10] != "":
			out = append(out, endOf(number(m[11]), time.Month(3*parseOrdinal(m[10]))))
		case m[12] != "":
			out = append(out, endOf(number(m[13]), month(m[12])))
		}
	}
	return out
}

// parseOrdinal returns the number that an ordinal word from first to fourth represents.
func parseOrdinal(word string) int {
	return slices.Index([]string{"first", "second", "third", "fourth"}, strings.ToLower(word)) + 1
}
