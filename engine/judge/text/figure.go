package text

import (
	"errors"
	"strconv"
	"strings"

	"github.com/scf-service/service/internal/lazyregexp"
)

// figureExpr matches a share or a time. Its two groups are the number and the unit.
const figureExpr = `(\d{1,3}(?:[,' ]\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?(?:e\+?\d{1,3})?) ?(%|(?:percent|seconds?|secs?|s|minutes?|mins?|hours?|hrs?|h|(?:working |business )?days?|weeks?|months?)\b)`

// unitHours holds the length of each unit of time in hours.
var unitHours = map[string]float64{
	"s": hour / 3600, "sec": hour / 3600, "second": hour / 3600, "min": hour / 60, "minute": hour / 60,
	"h": hour, "hr": hour, "hour": hour, "day": day, "week": week, "month": month,
}

var (
	figurePattern = lazyregexp.New(`(?i)\b` + figureExpr)
	// targetPattern matches a target value: "Target: 8 h", "against a target of 14 days".
	targetPattern = lazyregexp.New(
		`(?i)\b(?:targets?|goals?|objectives?|limits?|thresholds?|maximum|max|allowed|permitted|agreed|required|service levels?|slas?|rto|rpo)\b[^\d%.;]{0,24}?` + figureExpr,
	)
	// reachedPattern matches the actual value of a measurement: "Measured: 31 h", "reached 57 %".
	reachedPattern = lazyregexp.New(
		`(?i)\b(?:measured|actual(?:ly)?|reached|achieved|attained|results?|took|taken|needed|lasted|value|status|completed|done|today|now)\b[^\d%.;]{0,16}?` + figureExpr,
	)
	// againstTargetPattern matches a value followed by a target without a unit: "after 47 days, against a target of
	// 14".
	againstTargetPattern = lazyregexp.New(`(?i)(\d+) ?(%|\w+)[^.;]{0,60}\bagainst (?:an? |the |our )?(?:\w+ ){0,4}of (\d+)`)
	// shareTargetPattern matches a share followed by the target for it: "91 % (target 95)".
	shareTargetPattern = lazyregexp.New(
		`(?i)(\d+)(?:[.,]\d+)? ?(?:%|percent)[ ,;(]{1,3}(?:the |our |its )?target(?: of|:| is| was|,)? (\d+)`,
	)
	// lessIsBetterPattern matches texts about shares that should be low. moreIsBetterPattern matches texts about
	// times that should be long.
	lessIsBetterPattern = lazyregexp.NewPrefiltered(
		`(?i)\b(?:at most|maximum|max|limits?|thresholds?|under|below|no more than|errors?|failures?|failed|click\w*|phish\w*|fell for|false|overdue|missed|open(?:ed)?|vacan\w+|turnover|downtime)\b|[≤<]`,
	)
	moreIsBetterPattern = lazyregexp.NewPrefiltered(
		`(?i)\b(?:at least|minimum|retention|retained?|kept|keep|stored|uptime|available|availability|battery|notice|warranty|valid)\b`,
	)
)

// thousandsPattern matches a number with thousands separators: "1,040".
var thousandsPattern = lazyregexp.New(`^\d{1,3}(?:[,' ]\d{3})+(?:\.\d+)?$`)

// parseFigure parses a figure in percent or a unit of time. It returns a time in hours. ok is false if the
// figure is neither.
func parseFigure(number, unit string) (value float64, isShare, ok bool) {
	if thousandsPattern.MatchString(number) {
		number = strings.NewReplacer(",", "", "'", "", " ", "").Replace(number)
	}
	value, err := strconv.ParseFloat(strings.ReplaceAll(number, ",", "."), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) { // an out-of-range value counts as exceeding any limit
		return 0, false, false
	}
	unit = strings.ToLower(unit)
	if unit == "%" || unit == "percent" {
		return value, true, true
	}
	if _, last, spaced := strings.Cut(unit, " "); spaced {
		unit = last // the unit of "working days" is its last word
	}
	hours := unitHours[unit]
	if hours == 0 {
		hours = unitHours[strings.TrimSuffix(unit, "s")]
	}
	return value * hours, false, hours > 0
}

