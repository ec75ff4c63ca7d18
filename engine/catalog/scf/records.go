package scf

import (
	"strconv"

	"github.com/scf-service/service/api"
)

// opt is null in JSON where the source has nothing.
func opt(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// list is never null in JSON.
func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

func pairs(p []Pair) map[string]string {
	m := make(map[string]string, len(p))
	for _, e := range p {
		m[e.Name] = e.Text
	}
	return m
}

func (s *Snapshot) makeDomains() []api.Domain {
	out := make([]api.Domain, len(s.src.Domains))
	for i := range s.src.Domains {
		d := &s.src.Domains[i]
		out[i] = api.Domain{
			ID: s.id(kindDomain, d.Code).String(), VersionID: s.meta.ID, Code: d.Code, Name: d.Name,
			Principle: opt(d.Principle), Intent: opt(d.Intent),
			CreatedAt: s.meta.ImportedAt, UpdatedAt: s.meta.ImportedAt,
		}
	}
	for i := range s.src.Controls {
		out[s.domains[s.src.Controls[i].Domain()]].ControlCount++
	}
	return out
}

func (s *Snapshot) makeControls() []api.Control {
	out := make([]api.Control, len(s.src.Controls))
	for i := range s.src.Controls {
		out[i] = s.control(i)
	}
	return out
}

func (s *Snapshot) control(i int) api.Control {
	c := &s.src.Controls[i]
	out := api.Control{
		ID: s.controlIDs[i], VersionID: s.meta.ID, Code: c.Code, Title: c.Title,
		Description: c.Description, Question: opt(c.Question), DomainCode: c.Domain(),
		Applicability: list(c.Applicability), CSFFunction: opt(c.CSFFunction), Cadence: opt(c.Cadence),
		EvidenceRequests: make([]api.EvidenceRequest, 0, len(c.Evidence)),
		Solutions:        pairs(c.Solutions), Maturity: map[string]string{},
		Risks: list(c.Risks), Threats: list(c.Threats),
		AssessmentObjectives: make([]api.AssessmentObjective, 0, len(c.Objectives)),
		CompensatingControls: make([]api.CompensatingControl, 0, len(c.Compensating)),
		Baselines:            list(c.Baselines), SCRMTiers: list(c.SCRMTiers), Traits: list(c.Traits),
		Tags: list(c.Tags), IsMaterial: c.Weight == 10, IsDeprecated: c.Deprecated(),
		Errata: list(c.Errata), Extra: pairs(c.Extra), IsCustom: c.Owner != "", OrganizationID: opt(c.Owner),
		CreatedAt: s.meta.ImportedAt, UpdatedAt: s.meta.ImportedAt,
	}
	if c.Weight != NoWeight {
		w := c.Weight
		out.Weight = &w
	}
	for _, e := range c.Evidence {
		out.EvidenceRequests = append(out.EvidenceRequests, evidenceRecord(&s.src.Evidence[e]))
	}
	for level, text := range c.Maturity {
		if text != "" {
			out.Maturity[strconv.Itoa(level)] = text
		}
	}
	for _, o := range c.Objectives {
		rec := api.AssessmentObjective{Code: o.Code, Text: o.Text, Applicability: list(o.Applicability), Origins: list(o.Origins)}
		if o.Rigor != 0 {
			rigor := o.Rigor
			rec.Rigor = &rigor
		}
		out.AssessmentObjectives = append(out.AssessmentObjectives, rec)
	}
	for _, k := range c.Compensating {
		out.CompensatingControls = append(out.CompensatingControls,
			api.CompensatingControl{ControlCode: k.Control, Name: opt(k.Name), Justification: opt(k.Justification)})
	}
	return out
}

func evidenceRecord(e *EvidenceRequest) api.EvidenceRequest {
	return api.EvidenceRequest{Code: opt(e.Code), Area: opt(e.Area), Artifact: e.Artifact, Description: opt(e.Description)}
}

// EvidenceItems lists the evidence requests with the controls they serve.
func (s *Snapshot) EvidenceItems() []api.EvidenceItem {
	out := make([]api.EvidenceItem, len(s.src.Evidence))
	for i := range s.src.Evidence {
		out[i] = api.EvidenceItem{EvidenceRequest: evidenceRecord(&s.src.Evidence[i]), ControlCodes: []string{}}
	}
	for i := range s.src.Controls {
		for _, e := range s.src.Controls[i].Evidence {
			out[e].ControlCodes = append(out[e].ControlCodes, s.src.Controls[i].Code)
		}
	}
	return out
}

// Risks lists the source's risk catalog.
func (s *Snapshot) Risks() []api.Hazard { return hazardRecords(s.src.Risks) }

// Threats lists the source's threat catalog.
func (s *Snapshot) Threats() []api.Hazard { return hazardRecords(s.src.Threats) }

func hazardRecords(list []Hazard) []api.Hazard {
	out := make([]api.Hazard, len(list))
	for i, h := range list {
		out[i] = api.Hazard{Code: h.Code, Group: opt(h.Group), Title: h.Title, Description: opt(h.Description), CSFFunction: opt(h.CSFFunction)}
	}
	return out
}

// Principles lists the source's privacy management principles.
func (s *Snapshot) Principles() []api.Principle {
	out := make([]api.Principle, len(s.src.Principles))
	for i, p := range s.src.Principles {
		out[i] = api.Principle{Number: p.Number, Name: p.Name, Description: opt(p.Description), ControlCodes: list(p.Controls)}
	}
	return out
}

func (s *Snapshot) makeFrameworks() []api.Framework {
	out := make([]api.Framework, len(s.src.Frameworks))
	for i := range s.src.Frameworks {
		f := &s.src.Frameworks[i]
		out[i] = api.Framework{
			ID: s.frameworkIDs[i], VersionID: s.meta.ID, Code: f.Code, Name: f.Name,
			Publisher: opt(f.Publisher), Jurisdiction: opt(f.Jurisdiction), Title: opt(f.Title),
			SourceURL: opt(f.SourceURL), Column: opt(f.Column),
			Aliases: list(f.Aliases), Includes: list(f.Includes), IsCustom: f.Owner != "", OrganizationID: opt(f.Owner),
			RequirementCount: len(f.Requirements),
			MappingCount:     int(s.reqStart[s.base[i+1]] - s.reqStart[s.base[i]]),
			CreatedAt:        s.meta.ImportedAt, UpdatedAt: s.meta.ImportedAt,
		}
	}
	return out
}

func (s *Snapshot) requirement(number int32) api.Requirement {
	f, r := s.frameworkOf(number)
	q := &s.src.Frameworks[f].Requirements[r]
	return api.Requirement{
		ID: s.requirementIDs()[number], VersionID: s.meta.ID,
		FrameworkID: s.frameworkIDs[f], FrameworkCode: s.src.Frameworks[f].Code,
		Code: q.Code, Title: opt(q.Title), Text: opt(q.Text), SortOrder: r + 1,
		CreatedAt: s.meta.ImportedAt, UpdatedAt: s.meta.ImportedAt,
	}
}

// Names of what states a mapping where no document does.
const (
	sourceWorkbook = "scf-workbook"
	sourceStarter  = "starter"
)

func (s *Snapshot) mapping(i int32) api.Mapping {
	m := &s.src.Mappings[i]
	f := &s.src.Frameworks[m.Framework]
	out := api.Mapping{
		ID: s.mappingID(m).String(), VersionID: s.meta.ID,
		ControlID: s.controlIDs[m.Control], ControlCode: s.src.Controls[m.Control].Code,
		FrameworkID: s.frameworkIDs[m.Framework], FrameworkCode: f.Code,
		RequirementID: s.requirementIDs()[s.number(m)], RequirementCode: f.Requirements[m.Requirement].Code,
		Source: sourceWorkbook, IsOfficial: !s.src.IsStarter,
		CreatedAt: s.meta.ImportedAt, UpdatedAt: s.meta.ImportedAt,
	}
	if s.src.IsStarter {
		out.Source = sourceStarter
	}
	if d := m.Detail; d != nil {
		out.Relationship, out.Rationale = opt(d.Relationship), opt(d.Rationale)
		out.IsOfficial = d.Official
		if d.Source != "" {
			out.Source = d.Source
		}
		if d.Strength >= 0 {
			strength := d.Strength
			out.Strength = &strength
		}
	}
	return out
}
