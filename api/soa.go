package api

import (
	"fmt"
	"slices"
	"strings"
)

// SoAVersion is one version of the Statement of Applicability.
type SoAVersion struct {
	DeliverableVersion
	Reliance
	ReviewCount
}

// ReviewCount describes how many items of a Statement of Applicability users have reviewed.
type ReviewCount struct {
	LinesNotReviewed           int      `json:"lines_not_reviewed" doc:"Items whose applicability and status nobody has set or confirmed."`
	LinesToReview              int      `json:"lines_to_review" doc:"Of these, the items marked as needing review."`
	LinesOnRepeatedQuote       int      `json:"lines_on_repeated_quote" doc:"Of the items not reviewed, those that a language model supports with a quote that it uses for more than six controls."`
	CarriedToConfirm           []string `json:"carried_to_confirm" doc:"Codes of the controls with a decision from an earlier assessment whose evidence has changed since."`
	ImplementedWithoutEvidence []string `json:"implemented_without_evidence" doc:"Codes of the applicable controls that are set to implemented although no evidence supports them."`
}

// ReviewFields lists the fields of an SoA item that count as a review of it when a person edits them; owner and note
// don't.
var ReviewFields = []string{"applicability", "implementation_status", "needs_review"}

// maxWarnedControls is the maximum number of controls that a warning names.
const maxWarnedControls = 20

// Warnings returns what the user who submits or approves the version should know.
func (v *SoAVersion) Warnings() []string {
	return append(v.ReviewCount.Warnings(v.ItemCount), v.Reliance.Warnings()...)
}

// Warnings returns up to four sentences for the user who submits or approves a version with the given number of
// items. They state how many items nobody has reviewed, how many depend on a quote that a model uses for many
// controls, which carried decisions have new evidence, and which items are implemented without evidence.
func (v *ReviewCount) Warnings(itemCount int) (out []string) {
	if n := v.LinesNotReviewed; n > 0 {
		marked := fmt.Sprintf("%d of them marked for review", v.LinesToReview)
		switch v.LinesToReview {
		case 0:
			marked = "none of them marked for review"
		case n:
			marked = "all marked for review"
		}
		out = append(out, fmt.Sprintf("%d of %s not reviewed by a person, %s.", n, formatCount(itemCount, "item was", "items were"), marked))
	}
	if w := v.RepeatedQuoteWarning(); w != "" {
		out = append(out, w)
	}
	if codes := v.CarriedToConfirm; len(codes) > 0 {
		out = append(out, fmt.Sprintf("The evidence of %s has changed since the earlier assessment: %s.",
			formatCount(len(codes), "carried decision", "carried decisions"), nameFirst(codes)))
	}
	if codes := v.ImplementedWithoutEvidence; len(codes) > 0 {
		out = append(out, fmt.Sprintf("%s as implemented without evidence: %s.",
			formatCount(len(codes), "control is marked", "controls are marked"), nameFirst(codes)))
	}
	return out
}

// RepeatedQuoteWarning returns a sentence about items that a model supports with quotes that it uses for many
// controls. It returns "" if there are none.
func (v *ReviewCount) RepeatedQuoteWarning() string {
	if v.LinesOnRepeatedQuote == 0 {
		return ""
	}
	return fmt.Sprintf("The model supports %s with quotes that it also uses for many other controls. The items are "+
		"marked for review; check that the quotes are evidence for each item.", formatCount(v.LinesOnRepeatedQuote, "item", "items"))
}

// Reliance describes how many verdicts depend on a single document, and which documents matter most.
type Reliance struct {
	LinesOnOneDocument     int                `json:"lines_on_one_document" doc:"Items whose automatic verdict rests on a single document."`
	LinesChangedByDocument int                `json:"lines_changed_by_document" doc:"Items whose verdict a single document has changed since a previous draft, without an approval in between."`
	DecisiveDocuments      []DecisiveDocument `json:"decisive_documents" doc:"The documents that changed most verdicts, or that alone carry most, at most 10."`
}

// DecisiveDocument is a document that is the only basis of some verdicts, or that has changed verdicts on its own.
type DecisiveDocument struct {
	Filename     string `json:"filename"`
	LinesChanged int    `json:"lines_changed" doc:"Items whose verdict it alone has changed since a previous draft."`
	LinesAlone   int    `json:"lines_alone" doc:"Items whose verdict rests on it alone."`
}

