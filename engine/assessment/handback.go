package assessment

import (
	"context"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// rulesLine is the line of an item as a draft of today would have it, where people had not set the named
// fields ("all": none at all); nil where a draft would have none.
func rulesLine[V, I any](ctx context.Context, s *Service, by api.Caller, k kind[V, I], id string, names []string, make maker[I]) (*I, error) {
	if len(names) == 0 {
		return nil, nil
	}
	var item I
	var a api.Assessment
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		if item, err = k.items.Get(tx, by.OrganizationID, id); err != nil {
			return store.Missing(err, k.gate.Title()+" item", id)
		}
		a, err = get(tx, by, k.item(&item).AssessmentID)
		return err
	})
	if err != nil {
		return nil, err
	}
	d, err := make(ctx, by, &a)
	if err != nil {
		return nil, err
	}
	old, err := before(ctx, s, &a, k, d.items)
	if err != nil {
		return nil, err
	}
	old.items = slices.Clone(old.items)
	for n := range old.items {
		if it := k.item(&old.items[n]); it.ID == id {
			it.EditedFields = slices.DeleteFunc(slices.Clone(it.EditedFields), func(f string) bool { return slices.Contains(names, f) || slices.Contains(names, "all") })
		}
	}
	d = d.with(&old)
	for n, was := range k.pair(d.items, []I{item}) {
		if was != nil {
			return &d.items[n], nil
		}
	}
	return nil, nil
}

// handBack gives edited fields back to the rules, "all" being each of them: copyField puts there what rules has,
// the line as they would draft it. Where they would draft none, what stands there stays until the next draft.
func handBack[I any](f *fields, it *api.Item, names []string, to, rules *I, copyField func(to, from *I, field string)) error {
	if err := f.handBack(it, names); err != nil || rules == nil {
		return err
	}
	for _, name := range *f {
		if back, is := cutHandedBack(name); is {
			copyField(to, rules, back)
		}
	}
	return nil
}
