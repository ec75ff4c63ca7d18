package judge

import (
	"maps"
	"slices"
	"strings"

	"github.com/scf-service/service/engine/judge/text"
	"github.com/scf-service/service/internal/lazyregexp"
)

// findOwnOrganizations returns the names of the companies that most documents mention. That is the
// organization that the documents belong to, or several if it isn't clear.
func findOwnOrganizations(statuses map[string]documentStatus) []string {
	documents, most := map[string]int{}, 0
	for _, s := range statuses {
		for _, name := range s.organizations {
			documents[name]++
			most = max(most, documents[name])
		}
	}
	maps.DeleteFunc(documents, func(_ string, n int) bool { return n < most })
	return slices.Sorted(maps.Keys(documents))
}

// isOwnOrganization reports whether a company name, including its legal form, is that of the organization itself.
func (s *Session) isOwnOrganization(legalName string) bool {
	return slices.Contains(s.ownOrganizations, text.OrganizationName(legalName))
}

// isOtherOrganization reports whether a company name is that of another organization. It returns
// false if the documents' own organization is unknown.
func (s *Session) isOtherOrganization(legalName string) bool {
	return legalName != "" && len(s.ownOrganizations) == 1 && !s.isOwnOrganization(legalName)
}

var (
	legalName = text.LegalName + `\b`
	// ruleTitlePattern matches the titles of a company's rules. It doesn't match reports by, or
	// contracts with, other companies.
	ruleTitlePattern    = lazyregexp.NewPrefiltered(`(` + legalName + `).{0,6}\b(?i:(?:[\w-]+ ){0,4}(?:polic(?:y|ies)|procedures?|handbook|standards?|rules|guidelines?|charter|directive))\b`)
	placeHeadingPattern = lazyregexp.NewPrefiltered(`\b(?:at |within |inside )(` + legalName + `)\W*$`)
	companyCellPattern  = lazyregexp.NewPrefiltered(`\b(?i:company|organi[sz]ation|competitor|peer|entity): (` + legalName + `)`)
)

// namesOtherOrganization reports whether the title, a heading or a table row says that a sentence is about another
// organization.
func (s *Session) namesOtherOrganization(d *preparedStatement, c *analyzedPassage, cur *text.Sentence) bool {
	if cur.Organization != "" && !s.isOwnOrganization(cur.Organization) {
		return true
	}
	if len(s.ownOrganizations) != 1 {
		return false
	}
	names := func(pattern *lazyregexp.Prefiltered, in string) bool {
		m := pattern.FindStringSubmatch(in)
		return m != nil && s.isOtherOrganization(m[1])
	}
	ownName := func(in string) bool { return strings.Contains(strings.ToLower(in), s.ownOrganizations[0]) }
	if isPrescriptive(c.category) && !ownName(c.DocumentTitle) && names(ruleTitlePattern, c.DocumentTitle) {
		return true
	}
	for _, heading := range append(slices.Clone(c.HeadingPath), c.Heading(cur)) {
		if names(placeHeadingPattern, heading) {
			return true
		}
	}
	return cur.IsTableRow && !d.mentions("supplier") && !d.mentions("contract") && names(companyCellPattern, cur.Text)
}
