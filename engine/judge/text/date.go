package text

import (
	"strconv"
	"strings"
	"time"

	"github.com/scf-service/service/internal/lazyregexp"
)

// reviewPattern matches the date by which a document must be reviewed.
var reviewPattern = lazyregexp.NewPrefiltered(
	`(?i)\b(?:next (?:scheduled )?(?:review|revision)(?: date)?(?: is)?(?: due)?|(?:to|must|shall) be (?:renewed|reviewed|revised|re-?issued) (?:by|before|not? later than|no later than)|renewal due|review (?:due|by)|valid until|expires?(?: on)?|expiry(?: date)?)\s*(?:on|by|in|is)?\s*[:=|]?\s*(?:\*\*)?\s*((?:\d{4}-\d{2}(?:-\d{2})?)|(?:\d{1,2}\.? )?(?:` + MonthNames + `) (?:\d{1,2},? )?\d{4}|\d{1,2}[./]\d{1,2}[./]\d{4})`,
)

// ReviewDue returns the date by which, according to the text, the document must be reviewed. If only a month is given,
// it returns the first day of that month.
func ReviewDue(text string) (time.Time, bool) {
	if m := reviewPattern.FindStringSubmatch(text); m != nil {
		return parseLooseDate(m[1])
	}
	return time.Time{}, false
}

// expiryPattern matches the date on which something expires, runs out or ceases to be valid.
var expiryPattern = lazyregexp.NewPrefiltered(
	`(?i)\b(?:r[ua]ns? out|expire[sd]?|lapse[sd]?|(?:is |was )?valid (?:until|to|through|till))(?: on| in| at the end of)? (\d{4}-\d{2}-\d{2}|(?:\d{1,2}\.? )?(?:` + MonthNames + `) (?:\d{1,2},? )?20\d\d)\b`,
)

// ExpiryDate returns the expiry date that a sentence states, as written there, and the end of that day or month.
func ExpiryDate(text string) (date string, end time.Time, ok bool) {
	if m := expiryPattern.FindStringSubmatch(text); m != nil {
		end, ok = endOfPeriod(m[1])
		return m[1], end, ok
	}
	return "", time.Time{}, false
}

// planDatePattern matches the day, month or quarter of a plan.
var planDatePattern = lazyregexp.NewPrefiltered(
	`(?i)\b(?:by|until|before|for|in|during|end of|later than)(?: the)?(?: end of)? (\d{4}-\d{2}(?:-\d{2})?|q[1-4][ /-]?20\d\d|(?:\d{1,2}\.? )?(?:` + MonthNames + `) (?:\d{1,2},? )?20\d\d)\b`,
)

// PlannedEnd returns the end of the day, month or quarter for which a sentence says that something is planned.
func PlannedEnd(text string) (time.Time, bool) {
	if m := planDatePattern.FindStringSubmatch(text); m != nil {
		return endOfPeriod(m[1])
	}
	return time.Time{}, false
}

// endOfPeriod parses a day, month or quarter and returns the time at which it ends.
func endOfPeriod(period string) (time.Time, bool) {
	if q, year, ok := parseQuarter(period); ok {
		return time.Date(year, time.Month(3*q+1), 1, 0, 0, 0, 0, time.UTC), true
	}
	date, ok := parseLooseDate(period)
	if monthPattern.MatchString(period) {
		return date.AddDate(0, 1, 0), ok
	}
	return date.AddDate(0, 0, 1), ok
}

// monthPattern matches a month without a day: "2026-09", "September 2026".
var monthPattern = lazyregexp.New(`^(?:\d{4}-\d{2}|[A-Za-z]+ 20\d\d)$`)

// parseQuarter parses a quarter such as "Q3 2026".
func parseQuarter(period string) (q, year int, ok bool) {
	if period[0]|0x20 != 'q' {
		return 0, 0, false
	}
	year, err := strconv.Atoi(period[len(period)-4:])
	return int(period[1] - '0'), year, err == nil
}

var datePunctuation = strings.NewReplacer(",", "", ".", " ", "/", " ")

// parseLooseDate parses a date in one of the formats that are common in documents.
func parseLooseDate(text string) (time.Time, bool) {
	text = datePunctuation.Replace(text)
	text = CollapseSpace(text)
	if text != "" {
		words := strings.Fields(strings.ToLower(text))
		for i, w := range words {
			if w[0] >= 'a' && w[0] <= 'z' {
				words[i] = strings.ToUpper(w[:1]) + w[1:]
			}
		}
		text = strings.Join(words, " ")
	}
	for _, layout := range []string{"2006-01-02", "2006-01", "January 2006", "January 2 2006", "2 January 2006", "2 1 2006"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
