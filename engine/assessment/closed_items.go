package assessment

import (
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// What of a plan people approved or edited is not lost when its gap is gone: an item whose other controls still
// fall short goes on for those (heirs), and one with nothing left stands on, closed (carryClosedItems).

// reassignToOpenControls are the items of a plan before, those whose gap is gone led by the first of their further controls that
// has one still.
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

// planOriginKey tells apart the items of one control: those of gaps that people added, and those whose gap is gone.
func planOriginKey(i *api.POAMItem) string {
	if i.FindingID == "" {
		return "was " + i.POAMCode
	}
	return i.FindingOrigin
}

// unlinkReopened has items whose gap was gone, and which no person closed, be the ones of a gap that is there again.
func unlinkReopened(previous []api.POAMItem) []api.POAMItem {
	out := slices.Clone(previous)
	for n := range out {
		if i := &out[n]; i.FindingID == "" && !(i.IsManual("status") && isClosedStatus(i.Status)) {
			i.FindingID = i.ID
		}
	}
	return out
}

// carryClosedItems are the items of the plan before that no gap asks for any more and that people approved or edited,
// as they stood; one whose status no person set is completed where inScope tells that its control is in, else
// cancelled.
func carryClosedItems(
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
	approved := poam.matchItems(previous.items, previous.lastApproved)
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
			syncMilestonesToStatus(&it, today, "the gap analysis, which has no gap here any more")
		}
		it.FindingID, it.Dependencies = "", []string{}
		out = append(out, it)
	}
	return out
}

// scopePredicate tells which controls the SoA says apply that a gap analysis was made from.
func (s *Service) scopePredicate(tx *store.Tx, a *api.Assessment, v *api.GapVersion) (func(code string) bool, error) {
	applies := map[string]bool{}
	if id := v.Inputs["soa_version_id"]; id != "" {
		lines, err := soa.readItemsCached(tx, s, a, id)
		if err != nil {
			return nil, err
		}
		for n := range lines {
			applies[lines[n].ControlCode] = lines[n].Applicability.IsApplicable()
		}
	}
	return func(code string) bool { return applies[code] }, nil
}
