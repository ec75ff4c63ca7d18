package facts

import (
	"slices"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/lazyregexp"
)

// notInForcePattern matches text at the start of a document that says that the document is a draft or no longer in force:
// a status, a sentence, or a word such as "Superseded" that may be followed by details. It doesn't match
// "Obsolete hardware is destroyed".
var notInForcePattern = lazyregexp.NewPrefiltered(
	`(?im)^\W{0,4}(?:(?:document )?status\W{1,3}(?:` + outOfForce + `|(?:in|under|for) review|in preparation|pending|proposed|to be approved)\b[^\n]{0,60}$|` +
		`for (?:review|comments?|discussion) only\b[^\n]{0,60}$|` +
		outOfForce + `(?:\W*$|\s*[.:;(–—-][^\n]{0,60}$|(?:,? (?:and )?(?:by|on|since|as of|from|for|per|see|replaced|use|do not)\b| in (?:\p{L}+ )?\d{4}\b| v?\d)[^\n]{0,60}$)|` +
		`this (?:[\p{L}-]+ ){0,4}?(?:document|policy|version|standard|procedure|guideline|plan|edition|manual|handbook|rules|process)s? ` +
		`(?:is|are|has been|have been|was|were|has) (?:a draft|(?:hereby |now |been )?` + outOfForce + `|replaced)\b[^\n]{0,60})`,
)

// outOfForce matches words for documents that are not in force.
const outOfForce = `(?:draft|superseded|withdrawn|repealed|rescinded|revoked|obsolete|archived|retired|expired|cancell?ed|discontinued|` +
	`no longer (?:in force|valid|applicable|in use|effective)|not (?:yet )?(?:in force|approved)|not yet (?:valid|effective))`

// warnIfNotInForce adds a warning that quotes the words by which the document says that it is not in force.
func warnIfNotInForce(d *document.Document, parts ...[]document.Block) {
	for _, b := range slices.Concat(parts...) {
		if b.Kind == document.ListItem || b.Kind == document.TableRow && len(b.Cells) > 2 {
			continue
		}
		text := b.Text
		if len(b.Cells) == 2 && isKeyValueHeader(b.Header) { // "Field | Value" above "Status | Draft"
			text = b.Cells[0] + ": " + b.Cells[1]
		}
		if words := notInForcePattern.FindString(text); words != "" {
			d.AddWarning(document.NotInForceWarning + ": “" + document.CleanLine(words) + "”.")
			return
		}
	}
}
