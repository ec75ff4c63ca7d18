package api

// MaturityVersion is one version of the maturity assessment.
type MaturityVersion struct {
	DeliverableVersion
}

// LevelNames are the names of the SCR-CMM maturity levels 0 to 5.
var LevelNames = [6]string{
	"not performed", "performed informally", "planned and tracked", "well defined", "quantitatively controlled", "continuously improving",
}

// MaturityScore is the maturity level of one control.
type MaturityScore struct {
	Item
	Level         int        `json:"level" minimum:"0" maximum:"5"`
	TargetLevel   int        `json:"target_level" minimum:"0" maximum:"5"`
	PreviousLevel *int       `json:"previous_level"`
	Weight        int        `json:"weight"`
	Criteria      string     `json:"criteria" doc:"Criteria of this level."`
	NextCriteria  string     `json:"next_criteria" doc:"Criteria of the next level."`
	Rationale     string     `json:"rationale"`
	Evidence      []Evidence `json:"evidence"`
	Confidence    float64    `json:"confidence"`
	Assessed      bool       `json:"assessed" doc:"Whether there was any evidence for the rating."`
	Note          *string    `json:"note"`
}

// IsLevelOverruled reports whether a user set the level, or set the status that determines it. In the latter case,
// the automatic confidence is 0.
func (s *MaturityScore) IsLevelOverruled() bool { return s.Confidence == 0 || s.IsManual("level") }

// MaturityInput identifies a version of the maturity assessment.
type MaturityInput struct {
	MaturityVersionID string `path:"maturityVersionId"`
}

// MaturityScoresInput is the input for listing the scores of a maturity assessment version.
type MaturityScoresInput struct {
	MaturityInput
	Paging
	Domain      string `query:"domain"`
	ControlCode string `query:"control_code"`
	Level       string `query:"level" enum:"0,1,2,3,4,5"`
	BelowTarget string `query:"below_target" enum:"true,false"`
	Assessed    string `query:"assessed" enum:"true,false"`
	Q           string `query:"q" doc:"Part of the control or the rationale."`
	Where       string `query:"where" maxLength:"2000" doc:"Only scores that this filter selects, e.g. level < target && domain == 'IAC'."`
	Sort        string `query:"sort" sort:"control_code,domain_code,level,target_level,weight,confidence,updated_at" doc:"Sort order; prefix a field with - for descending."`
}

// MaturityScoreInput identifies a maturity score.
type MaturityScoreInput struct {
	MaturityScoreID string `path:"maturityScoreId"`
}

// UpdateMaturityScoreInput is the input for changing a maturity score.
type UpdateMaturityScoreInput struct {
	MaturityScoreInput
	Match
	Body MaturityScoreChange
}

// MaturityScoreChange lists the fields of a score to change.
type MaturityScoreChange struct {
	Level       *int        `json:"level,omitempty" minimum:"0" maximum:"5"`
	TargetLevel *int        `json:"target_level,omitempty" minimum:"0" maximum:"5"`
	Rationale   *string     `json:"rationale,omitempty" maxLength:"10000"`
	Note        Opt[string] `json:"note,omitzero" required:"false"`
	Reset       []string    `json:"reset,omitempty" maxItems:"50" doc:"Edited fields to reset to the automatic value; all resets every one. A field can't be set and reset in the same request."`
}

// EditMaturityScoresInput is the input for changing many scores.
type EditMaturityScoresInput struct {
	MaturityInput
	Body struct {
		ItemSelection
		Set MaturityScoreChange `json:"set"`
	}
}

// SubmitMaturityInput is the input for submitting a version of the maturity assessment for review.
type SubmitMaturityInput struct {
	MaturityInput
	Body *Submission
}

// DecideMaturityInput is the input for approving a version of the maturity assessment.
type DecideMaturityInput struct {
	MaturityInput
	Body *VersionDecision
}

// DomainMaturity is the maturity of one domain. Its means cover only assessed controls and are null if
// there are none.
type DomainMaturity struct {
	DomainCode   string   `json:"domain_code"`
	DomainName   string   `json:"domain_name"`
	Controls     int      `json:"controls"`
	Assessed     int      `json:"assessed"`
	AssessedPct  float64  `json:"assessed_pct"`
	Mean         *float64 `json:"mean"`
	WeightedMean *float64 `json:"weighted_mean"`
	Minimum      *int     `json:"minimum"`
	TargetMean   *float64 `json:"target_mean"`
}

// MaturitySummary summarizes a version of the maturity assessment by domain.
type MaturitySummary struct {
	MaturityVersionID string           `json:"maturity_version_id"`
	Overall           DomainMaturity   `json:"overall"`
	Domains           []DomainMaturity `json:"domains"`
	ByLevel           map[string]int   `json:"by_level"`
	Formula           string           `json:"formula"`
}

const tagMaturity = "Maturity"

// Operations on the maturity assessment, which the API specification doesn't define.
var (
	DraftMaturity = Create[AssessmentInput, MaturityVersion](
		"draft-maturity", "/assessments/{assessmentId}/maturity/draft", "maturity:write", tagMaturity,
		"Draft a maturity assessment",
	)
	ListMaturity = Get[AssessmentListInput, List[MaturityVersion]](
		"list-maturity-versions", "/assessments/{assessmentId}/maturity", "maturity:read", tagMaturity,
		"List maturity versions, newest first",
	)
	GetMaturity = Get[MaturityInput, MaturityVersion](
		"get-maturity", "/maturity/{maturityVersionId}", "maturity:read", tagMaturity,
		"Get a maturity version",
	)
	ListMaturityScores = Get[MaturityScoresInput, List[MaturityScore]](
		"list-maturity-scores", "/maturity/{maturityVersionId}/scores", "maturity:read", tagMaturity,
		"List the scores of a version",
	)
	GetMaturityScore = Get[MaturityScoreInput, MaturityScore](
		"get-maturity-score", "/maturity/scores/{maturityScoreId}", "maturity:read", tagMaturity,
		"Get a score",
	)
	UpdateMaturityScore = Patch[UpdateMaturityScoreInput, MaturityScore](
		"update-maturity-score", "/maturity/scores/{maturityScoreId}", "maturity:write", tagMaturity,
		"Update a score",
	)
	EditMaturityScores = Post[EditMaturityScoresInput, EditResult](
		"edit-maturity-scores", "/maturity/{maturityVersionId}/edit", "maturity:write", tagMaturity,
		"Change many maturity scores at once",
	)
	SubmitMaturity = Post[SubmitMaturityInput, MaturityVersion](
		"submit-maturity", "/maturity/{maturityVersionId}/submit-review", "maturity:write", tagMaturity,
		"Submit a maturity assessment for review",
	)
	ApproveMaturity = Post[DecideMaturityInput, MaturityVersion](
		"approve-maturity", "/maturity/{maturityVersionId}/approve", ApprovalDecide, tagMaturity,
		"Approve a maturity assessment", WithDelegatesAllowed(),
	)
	GetMaturitySummary = Get[MaturityInput, MaturitySummary](
		"get-maturity-summary", "/maturity/{maturityVersionId}/summary", "maturity:read", tagMaturity,
		"Summarize a maturity version by domain",
	)
	RegenerateMaturity = Post[MaturityInput, MaturityVersion](
		"regenerate-maturity", "/maturity/{maturityVersionId}/regenerate", "maturity:write", tagMaturity,
		"Regenerate, keeping manual edits",
	)
)
