package assessment

import (
	"context"
	"fmt"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/engine/judge/reading"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/store"
)

// UpdateSoAItem applies a user's change to an item.
func (s *Service) UpdateSoAItem(ctx context.Context, by api.Caller, in *api.UpdateSoAItemInput) (*api.SoAItem, error) {
	b := in.Body
	drafter := s.newDraftFuncIgnoringInclusion(in.SoAItemID, b.Reset, chosenReaders{})
	redrafted, err := draftItemWithoutEdits(ctx, s, by, soaType, in.SoAItemID, b.Reset, drafter)
	if err != nil {
		return nil, err
	}
	var statements map[string]reading.Statement
	if b.Applicability != nil || b.ImplementationStatus != nil || b.NeedsReview != nil || len(b.Reset) > 0 { // else nothing is decided
		if statements, err = s.readItemStatements(ctx, by, in.SoAItemID); err != nil {
			return nil, err
		}
	}
	return editItem(
		ctx, s, by, soaType, in.SoAItemID, in.Match, newSoAItemChange(by, b, redrafted, false),
		func(tx *store.Tx, e *store.Edit, before, after *api.SoAItem) error {
			return recordLineCorrections(tx, by, e, statements, before, after)
		},
	)
}

// EditSoAItems applies a user's change to all items that a selection matches.
func (s *Service) EditSoAItems(ctx context.Context, by api.Caller, in *api.EditSoAItemsInput) (*api.EditResult, error) {
	b := in.Body.Set
	change := newSoAItemChange(by, b, nil, in.Body.Where != "")
	return editItems(ctx, s, by, soaType, in.SoAVersionID, in.Body.ItemSelection, b.Reset, change)
}

// newSoAItemChange returns a function that changes an item and returns the names of the changed
// fields. redrafted is the item as it would be drafted without the edits being reset, or nil.
// inBulk is set if the items were selected by a filter.
func newSoAItemChange(by api.Caller, b api.SoAItemChange, redrafted *api.SoAItem, inBulk bool) func(*api.SoAItem) ([]string, error) {
	return func(i *api.SoAItem) ([]string, error) {
		if err := validateOwner(b.Owner.Value); err != nil {
			return nil, err
		}
		var f changedFields
		wasRead, stratum := isFullyReviewed(i), stratumOf(i)
		wasExcluded := !i.Applicability.IsApplicable()
		assignField(&f, "applicability", &i.Applicability, b.Applicability)
		assignField(&f, "inclusion_reasons", &i.InclusionReasons, b.InclusionReasons)
		assignField(&f, "rationale", &i.Rationale, b.Rationale)
		assignField(&f, "implementation_status", &i.ImplementationStatus, b.ImplementationStatus)
		f.addIf("owner", emptyAsNull(b.Owner).AssignIfSet(&i.Owner))
		f.addIf("note", b.Note.AssignIfSet(&i.Note))
		assignField(&f, "needs_review", &i.NeedsReview, b.NeedsReview)
		if b.Applicability != nil && isExcludedByDecision(i) && !slices.Contains(append(i.EditedFields, f...), "rationale") {
			// The draft's rationale explains why the control applies; excluding it requires the
			// user's own.
			return nil, api.Invalid("rationale", "state why %s is %s", i.ControlCode, prose.Humanize(i.Applicability))
		}
		if b.ImplementationStatus != nil {
			i.Reason = judge.StatusSetByReason(by.Actor.Name)
		}
		if wasExcluded && i.Applicability.IsApplicable() && b.Rationale == nil { // the old rationale explained the exclusion
			i.Rationale = judge.ManualInclusionReason(by.Actor.Name)
			if i.IsManual("rationale") {
				f = append(f, resetPrefix+"rationale")
			}
		}
		switch wasExcluded := isExcludedByDecision(i); {
		case wasExcluded && b.ImplementationStatus != nil && *b.ImplementationStatus != api.NotAssessed:
			return nil, api.Invalid(
				"implementation_status",
				"%s can't be %s and %s; a control that doesn't apply isn't assessed",
				i.ControlCode,
				prose.Humanize(i.Applicability),
				prose.Humanize(*b.ImplementationStatus),
			)
		case b.Applicability == nil || b.ImplementationStatus != nil:
		case !i.Applicability.IsApplicable():
			i.ImplementationStatus = api.NotAssessed // an item that doesn't apply isn't assessed
			clearReliance(i)
			i.Reason = fmt.Sprintf("Not assessed, because %s set the control to %s.", by.Actor.Name, prose.Humanize(i.Applicability))
			f.addIf("implementation_status", true)
		case i.ImplementationStatus == api.NotAssessed:
			// It applies again, so the next draft judges it.
			i.Reason = "Not assessed yet, because the control was excluded when the evidence was judged. Draft the " +
				"Statement of Applicability again."
			if i.IsManual("implementation_status") {
				f = append(f, resetPrefix+"implementation_status")
			}
		}
		if err := f.addResets(&i.Item, b.Reset); err != nil {
			return nil, err
		}
		if slices.Contains(f, resetPrefix+"applicability") && !i.Applicability.IsApplicable() {
			for _, with := range []string{"implementation_status", "rationale"} { // these were set because the item was excluded
				if i.IsManual(with) && !slices.Contains(f, with) && !slices.Contains(f, resetPrefix+with) {
					f = append(f, resetPrefix+with)
				}
			}
		}
		if redrafted != nil {
			for _, name := range f {
				if back, is := cutResetPrefix(name); is {
					copySoAField(i, redrafted, back)
				}
			}
			if slices.Contains(f, resetPrefix+"applicability") && !i.IsManual("implementation_status") {
				i.ImplementationStatus, i.Reason = redrafted.ImplementationStatus, redrafted.Reason // derived from the applicability
				i.RestsOnDocuments, i.OnlyDocument = redrafted.RestsOnDocuments, redrafted.OnlyDocument
				i.ChangedByDocument, i.ChangedFrom = redrafted.ChangedByDocument, redrafted.ChangedFrom
			}
		}
		if slices.ContainsFunc(f, func(name string) bool { return slices.Contains(api.ReviewFields, name) }) {
			if b.NeedsReview == nil {
				i.NeedsReview = false
			}
			// A new status is a decision, not only a confirmation.
			i.ReviewedInBulk = (inBulk || b.ReviewedInBulk) && !wasRead && stratumOf(i) == stratum
		}
		for n, r := range i.InclusionReasons {
			if slices.Contains(i.InclusionReasons[:n], r) {
				return nil, api.Invalid("inclusion_reasons", "%q is listed twice", r)
			}
			if !slices.Contains([]string{"legal", "contractual", "risk", "best_practice", "framework"}, r) {
				return nil, api.Invalid("inclusion_reasons", "there is no inclusion reason %q", r)
			}
		}
		if isExcludedByDecision(i) && api.IsBlank(i.Rationale) {
			return nil, api.Invalid("rationale", "state why %s is %s", i.ControlCode, prose.Humanize(i.Applicability))
		}
		return f, nil
	}
}
