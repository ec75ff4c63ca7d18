package api

import (
	"cmp"
	"slices"
)

// GapVersion is one version of the gap analysis.
type GapVersion struct {
	DeliverableVersion
}

// Result says how a control fares against what it asks for.
type Result string

// The results.
const (
	Met             Result = "met"
	PartiallyMet    Result = "partially_met"
	NotMet          Result = "not_met"
	ResultNoEvid    Result = "not_evidenced"
	ResultNotApplic Result = "not_applicable"
)

// Finding is a gap.
type Finding struct {
	Item
	// InCatalog is false for a gap added by hand under a code the catalog lacks.
	InCatalog       bool           `json:"in_catalog"`
	Status          Implementation `json:"status"`
	Result          Result         `json:"result"`
	GapType         string         `json:"gap_type" enum:"documentation,implementation,evidence,effectiveness,governance,technical,contractual,monitoring"`
	Severity        Severity       `json:"severity"`
	SeverityReason  string         `json:"severity_reason" doc:"The formula, with its numbers."`
	SeverityPoints  float64        `json:"severity_points" doc:"What the formula comes to, before a person set another severity; of a gap added by hand, with all of it missing."`
	Weight          int            `json:"weight"`
	Condition       string         `json:"condition"`
	Criteria        string         `json:"criteria"`
	Cause           string         `json:"cause"`
	Effect          string         `json:"effect"`
	Recommendation  string         `json:"recommendation"`
	MissingElements []string       `json:"missing_elements"`
	Evidence        []Evidence     `json:"evidence"`
	Confidence      float64        `json:"confidence"`
	Owner           *string        `json:"owner"`
	DueDate         *Date          `json:"due_date"`
	Note            *string        `json:"note"`
	Source          string         `json:"source" enum:"analysis,manual"`
	// StatusSetBy is empty where the evidence gave the status.
	StatusSetBy string `json:"status_set_by,omitempty" doc:"The person who set the status in the Statement of Applicability."`
	OriginID    string `json:"origin_id,omitempty" doc:"Of a gap added by hand: its id in the version that it was added to."`
}

// IsOverruled tells whether a person set the status over what the rules said.
func (f *Finding) IsOverruled() bool {
	return f.Source != "manual" && (f.StatusSetBy != "" || f.IsManual("status"))
}

// Origin tells a gap apart from others on its control, in every version: empty is that of the analysis.
func (f *Finding) Origin() string {
	if f.Source != "manual" {
		return ""
	}
	return cmp.Or(f.OriginID, f.ID)
}

// GapInput names a version.
type GapInput struct {
	GapVersionID string `path:"gapVersionId"`
}

// FindingFilter narrows a list of findings.
type FindingFilter struct {
	Severity    Severity       `query:"severity"`
	Status      Implementation `query:"status"`
	Result      Result         `query:"result"`
	GapType     string         `query:"gap_type" enum:"documentation,implementation,evidence,effectiveness,governance,technical,contractual,monitoring"`
	Source      string         `query:"source" enum:"analysis,manual"`
	Domain      string         `query:"domain"`
	ControlCode string         `query:"control_code"`
	Owner       string         `query:"owner"`
	Q           string         `query:"q" doc:"Part of the control, the condition or the recommendation."`
	Sort        string         `query:"sort" sort:"severity,known,severity_points,weight,control_code,domain_code,status,result,owner,due_date,updated_at" doc:"The order; - before a name for descending. known: whether the evidence shows the gap."`
}

// EvidencedRank is 1 for a gap that the evidence shows, and 0 where too little was found to tell.
func (f *Finding) EvidencedRank() int {
	if f.Result == ResultNoEvid {
		return 0
	}
	return 1
}

// CompareSeverity is below 0 where f is worse than o: by severity; of one, what is known to be missing comes
// before what too little was found of; then by points and weight.
func (f *Finding) CompareSeverity(o *Finding) int {
	return cmp.Or(cmp.Compare(severityRank(f.Severity), severityRank(o.Severity)), cmp.Compare(o.EvidencedRank(), f.EvidencedRank()),
		cmp.Compare(o.SeverityPoints, f.SeverityPoints), cmp.Compare(o.Weight, f.Weight))
}

// severityRank is 0 for the worst; what is no severity comes last.
func severityRank(s Severity) int {
	if i := slices.Index(Severities, s); i >= 0 {
		return i
	}
	return len(Severities)
}

// FindingsInput lists the findings of a version.
type FindingsInput struct {
	GapInput
	Paging
	FindingFilter
}

