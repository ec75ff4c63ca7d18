package render

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/scf-service/service/api"
)

func (v *view) poamSection() []block {
	if v.POAM == nil {
		return []block{say("empty", "No plan of action and milestones has been drafted yet.")}
	}
	if len(v.POAMItems) == 0 {
		return []block{say("empty", "The plan of action and milestones has no items.")}
	}
	out := []block{heading{ID: v.anchors.add("plan-part", "status"), Text: "By status and severity"}, v.planCounts(), v.ageingTable()}
	out = append(out, v.quadrantBlocks()...)
	out = append(out, heading{ID: v.anchors.add("plan-part", "due"), Text: "What is due next"}, v.nextDue())
	out = append(out, v.burnBlocks()...)
	out = append(out, v.calendarBlocks()...)
	return append(out, heading{ID: v.anchors.add("plan-part", "items"), Text: "Every item, by priority"}, v.planTable())
}

var planStatuses = []string{"open", "in_progress", "blocked", "completed", "risk_accepted", "cancelled"}

func (v *view) planCounts() table {
	t := table{Caption: fmt.Sprintf("Items by status and severity; overdue by %s", moment(v.AsOf)), Columns: []column{
		{Name: "Status", Width: 4}, {Name: "All", Width: 2, Number: true}, {Name: "Overdue", Width: 3, Number: true},
	}}
	for _, s := range api.Severities {
		t.Columns = append(t.Columns, column{Name: label(string(s)), Width: 4, Number: true})
	}
	for _, status := range planStatuses {
		all, late, by := 0, 0, map[api.Severity]int{}
		for i := range v.POAMItems {
			if it := &v.POAMItems[i]; it.Status == status {
				all++
				by[it.Severity]++
				if v.overdue(it) {
					late++
				}
			}
		}
		r := row{Cells: []cell{plain(label(status)), number(all), number(late)}}
		for _, s := range api.Severities {
			r.Cells = append(r.Cells, number(by[s]))
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// byDueDate are the open items, those without a date last.
func (v *view) byDueDate() []*api.POAMItem {
	var out []*api.POAMItem
	for i := range v.POAMItems {
		if v.POAMItems[i].Open() {
			out = append(out, &v.POAMItems[i])
		}
	}
	slices.SortStableFunc(out, func(a, b *api.POAMItem) int {
		return cmp.Compare(or(string(a.Due()), "9999-99-99"), or(string(b.Due()), "9999-99-99"))
	})
	return out
}

// plannedBy are items by the codes of the controls that they close, the first by priority where there are more.
func plannedBy(items []api.POAMItem) map[string]*api.POAMItem {
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

// planOf names the plan's item for a finding, linked where the report has it; nil where none is planned.
func (v *view) planOf(f *api.Finding) cell {
	it := v.plans[f.ControlCode]
	if it == nil {
		return nil
	}
	c := cell{v.anchors.ref("plan", it.POAMCode), span{Text: ", due " + or(string(it.Due()), "on no date yet") + ", ", Keep: true}, span{Text: ownerOf(it), Free: true}}
	if !it.Open() {
		c = c.and(span{Text: " (" + words(it.Status) + ")"})
	}
	return c
}

func ownerOf(it *api.POAMItem) string { return or(or(text(it.Owner), it.OwnerRole), "nobody yet") }

func (v *view) planTable() table {
	t := table{Caption: "Plan of action and milestones", Columns: []column{
		{Name: "Item", Width: 4}, {Name: "Control", Width: 8}, {Name: "Severity", Width: 4}, {Name: "Priority", Width: 3, Number: true}, {Name: "Effort", Width: 3},
		{Name: "Owner", Width: 5}, {Name: "Due", Width: 4}, {Name: "Status", Width: 5},
	}}
	findings := map[string]int{}
	for i := range v.Findings {
		findings[v.Findings[i].ID] = i
	}
	for i := range v.POAMItems {
		it := &v.POAMItems[i]
		due := keep(or(string(it.Due()), "no date"))
		if v.overdue(it) {
			due = due.and(span{Text: " "}, span{Text: "Overdue", Badge: "critical"})
		}
		control := v.anchors.ref("soa", it.ControlCode)
		if f, ok := findings[it.FindingID]; ok && f < len(v.ids.findings) {
			control.Ref = v.ids.findings[f]
		}
		t.Rows = append(t.Rows, row{
			ID: v.ids.plan[i],
			Cells: []cell{
				{{Text: it.POAMCode, Strong: true}}, v.controlCell(control, it.ControlTitle), badge(string(it.Severity), label(string(it.Severity))),
				number(it.Priority), plain(label(it.Effort)), free(ownerOf(it)), due, badge("status", label(it.Status)),
			},
			Detail: v.planDetail(it),
		})
	}
	return t
}

func (v *view) planDetail(it *api.POAMItem) []block {
	var f facts
	f.addText("Weakness", it.Weakness)
	f.addText("Corrective action", it.CorrectiveAction)
	if it.ActionType != "" {
		f.add("Kind of action", plain(label(it.ActionType)))
	}
	if len(it.Dependencies) > 0 {
		var c cell
		for i, d := range it.Dependencies {
			if i > 0 {
				c = append(c, span{Text: ", "})
			}
			c = append(c, v.anchors.ref("plan", d))
		}
		f.add("Comes after", c)
	}
	f.addText("Resources", text(it.Resources))
	f.addList("Done when", it.AcceptanceCriteria)
	f.addList("Evidence to expect", it.ExpectedEvidence)
	if it.TargetLevel > 0 {
		f.add("Target level", plain(levelName(it.TargetLevel)))
	}
	if it.RiskAcceptedUntil != nil {
		f.add("Risk accepted until", plain(date(it.RiskAcceptedUntil)))
	}
	f.addText("Vendor dependency", text(it.VendorDependency))
	f.addText("Comments", text(it.Comments))
	f.addList("Milestones", v.milestones(it))
	v.edited(&f, &it.Item)
	if len(f.Items) == 0 {
		return nil
	}
	return []block{f}
}

func (v *view) milestones(it *api.POAMItem) (out []string) {
	for _, m := range it.Milestones {
		line := fmt.Sprintf("%s: %s (%s)", m.DueDate, m.Title, words(m.Status))
		if m.CompletedAt != nil {
			line += fmt.Sprintf("; completed on %s by %s", *m.CompletedAt, or(v.person(m.CompletedBy), "someone"))
		}
		for _, c := range m.Changes {
			line += fmt.Sprintf("; moved to %s on %s by %s: %s", c.DueDate, c.At, or(v.person(c.By), "someone"), or(c.Reason, "no reason given"))
		}
		out = append(out, line)
	}
	return out
}
