package plan

import (
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge"
)

// Only sentences about money in general count, not those about one purchase, conditions or dates that have passed.
func TestBudgetStart(t *testing.T) {
	for sentence, want := range map[string]api.Date{
		"No budget before 2027.": "2027-01-01",

		"There will be no spending on security tools until Q3 2027.":                    "2027-07-01",
		"No new budget for information security is available before 1 April 2027.":      "2027-04-01",
		"The board decided that no money can be spent before April 15, 2027.":           "2027-04-15",
		"Security purchases are suspended until the end of March 2027.":                 "2027-04-01",
		"Funds for security projects are only available from the second half of 2027.":  "2027-07-01",
		"Nothing may be bought before 2027-05-01.":                                      "2027-05-01",
		"The spending freeze is in force until the third quarter of 2027.":              "",
		"A spending freeze for all projects until the third quarter of 2027 was agreed": "2027-07-01",
		"No budget before 2027 for security tools.":                                     "2027-01-01",
		"There is no budget for it before 2027.":                                        "",
		"There is no budget for IT before 2027.":                                        "2027-01-01",
		"There is no budget for the new SIEM before 2027.":                              "",
		"No budget before 2027 for the replacement of the badge readers.":               "",
		"If there is no budget before 2027, the work waits.":                            "",
		"The budget of 2027 was approved.":                                              "",
		"No changes before 2027.":                                                       "",
	} {
		if got := budgetStart(sentence); got != want {
			t.Errorf("%q: %q, want %q", sentence, got, want)
		}
	}
}

// The newest document decides; what has passed or is far in the future doesn't count.
func TestFindBudget(t *testing.T) {
	older, newer := api.Date("2026-01-10"), api.Date("2026-09-24")
	passages := []judge.Passage{
		{Text: "No budget before 2028.", Filename: "old.md", EffectiveDate: &older},
		{Text: "Budget. No spending on security tools until Q3 2027. Thank you.", Filename: "new.md", EffectiveDate: &newer},
		{Text: "No budget before 2024.", Filename: "past.md", EffectiveDate: &newer},
		{Text: "No budget before 2060.", Filename: "far.md", EffectiveDate: &newer},
	}
	b := FindBudget(passages, today)
	if b == nil || b.From != "2027-07-01" || b.Sentence != "No spending on security tools until Q3 2027." || b.Source.Filename != "new.md" {
		t.Errorf("got %+v", b)
	}
	if b := FindBudget(passages[2:], today); b != nil {
		t.Errorf("a date that has passed or is far away: %+v", b)
	}
}

// Only work that takes money waits for it; a user, the evidence and the law come first.
func TestBudgetDelaysWhatNeedsMoney(t *testing.T) {
	b := &Budget{
		From: "2027-07-01", Sentence: "No spending on security tools until Q3 2027.",
		Source: judge.Passage{
			DocumentTitle: "Minutes", HeadingPath: []string{"4. Budget"}, Locator: api.Locator{LineStart: 10, LineEnd: 12},
			Text: "The board met.\nAll agreed. No spending on security tools until Q3 2027.\nThank you.",
		},
	}
	tool := api.Finding{
		Item: api.Item{ControlCode: "MON-02"}, Status: api.NotImplemented, GapType: "technical", Severity: api.SeverityMedium,
		MissingElements: []string{"Logs are collected centrally", "Logs are reviewed"},
	}
	policy, law := tool, tool
	policy.ControlCode = "GOV-02"
	law.RequirementCodes = api.RequirementCodes{"nist-800-171-r2": {"3.1.3"}}
	for name, c := range map[string]struct {
		f    api.Finding
		own  Basis
		want api.Date
	}{
		"a tool": {tool, Basis{}, "2027-07-01"}, "a policy": {policy, Basis{}, ""}, "the law": {law, Basis{}, ""},
		"a user": {tool, Basis{SetByUser: true}, ""}, "its own date": {tool, Basis{Stated: "2027-03-01"}, ""},
	} {
		if got := b.DelayFor(&c.f, c.own); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	items := []api.POAMItem{
		DraftPOAMItem(weighted(5), tool, MaturityGoal{}, today), DraftPOAMItem(weighted(5), policy, MaturityGoal{}, today),
	}
	items[0].ControlCode, items[0].FindingID, items[1].ControlCode, items[1].FindingID = "MON-02", "tool", "GOV-02", "policy"
	b.Delay(&items[0], today)
	const note = "This item needs a budget that is not available before 2027-07-01, according to Minutes (line 11, “4. Budget”): " +
		"“No spending on security tools until Q3 2027”. To override this, set a due date."
	if items[0].Resources == nil || *items[0].Resources != note {
		t.Errorf("note: %v", *items[0].Resources)
	}
	for _, it := range OrderAndNumberItems(items, today, map[string]Basis{"tool": {NotBefore: b.From}}) {
		waits := it.ControlCode == "MON-02"
		if (it.DueDate > b.From) != waits {
			t.Errorf("%s is due on %s", it.ControlCode, it.DueDate)
		}
		for n, m := range it.Milestones {
			if waits && (m.DueDate <= b.From) != (n == 0) || m.DueDate > it.DueDate {
				t.Errorf("%s, due on %s: %s on %s", it.ControlCode, it.DueDate, m.Title, m.DueDate)
			}
		}
	}
}

// A step keeps its share of the time, is never due after the item, and moves with an item that is overdue.
func TestMoveWithDueDate(t *testing.T) {
	for _, c := range []struct{ step, from, to, want api.Date }{
		{"2027-01-29", "2027-03-31", "2027-08-02", "2027-04-05"},
		{"2027-03-31", "2027-03-31", "2027-01-15", "2027-01-15"},
		{"2026-10-01", "2026-10-30", "2026-12-30", "2026-12-01"},
	} {
		if got := MoveWithDueDate(c.step, today, c.from, c.to); got != c.want {
			t.Errorf("a step on %s, moved from %s to %s: %s, want %s", c.step, c.from, c.to, got, c.want)
		}
	}
}
