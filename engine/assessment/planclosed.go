package assessment

import (
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// What of a plan people approved or edited is not lost when its gap is gone: an item whose other controls still
// fall short goes on for those (heirs), and one with nothing left stands on, closed (closedItems).

// heirs are the items of a plan before, those whose gap is gone led by the first of their further controls that
// has one still.
func heirs(old []api.POAMItem, now []api.POAMItem) []api.POAMItem {
	falls := make(map[string]bool, len(now))
	for n := range now {
		falls[now[n].ControlCode] = true
	}
	leads := make(map[string]bool, len(old))
	for n := range old {
		leads[old[n].ControlCode] = true
	}
	var out []api.POAMItem
	for n := range old {
		it := &old[n]
		if falls[it.ControlCode] || it.FindingOrigin != "" {
			continue
		}
		at := slices.IndexFunc(it.AlsoCloses, func(code string) bool { return falls[code] && !leads[code] })
		if at < 0 {
			continue
		}
		if out == nil {
			out = slices.Clone(old)
		}
		out[n].ControlCode, out[n].AlsoCloses = it.AlsoCloses[at], slices.Delete(slices.Clone(it.AlsoCloses), at, at+1)
		leads[out[n].ControlCode] = true
	}
	if out == nil {
		return old
	}
	return out
}

// planOrigin tells apart the items of one control: those of gaps that people added, and those whose gap is gone.
func planOrigin(i *api.POAMItem) string {
	if i.FindingID == "" {
		return "was " + i.POAMCode
	}
	return i.FindingOrigin
}

// comesBack has items whose gap was gone, and which no person closed, be the ones of a gap that is there again.
func comesBack(old []api.POAMItem) []api.POAMItem {
	out := slices.Clone(old)
	for n := range out {
		if i := &out[n]; i.FindingID == "" && !(i.SetByHand("status") && closedStatus(i.Status)) {
			i.FindingID = i.ID
		}
	}
	return out
}

// closedItems are the items of the plan before that no gap asks for any more and that people approved or edited,
// as they stood; one whose status no person set is completed where inScope tells that its control is in, else
// cancelled.
func closedItems(old *former[api.POAMItem], was []*api.POAMItem, inScope func(code string) bool, today api.Date) []api.POAMItem {
	goesOn := make(map[string]bool, len(was))
	for _, from := range was {
		if from != nil {
			goesOn[from.ID] = true
		}
	}
	approved := poam.pair(old.items, old.approved)
	var out []api.POAMItem
	for n := range old.items {
		it := old.items[n]
		if goesOn[it.ID] || len(it.EditedFields) == 0 && approved[n] == nil {
			continue
		}
		if !it.SetByHand("status") && !closedStatus(it.Status) {
			it.Status = "completed"
			if !inScope(it.ControlCode) {
				it.Status = "cancelled"
			}
			settleMilestones(&it, today, "the gap analysis, which has no gap here any more")
		}
		it.FindingID, it.Dependencies = "", []string{}
		out = append(out, it)
	}
	return out
}

// inScope tells which controls the SoA says apply that a gap analysis was made from.
func (s *Service) inScope(tx *store.Tx, a *api.Assessment, v *api.GapVersion) (func(code string) bool, error) {
	in := map[string]bool{}
	if id := v.Inputs["soa_version_id"]; id != "" {
		lines, err := soa.recall(tx, s, a, id)
		if err != nil {
			return nil, err
		}
		for n := range lines {
			in[lines[n].ControlCode] = lines[n].Applicability.In()
		}
	}
	return func(code string) bool { return in[code] }, nil
}
