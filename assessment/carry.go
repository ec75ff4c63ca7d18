package assessment

import (
	"context"
	"slices"

	"github.com/scf-service/service/engine/api"
	"github.com/scf-service/service/store"
)

// former is what a draft finds of the deliverable's newest version: what people did in it.
type former[I any] struct {
	version, sha256 string // empty where there was none
	items           []I
}

// former reads it. The items are shared: nobody may write to what they point to.
func (k kind[V, I]) former(tx *store.Tx, s *Service, a *api.Assessment) (old former[I], err error) {
	v, ok, err := k.newest(tx, a.OrganizationID, a.ID)
	if err != nil || !ok {
		return old, err
	}
	old.version, old.sha256 = k.version(&v).ID, k.version(&v).ContentSHA256
	old.items, err = k.recall(tx, s, a, old.version)
	return old, err
}

// still tells whether the newest version is what was read.
func (k kind[V, I]) still(old *former[I], newest *V) bool {
	head := k.version(newest)
	return old.version == head.ID && old.sha256 == head.ContentSHA256
}

// before is former in a transaction of its own.
func before[V, I any](ctx context.Context, s *Service, a *api.Assessment, k kind[V, I]) (old former[I], err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error { old, err = k.former(tx, s, a); return err })
	return old, err
}

// overBefore is with over what is stored.
func overBefore[V, I any](ctx context.Context, s *Service, a *api.Assessment, k kind[V, I], d draft[I]) (*draft[I], error) {
	old, err := before(ctx, s, a, k)
	d = d.with(&old)
	return &d, err
}

// with is the rules' draft with what people did; the draft itself stays the rules'.
func (d draft[I]) with(old *former[I]) draft[I] {
	d.old = old
	if d.over != nil {
		d.items, d.kept = slices.Clone(d.items), slices.Clone(d.kept)
		d.over(&d, old)
	}
	return d
}

// carry copies the edited fields of the items before to the items of the same control
// in a draft, and lists the controls it did so for.
func carry[V, I any](k kind[V, I], d *draft[I], old []I, copyField func(to, from *I, field string)) {
	before, now := map[string][]*I{}, map[string]int{}
	for n := range d.items {
		now[k.item(&d.items[n]).ControlCode]++
	}
	for n := range old {
		code := k.item(&old[n]).ControlCode
		before[code] = append(before[code], &old[n])
	}
	for n := range d.items {
		to := k.item(&d.items[n])
		from := k.pick(before[to.ControlCode], &d.items[n], now[to.ControlCode])
		if from == nil || len(k.item(from).EditedFields) == 0 {
			continue
		}
		for _, f := range k.item(from).EditedFields {
			copyField(&d.items[n], from, f)
		}
		to.EditedBy, to.EditedFields = k.item(from).EditedBy, k.item(from).EditedFields
		if !slices.Contains(d.kept, to.ControlCode) {
			d.kept = append(d.kept, to.ControlCode)
		}
	}
}

// pick is the one of a control's items before that is the same as an item now: where
// the control has one of each, that one; else the one that says the same, if any.
func (k kind[V, I]) pick(before []*I, item *I, now int) *I {
	if len(before) == 1 && now == 1 {
		return before[0]
	}
	at := slices.IndexFunc(before, func(b *I) bool { return k.same != nil && k.same(b, item) })
	if at < 0 {
		return nil
	}
	return before[at]
}
