package api

import (
	"slices"
	"strings"
	"time"
)

// VersionStatus is the status of a deliverable's version.
type VersionStatus string

// The statuses of a deliverable's version.
const (
	VersionDraft       VersionStatus = "draft"
	VersionUnderReview VersionStatus = "under_review"
	VersionApproved    VersionStatus = "approved"
	VersionRejected    VersionStatus = "rejected"
	VersionSuperseded  VersionStatus = "superseded"
)

// DeliverableVersion holds the fields common to the versions of all four deliverables. An approved
// version never changes.
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
	AuthorIDs             []string          `json:"author_ids" doc:"Users who wrote or changed items manually."`
	ContentSHA256         string            `json:"content_sha256" doc:"Hash of the items in canonical form."`
	Inputs                map[string]string `json:"inputs" doc:"Ids and hashes of the version's sources."`
	Method                string            `json:"method" doc:"How the draft was made: the version of the rules, or a model."`
	ItemCount             int               `json:"item_count"`
	Kept                  []string          `json:"kept" doc:"Codes of controls whose manual edits were kept by a regeneration."`
}

// IsReadByModel reports whether the version was drafted from a language model's readings of the evidence.
func (v *DeliverableVersion) IsReadByModel() bool {
	return strings.HasPrefix(v.Inputs["reader"], ModelReader+".")
}

// Evidence is a quoted passage of a document that supports an item of a deliverable.
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
	// Statement is the statement that the quote relates to, and Stance its effect on the statement.
	Statement string `json:"statement"`
	Stance    string `json:"stance" enum:"supports,plans,denies,template,limits,conflicts"`
}

// RelatesTo reports whether the quote relates to a statement. A quote may relate to several statements, which the
// field Statement lists one after another.
func (e *Evidence) RelatesTo(statement string) bool { return strings.Contains(e.Statement, statement) }

// Applicability states whether a control applies to the organization.
type Applicability string

// The values of Applicability.
const (
	Applicable          Applicability = "applicable"
	PartiallyApplicable Applicability = "partially_applicable"
	NotApplicable       Applicability = "not_applicable"
	OutOfScope          Applicability = "out_of_scope"
	Undecided           Applicability = "undecided"
)

// IsApplicable reports whether the control is to be assessed.
func (a Applicability) IsApplicable() bool { return a == Applicable || a == PartiallyApplicable }

// Implementation is the implementation status of a control, based on the evidence. NotEvidenced means
// that nothing was found either way, as opposed to NotImplemented.
type Implementation string

// The values of Implementation.
const (
	Implemented          Implementation = "implemented"
	PartiallyImplemented Implementation = "partially_implemented"
	Planned              Implementation = "planned"
	NotImplemented       Implementation = "not_implemented"
	NotEvidenced         Implementation = "not_evidenced"
	NotAssessed          Implementation = "not_assessed"
)

// EvidenceCoverage states how many of a control's requirements the evidence covers.
type EvidenceCoverage string

// The values of EvidenceCoverage.
const (
	CoverageStrong  EvidenceCoverage = "strong"
	CoveragePartial EvidenceCoverage = "partial"
	CoverageWeak    EvidenceCoverage = "weak"
	CoverageAbsent  EvidenceCoverage = "absent"
)

// Severity is the severity of a finding.
type Severity string

// The severities of a finding, least severe first.
const (
	SeverityInformational Severity = "informational"
	SeverityLow           Severity = "low"
	SeverityMedium        Severity = "medium"
	SeverityHigh          Severity = "high"
	SeverityCritical      Severity = "critical"
)

// Severities lists all severities, most severe first.
var Severities = []Severity{SeverityCritical, SeverityHigh, SeverityMedium, SeverityLow, SeverityInformational}

// Rank returns 0 for the most severe value and higher numbers for less severe ones. Unknown values rank last.
func (s Severity) Rank() int {
	if i := slices.Index(Severities, s); i >= 0 {
		return i
	}
	return len(Severities)
}

// RequirementCodes maps the codes of frameworks to requirement codes.
type RequirementCodes map[string][]string

// Count returns the number of requirements in all frameworks together.
func (r RequirementCodes) Count() (n int) {
	for _, codes := range r {
		n += len(codes)
	}
	return n
}

