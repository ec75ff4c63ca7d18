package judge

import (
	"slices"

	"github.com/scf-service/service/engine/judge/text"
	"github.com/scf-service/service/internal/lazyregexp"
)

// matchesCells reports whether the cells of row i contain what is required, rather than only the column names.
func (d *preparedStatement) matchesCells(c *analyzedPassage, i int, fullMatch match) bool {
	own := d.matchWindow([]*text.Sentence{c.Sentences[i].WithoutColumnNames()}, c.neighbors[i], c.surroundings).ownWeight
	return own >= minOwnWeight && 2*own >= fullMatch.ownWeight
}

// isAboutDocuments reports whether a statement is about policies and other documents themselves.
func (d *preparedStatement) isAboutDocuments() bool {
	return slices.ContainsFunc(d.concepts, func(a text.Concept) bool { return !a.IsAction && text.IsDocumentNoun(a.ID) }) &&
		documentNounPattern.MatchString(d.text)
}

// documentNounPattern matches nouns for documents. It doesn't match words such as "documented" and "planned".
var documentNounPattern = lazyregexp.NewPrefiltered(
	`(?i)\b(?:documents?|documentation|polic(?:y|ies)|procedures?|standards?|plans?|guidelines?|rules|charter|handbook|manual|program(?:me)?)\b`,
)
