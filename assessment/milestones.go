package assessment

import (
	"context"
	"slices"
	"strings"

	"github.com/scf-service/service/engine/api"
	"github.com/scf-service/service/store"
)

// approvedItem is an item as it stands in the approved version of its plan; nil where it does not.
// Its dates and first milestones stay.
func (s *Service) approvedItem(ctx context.Context, by api.Caller, id string) (out *api.POAMItem, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		item, err := poam.items.Get(tx, by.OrganizationID, id)
		if err != nil {
			return store.Missing(err, poam.gate.Title()+" item", id)
		}
		a, err := get(tx, by, item.AssessmentID)
		if err != nil {
			return err
		}
		old, err := poam.former(tx, s, &a)
		out = approvedAs(old.approved, &item)
		return err
	})
	return out, err
}

// approvedAs is the approved item that an item goes back to.
func approvedAs(approved []api.POAMItem, item *api.POAMItem) *api.POAMItem {
	return poam.pair([]api.POAMItem{*item}, approved)[0]
}

// moveDue writes another date beside the approved one.
func (s *Service) moveDue(by api.Caller, i *api.POAMItem, to api.Date) {
	if to != i.Due() {
		i.DueChanges = append(slices.Clone(i.DueChanges), api.MilestoneChange{At: string(s.today()), By: by.Actor.Name, DueDate: to})
	}
}

func sameMilestone(a, b api.Milestone) bool { return a.Title == b.Title && a.DueDate == b.DueDate }

// milestones are an item's new ones: those that were approved have to be among them, with
// the date they had, and a change that is new is by whoever makes it, today where no day is named.
func (s *Service) milestones(by api.Caller, was []api.Milestone, approved *api.POAMItem, given []api.Milestone) ([]api.Milestone, error) {
	if approved != nil {
		for _, m := range approved.Milestones {
			at := slices.IndexFunc(given, func(g api.Milestone) bool { return sameMilestone(g, m) })
			if at < 0 {
				return nil, api.Invalid("milestones", "%q was approved for %s and stays so; add the new date to its changes, or set it to cancelled", m.Title, m.DueDate)
			}
			if n := len(m.Changes); len(given[at].Changes) < n || !slices.Equal(given[at].Changes[:n], m.Changes) {
				return nil, api.Invalid("milestones.changes", "the changes of %q that were approved stay; add the new one after them", m.Title)
			}
		}
	}
	out := slices.Clone(given)
	for i := range out {
		m := &out[i]
		if err := checkDate("milestones.due_date", &m.DueDate); err != nil {
			return nil, err
		}
		if strings.TrimSpace(m.Title) == "" {
			return nil, api.Invalid("milestones.title", "say what is done by %s", m.DueDate)
		}
		m.Changes = slices.Clone(m.Changes)
		for j := range m.Changes {
			if err := s.sign(by, was, &m.Changes[j]); err != nil {
				return nil, err
			}
			if j > 0 && m.Changes[j].At < m.Changes[j-1].At {
				return nil, api.Invalid("milestones.changes.at", "%s is before the change that stands before it, of %s", m.Changes[j].At, m.Changes[j-1].At)
			}
		}
	}
	return out, nil
}

// sign names who makes a change that the item did not have.
func (s *Service) sign(by api.Caller, was []api.Milestone, c *api.MilestoneChange) error {
	if slices.ContainsFunc(was, func(m api.Milestone) bool { return slices.Contains(m.Changes, *c) }) {
		return nil
	}
	if err := checkDate("milestones.changes.due_date", &c.DueDate); err != nil {
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
		return api.Invalid("milestones.changes.at", "%s is yet to come; name the day on which it was decided, or none", at)
	}
	c.At, c.By = string(at), by.Actor.Name
	return nil
}
