package assessment

import (
	"context"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// former is what a draft finds of the deliverable's newest version: what people did in it.
type former[I any] struct {
	version, sha256 string // empty where there was none
	status          api.VersionStatus
	items           []I
	approved        []I // of a plan: what was approved last, whose dates stay
}

// former reads it. The items are shared: nobody may write to what they point to.
func (k kind[V, I]) former(tx *store.Tx, s *Service, a *api.Assessment) (old former[I], err error) {
	v, ok, err := k.newest(tx, a.OrganizationID, a.ID)
	if err != nil || !ok {
		return old, err
	}
	old.version, old.sha256, old.status = k.version(&v).ID, k.version(&v).ContentSHA256, k.version(&v).Status
	if old.items, err = k.recall(tx, s, a, old.version); err != nil || k.gate != api.GatePOAM {
		return old, err
	}
	old.approved, err = k.lastApproved(tx, s, a)
	return old, err
}

// lastApproved are the items that were approved last, also where the assessment moved to another catalog since.
func (k kind[V, I]) lastApproved(tx *store.Tx, s *Service, a *api.Assessment) ([]I, error) {
	at := *a
	at.MigratedAt = nil
	v, ok, err := k.approved(tx, &at)
	if err != nil || !ok {
		return nil, err
	}
	return k.recall(tx, s, a, k.version(&v).ID)
}

// still tells whether the newest version is what was read.
func (k kind[V, I]) still(old *former[I], newest *V) bool {
	head := k.version(newest)
	return old.version == head.ID && old.sha256 == head.ContentSHA256 && old.status == head.Status
}

// formerOf is former, for a draft with these items: what left the scope and comes back is as people left it.
func (k kind[V, I]) formerOf(tx *store.Tx, s *Service, a *api.Assessment, items []I) (former[I], error) {
	old, err := k.former(tx, s, a)
	if err != nil || old.version == "" || k.gate != api.GateGapAnalysis && k.gate != api.GateMaturity {
		return old, err // of an SoA every line is in the newest version; what of a plan is done is not taken up again
	}
	there := make(map[string]bool, len(old.items))
	for n := range old.items {
		there[k.item(&old.items[n]).ControlCode] = true
	}
	var older []string
	back := slices.Clone(old.items)
	for n := range items {
		code := k.item(&items[n]).ControlCode
		if there[code] {
			continue
		}
		if older == nil {
			if older, err = k.older(tx, a); err != nil {
				return old, err
			}
		}
		there[code] = true
		was, err := k.lastOf(tx, a, older, code)
		if err != nil {
			return old, err
		}
		if was != nil && len(k.item(was).EditedFields) > 0 {
			back = append(back, *was)
		}
	}
	old.items = back
	return old, nil
}

const maxOlder = 20 // versions that are looked through for what comes back

// older are the versions before the newest, newest first.
func (k kind[V, I]) older(tx *store.Tx, a *api.Assessment) ([]string, error) {
	ids := []string{}
	for v, err := range k.versions.By("assessment").Scan(tx, a.OrganizationID, store.Prefix(a.ID), store.Reverse) {
		if err != nil {
			return nil, err
		}
		if ids = append(ids, k.version(&v).ID); len(ids) > maxOlder {
			break
		}
	}
	return ids[min(1, len(ids)):], nil
}

// lastOf is the line that the rules made for a control in the newest of the versions that has one; nil where none has.
func (k kind[V, I]) lastOf(tx *store.Tx, a *api.Assessment, versions []string, code string) (*I, error) {
	for _, id := range versions {
		for i, err := range k.items.By("version").Scan(tx, a.OrganizationID, store.Prefix(id, code)) {
			if err != nil {
				return nil, err
			}
			if k.origin == nil || k.origin(&i) == "" {
				return &i, nil
			}
		}
	}
	return nil, nil
}

// before is formerOf in a transaction of its own.
func before[V, I any](ctx context.Context, s *Service, a *api.Assessment, k kind[V, I], items []I) (old former[I], err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error { old, err = k.formerOf(tx, s, a, items); return err })
	return old, err
}

// overBefore is with over what is stored.
func overBefore[V, I any](ctx context.Context, s *Service, a *api.Assessment, k kind[V, I], d draft[I]) (*draft[I], error) {
	old, err := before(ctx, s, a, k, d.items)
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

// keeps notes that edits of a control's line were kept.
func (d *draft[I]) keeps(code string) {
	if !slices.Contains(d.kept, code) {
		d.kept = append(d.kept, code)
	}
}

// carry copies the edited fields of the items before to the same items of a draft, and lists
// the controls it did so for. It returns the item before of each, as pair does.
func carry[V, I any](k kind[V, I], d *draft[I], old []I, copyField func(to, from *I, field string)) []*I {
	was := k.pair(d.items, old)
	for n, from := range was {
		if from == nil || len(k.item(from).EditedFields) == 0 {
			continue
		}
		for _, f := range k.item(from).EditedFields {
			copyField(&d.items[n], from, f)
		}
		to := k.item(&d.items[n])
		to.EditedBy, to.EditedFields = k.item(from).EditedBy, k.item(from).EditedFields
		d.keeps(to.ControlCode)
	}
	return was
}

// row tells an item apart from the others of its version.
type row struct{ control, by string }

// pair finds for each item now the one before that is the same line; nil where none is. An
// item before is nobody's twice: first go those added by hand, then those from before origins
// were noted, that say what no other says, then the one that the rules make for a control.
func (k kind[V, I]) pair(now, before []I) []*I {
	origin := func(i *I) string {
		if k.origin == nil {
			return ""
		}
		return k.origin(i)
	}
	out, taken := make([]*I, len(now)), make([]bool, len(before))
	for _, by := range []func(i *I, old bool) (string, bool){
		func(i *I, _ bool) (string, bool) { o := origin(i); return o, o != "" },
		func(i *I, old bool) (string, bool) {
			if k.says == nil || old && origin(i) != "" {
				return "", false
			}
			return k.says(i), true
		},
		func(i *I, _ bool) (string, bool) { return "", origin(i) == "" },
	} {
		was, is := map[row][]int{}, map[row][]int{}
		for n := range before {
			if b, ok := by(&before[n], true); ok && !taken[n] {
				r := row{k.item(&before[n]).ControlCode, b}
				was[r] = append(was[r], n)
			}
		}
		for n := range now {
			if b, ok := by(&now[n], false); ok && out[n] == nil {
				r := row{k.item(&now[n]).ControlCode, b}
				is[r] = append(is[r], n)
			}
		}
		for r, at := range is {
			if old := was[r]; len(at) == 1 && len(old) == 1 {
				out[at[0]], taken[old[0]] = &before[old[0]], true
			}
		}
	}
	return out
}
