package assessment

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment/merge"
	"github.com/scf-service/service/store"
)

// A version that was drafted at another installation becomes the newest one here. Its items contain what users decided
// there; what users decided here since is merged into them, because the next draft is made from the newest version.

// editedFieldsName is the name of the field that lists the fields with a manual value.
const editedFieldsName = "edited_fields"

// versionBefore returns the version with the next lower number; ok is false if there is none.
func (k deliverableType[V, I]) versionBefore(tx *store.Tx, org string, head *api.DeliverableVersion) (v V, ok bool, err error) {
	for v, err := range k.versions.By("assessment").Scan(tx, org, store.Prefix(head.AssessmentID), store.Reverse) {
		if err != nil {
			return v, false, err
		}
		if k.version(&v).VersionNumber < head.VersionNumber {
			return v, true, nil
		}
	}
	return v, false, nil
}

// findContinued returns the item of a version that the given item continues, or nil if there is none.
func (k deliverableType[V, I]) findContinued(tx *store.Tx, org, versionID string, item *I) (*I, error) {
	var candidates []I
	for i, err := range k.items.By("version").Scan(tx, org, store.Prefix(versionID, k.item(item).ControlCode)) {
		if err != nil {
			return nil, err
		}
		candidates = append(candidates, i)
	}
	return k.matchItems([]I{*item}, candidates)[0], nil
}

func (k deliverableType[V, I]) ListDecisions(tx *store.Tx, org, itemID string) (map[string]merge.Change, error) {
	item, err := k.items.Get(tx, org, itemID)
	if err != nil {
		return nil, err
	}
	v, err := k.getVersion(tx, org, k.item(&item).VersionID)
	if err != nil {
		return nil, err
	}
	var before *I
	if previous, ok, err := k.versionBefore(tx, org, k.version(&v)); err != nil {
		return nil, err
	} else if ok {
		if before, err = k.findContinued(tx, org, k.version(&previous).ID, &item); err != nil {
			return nil, err
		}
	}
	return k.changedDecisions(before, &item)
}

// changedDecisions returns the manual values that differ between an item and the one that it continues, which may be nil.
// The field "edited_fields" is always among them, unless neither item has a manual value.
func (k deliverableType[V, I]) changedDecisions(before, item *I) (map[string]merge.Change, error) {
	var was map[string]json.RawMessage
	var manual []string
	if before != nil {
		manual = k.item(before).EditedFields
	}
	names := slices.Concat(manual, k.item(item).EditedFields)
	if len(names) == 0 {
		return nil, nil
	}
	is, err := merge.FieldsFromRecord(item)
	if err == nil && before != nil {
		was, err = merge.FieldsFromRecord(before)
	}
	if err != nil {
		return nil, err
	}
	changes := map[string]merge.Change{editedFieldsName: {From: was[editedFieldsName], To: is[editedFieldsName]}}
	for _, name := range names {
		beside := changedBeside[name]
		if slices.Contains(manual, name) != k.item(item).IsManual(name) || !merge.EqualJSON(was[name], is[name]) ||
			beside != "" && !merge.EqualJSON(was[beside], is[beside]) {
			changes[name] = merge.Change{From: was[name], To: is[name]}
		}
	}
	return changes, nil
}

