package judge

import (
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/internal/lazyregexp"
)

// markFailureTables looks at the rows of each table of a passage: where most of two or more tell that something was not
// as it was to be, those are marked, as a record of its failing.
func (a *textAnalysis) markFailureTables() {
	for from := 0; from < len(a.sentences); {
		to := from
		for to < len(a.sentences) && a.sentences[to].isTableRow && a.sentences[to].headingIndex == a.sentences[from].headingIndex {
			to++
		}
		if rows := a.sentences[from:to]; len(rows) > 1 {
			wrong := make([][]string, len(rows))
			n := 0
			for i := range rows {
				is := false
				wrong[i], is = findFailedColumns(a.text[rows[i].start:rows[i].end])
				rows[i].inFailureTable, n = is, n+boolToInt(is)
			}
			for i := range rows {
				if rows[i].inFailureTable = rows[i].inFailureTable && 2*n >= len(rows); rows[i].inFailureTable && len(wrong[i]) > 0 {
					lost := hashStems(splitWords(strings.Join(wrong[i], " . ")))
					rows[i].failedColumns = &lost
				}
			}
		}
		from = max(to, from+1)
	}
}

var (
	// successCellPattern is the state of a row of which nothing else counts.
	successCellPattern = lazyregexp.New(
		`(?i)^\W*(?:yes\b|y\W*$|pass(?:ed)?\b|ok\b|done\b|success|completed?\b|met\b|on time\b|closed\b|resolved\b|[✓✔✅☑])`,
	)
	// failedActionPattern is a cell that tells that something was not done, in whatever column.
	failedActionPattern = lazyregexp.New(
		`(?i)^\W*(?:fail(?:ed|s|ure)?\b|(?:target |deadline )?missed\b|overdue\b|late\b|skipped\b|expired\b|not (?:yet )?(?:carried out|reached|available|on time|repeated|rescheduled|scheduled|answered|fixed|closed|` + negativeStates + `)\b|none (?:held|done|made|performed|recorded)\b|never\W*$|no (?:answer|reply|review|test|evidence|record)\b)`,
	)
	// noAnswerPattern is a "no" to an act of its column's name: "returned: no" tells of a failing, "encrypted: no" and
	// "clauses: no" of a kind of things, which may be as it is to be.
	noAnswerPattern     = lazyregexp.New(`(?i)^\W*(?:no|n|false)[\s.]*$`)
	actionColumnPattern = lazyregexp.NewPrefiltered(
		`(?i)\b(?:reviewed|tested|restored|rehearsed|exercised|repeated|returned|revoked|removed|disabled|locked|collected|signed|acknowledged|confirmed|approved|trained|attended|passed|patched|installed|verified|checked|fixed|answered|reached|renewed|(?:on|in) time|within|met|kept|worked|succeeded)\b`,
	)
	// shareCellPattern is a cell with a share of all: "23 (38 %)", "38 %".
	shareCellPattern = lazyregexp.New(
		`(?i)^\W*(?:\d+(?:[ ,.]\d{3})*(?: (?:of|/) \d+(?:[ ,.]\d{3})*)? ?\(?)?(\d{1,3})(?:[.,]\d+)? ?(?:%|percent)\W*$`,
	)
	// completionColumnPattern are columns whose share tells how much is as it is to be.
	completionColumnPattern = lazyregexp.NewPrefiltered(
		`(?i)\b(?:within|on time|in time|done|completed?|completion|attended|attendance|trained|passed|installed|patched|reviewed|tested|restored|returned|signed|closed|covered|coverage|compliant|compliance|reached|achieved)\b`,
	)
)

const minCompliantPercent = 80 // percent, from which a share of a row tells of no failing

// findFailedColumns: a row's cells tell that something was not done, failed, or missed its target. columns are the
// names of those that do; none where they speak of the whole row.
func findFailedColumns(row string) (columns []string, wrong bool) {
	wrong = missesTarget(row)
	for _, c := range splitCells(row) {
		if c.value == c.start {
			continue
		}
		name, value := row[c.start:c.value-1], row[c.value:c.end]
		state := statusColumnPattern.MatchString(name)
		switch deed := isActionColumn(splitWords(name)); {
		case (state || deed) && successCellPattern.MatchString(value):
			return nil, false
		case failedActionPattern.MatchString(value), noAnswerPattern.MatchString(value) && (state || actionColumnPattern.MatchString(name)):
			if wrong = true; deed && !state {
				columns = append(columns, strings.TrimSpace(name))
			}
		default:
			if m := shareCellPattern.FindStringSubmatch(value); m != nil && completionColumnPattern.MatchString(name) &&
				!lessIsBetterPattern.MatchString(name) {
				if share, _ := strconv.Atoi(m[1]); share < minCompliantPercent {
					columns, wrong = append(columns, strings.TrimSpace(name)), true
				}
			}
		}
	}
	return columns, wrong
}

// concernsFailedRow: a row that tells of a failing tells it of what the statement asks for.
func (d *preparedStatement) concernsFailedRow(row *sentence) bool {
	return row.failedColumns == nil || slices.ContainsFunc(splitWords(d.text), func(w word) bool {
		return !stopWords[w.text] && !uninformativeColumnWords[w.stem] && row.failedColumns.contains(hashTerm(w.stem))
	})
}

// uninformativeColumnWords are words of a column's name that tell nothing of what it is about.
var uninformativeColumnWords = stemSet("date due time day within last next number by")
