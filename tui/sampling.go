package tui

import (
	"context"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/tui/action"
)

func (v *review) sampleAction(blockedReason string) action.Action {
	return action.Action{
		Keys: []string{"R"}, DisabledReason: blockedReason, Do: v.showOrHideSample,
		Help: "reviews a sample: shows only the items that the draft leaves open and a random sample of the others, and estimates how " +
			"many unread items may be wrong; press again to show all items",
	}
}

// showOrHideSample shows only the items to read in a review by sampling, or all items again.
func (v *review) showOrHideSample() tea.Cmd {
	if v.shown == showSample {
		v.showOnly(showAll)
		return nil
	}
	return v.readSample(func(ctx context.Context, in *api.DrawReviewInput) (*api.ReviewSample, error) {
		r, err := call(ctx, v.app.Caller, api.GetReview, &in.SoAInput)
		if err == nil && r.Outdated || api.IsCode(err, api.CodeNotFound) {
			return call(ctx, v.app.Caller, api.DrawReview, in)
		}
		return r, err
	})
}

// refreshSample reads the state of a sampling review again after items were reviewed.
func (v *review) refreshSample() tea.Cmd {
	return v.readSample(func(ctx context.Context, in *api.DrawReviewInput) (*api.ReviewSample, error) {
		return call(ctx, v.app.Caller, api.GetReview, &in.SoAInput)
	})
}

// readSample loads a sampling review, and shows its items and its result. Items that were read in the meantime stay on
// the screen.
func (v *review) readSample(read func(context.Context, *api.DrawReviewInput) (*api.ReviewSample, error)) tea.Cmd {
	in := &api.DrawReviewInput{SoAInput: api.SoAInput{SoAVersionID: v.version.ID}}
	wasShown := v.shown == showSample
	return v.app.runInBackground(func(ctx context.Context) func() tea.Cmd {
		r, err := read(ctx, in)
		return func() tea.Cmd {
			if err != nil {
				return v.app.showErrorOrReconnect(err)
			}
			v.app.markConnected()
			if wasShown && v.shown != showSample { // the user shows other items by now
				return nil
			}
			if v.shown != showSample {
				v.sampled = map[string]bool{}
			}
			for _, l := range r.Lines {
				v.sampled[l.ControlCode] = true
			}
			if v.shown != showSample {
				v.showOnly(showSample)
				v.selectNextOpenItem(false)
			}
			v.app.setStatus("%s", r.Statement+" "+r.NextStep)
			return nil
		}
	})
}

// isOpen reports whether an item needs attention. In a sampling review, that is the case if it still has to be read.
func (v *review) isOpen(r *row) bool {
	if v.shown != showSample {
		return v.kind.isOpen(r)
	}
	isReviewed := func(field string) bool { return slices.Contains(api.ReviewFields, field) }
	for field := range r.unsaved {
		if isReviewed(field) {
			return false
		}
	}
	return v.sampled[r.head.ControlCode] && !slices.ContainsFunc(r.head.EditedFields, isReviewed)
}

// openLabel returns the label for the items for which isOpen returns true.
func (v *review) openLabel() string {
	if v.shown == showSample {
		return "to read"
	}
	return v.kind.openLabel
}

// confirms reports whether setting a field of an item to its current value confirms that the item was read.
func (v *review) confirms(r *row, field string) bool {
	return field == "needs_review" && v.shown == showSample && v.isOpen(r)
}
