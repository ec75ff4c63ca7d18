package assessment

import (
	"context"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// draftItemWithoutEdits returns an item as it would be drafted now, without users' edits to the
// named fields; "all" means every field. It returns nil if the item would not be drafted.
func draftItemWithoutEdits[V, I any](
	ctx context.Context,
	s *Service,
	by api.Caller,
	k deliverableType[V, I],
	itemID string,
	fieldNames []string,
	makeDraft draftFunc[I],
) (*I, error) {
	if len(fieldNames) == 0 {
		return nil, nil
	}
	var item I
	var a api.Assessment
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		if item, err = k.items.Get(tx, by.OrganizationID, itemID); err != nil {
			return store.ToNotFound(err, k.gate.Title()+" item", itemID)
		}
		a, err = getAssessment(tx, by, k.item(&item).AssessmentID)
		return err
	})
	if err != nil {
		return nil, err
	}
	d, err := makeDraft(ctx, by, &a)
	if err != nil {
		return nil, err
	}
	previous, err := loadPreviousInView(ctx, s, &a, k, d.items)
	if err != nil {
		return nil, err
	}
	previous.items = slices.Clone(previous.items)
	for n := range previous.items {
		if it := k.item(&previous.items[n]); it.ID == itemID {
			it.EditedFields = slices.DeleteFunc(
				slices.Clone(it.EditedFields),
				func(f string) bool { return slices.Contains(fieldNames, f) || slices.Contains(fieldNames, "all") },
			)
		}
	}
	d = d.withEdits(&previous)
	for n, was := range k.matchItems(d.items, []I{item}) {
		if was != nil {
			return &d.items[n], nil
		}
	}
	return nil, nil
}

// resetFields resets edited fields to their automatic values, using copyField to copy these from
// the redrafted item. The name "all" stands for every edited field. If there is no redrafted item,
// the values don't change until the next draft.
func resetFields[I any](
	f *changedFields,
	it *api.Item,
	names []string,
	item, redrafted *I,
	copyField func(item, from *I, field string),
) error {
	if err := f.addResets(it, names); err != nil || redrafted == nil {
		return err
	}
	for _, name := range *f {
		if back, is := cutResetPrefix(name); is {
			copyField(item, redrafted, back)
		}
	}
	return nil
}
