package assessment

import (
	"context"
	"fmt"
	"slices"

	"github.com/scf-service/service/engine/api"
	"github.com/scf-service/service/store"
)

// sortedItems lists a version's items in an order of their own. The cursor names
// the last item shown, so that a change between two pages repeats and hides nothing else.
func sortedItems[V, I any](ctx context.Context, s *Service, by api.Caller, k kind[V, I], id string, p api.Paging, keep func(*I) bool, less func(a, b *I) int) (*api.List[I], error) {
	var all []I
	err := s.db.View(ctx, func(tx *store.Tx) error {
		if _, err := k.get(tx, by.OrganizationID, id); err != nil {
			return err
		}
		items, err := k.itemsOf(tx, by.OrganizationID, id)
		for n := range items {
			if keep(&items[n]) {
				all = append(all, items[n])
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b I) int { return less(&a, &b) })
	start := 0
	if p.Cursor != "" {
		at := slices.IndexFunc(all, func(i I) bool { return k.item(&i).ID == p.Cursor })
		if at < 0 {
			return nil, api.Invalid("cursor", "%v", fmt.Errorf("%w", store.ErrBadCursor))
		}
		start = at + 1
	}
	if p.Limit <= 0 {
		p.Limit = api.DefaultListLimit
	}
	end := min(start+p.Limit, len(all))
	out := &api.List[I]{Data: all[start:end], Pagination: api.Pagination{Total: len(all), Limit: p.Limit, HasMore: end < len(all)}}
	if end < len(all) && end > start {
		out.Pagination.NextCursor = &k.item(&all[end-1]).ID
	}
	return out, nil
}
