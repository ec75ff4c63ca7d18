package api

import (
	"cmp"
)

// GapVersion is one version of the gap analysis.
type GapVersion struct {
	DeliverableVersion
}

// Result is the verdict on a control in the gap analysis.
type Result string

// The verdicts on a control in the gap analysis.
const (
	Met             Result = "met"
	PartiallyMet    Result = "partially_met"
	NotMet          Result = "not_met"
	ResultNoEvid    Result = "not_evidenced"
	ResultNotApplic Result = "not_applicable"
)

// Finding is a gap: something missing in the implementation or the evidence of a control.
type Finding struct {
	Item
	// InCatalog is false for a gap that was added manually under a code that the catalog lacks.
	InCatalog       bool           `json:"in_catalog"`
	Status          Implementation `json:"status"`
	Result          Result         `json:"result"`
	GapType         string         `json:"gap_type" enum:"documentation,implementation,evidence,effectiveness,governance,technical,contractual,monitoring"`
	Severity        Severity       `json:"severity"`
	SeverityReason  string         `json:"severity_reason" doc:"The formula with its numbers."`
	SeverityPoints  float64        `json:"severity_points" doc:"The formula's result, before any manual severity; for a manually added gap, computed as if everything were missing."`
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
	// StatusSetBy is empty if the status was determined from the evidence.
	StatusSetBy string `json:"status_set_by,omitempty" doc:"The user who set the status in the Statement of Applicability."`
	OriginID    string `json:"origin_id,omitempty" doc:"For manually added gaps: the id in the version it was first added to."`
}

// IsStatusOverruled reports whether a user overruled the status determined by the rules.
func (f *Finding) IsStatusOverruled() bool {
	return f.Source != "manual" && (f.StatusSetBy != "" || f.IsManual("status"))
}

// ManualOriginKey returns a key that identifies a manually added gap across versions, because a control
// can have several. It returns "" for the gap found by the analysis.
func (f *Finding) ManualOriginKey() string {
	if f.Source != "manual" {
		return ""
	}
	return cmp.Or(f.OriginID, f.ID)
}

// GapInput identifies a version of the gap analysis.
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
	Where       string         `query:"where" maxLength:"2000" doc:"Only findings that this filter selects, e.g. severity == 'high' && owner == ''."`
	Sort        string         `query:"sort" sort:"severity,evidenced,severity_points,weight,control_code,domain_code,status,result,owner,due_date,updated_at" doc:"Sort order; prefix a field with - for descending. evidenced: whether the evidence shows the gap."`
}

// EvidencedRank returns 1 if the evidence shows the gap, or 0 if there was too little evidence to judge.
func (f *Finding) EvidencedRank() int {
	if f.Result == ResultNoEvid {
		return 0
	}
	return 1
}

// CompareWorstFirst returns a negative number if f is worse than o. It first compares severity. Then, gaps shown by
// evidence come before those with too little evidence. Finally, points and weight decide.
func (f *Finding) CompareWorstFirst(o *Finding) int {
	return cmp.Or(cmp.Compare(f.Severity.Rank(), o.Severity.Rank()), cmp.Compare(o.EvidencedRank(), f.EvidencedRank()),
		cmp.Compare(o.SeverityPoints, f.SeverityPoints), cmp.Compare(o.Weight, f.Weight))
}

// IsGap reports whether something is missing.
func (f *Finding) IsGap() bool { return f.Result != Met && f.Result != ResultNotApplic }

// FindingsInput is the input for listing the findings of a gap analysis version.
type FindingsInput struct {
	GapInput
	Paging
	FindingFilter
}

// GapsInput is the input for listing the gaps of an assessment's current version.
type GapsInput struct {
	AssessmentInput
	Paging
	FindingFilter
}

// CreateGapInput is the input for adding a gap manually.
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

// FindingInput identifies a finding.
type FindingInput struct {
	FindingID string `path:"findingId"`
}

// UpdateFindingInput is the input for changing a finding.
type UpdateFindingInput struct {
	FindingID string `path:"findingId"`
	Match
	Body FindingChange
}

// FindingChange lists the fields of a finding to change.
type FindingChange struct {
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
	Reset          []string        `json:"reset,omitempty" maxItems:"50" doc:"Edited fields to reset to the automatic value; all resets every one. A field can't be set and reset in the same request."`
}

// EditFindingsInput is the input for changing many findings.
type EditFindingsInput struct {
	GapInput
	Body struct {
		ItemSelection
		Set FindingChange `json:"set"`
	}
}

// SubmitGapInput is the input for submitting a version of the gap analysis for review.
type SubmitGapInput struct {
	GapInput
	Body *Submission
}

// DecideGapInput is the input for approving a version of the gap analysis.
type DecideGapInput struct {
	GapInput
	Body *VersionDecision
}