// Warnings returns up to two sentences: one about verdicts that a single document has changed, and one
// about verdicts that rest on a single document.
func (r *Reliance) Warnings() (out []string) {
	if n := r.LinesChangedByDocument; n > 0 && len(r.DecisiveDocuments) > 0 {
		d := slices.MaxFunc(r.DecisiveDocuments, func(a, b DecisiveDocument) int { return a.LinesChanged - b.LinesChanged })
		out = append(out, fmt.Sprintf("%s changed by a single document since an earlier draft (%d by %s).",
			formatCount(n, "verdict was", "verdicts were"), d.LinesChanged, d.Filename))
	}
	if n := r.LinesOnOneDocument; n > 0 && len(r.DecisiveDocuments) > 0 {
		d := slices.MaxFunc(r.DecisiveDocuments, func(a, b DecisiveDocument) int { return a.LinesAlone - b.LinesAlone })
		out = append(
			out,
			fmt.Sprintf("%s on a single document (%d on %s).", formatCount(n, "verdict rests", "verdicts rest"), d.LinesAlone, d.Filename),
		)
	}
	return out
}

// nameFirst lists the first codes and states how many more there are.
func nameFirst(codes []string) string {
	named := strings.Join(codes[:min(len(codes), maxWarnedControls)], ", ")
	if more := len(codes) - maxWarnedControls; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	return named
}

func formatCount(n int, singular, plural string) string {
	if n == 1 {
		return "1 " + singular
	}
	return fmt.Sprintf("%d %s", n, plural)
}

// SoAItem is one control's row in the Statement of Applicability.
type SoAItem struct {
	Item
	Applicability        Applicability    `json:"applicability"`
	InclusionReasons     []string         `json:"inclusion_reasons"`
	Rationale            string           `json:"rationale"`
	ImplementationStatus Implementation   `json:"implementation_status"`
	Evidence             []Evidence       `json:"evidence"`
	RestsOnDocuments     int              `json:"rests_on_documents" doc:"Number of documents on which the automatic verdict rests: those that contradict the control if any do, else those quoted. Copies and near-copies of a passage count once. 0 if no evidence decides it."`
	OnlyDocument         string           `json:"only_document" doc:"File name of the document if the verdict rests on one alone, otherwise empty."`
	ChangedByDocument    string           `json:"changed_by_document" doc:"File name of the one document that has changed the automatic verdict since a previous draft, without an approval in between; empty if there is none."`
	ChangedFrom          Implementation   `json:"changed_from,omitempty" doc:"Status before that change."`
	SecondReading        *SecondReading   `json:"second_reading,omitempty" doc:"What a second reader says, if it says something else."`
	EvidenceCoverage     EvidenceCoverage `json:"evidence_coverage"`
	CoverageRatio        float64          `json:"coverage_ratio" doc:"Covered share of the control's statements, 0 to 1."`
	Statements           []Statement      `json:"statements"`
	StatementSource      StatementSource  `json:"statement_source,omitempty" enum:"objectives,criteria,description,question,title" doc:"Source of the statements: the catalog's objectives, the product's own criteria for the code, the control's description, question or title. None if no evidence was searched for."`
	InOperation          bool             `json:"in_operation" doc:"Records or logs show it being done, not just documents."`
	MissingElements      []string         `json:"missing_elements"`
	Owner                *string          `json:"owner"`
	Note                 *string          `json:"note"`
	Confidence           float64          `json:"confidence"`
	Reason               string           `json:"reason" doc:"Reason for the implementation status."`
	NeedsReview          bool             `json:"needs_review"`
	ReviewedInBulk       bool             `json:"reviewed_in_bulk,omitempty" doc:"A person has confirmed it only together with many others, such as by a filter, which doesn't count as reading it."`
}

// SecondReading is a second reader's verdict on a control if it differs from that of the first reader, whose verdict
// counts.
type SecondReading struct {
	Reader               string         `json:"reader"`
	ImplementationStatus Implementation `json:"implementation_status"`
	Reason               string         `json:"reason"`
	Statements           []Statement    `json:"statements" doc:"The statements on which the readers differ, with the second reader's verdicts."`
	Evidence             []Evidence     `json:"evidence" doc:"The second reader's quotes for these statements."`
}

// StatementSource is the part of a control from which its statements were derived.
type StatementSource string

// The sources of a control's statements, in order of preference.
const (
	FromObjectives  StatementSource = "objectives"
	FromCriteria    StatementSource = "criteria"
	FromDescription StatementSource = "description"
	FromQuestion    StatementSource = "question"
	FromTitle       StatementSource = "title"
)

