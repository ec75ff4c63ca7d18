package text

import (
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/internal/lazyregexp"
)

// markFailureTables marks the table rows that report a failure. It considers only tables in which there are at least
// two rows and at least half of them report one.
func (a *Analysis) markFailureTables() {
	for from := 0; from < len(a.Sentences); {
		to := from
		for to < len(a.Sentences) && a.Sentences[to].IsTableRow && a.Sentences[to].headingIndex == a.Sentences[from].headingIndex {
			to++
		}
		if rows := a.Sentences[from:to]; len(rows) > 1 {
			columns := make([][]string, len(rows))
			failed := 0
			for i := range rows {
				columns[i], rows[i].InFailureTable = findFailedColumns(rows[i].Text)
				if rows[i].InFailureTable {
					failed++
				}
			}
			for i := range rows {
				if rows[i].InFailureTable = rows[i].InFailureTable && 2*failed >= len(rows); rows[i].InFailureTable && len(columns[i]) > 0 {
					stems := hashStems(splitWords(strings.Join(columns[i], " . ")))
					rows[i].failedColumns = &stems
				}
			}
		}
		from = max(to, from+1)
	}
}

var (
	// successCellPattern matches a status that shows success, so that the other cells of the row don't matter.
	successCellPattern = lazyregexp.New(
		`(?i)^\W*(?:yes\b|y\W*$|pass(?:ed)?\b|ok\b|done\b|success|completed?\b|met\b|on time\b|closed\b|resolved\b|[✓✔✅☑])`,
	)
	// failedActionPattern matches a cell that says, regardless of its column, that something was not done.
	failedActionPattern = lazyregexp.New(
		`(?i)^\W*(?:fail(?:ed|s|ure)?\b|(?:target |deadline )?missed\b|overdue\b|late\b|skipped\b|expired\b|not (?:yet )?(?:carried out|reached|available|on time|repeated|rescheduled|scheduled|answered|fixed|closed|` + negativeStates + `)\b|none (?:held|done|made|performed|recorded)\b|never\W*$|no (?:answer|reply|review|test|evidence|record)\b)`,
	)
	// noAnswerPattern matches the cell value "no". In a column whose name denotes an action, "no" is a failure
	// ("returned: no"), whereas "encrypted: no" and "clauses: no" only describe an attribute.
	noAnswerPattern     = lazyregexp.New(`(?i)^\W*(?:no|n|false)[\s.]*$`)
	actionColumnPattern = lazyregexp.NewPrefiltered(
		`(?i)\b(?:reviewed|tested|restored|rehearsed|exercised|repeated|returned|revoked|removed|disabled|locked|collected|signed|acknowledged|confirmed|approved|trained|attended|passed|patched|installed|verified|checked|fixed|answered|reached|renewed|(?:on|in) time|within|met|kept|worked|succeeded)\b`,
	)
	// shareCellPattern matches a cell that contains a share, such as "23 (38 %)" or "38 %".
	shareCellPattern = lazyregexp.New(
		`(?i)^\W*(?:\d+(?:[ ,.]\d{3})*(?: (?:of|/) \d+(?:[ ,.]\d{3})*)? ?\(?)?(\d{1,3})(?:[.,]\d+)? ?(?:%|percent)\W*$`,
	)
	// completionColumnPattern matches the names of columns in which a higher share is better.
	completionColumnPattern = lazyregexp.NewPrefiltered(
		`(?i)\b(?:within|on time|in time|done|completed?|completion|attended|attendance|trained|passed|installed|patched|reviewed|tested|restored|returned|signed|closed|covered|coverage|compliant|compliance|reached|achieved)\b`,
	)
)

const minCompliantPercent = 80 // a share of at least this percentage is not a failure

// findFailedColumns reports whether a table row says that something was not done, failed or missed its target.
// It returns the names of the columns that say so, or none if the whole row failed.
func findFailedColumns(row string) (columns []string, failed bool) {
	failed = isTargetMissed(row)
	for _, c := range splitCells(row) {
		if c.value == c.start {
			continue
		}
		name, value := row[c.start:c.value-1], row[c.value:c.end]
		isStatus := statusColumnPattern.MatchString(name)
		switch isAction := isActionColumn(splitWords(name)); {
		case (isStatus || isAction) && successCellPattern.MatchString(value):
			return nil, false
		case failedActionPattern.MatchString(value), noAnswerPattern.MatchString(value) && (isStatus || actionColumnPattern.MatchString(name)):
			if failed = true; isAction && !isStatus {
				columns = append(columns, strings.TrimSpace(name))
			}
		default:
			if m := shareCellPattern.FindStringSubmatch(value); m != nil && completionColumnPattern.MatchString(name) &&
				!lessIsBetterPattern.MatchString(name) {
				if share, _ := strconv.Atoi(m[1]); share < minCompliantPercent {
					columns, failed = append(columns, strings.TrimSpace(name)), true
				}
			}
		}
	}
	return columns, failed
}

// FailureConcerns reports whether a word of the text occurs in the names of the row's failed columns. If the
// whole row failed, it returns true.
func (s *Sentence) FailureConcerns(text string) bool {
	return s.failedColumns == nil || slices.ContainsFunc(splitWords(text), func(w word) bool {
		return !stopWords[w.text] && !uninformativeColumnWords[w.stem] && s.failedColumns.contains(hashTerm(w.stem))
	})
}

// uninformativeColumnWords are words in column names that don't show what a column is about.
var uninformativeColumnWords = stemSet("date due time day within last next number by")
