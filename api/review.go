package api

import "time"

// ReviewSample describes the review of a Statement of Applicability by sampling. It lists the items to read and
// states the conclusions about the items that nobody reads.
type ReviewSample struct {
	AssessmentID  string       `json:"assessment_id"`
	SoAVersionID  string       `json:"soa_version_id" doc:"The version that the items below are from."`
	VersionNumber int          `json:"version_number"`
	DrawnAt       time.Time    `json:"drawn_at"`
	DrawnBy       string       `json:"drawn_by"`
	Seed          int          `json:"seed" doc:"With the same seed and items, the same sample is drawn."`
	Outdated      bool         `json:"outdated" doc:"Lines that nobody has read have another status than when the sample was drawn: draw again."`
	MustRead      int          `json:"must_read" doc:"Lines that the draft leaves open; each has to be read."`
	MustReadLeft  int          `json:"must_read_left"`
	Population    int          `json:"population" doc:"The other items that nobody had read when the sample was drawn."`
	Sampled       int          `json:"sampled" doc:"Lines of the population in the sample."`
	SampledLeft   int          `json:"sampled_left"`
	Wrong         int          `json:"wrong" doc:"Lines of the sample whose status or applicability a person changed."`
	NotRead       int          `json:"not_read" doc:"Lines of the population that nobody has read."`
	AtMostWrong   *int         `json:"at_most_wrong" doc:"Maximum number of wrong items among those that nobody has read, with this confidence; null until the sample is read."`
	Confidence    float64      `json:"confidence"`
	Statement     string       `json:"statement" doc:"What follows from the sample, in a sentence."`
	NextStep      string       `json:"next_step" doc:"What to read next, and when to enlarge the sample."`
	SuggestedSize int          `json:"suggested_size" doc:"Size of a sample after which at most 5 percent are wrong if it has no further errors."`
	Lines         []ReviewLine `json:"lines" doc:"The items still to be read, least sure first: those left open, then the sample."`
}

// ReviewLine is an item to read in a review by sampling.
type ReviewLine struct {
	ItemID               string         `json:"item_id"`
	ControlCode          string         `json:"control_code"`
	ControlTitle         string         `json:"control_title"`
	ImplementationStatus Implementation `json:"implementation_status"`
	Confidence           float64        `json:"confidence"`
	Reason               string         `json:"reason" doc:"Why it has to be read."`
}

// DrawReviewInput is the input for drawing a sample of the items that nobody has read.
type DrawReviewInput struct {
	SoAInput
	Body struct {
		Size int `json:"size,omitempty" minimum:"1" maximum:"5000" doc:"Lines to read; 59 without errors show that at most 5 percent are wrong. A larger sample contains the one that was drawn before."`
		Seed int `json:"seed,omitempty" minimum:"0" maximum:"2147483647" doc:"Seed of a new sample; a sample that is being read keeps its own."`
	}
}

// DefaultReviewSize is the default size of a sample. If no item in such a sample is wrong, at most 5 percent of all
// items are.
const DefaultReviewSize = 59

// MaxReviewSize is the maximum size of a sample.
const MaxReviewSize = 5000

// Operations on the review by sampling.
var (
	DrawReview = Post[DrawReviewInput, ReviewSample](
		"draw-review-sample", "/soa/{soaVersionId}/review-sample", "soa:write", tagScope,
		"Draw a sample of items for review",
	)
	GetReview = Get[SoAInput, ReviewSample](
		"get-review-sample", "/soa/{soaVersionId}/review-sample", "soa:read", tagScope,
		"Get the review sample and its result",
	)
)
