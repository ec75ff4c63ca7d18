package judge

import (
	"cmp"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge/text"
	"github.com/scf-service/service/internal/prose"
)

// FormatEvidenceLocation returns the document and place of a piece of evidence. In a text of several lines, these are
// all lines of the passage that the quote is from.
func FormatEvidenceLocation(e *api.Evidence) string {
	return formatRange(cmp.Or(e.DocumentTitle, e.Filename), e.Locator, e.HeadingPath)
}

// QuoteEvidence returns a piece of evidence in quotation marks, shortened and with people as initials.
func QuoteEvidence(e *api.Evidence) string {
	return "“" + text.Shorten(strings.TrimRight(prose.InitialsInRecord(e.Quote), "."), 240) + "”"
}