// IsStatusOverruled reports whether a user overruled the status determined by the rules.
func (i *SoAItem) IsStatusOverruled() bool { return i.IsManual("implementation_status") }

// IsCorrected reports whether corrections changed what passages show, or were applied to near-identical passages.
func (i *SoAItem) IsCorrected() bool {
	return slices.ContainsFunc(i.Statements, func(s Statement) bool { return len(s.Corrections) > 0 })
}

// SingleDocuments returns the name of the only document that the verdict is based on, and the name of a single
// document that changed the verdict. Each is "" if there is none; both are "" if a user set the status or the control
// doesn't apply.
func (i *SoAItem) SingleDocuments() (only, changing string) {
	if i.IsStatusOverruled() || !i.Applicability.IsApplicable() {
		return "", ""
	}
	return i.OnlyDocument, i.ChangedByDocument
}

// RelianceNote describes how the verdict depends on single documents. It returns "" if it doesn't depend on any.
func (i *SoAItem) RelianceNote() string {
	only, changing := i.SingleDocuments()
	switch {
	case only != "" && only == changing:
		return "the verdict rests on one document, which also changed it: " + only
	case only != "" && changing != "":
		return "the verdict rests on one document: " + only + "; it was changed by one document: " + changing
	case only != "":
		return "the verdict rests on one document: " + only
	case changing != "":
		return "the verdict was changed by one document: " + changing
	}
	return ""
}

// SoAInput identifies a version of the Statement of Applicability.
type SoAInput struct {
	SoAVersionID string `path:"soaVersionId"`
}

// SoAItemsInput is the input for listing the items of a Statement of Applicability.
type SoAItemsInput struct {
	SoAInput
	Paging
	Domain               string           `query:"domain"`
	ControlCode          string           `query:"control_code"`
	Applicability        Applicability    `query:"applicability"`
	ImplementationStatus Implementation   `query:"implementation_status"`
	Status               Implementation   `query:"status" doc:"Alias of implementation_status."`
	EvidenceCoverage     EvidenceCoverage `query:"evidence_coverage"`
	Framework            string           `query:"framework" doc:"Only items with requirements of this framework."`
	Requirement          string           `query:"requirement" doc:"Only items that satisfy this requirement, e.g. A.8.5; prefix the framework if it is ambiguous, e.g. iso-27001-2022:A.8.5."`
	Owner                string           `query:"owner"`
	NeedsReview          string           `query:"needs_review" enum:"true,false"`
	Disagreement         string           `query:"disagreement" enum:"true,false" doc:"Whether a second reader says something else."`
	Q                    string           `query:"q" doc:"Part of the control, the rationale or the reason."`
	Where                string           `query:"where" maxLength:"2000" doc:"Only items that this filter selects, e.g. domain == 'IAC' && confidence < 0.5."`
	Sort                 string           `query:"sort" sort:"control_code,domain_code,applicability,implementation_status,evidence_coverage,owner,confidence,disagreement,updated_at" doc:"Sort order; prefix a field with - for descending."`
}

// SoAItemInput identifies an item of the Statement of Applicability.
type SoAItemInput struct {
	SoAItemID string `path:"soaItemId"`
}

// UpdateSoAItemInput is the input for changing an item of the Statement of Applicability.
type UpdateSoAItemInput struct {
	SoAItemID string `path:"soaItemId"`
	Match
	Body SoAItemChange
}

// SoAItemChange lists the fields to change in an item of the Statement of Applicability.
type SoAItemChange struct {
	Applicability        *Applicability  `json:"applicability,omitempty" enum:"applicable,partially_applicable,not_applicable,out_of_scope,undecided"`
	InclusionReasons     *[]string       `json:"inclusion_reasons,omitempty"`
	Rationale            *string         `json:"rationale,omitempty" maxLength:"10000"`
	ImplementationStatus *Implementation `json:"implementation_status,omitempty" enum:"implemented,partially_implemented,planned,not_implemented,not_evidenced,not_assessed"`
	Owner                Opt[string]     `json:"owner,omitzero" required:"false"`
	Note                 Opt[string]     `json:"note,omitzero" required:"false"`
	NeedsReview          *bool           `json:"needs_review,omitempty"`
	ReviewedInBulk       bool            `json:"reviewed_in_bulk,omitempty" doc:"With needs_review: the item is confirmed together with others, which doesn't count as reading it. Always so if a filter selects the items."`
	Reset                []string        `json:"reset,omitempty" maxItems:"50" doc:"Edited fields to reset to the automatic value; all resets every one. A field can't be set and reset in the same request."`
}

