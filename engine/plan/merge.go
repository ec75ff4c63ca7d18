package plan

import (
	"slices"
	"strings"

	"github.com/scf-service/service/api"
)

// MergeItems merges items that a single action can close: the item of a control with those of its
// sub-controls (IAC-10 and IAC-10.8) if the same kind of action is due for the same role, and items
// of any domain that lack only evidence and request exactly the same evidence. The merged item has
// the code of the first control, the highest urgency, and the requests of all merged items. canJoin
// reports whether an item may be merged into another, so that items edited by users can be left
// alone. If it is nil, every merge is allowed.
func MergeItems(items []api.POAMItem, canJoin func(into, it *api.POAMItem) bool) []api.POAMItem {
	if canJoin == nil {
		canJoin = func(_, _ *api.POAMItem) bool { return true }
	}
	return mergeSameEvidence(mergeFamilies(items, canJoin), canJoin)
}

// maxControlsPerItem is the maximum number of controls that one item may close, so that it can still be
// reviewed.
const maxControlsPerItem = 8

// mergeSameEvidence merges items that request the same evidence.
func mergeSameEvidence(items []api.POAMItem, canJoin func(into, it *api.POAMItem) bool) []api.POAMItem {
	full := func(i api.POAMItem, more int) bool { return len(i.AlsoCloses)+more+2 > maxControlsPerItem }
	at := make(map[string][]int)
	out := make([]api.POAMItem, 0, len(items))
	for _, it := range items {
		key := requestedEvidenceKey(it)
		to := slices.IndexFunc(at[key], func(i int) bool {
			return out[i].ControlCode != it.ControlCode && !full(out[i], len(it.AlsoCloses)) && canJoin(&out[i], &it)
		})
		if to >= 0 {
			i := at[key][to]
			out[i] = mergeItem(out[i], it)
			continue
		}
		if key != "" {
			at[key] = append(at[key], len(out))
		}
		out = append(out, it)
	}
	return out
}

// requestedEvidenceKey returns a key that is the same for items that request the same evidence from the same
// owner. It returns "" if the item requires more than evidence, or if the catalog doesn't list the evidence.
func requestedEvidenceKey(it api.POAMItem) string {
	if it.ActionType != "collect_evidence" || it.Status != "open" || len(it.ExpectedEvidence) == 0 ||
		slices.Equal(it.ExpectedEvidence, defaultEvidence) {
		return ""
	}
	list := slices.Clone(it.ExpectedEvidence)
	slices.Sort(list)
	return ownerOrEmpty(it.Owner) + "\n" + strings.Join(list, "\n")
}

// mergeFamilies merges the item of a control with the items of its sub-controls.
func mergeFamilies(items []api.POAMItem, canJoin func(into, it *api.POAMItem) bool) []api.POAMItem {
	items = sortItems(items, func(it *api.POAMItem) codeKey { return newCodeKey(it.ControlCode) }, codeKey.compare)
	type key struct{ family, action, role string }
	at := make(map[key][]int)
	out := make([]api.POAMItem, 0, len(items))
	for _, it := range items {
		family, _, refines := strings.Cut(it.ControlCode, ".")
		k := key{family: family, action: it.ActionType, role: it.OwnerRole}
		to := -1
		if refines && it.Status == "open" {
			to = slices.IndexFunc(at[k], func(i int) bool {
				return ownerOrEmpty(it.Owner) == ownerOrEmpty(out[i].Owner) && out[i].ControlCode != it.ControlCode && canJoin(&out[i], &it)
			})
		}
		if to < 0 {
			if it.Status == "open" {
				at[k] = append(at[k], len(out))
			}
			out = append(out, it)
			continue
		}
		i := at[k][to]
		out[i] = mergeItem(out[i], it)
	}
	return out
}

func ownerOrEmpty(o *string) string {
	if o == nil {
		return ""
	}
	return *o
}

var effortLevels = []string{"small", "medium", "large", "extra_large"}

func mergeItem(into, it api.POAMItem) api.POAMItem {
	into.AlsoCloses = append(append(slices.Clone(into.AlsoCloses), it.ControlCode), it.AlsoCloses...)
	if it.Severity.Rank() < into.Severity.Rank() {
		into.Severity, into.DueDate, into.Milestones = it.Severity, it.DueDate, it.Milestones
	}
	if slices.Index(effortLevels, it.Effort) > slices.Index(effortLevels, into.Effort) {
		into.Effort = it.Effort
	}
	into.Weakness += " " + it.Weakness
	into.CorrectiveAction += " " + it.CorrectiveAction
	into.AcceptanceCriteria = union(withoutVerification(into.AcceptanceCriteria), it.AcceptanceCriteria)
	into.ExpectedEvidence = union(into.ExpectedEvidence, it.ExpectedEvidence)
	into.TargetLevel = max(into.TargetLevel, it.TargetLevel)
	codes := api.RequirementCodes{}
	for _, codesByFramework := range []api.RequirementCodes{into.RequirementCodes, it.RequirementCodes} {
		for framework, list := range codesByFramework {
			codes[framework] = union(codes[framework], list)
		}
	}
	into.RequirementCodes = codes
	return into
}

// withoutVerification returns acceptance criteria without the last one that every drafted item has, so that it remains
// the last one after more are added.
func withoutVerification(criteria []string) []string {
	return slices.DeleteFunc(slices.Clone(criteria), func(s string) bool { return s == verifiedByOthers })
}

// union returns the elements of a followed by the elements of b that aren't in a.
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// ClosesControl reports whether an item closes a control: its own control, or one whose item was merged into it.
func ClosesControl(it *api.POAMItem, control string) bool {
	return slices.ContainsFunc(
		append([]string{it.ControlCode}, it.AlsoCloses...),
		func(c string) bool { return strings.EqualFold(c, control) },
	)
}