// GapSummary holds the totals of a gap analysis version.
type GapSummary struct {
	GapVersionID      string           `json:"gap_version_id"`
	Controls          int              `json:"controls" doc:"Controls that apply and were assessed."`
	NotAssessed       int              `json:"not_assessed" doc:"Applicable controls not yet assessed by any draft: neither met nor a gap."`
	Findings          int              `json:"findings"`
	ByResult          map[Result]int   `json:"by_result" doc:"Findings, plus the controls that are met and have none."`
	BySeverity        map[Severity]int `json:"by_severity"`
	ByDomain          map[string]int   `json:"by_domain"`
	ByType            map[string]int   `json:"by_type"`
	CompliancePct     *float64         `json:"compliance_pct"`
	ComplianceFormula string           `json:"compliance_formula"`
	Conformity        string           `json:"conformity" enum:"strictly_conforms,conforms,significant_deficiency,material_weakness," doc:"By the SCF's thresholds; empty if nothing was assessed."`
	ConformityPct     *float64         `json:"conformity_pct" doc:"Implemented controls as a share of assessed ones; partially implemented controls count as deficient."`
	ConformityFormula string           `json:"conformity_formula"`
	DeficientMaterial []string         `json:"deficient_material" doc:"Material controls (weight 10) that are not implemented."`
	DiffersFromSoA    []string         `json:"differs_from_soa" doc:"Controls judged differently in the gap analysis than in the Statement of Applicability, which determines compliance and conformity."`
	SinceVersion      int              `json:"since_version" doc:"The version that changes are relative to; 0 for the first version."`
	Changes           []GapChange      `json:"changes" doc:"Differences from the previous version, by kind, worst first."`
}

// GapChangeKind is the kind of change of a gap between two versions.
type GapChangeKind string

// The kinds of change of a gap between two versions.
const (
	GapOpened GapChangeKind = "opened"
	GapWorse  GapChangeKind = "worse"
	GapBetter GapChangeKind = "better"
	GapClosed GapChangeKind = "closed"
)

// GapChangeKinds lists all kinds of change in display order.
var GapChangeKinds = []GapChangeKind{GapOpened, GapWorse, GapBetter, GapClosed}

// GapChange describes how one control's gap changed between two versions.
type GapChange struct {
	ControlCode  string        `json:"control_code"`
	ControlTitle string        `json:"control_title"`
	Change       GapChangeKind `json:"change" enum:"opened,worse,better,closed"`
	Severity     Severity      `json:"severity" doc:"Current severity; for a closed gap, the previous one."`
	Before       string        `json:"before" doc:"Previous severity and status; empty for a new gap."`
	After        string        `json:"after" doc:"Current severity and status; empty for a closed gap."`
	Causes       []string      `json:"causes" doc:"Cause of the change: evidence, catalog, frameworks, user, rule."`
}

const tagGap = "Gap analysis"

// Operations on the gap analysis, defined in section 4.10 of the API specification.
var (
	DraftGap = Create[AssessmentInput, GapVersion](
		"draft-gap-analysis", "/assessments/{assessmentId}/gap-analysis/draft", "gap:write", tagGap,
		"Draft a gap analysis",
	)
	ListGap = Get[AssessmentListInput, List[GapVersion]](
		"list-gap-analysis-versions", "/assessments/{assessmentId}/gap-analysis", "gap:read", tagGap,
		"List gap analysis versions, newest first",
	)
	ListGaps = Get[GapsInput, List[Finding]](
		"list-gaps", "/assessments/{assessmentId}/gaps", "gap:read", tagGap,
		"List the gaps of the current version",
	)
	CreateGap = Create[CreateGapInput, Finding](
		"create-gap", "/assessments/{assessmentId}/gaps", "gap:write", tagGap,
		"Add a gap manually",
	)
	GetGap = Get[GapInput, GapVersion](
		"get-gap-analysis", "/gap-analysis/{gapVersionId}", "gap:read", tagGap,
		"Get a gap analysis version",
	)
	ListFindings = Get[FindingsInput, List[Finding]](
		"list-findings", "/gap-analysis/{gapVersionId}/findings", "gap:read", tagGap,
		"List the findings of a version, most severe first",
	)
	GetFinding = Get[FindingInput, Finding](
		"get-finding", "/gap-analysis/findings/{findingId}", "gap:read", tagGap,
		"Get a finding",
	)
	UpdateFinding = Patch[UpdateFindingInput, Finding](
		"update-finding", "/gap-analysis/findings/{findingId}", "gap:write", tagGap,
		"Update a finding",
	)
	EditFindings = Post[EditFindingsInput, EditResult](
		"edit-findings", "/gap-analysis/{gapVersionId}/edit", "gap:write", tagGap,
		"Change many findings at once",
	)
	SubmitGap = Post[SubmitGapInput, GapVersion](
		"submit-gap-analysis", "/gap-analysis/{gapVersionId}/submit-review", "gap:write", tagGap,
		"Submit a gap analysis for review",
	)
	ApproveGap = Post[DecideGapInput, GapVersion](
		"approve-gap-analysis", "/gap-analysis/{gapVersionId}/approve", ApprovalDecide, tagGap,
		"Approve a gap analysis", WithDelegatesAllowed(),
	)
	GetGapSummary = Get[GapInput, GapSummary](
		"get-gap-analysis-summary", "/gap-analysis/{gapVersionId}/summary", "gap:read", tagGap,
		"Get gap analysis totals",
	)
	RegenerateGap = Post[GapInput, GapVersion](
		"regenerate-gap-analysis", "/gap-analysis/{gapVersionId}/regenerate", "gap:write", tagGap,
		"Regenerate, keeping manual edits",
	)
)
