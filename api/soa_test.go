package api_test

import (
	"slices"
	"testing"

	"github.com/scf-service/service/api"
)

// TestReviewWarning checks how the number of unreviewed items and that of the marked ones among them are worded.
func TestReviewWarning(t *testing.T) {
	for marked, want := range []string{
		0: "2 of 3 items were not reviewed by a person, none of them marked for review.",
		1: "2 of 3 items were not reviewed by a person, 1 of them marked for review.",
		2: "2 of 3 items were not reviewed by a person, all marked for review.",
	} {
		c := api.ReviewCount{LinesNotReviewed: 2, LinesToReview: marked}
		if got := c.Warnings(3); !slices.Equal(got, []string{want}) {
			t.Errorf("%d marked: %q, want %q", marked, got, want)
		}
	}
}
