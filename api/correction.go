package api

import (
	"fmt"
	"strings"
)

// Correction is a user's decision about what a passage shows about a requirement of a control. The organization's
// later drafts apply it to the same passage and to near-identical ones, regardless of the document.
type Correction struct {
	TenantRecord
	AssessmentID    string             `json:"assessment_id" doc:"The assessment in which it was decided."`
	ControlCode     string             `json:"control_code"`
	DomainCode      string             `json:"domain_code"`
	StatementID     string             `json:"statement_id" doc:"Identifies the requirement by its text and its control's topic."`
	StatementNumber int                `json:"statement_number" doc:"Number of the requirement in the item when it was decided, from 1; 0 if it isn't known."`
	Topic           string             `json:"topic"`
	Statement       string             `json:"statement"`
	Decision        CorrectionDecision `json:"decision"`
	Label           string             `json:"label" doc:"What the passage shows: states, part, plans, contradicts or silent."`
	DraftedLabel    string             `json:"drafted_label" doc:"What the draft took the passage to show; silent if it didn't quote it."`
	Method          string             `json:"method" doc:"How that draft was made."`
	Quote           string             `json:"quote" doc:"The words that were accepted or refused."`
	Passage         CorrectedPassage   `json:"passage"`
	DecidedBy       Actor              `json:"decided_by"`
	Source          CorrectionSource   `json:"source" doc:"line if it follows from a decision on the control's line, passage if the passage itself was decided on."`
	EditID          string             `json:"edit_id" doc:"The change of the line from which it follows; empty if it doesn't."`
	// CopiedFrom is set in a clone if the correction was made in another assessment.
	CopiedFrom *CorrectionOrigin `json:"copied_from" doc:"In a clone, where the correction was made; null if it was made in this assessment."`
	// IsDocumentDeleted is computed when the correction is read.
	IsDocumentDeleted bool `json:"document_deleted" doc:"The document was deleted since. The correction still applies to the same passage in other documents."`
}

// CorrectionOrigin identifies the assessment at the clone's remote in which a correction was made.
type CorrectionOrigin struct {
	AssessmentID   string `json:"assessment_id"`
	AssessmentName string `json:"assessment_name"`
}

// CorrectedPassage is a passage as it was when a user decided on it.
type CorrectedPassage struct {
	ChunkID     string   `json:"chunk_id"`
	DocumentID  string   `json:"document_id"`
	Filename    string   `json:"filename"`
	Title       string   `json:"title"`
	Kind        string   `json:"kind"`
	Date        string   `json:"date"`
	HeadingPath []string `json:"heading_path"`
	Text        string   `json:"text"`
	SHA256      string   `json:"sha256" doc:"Of the text."`
}

// CorrectionDecision states whether a passage is evidence for a requirement.
type CorrectionDecision string

// The values of CorrectionDecision.
const (
	CorrectionAccepted CorrectionDecision = "accepted"
	CorrectionRefused  CorrectionDecision = "refused"
)

// Values lists the values.
func (CorrectionDecision) Values() []CorrectionDecision {
	return []CorrectionDecision{CorrectionAccepted, CorrectionRefused}
}

// CorrectionSource states whether the user decided on a passage itself or on an item that quotes it.
type CorrectionSource string

// The values of CorrectionSource.
const (
	LineCorrected    CorrectionSource = "line"
	PassageCorrected CorrectionSource = "passage"
)

// Values lists the values.
func (CorrectionSource) Values() []CorrectionSource {
	return []CorrectionSource{LineCorrected, PassageCorrected}
}

// AppliedCorrection is a correction that a draft applied to a passage.
type AppliedCorrection struct {
	CorrectionID  string             `json:"correction_id"`
	ChunkID       string             `json:"chunk_id" doc:"The passage that it was applied to."`
	Decision      CorrectionDecision `json:"decision"`
	Label         string             `json:"label" doc:"What the passage shows: states, part, plans, contradicts or silent."`
	Quote         string             `json:"quote"`
	DecidedBy     string             `json:"decided_by"`
	DecidedOn     Date               `json:"decided_on"`
	NearIdentical bool               `json:"near_identical" doc:"The decision was made about a near-identical passage."`
	PartlyBecause string             `json:"partly_because" doc:"Why the accepted passage counts only in part, such as because its document isn't in force; empty if it counts as accepted."`
}

