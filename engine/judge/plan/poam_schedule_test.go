package plan

import (
	"fmt"
	"testing"

	"github.com/scf-service/service/api"
)

// A date that the evidence states for the work is kept; dates that have passed, and dates of what is done, don't count.
func TestStatedTiming(t *testing.T) {
	for _, c := range []struct {
		stance, quote string
		want          api.Date
	}{
		{"plans", "When: will be implemented in Q2 2027; State on 2026-10-09: Not started", "2027-06-30"},
		{"plans", "Engineering writes secure development rules by 31 March 2027.", "2027-03-31"},
		{"plans", "Scans begin in the third quarter of 2027, at the latest by end of October 2027.", "2027-10-29"},
		{"plans", "It was planned for 2026-01-31.", ""},
		{"plans", "It is planned for Q2 2099.", ""},
		{"supports", "Keys are rotated by 31 March 2027.", ""},
		{"denies", "There is no budget for it before 2027.", "2027-04-01"},
		{"denies", "This is not funded until Q3 2027.", "2027-09-29"},
	} {
		f := api.Finding{Evidence: []api.Evidence{{Stance: c.stance, Quote: c.quote}}}
		if got, _ := statedTiming(&f, today); got != c.want {
			t.Errorf("%s: %q: %s, want %s", c.stance, c.quote, got, c.want)
		}
	}
}

// Items of one severity are spread by effort. A prerequisite whose date the evidence states postpones what depends on it.
func TestDatesAreSpread(t *testing.T) {
	item := func(code, effort, action string) api.POAMItem {
		return api.POAMItem{
			Item: api.Item{ControlCode: code}, FindingID: code, Severity: api.SeverityMedium, Effort: effort, ActionType: action,
			Status: "open", DueDate: "2027-05-19", Milestones: []api.Milestone{{Title: "m", DueDate: "2027-05-19"}},
		}
	}
	items := []api.POAMItem{
		item("IAC-01", "large", "implement"), item("IAC-02", "small", "implement"),
		item("MON-02", "medium", "implement"), item("NET-03", "large", "implement"),
	}
	items[0].DueDate = "2027-09-30"
	basis := map[string]Basis{"IAC-01": {Stated: "2027-09-30"}, "IAC-02": {Points: 9}, "MON-02": {Points: 8}, "NET-03": {Points: 7}}
	var got string
	for _, it := range OrderAndNumberItems(items, today, basis) {
		got += fmt.Sprint(it.ControlCode, " ", it.DueDate, " ", it.Milestones[0].DueDate, "; ")
	}
	const want = "IAC-01 2027-09-30 2027-05-19; IAC-02 2027-09-30 2027-09-30; MON-02 2027-02-12 2027-02-12; NET-03 2027-05-14 2027-05-14; "
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
