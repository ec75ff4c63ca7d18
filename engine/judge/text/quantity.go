package text

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/scf-service/service/internal/lazyregexp"
)

// Quantity is a number with its unit. Times are given in hours.
type Quantity struct {
	value     float64
	unit      string // "hour", or the stem of what is counted
	recurring bool   // a recurring interval
}

const (
	hour    = 1.0
	day     = 24 * hour
	week    = 7 * day
	month   = 365 * day / 12
	quarter = 3 * month
	year    = 365 * day
)

var (
	timeUnits = map[string]float64{
		"minute":  hour / 60,
		"hour":    hour,
		"h":       hour,
		"hr":      hour,
		"day":     day,
		"week":    week,
		"month":   month,
		"quarter": quarter,
		"year":    year,
	}
	frequencyAdverbs = map[string]float64{
		"hourly":       hour,
		"daily":        day,
		"nightly":      day,
		"weekly":       week,
		"biweekly":     2 * week,
		"fortnightly":  2 * week,
		"monthly":      month,
		"bimonthly":    2 * month,
		"quarterly":    quarter,
		"semiannually": year / 2,
		"semiannual":   year / 2,
		"biannually":   year / 2,
		"biannual":     year / 2,
		"annually":     year,
		"annual":       year,
		"yearly":       year,
		"biennial":     2 * year,
		"biennially":   2 * year,
	}
	recurrenceNouns = map[string]float64{
		"january": year, "february": year, "march": year, "april": year, "may": year, "june": year, "july": year, "august": year,
		"september": year, "october": year, "november": year, "december": year, "spring": year, "summer": year,
		"autumn": year, "winter": year, "morning": day, "night": day, "evening": day,
		"monday": week, "tuesday": week, "wednesday": week, "thursday": week, "friday": week, "saturday": week, "sunday": week,
	}
	// calendarAdjectives are words that qualify years, quarters and days.
	calendarAdjectives = wordSet("calendar financial fiscal business working budget accounting academic")
	numberWords        = map[string]float64{
		"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
		"twelve": 12, "fourteen": 14, "fifteen": 15, "twenty": 20, "thirty": 30, "sixty": 60, "ninety": 90,
	}
	yearPattern = lazyregexp.New(`\b(?:19|20)\d\d\b`)
)

// parseQuantitiesAndYears returns the quantities and the years in a sentence.
func parseQuantitiesAndYears(text string, words []word) (quantities []Quantity, statedYears []int) {
	var out []Quantity
	for i, w := range words {
		if v, ok := frequencyAdverbs[w.text]; ok {
			out = append(out, Quantity{value: v, unit: "hour", recurring: true})
			continue
		}
		if each := wordAt(words, i-1); (each == "every" || each == "each") && recurrenceNouns[w.text] > 0 {
			out = append(out, Quantity{value: recurrenceNouns[w.text], unit: "hour", recurring: true}) // "every October"
			continue
		}
		unit := strings.TrimSuffix(w.text, "s")
		hours, ok := timeUnits[unit]
		prev, before := wordAt(words, i-1), wordAt(words, i-2)
		if calendarAdjectives[prev] && isOneOf(before, "every", "each", "per", "a", "an") {
			prev, before = before, wordAt(words, i-3) // "each calendar year", "once a business year"
		}
		switch {
		case !ok:
			if n, isNumber := parseNumber(w.text); isNumber && i+1 < len(words) &&
				timeUnits[strings.TrimSuffix(words[i+1].text, "s")] == 0 {
				if k := i + 1; words[k].text != "%" && !stopWords[words[k].text] && n < 100000 {
					out = append(out, Quantity{value: n, unit: words[k].stem})
				}
			}
		case isOneOf(prev, "every", "each", "per") || (prev == "a" || prev == "an") && (before == "once" || before == "twice"):
			if before == "twice" || prev == "per" && wordAt(words, i-2) == "twice" {
				hours /= 2
			}
			if hours >= day {
				out = append(out, Quantity{value: hours, unit: "hour", recurring: true})
			}
		case isOneOf(prev, "business", "working", "calendar"):
			if n, isNumber := parseNumber(before); isNumber {
				out = append(out, Quantity{value: n * hours, unit: "hour", recurring: wordAt(words, i-3) == "every"})
			}
		default:
			if n, isNumber := parseNumber(prev); isNumber {
				out = append(out, Quantity{value: n * hours, unit: "hour", recurring: before == "every"})
			}
		}
	}
	var years []int
	if !strings.Contains(text, "20") && !strings.Contains(text, "19") {
		return out, nil
	}
	for _, y := range yearPattern.FindAllString(text, 8) {
		n, _ := strconv.Atoi(y)
		years = append(years, n)
	}
	slices.Sort(years)
	return out, years
}

// parseNumber parses a number written in digits or as a word.
func parseNumber(w string) (float64, bool) {
	if n, ok := numberWords[w]; ok {
		return n, true
	}
	if w == "" || w[0] < '0' || w[0] > '9' {
		return 0, false
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(w, ",", ""), 64)
	return n, err == nil && !math.IsInf(n, 0) && !math.IsNaN(n)
}

