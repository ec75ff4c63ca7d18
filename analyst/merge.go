package analyst

import (
	"slices"
	"strings"

	"github.com/scf-service/service/engine/api"
)

// Merge makes one item of those that one action closes: a control and what refines it
// (IAC-10 and IAC-10.8), where the same kind of action is due for the same role; and, in
// whatever domains, controls for which the catalog asks for the very same evidence, where
// that is all that is missing. The item keeps the first control's code, is as urgent as the
// most urgent of them, and asks for what each asks for. What people began or decided is left alone.
func Merge(items []api.POAMItem) []api.POAMItem { return sameEvidence(family(items)) }

// mostClosed bounds what one item closes, so that it can be looked over.
const mostClosed = 8

// sameEvidence merges requests for the same evidence.
func sameEvidence(items []api.POAMItem) []api.POAMItem {
	at := make(map[string]int)
	out := make([]api.POAMItem, 0, len(items))
	for _, it := range items {
		key := requested(it)
		i, seen := at[key]
		if key != "" && seen && out[i].ControlCode != it.ControlCode && len(out[i].AlsoCloses)+len(it.AlsoCloses)+2 <= mostClosed {
			out[i] = merged(out[i], it)
			continue
		}
		if key != "" {
			at[key] = len(out)
		}
		out = append(out, it)
	}
	return out
}

// requested names the evidence that an item asks for, with who is to give it; empty where it
// asks for more than that, or where the catalog doesn't name it.
func requested(it api.POAMItem) string {
	if it.ActionType != "collect_evidence" || it.Status != "open" || len(it.ExpectedEvidence) == 0 || slices.Equal(it.ExpectedEvidence, anyEvidence) {
		return ""
	}
	list := slices.Clone(it.ExpectedEvidence)
	slices.Sort(list)
	return ownerName(it.Owner) + "\n" + strings.Join(list, "\n")
}

// family merges a control and what refines it.
func family(items []api.POAMItem) []api.POAMItem {
	items = sorted(items, func(it *api.POAMItem) codeKey { return codeKeyOf(it.ControlCode) }, codeKey.compare)
	type key struct{ family, action, role string }
	at := make(map[key]int)
	out := make([]api.POAMItem, 0, len(items))
	for _, it := range items {
		family, _, refines := strings.Cut(it.ControlCode, ".")
		k := key{family, it.ActionType, it.OwnerRole}
		i, seen := at[k]
		if !seen || !refines || it.Status != "open" || ownerName(it.Owner) != ownerName(out[i].Owner) || out[i].ControlCode == it.ControlCode {
			if it.Status == "open" && !seen {
				at[k] = len(out)
			}
			out = append(out, it)
			continue
		}
		out[i] = merged(out[i], it)
	}
	return out
}

func ownerName(o *string) string {
	if o == nil {
		return ""
	}
	return *o
}

var efforts = []string{"small", "medium", "large", "extra_large"}

func merged(into, it api.POAMItem) api.POAMItem {
	into.AlsoCloses = append(append(slices.Clone(into.AlsoCloses), it.ControlCode), it.AlsoCloses...)
	if rank(it.Severity) < rank(into.Severity) {
		into.Severity, into.DueDate, into.Milestones = it.Severity, it.DueDate, it.Milestones
	}
	if slices.Index(efforts, it.Effort) > slices.Index(efforts, into.Effort) {
		into.Effort = it.Effort
	}
	into.Weakness += " " + it.Weakness
	into.CorrectiveAction += " " + it.CorrectiveAction
	into.AcceptanceCriteria = union(into.AcceptanceCriteria, it.AcceptanceCriteria)
	into.ExpectedEvidence = union(into.ExpectedEvidence, it.ExpectedEvidence)
	into.TargetLevel = max(into.TargetLevel, it.TargetLevel)
	codes := api.RequirementCodes{}
	for _, of := range []api.RequirementCodes{into.RequirementCodes, it.RequirementCodes} {
		for framework, list := range of {
			codes[framework] = union(codes[framework], list)
		}
	}
	into.RequirementCodes = codes
	return into
}

// union is a and what of b isn't in it, in their order.
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// Closes tells whether an item is about a control, by itself or merged into it.
func Closes(it *api.POAMItem, control string) bool {
	return slices.ContainsFunc(append([]string{it.ControlCode}, it.AlsoCloses...), func(c string) bool { return strings.EqualFold(c, control) })
}
