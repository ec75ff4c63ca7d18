package plan

import (
	"reflect"
	"slices"
	"testing"

	"github.com/scf-service/service/api"
)

func TestOrder(t *testing.T) {
	item := func(code string, s api.Severity, action string, due api.Date) api.POAMItem {
		return api.POAMItem{
			Item:       api.Item{ControlCode: code},
			Severity:   s,
			ActionType: action,
			DueDate:    due,
			Milestones: []api.Milestone{{Title: "m", DueDate: due}},
		}
	}
	items := []api.POAMItem{
		item("IAC-10", api.SeverityLow, "implement", "2027-05-19"),
		item("IAC-06.1", api.SeverityCritical, "implement", "2026-12-18"),
		item("IAC-06", api.SeverityLow, "implement", "2027-05-19"),
		item("IAC-01", api.SeverityMedium, "document", "2027-02-18"),
		item("GOV-01", api.SeverityHigh, "document", "2027-01-19"),
		item("MON-02", api.SeverityCritical, "collect_evidence", "2026-12-18"),
	}
	out := OrderAndNumberItems(items, today, nil)
	var codes []string
	place := make(map[string]int)
	for i, it := range out {
		codes = append(codes, it.ControlCode)
		place[it.POAMCode] = i
		if it.Priority != i+1 {
			t.Errorf("%s has priority %d at %d", it.ControlCode, it.Priority, i)
		}
	}
	if want := []string{"IAC-06", "GOV-01", "IAC-01", "IAC-06.1", "MON-02", "IAC-10"}; !sameSet(codes, want) {
		t.Errorf("order %v", codes)
	}
	for i, it := range out {
		for _, d := range it.Dependencies {
			before, ok := place[d]
			if !ok || before >= i {
				t.Errorf("%s waits for %s, which doesn't come before it", it.POAMCode, d)
			}
			if out[before].DueDate > it.DueDate {
				t.Errorf("%s is due %s, before %s that it waits for", it.POAMCode, it.DueDate, d)
			}
			for _, m := range out[before].Milestones {
				if m.DueDate > out[before].DueDate {
					t.Errorf("milestone %s after the due date %s", m.DueDate, out[before].DueDate)
				}
			}
		}
	}
	if out[0].POAMCode != "POAM-001" {
		t.Errorf("first code %s", out[0].POAMCode)
	}
	if items[2].Milestones[0].DueDate != "2027-05-19" {
		t.Error("the caller's items were changed")
	}
	reversed := slices.Clone(items)
	slices.Reverse(reversed)
	if !reflect.DeepEqual(out, OrderAndNumberItems(reversed, today, nil)) {
		t.Error("the order of the input matters")
	}
}

// The milestones of an item that is moved to an earlier date are rescheduled in order.
func TestMilestonesAreRescheduled(t *testing.T) {
	first := api.POAMItem{
		Item:     api.Item{ControlCode: "IAC-01"},
		Severity: api.SeverityLow,
		DueDate:  "2027-05-19",
		Milestones: []api.Milestone{
			{Title: "draft", DueDate: "2027-02-01"}, {Title: "review", DueDate: "2027-03-26"}, {Title: "approved", DueDate: "2027-05-19"},
		},
	}
	out := OrderAndNumberItems(
		[]api.POAMItem{first, {Item: api.Item{ControlCode: "IAC-02"}, Severity: api.SeverityHigh, DueDate: "2027-01-19"}},
		"2026-11-20",
		nil,
	)
	m := out[0].Milestones
	if out[0].ControlCode != "IAC-01" || out[0].DueDate != "2027-01-19" || m[0].DueDate >= m[1].DueDate || m[1].DueDate >= m[2].DueDate ||
		m[2].DueDate != "2027-01-19" {
		t.Errorf("due %s, %+v", out[0].DueDate, m)
	}
	if first.Milestones[0].DueDate != "2027-02-01" {
		t.Error("the caller's milestones were changed")
	}
}

func sameSet(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}