// mergeDecisions merges what users decided here into an item drafted elsewhere. here is the item of the version before
// that it continues; decided are the decisions made there, as ListDecisions returns them. Fields that were decided
// on both sides keep the value from here and are returned as conflicts. merged reports whether a value from here was
// used.
func (k deliverableType[V, I]) mergeDecisions(
	item, here *I,
	decided map[string]merge.Change,
) (merged bool, conflicts []merge.Conflict, err error) {
	out, ours, theirs := *item, k.item(here), k.item(item)
	to := k.item(&out)
	confirmedHere := ours.Carried != nil && ours.Carried.ConfirmedBy != "" && (theirs.Carried == nil || theirs.Carried.ConfirmedBy == "")
	if len(decided) == 0 && len(theirs.EditedFields) > 0 { // made by a program that doesn't send decisions
		return false, nil, nil
	}
	if len(ours.EditedFields)+len(theirs.EditedFields) == 0 {
		return false, nil, nil
	}
	var before []string
	if from := decided[editedFieldsName].From; len(from) > 0 {
		if err := json.Unmarshal(from, &before); err != nil {
			return false, nil, api.Invalid("file", "a list of edited fields has the wrong type: %v", err)
		}
	}
	from, err := merge.FieldsFromRecord(here)
	if err != nil {
		return false, nil, err
	}
	is, err := merge.FieldsFromRecord(item)
	if err != nil {
		return false, nil, err
	}
	to.EditedFields = slices.Clone(to.EditedFields)
	names := slices.Concat(ours.EditedFields, theirs.EditedFields, slices.Collect(maps.Keys(decided)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		beside := changedBeside[name]
		isSame := merge.EqualJSON(from[name], is[name]) && (beside == "" || merge.EqualJSON(from[beside], is[beside])) &&
			ours.IsManual(name) == theirs.IsManual(name)
		change, decidedThere := decided[name]
		switch {
		case name == editedFieldsName || isSame:
			continue
		case decidedThere && (!ours.IsManual(name) || slices.Contains(before, name) && merge.EqualJSON(from[name], change.From)):
			continue // decided there alone
		case decidedThere && !isNeverInConflict(k.gate, name):
			conflicts = append(conflicts, merge.Conflict{
				RecordID: to.ID, Label: to.ControlCode, Field: name, Base: change.From, Here: from[name], There: is[name],
			})
		}
		merged = true
		k.copyDecision(&out, here, name)
		to.EditedFields = slices.DeleteFunc(to.EditedFields, func(f string) bool { return f == name })
		if ours.IsManual(name) {
			to.EditedFields = append(to.EditedFields, name)
		}
	}
	if confirmedHere {
		merged, to.Carried = true, ours.Carried
	}
	if !merged {
		return false, nil, nil
	}
	slices.Sort(to.EditedFields)
	if len(decided) <= 1 { // nothing was decided there
		to.EditedBy = ours.EditedBy
	}
	if len(to.EditedFields) == 0 {
		to.EditedBy = nil
	}
	if k.validateItem(&out) != nil { // the decisions contradict each other: list those made here
		conflicts = nil
		for _, name := range ours.EditedFields {
			if !merge.EqualJSON(from[name], is[name]) {
				conflicts = append(conflicts, merge.Conflict{
					RecordID: to.ID, Label: to.ControlCode, Field: name, Base: decided[name].From, Here: from[name], There: is[name],
				})
			}
		}
		return false, conflicts, nil
	}
	*item = out
	return true, conflicts, nil
}

// mergeHere merges what users decided here into an item that is added to version v, and adds them to the version's
// authors.
func (k deliverableType[V, I]) mergeHere(
	tx *store.Tx,
	org string,
	v *V,
	item *I,
	decided map[string]merge.Change,
) ([]merge.Conflict, error) {
	previous, here, err := k.findHere(tx, org, k.version(v), item)
	if err != nil || here == nil {
		return nil, err
	}
	merged, conflicts, err := k.mergeDecisions(item, here, decided)
	if err != nil || !merged {
		return conflicts, err
	}
	return conflicts, k.addAuthorsOf(tx, org, v, &previous)
}

// findHere returns the item that an item of a new version continues, with its version; here is nil if there is none. If
// the version before has no such item, older versions are searched, as for a draft made here: the control may have left
// the frameworks in the meantime.
func (k deliverableType[V, I]) findHere(
	tx *store.Tx,
	org string,
	head *api.DeliverableVersion,
	item *I,
) (version V, here *I, err error) {
	for range maxOlderVersions {
		var ok bool
		if version, ok, err = k.versionBefore(tx, org, head); err != nil || !ok {
			return version, nil, err
		}
		head = k.version(&version)
		if here, err = k.findContinued(tx, org, head.ID, item); err != nil || here != nil || k.gate == api.GatePOAM {
			return version, here, err
		}
	}
	return version, nil, nil
}

// addAuthorsOf adds the authors of another version to those of v.
func (k deliverableType[V, I]) addAuthorsOf(tx *store.Tx, org string, v, other *V) error {
	head, n := k.version(v), len(k.version(v).AuthorIDs)
	for _, id := range k.version(other).AuthorIDs {
		if !slices.Contains(head.AuthorIDs, id) {
			head.AuthorIDs = append(head.AuthorIDs, id)
		}
	}
	if len(head.AuthorIDs) == n {
		return nil
	}
	return k.versions.Put(tx, org, v)
}

func (k deliverableType[V, I]) AddItemsFromHere(
	tx *store.Tx,
	by api.Caller,
	versionID string,
	baseNumber int,
	changedSince func(itemID string) (bool, error),
) (omitted []string, err error) {
	org := by.OrganizationID
	v, err := k.getVersion(tx, org, versionID)
	if err != nil || k.version(&v).Status != api.VersionDraft {
		return nil, err
	}
	previous, ok, err := k.versionBefore(tx, org, k.version(&v))
	if err != nil || !ok {
		return nil, err
	}
	items, err := k.readItems(tx, org, versionID)
	if err != nil {
		return nil, err
	}
	here, err := k.readItems(tx, org, k.version(&previous).ID)
	if err != nil {
		return nil, err
	}
	continued := map[string]bool{}
	for _, from := range k.matchItems(items, here) {
		if from != nil {
			continued[k.item(from).ID] = true
		}
	}
	base, err := k.readItemsOfNumber(tx, org, k.version(&v).AssessmentID, baseNumber)
	if err != nil {
		return nil, err
	}
	known, added := k.matchItems(here, base), false
	for n := range here {
		it := k.item(&here[n])
		if continued[it.ID] {
			continue
		}
		if changed, err := changedSince(it.ID); err != nil {
			return nil, err
		} else if !changed {
			continue
		}
		isOther := baseNumber != k.version(&previous).VersionNumber // both sides drafted, so all items are new here
		if isOther && known[n] != nil {
			changes, err := k.changedDecisions(known[n], &here[n])
			if err != nil {
				return nil, err
			}
			delete(changes, editedFieldsName)
			if len(changes) == 0 {
				continue // the draft made elsewhere has no such item
			}
		}
		isDecided := len(it.EditedFields) > 0 || k.originKey != nil && k.originKey(&here[n]) != ""
		switch isNew := isOther && known[n] == nil; {
		case k.gate == api.GatePOAM && isDecided: // its number may be in use
			omitted = append(omitted, it.ControlCode)
		case k.gate != api.GatePOAM && (isDecided || isNew && k.gate == api.GateSoA):
			it.TenantRecord, it.VersionID = newTenantRecord(tx, by), versionID
			added = true
			if err := k.items.Insert(tx, org, &here[n]); err != nil {
				return nil, err
			}
		}
	}
	if !added {
		return omitted, nil
	}
	return omitted, k.addAuthorsOf(tx, org, &v, &previous)
}

// readItemsOfNumber returns the items of the version with the given number, or none if it doesn't exist.
func (k deliverableType[V, I]) readItemsOfNumber(tx *store.Tx, org, assessment string, number int) ([]I, error) {
	for v, err := range k.versions.By("assessment").Scan(tx, org, store.Prefix(assessment), store.Reverse) {
		if err != nil {
			return nil, err
		}
		if k.version(&v).VersionNumber == number {
			return k.readItems(tx, org, k.version(&v).ID)
		}
	}
	return nil, nil
}
