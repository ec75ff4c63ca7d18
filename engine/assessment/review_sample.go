package assessment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/internal/sampling"
	"github.com/scf-service/service/store"
)

// acceptedShare is the share of wrong items beyond which a larger sample is suggested.
const acceptedShare = 0.05

// whyLeftOpen returns why the draft doesn't decide an item, so that a person has to review it, or
// "" if the draft decides it.
func whyLeftOpen(i *api.SoAItem) string {
	switch {
	case i.Applicability == api.Undecided:
		return "undecided whether the control applies"
	case i.Carried != nil && i.Carried.EvidenceChanged:
		return "carried over from a decision that was based on different evidence"
	case judge.IsAskedAgain(i):
		return "confirmed before, but marked for review again"
	case i.SecondReading != nil:
		return "the readers disagree"
	case slices.ContainsFunc(i.Statements, func(s api.Statement) bool { return s.Verdict == judge.VerdictConflicting }):
		return "the evidence conflicts"
	case i.Applicability.IsApplicable() && i.ImplementationStatus == api.NotAssessed:
		return "not assessed"
	}
	return ""
}

// isFullyReviewed reports whether a person has reviewed an item and left nothing open. Confirming
// all items that match a filter doesn't count as a review.
func isFullyReviewed(i *api.SoAItem) bool {
	return judge.IsReviewed(i) && !i.ReviewedInBulk && i.Applicability != api.Undecided && (i.Carried == nil || !i.Carried.EvidenceChanged)
}

// stratumOf returns the stratum of an item: its implementation status or, if it doesn't apply, its applicability.
func stratumOf(i *api.SoAItem) string {
	if !i.Applicability.IsApplicable() {
		return string(i.Applicability)
	}
	return string(i.ImplementationStatus)
}

// DrawReview draws a sample of the items in the newest version that nobody has reviewed, or
// enlarges the sample under review.
func (s *Service) DrawReview(ctx context.Context, by api.Caller, in *api.DrawReviewInput) (*api.ReviewSample, error) {
	var out *api.ReviewSample
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		v, a, items, err := newestForReview(tx, by, in.SoAVersionID)
		if err != nil {
			return err
		}
		if err := requireOpen(&a); err != nil {
			return err
		}
		r, err := store.ReviewSamples.Get(tx, by.OrganizationID, a.ID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if isNew := err != nil || describeReview(&v, &r, items).Outdated; isNew {
			r = store.ReviewSample{
				OrganizationID: by.OrganizationID, AssessmentID: a.ID, Seed: in.Body.Seed, DrawnAt: tx.Now(), DrawnBy: by.Actor.Name,
			}
			for n := range items {
				if i := &items[n]; !isFullyReviewed(i) {
					r.Lines = append(r.Lines, store.ReviewSampleLine{ControlCode: i.ControlCode, Stratum: stratumOf(i), LeftOpen: whyLeftOpen(i)})
				}
			}
		} else if in.Body.Seed != 0 && in.Body.Seed != r.Seed {
			return api.Conflict("a sample with the seed %d is already being read; changing the seed now would "+
				"select items after results are known", r.Seed)
		}
		size := cmp.Or(in.Body.Size, api.DefaultReviewSize)
		if size < r.Size {
			return api.Conflict("the current sample was drawn with a size of %d; it can only be enlarged", r.Size)
		}
		r.Size = size
		markSampled(&r)
		out = describeReview(&v, &r, items)
		return errors.Join(store.ReviewSamples.Put(tx, by.OrganizationID, &r), audit.RecordEvent(tx, by, audit.Event{
			Type: "soa.review_sampled", AssessmentID: a.ID,
			Summary: fmt.Sprintf("drew a sample of %s out of %d in the Statement of Applicability",
				prose.Count(out.Sampled, "item", "items"), out.Population),
			ResourceType: "soa", ResourceID: v.ID, Data: map[string]any{"size": r.Size, "seed": r.Seed, "population": out.Population},
		}))
	})
	return out, err
}

