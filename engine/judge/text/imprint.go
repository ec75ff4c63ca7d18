package text

import (
	"strings"

	"github.com/scf-service/service/internal/lazyregexp"
)

// documentStatusPattern are lines that tell of the document they stand in, not of what it is about.
var documentStatusPattern = lazyregexp.NewPrefiltered(`(?i)^\W*(?:document )?(?:status|version):\s*\S+\W*$`)

var (
	// imprintFieldPattern is a field of a document's imprint: "Owner: Head of IT", "Version 2.1".
	imprintFieldPattern = lazyregexp.NewPrefiltered(
		`(?i)^(?:(?:document|policy|procedure) )?(?:owner|author|prepared by|approved|approved (?:by|on)|approver|approval date|version|revision|status|classification|distribution|(?:next|last) (?:review|revision)(?: date)?|reviewed (?:by|on)|review date|last (?:reviewed|updated|changed)|effective(?: date| from)?|date|issued(?: by| on)?|issue date|valid (?:from|until))\W{0,4}(?::|$)|^(?:version|revision) v?\d|^(?:approved|effective|issued|valid from|next review)\b.{0,80}\b20\d\d\b`,
	)
	// documentOnlyFieldPattern are fields that only documents have; an owner and an approval a thing may have, too.
	documentOnlyFieldPattern = lazyregexp.NewPrefiltered(
		`(?i)^(?:author|prepared by|version|revision|classification|distribution|next review)\b`,
	)
	fieldSeparatorPattern = lazyregexp.New(`\s*(?:[;|·•\n]|\s[–—-]\s|\s{2,})\s*`)
)

// IsStatusLine reports whether a text only gives the status or version of its document.
func IsStatusLine(text string) bool { return len(text) < 60 && documentStatusPattern.MatchString(text) }

// Of one imprint line, and of one field.
const (
	maxImprintBytes = 240
	maxFieldBytes   = 100
)

// IsImprint: a line holds fields of the imprint of the document it stands in, one or several in a row, and
// nothing else. In a record, which may tell so of what it records, there are two of them or more, and one that
// only documents have.
func IsImprint(text string, isRecord bool) bool {
	if len(text) > maxImprintBytes {
		return false
	}
	fields, alone := 0, false
	for _, part := range fieldSeparatorPattern.Split(text, -1) {
		part = strings.Trim(strings.ReplaceAll(part, "**", ""), " *_#>.,\t\r")
		switch {
		case part == "":
			continue
		case len(part) > maxFieldBytes || hasAuxiliary(splitWords(part)):
			return false // a sentence
		case imprintFieldPattern.MatchString(part):
			fields++
			alone = alone || documentOnlyFieldPattern.MatchString(part)
		case fields == 0 || strings.Contains(part, ":"):
			return false
		}
	}
	return fields > 0 && (!isRecord || fields > 1 && alone)
}
