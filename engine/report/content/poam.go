package content

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/plan"
	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/wording"
)

func (v *Report) poamSection() []block.Block {
	if v.POAM == nil {
		return []block.Block{block.NewPara("empty", "No plan of action and milestones has been drafted yet.")}
	}
	if len(v.POAMItems) == 0 {
		return []block.Block{block.NewPara("empty", "The plan of action and milestones has no items.")}
	}
	out := []block.Block{
		block.Heading{ID: v.anchors.assign("plan-part", "status"), Text: "By status and severity"},
		v.planStatusTable(),
		v.planAgeTable(),
	}
	out = append(out, v.impactEffortBlocks()...)
	out = append(out, block.Heading{ID: v.anchors.assign("plan-part", "due"), Text: "Upcoming due dates"}, v.nextDueTable())
	out = append(out, v.burnDownBlocks()...)
	out = append(out, v.ganttBlocks()...)
	return append(out, block.Heading{ID: v.anchors.assign("plan-part", "items"), Text: "All items, by priority"}, v.planTable())
}

func (v *Report) planStatusTable() block.Table {
	t := block.Table{
		Caption: fmt.Sprintf("Items by status and severity; overdue as of %s", wording.TimeOrNotSpecified(v.AsOf)),
		Columns: []block.Column{
			{Name: "Status", Width: 4}, {Name: "All", Width: 2, Number: true}, {Name: "Overdue", Width: 3, Number: true},
		},
	}
	for _, s := range api.Severities {
		t.Columns = append(t.Columns, block.Column{Name: wording.Label(string(s)), Width: 4, Number: true})
	}
	for _, status := range api.POAMStatuses {
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
		if all == 0 {
			continue
		}
		r := block.Row{Cells: []block.Cell{block.Text(wording.Label(status)), block.Number(all), block.Number(late)}}
		for _, s := range api.Severities {
			r.Cells = append(r.Cells, block.Number(by[s]))
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// openItemsByDueDate returns the open items ordered by due date. Items without a due date come last.
func (v *Report) openItemsByDueDate() []*api.POAMItem {
	var out []*api.POAMItem
	for i := range v.POAMItems {
		if v.POAMItems[i].IsOpen() {
			out = append(out, &v.POAMItems[i])
		}
	}
	slices.SortStableFunc(out, func(a, b *api.POAMItem) int {
		return cmp.Compare(
			wording.OrDefault(string(a.CurrentDueDate()), "9999-99-99"),
			wording.OrDefault(string(b.CurrentDueDate()), "9999-99-99"),
		)
	})
	return out
}

// planItemsByControl returns the plan items, keyed by the codes of the controls whose gaps they close. If several
// items are for the same control, it returns the first one.
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

// planItemCell returns a cell that describes the plan item for a finding, with a link if the report
// contains the item. It returns nil if there is no plan item.
func (v *Report) planItemCell(f *api.Finding) block.Cell {
	it := v.planByControl[f.ControlCode]
	if it == nil {
		return nil
	}
	c := block.Cell{
		v.anchors.link("plan", it.POAMCode),
		block.Span{Text: ", due " + wording.OrDefault(string(it.CurrentDueDate()), "date not set") + ", ", NoBreak: true},
		block.Span{Text: ownerName(it), UserText: true},
	}
	if !it.IsOpen() {
		c = c.With(block.Span{Text: " (" + wording.Humanize(it.Status) + ")"})
	}
	return c
}

// ownerName returns the owner of an item or, if it has none, the role that the program suggests.
func ownerName(it *api.POAMItem) string {
	if owner := wording.OrEmpty(it.Owner); strings.TrimSpace(owner) != "" || strings.TrimSpace(it.OwnerRole) == "" {
		return wording.OrDefault(owner, "unassigned")
	}
	return it.OwnerRole + " (suggested role)"
}

func (v *Report) planTable() block.Table {
	t := block.Table{Caption: "Plan of action and milestones", Columns: []block.Column{
		{Name: "Item", Width: 4},
		{Name: "Control", Width: 8},
		{Name: "Severity", Width: 4},
		{Name: "Priority", Width: 3, Number: true},
		{Name: "Effort", Width: 4},
		{Name: "Owner", Width: 8},
		{Name: "Due", Width: 4},
		{Name: "Status", Width: 4},
	}}
	findings := map[string]int{}
	for i := range v.Findings {
		findings[v.Findings[i].ID] = i
	}
	for i := range v.POAMItems {
		it := &v.POAMItems[i]
		due := block.NoBreak(wording.OrDefault(string(it.CurrentDueDate()), "no date"))
		if v.isOverdue(it) {
			due = due.With(block.Span{Text: " "}, block.Span{Text: "Overdue", Badge: "critical"})
		}
		control := v.anchors.link("soa", it.ControlCode)
		if f, ok := findings[it.FindingID]; ok && f < len(v.ids.findings) {
			control.Ref = v.ids.findings[f]
		}
		t.Rows = append(t.Rows, block.Row{
			ID: v.ids.plan[i],
			Cells: []block.Cell{
				{{Text: it.POAMCode, Strong: true}},
				v.controlCell(control, it.ControlTitle), block.Badge(string(it.Severity), wording.Label(string(it.Severity))),
				block.Number(
					it.Priority,
				), block.Text(wording.Label(it.Effort)), block.UserText(ownerName(it)), due, block.Badge("status", wording.Label(it.Status)),
			},
			Detail: v.planDetail(it),
		})
	}
	return t
}

func (v *Report) planDetail(it *api.POAMItem) []block.Block {
	var f block.Facts
	f.AddText("Weakness", it.Weakness)
	f.AddText("Corrective action", plan.ShortAction(it))
	if it.ActionType != "" {
		f.Add("Action type", block.Text(wording.Label(it.ActionType)))
	}
	if len(it.Dependencies) > 0 {
		var c block.Cell
		for i, d := range it.Dependencies {
			if i > 0 {
				c = append(c, block.Span{Text: ", "})
			}
			c = append(c, v.anchors.link("plan", d))
		}
		f.Add("Depends on", c)
	}
	f.AddText("Resources", wording.OrEmpty(it.Resources))
	f.AddList("Acceptance criteria", it.AcceptanceCriteria)
	f.AddList("Expected evidence", it.ExpectedEvidence)
	if it.TargetLevel > 0 {
		f.Add("Target level", block.Text(wording.LevelWithName(it.TargetLevel)))
	}
	if it.RiskAcceptedUntil != nil {
		f.Add("Risk accepted until", block.Text(wording.OrEmpty(it.RiskAcceptedUntil)))
	}
	f.AddText("Vendor dependency", wording.OrEmpty(it.VendorDependency))
	f.AddText("Comments", wording.OrEmpty(it.Comments))
	f.AddList("Milestones", v.milestoneLines(it))
	v.addEditFact(&f, &it.Item)
	if len(f.Items) == 0 {
		return nil
	}
	return []block.Block{f}
}

func (v *Report) milestoneLines(it *api.POAMItem) (out []string) {
	for _, m := range it.Milestones {
		line := fmt.Sprintf("%s: %s (%s)", m.DueDate, m.Title, wording.Humanize(m.Status))
		if m.CompletedAt != nil {
			line += fmt.Sprintf("; completed on %s by %s", *m.CompletedAt, wording.OrDefault(v.PersonName(m.CompletedBy), "someone"))
		}
		for _, c := range m.Changes {
			line += fmt.Sprintf(
				"; moved to %s on %s by %s: %s",
				c.DueDate,
				c.At,
				wording.OrDefault(v.PersonName(c.By), "someone"),
				wording.OrDefault(c.Reason, "no reason given"),
			)
		}
		out = append(out, line)
	}
	return out
}
