package content

import (
	"time"

	"github.com/scf-service/service/api"
)

// SchemaVersion is the version of the JSON form of reports. Within a major version, fields are only
// added, never changed or removed.
const SchemaVersion = "1.0"

// Data is the JSON form of a report, which is the same for all templates. Sections that the template does not show
// are absent. A deliverable that has not been drafted has a null version and no items. Records have the types of
// package api, and items are in the same order as on the page. Lists are never null.
type Data struct {
	SchemaVersion string            `json:"schema_version"`
	Template      string            `json:"template"`
	Title         string            `json:"title"`
	AsOf          time.Time         `json:"as_of"`
	Tool          string            `json:"tool"`
	Draft         bool              `json:"draft"`
	DraftReasons  []string          `json:"draft_reasons"`
	Notices       []string          `json:"notices"`
	Sources       map[string]string `json:"sources"`

	Organization jsonOrganization      `json:"organization"`
	Assessment   api.Assessment        `json:"assessment"`
	Catalog      api.CatalogVersion    `json:"catalog"`
	Frameworks   []api.Framework       `json:"frameworks"`
	Domains      map[string]string     `json:"domains"`
	Summary      api.AssessmentSummary `json:"summary"`

	Story            *Story                                                   `json:"story,omitempty"`
	ExecutiveSummary []string                                                 `json:"executive_summary,omitempty"`
	Coverage         *[]jsonCoverage                                          `json:"coverage,omitempty"`
	CoverageRule     string                                                   `json:"coverage_rule,omitempty"`
	Scope            *api.Scope                                               `json:"scope,omitempty"`
	SoA              *jsonDeliverable[api.SoAVersion, api.SoAItem]            `json:"soa,omitempty"`
	GapAnalysis      *jsonDeliverable[api.GapVersion, api.Finding]            `json:"gap_analysis,omitempty"`
	Maturity         *jsonDeliverable[api.MaturityVersion, api.MaturityScore] `json:"maturity,omitempty"`
	MaturitySummary  *api.MaturitySummary                                     `json:"maturity_summary,omitempty"`
	POAM             *jsonDeliverable[api.POAMVersion, api.POAMItem]          `json:"poam,omitempty"`
	Documents        []api.Document                                           `json:"documents"`
	Approvals        []api.Approval                                           `json:"approvals"`
}

// jsonOrganization is the JSON form of an organization. It omits the settings, because they are internal.
type jsonOrganization struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Slug string `json:"slug"`
}

// jsonDeliverable is the JSON form of a deliverable. Its version is null if none has been drafted.
type jsonDeliverable[V, I any] struct {
	Version        *V     `json:"version"`
	Approved       bool   `json:"approved"`
	ApprovalStatus string `json:"approval_status"`
	Items          []I    `json:"items"`
}

type jsonCoverage struct {
	FrameworkCode string                 `json:"framework_code"`
	FrameworkName string                 `json:"framework_name"`
	Counts        map[coverageStatus]int `json:"counts"`
	Requirements  []jsonRequirement      `json:"requirements"`
}

type jsonRequirement struct {
	Code         string         `json:"code"`
	Title        string         `json:"title"`
	Status       coverageStatus `json:"status"`
	ControlCodes []string       `json:"control_codes"`
}

// Data returns the content of the report in its JSON form.
func (v *Report) Data() *Data {
	r := &Data{
		SchemaVersion: SchemaVersion, Template: v.Template.Name, Title: v.Title, AsOf: v.AsOf, Tool: v.Tool,
		Draft: len(
			v.DraftReasons,
		) > 0, DraftReasons: append([]string{}, v.DraftReasons...), Notices: []string{}, Sources: Provenance(v.Source, v.Template.Name),
		Organization: jsonOrganization{ID: v.Organization.ID, Name: v.Organization.Name, Slug: v.Organization.Slug},
		Assessment:   v.Assessment, Catalog: v.Catalog, Frameworks: v.Frameworks, Domains: v.Domains, Summary: v.Summary,
		Documents: v.Documents, Approvals: []api.Approval{},
	}
	if v.Catalog.IsStarter {
		r.Notices = append(r.Notices, StarterNotice)
	}
	r.Notices = append(r.Notices, v.outdatedMessages()...)
	for _, a := range v.Approvals {
		if v.Template.HasDeliverable(a.Gate) {
			r.Approvals = append(r.Approvals, a)
		}
	}
	if v.hasStory() {
		r.Story = v.Story()
	}
	if v.Template.hasSection(SectionSummary) || v.isBrief() {
		r.ExecutiveSummary = v.executiveParagraphs()
	}
	if v.Template.hasSection(SectionCoverage) || v.isBrief() {
		c := v.jsonCoverage()
		r.Coverage, r.CoverageRule = &c, coverageRule
	}
	if v.Template.hasSection(SectionScope) || v.Template.hasSection(SectionSummary) || v.isBrief() {
		r.Scope = v.Scope
	}
	if v.Template.HasDeliverable(api.GateSoA) {
		r.SoA = newJSONDeliverable(v, api.GateSoA, v.SoA, v.SoAItems)
	}
	if v.Template.HasDeliverable(api.GateGapAnalysis) {
		r.GapAnalysis = newJSONDeliverable(v, api.GateGapAnalysis, v.Gap, v.Findings)
	}
	if v.Template.HasDeliverable(api.GateMaturity) {
		r.Maturity, r.MaturitySummary = newJSONDeliverable(v, api.GateMaturity, v.Maturity, v.Scores), v.MaturitySummary
	}
	if v.Template.HasDeliverable(api.GatePOAM) {
		r.POAM = newJSONDeliverable(v, api.GatePOAM, v.POAM, v.POAMItems)
	}
	return r
}

func newJSONDeliverable[V, I any](v *Report, g api.Gate, version *V, items []I) *jsonDeliverable[V, I] {
	st := v.approvalStatus(g)
	p := &jsonDeliverable[V, I]{Version: version, Approved: st.approved, ApprovalStatus: st.reason, Items: items}
	if st.approved {
		p.ApprovalStatus = v.describeApproval(st)
	}
	return p
}

func (v *Report) jsonCoverage() []jsonCoverage {
	out := []jsonCoverage{}
	for _, fc := range v.coverage {
		c := jsonCoverage{
			FrameworkCode: fc.framework.Code,
			FrameworkName: fc.framework.Name,
			Counts:        map[coverageStatus]int{},
			Requirements:  []jsonRequirement{},
		}
		for _, o := range coverageStatuses {
			c.Counts[o] = fc.counts[o]
		}
		for _, r := range fc.requirements {
			codes := []string{}
			for _, it := range r.items {
				codes = append(codes, it.ControlCode)
			}
			c.Requirements = append(c.Requirements, jsonRequirement{Code: r.code, Title: r.title, Status: r.status, ControlCodes: codes})
		}
		out = append(out, c)
	}
	return out
}
