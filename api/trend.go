package api

import "time"

// MaxTrendPoints is the maximum number of versions in a trend.
const MaxTrendPoints = 24

// AssessmentTrend shows how the totals of an assessment have changed from version to version of its Statement of Applicability.
type AssessmentTrend struct {
	AssessmentID string       `json:"assessment_id"`
	Points       []TrendPoint `json:"points" doc:"The newest 24 versions, oldest first."`
}

// TrendPoint is a version of a Statement of Applicability with its totals.
type TrendPoint struct {
	SoAVersionID  string        `json:"soa_version_id"`
	VersionNumber int           `json:"version_number"`
	Status        VersionStatus `json:"status"`
	CreatedAt     time.Time     `json:"created_at"`
	Applicable    int           `json:"applicable"`
	Implemented   int           `json:"implemented"`
	CompliancePct *float64      `json:"compliance_pct"`
	OpenGaps      *int          `json:"open_gaps" doc:"In the newest gap analysis made from this version; null if there is none."`
	MaturityAvg   *float64      `json:"maturity_avg" doc:"In the newest maturity assessment made from this version; null if there is none."`
}

// GetAssessmentTrend is the operation that compares the versions of an assessment.
var GetAssessmentTrend = Get[AssessmentInput, AssessmentTrend](
	"get-assessment-trend", "/assessments/{assessmentId}/trend", "assessment:read", tagAssessment,
	"Get the totals of each version of an assessment",
)
