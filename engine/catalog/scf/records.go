package scf

import (
	"strconv"

	"github.com/scf-service/service/api"
)

// NilIfEmpty returns a pointer to s, or nil if s is empty. In JSON, the result for an empty string is null.
func NilIfEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// emptyIfNil returns s, or an empty slice if s is nil, so that JSON shows [] rather than null.
func emptyIfNil(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

func pairsToMap(p []Pair) map[string]string {
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
			ID: s.recordID(kindDomain, d.Code).String(), VersionID: s.version.ID, Code: d.Code, Name: d.Name,
			Principle: NilIfEmpty(d.Principle), Intent: NilIfEmpty(d.Intent),
			CreatedAt: s.version.ImportedAt, UpdatedAt: s.version.ImportedAt,
		}
	}
	for i := range s.src.Controls {
		out[s.domains[s.src.Controls[i].DomainCode()]].ControlCount++
	}
	return out
}

func (s *Snapshot) makeControls() []api.Control {
	out := make([]api.Control, len(s.src.Controls))
	for i := range s.src.Controls {
		out[i] = s.controlRecord(i)
	}
	return out
}

func (s *Snapshot) controlRecord(i int) api.Control {
	c := &s.src.Controls[i]
	out := api.Control{
		ID: s.controlIDs[i], VersionID: s.version.ID, Code: c.Code, Title: c.Title,
		Description: c.Description, Question: NilIfEmpty(c.Question), DomainCode: c.DomainCode(),
		Applicability: emptyIfNil(c.Applicability), CSFFunction: NilIfEmpty(c.CSFFunction), Cadence: NilIfEmpty(c.Cadence),
		EvidenceRequests: make([]api.EvidenceRequest, 0, len(c.Evidence)),
		Solutions:        pairsToMap(c.Solutions), Maturity: map[string]string{},
		Risks: emptyIfNil(c.Risks), Threats: emptyIfNil(c.Threats),
		AssessmentObjectives: make([]api.AssessmentObjective, 0, len(c.Objectives)),
		CompensatingControls: make([]api.CompensatingControl, 0, len(c.Compensating)),
		Baselines:            emptyIfNil(c.Baselines), SCRMTiers: emptyIfNil(c.SCRMTiers), Traits: emptyIfNil(c.Traits),
		Tags: emptyIfNil(c.Tags), IsMaterial: c.Weight == 10, IsDeprecated: c.IsDeprecated(),
		Errata: emptyIfNil(c.Errata), Extra: pairsToMap(c.Extra), IsCustom: c.Owner != "", OrganizationID: NilIfEmpty(c.Owner),
		CreatedAt: s.version.ImportedAt, UpdatedAt: s.version.ImportedAt,
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
		rec := api.AssessmentObjective{
			Code:          o.Code,
			Text:          o.Text,
			Applicability: emptyIfNil(o.Applicability),
			Origins:       emptyIfNil(o.Origins),
		}
		if o.Rigor != 0 {
			rigor := o.Rigor
			rec.Rigor = &rigor
		}
		out.AssessmentObjectives = append(out.AssessmentObjectives, rec)
	}
	for _, k := range c.Compensating {
		out.CompensatingControls = append(out.CompensatingControls,
			api.CompensatingControl{ControlCode: k.Control, Name: NilIfEmpty(k.Name), Justification: NilIfEmpty(k.Justification)})
	}
	return out
}

func evidenceRecord(e *EvidenceRequest) api.EvidenceRequest {
	return api.EvidenceRequest{
		Code:        NilIfEmpty(e.Code),
		Area:        NilIfEmpty(e.Area),
		Artifact:    e.Artifact,
		Description: NilIfEmpty(e.Description),
	}
}

// EvidenceItems lists the evidence requests, each with the controls that it concerns.
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
		out[i] = api.Hazard{
			Code:        h.Code,
			Group:       NilIfEmpty(h.Group),
			Title:       h.Title,
			Description: NilIfEmpty(h.Description),
			CSFFunction: NilIfEmpty(h.CSFFunction),
		}
	}
	return out
}

// Principles lists the source's privacy management principles.
func (s *Snapshot) Principles() []api.Principle {
	out := make([]api.Principle, len(s.src.Principles))
	for i, p := range s.src.Principles {
		out[i] = api.Principle{Number: p.Number, Name: p.Name, Description: NilIfEmpty(p.Description), ControlCodes: emptyIfNil(p.Controls)}
	}
	return out
}

func (s *Snapshot) makeFrameworks() []api.Framework {
	out := make([]api.Framework, len(s.src.Frameworks))
	for i := range s.src.Frameworks {
		f := &s.src.Frameworks[i]
		out[i] = api.Framework{
			ID: s.frameworkIDs[i], VersionID: s.version.ID, Code: f.Code, Name: f.Name,
			Publisher: NilIfEmpty(f.Publisher), Jurisdiction: NilIfEmpty(f.Jurisdiction), Title: NilIfEmpty(f.Title),
			SourceURL: NilIfEmpty(f.SourceURL), Column: NilIfEmpty(f.Column),
			Aliases: emptyIfNil(f.Aliases), Includes: emptyIfNil(f.Includes), IsCustom: f.Owner != "", OrganizationID: NilIfEmpty(f.Owner),
			RequirementCount: len(f.Requirements),
			MappingCount:     int(s.mappingStart[s.firstRequirement[i+1]] - s.mappingStart[s.firstRequirement[i]]),
			CreatedAt:        s.version.ImportedAt, UpdatedAt: s.version.ImportedAt,
		}
	}
	return out
}

func (s *Snapshot) requirementRecord(number int32) api.Requirement {
	f, r := s.locateRequirement(number)
	q := &s.src.Frameworks[f].Requirements[r]
	return api.Requirement{
		ID: s.requirementIDs()[number], VersionID: s.version.ID,
		FrameworkID: s.frameworkIDs[f], FrameworkCode: s.src.Frameworks[f].Code,
		Code: q.Code, Title: NilIfEmpty(q.Title), Text: NilIfEmpty(q.Text), SortOrder: r + 1,
		CreatedAt: s.version.ImportedAt, UpdatedAt: s.version.ImportedAt,
	}
}

// Sources of mappings that were not imported from a mapping document.
const (
	sourceWorkbook = "scf-workbook"
	sourceStarter  = "starter"
)

func (s *Snapshot) mappingRecord(i int32) api.Mapping {
	m := &s.src.Mappings[i]
	f := &s.src.Frameworks[m.Framework]
	out := api.Mapping{
		ID: s.mappingID(m).String(), VersionID: s.version.ID,
		ControlID: s.controlIDs[m.Control], ControlCode: s.src.Controls[m.Control].Code,
		FrameworkID: s.frameworkIDs[m.Framework], FrameworkCode: f.Code,
		RequirementID: s.requirementIDs()[s.requirementNumber(m)], RequirementCode: f.Requirements[m.Requirement].Code,
		Source: sourceWorkbook, IsOfficial: !s.src.IsStarter,
		CreatedAt: s.version.ImportedAt, UpdatedAt: s.version.ImportedAt,
	}
	if s.src.IsStarter {
		out.Source = sourceStarter
	}
	if d := m.Detail; d != nil {
		out.Relationship, out.Rationale = NilIfEmpty(d.Relationship), NilIfEmpty(d.Rationale)
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
