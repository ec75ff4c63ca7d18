package assessment

import (
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/plan"
	"github.com/scf-service/service/store"
)

// Plan items that users approved or edited are not lost when their gap is closed: an item is
// reassigned to its other controls that still have gaps (reassignToOpenControls); if there are
// none, it is kept as closed (closeItemsWithoutGap).

// reassignToOpenControls returns the previous plan items, in which an item whose gap is closed is
// reassigned to the first of its other controls that still has a gap.
func reassignToOpenControls(previous []api.POAMItem, current []api.POAMItem) []api.POAMItem {
	hasGap := make(map[string]bool, len(current))
	for n := range current {
		hasGap[current[n].ControlCode] = true
	}
	isPrimary := make(map[string]bool, len(previous))
	for n := range previous {
		isPrimary[previous[n].ControlCode] = true
	}
	var out []api.POAMItem
	for n := range previous {
		it := &previous[n]
		if hasGap[it.ControlCode] || it.FindingOrigin != "" {
			continue
		}
		at := slices.IndexFunc(it.AlsoCloses, func(code string) bool { return hasGap[code] && !isPrimary[code] })
		if at < 0 {
			continue
		}
		if out == nil {
			out = slices.Clone(previous)
		}
		out[n].ControlCode, out[n].AlsoCloses = it.AlsoCloses[at], slices.Delete(slices.Clone(it.AlsoCloses), at, at+1)
		isPrimary[out[n].ControlCode] = true
	}
	if out == nil {
		return previous
	}
	return out
}

// poamOriginKey returns a key that distinguishes plan items of the same control: the origin of the
// item's finding or, if the finding no longer exists, "was" and the item's code.
func poamOriginKey(i *api.POAMItem) string {
	if i.FindingID == "" {
		return "was " + i.POAMCode
	}
	return i.FindingOrigin
}

// makeAutoClosedMatchable returns the items after changing automatically closed ones so that they match their gap if
// it reopens. Items closed by users are unchanged.
func makeAutoClosedMatchable(previous []api.POAMItem) []api.POAMItem {
	out := slices.Clone(previous)
	for n := range out {
		if i := &out[n]; i.FindingID == "" && !(i.IsManual("status") && isClosedStatus(i.Status)) {
			i.FindingID = i.ID
		}
	}
	return out
}

// closeItemsWithoutGap returns the items of the previous plan that no longer have a gap, if they were
// approved or edited. Unless a user set the status, it is changed to completed, or to cancelled if the
// control is no longer in scope.
func closeItemsWithoutGap(
	previous *previousVersion[api.POAMItem],
	matches []*api.POAMItem,
	inScope func(code string) bool,
	today api.Date,
) []api.POAMItem {
	continued := make(map[string]bool, len(matches))
	for _, from := range matches {
		if from != nil {
			continued[from.ID] = true
		}
	}
	approved := poamType.matchItems(previous.items, previous.lastApproved)
	var out []api.POAMItem
	for n := range previous.items {
		it := previous.items[n]
		if continued[it.ID] || len(it.EditedFields) == 0 && approved[n] == nil {
			continue
		}
		if !it.IsManual("status") && !isClosedStatus(it.Status) {
			it.Status = "completed"
			if !inScope(it.ControlCode) {
				it.Status = "cancelled"
			}
			plan.SyncMilestonesToStatus(&it, today, "the gap analysis, which no longer has this gap")
		}
		it.FindingID, it.Dependencies = "", []string{}
		out = append(out, it)
	}
	return out
}

// newApplicabilityPredicate returns a function that reports whether a control applies, according to
// the Statement of Applicability that the gap analysis v is based on.
func (s *Service) newApplicabilityPredicate(tx *store.Tx, a *api.Assessment, v *api.GapVersion) (func(code string) bool, error) {
	applies := map[string]bool{}
	if id := v.Inputs["soa_version_id"]; id != "" {
		lines, err := soaType.readItemsCached(tx, s, a, id)
		if err != nil {
			return nil, err
		}
		for n := range lines {
			applies[lines[n].ControlCode] = lines[n].Applicability.IsApplicable()
		}
	}
	return func(code string) bool { return applies[code] }, nil
}
