package text

import (
	"strings"

	"github.com/scf-service/service/internal/lazyregexp"
)

// documentStatusPattern matches a line that consists only of the document's status or version.
var documentStatusPattern = lazyregexp.NewPrefiltered(`(?i)^\W*(?:document )?(?:status|version):\s*\S+\W*$`)

var (
	// imprintFieldPattern matches a field of a document's imprint (the data about the document itself), such as
	// "Owner: Head of IT" or "Version 2.1".
	imprintFieldPattern = lazyregexp.NewPrefiltered(
		`(?i)^(?:(?:document|policy|procedure) )?(?:owner|author|prepared by|approved|approved (?:by|on)|approver|approval date|version|revision|status|classification|distribution|(?:next|last) (?:review|revision)(?: date)?|reviewed (?:by|on)|review date|last (?:reviewed|updated|changed)|effective(?: date| from)?|date|issued(?: by| on)?|issue date|valid (?:from|until))\W{0,4}(?::|$)|^(?:version|revision) v?\d|^(?:approved|effective|issued|valid from|next review)\b.{0,80}\b20\d\d\b`,
	)
	// documentOnlyFieldPattern matches imprint fields that only documents have. Other things also have owners and
	// approvals.
	documentOnlyFieldPattern = lazyregexp.NewPrefiltered(
		`(?i)^(?:author|prepared by|version|revision|classification|distribution|next review)\b`,
	)
	fieldSeparatorPattern = lazyregexp.New(`\s*(?:[;|·•\n]|\s[–—-]\s|\s{2,})\s*`)
)

// IsStatusLine reports whether a text consists only of its document's status or version.
func IsStatusLine(text string) bool { return len(text) < 60 && documentStatusPattern.MatchString(text) }

const (
	maxImprintBytes = 240 // bytes of an imprint line
	maxFieldBytes   = 100 // bytes of one of its fields
)

// IsImprint reports whether a line consists only of imprint fields, that is, data about its document. In a record, such
// fields may also describe what the record is about, so there must be at least two fields, including one that only
// documents have.
func IsImprint(text string, isRecord bool) bool {
	if len(text) > maxImprintBytes {
		return false
	}
	fields, documentOnly := 0, false
	for _, part := range fieldSeparatorPattern.Split(text, -1) {
		part = strings.Trim(strings.ReplaceAll(part, "**", ""), " *_#>.,\t\r")
		switch {
		case part == "":
			continue
		case len(part) > maxFieldBytes || hasAuxiliaryOrModal(splitWords(part)):
			return false // a sentence
		case imprintFieldPattern.MatchString(part):
			fields++
			documentOnly = documentOnly || documentOnlyFieldPattern.MatchString(part)
		case fields == 0 || strings.Contains(part, ":"):
			return false
		}
	}
	return fields > 0 && (!isRecord || fields > 1 && documentOnly)
}
