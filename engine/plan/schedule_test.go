package plan

import (
	"fmt"
	"testing"

	"github.com/scf-service/service/api"
)

// A date that the evidence states for the work is kept, except dates in the past and dates of completed work.
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

// A plan with more work than a few people can do is spread over the quarters, except critical items and those with a
// legal deadline.
func TestPaceIsLimited(t *testing.T) {
	var items []api.POAMItem
	basis := map[string]Basis{}
	add := func(severity api.Severity, framework, requirement string) {
		code := fmt.Sprintf("GOV-%03d", len(items)+1)
		items = append(items, api.POAMItem{
			Item:      api.Item{ControlCode: code, RequirementCodes: api.RequirementCodes{framework: {requirement}}},
			FindingID: code, Severity: severity, Effort: "medium", ActionType: "collect_evidence", Status: "open", DueDate: "2028-11-19",
			Milestones: []api.Milestone{{Title: "m", DueDate: "2028-11-19"}},
		})
		basis[code] = Basis{}
	}
	for range 5 {
		add(api.SeverityCritical, "iso-27001-2022", "A.5.1")
	}
	for range 45 {
		add(api.SeverityHigh, "iso-27001-2022", "A.5.1")
		add(api.SeverityMedium, "iso-27001-2022", "A.5.1")
	}
	perQuarter := func() string {
		quarters := map[string]int{}
		for _, it := range OrderAndNumberItems(items, today, basis) {
			quarters[fmt.Sprintf("%s %d", it.Severity, (daysBetween(today, it.DueDate)+89)/90)]++
			if it.Milestones[0].DueDate > it.DueDate {
				t.Errorf("%s is due on %s, its milestone on %s", it.ControlCode, it.DueDate, it.Milestones[0].DueDate)
			}
		}
		return fmt.Sprint(quarters)
	}
	if got := perQuarter(); got != "map[critical 1:5 high 1:20 high 2:25 medium 2:3 medium 3:22 medium 4:20]" {
		t.Errorf("paced by effort: %s", got)
	}
	for range 5 {
		add(api.SeverityMedium, "nist-800-171-r2", "3.1.3")
	}
	if got := perQuarter(); got != "map[critical 1:5 high 1:22 high 2:23 medium 2:10 medium 3:28 medium 4:12]" {
		t.Errorf("with items that CMMC requires to be closed within 180 days: %s", got)
	}
}
