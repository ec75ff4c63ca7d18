package api_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/scf-service/service/api"
)

func TestLifecycleTable(t *testing.T) {
	states := api.States()
	if len(states) != 22 || len(api.Moves) != 21 {
		t.Fatalf("%d states and %d moves, not 22 and 21", len(states), len(api.Moves))
	}
	var gates []api.Gate
	for i, m := range api.Moves {
		if m.From != states[i] || m.To != states[i+1] || m.Work == "" {
			t.Errorf("move %d goes from %s to %s", i, m.From, m.To)
		}
		if m.Gate != "" {
			gates = append(gates, m.Gate)
		}
	}
	if !slices.Equal(gates, api.Gates) {
		t.Errorf("the gates are met as %v", gates)
	}
}

// TestEveryPairOfStates checks that, of all 22 × 22 pairs, exactly the 21 pairs of adjacent states are moves, and
// that errors for the others list the allowed states.
func TestEveryPairOfStates(t *testing.T) {
	states := api.States()
	allowed := 0
	for i, from := range states {
		for j, to := range states {
			err := api.CheckMove(from, to)
			if j == i+1 {
				allowed++
				if err != nil {
					t.Errorf("%s → %s: %v", from, to, err)
				}
				continue
			}
			var e *api.Error
			if !errors.As(err, &e) || e.Code != api.CodeInvalidState || e.HTTPStatus() != 409 || len(e.Details) != 1 {
				t.Errorf("%s → %s is refused as %v", from, to, err)
				continue
			}
			d := e.Details[0]
			if d.CurrentState != string(from) || d.AttemptedTransition != string(to) {
				t.Errorf("%s → %s: details %+v", from, to, d)
			}
			if from != api.StateClosed && !slices.Equal(d.AllowedTransitions, []api.State{states[i+1]}) {
				t.Errorf("%s → %s: allowed %v", from, to, d.AllowedTransitions)
			}
		}
	}
	if allowed != 21 {
		t.Errorf("%d pairs are moves", allowed)
	}
	if err := api.CheckMove(api.StateDraft, "nowhere"); !api.IsCode(err, api.CodeValidation) {
		t.Errorf("an unknown state is %v", err)
	}
}

// TestReviewsGoBack checks that a rejected review returns to the drafted state of its own step.
func TestReviewsGoBack(t *testing.T) {
	want := map[api.State]api.State{
		api.StateSoAUnderReview: api.StateSoADrafted, api.StateGapAnalysisUnderReview: api.StateGapAnalysisDrafted,
		api.StateMaturityUnderReview: api.StateMaturityAssessed, api.StatePOAMUnderReview: api.StatePOAMDrafted,
	}
	for _, s := range api.States() {
		_, drafted, ok := s.ReviewGate()
		if back, review := want[s]; ok != review || drafted != back {
			t.Errorf("%s goes back to %q (%v)", s, drafted, ok)
		}
	}
}

func TestProgressRises(t *testing.T) {
	last := -1
	for _, s := range api.States() {
		if s.ProgressPercent() <= last {
			t.Errorf("%s is at %d %%, after %d %%", s, s.ProgressPercent(), last)
		}
		last = s.ProgressPercent()
	}
	if last != 100 {
		t.Errorf("closed is at %d %%", last)
	}
}
