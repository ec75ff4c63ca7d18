package assessment

import (
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

// planItem returns a plan item of a control; its ID and finding ID are the code.
func planItem(code, control string, change ...func(*api.POAMItem)) api.POAMItem {
	i := api.POAMItem{POAMCode: code, FindingID: "f-" + code, Status: "open"}
	i.ID, i.ControlCode = code, control
	for _, c := range change {
		c(&i)
	}
	return i
}

func origin(id string) func(*api.POAMItem) { return func(i *api.POAMItem) { i.FindingOrigin = id } }

func also(codes ...string) func(*api.POAMItem) { return func(i *api.POAMItem) { i.AlsoCloses = codes } }
func status(s string) func(*api.POAMItem)      { return func(i *api.POAMItem) { i.Status = s } }
func edited(fields ...string) func(*api.POAMItem) {
	return func(i *api.POAMItem) { i.EditedFields = fields }
}

func TestPlanItemsOfOneControlMatchByTheirFinding(t *testing.T) {
	previous := []api.POAMItem{
		planItem("POAM-001", "SITE-1", origin("oslo")),
		planItem("POAM-002", "SITE-1", origin("bergen")),
		planItem("POAM-003", "SITE-1"),
		planItem("POAM-004", "SITE-1", func(i *api.POAMItem) { i.FindingID = "" }), // its gap is closed
	}
	current := []api.POAMItem{
		planItem("a", "SITE-1", origin("bergen")),
		planItem("b", "SITE-1"),
		planItem("c", "SITE-1", origin("new")),
	}
	var got []string
	for _, m := range poamType.matchItems(current, previous) {
		if m == nil {
			got = append(got, "none")
		} else {
			got = append(got, m.POAMCode)
		}
	}
	if want := []string{"POAM-002", "POAM-003", "none"}; !slices.Equal(got, want) {
		t.Errorf("matches %v, want %v", got, want)
	}
}

func TestPlanCodesStayWithTheirItems(t *testing.T) {
	old := previousVersion[api.POAMItem]{
		items:        []api.POAMItem{planItem("POAM-002", "A-1"), planItem("POAM-001", "A-2")},
		lastApproved: []api.POAMItem{planItem("POAM-007", "GONE-1")},
	}
	items := []api.POAMItem{planItem("POAM-001", "A-1"), planItem("POAM-002", "NEW-1"), planItem("POAM-003", "A-2")}
	items[0].Dependencies = []string{"POAM-002", "POAM-003"}
	carryPOAMCodes(items, poamType.matchItems(items, old.items), &old)
	var codes []string
	for _, i := range items {
		codes = append(codes, i.ControlCode+" "+i.POAMCode)
	}
	if want := []string{"A-1 POAM-002", "NEW-1 POAM-008", "A-2 POAM-001"}; !slices.Equal(codes, want) {
		t.Errorf("codes %v, want %v", codes, want)
	}
	if want := []string{"POAM-008", "POAM-001"}; !slices.Equal(items[0].Dependencies, want) {
		t.Errorf("depends on %v, want %v", items[0].Dependencies, want)
	}
}

func TestEditedPlanItemsAreNotMerged(t *testing.T) {
	items := []api.POAMItem{planItem("into", "A-1"), planItem("it", "A-2"), planItem("other", "B-1")}
	for name, c := range map[string]struct {
		previous []api.POAMItem
		due      map[string]api.Date
		manual   map[string]bool
		want     bool
	}{
		"no edits":              {want: true},
		"both unedited before":  {previous: []api.POAMItem{planItem("x", "A-1"), planItem("y", "A-2")}, want: true},
		"the merged one edited": {previous: []api.POAMItem{planItem("y", "A-2", edited("status"))}},
		"the target edited, without it": {
			previous: []api.POAMItem{planItem("x", "A-1", edited("status"))},
		},
		"the target edited, and it was part of it": {
			previous: []api.POAMItem{planItem("x", "A-1", edited("status"), also("A-2"))}, want: true,
		},
		"part of another edited item": {
			previous: []api.POAMItem{planItem("x", "A-1"), planItem("z", "B-1", edited("status"), also("A-2"))},
		},
		"different due dates":    {due: map[string]api.Date{"f-it": "2030-01-01"}},
		"same due date":          {due: map[string]api.Date{"f-it": "2030-01-01", "f-into": "2030-01-01"}, want: true},
		"manual action":          {manual: map[string]bool{"f-it": true}},
		"target's manual action": {manual: map[string]bool{"f-into": true}},
	} {
		t.Run(name, func(t *testing.T) {
			mayMerge := mergeableItemsPredicate(items, c.previous, c.due, c.manual)
			if got := mayMerge(&items[0], &items[1]); got != c.want {
				t.Errorf("may merge: %t, want %t", got, c.want)
			}
		})
	}
}

func TestItemsWhoseGapIsClosedMoveToAnOpenControl(t *testing.T) {
	previous := []api.POAMItem{
		planItem("moves", "GONE-1", also("GONE-2", "OPEN-1")),
		planItem("stays", "OPEN-2", also("OPEN-1")),
		planItem("taken", "GONE-3", also("OPEN-2")), // OPEN-2 has an item of its own
		planItem("manual", "GONE-4", origin("o"), also("OPEN-3")),
	}
	got := reassignToOpenControls(
		previous,
		[]api.POAMItem{planItem("1", "OPEN-1"), planItem("2", "OPEN-2"), planItem("3", "OPEN-3")},
	)
	var controls []string
	for _, i := range got {
		controls = append(controls, i.ControlCode)
	}
	if want := []string{"OPEN-1", "OPEN-2", "GONE-3", "GONE-4"}; !slices.Equal(controls, want) {
		t.Errorf("controls %v, want %v", controls, want)
	}
	if !slices.Equal(got[0].AlsoCloses, []string{"GONE-2"}) || previous[0].ControlCode != "GONE-1" {
		t.Errorf("also closes %v; the previous item is now of %s", got[0].AlsoCloses, previous[0].ControlCode)
	}
}

func TestClosedItemsAreKeptIfApprovedOrEdited(t *testing.T) {
	old := previousVersion[api.POAMItem]{
		items: []api.POAMItem{
			planItem("continued", "A-1", edited("owner")),
			planItem("draft", "A-2"),
			planItem("edited", "A-3", edited("owner")),
			planItem("out of scope", "A-4", edited("owner")),
			planItem("decided", "A-5", edited("status"), status("in_progress")),
			planItem("approved", "A-6"),
		},
		lastApproved: []api.POAMItem{planItem("approved", "A-6")},
	}
	matches := []*api.POAMItem{&old.items[0]}
	kept := closeItemsWithoutGap(&old, matches, func(code string) bool { return code != "A-4" }, "2030-01-01")
	var got []string
	for _, i := range kept {
		if i.FindingID != "" {
			t.Errorf("%s still has a finding", i.POAMCode)
		}
		got = append(got, i.POAMCode+" "+i.Status)
	}
	if want := "edited completed, out of scope cancelled, decided in_progress, approved completed"; strings.Join(
		got,
		", ",
	) != want {
		t.Errorf("kept %q, want %q", strings.Join(got, ", "), want)
	}
}

func TestReopenedGapsContinueTheirItem(t *testing.T) {
	closed := func(i *api.POAMItem) { i.FindingID = "" }
	got := makeAutoClosedMatchable([]api.POAMItem{
		planItem("by the rules", "A-1", closed, status("completed")),
		planItem("by a user", "A-2", closed, status("completed"), edited("status")),
		planItem("user still working", "A-3", closed, status("in_progress"), edited("status")),
	})
	for n, want := range []string{"", "was by a user", ""} {
		if key := poamOriginKey(&got[n]); key != want {
			t.Errorf("%s has the key %q, want %q", got[n].POAMCode, key, want)
		}
	}
}

func TestOverdue(t *testing.T) {
	const today = api.Date("2030-06-15")
	due := func(d api.Date) func(*api.POAMItem) { return func(i *api.POAMItem) { i.DueDate = d } }
	until := func(d api.Date) func(*api.POAMItem) { return func(i *api.POAMItem) { i.RiskAcceptedUntil = &d } }
	for name, c := range map[string]struct {
		item api.POAMItem
		want bool
	}{
		"due yesterday":               {planItem("", "", due("2030-06-14")), true},
		"due today":                   {planItem("", "", due("2030-06-15")), false},
		"completed late":              {planItem("", "", due("2030-06-14"), status("completed")), false},
		"cancelled":                   {planItem("", "", due("2030-06-14"), status("cancelled")), false},
		"blocked":                     {planItem("", "", due("2030-06-14"), status("blocked")), true},
		"risk accepted until later":   {planItem("", "", due("2030-01-01"), status("risk_accepted"), until("2031-01-01")), false},
		"acceptance expired":          {planItem("", "", due("2031-01-01"), status("risk_accepted"), until("2030-06-14")), true},
		"postponed by an agreed date": {planItem("", "", due("2030-01-01"), func(i *api.POAMItem) { i.DueChanges = []api.MilestoneChange{{DueDate: "2030-12-01"}} }), false},
	} {
		if got := isOverdue(&c.item, today); got != c.want {
			t.Errorf("%s: overdue is %t, want %t", name, got, c.want)
		}
	}
}

func TestPOAMCountsAndBurnDown(t *testing.T) {
	due := func(d api.Date) func(*api.POAMItem) { return func(i *api.POAMItem) { i.DueDate = d } }
	until := api.Date("2030-01-01")
	out := api.POAMSummary{BySeverity: map[api.Severity]int{}, ByStatus: map[string]int{}, ByEffort: map[string]int{}}
	fillPOAMSummary(&out, []api.POAMItem{
		planItem("late", "A-1", due("2030-06-01")),
		planItem("soon", "A-2", due("2030-07-01"), status("in_progress")),
		planItem("also soon", "A-3", due("2030-07-01")),
		planItem("next year", "A-4", due("2031-06-01")),
		planItem("done", "A-5", due("2030-06-01"), status("completed")),
		planItem(
			"expired",
			"A-6",
			due("2030-07-01"),
			status("risk_accepted"),
			func(i *api.POAMItem) { i.RiskAcceptedUntil = &until },
		),
	}, "2030-06-15")
	if out.Items != 6 || out.Open != 5 || out.Completed != 1 || out.Overdue != 2 {
		t.Errorf("%d items, %d open, %d completed, %d overdue", out.Items, out.Open, out.Completed, out.Overdue)
	}
	if !slices.Equal(out.ExpiredAcceptances, []string{"expired"}) ||
		!slices.Equal(out.BeyondHalfYear, []string{"next year"}) {
		t.Errorf("expired %v, beyond half a year %v", out.ExpiredAcceptances, out.BeyondHalfYear)
	}
	want := []api.BurnDown{
		{Date: "2030-06-01", Due: 1, Open: 4},
		{Date: "2030-07-01", Due: 3, Open: 1},
		{Date: "2031-06-01", Due: 1, Open: 0},
	}
	if !slices.Equal(out.BurnDown, want) || *out.FirstDue != "2030-06-01" || *out.LastDue != "2031-06-01" {
		t.Errorf("burn-down %+v from %s to %s", out.BurnDown, *out.FirstDue, *out.LastDue)
	}
}
