package custom

import (
	"strconv"

	"github.com/scf-service/service/engine/catalog/scf"
)

// WriteCatalog returns the catalog as a compact JSON document. The result for a given catalog is always the
// same.
func WriteCatalog(src *scf.Source) ([]byte, error) {
	doc := catalogDocument{
		Format: Format, FormatVersion: FormatVersion, Label: src.Label,
		Domains: append([]scf.Domain{}, src.Domains...), Frameworks: append([]scf.Framework{}, src.Frameworks...),
		Controls: make([]control, 0, len(src.Controls)),
		Risks:    src.Risks, Threats: src.Threats, Principles: src.Principles,
	}
	if src.Filename != "" || src.SHA256 != "" || src.IsStarter {
		doc.Origin = &documentOrigin{Filename: src.Filename, SHA256: src.SHA256, IsStarter: src.IsStarter}
	}
	for i := range doc.Frameworks {
		if f := &doc.Frameworks[i]; f.Requirements == nil {
			f.Requirements = []scf.Requirement{} // the schema requires a list
		}
	}
	ids := uniqueEvidenceIDs(src.Evidence)
	for i, e := range src.Evidence {
		doc.Evidence = append(
			doc.Evidence,
			evidenceRequest{ID: ids[i], Code: e.Code, Area: e.Area, Artifact: e.Artifact, Description: e.Description},
		)
	}
	for i := range src.Controls {
		doc.Controls = append(doc.Controls, toDocumentControl(&src.Controls[i], ids))
	}
	for i := range src.Mappings {
		addMapping(&doc.Controls[src.Mappings[i].Control], src, &src.Mappings[i])
	}
	return encodeJSON(doc)
}

// uniqueEvidenceIDs returns the IDs that a document uses for evidence requests. The ID of a request is its
// code or, if it has no unique code, its number in the list.
func uniqueEvidenceIDs(all []scf.EvidenceRequest) []string {
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

func toDocumentControl(c *scf.Control, evidenceIDs []string) control {
	out := control{
		Code:          c.Code,
		Title:         c.Title,
		Description:   c.Description,
		Question:      c.Question,
		Applicability: c.Applicability,
		CSFFunction:   c.CSFFunction,
		Cadence:       c.Cadence,
		Solutions:     c.Solutions,
		Risks:         c.Risks,
		Threats:       c.Threats,
		Baselines:     c.Baselines,
		SCRMTiers:     c.SCRMTiers,
		Traits:        c.Traits,
		Tags:          c.Tags,
		Errata:        c.Errata,
		Extra:         c.Extra,
		Objectives:    c.Objectives,
		Compensating:  c.Compensating,
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
