package identity

import (
	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// hasUnrevokedDelegation reports whether the user has received a delegation that is still active. The
// gates it covers and its expiry are checked when the user decides.
func hasUnrevokedDelegation(tx *store.Tx, org, userID string) (bool, error) {
	for d, err := range store.Delegations.By("delegate").Scan(tx, org, store.Prefix(userID)) {
		if err != nil || d.Status == api.DelegationActive {
			return err == nil, err
		}
	}
	return false, nil
}

// endDelegationsGivenBy ends the delegations that a user gave and, if alsoReceived is set, those
// that the user received. Otherwise, they would become valid again if the user rejoined.
func endDelegationsGivenBy(tx *store.Tx, by api.Caller, userID, reason string, alsoReceived bool) error {
	var ended []api.Delegation
	for d, err := range store.Delegations.Scan(tx, by.OrganizationID) {
		if err != nil {
			return err
		}
		if d.Status == api.DelegationActive && (d.DelegatorID == userID || alsoReceived && d.DelegateID == userID) {
			ended = append(ended, d)
		}
	}
	for _, d := range ended {
		now := tx.Now()
		d.Status, d.EndedAt, d.EndReason, d.UpdatedAt = api.DelegationVoid, &now, &reason, now
		if err := store.Delegations.Update(tx, by.OrganizationID, &d); err != nil {
			return err
		}
		if err := appendAudit(
			tx,
			by,
			"delegation.voided",
			"delegation",
			d.ID,
			map[string]any{"reason": reason, "delegator_id": d.DelegatorID, "delegate_id": d.DelegateID},
		); err != nil {
			return err
		}
	}
	return nil
}