// GapsInput lists the gaps of an assessment's current version.
type GapsInput struct {
	AssessmentInput
	Paging
	FindingFilter
}

// CreateGapInput adds a gap by hand.
type CreateGapInput struct {
	AssessmentInput
	Body struct {
		ControlID      string         `json:"control_id" minLength:"1" maxLength:"100" doc:"Control code." example:"IAC-06"`
		Status         Implementation `json:"status" enum:"implemented,partially_implemented,planned,not_implemented,not_evidenced,not_assessed"`
		Severity       Severity       `json:"severity" enum:"informational,low,medium,high,critical"`
		Condition      string         `json:"condition,omitempty" maxLength:"10000"`
		Cause          string         `json:"cause,omitempty" maxLength:"10000"`
		Effect         string         `json:"effect,omitempty" maxLength:"10000"`
		Recommendation string         `json:"recommendation,omitempty" maxLength:"10000"`
		GapType        string         `json:"gap_type,omitempty" enum:"documentation,implementation,evidence,effectiveness,governance,technical,contractual,monitoring"`
		Owner          *string        `json:"owner,omitempty"`
		DueDate        *Date          `json:"due_date,omitempty" format:"date"`
	}
}

// FindingInput names a finding.
type FindingInput struct {
	FindingID string `path:"findingId"`
}

// UpdateFindingInput changes a finding.
type UpdateFindingInput struct {
	FindingID string `path:"findingId"`
	Match
	Body struct {
		Status         *Implementation `json:"status,omitempty" enum:"implemented,partially_implemented,planned,not_implemented,not_evidenced,not_assessed"`
		Severity       *Severity       `json:"severity,omitempty" enum:"informational,low,medium,high,critical"`
		GapType        *string         `json:"gap_type,omitempty" enum:"documentation,implementation,evidence,effectiveness,governance,technical,contractual,monitoring"`
		Condition      *string         `json:"condition,omitempty" maxLength:"10000"`
		Criteria       *string         `json:"criteria,omitempty" maxLength:"10000"`
		Cause          *string         `json:"cause,omitempty" maxLength:"10000"`
		Effect         *string         `json:"effect,omitempty" maxLength:"10000"`
		Recommendation *string         `json:"recommendation,omitempty" maxLength:"10000"`
		Owner          Opt[string]     `json:"owner,omitzero" required:"false"`
		Note           Opt[string]     `json:"note,omitzero" required:"false"`
		DueDate        Opt[Date]       `json:"due_date,omitzero" required:"false"`
		Reset          []string        `json:"reset,omitempty" maxItems:"50" doc:"Edited fields to hand back to the rules, whose value of today is put there; all for each of them. A field is not set and handed back at once."`
	}
}

// DecideGapInput approves a version.
type DecideGapInput struct {
	GapInput
	Body *VersionDecision
}

// GapSummary counts a version.
type GapSummary struct {
	GapVersionID      string           `json:"gap_version_id"`
	Controls          int              `json:"controls" doc:"Controls that apply and were assessed."`
	NotAssessed       int              `json:"not_assessed" doc:"Controls that apply and that no draft has judged yet: they are neither met nor a gap."`
	Findings          int              `json:"findings"`
	ByResult          map[Result]int   `json:"by_result" doc:"Findings, and controls without one that are met."`
	BySeverity        map[Severity]int `json:"by_severity"`
	ByDomain          map[string]int   `json:"by_domain"`
	ByType            map[string]int   `json:"by_type"`
	CompliancePct     *float64         `json:"compliance_pct"`
	ComplianceFormula string           `json:"compliance_formula"`
	Conformity        string           `json:"conformity" enum:"strictly_conforms,conforms,significant_deficiency,material_weakness," doc:"By the SCF's thresholds; empty where nothing was assessed."`
	ConformityPct     *float64         `json:"conformity_pct" doc:"Implemented controls over assessed ones; what is partly done counts as deficient."`
	ConformityFormula string           `json:"conformity_formula"`
	DeficientMaterial []string         `json:"deficient_material" doc:"Material controls (weight 10) that are not implemented."`
	OtherwiseThanSoA  []string         `json:"otherwise_than_soa" doc:"Controls that people judged otherwise in the gap analysis than their lines of the Statement of Applicability say, by which compliance and conformity go."`
	SinceVersion      int              `json:"since_version" doc:"The version that changes are told since; 0 where this is the first."`
	Changes           []GapChange      `json:"changes" doc:"What differs from the version before, by kind, worst first."`
}