// markSampled marks the items in the sample: the first ones of each stratum, in an order that
// depends only on the seed.
func markSampled(r *store.ReviewSample) {
	members := map[string][]string{}
	for _, l := range r.Lines {
		if l.LeftOpen == "" {
			members[l.Stratum] = append(members[l.Stratum], l.ControlCode)
		}
	}
	strata := slices.Sorted(maps.Keys(members))
	sizes := make([]int, len(strata))
	for i, s := range strata {
		sizes[i] = len(members[s])
	}
	chosen := map[string]bool{}
	for i, n := range sampling.Allocate(sizes, r.Size) {
		sampling.Shuffle(members[strata[i]], uint64(r.Seed))
		for _, code := range members[strata[i]][:n] {
			chosen[code] = true
		}
	}
	for n := range r.Lines {
		r.Lines[n].Sampled = r.Lines[n].Sampled || chosen[r.Lines[n].ControlCode]
	}
}

// GetReview returns the progress and the conclusions of the review by sampling.
func (s *Service) GetReview(ctx context.Context, by api.Caller, in *api.SoAInput) (*api.ReviewSample, error) {
	var out *api.ReviewSample
	err := s.db.View(ctx, func(tx *store.Tx) error {
		v, a, items, err := newestForReview(tx, by, in.SoAVersionID)
		if err != nil {
			return err
		}
		r, err := store.ReviewSamples.Get(tx, by.OrganizationID, a.ID)
		if err != nil {
			return store.ToNotFound(err, "review sample for assessment", a.ID)
		}
		out = describeReview(&v, &r, items)
		return nil
	})
	return out, err
}

// newestForReview returns the newest version, given its ID, with its assessment and items.
func newestForReview(tx *store.Tx, by api.Caller, id string) (v api.SoAVersion, a api.Assessment, items []api.SoAItem, err error) {
	if v, err = soaType.getVersion(tx, by.OrganizationID, id); err != nil {
		return v, a, nil, err
	}
	if a, err = getAssessment(tx, by, v.AssessmentID); err != nil {
		return v, a, nil, err
	}
	newest, _, err := soaType.newestVersion(tx, by.OrganizationID, a.ID)
	if err != nil {
		return v, a, nil, err
	}
	if newest.ID != v.ID {
		return v, a, nil, api.Conflict("version %d of the Statement of Applicability is not the newest; review version %d", v.VersionNumber, newest.VersionNumber)
	}
	items, err = soaType.readItems(tx, by.OrganizationID, v.ID)
	return v, a, items, err
}

// describeReview computes the state of a review from the current items.
func describeReview(v *api.SoAVersion, r *store.ReviewSample, items []api.SoAItem) *api.ReviewSample {
	out := &api.ReviewSample{
		AssessmentID: v.AssessmentID, SoAVersionID: v.ID, VersionNumber: v.VersionNumber, DrawnAt: r.DrawnAt, DrawnBy: r.DrawnBy, Seed: r.Seed,
		Confidence: sampling.Confidence, Lines: []api.ReviewLine{},
	}
	byCode := map[string]*api.SoAItem{}
	for n := range items {
		byCode[items[n].ControlCode] = &items[n]
	}
	strata, sizes, wrongElsewhere, inBulk := map[string]*sampling.Stratum{}, []int{}, 0, 0
	var open, sample []api.ReviewLine
	for _, l := range r.Lines {
		i := byCode[l.ControlCode]
		if i == nil {
			out.Outdated = true // the item's framework was removed
			continue
		}
		delete(byCode, l.ControlCode)
		read := isFullyReviewed(i)
		if i.ReviewedInBulk {
			inBulk++
		}
		line := api.ReviewLine{
			ItemID: i.ID, ControlCode: i.ControlCode, ControlTitle: i.ControlTitle,
			ImplementationStatus: i.ImplementationStatus, Confidence: i.Confidence,
			Reason: cmp.Or(l.LeftOpen, "sample of "+prose.Humanize(l.Stratum)),
		}
		if l.LeftOpen != "" {
			if out.MustRead++; !read {
				out.MustReadLeft++
				open = append(open, line)
			}
			continue
		}
		isWrong := stratumOf(i) != l.Stratum
		if !read {
			out.NotRead++
			out.Outdated = out.Outdated || isWrong // the draft has changed the item
		}
		out.Population++
		if strata[l.Stratum] == nil {
			strata[l.Stratum] = &sampling.Stratum{}
		}
		strata[l.Stratum].Size++
		switch {
		case l.Sampled:
			out.Sampled++
			strata[l.Stratum].Sampled++
			if !read {
				out.SampledLeft++
				sample = append(sample, line)
			} else if isWrong {
				out.Wrong++
			}
		case read && isWrong:
			wrongElsewhere++
		}
	}
	for _, i := range byCode { // items drafted since the sample was drawn
		out.Outdated = out.Outdated || !isFullyReviewed(i)
	}
	leastSureFirst := func(a, b api.ReviewLine) int {
		return cmp.Or(cmp.Compare(a.Confidence, b.Confidence), cmp.Compare(a.ControlCode, b.ControlCode))
	}
	slices.SortFunc(open, leastSureFirst)
	slices.SortFunc(sample, leastSureFirst)
	out.Lines = append(append(out.Lines, open...), sample...)
	var all []sampling.Stratum
	for _, name := range slices.Sorted(maps.Keys(strata)) {
		all, sizes = append(all, *strata[name]), append(sizes, strata[name].Size)
	}
	out.SuggestedSize = max(r.Size, sampling.SizeFor(sizes, out.Wrong, acceptedShare))
	if out.SampledLeft == 0 && !out.Outdated {
		out.AtMostWrong = new(max(0, min(out.NotRead, sampling.AtMost(all, out.Wrong)-out.Wrong-wrongElsewhere)))
	}
	out.Statement, out.NextStep = reviewStatement(out), nextReviewStep(out, sampling.AtMost(all, out.Wrong))
	if inBulk > 0 {
		out.Statement += fmt.Sprintf(" %s only as part of a bulk decision, which doesn't count as a review.",
			prose.Count(inBulk, "item was confirmed", "items were confirmed"))
	}
	return out
}