// ReasonIfLessFrequent reports whether got is weaker than want because something recurs less often or has a
// longer time limit. If so, it also returns the reason as text.
func ReasonIfLessFrequent(want, got []Quantity) (reason string, isLessFrequent bool) {
	for _, w := range want {
		if w.unit != "hour" {
			continue
		}
		best, found := math.Inf(1), false
		for _, g := range got {
			if g.unit == "hour" && g.recurring == w.recurring {
				best, found = min(best, g.value), true
			}
		}
		switch {
		case !found && w.recurring:
			return formatDuration(w) + " required, but no frequency is stated", true
		case !found:
			return formatDuration(w) + " required, but no time is stated", true
		case best > w.value*1.05:
			stated := Quantity{value: best, unit: "hour", recurring: w.recurring}
			return formatDuration(w) + " required, " + formatDuration(stated) + " stated", true
		}
	}
	return "", false
}

// formatDuration formats a quantity of time, such as "every 12 months" or "72 hours".
func formatDuration(q Quantity) string {
	s := ""
	switch v := q.value; {
	case v >= 2*month-1:
		s = formatUnits(math.Round(v/month), "month")
	case v >= 2*week && math.Mod(v, week) == 0:
		s = formatUnits(v/week, "week")
	case v > 3*day || v == day:
		s = formatUnits(math.Round(v/day), "day")
	case v >= hour:
		s = formatUnits(math.Round(v), "hour")
	default:
		s = formatUnits(math.Round(v*60), "minute")
	}
	if q.recurring {
		return "every " + s
	}
	return s
}

// formatUnits formats a number with its unit in the singular or plural.
func formatUnits(n float64, unit string) string {
	s := strconv.FormatFloat(n, 'f', -1, 64) + " " + unit
	if n != 1 {
		s += "s"
	}
	return s
}

var (
	actorWords = wordSet(
		"team manager managers officer owner owners ciso dpo hr it administrator administrators committee director board " +
			"department helpdesk engineer engineers auditor lead security operations supervisor custodian provider",
	)
	artifactWords = wordSet(
		"ticket tickets log logs register checklist form report reports minutes dashboard certificate workflow console tool scanner siem jira",
	)
	properNamePattern = lazyregexp.New(`[a-z,] (?:[A-Z][a-zA-Z]+[A-Z0-9]\w*|[A-Z][a-z]+ (?:[A-Z][a-z]+))`)
)

// countConcreteDetails counts how many kinds of verifiable detail a sentence contains: people, times, means and
// amounts.
func countConcreteDetails(text string, words []word, s Sentence) int {
	var who, what bool
	for _, w := range words {
		who = who || actorWords[w.text]
		what = what || artifactWords[w.text]
	}
	// Names of tools and teams have capitals within the sentence.
	named := strings.IndexFunc(text[min(len(text), 1):], unicode.IsUpper) >= 0 && properNamePattern.MatchString(text)
	n := 0
	for _, is := range [...]bool{who, what || named, len(s.Quantities) > 0, len(s.Years) > 0 && s.ReportsPast} {
		if is {
			n++
		}
	}
	return n
}

// sharePatterns match shares such as "48 % of the staff", "61 of 212 employees" and "of 212 employees, 61
// completed it".
var sharePatterns = [...]struct {
	pattern   *lazyregexp.Regexp
	part, all int // group numbers in the pattern; if all is 0, the total is one hundred
}{
	{lazyregexp.New(`\b(\d{1,3})(?:\.\d+)? ?% of\b`), 1, 0},
	{lazyregexp.New(`(?i)\b(\d{1,6}) (?:out )?of (?:the |our |all )?(\d{1,6})(?: [a-z]{3,}| ?\(\d)`), 1, 2},
	{
		lazyregexp.New(
			`(?i)\bof (?:the |our |all )?(\d{1,6}) [a-z]{3,}(?: [a-z]{2,}){0,6}, (?:only |just )?(\d{1,6}) (?:ha[ds] |have )?[a-z]{3,}`,
		),
		2,
		1,
	},
}

const (
	nearlyAllPercent = 95 // a share of at least this percentage is not a limitation
	minShareTotal    = 10 // below this, "2 of 3" may be a rule or a page number
)

// findPartialShare returns the words in a text that show that something applies to only a share of all cases. It
// returns "" if there are none, or if the share is nearly all. isNone is set if it applies to none of the cases.
func findPartialShare(text string) (words string, isNone bool) {
	if !strings.Contains(text, "f ") || !strings.ContainsAny(text, "0123456789") {
		return "", false
	}
	for _, share := range sharePatterns {
		m := share.pattern.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		part, _ := strconv.Atoi(m[share.part])
		all := 100
		if share.all > 0 {
			all, _ = strconv.Atoi(m[share.all])
		}
		if all >= minShareTotal && 100*part < nearlyAllPercent*all {
			return strings.TrimSpace(m[0]), part == 0
		}
	}
	return "", false
}

// soleQuantity returns the only quantity whose unit and recurrence match those of like. It returns false if there isn't
// exactly one such quantity.
func soleQuantity(quantities []Quantity, like Quantity) (Quantity, bool) {
	var q Quantity
	n := 0
	for _, y := range quantities {
		if y.unit == like.unit && y.recurring == like.recurring {
			q = y
			n++
		}
	}
	return q, n == 1
}

// ConflictingQuantities reports whether both lists contain a single quantity of the same kind, but with
// different values.
func ConflictingQuantities(a, b []Quantity) bool {
	return slices.ContainsFunc(a, func(x Quantity) bool {
		y, both := soleQuantity(b, x)
		_, single := soleQuantity(a, x)
		return both && single && y.value != x.value
	})
}
