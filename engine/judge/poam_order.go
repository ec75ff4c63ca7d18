package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
)

// maxDependencies is how many items one item names as coming first.
const maxDependencies = 5

// OrderItems puts items in the order in which to work on them, and gives each its
// priority, its code (POAM-001 …) and the codes that come first. Worse comes before
// milder, foundations before what stands on them, policy before procedure before
// records. What another waits for never comes after it, though it be milder, and is due no later; its
// date is brought forward where needed, its milestones with it, from today on. The same items give the same order.
func OrderItems(items []api.POAMItem, today api.Date) []api.POAMItem {
	out := sortItems(items, newUrgency, urgency.compare)
	waits := findDependencies(out)
	out, waits = sortByDependencies(out, waits)
	digits := max(3, len(fmt.Sprint(len(out))))
	for i := range out {
		out[i].Priority = i + 1
		out[i].POAMCode = fmt.Sprintf("POAM-%0*d", digits, i+1)
	}
	// From the last to the first, so that a chain is brought forward as a whole.
	for i := len(out) - 1; i >= 0; i-- {
		out[i].Dependencies = []string{}
		for _, w := range waits[i] {
			out[i].Dependencies = append(out[i].Dependencies, out[w].POAMCode)
			bringForward(&out[w], today, out[i].DueDate)
		}
	}
	return out
}

// sortItems are the items by a key that is worked out once for each; equal ones stay as they were.
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

// urgency is where an item stands among others.
type urgency struct {
	severity, domain, action int
	code                     codeKey
	finding                  string
}

func newUrgency(it *api.POAMItem) urgency {
	return urgency{
		severity: severityRank(it.Severity),
		domain:   domainForCode(it.ControlCode).rank,
		action:   actionRank(it.ActionType),
		code:     newCodeKey(it.ControlCode),
		finding:  it.FindingID,
	}
}

func (u urgency) compare(o urgency) int {
	if c := cmp.Or(cmp.Compare(u.severity, o.severity), cmp.Compare(u.domain, o.domain), cmp.Compare(u.action, o.action)); c != 0 {
		return c
	}
	return cmp.Or(u.code.compare(o.code), strings.Compare(u.finding, o.finding))
}

func actionRank(action string) int {
	return slices.Index([]string{"document", "implement", "improve", "collect_evidence", "monitor"}, action)
}

// compare puts IAC-02 before IAC-10, and IAC-06 before IAC-06.1.
func (k codeKey) compare(o codeKey) int {
	return cmp.Or(strings.Compare(k.prefix, o.prefix), slices.Compare(k.numbers, o.numbers), strings.Compare(k.code, o.code))
}

// codeKey is a control's code, taken apart.
type codeKey struct {
	prefix  string
	numbers []int
	code    string
}

func newCodeKey(code string) codeKey {
	prefix, numbers := splitCode(code)
	return codeKey{prefix: prefix, numbers: numbers, code: code}
}

func compareCodes(a, b string) int { return newCodeKey(a).compare(newCodeKey(b)) }

func splitCode(code string) (string, []int) {
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

// findDependencies are, for each item, the places of those it waits for: its parent
// control, the foundation of its domain, and the security program.
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
			// Asking for evidence waits for nothing but rules that are to be written.
			if it.ActionType == "collect_evidence" && items[w].ActionType != "document" {
				continue
			}
			waits[i] = append(waits[i], w)
		}
	}
	return waits
}

// sortByDependencies moves what others wait for before them, keeping the order otherwise. A
// child's code is longer than its parent's, so that waits have no circles; should
// there be one, it is cut where it is met.
func sortByDependencies(items []api.POAMItem, dependencies [][]int) ([]api.POAMItem, [][]int) {
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

// bringForward makes an item due by a date, with its milestones spread over what is left.
func bringForward(it *api.POAMItem, today, due api.Date) {
	if due == "" || it.DueDate <= due {
		return
	}
	from, err := today.Time()
	days, was := daysBetween(today, due), daysBetween(today, it.DueDate)
	it.DueDate = due
	stones := slices.Clone(it.Milestones)
	for i := range stones {
		if err == nil && was > 0 {
			stones[i].DueDate = workdayAfter(from, max(1, daysBetween(today, stones[i].DueDate)*days/was))
		}
		stones[i].DueDate = min(stones[i].DueDate, due)
	}
	it.Milestones = stones
}

// daysBetween is 0 where one of the dates is unknown.
func daysBetween(from, to api.Date) int {
	a, err := from.Time()
	b, err2 := to.Time()
	if err != nil || err2 != nil {
		return 0
	}
	return int(b.Sub(a).Hours() / 24)
}
