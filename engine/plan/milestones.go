package plan

import (
	"cmp"
	"slices"

	"github.com/scf-service/service/api"
)

// Editor changes the dates and milestones of plan items on behalf of a user.
type Editor struct {
	Today    api.Date
	UserName string // recorded as the author of changes
}

// RecordDueChange records a new due date without overwriting the approved one.
func (e Editor) RecordDueChange(i *api.POAMItem, to api.Date) {
	if to != i.CurrentDueDate() {
		i.DueChanges = append(slices.Clone(i.DueChanges), api.MilestoneChange{At: string(e.Today), By: e.UserName, DueDate: to})
	}
}

// MoveMilestones moves an item's unfinished milestones after its due date has changed from before. Each keeps its
// share of the time from today to the due date. The dates of an approved plan are kept, and the new ones are recorded
// as changes. It reports whether any milestone moved.
func (e Editor) MoveMilestones(i *api.POAMItem, before api.Date, approved bool) (moved bool) {
	today, due := e.Today, i.CurrentDueDate()
	if due == before || before == "" {
		return false
	}
	i.Milestones = slices.Clone(i.Milestones)
	for n := range i.Milestones {
		m := &i.Milestones[n]
		if !IsUnfinished(*m) {
			continue
		}
		to := MoveWithDueDate(m.CurrentDueDate(), today, before, due)
		switch {
		case to == m.CurrentDueDate():
			continue
		case approved:
			change := api.MilestoneChange{At: string(today), By: e.UserName, DueDate: to, Reason: "moved with the due date"}
			m.Changes = append(slices.Clone(m.Changes), change)
		default:
			m.DueDate = to
		}
		moved = true
	}
	return moved
}

func hasSameTitleAndDueDate(a, b api.Milestone) bool {
	return a.Title == b.Title && a.DueDate == b.DueDate
}

// CheckMilestones validates and returns an item's new milestones. Approved milestones
// must be included with unchanged dates. New changes are attributed to the user and, unless they
// have a date, dated today.
func (e Editor) CheckMilestones(
	previous []api.Milestone,
	approved *api.POAMItem,
	given []api.Milestone,
) ([]api.Milestone, error) {
	if approved != nil {
		for _, m := range approved.Milestones {
			at := slices.IndexFunc(given, func(g api.Milestone) bool { return hasSameTitleAndDueDate(g, m) })
			if at < 0 {
				return nil, api.Invalid(
					"milestones",
					"the approved date of %q (%s) can't be changed; add the new date to the milestone's changes, or set its status to cancelled",
					m.Title,
					m.DueDate,
				)
			}
			if n := len(m.Changes); len(given[at].Changes) < n || !slices.Equal(given[at].Changes[:n], m.Changes) {
				return nil, api.Invalid(
					"milestones.changes",
					"approved changes to %q can't be removed; add a new change instead",
					m.Title,
				)
			}
		}
	}
	out := slices.Clone(given)
	for n := range out {
		m := &out[n]
		if err := e.checkMilestoneDateAndDuplicates(previous, given, m); err != nil {
			return nil, err
		}
		if api.IsBlank(m.Title) {
			return nil, api.Invalid("milestones.title", "the milestone due on %s needs a title", m.DueDate)
		}
		e.recordMilestoneCompletion(previous, m)
		m.Status = cmp.Or(m.Status, "open")
		if m.Changes = slices.Clone(m.Changes); len(m.Changes) == 0 {
			m.Changes = nil // normalize to "no changes"
		}
		for j := range m.Changes {
			if err := e.checkAndAttributeChange(previous, &m.Changes[j]); err != nil {
				return nil, err
			}
			if j > 0 && m.Changes[j].At < m.Changes[j-1].At {
				return nil, api.Invalid(
					"milestones.changes.at",
					"%s is earlier than the date of the preceding change, %s",
					m.Changes[j].At,
					m.Changes[j-1].At,
				)
			}
		}
	}
	return out, nil
}