// EditSoAItemsInput is the input for changing many items of the Statement of Applicability.
type EditSoAItemsInput struct {
	SoAInput
	Body struct {
		ItemSelection
		Set SoAItemChange `json:"set"`
	}
}

// SubmitSoAInput is the input for submitting a version of the Statement of Applicability for review.
type SubmitSoAInput struct {
	SoAInput
	Body *Submission
}

// DecideSoAInput is the input for approving a version of the Statement of Applicability.
type DecideSoAInput struct {
	SoAInput
	Body *VersionDecision
}

// ValidationIssue is a rule that a version violates.
type ValidationIssue struct {
	Rule        string `json:"rule"`
	Severity    string `json:"severity" enum:"error,warning"`
	ItemID      string `json:"item_id" doc:"Empty, like control_code, if the rule concerns the whole version."`
	ControlCode string `json:"control_code"`
	Message     string `json:"message"`
}

// SoAValidation is the result of an integrity check of a version.
type SoAValidation struct {
	SoAVersionID string            `json:"soa_version_id"`
	Valid        bool              `json:"valid" doc:"No rule of severity error is violated."`
	Errors       int               `json:"errors"`
	Warnings     int               `json:"warnings"`
	Issues       []ValidationIssue `json:"issues"`
}

// Operations on the Statement of Applicability, defined in section 4.9 of the API specification.
var (
	DraftSoA = Create[DraftSoAInput, SoAVersion](
		"draft-soa", "/assessments/{assessmentId}/soa/draft", "soa:write", tagScope,
		"Draft a Statement of Applicability",
	)
	PreviewSoADraft = Get[DraftSoAInput, ArtifactDiff](
		"preview-soa-draft", "/assessments/{assessmentId}/soa/draft/changes", "soa:read", tagScope,
		"Show what a new draft of the Statement of Applicability would change",
	)
	ListSoA = Get[AssessmentListInput, List[SoAVersion]](
		"list-soa-versions", "/assessments/{assessmentId}/soa", "soa:read", tagScope,
		"List SoA versions, newest first",
	)
	GetSoA = Get[SoAInput, SoAVersion](
		"get-soa-version", "/soa/{soaVersionId}", "soa:read", tagScope,
		"Get an SoA version",
	)
	ListSoAItems = Get[SoAItemsInput, List[SoAItem]](
		"list-soa-items", "/soa/{soaVersionId}/items", "soa:read", tagScope,
		"List the items of an SoA version",
	)
	GetSoAItem = Get[SoAItemInput, SoAItem](
		"get-soa-item", "/soa/items/{soaItemId}", "soa:read", tagScope,
		"Get an SoA item",
	)
	UpdateSoAItem = Patch[UpdateSoAItemInput, SoAItem](
		"update-soa-item", "/soa/items/{soaItemId}", "soa:write", tagScope,
		"Update an SoA item",
	)
	EditSoAItems = Post[EditSoAItemsInput, EditResult](
		"edit-soa-items", "/soa/{soaVersionId}/edit", "soa:write", tagScope,
		"Change many SoA items at once",
	)
	SubmitSoA = Post[SubmitSoAInput, SoAVersion](
		"submit-soa", "/soa/{soaVersionId}/submit-review", "soa:write", tagScope,
		"Submit an SoA version for review",
	)
	ApproveSoA = Post[DecideSoAInput, SoAVersion](
		"approve-soa", "/soa/{soaVersionId}/approve", ApprovalDecide, tagScope,
		"Approve an SoA version", WithDelegatesAllowed(),
	)
	RefreshSoAEvidence = Post[SoAInput, SoAVersion](
		"refresh-soa-evidence", "/soa/{soaVersionId}/evidence/refresh", "soa:write", tagScope,
		"Search for evidence again",
	)
	ValidateSoA = Get[SoAInput, SoAValidation](
		"validate-soa", "/soa/{soaVersionId}/validation", "soa:read", tagScope,
		"Check the integrity of an SoA version",
	)
	RegenerateSoA = Post[SoAInput, SoAVersion](
		"regenerate-soa", "/soa/{soaVersionId}/regenerate", "soa:write", tagScope,
		"Regenerate, keeping manual edits",
	)
)
