package render

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/scf-service/service/api"
)

func (v *reportData) poamSection() []block {
	if v.POAM == nil {
		return []block{newPara("empty", "No plan of action and milestones has been drafted yet.")}
	}
	if len(v.POAMItems) == 0 {
		return []block{newPara("empty", "The plan of action and milestones has no items.")}
	}
	out := []block{heading{ID: v.anchors.assign("plan-part", "status"), Text: "By status and severity"}, v.planStatusTable(), v.ageTable()}
	out = append(out, v.quadrantBlocks()...)
	out = append(out, heading{ID: v.anchors.assign("plan-part", "due"), Text: "Upcoming due dates"}, v.nextDueTable())
	out = append(out, v.burnDownBlocks()...)
	out = append(out, v.ganttBlocks()...)
	return append(out, heading{ID: v.anchors.assign("plan-part", "items"), Text: "All items, by priority"}, v.planTable())
}

var planStatuses = []string{"open", "in_progress", "blocked", "completed", "risk_accepted", "cancelled"}

func (v *reportData) planStatusTable() table {
	t := table{Caption: fmt.Sprintf("Items by status and severity; overdue by %s", formatTime(v.AsOf)), Columns: []column{
		{Name: "Status", Width: 4}, {Name: "All", Width: 2, Number: true}, {Name: "Overdue", Width: 3, Number: true},
	}}
	for _, s := range api.Severities {
		t.Columns = append(t.Columns, column{Name: displayLabel(string(s)), Width: 4, Number: true})
	}
	for _, status := range planStatuses {
		all, late, by := 0, 0, map[api.Severity]int{}
		for i := range v.POAMItems {
			if it := &v.POAMItems[i]; it.Status == status {
				all++
				by[it.Severity]++
				if v.isOverdue(it) {
					late++
				}
			}
		}
		r := row{Cells: []cell{plainCell(displayLabel(status)), numberCell(all), numberCell(late)}}
		for _, s := range api.Severities {
			r.Cells = append(r.Cells, numberCell(by[s]))
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// byDueDate returns the open items by due date, those without a date last.
func (v *reportData) byDueDate() []*api.POAMItem {
	var out []*api.POAMItem
	for i := range v.POAMItems {
		if v.POAMItems[i].IsOpen() {
			out = append(out, &v.POAMItems[i])
		}
	}
	slices.SortStableFunc(out, func(a, b *api.POAMItem) int {
		return cmp.Compare(orDefault(string(a.CurrentDueDate()), "9999-99-99"), orDefault(string(b.CurrentDueDate()), "9999-99-99"))
	})
	return out
}

// planItemsByControl returns items by the codes of the controls they close; if several close the
// same control, the one with the highest priority.
func planItemsByControl(items []api.POAMItem) map[string]*api.POAMItem {
	out := map[string]*api.POAMItem{}
	for i := range items {
		for _, code := range append([]string{items[i].ControlCode}, items[i].AlsoCloses...) {
			if code != "" && out[code] == nil {
				out[code] = &items[i]
			}
		}
	}
	return out
}

// planItemCell returns the plan item of a finding, linked if it is in the report, or nil if none is
// planned.
func (v *reportData) planItemCell(f *api.Finding) cell {
	it := v.planByControl[f.ControlCode]
	if it == nil {
		return nil
	}
	c := cell{
		v.anchors.link("plan", it.POAMCode),
		span{Text: ", due " + orDefault(string(it.CurrentDueDate()), "date not set") + ", ", NoBreak: true},
		span{Text: ownerName(it), UserText: true},
	}
	if !it.IsOpen() {
		c = c.with(span{Text: " (" + humanize(it.Status) + ")"})
	}
	return c
}

func ownerName(it *api.POAMItem) string {
	return orDefault(orDefault(stringOrEmpty(it.Owner), it.OwnerRole), "unassigned")
}

func (v *reportData) planTable() table {
	t := table{Caption: "Plan of action and milestones", Columns: []column{
		{Name: "Item", Width: 4},
		{Name: "Control", Width: 8},
		{Name: "Severity", Width: 4},
		{Name: "Priority", Width: 3, Number: true},
		{Name: "Effort", Width: 3},
		{Name: "Owner", Width: 5},
		{Name: "Due", Width: 4},
		{Name: "Status", Width: 5},
	}}
	findings := map[string]int{}
	for i := range v.Findings {
		findings[v.Findings[i].ID] = i
	}
	for i := range v.POAMItems {
		it := &v.POAMItems[i]
		due := noBreakCell(orDefault(string(it.CurrentDueDate()), "no date"))
		if v.isOverdue(it) {
			due = due.with(span{Text: " "}, span{Text: "Overdue", Badge: "critical"})
		}
		control := v.anchors.link("soa", it.ControlCode)
		if f, ok := findings[it.FindingID]; ok && f < len(v.ids.findings) {
			control.Ref = v.ids.findings[f]
		}
		t.Rows = append(t.Rows, row{
			ID: v.ids.plan[i],
			Cells: []cell{
				{{Text: it.POAMCode, Strong: true}},
				v.controlCell(control, it.ControlTitle), badgeCell(string(it.Severity), displayLabel(string(it.Severity))),
				numberCell(
					it.Priority,
				), plainCell(displayLabel(it.Effort)), userCell(ownerName(it)), due, badgeCell("status", displayLabel(it.Status)),
			},
			Detail: v.planDetail(it),
		})
	}
	return t
}

func (v *reportData) planDetail(it *api.POAMItem) []block {
	var f facts
	f.addText("Weakness", it.Weakness)
	f.addText("Corrective action", it.CorrectiveAction)
	if it.ActionType != "" {
		f.add("Action type", plainCell(displayLabel(it.ActionType)))
	}
	if len(it.Dependencies) > 0 {
		var c cell
		for i, d := range it.Dependencies {
			if i > 0 {
				c = append(c, span{Text: ", "})
			}
			c = append(c, v.anchors.link("plan", d))
		}
		f.add("Depends on", c)
	}
	f.addText("Resources", stringOrEmpty(it.Resources))
	f.addList("Acceptance criteria", it.AcceptanceCriteria)
	f.addList("Expected evidence", it.ExpectedEvidence)
	if it.TargetLevel > 0 {
		f.add("Target level", plainCell(levelName(it.TargetLevel)))
	}
	if it.RiskAcceptedUntil != nil {
		f.add("Risk accepted until", plainCell(dateOrEmpty(it.RiskAcceptedUntil)))
	}
	f.addText("Vendor dependency", stringOrEmpty(it.VendorDependency))
	f.addText("Comments", stringOrEmpty(it.Comments))
	f.addList("Milestones", v.milestoneLines(it))
	v.addEdits(&f, &it.Item)
	if len(f.Items) == 0 {
		return nil
	}
	return []block{f}
}

func (v *reportData) milestoneLines(it *api.POAMItem) (out []string) {
	for _, m := range it.Milestones {
		line := fmt.Sprintf("%s: %s (%s)", m.DueDate, m.Title, humanize(m.Status))
		if m.CompletedAt != nil {
			line += fmt.Sprintf("; completed on %s by %s", *m.CompletedAt, orDefault(v.personName(m.CompletedBy), "someone"))
		}
		for _, c := range m.Changes {
			line += fmt.Sprintf(
				"; moved to %s on %s by %s: %s",
				c.DueDate,
				c.At,
				orDefault(v.personName(c.By), "someone"),
				orDefault(c.Reason, "no reason given"),
			)
		}
		out = append(out, line)
	}
	return out
}
