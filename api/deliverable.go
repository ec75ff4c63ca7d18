package api

import (
	"slices"
	"time"
)

// VersionStatus is where a version of a deliverable stands.
type VersionStatus string

// The statuses of a version.
const (
	VersionDraft       VersionStatus = "draft"
	VersionUnderReview VersionStatus = "under_review"
	VersionApproved    VersionStatus = "approved"
	VersionRejected    VersionStatus = "rejected"
	VersionSuperseded  VersionStatus = "superseded"
)

// DeliverableVersion holds what versions of all four deliverables share. An
// approved version never changes.
type DeliverableVersion struct {
	TenantRecord
	AssessmentID          string            `json:"assessment_id"`
	VersionNumber         int               `json:"version_number"`
	Status                VersionStatus     `json:"status"`
	CreatedBy             string            `json:"created_by"`
	GeneratedByAgentRunID *string           `json:"generated_by_agent_run_id"`
	SubmittedAt           *time.Time        `json:"submitted_at"`
	ApprovedAt            *time.Time        `json:"approved_at"`
	ApprovedBy            *string           `json:"approved_by"`
	ApprovalID            *string           `json:"approval_id"`
	AuthorIDs             []string          `json:"author_ids" doc:"Users who wrote or changed lines by hand."`
	ContentSHA256         string            `json:"content_sha256" doc:"Over the items, in canonical form."`
	Inputs                map[string]string `json:"inputs" doc:"Ids and hashes of what the version was made from."`
	Method                string            `json:"method" doc:"What made the draft: the rules' version, or a model."`
	ItemCount             int               `json:"item_count"`
	Kept                  []string          `json:"kept" doc:"Control codes whose edits by people a regeneration kept."`
}

// Evidence is a quoted passage that a line rests on.
type Evidence struct {
	ChunkID       string   `json:"chunk_id"`
	DocumentID    string   `json:"document_id"`
	DocumentTitle string   `json:"document_title"`
	Filename      string   `json:"filename"`
	HeadingPath   []string `json:"heading_path"`
	Locator       Locator  `json:"locator"`
	Quote         string   `json:"quote"`
	Score         float64  `json:"score"`
	SHA256        string   `json:"sha256"`
	// Supports is the statement the quote bears on, and Stance how.
	Supports string `json:"supports"`
	Stance   string `json:"stance" enum:"supports,plans,denies,template,limits,conflicts"`
}

// Applicability says whether a control concerns the organization.
type Applicability string

// The values of applicability.
const (
	Applicable          Applicability = "applicable"
	PartiallyApplicable Applicability = "partially_applicable"
	NotApplicable       Applicability = "not_applicable"
	OutOfScope          Applicability = "out_of_scope"
	Undecided           Applicability = "undecided"
)

// IsApplicable tells whether the control is to be assessed.
func (a Applicability) IsApplicable() bool { return a == Applicable || a == PartiallyApplicable }

// Implementation says how far a control is implemented, as far as the evidence shows.
// NotEvidenced means that nothing was found either way; it is never NotImplemented.
type Implementation string

// The values of implementation.
const (
	Implemented          Implementation = "implemented"
	PartiallyImplemented Implementation = "partially_implemented"
	Planned              Implementation = "planned"
	NotImplemented       Implementation = "not_implemented"
	NotEvidenced         Implementation = "not_evidenced"
	NotAssessed          Implementation = "not_assessed"
)

// EvidenceCoverage says how much of what a control asks for the evidence says.
type EvidenceCoverage string

// The values of evidence coverage.
const (
	CoverageStrong  EvidenceCoverage = "strong"
	CoveragePartial EvidenceCoverage = "partial"
	CoverageWeak    EvidenceCoverage = "weak"
	CoverageAbsent  EvidenceCoverage = "absent"
)

// Severity of a finding.
type Severity string

// The severities, least first.
const (
	SeverityInformational Severity = "informational"
	SeverityLow           Severity = "low"
	SeverityMedium        Severity = "medium"
	SeverityHigh          Severity = "high"
	SeverityCritical      Severity = "critical"
)

// Severities are all severities, worst first.
var Severities = []Severity{SeverityCritical, SeverityHigh, SeverityMedium, SeverityLow, SeverityInformational}

// RequirementCodes are requirement codes by framework code.
type RequirementCodes map[string][]string

// Count is how many requirements they are, of all frameworks together.
func (r RequirementCodes) Count() (n int) {
	for _, codes := range r {
		n += len(codes)
	}
	return n
}

// Item holds what the items of all deliverables share.
type Item struct {
	TenantRecord
	AssessmentID     string           `json:"assessment_id"`
	VersionID        string           `json:"version_id"`
	Revision         int              `json:"revision"`
	ControlID        string           `json:"control_id"`
	ControlCode      string           `json:"control_code"`
	ControlTitle     string           `json:"control_title"`
	DomainCode       string           `json:"domain_code"`
	RequirementCodes RequirementCodes `json:"requirement_codes"`
	// EditedBy is the person who changed the item after it was drafted.
	EditedBy *string `json:"edited_by"`
	// EditedFields are the fields that people have set; a regeneration keeps them.
	EditedFields []string `json:"edited_fields"`
}

// IsManual tells whether a person set a field.
func (i *Item) IsManual(field string) bool { return slices.Contains(i.EditedFields, field) }

// AreManual tells whether people set each of the fields already.
func (i *Item) AreManual(fields []string) bool {
	return !slices.ContainsFunc(fields, func(f string) bool { return !i.IsManual(f) })
}

// Statement is one thing a control asks for, and what the evidence says of it.
type Statement struct {
	Text    string  `json:"text"`
	Verdict string  `json:"verdict" enum:"covered,partial,planned,denied,template,conflicting,missing"`
	Reason  string  `json:"reason"`
	Score   float64 `json:"score"`
	ChunkID string  `json:"chunk_id"`
}

// VersionDecision is a decision on a version under review.
type VersionDecision struct {
	Comment string `json:"comment,omitempty" maxLength:"4000" doc:"Kept as the approval's reason."`
	Reason  string `json:"reason,omitempty" maxLength:"4000" doc:"The same as comment, by the name that an approval and a rejection have for it."`
	// ContentSHA256 is what the decider has looked at: a change since then is not decided on unseen.
	ContentSHA256 string `json:"content_sha256,omitempty" maxLength:"64" doc:"The content you looked at; the decision is refused where it is another by now."`
}
