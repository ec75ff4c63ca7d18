package judge

import (
	"errors"
	"strconv"
	"strings"

	"github.com/scf-service/service/internal/lazyregexp"
)

// aFigure is a share or a time, in two groups.
const aFigure = `(\d{1,3}(?:[,' ]\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?(?:e\+?\d{1,3})?) ?(%|(?:percent|seconds?|secs?|s|minutes?|mins?|hours?|hrs?|h|(?:working |business )?days?|weeks?|months?)\b)`

// unitHours are what units of time come to; a percentage is of no time.
var unitHours = map[string]float64{"s": hour / 3600, "sec": hour / 3600, "second": hour / 3600, "min": hour / 60, "minute": hour / 60,
	"h": hour, "hr": hour, "hour": hour, "day": day, "week": week, "month": month}

var (
	anyFigure = lazyregexp.Of(`(?i)\b` + aFigure)
	// toReach is what was to be: "Target: 8 h", "against a target of 14 days".
	toReach = lazyregexp.Of(`(?i)\b(?:targets?|goals?|objectives?|limits?|thresholds?|maximum|max|allowed|permitted|agreed|required|service levels?|slas?|rto|rpo)\b[^\d%.;]{0,24}?` + aFigure)
	// wasReached is what was: "Measured: 31 h", "reached 57 %".
	wasReached = lazyregexp.Of(`(?i)\b(?:measured|actual(?:ly)?|reached|achieved|attained|results?|took|taken|needed|lasted|value|status|completed|done|today|now)\b[^\d%.;]{0,16}?` + aFigure)
	// againstTarget is a target without its unit: "after 47 days, against a target of 14".
	againstTarget = lazyregexp.Of(`(?i)(\d+) ?(%|\w+)[^.;]{0,60}\bagainst (?:an? |the |our )?(?:\w+ ){0,4}of (\d+)`)
	// ofTarget is a share with its target behind it: "91 % (target 95)".
	ofTarget = lazyregexp.Of(`(?i)(\d+)(?:[.,]\d+)? ?(?:%|percent)[ ,;(]{1,3}(?:the |our |its )?target(?: of|:| is| was|,)? (\d+)`)
	// noMore tells that less is better, of a share; noLess that more is, of a time.
	noMore = lazyregexp.Guard(`(?i)\b(?:at most|maximum|max|limits?|thresholds?|under|below|no more than|errors?|failures?|failed|click\w*|phish\w*|fell for|false|overdue|missed|open(?:ed)?|vacan\w+|turnover|downtime)\b|[≤<]`)
	noLess = lazyregexp.Guard(`(?i)\b(?:at least|minimum|retention|retained?|kept|keep|stored|uptime|available|availability|battery|notice|warranty|valid)\b`)
)

// thousands are set apart in a figure: "1,040".
var thousands = lazyregexp.Of(`^\d{1,3}(?:[,' ]\d{3})+(?:\.\d+)?$`)

// sizeOf is what a figure comes to: of percent, or in hours; false where it is neither.
func sizeOf(number, unit string) (value float64, share, ok bool) {
	if thousands.MatchString(number) {
		number = strings.NewReplacer(",", "", "'", "", " ", "").Replace(number)
	}
	value, err := strconv.ParseFloat(strings.ReplaceAll(number, ",", "."), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) { // what is beyond all range is beyond each limit
		return 0, false, false
	}
	unit = strings.ToLower(unit)
	if unit == "%" || unit == "percent" {
		return value, true, true
	}
	if _, last, spaced := strings.Cut(unit, " "); spaced {
		unit = last // working days
	}
	hours := unitHours[unit]
	if hours == 0 {
		hours = unitHours[strings.TrimSuffix(unit, "s")]
	}
	return value * hours, false, hours > 0
}

// submatch is what a pattern finds in a text, which it can't without these letters.
func submatch(pattern *lazyregexp.Late, text, letters string) []string {
	if !strings.Contains(text, letters) {
		return nil
	}
	return pattern.FindStringSubmatch(text)
}

