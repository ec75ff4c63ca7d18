package render

import (
	"encoding/json"
	"io"
	"time"

	"github.com/scf-service/service/api"
)

// SchemaVersion names the structure of the JSON form. A field is only ever added under
// the same major number.
const SchemaVersion = "1.0"

// jsonReport is the JSON form of every template. A part that the template does not tell is
// absent; one that was not drafted yet has a null version and no items. Records are the
// contract's (engine/api), items in the order of the page. Lists are never null.
type jsonReport struct {
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

	ExecutiveSummary []string                                          `json:"executive_summary,omitempty"`
	Coverage         *[]jsonCoverage                                   `json:"coverage,omitempty"`
	CoverageRule     string                                            `json:"coverage_rule,omitempty"`
	Scope            *api.Scope                                        `json:"scope,omitempty"`
	SoA              *jsonPart[api.SoAVersion, api.SoAItem]            `json:"soa,omitempty"`
	GapAnalysis      *jsonPart[api.GapVersion, api.Finding]            `json:"gap_analysis,omitempty"`
	Maturity         *jsonPart[api.MaturityVersion, api.MaturityScore] `json:"maturity,omitempty"`
	MaturitySummary  *api.MaturitySummary                              `json:"maturity_summary,omitempty"`
	POAM             *jsonPart[api.POAMVersion, api.POAMItem]          `json:"poam,omitempty"`
	Documents        []api.Document                                    `json:"documents"`
	Approvals        []api.Approval                                    `json:"approvals"`
}

// jsonOrganization leaves the settings out: they are the organization's own.
type jsonOrganization struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Slug string `json:"slug"`
}

// jsonPart is a deliverable: its version, null where none was drafted, and its items.
type jsonPart[V, I any] struct {
	Version  *V     `json:"version"`
	Approved bool   `json:"approved"`
	Standing string `json:"standing"`
	Items    []I    `json:"items"`
}

type jsonCoverage struct {
	FrameworkCode string            `json:"framework_code"`
	FrameworkName string            `json:"framework_name"`
	Counts        map[outcome]int   `json:"counts"`
	Requirements  []jsonRequirement `json:"requirements"`
}

type jsonRequirement struct {
	Code         string   `json:"code"`
	Title        string   `json:"title"`
	Outcome      outcome  `json:"outcome"`
	ControlCodes []string `json:"control_codes"`
}

// writeJSON writes all that the template tells, texts to the byte.
func writeJSON(w io.Writer, v *view) error {
	r := jsonReport{
		SchemaVersion: SchemaVersion, Template: v.kind.name, Title: v.title, AsOf: v.AsOf, Tool: v.Tool,
		Draft: len(v.draft) > 0, DraftReasons: append([]string{}, v.draft...), Notices: []string{}, Sources: Sources(v.Source, v.kind.name),
		Organization: jsonOrganization{v.Organization.ID, v.Organization.Name, v.Organization.Slug},
		Assessment:   v.Assessment, Catalog: v.Catalog, Frameworks: v.Frameworks, Domains: v.Domains, Summary: v.Summary,
		Documents: v.Documents, Approvals: []api.Approval{},
	}
	if v.Catalog.IsStarter {
		r.Notices = append(r.Notices, starterNotice)
	}
	r.Notices = append(r.Notices, v.outdated()...)
	for _, a := range v.Approvals {
		if v.kind.tells(a.Gate) {
			r.Approvals = append(r.Approvals, a)
		}
	}
	if v.kind.shows(partSummary) {
		r.ExecutiveSummary = v.executive()
	}
	if v.kind.shows(partCoverage) {
		c := v.jsonCoverage()
		r.Coverage, r.CoverageRule = &c, coverageRule
	}
	if v.kind.shows(partScope) || v.kind.shows(partSummary) {
		r.Scope = v.Scope
	}
	if v.kind.tells(api.GateSoA) {
		r.SoA = partOf(v, api.GateSoA, v.SoA, v.SoAItems)
	}
	if v.kind.tells(api.GateGapAnalysis) {
		r.GapAnalysis = partOf(v, api.GateGapAnalysis, v.Gap, v.Findings)
	}
	if v.kind.tells(api.GateMaturity) {
		r.Maturity, r.MaturitySummary = partOf(v, api.GateMaturity, v.Maturity, v.Scores), v.MaturitySummary
	}
	if v.kind.tells(api.GatePOAM) {
		r.POAM = partOf(v, api.GatePOAM, v.POAM, v.POAMItems)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return enc.Encode(r)
}

func partOf[V, I any](v *view, g api.Gate, version *V, items []I) *jsonPart[V, I] {
	st := v.standing(g)
	p := &jsonPart[V, I]{Version: version, Approved: st.approved, Standing: st.why, Items: items}
	if st.approved {
		p.Standing = approvedWords(v.approver(st), day(approvedAt(st)))
	}
	return p
}

func (v *view) jsonCoverage() []jsonCoverage {
	out := []jsonCoverage{}
	for _, fc := range v.coverage {
		c := jsonCoverage{FrameworkCode: fc.framework.Code, FrameworkName: fc.framework.Name, Counts: map[outcome]int{}, Requirements: []jsonRequirement{}}
		for _, o := range outcomes {
			c.Counts[o] = fc.counts[o]
		}
		for _, r := range fc.requirements {
			codes := []string{}
			for _, it := range r.items {
				codes = append(codes, it.ControlCode)
			}
			c.Requirements = append(c.Requirements, jsonRequirement{r.code, r.title, r.outcome, codes})
		}
		out = append(out, c)
	}
	return out
}
