package workbook

import (
	"reflect"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/wording"
)

var twoMilestones = []api.Milestone{
	{Title: "Owner named", DueDate: "2027-01-31", Status: "completed"},
	{
		Title: "First review\nsigned [twice]", DueDate: "2027-03-31", Status: "open",
		Changes: []api.MilestoneChange{{At: "2027-03-01", By: "Ana Roe", DueDate: "2027-05-31", Reason: "The auditor\nis away."}},
	},
}

func withMilestones() Fields {
	it := &api.POAMItem{
		POAMCode:         "POAM-001",
		CorrectiveAction: "Name an owner.",
		Priority:         1,
		Severity:         api.SeverityHigh,
		Effort:           "small",
		DueDate:          "2027-03-31",
		Status:           "open",
		Milestones:       twoMilestones,
	}
	it.ID, it.ControlCode, it.ControlTitle, it.Revision = "id-1", "IAC-06", "Second factor", 4
	return POAMItemFields(it)
}

// TestMilestones checks that milestones are read back from each layout: changed, added, removed and
// moved ones, and the unchanged rest.
func TestMilestones(t *testing.T) {
	const stands = "(1) 2027-01-31: Owner named [completed]\n(2) 2027-03-31: First review\n    signed [twice] [open]"
	const moves = "(2) 2027-03-01 by Ana Roe: moved to 2027-05-31: The auditor\n    is away."
	if f := withMilestones(); f(fieldMilestones) != stands || f(fieldChanges) != moves {
		t.Fatalf("the cells:\n%s\n%s", f(fieldMilestones), f(fieldChanges))
	}
	change := func(at int, edit func(m *api.Milestone)) []api.Milestone {
		out := append([]api.Milestone{}, twoMilestones...)
		edit(&out[at])
		return out
	}
	moved := api.MilestoneChange{DueDate: "2027-06-30", Reason: "No time."}
	for _, l := range []struct{ name, sheet, plan, changes string }{
		{"fedramp_poam", open, "M6", "N6"}, {"emass_poam", "POA&M", "H6", "I6"}, {"poam", "Plan of action", "R2", "S2"},
	} {
		b := bookOf(t, layout(t, l.name), []Fields{withMilestones()})
		for _, tc := range []struct {
			name, at, cell string
			want           []api.Milestone
			wrong          string
		}{
			{
				"as it was, in other words",
				l.plan,
				"1. 2027-01-31 Owner named [Completed]\n\n2) 2027-03-31:First review\n    signed [twice] [OPEN]",
				nil,
				"",
			},
			{
				"done",
				l.plan,
				strings.Replace(stands, "[open]", "[in progress]", 1),
				change(1, func(m *api.Milestone) { m.Status = "in_progress" }),
				"",
			},
			{
				"one more",
				l.plan,
				stands + "\n(3) 2027-06-30: Staff trained",
				append(change(0, func(*api.Milestone) {}), api.Milestone{Title: "Staff trained", DueDate: "2027-06-30", Status: "open"}),
				"",
			},
			{"one gone", l.plan, stands[strings.Index(stands, "(2)"):], twoMilestones[1:], ""},
			{
				"the other one gone",
				l.plan,
				stands[:strings.Index(stands, "\n(2)")],
				nil,
				"!" + l.plan + ": milestone (2) was removed but still has changes",
			},
			{
				"moved",
				l.changes,
				moves + "\n(1) moved to 2027-06-30: No time.",
				change(0, func(m *api.Milestone) { m.Changes = []api.MilestoneChange{moved} }),
				"",
			},
			{"a change taken back", l.changes, "", change(1, func(m *api.Milestone) { m.Changes = nil }), ""},
			{"of none", l.changes, moves + "\n(7) moved to 2027-06-30", nil, "!" + l.changes + ": the change refers to milestone (7)"},
			{
				"no date",
				l.plan,
				"(1) next week: Owner named",
				nil,
				"!" + l.plan + ": " + header(t, l.name, fieldMilestones) + ": line 1: a date is expected after the number",
			},
			{"no such day", l.plan, "(1) 2027-02-30: Owner named", nil, "line 1: 2027-02-30 is not a date"},
			{
				"no status",
				l.plan,
				"(1) 2027-01-31: Owner named [finished]",
				nil,
				"unknown status [finished]; end the line with one of [Open], [In progress], [Completed], [Cancelled]",
			},
			{"no number", l.plan, stands + "\nStaff trained", nil, "line 4 doesn't start with a number"},
			{"a number twice", l.plan, stands + "\n(2) 2027-06-30: Staff trained", nil, "milestone (2) appears twice"},
			{"no title", l.plan, "(1) 2027-01-31:  [open]", nil, "the description is missing"},
			{"too long", l.plan, "(1) 2027-01-31: " + strings.Repeat("x", 501), nil, "has 501 characters; the maximum is 500"},
			{"too many", l.plan, strings.Repeat("(1) 2027-01-31: x\n", 101), nil, "the cell has 101 milestones"},
			{
				"no new date",
				l.changes,
				"(1) it moves to May",
				nil,
				"!" + l.changes + ": " + header(t, l.name, fieldChanges) + ": line 1 doesn't contain the new date",
			},
		} {
			t.Run(l.name+"/"+tc.name, func(t *testing.T) {
				rows, problems, _ := edits(
					t,
					editWorkbook(t, b, func(f *excelize.File) error { return f.SetCellValue(l.sheet, tc.at, tc.cell) }),
					layout(t, l.name),
				)
				said := formatFindings(nil, problems, nil)
				var got []api.Milestone
				for _, r := range rows {
					all, is, p := r.MilestonesAfterEdits(twoMilestones)
					if p != nil {
						said += p.String()
					} else if is && r.Edits[0].WouldChange(withMilestones()) {
						got = all
					}
				}
				if tc.wrong == "" && said != "" || !strings.Contains(said, tc.wrong) {
					t.Errorf("said %q, want %q", said, tc.wrong)
				}
				if !reflect.DeepEqual(got, tc.want) {
					t.Errorf("got %+v\nwant %+v", got, tc.want)
				}
			})
		}
	}
}

func header(t *testing.T, name, field string) string {
	for _, c := range layout(t, name).Columns {
		if c.Field == field {
			return c.Header
		}
	}
	t.Fatalf("%s has no %s", name, field)
	return ""
}

// FuzzMilestones checks that any milestones cell is rejected with the line, or keeps its meaning when written again.
func FuzzMilestones(f *testing.F) {
	f.Add(joinLines(toMilestoneLines(twoMilestones)))
	f.Add(joinLines(toChangeLines(twoMilestones)))
	f.Add("1. 2027-01-31 x [open] [open]\n\n    [done]\n(2) moved to 2027-01-31")
	f.Add("(1) by by : moved to 2027-01-31:moved to 2027-01-31")
	f.Fuzz(func(t *testing.T, s string) {
		s = trimAndUnifyLineEnds(wording.ReplaceControlCharacters(s))
		if all, wrong := parseMilestones(s); wrong == "" {
			again, wrong := parseMilestones(joinLines(all))
			if wrong != "" || !reflect.DeepEqual(all, again) {
				t.Errorf("%q: %q %q, %s", s, all, again, wrong)
			}
		}
		if all, wrong := parseMilestoneChanges(s); wrong == "" {
			again, wrong := parseMilestoneChanges(joinLines(all))
			if wrong != "" || !reflect.DeepEqual(all, again) {
				t.Errorf("%q: %q %q, %s", s, all, again, wrong)
			}
		}
	})
}