// Item holds the fields common to the items of all deliverables, such as findings and scores.
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
	// EditedBy is the user who changed the item after it was drafted.
	EditedBy *string `json:"edited_by"`
	// EditedFields are the fields set by users; a regeneration keeps them.
	EditedFields []string `json:"edited_fields"`
	// Carried is set if the edits come from an earlier assessment.
	Carried *Carried `json:"carried,omitempty" doc:"Where the edits come from, if the assessment was created from an earlier one."`
	// OwnerHasLeft is computed when the item is read; it isn't stored.
	OwnerHasLeft bool `json:"owner_has_left,omitempty" doc:"Its owner has left the organization."`
}

// DescribeOwner returns the owner of the item, with a note if the owner has left the organization. It returns "" if
// there is no owner.
func (i *Item) DescribeOwner(owner *string) string {
	switch {
	case owner == nil:
		return ""
	case i.OwnerHasLeft:
		return *owner + " (has left)"
	}
	return *owner
}

// Carried describes the decision that was carried over from an earlier assessment.
type Carried struct {
	AssessmentID    string   `json:"assessment_id" doc:"The assessment in which it was made."`
	Assessment      string   `json:"assessment" doc:"Its name."`
	By              string   `json:"by" doc:"Who made it."`
	Fields          []string `json:"fields" doc:"The fields that were set."`
	Quotes          []string `json:"quotes" doc:"The evidence it rested on."`
	EvidenceChanged bool     `json:"evidence_changed" doc:"The item's evidence now differs from quotes, so the decision has to be confirmed or changed."`
	ConfirmedBy     string   `json:"confirmed_by" doc:"Who has confirmed or changed it in this assessment; empty if nobody has."`
}

// Describe returns where an item's edits come from, or "" if c is nil, which means that they were made in this
// assessment.
func (c *Carried) Describe() string {
	switch {
	case c == nil:
		return ""
	case c.ConfirmedBy != "":
		return "from " + c.Assessment + ", confirmed by " + c.ConfirmedBy
	case c.EvidenceChanged:
		return "from " + c.Assessment + "; the evidence has changed since then"
	}
	return "from " + c.Assessment
}

// IsManual reports whether the field was set by a user.
func (i *Item) IsManual(field string) bool { return slices.Contains(i.EditedFields, field) }

// AreManual reports whether all of the fields were set by users.
func (i *Item) AreManual(fields []string) bool {
	return !slices.ContainsFunc(fields, func(f string) bool { return !i.IsManual(f) })
}

// Statement is one thing that a control requires, and what the evidence shows about it.
type Statement struct {
	Text    string  `json:"text"`
	Verdict string  `json:"verdict" enum:"covered,partial,planned,denied,template,conflicting,missing"`
	Reason  string  `json:"reason"`
	Score   float64 `json:"score"`
	ChunkID string  `json:"chunk_id"`
	// Corrections are users' decisions about passages that made a difference.
	Corrections []AppliedCorrection `json:"corrections,omitempty" doc:"Earlier decisions of people about passages that changed the verdict on a passage, or that were made about a near-identical one."`
}

// Submission is the request body of a submission for review.
type Submission struct {
	InAdvance bool `json:"in_advance,omitempty" doc:"The submission is ordered in advance, without looking at the version. It is recorded as such."`
}

// VersionDecision is the request body of a decision on a version under review.
type VersionDecision struct {
	Comment string `json:"comment,omitempty" maxLength:"4000" doc:"Stored as the approval's reason."`
	Reason  string `json:"reason,omitempty" maxLength:"4000" doc:"Alias of comment, matching the field name of approvals and rejections."`
	// ContentSHA256 identifies the content that the decider reviewed, so that later changes are not
	// decided on unseen.
	ContentSHA256 string `json:"content_sha256,omitempty" minLength:"1" maxLength:"64" doc:"Hash of the content you reviewed; the decision is rejected if the content has changed since."`
	InAdvance     bool   `json:"in_advance,omitempty" doc:"The decision is made in advance, without looking at the version. It is recorded as such and doesn't count as a review of the items."`
}

// IsOnOtherContent reports whether the decider reviewed content other than that with the given hash. It returns false
// if d is nil or doesn't specify the reviewed content.
func (d *VersionDecision) IsOnOtherContent(sha256 string) bool {
	return d != nil && d.ContentSHA256 != "" && d.ContentSHA256 != sha256
}
