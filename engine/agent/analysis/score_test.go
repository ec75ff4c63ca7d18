package analysis

import (
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

// everyControl is a catalog that has every control.
type everyControl struct{}

func (everyControl) Control(code string) (api.Control, error) {
	return api.Control{Code: code, Title: "Title of " + code}, nil
}

// TestAccuracyOnTheLabelledCases checks that the rules reach the accuracy stated in
// docs/measurements.md.
func TestAccuracyOnTheLabelledCases(t *testing.T) {
	scores, err := MeasureBuiltin(t.Context(), everyControl{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scores {
		share := float64(s.Met) / float64(s.Labels)
		t.Logf(
			"%-12s %d cases, %d whole, labels %.3f, held out %d of %d: %s",
			s.Analysis,
			s.Cases,
			s.FullyMet,
			share,
			s.HeldOutMet,
			s.HeldOut,
			strings.Join(s.Missed, "; "),
		)
		if s.Cases < 30 {
			t.Errorf("%s has only %d cases", s.Analysis, s.Cases)
		}
		if share < 0.85 {
			t.Errorf("%s: %.3f of the labels", s.Analysis, share)
		}
	}
}
