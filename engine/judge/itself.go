package judge

import (
	"slices"
	"strings"

	"github.com/scf-service/service/internal/lazyregexp"
)

// ofDocument are lines that tell of the document they stand in, not of what it is about.
var ofDocument = lazyregexp.Guard(`(?i)^\W*(?:document )?(?:status|version):\s*\S+\W*$`)

var (
	// imprintField is a field of a document's imprint: "Owner: Head of IT", "Version 2.1".
	imprintField = lazyregexp.Guard(`(?i)^(?:(?:document|policy|procedure) )?(?:owner|author|prepared by|approved|approved (?:by|on)|approver|approval date|version|revision|status|classification|distribution|(?:next|last) (?:review|revision)(?: date)?|reviewed (?:by|on)|review date|last (?:reviewed|updated|changed)|effective(?: date| from)?|date|issued(?: by| on)?|issue date|valid (?:from|until))\W{0,4}(?::|$)|^(?:version|revision) v?\d|^(?:approved|effective|issued|valid from|next review)\b.{0,80}\b20\d\d\b`)
	// imprintAlone are fields that only documents have; an owner and an approval a thing may have, too.
	imprintAlone = lazyregexp.Guard(`(?i)^(?:author|prepared by|version|revision|classification|distribution|next review)\b`)
	betweenField = lazyregexp.Of(`\s*(?:[;|·•\n]|\s[–—-]\s|\s{2,})\s*`)
)

// Of one imprint line, and of one field.
const (
	maxImprint = 240
	maxField   = 100
)

// isImprint: a line holds fields of the imprint of the document it stands in, one or several in a row, and
// nothing else. In a record, which may tell so of what it records, there are two of them or more, and one that
// only documents have.
func isImprint(text string, record bool) bool {
	if len(text) > maxImprint {
		return false
	}
	fields, alone := 0, false
	for _, part := range betweenField.Split(text, -1) {
		part = strings.Trim(strings.ReplaceAll(part, "**", ""), " *_#>.,\t\r")
		switch {
		case part == "":
			continue
		case len(part) > maxField || hasAuxiliary(split(part)):
			return false // a sentence
		case imprintField.MatchString(part):
			fields++
			alone = alone || imprintAlone.MatchString(part)
		case fields == 0 || strings.Contains(part, ":"):
			return false
		}
	}
	return fields > 0 && (!record || fields > 1 && alone)
}

// ofDocuments tells whether a statement is about policies and other documents themselves.
func (d *demand) ofDocuments() bool {
	return slices.ContainsFunc(d.terms, func(a asked) bool { return !a.action && documentNouns()[a.id] }) && documentWords.MatchString(d.text)
}

// documentWords are those of documentNouns as nouns: what is documented or planned is no document.
var documentWords = lazyregexp.Guard(`(?i)\b(?:documents?|documentation|polic(?:y|ies)|procedures?|standards?|plans?|guidelines?|rules|charter|handbook|manual|program(?:me)?)\b`)