// recordMilestoneCompletion records when and by whom a milestone was completed. It copies this information from
// previous. If the milestone has just been completed, it records today's date and the user.
func (e Editor) recordMilestoneCompletion(previous []api.Milestone, m *api.Milestone) {
	m.CompletedAt, m.CompletedBy, m.CompletedWithItem, m.PreviousStatus = nil, "", false, ""
	if m.Status != "completed" {
		return
	}
	for _, w := range previous {
		if hasSameTitleAndDueDate(w, *m) && w.Status == m.Status {
			m.CompletedAt, m.CompletedBy, m.CompletedWithItem, m.PreviousStatus = w.CompletedAt, w.CompletedBy, w.CompletedWithItem, w.PreviousStatus
			return
		}
	}
	today := e.Today
	m.CompletedAt, m.CompletedBy = &today, e.UserName
}

// SyncMilestonesToStatus updates an item's milestones to match its status: completing the item
// completes its open milestones, and reopening it restores them.
func SyncMilestonesToStatus(i *api.POAMItem, today api.Date, completedBy string) (changed bool) {
	out := slices.Clone(i.Milestones)
	for n := range out {
		switch m := &out[n]; {
		case i.Status == "completed" && IsUnfinished(*m):
			m.PreviousStatus, m.Status = m.Status, "completed"
			m.CompletedAt, m.CompletedBy, m.CompletedWithItem = &today, completedBy, true
		case i.Status != "completed" && m.CompletedWithItem:
			m.Status, m.PreviousStatus = cmp.Or(m.PreviousStatus, "open"), ""
			m.CompletedAt, m.CompletedBy, m.CompletedWithItem = nil, "", false
		default:
			continue
		}
		changed = true
	}
	i.Milestones = out
	return changed
}

// IsUnfinished reports whether work on a milestone remains.
func IsUnfinished(m api.Milestone) bool {
	return m.Status == "open" || m.Status == "in_progress"
}

// checkMilestoneDateAndDuplicates returns an error if a new, open milestone is a duplicate or has a date that is
// in the past or too far in the future.
func (e Editor) checkMilestoneDateAndDuplicates(previous, given []api.Milestone, m *api.Milestone) error {
	before, now := countMilestone(previous, *m), countMilestone(given, *m)
	if now > max(before, 1) {
		return api.Invalid("milestones", "the milestone %q is listed %d times for %s; remove the duplicates", m.Title, now, m.DueDate)
	}
	if err := api.CheckDate("milestones.due_date", &m.DueDate); err != nil || before > 0 || m.Status == "completed" && m.DueDate <= e.Today {
		return err
	}
	return api.CheckDateNotPast("milestones.due_date", &m.DueDate, e.Today)
}

func countMilestone(all []api.Milestone, m api.Milestone) (n int) {
	for _, one := range all {
		if hasSameTitleAndDueDate(one, m) {
			n++
		}
	}
	return n
}

// checkAndAttributeChange validates a milestone change and records the user as its author, unless
// previous already contains it.
func (e Editor) checkAndAttributeChange(previous []api.Milestone, c *api.MilestoneChange) error {
	if slices.ContainsFunc(previous, func(m api.Milestone) bool { return slices.Contains(m.Changes, *c) }) {
		return nil
	}
	if err := api.CheckDateLimit("milestones.changes.due_date", &c.DueDate, e.Today); err != nil {
		return err
	}
	at, today := api.Date(c.At), e.Today
	if at == "" {
		at = today
	}
	if err := api.CheckDate("milestones.changes.at", &at); err != nil {
		return err
	}
	if at > today {
		return api.Invalid("milestones.changes.at", "%s is in the future; enter the date of the decision, or omit it", at)
	}
	if c.DueDate < at {
		return api.Invalid("milestones.changes.due_date", "the new due date %s is earlier than the date of the decision, %s", c.DueDate, at)
	}
	c.At, c.By = string(at), e.UserName
	return nil
}
