package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
)

// maxDependencies is the maximum number of prerequisites listed for an item.
const maxDependencies = 5

// OrderAndNumberItems sorts items into working order and assigns their priority, code (POAM-001 …), due dates and
// dependencies. Items with higher severity come first; then gaps that the evidence shows before those that only lack
// evidence; then those with more severity points, those of foundational domains, and finally policies before
// procedures before records. A prerequisite always precedes the items that depend on it, even if its severity is
// lower, and is due no later than they are. If necessary, its due date and milestones are moved to earlier dates, but
// not before today. If the evidence states when the prerequisite will be done, or when money for it becomes available,
// the items that depend on it are postponed instead. basis is keyed by finding ID.
func OrderAndNumberItems(items []api.POAMItem, today api.Date, basis map[string]Basis) []api.POAMItem {
	out := sortItems(items, func(it *api.POAMItem) urgency { return newUrgency(it, basis[it.FindingID]) }, urgency.compare)
	waits := findDependencies(out)
	out, waits = sortByDependencies(out, waits)
	assignDueDates(out, today, basis)
	postponeDependents(out, waits, basis)
	digits := max(3, len(fmt.Sprint(len(out))))
	for i := range out {
		out[i].Priority = i + 1
		out[i].POAMCode = fmt.Sprintf("POAM-%0*d", digits, i+1)
	}
	// Iterate backwards so that a whole chain of dependencies gets earlier dates.
	for i := len(out) - 1; i >= 0; i-- {
		out[i].Dependencies = []string{}
		for _, w := range waits[i] {
			out[i].Dependencies = append(out[i].Dependencies, out[w].POAMCode)
			if !basis[out[w].FindingID].isLate() {
				advanceDueDate(&out[w], today, out[i].DueDate)
			}
		}
	}
	for i := range out {
		if from := basis[out[i].FindingID].NotBefore; from != "" && out[i].Status == "open" {
			respaceMilestones(&out[i], from)
		}
	}
	return out
}

// sortItems returns the items sorted by a key, which is computed once per item. The sort is stable.
func sortItems[K any](items []api.POAMItem, key func(*api.POAMItem) K, compare func(a, b K) int) []api.POAMItem {
	type placed struct {
		key K
		at  int
	}
	all := make([]placed, len(items))
	for i := range items {
		all[i] = placed{key(&items[i]), i}
	}
	slices.SortFunc(all, func(a, b placed) int {
		if c := compare(a.key, b.key); c != 0 {
			return c
		}
		return cmp.Compare(a.at, b.at)
	})
	out := make([]api.POAMItem, len(items))
	for i, p := range all {
		out[i] = items[p.at]
	}
	return out
}

// urgency is the sort key of items.
type urgency struct {
	severity, unknown, domain, action int
	points                            float64
	code                              codeKey
	finding                           string
}

func newUrgency(it *api.POAMItem, b Basis) urgency {
	unknown := 0
	if it.ActionType == "collect_evidence" {
		unknown = 1
	}
	return urgency{
		severity: it.Severity.Rank(),
		unknown:  unknown,
		points:   b.Points,
		domain:   domainForCode(it.ControlCode).rank,
		action:   actionRank(it.ActionType),
		code:     newCodeKey(it.ControlCode),
		finding:  it.FindingID,
	}
}

func (u urgency) compare(o urgency) int {
	if c := cmp.Or(
		cmp.Compare(u.severity, o.severity), cmp.Compare(u.unknown, o.unknown), cmp.Compare(o.points, u.points),
		cmp.Compare(u.domain, o.domain), cmp.Compare(u.action, o.action),
	); c != 0 {
		return c
	}
	return cmp.Or(u.code.compare(o.code), strings.Compare(u.finding, o.finding))
}

func actionRank(action string) int {
	return slices.Index([]string{"document", "implement", "improve", "collect_evidence", "monitor"}, action)
}

// compare orders codes naturally: IAC-02 before IAC-10, and IAC-06 before IAC-06.1.
func (k codeKey) compare(o codeKey) int {
	return cmp.Or(strings.Compare(k.prefix, o.prefix), slices.Compare(k.numbers, o.numbers), strings.Compare(k.code, o.code))
}

// codeKey is a control code in parsed form, for sorting.
type codeKey struct {
	prefix  string
	numbers []int
	code    string
}

