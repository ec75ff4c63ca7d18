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

// namedOrganizations are the companies, with their legal forms, that the surroundings of sentences name. They are
// independent of any statement.
type namedOrganizations struct {
	ruleTitle string                    // named by the title of a document with rules
	places    []string                  // where the passage's headings say that it applies
	perPlace  map[*text.Sentence]string // where a sentence's heading in the passage says that it applies
	perRow    map[*text.Sentence]string // the company that a table row is about
}

// findNamedOrganizations returns the companies that are named around the sentences of a passage.
func findNamedOrganizations(p Passage, c *passageAnalysis) namedOrganizations {
	var n namedOrganizations
	find := func(pattern *lazyregexp.Prefiltered, in string) string {
		if m := pattern.FindStringSubmatch(in); m != nil {
			return m[1]
		}
		return ""
	}
	set := func(in *map[*text.Sentence]string, cur *text.Sentence, name string) {
		if name == "" {
			return
		}
		if *in == nil {
			*in = map[*text.Sentence]string{}
		}
		(*in)[cur] = name
	}
	if isPrescriptive(c.facts.category) {
		n.ruleTitle = find(ruleTitlePattern, p.DocumentTitle)
	}
	for _, heading := range p.HeadingPath {
		if name := find(placeHeadingPattern, heading); name != "" {
			n.places = append(n.places, name)
		}
	}
	for i := range c.Sentences {
		cur := &c.Sentences[i]
		set(&n.perPlace, cur, find(placeHeadingPattern, c.Heading(cur)))
		if cur.IsTableRow {
			set(&n.perRow, cur, find(companyCellPattern, cur.Text))
		}
	}
	return n
}

// namesOtherOrganization reports whether the title, a heading or a table row says that a sentence is about another
// organization.
func (s *Session) namesOtherOrganization(d *preparedStatement, c *analyzedPassage, cur *text.Sentence) bool {
	if cur.Organization != "" && !s.isOwnOrganization(cur.Organization) {
		return true
	}
	if len(s.ownOrganizations) != 1 {
		return false
	}
	if s.isOtherOrganization(c.named.ruleTitle) && !strings.Contains(strings.ToLower(c.DocumentTitle), s.ownOrganizations[0]) {
		return true
	}
	if slices.ContainsFunc(c.named.places, s.isOtherOrganization) || s.isOtherOrganization(c.named.perPlace[cur]) {
		return true
	}
	return s.isOtherOrganization(c.named.perRow[cur]) && !d.mentions("supplier") && !d.mentions("contract")
}