// missesTarget: more time was taken, or another share reached, than the target that is named beside it.
func missesTarget(text string) bool {
	if !strings.ContainsAny(text, "0123456789") {
		return false
	}
	if m := submatch(againstTarget, text, "against"); m != nil {
		is, _ := strconv.Atoi(m[1])
		target, _ := strconv.Atoi(m[3])
		if m[2] == "%" {
			return is < target
		}
		return is > target
	}
	if m := submatch(ofTarget, text, "arget"); m != nil {
		is, _ := strconv.Atoi(m[1])
		target, _ := strconv.Atoi(m[2])
		if noMore.MatchString(text) {
			return is > target
		}
		return is < target
	}
	at := toReach.FindStringSubmatchIndex(text)
	if at == nil {
		return false
	}
	target, share, ok := sizeOf(text[at[2]:at[3]], text[at[4]:at[5]])
	least := strings.HasSuffix(strings.TrimRight(text[:at[2]], " "), "≥") || strings.HasSuffix(strings.TrimRight(text[:at[2]], " "), ">")
	if !ok || !share && !least && noLess.MatchString(text) {
		return false
	}
	is, known := reached(wasReached, text, at[2], share)
	if !known {
		is, known = reached(anyFigure, text, at[2], share)
	}
	switch {
	case !known:
		return false // none is told, or not which
	case least || share && !noMore.MatchString(text):
		return is < target
	}
	return is > 1.05*target
}

// reached is the one figure of a kind that a pattern finds elsewhere than at the target.
func reached(pattern *lazyregexp.Late, text string, target int, share bool) (is float64, known bool) {
	n := 0
	for _, m := range pattern.FindAllStringSubmatchIndex(text, maxFigures) {
		if m[2] == target {
			continue
		}
		if v, alike, ok := sizeOf(text[m[2]:m[3]], text[m[4]:m[5]]); ok && alike == share {
			is, n = v, n+1
		}
	}
	return is, n == 1
}

const maxFigures = 20

// byThat sets a limit of time; tookSo tells how long something took.
var (
	byThat = lazyregexp.Guard(`(?i)\b(?:within|at most|no later than|not later than|at the latest|up to|maximum|max|in less than|under)\b`)
	tookSo = lazyregexp.Guard(`(?i)\b(?:after|later|took|taken|needed|lasted|for|took place|only)\b`)
)

// slower is the record that tells of a longer time than the limit that yes sets; nil where none does.
func (s *Session) slower(readings []reading, yes *reading) *reading {
	limit, ok := limitOf(yes.from.text, &yes.from.sentences[yes.at], byThat)
	if !ok {
		return nil
	}
	var out *reading
	for i := range readings {
		r := &readings[i]
		if r.from.DocumentID == yes.from.DocumentID || !r.from.isRecord() || r.cover < deniesIt || r.verdict != covered && r.verdict != partial {
			continue
		}
		cur := &r.from.sentences[r.at]
		if took, ok := limitOf(r.from.text, cur, tookSo); ok && took > 1.05*limit && (cur.happened || cur.row) && !cur.strong {
			out = better(out, r)
		}
	}
	return out
}

// inTimeOf: a record tells of a time within the limit that rule sets.
func (r *reading) inTimeOf(rule *reading) bool {
	limit, ok := limitOf(rule.from.text, &rule.from.sentences[rule.at], byThat)
	if !ok || !r.from.isRecord() {
		return false
	}
	took, ok := limitOf(r.from.text, &r.from.sentences[r.at], tookSo)
	return ok && took <= 1.05*limit
}

// limitOf is the one time that a sentence names, of which it has one of the words that pattern looks for.
func limitOf(text string, s *sentence, pattern *lazyregexp.Guarded) (hours float64, ok bool) {
	q, ok := only(s.times, quantity{unit: "hour"})
	return q.value, ok && pattern.MatchString(text[s.start:s.end])
}