func newCodeKey(code string) codeKey {
	prefix, numbers := splitCode(code)
	return codeKey{prefix: prefix, numbers: numbers, code: code}
}

func splitCode(code string) (domainPart string, numbers []int) {
	prefix, rest, _ := strings.Cut(code, "-")
	var n []int
	for p := range strings.SplitSeq(rest, ".") {
		v := 0
		for _, r := range p {
			if r < '0' || r > '9' || v > 1e6 {
				break
			}
			v = v*10 + int(r-'0')
		}
		n = append(n, v)
	}
	return prefix, n
}

// findDependencies returns, for each item, the indexes of its prerequisites: the items for its parent control,
// for the first control of its domain, and for the security program.
func findDependencies(items []api.POAMItem) [][]int {
	byCode := make(map[string]int)
	for i := len(items) - 1; i >= 0; i-- {
		byCode[items[i].ControlCode] = i
	}
	waits := make([][]int, len(items))
	for i, it := range items {
		prefix, _, _ := strings.Cut(it.ControlCode, "-")
		first := []string{}
		if dot := strings.LastIndexByte(it.ControlCode, '.'); dot > 0 {
			first = append(first, it.ControlCode[:dot])
		}
		first = append(first, prefix+"-01")
		if strings.HasSuffix(it.ControlCode, "-01") {
			first = append(first, "GOV-01")
		}
		for _, code := range first {
			w, ok := byCode[code]
			if !ok || items[w].ControlCode == it.ControlCode || slices.Contains(waits[i], w) || len(waits[i]) >= maxDependencies {
				continue
			}
			// Evidence collection only depends on rules that have yet to be written, not on other items.
			if it.ActionType == "collect_evidence" && items[w].ActionType != "document" {
				continue
			}
			waits[i] = append(waits[i], w)
		}
	}
	return waits
}

// sortByDependencies moves prerequisites before the items that depend on them and otherwise keeps the order. There
// should be no cycles, since parent codes are shorter than child codes. If there is one, it is broken at the point
// where it is detected.
func sortByDependencies(items []api.POAMItem, dependencies [][]int) (sorted []api.POAMItem, sortedDependencies [][]int) {
	place := make([]int, len(items))
	for i := range place {
		place[i] = -1
	}
	out, order := make([]api.POAMItem, 0, len(items)), make([]int, 0, len(items))
	open := make([]bool, len(items))
	var put func(i int)
	put = func(i int) {
		if place[i] >= 0 || open[i] {
			return
		}
		open[i] = true
		for _, w := range dependencies[i] {
			put(w)
		}
		place[i] = len(out)
		out = append(out, items[i])
		order = append(order, i)
	}
	for i := range items {
		put(i)
	}
	moved := make([][]int, len(items))
	for to, from := range order {
		for _, w := range dependencies[from] {
			if place[w] < to {
				moved[to] = append(moved[to], place[w])
			}
		}
		slices.Sort(moved[to])
	}
	return out, moved
}

// advanceDueDate moves an item's due date forward to due if due is earlier, and spreads the item's milestones over
// the remaining time.
func advanceDueDate(it *api.POAMItem, today, due api.Date) {
	if due == "" || it.DueDate <= due {
		return
	}
	was := it.DueDate
	it.DueDate = due
	it.Milestones = slices.Clone(it.Milestones)
	for i := range it.Milestones {
		m := &it.Milestones[i]
		if was > today {
			m.DueDate = MoveWithDueDate(m.DueDate, today, was, due)
		}
		m.DueDate = min(m.DueDate, due)
	}
}

// MoveWithDueDate returns the new date of a step of an item whose due date is moved from one date to another. Steps
// keep their share of the time from today. If the step or its item was overdue, the step moves by the same number of
// days as the item.
func MoveWithDueDate(step, today, from, to api.Date) api.Date {
	start, err := today.Time()
	if err != nil || step == "" {
		return step
	}
	days, was, at := daysBetween(today, to), daysBetween(today, from), daysBetween(today, step)
	if was > 0 && at > 0 {
		at = at * days / was
	} else {
		at += days - was
	}
	return min(lastWorkdayWithin(start, max(1, at)), max(to, today))
}

// daysBetween returns the number of days from one date to another, or 0 if either is unknown.
func daysBetween(from, to api.Date) int {
	a, err := from.Time()
	b, err2 := to.Time()
	if err != nil || err2 != nil {
		return 0
	}
	return int(b.Sub(a).Hours() / 24)
}
