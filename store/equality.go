package store

import (
	"maps"
	"math"
	"slices"

	"github.com/scf-service/service/api"
)

// Whether two lines of deliverables say the same: all but which line of which version they
// are, and of which finding. A field that is forgotten here fails TestAlikeLooksAtEveryField.

// itemHeader is what comes first in the JSON of a line, and tells it apart from others that say the same.
type itemHeader struct {
	api.TenantRecord
	AssessmentID string `json:"assessment_id"`
	VersionID    string `json:"version_id"`
	Revision     int    `json:"revision"`
}

func newItemHeader(i *api.Item) any {
	return &itemHeader{TenantRecord: i.TenantRecord, AssessmentID: i.AssessmentID, VersionID: i.VersionID, Revision: i.Revision}
}

// remediationHeader goes on to the finding, which is another in every version.
type remediationHeader struct {
	*api.Item
	POAMCode  string `json:"poam_code"`
	FindingID string `json:"finding_id"`
}

func newRemediationHeader(i *api.POAMItem) any {
	return &remediationHeader{Item: &i.Item, POAMCode: i.POAMCode, FindingID: i.FindingID}
}

func equalItems(a, b *api.Item) bool {
	return a.ControlID == b.ControlID && a.ControlCode == b.ControlCode && a.ControlTitle == b.ControlTitle && a.DomainCode == b.DomainCode &&
		(a.RequirementCodes == nil) == (b.RequirementCodes == nil) &&
		maps.EqualFunc(a.RequirementCodes, b.RequirementCodes, equalLists[string]) &&
		equalPointers(a.EditedBy, b.EditedBy) &&
		equalLists(a.EditedFields, b.EditedFields)
}

func equalSoAItems(a, b *api.SoAItem) bool {
	return equalItems(&a.Item, &b.Item) && a.Applicability == b.Applicability && equalLists(a.InclusionReasons, b.InclusionReasons) &&
		a.Rationale == b.Rationale &&
		a.ImplementationStatus == b.ImplementationStatus && equalSlices(a.Evidence, b.Evidence, equalEvidence) &&
		a.EvidenceCoverage == b.EvidenceCoverage &&
		equalFloats(a.CoverageRatio, b.CoverageRatio) && equalSlices(a.Statements, b.Statements, equalStatements) &&
		a.StatementSource == b.StatementSource && a.InOperation == b.InOperation && equalLists(a.MissingElements, b.MissingElements) &&
		equalPointers(a.Owner, b.Owner) && equalPointers(a.Note, b.Note) && equalFloats(a.Confidence, b.Confidence) &&
		a.Reason == b.Reason &&
		a.NeedsReview == b.NeedsReview
}

func equalFindings(a, b *api.Finding) bool {
	return equalItems(&a.Item, &b.Item) && a.InCatalog == b.InCatalog && a.Status == b.Status && a.Result == b.Result &&
		a.GapType == b.GapType &&
		a.Severity == b.Severity && a.SeverityReason == b.SeverityReason && a.SeverityPoints == b.SeverityPoints && a.Weight == b.Weight &&
		a.Condition == b.Condition && a.Criteria == b.Criteria &&
		a.Cause == b.Cause && a.Effect == b.Effect && a.Recommendation == b.Recommendation && equalLists(a.MissingElements, b.MissingElements) &&
		equalSlices(a.Evidence, b.Evidence, equalEvidence) && equalFloats(a.Confidence, b.Confidence) && equalPointers(a.Owner, b.Owner) &&
		equalPointers(a.DueDate, b.DueDate) &&
		equalPointers(a.Note, b.Note) && a.Source == b.Source &&
		a.StatusSetBy == b.StatusSetBy &&
		a.OriginID == b.OriginID
}

func equalScores(a, b *api.MaturityScore) bool {
	return equalItems(&a.Item, &b.Item) && a.Level == b.Level && a.TargetLevel == b.TargetLevel &&
		equalPointers(a.PreviousLevel, b.PreviousLevel) &&
		a.Weight == b.Weight && a.Criteria == b.Criteria && a.NextCriteria == b.NextCriteria && a.Rationale == b.Rationale &&
		equalSlices(a.Evidence, b.Evidence, equalEvidence) &&
		equalFloats(a.Confidence, b.Confidence) &&
		a.Assessed == b.Assessed &&
		equalPointers(a.Note, b.Note)
}

func equalRemediations(a, b *api.POAMItem) bool {
	return equalItems(&a.Item, &b.Item) && a.POAMCode == b.POAMCode && a.FindingOrigin == b.FindingOrigin &&
		equalLists(a.AlsoCloses, b.AlsoCloses) && a.Weakness == b.Weakness &&
		a.CorrectiveAction == b.CorrectiveAction && a.ActionType == b.ActionType && a.Priority == b.Priority && a.Severity == b.Severity &&
		a.Effort == b.Effort &&
		equalPointers(a.Owner, b.Owner) && a.OwnerRole == b.OwnerRole && equalPointers(a.Resources, b.Resources) && a.DueDate == b.DueDate &&
		equalLists(a.DueChanges, b.DueChanges) &&
		equalSlices(a.Milestones, b.Milestones, equalMilestones) && equalLists(a.Dependencies, b.Dependencies) &&
		equalLists(a.AcceptanceCriteria, b.AcceptanceCriteria) &&
		equalLists(a.ExpectedEvidence, b.ExpectedEvidence) && a.TargetLevel == b.TargetLevel && a.Status == b.Status &&
		equalPointers(a.RiskAcceptedUntil, b.RiskAcceptedUntil) &&
		equalPointers(a.VendorDependency, b.VendorDependency) &&
		equalPointers(a.Comments, b.Comments)
}

func equalMilestones(a, b *api.Milestone) bool {
	return a.Title == b.Title && a.DueDate == b.DueDate && a.Status == b.Status && equalLists(a.Changes, b.Changes) &&
		equalPointers(
			a.CompletedAt,
			b.CompletedAt,
		) && a.CompletedBy == b.CompletedBy && a.PreviousStatus == b.PreviousStatus && a.CompletedWithItem == b.CompletedWithItem
}

func equalEvidence(a, b *api.Evidence) bool {
	return a.ChunkID == b.ChunkID && a.DocumentID == b.DocumentID && a.DocumentTitle == b.DocumentTitle && a.Filename == b.Filename &&
		equalLists(a.HeadingPath, b.HeadingPath) &&
		a.Locator == b.Locator && a.Quote == b.Quote && equalFloats(a.Score, b.Score) && a.SHA256 == b.SHA256 &&
		a.Statement == b.Statement &&
		a.Stance == b.Stance
}

func equalStatements(a, b *api.Statement) bool {
	return a.Text == b.Text && a.Verdict == b.Verdict && a.Reason == b.Reason && equalFloats(a.Score, b.Score) && a.ChunkID == b.ChunkID
}

func equalPointers[V comparable](a, b *V) bool { return a == b || a != nil && b != nil && *a == *b }

// equalLists: JSON tells none from an empty list.
func equalLists[V comparable](a, b []V) bool {
	return (a == nil) == (b == nil) && slices.Equal(a, b)
}

func equalSlices[V any](a, b []V, equal func(a, b *V) bool) bool {
	if len(a) != len(b) || (a == nil) != (b == nil) {
		return false
	}
	for i := range a {
		if !equal(&a[i], &b[i]) {
			return false
		}
	}
	return true
}

// equalFloats: JSON tells 0 from -0.
func equalFloats(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
