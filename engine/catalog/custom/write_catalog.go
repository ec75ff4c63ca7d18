package custom

import (
	"strconv"

	"github.com/scf-service/service/engine/catalog/scf"
)

// WriteCatalog gives the catalog as a document, compact and without an end of line: the same
// catalog, the same bytes.
func WriteCatalog(src *scf.Source) ([]byte, error) {
	doc := catalogDocument{
		Format: Format, FormatVersion: FormatVersion, Label: src.Label,
		Domains: make(
			[]domain,
			0,
			len(src.Domains),
		), Frameworks: make([]framework, 0, len(src.Frameworks)), Controls: make([]control, 0, len(src.Controls)),
		Risks: fromHazards(src.Risks), Threats: fromHazards(src.Threats),
	}
	if src.Filename != "" || src.SHA256 != "" || src.IsStarter {
		doc.Origin = &documentOrigin{Filename: src.Filename, SHA256: src.SHA256, IsStarter: src.IsStarter}
	}
	for _, d := range src.Domains {
		doc.Domains = append(doc.Domains, domain(d))
	}
	ids := evidenceIDs(src.Evidence)
	for i, e := range src.Evidence {
		doc.Evidence = append(
			doc.Evidence,
			evidenceRequest{ID: ids[i], Code: e.Code, Area: e.Area, Artifact: e.Artifact, Description: e.Description},
		)
	}
	for _, p := range src.Principles {
		doc.Principles = append(doc.Principles, principle(p))
	}
	for i := range src.Frameworks {
		doc.Frameworks = append(doc.Frameworks, fromFramework(&src.Frameworks[i]))
	}
	for i := range src.Controls {
		doc.Controls = append(doc.Controls, fromControl(&src.Controls[i], ids))
	}
	for i := range src.Mappings {
		addMapping(&doc.Controls[src.Mappings[i].Control], src, &src.Mappings[i])
	}
	return encodeJSON(doc)
}

// evidenceIDs names evidence requests: by their code where only one has it.
func evidenceIDs(all []scf.EvidenceRequest) []string {
	holders := map[string]int{}
	for _, e := range all {
		holders[e.Code]++
	}
	ids := make([]string, len(all))
	for i, e := range all {
		if ids[i] = e.Code; e.Code == "" || holders[e.Code] > 1 {
			ids[i] = "#" + strconv.Itoa(i+1)
		}
	}
	return ids
}

func fromHazards(all []scf.Hazard) []hazard {
	var out []hazard
	for _, h := range all {
		out = append(out, hazard(h))
	}
	return out
}

func fromFramework(f *scf.Framework) framework {
	out := framework{
		Code:         f.Code,
		Name:         f.Name,
		Publisher:    f.Publisher,
		Jurisdiction: f.Jurisdiction,
		Title:        f.Title,
		SourceURL:    f.SourceURL,
		Column:       f.Column,
		Aliases:      f.Aliases,
		Includes:     f.Includes,
		Requirements: make([]requirement, 0, len(f.Requirements)),
	}
	for _, r := range f.Requirements {
		out.Requirements = append(out.Requirements, requirement(r))
	}
	return out
}

func fromControl(c *scf.Control, evidenceIDs []string) control {
	out := control{
		Code:          c.Code,
		Title:         c.Title,
		Description:   c.Description,
		Question:      c.Question,
		Applicability: c.Applicability,
		CSFFunction:   c.CSFFunction,
		Cadence:       c.Cadence,
		Solutions:     fromPairs(c.Solutions),
		Risks:         c.Risks,
		Threats:       c.Threats,
		Baselines:     c.Baselines,
		SCRMTiers:     c.SCRMTiers,
		Traits:        c.Traits,
		Tags:          c.Tags,
		Errata:        c.Errata,
		Extra:         fromPairs(c.Extra),
	}
	if c.Weight != scf.NoWeight {
		out.Weight = &c.Weight
	}
	for _, e := range c.Evidence {
		out.Evidence = append(out.Evidence, evidenceIDs[e])
	}
	for level, text := range c.Maturity {
		if text != "" {
			if out.Maturity == nil {
				out.Maturity = map[string]string{}
			}
			out.Maturity[strconv.Itoa(level)] = text
		}
	}
	for _, o := range c.Objectives {
		out.Objectives = append(out.Objectives, objective(o))
	}
	for _, k := range c.Compensating {
		out.Compensating = append(out.Compensating, compensatingControl(k))
	}
	return out
}

func fromPairs(all []scf.Pair) []namedText {
	var out []namedText
	for _, p := range all {
		out = append(out, namedText(p))
	}
	return out
}

func addMapping(c *control, src *scf.Source, m *scf.Mapping) {
	f := &src.Frameworks[m.Framework]
	code := f.Requirements[m.Requirement].Code
	d := m.Detail
	if d == nil {
		if c.Mappings == nil {
			c.Mappings = map[string][]string{}
		}
		c.Mappings[f.Code] = append(c.Mappings[f.Code], code)
		return
	}
	r := relation{
		Framework:    f.Code,
		Requirement:  code,
		Relationship: d.Relationship,
		Rationale:    d.Rationale,
		Source:       d.Source,
		IsOfficial:   d.Official,
	}
	if d.Strength >= 0 {
		r.Strength = &d.Strength
	}
	c.Relations = append(c.Relations, r)
}
