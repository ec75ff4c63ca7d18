package judge

import (
	"github.com/scf-service/service/engine/judge/text"
	"github.com/scf-service/service/internal/lazyregexp"
)

// failureStatementPattern matches statements about how failures are handled; failedCellPattern matches table
// rows that record a failure.
var (
	failureStatementPattern = lazyregexp.NewPrefiltered(
		`(?i)\b(?:missed|failed|failures?|overdue|deviations?|exceeded|weaknesses|nonconformities)\b`,
	)
	failedCellPattern = lazyregexp.New(`(?i)[:|]\s*(?:(?:target )?missed|fail(?:ed|s|ure)?|overdue|expired)\s*(?:$|[;|,.(–-])`)
)

// requiresRemovalOfStillPresent reports whether a sentence says that something the statement
// requires to be removed is still present.
func (d *preparedStatement) requiresRemovalOfStillPresent(cur *text.Sentence) bool {
	return cur.StillPresent && cur.Conditional|cur.Denied|cur.Prohibited == 0 && !d.isProhibition() && d.requiresRemoval()
}
