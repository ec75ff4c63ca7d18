package plan

import (
	"testing"

	"github.com/scf-service/service/api"
)

// ann edits in the middle of 2030.
var ann = Editor{Today: "2030-06-15", UserName: "Ann"}

func TestMilestonesFollowTheStatusOfTheirItem(t *testing.T) {
	done := api.Milestone{Title: "a", Status: "completed", CompletedBy: "Bob"}
	i := api.POAMItem{Status: "completed", Milestones: []api.Milestone{
		done, {Title: "b", Status: "open"}, {Title: "c", Status: "in_progress"}, {Title: "d", Status: "cancelled"},
	}}
	states := func() (out []string) {
		for _, m := range i.Milestones {
			out = append(out, m.Status+" by "+m.CompletedBy)
		}
		return out
	}
	check := func(step string, changed, wantChanged bool, want ...string) {
		t.Helper()
		if changed != wantChanged {
			t.Errorf("%s: changed is %t", step, changed)
		}
		for n, got := range states() {
			if got != want[n] {
				t.Errorf("%s: milestone %d is %q, want %q", step, n+1, got, want[n])
			}
		}
	}
	check("completed", SyncMilestonesToStatus(&i, ann.Today, "Ann"), true,
		"completed by Bob", "completed by Ann", "completed by Ann", "cancelled by ")
	check("completed again", SyncMilestonesToStatus(&i, ann.Today, "Cy"), false,
		"completed by Bob", "completed by Ann", "completed by Ann", "cancelled by ")
	i.Status = "in_progress"
	check("reopened", SyncMilestonesToStatus(&i, ann.Today, "Ann"), true,
		"completed by Bob", "open by ", "in_progress by ", "cancelled by ")
}

func TestMilestonesThatAreRefused(t *testing.T) {
	first := api.Milestone{Title: "First", DueDate: "2030-07-01", Status: "open"}
	late := api.Milestone{Title: "Late", DueDate: "2030-01-01", Status: "open"}
	changed := first
	changed.Changes = []api.MilestoneChange{{At: "2030-05-01", By: "Bob", DueDate: "2030-08-01"}}
	approved := &api.POAMItem{Milestones: []api.Milestone{changed}}
	with := func(m api.Milestone, changes ...api.MilestoneChange) []api.Milestone {
		m.Changes = changes
		return []api.Milestone{m}
	}
	for name, c := range map[string]struct {
		previous []api.Milestone
		approved *api.POAMItem
		given    []api.Milestone
		field    string // of the error; "" if they are accepted
	}{
		"new":                         {given: []api.Milestone{first}},
		"in the past":                 {given: []api.Milestone{late}, field: "milestones.due_date"},
		"in the past, as before":      {previous: []api.Milestone{late}, given: []api.Milestone{late}},
		"twice":                       {given: []api.Milestone{first, first}, field: "milestones"},
		"without a title":             {given: []api.Milestone{{DueDate: "2030-07-01"}}, field: "milestones.title"},
		"approved date kept":          {approved: approved, given: []api.Milestone{changed}},
		"approved one removed":        {approved: approved, given: []api.Milestone{{Title: "Other", DueDate: "2030-07-01"}}, field: "milestones"},
		"approved change removed":     {approved: approved, given: []api.Milestone{first}, field: "milestones.changes"},
		"change decided in future":    {given: with(first, api.MilestoneChange{At: "2030-07-01", DueDate: "2030-08-01"}), field: "milestones.changes.at"},
		"change to a past date":       {given: with(first, api.MilestoneChange{At: "2030-06-01", DueDate: "2030-05-01"}), field: "milestones.changes.due_date"},
		"changes in the wrong order":  {given: with(first, api.MilestoneChange{At: "2030-06-10", DueDate: "2030-08-01"}, api.MilestoneChange{At: "2030-06-01", DueDate: "2030-09-01"}), field: "milestones.changes.at"},
		"change without a day":        {given: with(first, api.MilestoneChange{DueDate: "2030-08-01"})},
		"completed before it was due": {given: []api.Milestone{{Title: "Late", DueDate: "2030-01-01", Status: "completed"}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ann.CheckMilestones(c.previous, c.approved, c.given)
			if c.field == "" {
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range got {
					if m.Status == "completed" && (m.CompletedBy != "Ann" || *m.CompletedAt != ann.Today) {
						t.Errorf("completed by %q", m.CompletedBy)
					}
				}
				return
			}
			if e := api.AsError(err); err == nil || len(e.Details) == 0 || e.Details[0].Field != c.field {
				t.Errorf("error %+v, want one on %s", err, c.field)
			}
		})
	}
}

func TestNewChangesAreAttributedToTheCaller(t *testing.T) {
	m := api.Milestone{
		Title:   "First",
		DueDate: "2030-07-01",
		Changes: []api.MilestoneChange{{By: "Bob", DueDate: "2030-08-01"}},
	}
	got, err := ann.CheckMilestones(nil, nil, []api.Milestone{m})
	if err != nil || got[0].Changes[0].By != "Ann" || got[0].Changes[0].At != string(ann.Today) || got[0].Status != "open" {
		t.Errorf("%+v, %v", got, err)
	}
}
