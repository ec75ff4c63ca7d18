package delivery

import (
	"context"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// deleteOldDeliveries deletes deliveries older than 30 days, including those pending for a paused
// receiver. It runs once an hour, in small batches, so that other transactions don't have to wait
// long.
func (l *Dispatcher) deleteOldDeliveries(ctx context.Context) error {
	now := l.Clock()
	if now.Before(l.nextPrune) {
		return nil
	}
	before := now.Add(-retention)
	var old []store.Delivery
	if err := l.DB.View(ctx, func(tx *store.Tx) (err error) {
		old, err = l.findExpired(tx, before)
		return err
	}); err != nil {
		return err
	}
	if len(old) > 0 {
		if err := l.DB.Update(ctx, func(tx *store.Tx) error { return deleteDeliveries(tx, old) }); err != nil {
			return err
		}
	}
	if len(old) < pruneBatch {
		l.nextPrune = now.Add(pruneInterval)
	}
	return nil
}

// findExpired returns a batch of deliveries that are older than the given time. The age of a delivery that was
// requested again is counted from that request.
func (l *Dispatcher) findExpired(tx *store.Tx, before time.Time) (old []store.Delivery, err error) {
	for _, k := range l.Kinds {
		all, err := k.Receivers(tx, "")
		if err != nil {
			return nil, err
		}
		for _, r := range all {
			for d, err := range store.Deliveries.By("webhook").Scan(tx, r.OrganizationID, store.Prefix(r.ID)) {
				if err != nil {
					return nil, err
				}
				if !d.CreatedAt.Before(before) {
					break
				}
				if d.UpdatedAt.Before(before) {
					old = append(old, d)
				}
				if len(old) == pruneBatch {
					return old, nil
				}
			}
		}
	}
	return old, nil
}

func deleteDeliveries(tx *store.Tx, all []store.Delivery) error {
	for _, d := range all {
		if err := store.Deliveries.Delete(tx, d.OrganizationID, d.ID); err != nil {
			return err
		}
	}
	return nil
}

// DeleteReceiverDeliveries deletes all deliveries of a receiver.
func DeleteReceiverDeliveries(tx *store.Tx, org, receiver string) error {
	var all []store.Delivery
	for d, err := range store.Deliveries.By("webhook").Scan(tx, org, store.Prefix(receiver)) {
		if err != nil {
			return err
		}
		all = append(all, d)
	}
	return deleteDeliveries(tx, all)
}

// List lists a receiver's deliveries, newest first, optionally filtered by status.
func List(ctx context.Context, db *store.DB, org, receiver, status string, p api.Paging) (*api.List[api.Delivery], error) {
	q := store.PageQuery[store.Delivery]{Index: "webhook", Prefix: store.K(receiver), Reverse: true}
	if status != "" {
		q.Index, q.Prefix = "status", store.K(receiver, status)
	}
	all, err := store.List(ctx, db, store.Deliveries, org, p, q)
	if err != nil {
		return nil, err
	}
	return api.MapList(all, func(d *store.Delivery) api.Delivery { return d.Delivery }), nil
}

// Requeue makes a delivery due again and resets its number of attempts.
func Requeue(tx *store.Tx, org, receiver, id string) (store.Delivery, error) {
	d, err := store.Deliveries.Get(tx, org, id)
	if err == nil && d.WebhookID != receiver {
		err = store.ErrNotFound
	}
	if err != nil {
		return d, store.ToNotFound(err, "delivery", id)
	}
	if d.Status != Pending && d.Status != Retrying {
		d.Status, d.Tries = Pending, 0
	}
	now := tx.Now()
	d.NextAttemptAt, d.UpdatedAt = &now, now
	return d, store.Deliveries.Update(tx, org, &d)
}