// Mark returns a note about the correction, to be appended to a verdict, such as "as Ada Byron decided on 2026-11-27,
// near-identical passage".
func (c *AppliedCorrection) Mark() string {
	mark := fmt.Sprintf("as %s decided on %s", c.DecidedBy, c.DecidedOn)
	if c.NearIdentical {
		mark += ", near-identical passage"
	}
	if c.PartlyBecause != "" {
		mark += "; treated as partial evidence: " + strings.TrimSuffix(c.PartlyBecause, ".")
	}
	return mark
}

// CorrectionAgreement shows how often readers agree with the decisions of the organization's users about passages.
type CorrectionAgreement struct {
	Corrections int               `json:"corrections"`
	Accepted    int               `json:"accepted"`
	Refused     int               `json:"refused"`
	NotCompared int               `json:"not_compared" doc:"Corrections that are left out of the comparison: those in all but the 10 assessments that were corrected last."`
	Confidence  float64           `json:"confidence" doc:"Of the intervals."`
	Readers     []ReaderAgreement `json:"readers" doc:"The rules, and each reader that has read a corrected passage."`
	Notes       []string          `json:"notes" doc:"How to read the figures."`
}

// ReaderAgreement shows how often a reader agrees, in total and by domain.
type ReaderAgreement struct {
	Reader  string           `json:"reader"`
	All     AgreementCount   `json:"all"`
	Domains []AgreementCount `json:"domains" doc:"By domain code."`
}

// AgreementCount counts the corrections with which a reader agrees. The interval is computed as if each item, not
// each passage, were an independent decision.
type AgreementCount struct {
	DomainCode string   `json:"domain_code" doc:"Empty for all domains."`
	Passages   int      `json:"passages" doc:"Corrections whose passage the reader has read."`
	Lines      int      `json:"lines" doc:"Lines that they are about."`
	NotRead    int      `json:"not_read" doc:"Corrections whose passage it has not read."`
	Agreed     int      `json:"agreed"`
	Share      *float64 `json:"share" doc:"agreed ÷ passages; null without passages."`
	Low        *float64 `json:"low" doc:"Lower end of the interval."`
	High       *float64 `json:"high" doc:"Upper end of the interval."`
}

type (
	// CorrectionsInput is the input for listing an organization's corrections, newest first.
	CorrectionsInput struct {
		Paging
		AssessmentID string             `query:"assessment_id" doc:"Only those decided in this assessment."`
		ControlCode  string             `query:"control_code"`
		Domain       string             `query:"domain"`
		Decision     CorrectionDecision `query:"decision"`
		Source       CorrectionSource   `query:"source"`
	}
	// CorrectionInput identifies a correction.
	CorrectionInput struct {
		CorrectionID string `path:"correctionId"`
	}
	// AddCorrectionInput is the input for deciding what a passage shows about a requirement.
	AddCorrectionInput struct {
		AssessmentInput
		Body struct {
			ControlCode     string             `json:"control_code" minLength:"1" maxLength:"100"`
			StatementNumber int                `json:"statement_number" minimum:"1" maximum:"8" doc:"Number of the requirement in the newest version's item, from 1."`
			ChunkID         string             `json:"chunk_id" minLength:"1" maxLength:"100"`
			Decision        CorrectionDecision `json:"decision" enum:"accepted,refused"`
			Label           string             `json:"label,omitempty" enum:"states,part,plans,contradicts" doc:"What an accepted passage shows; by default what the draft took it to show, or states."`
			Quote           string             `json:"quote,omitempty" maxLength:"4000" doc:"The words of the passage that are decided on; by default those that the draft quotes, or all."`
		}
	}
)

const tagCorrection = "Corrections"

// Operations on corrections.
var (
	ListCorrections = Get[CorrectionsInput, List[Correction]](
		"list-corrections", "/corrections", "soa:read", tagCorrection,
		"List what people decided about passages, latest first",
	)
	GetCorrectionAgreement = Get[None, CorrectionAgreement](
		"get-correction-agreement", "/corrections/agreement", "soa:read", tagCorrection,
		"Show how often each evidence reader agrees with users' corrections",
	)
	GetCorrection = Get[CorrectionInput, Correction](
		"get-correction", "/corrections/{correctionId}", "soa:read", tagCorrection,
		"Get a correction",
	)
	AddCorrection = Create[AddCorrectionInput, Correction](
		"add-correction", "/assessments/{assessmentId}/corrections", "soa:write", tagCorrection,
		"Accept or refuse a passage as evidence for a requirement",
	)
	RemoveCorrection = Delete[CorrectionInput](
		"remove-correction", "/corrections/{correctionId}", "soa:write", tagCorrection,
		"Remove a correction; later drafts no longer apply it",
	)
)
