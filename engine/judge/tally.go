package judge

import (
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/internal/lazyregexp"
)

// tally looks at the rows of each table of a passage: where most of two or more tell that something was not
// as it was to be, those are marked, as a record of its failing.
func (a *analysis) tally() {
	for from := 0; from < len(a.sentences); {
		to := from
		for to < len(a.sentences) && a.sentences[to].row && a.sentences[to].under == a.sentences[from].under {
			to++
		}
		if rows := a.sentences[from:to]; len(rows) > 1 {
			wrong := make([][]string, len(rows))
			n := 0
			for i := range rows {
				is := false
				wrong[i], is = wentWrong(a.text[rows[i].start:rows[i].end])
				rows[i].sunk, n = is, n+btoi(is)
			}
			for i := range rows {
				if rows[i].sunk = rows[i].sunk && 2*n >= len(rows); rows[i].sunk && len(wrong[i]) > 0 {
					lost := rootsOf(split(strings.Join(wrong[i], " . ")))
					rows[i].lost = &lost
				}
			}
		}
		from = max(to, from+1)
	}
}

var (
	// wentWell is the state of a row of which nothing else counts.
	wentWell = lazyregexp.Of(`(?i)^\W*(?:yes\b|y\W*$|pass(?:ed)?\b|ok\b|done\b|success|completed?\b|met\b|on time\b|closed\b|resolved\b|[✓✔✅☑])`)
	// wentNot is a cell that tells that something was not done, in whatever column.
	wentNot = lazyregexp.Of(`(?i)^\W*(?:fail(?:ed|s|ure)?\b|(?:target |deadline )?missed\b|overdue\b|late\b|skipped\b|expired\b|not (?:yet )?(?:carried out|reached|available|on time|repeated|rescheduled|scheduled|answered|fixed|closed|` + notSo + `)\b|none (?:held|done|made|performed|recorded)\b|never\W*$|no (?:answer|reply|review|test|evidence|record)\b)`)
	// toldNo is a "no" to an act of its column's name: "returned: no" tells of a failing, "encrypted: no" and
	// "clauses: no" of a kind of things, which may be as it is to be.
	toldNo = lazyregexp.Of(`(?i)^\W*(?:no|n|false)[\s.]*$`)
	ofAct  = lazyregexp.Guard(`(?i)\b(?:reviewed|tested|restored|rehearsed|exercised|repeated|returned|revoked|removed|disabled|locked|collected|signed|acknowledged|confirmed|approved|trained|attended|passed|patched|installed|verified|checked|fixed|answered|reached|renewed|(?:on|in) time|within|met|kept|worked|succeeded)\b`)
	// ofShare is a cell with a share of all: "23 (38 %)", "38 %".
	ofShare = lazyregexp.Of(`(?i)^\W*(?:\d+(?:[ ,.]\d{3})*(?: (?:of|/) \d+(?:[ ,.]\d{3})*)? ?\(?)?(\d{1,3})(?:[.,]\d+)? ?(?:%|percent)\W*$`)
	// ofAll are columns whose share tells how much is as it is to be.
	ofAll = lazyregexp.Guard(`(?i)\b(?:within|on time|in time|done|completed?|completion|attended|attendance|trained|passed|installed|patched|reviewed|tested|restored|returned|signed|closed|covered|coverage|compliant|compliance|reached|achieved)\b`)
)

const wellShared = 80 // percent, from which a share of a row tells of no failing

// wentWrong: a row's cells tell that something was not done, failed, or missed its target. columns are the
// names of those that do; none where they speak of the whole row.
func wentWrong(row string) (columns []string, wrong bool) {
	wrong = missesTarget(row)
	for _, c := range cellsIn(row) {
		if c.value == c.start {
			continue
		}
		name, value := row[c.start:c.value-1], row[c.value:c.end]
		state := ofState.MatchString(name)
		switch deed := ofDeed(split(name)); {
		case (state || deed) && wentWell.MatchString(value):
			return nil, false
		case wentNot.MatchString(value), toldNo.MatchString(value) && (state || ofAct.MatchString(name)):
			if wrong = true; deed && !state {
				columns = append(columns, strings.TrimSpace(name))
			}
		default:
			if m := ofShare.FindStringSubmatch(value); m != nil && ofAll.MatchString(name) && !noMore.MatchString(name) {
				if share, _ := strconv.Atoi(m[1]); share < wellShared {
					columns, wrong = append(columns, strings.TrimSpace(name)), true
				}
			}
		}
	}
	return columns, wrong
}

// loses: a row that tells of a failing tells it of what the statement asks for.
func (d *demand) loses(row *sentence) bool {
	return row.lost == nil || slices.ContainsFunc(split(d.text), func(w word) bool {
		return !stopWords[w.text] && !ofNoDeed[w.stem] && row.lost.has(termID(w.stem))
	})
}

// ofNoDeed are words of a column's name that tell nothing of what it is about.
var ofNoDeed = stemSet("date due time day within last next number by")