// findSubmatchIfContains returns the submatches of pattern in text. It doesn't run the pattern if text lacks requiredText,
// which every match contains.
func findSubmatchIfContains(pattern *lazyregexp.Regexp, text, requiredText string) []string {
	if !strings.Contains(text, requiredText) {
		return nil
	}
	return pattern.FindStringSubmatch(text)
}

// isTargetMissed reports whether a text states a longer time, or a worse share, than its target.
func isTargetMissed(text string) bool {
	if !strings.ContainsAny(text, "0123456789") {
		return false
	}
	if m := findSubmatchIfContains(againstTargetPattern, text, "against"); m != nil {
		actual, _ := strconv.Atoi(m[1])
		target, _ := strconv.Atoi(m[3])
		if m[2] == "%" {
			return actual < target
		}
		return actual > target
	}
	if m := findSubmatchIfContains(shareTargetPattern, text, "arget"); m != nil {
		actual, _ := strconv.Atoi(m[1])
		target, _ := strconv.Atoi(m[2])
		if lessIsBetterPattern.MatchString(text) {
			return actual > target
		}
		return actual < target
	}
	at := targetPattern.FindStringSubmatchIndex(text)
	if at == nil {
		return false
	}
	target, isShare, ok := parseFigure(text[at[2]:at[3]], text[at[4]:at[5]])
	isMinimum := strings.HasSuffix(strings.TrimRight(text[:at[2]], " "), "≥") || strings.HasSuffix(strings.TrimRight(text[:at[2]], " "), ">")
	if !ok || !isShare && !isMinimum && moreIsBetterPattern.MatchString(text) {
		return false
	}
	actual, known := soleFigure(reachedPattern, text, at[2], isShare)
	if !known {
		actual, known = soleFigure(figurePattern, text, at[2], isShare)
	}
	switch {
	case !known:
		return false // no single value
	case isMinimum || isShare && !lessIsBetterPattern.MatchString(text):
		return actual < target
	}
	return actual > 1.05*target
}

// soleFigure returns the only figure in text besides the target. It considers shares if isShare is set, and
// times otherwise. known is false if there isn't exactly one.
func soleFigure(pattern *lazyregexp.Regexp, text string, targetStart int, isShare bool) (actual float64, known bool) {
	n := 0
	for _, m := range pattern.FindAllStringSubmatchIndex(text, maxFigures) {
		if m[2] == targetStart {
			continue
		}
		if v, share, ok := parseFigure(text[m[2]:m[3]], text[m[4]:m[5]]); ok && share == isShare {
			actual, n = v, n+1
		}
	}
	return actual, n == 1
}

const maxFigures = 20 // figures examined per text

// timeLimitPattern matches a time limit. durationReportPattern matches a report of how long something took.
var (
	timeLimitPattern = lazyregexp.NewPrefiltered(
		`(?i)\b(?:within|at most|no later than|not later than|at the latest|up to|maximum|max|in less than|under)\b`,
	)
	durationReportPattern = lazyregexp.NewPrefiltered(`(?i)\b(?:after|later|took|taken|needed|lasted|for|took place|only)\b`)
)

// TimeLimit returns the time within which something must be done, in hours, if a sentence states one.
func (s *Sentence) TimeLimit() (hours float64, ok bool) { return s.soleDuration(timeLimitPattern) }

// idleTimePattern matches a period in which nothing happened, such as "not used for 90 days".
var idleTimePattern = lazyregexp.New(
	`(?i)\b(?:(?:not|never|no|nobody)\b[^.;,]{0,40}?|unused|inactive|idle|dormant) for (?:(?:more|longer) than |over )?\d`)

// ReportedDuration returns how long something took, in hours, if a sentence reports that.
func (s *Sentence) ReportedDuration() (hours float64, ok bool) {
	hours, ok = s.soleDuration(durationReportPattern)
	if !ok || idleTimePattern.MatchString(s.Text) {
		return 0, false
	}
	return hours, true
}

// soleDuration returns the duration in a sentence that matches pattern. ok is false if there isn't exactly one.
func (s *Sentence) soleDuration(pattern *lazyregexp.Prefiltered) (hours float64, ok bool) {
	q, ok := soleQuantity(s.Quantities, Quantity{unit: "hour"})
	return q.value, ok && pattern.MatchString(s.Text)
}