// reviewStatement states the conclusions from a sample, in a sentence or two.
func reviewStatement(r *api.ReviewSample) string {
	found := fmt.Sprintf("Of the %s in the sample, %d had a wrong status or applicability.", prose.Count(r.Sampled, "item", "items"), r.Wrong)
	switch {
	case r.Outdated:
		return "The draft has changed since the sample was drawn, so the sample is no longer valid."
	case r.SampledLeft > 0:
		return fmt.Sprintf("%d of the %s in the sample still need to be read; only then can the result be "+
			"calculated for the other items.",
			r.SampledLeft, prose.Count(r.Sampled, "item", "items"))
	case r.NotRead == 0:
		return "Every item was read."
	}
	return fmt.Sprintf("Of the %s you have not read, at most %d %s wrong, with %.0f%% confidence. %s", prose.Count(r.NotRead, "item", "items"),
		*r.AtMostWrong, isOrAre(*r.AtMostWrong), 100*r.Confidence, found)
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// nextReviewStep returns what to do next. atMost is the largest number of items that can have been drafted wrong,
// including those found.
func nextReviewStep(r *api.ReviewSample, atMost int) string {
	isTooMany := float64(atMost) > acceptedShare*float64(r.Population)
	total := fmt.Sprintf("%d of the %s", atMost, prose.Count(r.Population, "item", "items"))
	if r.Wrong > 0 {
		total = "Together with those found, that is " + total
	} else {
		total = "That is " + total
	}
	switch {
	case r.Outdated:
		return "Draw a new sample."
	case r.MustReadLeft > 0:
		return fmt.Sprintf("First read the %s that the draft leaves open, then read the sample.", prose.Count(r.MustReadLeft, "item", "items"))
	case r.SampledLeft > 0:
		return "Read the remaining items of the sample, starting with the least certain ones."
	case r.NotRead == 0:
		return ""
	case isTooMany && r.SuggestedSize >= r.Population:
		return total + ", more than 5%, and only reading every item could bring that below 5%. Continue where the errors were found."
	case isTooMany && r.SuggestedSize > r.Sampled:
		return fmt.Sprintf("%s, more than 5%%. A sample of %d with no further errors would bring that to 5%% at most. "+
			"If the errors found have a common cause, look for it in the other items first.", total, r.SuggestedSize)
	}
	return total + ", at most 5%: enough items have been read. Read more if even minor errors would " +
		"matter, or if the errors found have a common cause."
}
