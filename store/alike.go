package store

import (
	"maps"
	"math"
	"slices"

	"github.com/scf-service/service/api"
)

// Whether two lines of deliverables say the same: all but which line of which version they
// are, and of which finding. A field that is forgotten here fails TestAlikeLooksAtEveryField.

// lineHead is what comes first in the JSON of a line, and tells it apart from others that say the same.
type lineHead struct {
	api.TenantRecord
	AssessmentID string `json:"assessment_id"`
	VersionID    string `json:"version_id"`
	Revision     int    `json:"revision"`
}

func headOfLine(i *api.Item) any {
	return &lineHead{i.TenantRecord, i.AssessmentID, i.VersionID, i.Revision}
}

// remediationHead goes on to the finding, which is another in every version.
type remediationHead struct {
	*api.Item
	POAMCode  string `json:"poam_code"`
	FindingID string `json:"finding_id"`
}

func headOfRemediation(i *api.POAMItem) any {
	return &remediationHead{&i.Item, i.POAMCode, i.FindingID}
}

func alikeItems(a, b *api.Item) bool {
	return a.ControlID == b.ControlID && a.ControlCode == b.ControlCode && a.ControlTitle == b.ControlTitle && a.DomainCode == b.DomainCode &&
		(a.RequirementCodes == nil) == (b.RequirementCodes == nil) && maps.EqualFunc(a.RequirementCodes, b.RequirementCodes, alikeLists[string]) &&
		alikePointers(a.EditedBy, b.EditedBy) && alikeLists(a.EditedFields, b.EditedFields)
}

func alikeSoAItems(a, b *api.SoAItem) bool {
	return alikeItems(&a.Item, &b.Item) && a.Applicability == b.Applicability && alikeLists(a.InclusionReasons, b.InclusionReasons) && a.Rationale == b.Rationale &&
		a.ImplementationStatus == b.ImplementationStatus && alikeAll(a.Evidence, b.Evidence, alikeEvidence) && a.EvidenceCoverage == b.EvidenceCoverage &&
		alikeNumbers(a.CoverageRatio, b.CoverageRatio) && alikeAll(a.Statements, b.Statements, alikeStatements) && a.StatementsFrom == b.StatementsFrom && a.InOperation == b.InOperation && alikeLists(a.MissingElements, b.MissingElements) &&
		alikePointers(a.Owner, b.Owner) && alikePointers(a.Note, b.Note) && alikeNumbers(a.Confidence, b.Confidence) && a.Reason == b.Reason && a.NeedsReview == b.NeedsReview
}

func alikeFindings(a, b *api.Finding) bool {
	return alikeItems(&a.Item, &b.Item) && a.InCatalog == b.InCatalog && a.Status == b.Status && a.Result == b.Result && a.GapType == b.GapType &&
		a.Severity == b.Severity && a.SeverityReason == b.SeverityReason && a.SeverityPoints == b.SeverityPoints && a.Weight == b.Weight && a.Condition == b.Condition && a.Criteria == b.Criteria &&
		a.Cause == b.Cause && a.Effect == b.Effect && a.Recommendation == b.Recommendation && alikeLists(a.MissingElements, b.MissingElements) &&
		alikeAll(a.Evidence, b.Evidence, alikeEvidence) && alikeNumbers(a.Confidence, b.Confidence) && alikePointers(a.Owner, b.Owner) && alikePointers(a.DueDate, b.DueDate) &&
		alikePointers(a.Note, b.Note) && a.Source == b.Source && a.StatusSetBy == b.StatusSetBy && a.OriginID == b.OriginID
}

func alikeScores(a, b *api.MaturityScore) bool {
	return alikeItems(&a.Item, &b.Item) && a.Level == b.Level && a.TargetLevel == b.TargetLevel && alikePointers(a.PreviousLevel, b.PreviousLevel) &&
		a.Weight == b.Weight && a.Criteria == b.Criteria && a.NextCriteria == b.NextCriteria && a.Rationale == b.Rationale && alikeAll(a.Evidence, b.Evidence, alikeEvidence) &&
		alikeNumbers(a.Confidence, b.Confidence) && a.Assessed == b.Assessed && alikePointers(a.Note, b.Note)
}

func alikeRemediations(a, b *api.POAMItem) bool {
	return alikeItems(&a.Item, &b.Item) && a.POAMCode == b.POAMCode && a.FindingOrigin == b.FindingOrigin && alikeLists(a.AlsoCloses, b.AlsoCloses) && a.Weakness == b.Weakness &&
		a.CorrectiveAction == b.CorrectiveAction && a.ActionType == b.ActionType && a.Priority == b.Priority && a.Severity == b.Severity && a.Effort == b.Effort &&
		alikePointers(a.Owner, b.Owner) && a.OwnerRole == b.OwnerRole && alikePointers(a.Resources, b.Resources) && a.DueDate == b.DueDate && alikeLists(a.DueChanges, b.DueChanges) &&
		alikeAll(a.Milestones, b.Milestones, alikeMilestones) && alikeLists(a.Dependencies, b.Dependencies) && alikeLists(a.AcceptanceCriteria, b.AcceptanceCriteria) &&
		alikeLists(a.ExpectedEvidence, b.ExpectedEvidence) && a.TargetLevel == b.TargetLevel && a.Status == b.Status && alikePointers(a.RiskAcceptedUntil, b.RiskAcceptedUntil) &&
		alikePointers(a.VendorDependency, b.VendorDependency) && alikePointers(a.Comments, b.Comments)
}

func alikeMilestones(a, b *api.Milestone) bool {
	return a.Title == b.Title && a.DueDate == b.DueDate && a.Status == b.Status && alikeLists(a.Changes, b.Changes) &&
		alikePointers(a.CompletedAt, b.CompletedAt) && a.CompletedBy == b.CompletedBy && a.WasBefore == b.WasBefore && a.CompletedWithItem == b.CompletedWithItem
}

func alikeEvidence(a, b *api.Evidence) bool {
	return a.ChunkID == b.ChunkID && a.DocumentID == b.DocumentID && a.DocumentTitle == b.DocumentTitle && a.Filename == b.Filename && alikeLists(a.HeadingPath, b.HeadingPath) &&
		a.Locator == b.Locator && a.Quote == b.Quote && alikeNumbers(a.Score, b.Score) && a.SHA256 == b.SHA256 && a.Supports == b.Supports && a.Stance == b.Stance
}

func alikeStatements(a, b *api.Statement) bool {
	return a.Text == b.Text && a.Verdict == b.Verdict && a.Reason == b.Reason && alikeNumbers(a.Score, b.Score) && a.ChunkID == b.ChunkID
}

func alikePointers[V comparable](a, b *V) bool { return a == b || a != nil && b != nil && *a == *b }

// alikeLists: JSON tells none from an empty list.
func alikeLists[V comparable](a, b []V) bool {
	return (a == nil) == (b == nil) && slices.Equal(a, b)
}

func alikeAll[V any](a, b []V, alike func(a, b *V) bool) bool {
	if len(a) != len(b) || (a == nil) != (b == nil) {
		return false
	}
	for i := range a {
		if !alike(&a[i], &b[i]) {
			return false
		}
	}
	return true
}

// alikeNumbers: JSON tells 0 from -0.
func alikeNumbers(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
