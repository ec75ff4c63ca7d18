package assessment

import (
	"context"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// findApprovedPOAMItem returns an item as it was approved in its plan, or nil if it wasn't. Its dates
// and its original milestones must not be changed.
func (s *Service) findApprovedPOAMItem(ctx context.Context, by api.Caller, id string) (out *api.POAMItem, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		item, err := poamType.items.Get(tx, by.OrganizationID, id)
		if err != nil {
			return store.ToNotFound(err, poamType.gate.Title()+" item", id)
		}
		a, err := getAssessment(tx, by, item.AssessmentID)
		if err != nil {
			return err
		}
		approved, err := poamType.lastApprovedItems(tx, s, &a)
		out = findApprovedMatch(approved, &item)
		return err
	})
	return out, err
}

// findApprovedMatch returns the approved item that item continues, or nil if there is none.
func findApprovedMatch(approved []api.POAMItem, item *api.POAMItem) *api.POAMItem {
	return poamType.matchItems([]api.POAMItem{*item}, approved)[0]
}
