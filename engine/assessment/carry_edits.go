package assessment

import (
	"context"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment/merge"
	"github.com/scf-service/service/store"
)

// previousVersion holds the previous version of a deliverable. Users' edits in it are carried over
// to the next draft.
type previousVersion[I any] struct {
	versionID, sha256 string // empty if there was none
	status            api.VersionStatus
	inputs            map[string]string
	items             []I
	lastApproved      []I // for a plan: the items approved last, whose dates are kept
}

// loadPreviousVersion reads the newest stored version, whose edits the next draft carries over. If
// there is none, it reads the items carried from an earlier assessment. For a plan, it also reads
// the most recently approved items. The returned items are shared and must not be modified.
func (k deliverableType[V, I]) loadPreviousVersion(tx *store.Tx, s *Service, a *api.Assessment) (previous previousVersion[I], err error) {
	v, ok, err := k.newestVersion(tx, a.OrganizationID, a.ID)
	if err == nil && !ok {
		previous.items, previous.lastApproved, err = k.loadCarried(tx, a)
	}
	if err != nil || !ok {
		return previous, err
	}
	head := k.version(&v)
	previous.versionID, previous.sha256, previous.status, previous.inputs = head.ID, head.ContentSHA256, head.Status, head.Inputs
	if previous.items, err = k.readItemsCached(tx, s, a, previous.versionID); err != nil || k.gate != api.GatePOAM {
		return previous, err
	}
	previous.lastApproved, err = k.lastApprovedItems(tx, s, a)
	return previous, err
}

// lastApprovedItems returns the items of the most recently approved version, even if the assessment
// was moved to another catalog afterwards.
func (k deliverableType[V, I]) lastApprovedItems(tx *store.Tx, s *Service, a *api.Assessment) ([]I, error) {
	at := *a
	at.MigratedAt = nil
	v, ok, err := k.approvedVersion(tx, &at)
	if err != nil || !ok {
		return nil, err
	}
	return k.readItemsCached(tx, s, a, k.version(&v).ID)
}

// isStillNewest reports whether the newest version is still the one that was loaded as previous, and
// unchanged.
func (k deliverableType[V, I]) isStillNewest(previous *previousVersion[I], newest *V) bool {
	head := k.version(newest)
	return previous.versionID == head.ID && previous.sha256 == head.ContentSHA256 && previous.status == head.Status
}

// loadPreviousWithOlderEdits is like loadPreviousVersion. For deliverables other than the plan, it also adds edited
// items of older versions if their controls are in items but not in the previous version, for example because a
// framework was removed and added again.
func (k deliverableType[V, I]) loadPreviousWithOlderEdits(
	tx *store.Tx,
	s *Service,
	a *api.Assessment,
	items []I,
) (previousVersion[I], error) {
	previous, err := k.loadPreviousVersion(tx, s, a)
	if err != nil || previous.versionID == "" || k.gate == api.GatePOAM {
		return previous, err // completed plan items are not restored
	}
	present := make(map[string]bool, len(previous.items))
	for n := range previous.items {
		present[k.item(&previous.items[n]).ControlCode] = true
	}
	var olderIDs []string
	var carried []I // loaded on first use
	restored := slices.Clone(previous.items)
	for n := range items {
		code := k.item(&items[n]).ControlCode
		if present[code] {
			continue
		}
		if olderIDs == nil {
			if olderIDs, err = k.olderVersionIDs(tx, a); err != nil {
				return previous, err
			}
		}
		present[code] = true
		earlier, err := k.latestGeneratedItem(tx, a, olderIDs, code)
		if err == nil && earlier == nil && carried == nil {
			carried, _, err = k.loadCarried(tx, a)
		}
		if err != nil {
			return previous, err
		}
		if at := slices.IndexFunc(carried, func(i I) bool {
			return k.item(&i).ControlCode == code && (k.originKey == nil || k.originKey(&i) == "")
		}); earlier == nil && at >= 0 {
			earlier = &carried[at]
		}
		if earlier != nil && len(k.item(earlier).EditedFields) > 0 {
			restored = append(restored, *earlier)
		}
	}
	previous.items = restored
	return previous, nil
}

const maxOlderVersions = 200 // maximum number of older versions searched for items of controls that are in scope again

