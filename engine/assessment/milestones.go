package assessment

import (
	"cmp"
	"context"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/plan"
	"github.com/scf-service/service/store"
)

// findApprovedPOAMItem returns an item as it was approved in its plan, or nil if it wasn't. Its dates
// and its original milestones must not be changed.
func (s *Service) findApprovedPOAMItem(ctx context.Context, by api.Caller, id string) (out *api.POAMItem, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		item, err := poamType.items.Get(tx, by.OrganizationID, id)
		if err != nil {
			return store.ToNotFound(err, poamType.gate.Title()+" item", id)
		}
		a, err := getAssessment(tx, by, item.AssessmentID)
		if err != nil {
			return err
		}
		approved, err := poamType.lastApprovedItems(tx, s, &a)
		out = findApprovedMatch(approved, &item)
		return err
	})
	return out, err
}

// findApprovedMatch returns the approved item that item continues, or nil if there is none.
func findApprovedMatch(approved []api.POAMItem, item *api.POAMItem) *api.POAMItem {
	return poamType.matchItems([]api.POAMItem{*item}, approved)[0]
}

// recordDueChange records a new due date without overwriting the approved one.
func (s *Service) recordDueChange(by api.Caller, i *api.POAMItem, to api.Date) {
	if to != i.CurrentDueDate() {
		i.DueChanges = append(slices.Clone(i.DueChanges), api.MilestoneChange{At: string(s.today()), By: by.Actor.Name, DueDate: to})
	}
}

// moveMilestones moves an item's unfinished milestones with its due date, which was before: in proportion to the time
// from today. The dates of an approved plan are kept, and the new ones are recorded as changes. It reports whether any
// milestone moved.
func (s *Service) moveMilestones(by api.Caller, i *api.POAMItem, before api.Date, approved bool) (moved bool) {
	today, due := s.today(), i.CurrentDueDate()
	if due == before || before == "" {
		return false
	}
	i.Milestones = slices.Clone(i.Milestones)
	for n := range i.Milestones {
		m := &i.Milestones[n]
		if !isUnfinishedMilestone(*m) {
			continue
		}
		to := plan.MoveWithDueDate(m.CurrentDueDate(), today, before, due)
		switch {
		case to == m.CurrentDueDate():
			continue
		case approved:
			change := api.MilestoneChange{At: string(today), By: by.Actor.Name, DueDate: to, Reason: "moved with the due date"}
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

// checkAndAttributeMilestones validates and returns an item's new milestones. Approved milestones
// must be included with unchanged dates. New changes are attributed to the caller and, unless they
// have a date, dated today.
func (s *Service) checkAndAttributeMilestones(
	by api.Caller,
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
					"%q was approved for %s, which can't be changed; add the new date to its changes, or set it to cancelled",
					m.Title,
					m.DueDate,
				)
			}
			if n := len(m.Changes); len(given[at].Changes) < n || !slices.Equal(given[at].Changes[:n], m.Changes) {
				return nil, api.Invalid(
					"milestones.changes",
					"the approved changes to %q can't be removed; add new changes after them",
					m.Title,
				)
			}
		}
	}
	out := slices.Clone(given)
	for n := range out {
		m := &out[n]
		if err := s.checkMilestoneDateAndDuplicates(previous, given, m); err != nil {
			return nil, err
		}
		if api.IsBlank(m.Title) {
			return nil, api.Invalid("milestones.title", "state what is done by %s", m.DueDate)
		}
		s.recordMilestoneCompletion(by, previous, m)
		m.Status = cmp.Or(m.Status, "open")
		if m.Changes = slices.Clone(m.Changes); len(m.Changes) == 0 {
			m.Changes = nil // normalize to "no changes"
		}
		for j := range m.Changes {
			if err := s.checkAndAttributeChange(by, previous, &m.Changes[j]); err != nil {
				return nil, err
			}
			if j > 0 && m.Changes[j].At < m.Changes[j-1].At {
				return nil, api.Invalid(
					"milestones.changes.at",
					"%s is earlier than the preceding change of %s",
					m.Changes[j].At,
					m.Changes[j-1].At,
				)
			}
		}
	}
	return out, nil
}

// recordMilestoneCompletion sets when and by whom a milestone was completed: as recorded in
// previous or, if this change completes it, today and by the caller.
func (s *Service) recordMilestoneCompletion(by api.Caller, previous []api.Milestone, m *api.Milestone) {
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
	today := s.today()
	m.CompletedAt, m.CompletedBy = &today, by.Actor.Name
}

// syncMilestonesToStatus updates an item's milestones to match its status: completing the item
// completes its open milestones, and reopening it restores them.
func syncMilestonesToStatus(i *api.POAMItem, today api.Date, completedBy string) (changed bool) {
	out := slices.Clone(i.Milestones)
	for n := range out {
		switch m := &out[n]; {
		case i.Status == "completed" && isUnfinishedMilestone(*m):
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

func isUnfinishedMilestone(m api.Milestone) bool {
	return m.Status == "open" || m.Status == "in_progress"
}

// checkMilestoneDateAndDuplicates returns an error if a new, open milestone has a date in the past or too far ahead,
// or is a duplicate.
func (s *Service) checkMilestoneDateAndDuplicates(previous, given []api.Milestone, m *api.Milestone) error {
	before, now := countMilestone(previous, *m), countMilestone(given, *m)
	if now > max(before, 1) {
		return api.Invalid("milestones", "%q is listed %d times for %s", m.Title, now, m.DueDate)
	}
	if err := checkDate("milestones.due_date", &m.DueDate); err != nil || before > 0 || m.Status == "completed" && m.DueDate <= s.today() {
		return err
	}
	return s.checkTodayOrLaterDate("milestones.due_date", &m.DueDate)
}

func countMilestone(all []api.Milestone, m api.Milestone) (n int) {
	for _, one := range all {
		if hasSameTitleAndDueDate(one, m) {
			n++
		}
	}
	return n
}

// checkAndAttributeChange validates a milestone change and records the caller as its author, unless
// previous already contains it.
func (s *Service) checkAndAttributeChange(by api.Caller, previous []api.Milestone, c *api.MilestoneChange) error {
	if slices.ContainsFunc(previous, func(m api.Milestone) bool { return slices.Contains(m.Changes, *c) }) {
		return nil
	}
	if err := s.checkDateLimit("milestones.changes.due_date", &c.DueDate); err != nil {
		return err
	}
	at, today := api.Date(c.At), s.today()
	if at == "" {
		at = today
	}
	if err := checkDate("milestones.changes.at", &at); err != nil {
		return err
	}
	if at > today {
		return api.Invalid("milestones.changes.at", "%s is in the future; give the day of the decision, or omit it", at)
	}
	if c.DueDate < at {
		return api.Invalid("milestones.changes.due_date", "%s had already passed on %s, the day of the decision", c.DueDate, at)
	}
	c.At, c.By = string(at), by.Actor.Name
	return nil
}