// GapChangeKind says how a gap moved between two versions.
type GapChangeKind string

// The kinds of change.
const (
	GapOpened GapChangeKind = "opened"
	GapWorse  GapChangeKind = "worse"
	GapBetter GapChangeKind = "better"
	GapClosed GapChangeKind = "closed"
)

// GapChangeKinds in the order in which they are told.
var GapChangeKinds = []GapChangeKind{GapOpened, GapWorse, GapBetter, GapClosed}

// GapChange is how the gap of one control moved.
type GapChange struct {
	ControlCode  string        `json:"control_code"`
	ControlTitle string        `json:"control_title"`
	Change       GapChangeKind `json:"change" enum:"opened,worse,better,closed"`
	Severity     Severity      `json:"severity" doc:"Now; of a closed gap, before."`
	Before       string        `json:"before" doc:"Severity and status before; empty where it was opened."`
	After        string        `json:"after" doc:"Severity and status now; empty where it was closed."`
	Why          []string      `json:"why" doc:"What moved it: evidence, catalog, person, rule."`
}

const tagGap = "Gap analysis"

// Operations of the interface's part 4.10.
var (
	DraftGap = Create[AssessmentInput, GapVersion](
		"draft-gap-analysis",
		"/assessments/{assessmentId}/gap-analysis/draft",
		WithPermission("gap:write"),
		WithTag(tagGap),
		WithSummary("Draft a gap analysis"),
	)
	ListGap = Get[AssessmentListInput, List[GapVersion]](
		"list-gap-analysis-versions",
		"/assessments/{assessmentId}/gap-analysis",
		WithPermission("gap:read"),
		WithTag(tagGap),
		WithSummary("List gap analysis versions, newest first"),
	)
	ListGaps = Get[GapsInput, List[Finding]](
		"list-gaps",
		"/assessments/{assessmentId}/gaps",
		WithPermission("gap:read"),
		WithTag(tagGap),
		WithSummary("List the gaps of the current version"),
	)
	CreateGap = Create[CreateGapInput, Finding](
		"create-gap",
		"/assessments/{assessmentId}/gaps",
		WithPermission("gap:write"),
		WithTag(tagGap),
		WithSummary("Add a gap by hand"),
	)
	GetGap = Get[GapInput, GapVersion](
		"get-gap-analysis",
		"/gap-analysis/{gapVersionId}",
		WithPermission("gap:read"),
		WithTag(tagGap),
		WithSummary("Read a gap analysis version"),
	)
	ListFindings = Get[FindingsInput, List[Finding]](
		"list-findings",
		"/gap-analysis/{gapVersionId}/findings",
		WithPermission("gap:read"),
		WithTag(tagGap),
		WithSummary("List the findings of a version, worst first"),
	)
	GetFinding = Get[FindingInput, Finding](
		"get-finding",
		"/gap-analysis/findings/{findingId}",
		WithPermission("gap:read"),
		WithTag(tagGap),
		WithSummary("Read a finding"),
	)
	UpdateFinding = Patch[UpdateFindingInput, Finding](
		"update-finding",
		"/gap-analysis/findings/{findingId}",
		WithPermission("gap:write"),
		WithTag(tagGap),
		WithSummary("Change a finding"),
	)
	SubmitGap = Post[GapInput, GapVersion](
		"submit-gap-analysis",
		"/gap-analysis/{gapVersionId}/submit-review",
		WithPermission("gap:write"),
		WithTag(tagGap),
		WithSummary("Submit a gap analysis for review"),
	)
	ApproveGap = Post[DecideGapInput, GapVersion](
		"approve-gap-analysis",
		"/gap-analysis/{gapVersionId}/approve",
		WithPermission(ApprovalDecide),
		WithDelegates(),
		WithTag(tagGap),
		WithSummary("Approve a gap analysis"),
	)
	GetGapSummary = Get[GapInput, GapSummary](
		"get-gap-analysis-summary",
		"/gap-analysis/{gapVersionId}/summary",
		WithPermission("gap:read"),
		WithTag(tagGap),
		WithSummary("Count a gap analysis"),
	)
	RegenerateGap = Post[GapInput, GapVersion](
		"regenerate-gap-analysis",
		"/gap-analysis/{gapVersionId}/regenerate",
		WithPermission("gap:write"),
		WithTag(tagGap),
		WithSummary("Draft again, keeping what people edited"),
	)
)