// olderVersionIDs returns the IDs of all but the newest version, newest first.
func (k deliverableType[V, I]) olderVersionIDs(tx *store.Tx, a *api.Assessment) ([]string, error) {
	ids := []string{}
	for v, err := range k.versions.By("assessment").Scan(tx, a.OrganizationID, store.Prefix(a.ID), store.Reverse) {
		if err != nil {
			return nil, err
		}
		if ids = append(ids, k.version(&v).ID); len(ids) > maxOlderVersions {
			break
		}
	}
	return ids[min(1, len(ids)):], nil
}

// latestGeneratedItem returns a control's newest rule-generated item, searching the given versions
// in order. It returns nil if there is none.
func (k deliverableType[V, I]) latestGeneratedItem(tx *store.Tx, a *api.Assessment, versionIDs []string, code string) (*I, error) {
	for _, id := range versionIDs {
		for i, err := range k.items.By("version").Scan(tx, a.OrganizationID, store.Prefix(id, code)) {
			if err != nil {
				return nil, err
			}
			if k.originKey == nil || k.originKey(&i) == "" {
				return &i, nil
			}
		}
	}
	return nil, nil
}

// loadPreviousInView is like loadPreviousWithOlderEdits but opens its own transaction.
func loadPreviousInView[V, I any](
	ctx context.Context,
	s *Service,
	a *api.Assessment,
	k deliverableType[V, I],
	items []I,
) (previous previousVersion[I], err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error { previous, err = k.loadPreviousWithOlderEdits(tx, s, a, items); return err })
	return previous, err
}

// withStoredEdits is like withEdits but loads the previous version from the store.
func withStoredEdits[V, I any](ctx context.Context, s *Service, a *api.Assessment, k deliverableType[V, I], d draft[I]) (*draft[I], error) {
	previous, err := loadPreviousInView(ctx, s, a, k, d.items)
	d = d.withEdits(&previous)
	return &d, err
}

// withEdits returns the draft with users' edits applied; d itself is unchanged.
func (d draft[I]) withEdits(previous *previousVersion[I]) draft[I] {
	d.previous = previous
	if d.mergePrevious != nil {
		d.items, d.editedControls = slices.Clone(d.items), slices.Clone(d.editedControls)
		d.mergePrevious(&d, previous)
	}
	return d
}

// addEditedControl records that users' edits of a control's item were carried over into the draft.
func (d *draft[I]) addEditedControl(code string) {
	if !slices.Contains(d.editedControls, code) {
		d.editedControls = append(d.editedControls, code)
	}
}

// carryEdits copies the fields that users edited from previous items to the matching items of the
// draft, and records the affected controls. Like matchItems, it returns the previous item for each
// item.
func carryEdits[V, I any](k deliverableType[V, I], d *draft[I], previous []I, copyField func(to, from *I, field string)) (continued []*I) {
	matches := k.matchItems(d.items, previous)
	for n, from := range matches {
		if from == nil {
			continue
		}
		if len(k.item(from).EditedFields) == 0 {
			k.item(&d.items[n]).Carried = k.item(from).Carried
			continue
		}
		for _, f := range k.item(from).EditedFields {
			copyField(&d.items[n], from, f)
		}
		to := k.item(&d.items[n])
		to.EditedBy, to.EditedFields, to.Carried = k.item(from).EditedBy, k.item(from).EditedFields, k.item(from).Carried
		if k.evidence != nil {
			markCarriedIfEvidenceChanged(to, k.evidence(&d.items[n]))
		}
		d.addEditedControl(to.ControlCode)
	}
	return matches
}

// itemKey identifies an item within a version of a deliverable.
type itemKey struct{ control, discriminator string }

// matchItems returns, for each current item, the previous item that it continues, or nil. It matches
// manually added items first, then items without an origin by their content, and then the items that the
// rules generated, by control.
func (k deliverableType[V, I]) matchItems(current, previous []I) []*I {
	origin := func(i *I) string {
		if k.originKey == nil {
			return ""
		}
		return k.originKey(i)
	}
	return merge.Match(current, previous,
		func(i *I, _ bool) (itemKey, bool) {
			return itemKey{k.item(i).ControlCode, origin(i)}, origin(i) != ""
		},
		func(i *I, isPrevious bool) (itemKey, bool) {
			if k.legacyKey == nil || isPrevious && origin(i) != "" {
				return itemKey{}, false
			}
			return itemKey{k.item(i).ControlCode, k.legacyKey(i)}, true
		},
		func(i *I, _ bool) (itemKey, bool) {
			return itemKey{k.item(i).ControlCode, ""}, origin(i) == ""
		})
}
