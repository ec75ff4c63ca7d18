package mail

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/store"
)

const (
	outboxConsumer = "mail" // of the outbox
	eventBatch     = 200
	skipBatch      = 32 // events without mails skipped together
	// maxEventAge is the age beyond which an event no longer causes an email, so that setting up a mail
	// server doesn't send emails about the past.
	maxEventAge = 24 * time.Hour
)

// queueFromEvents queues the emails for the oldest unprocessed events. hasMore reports whether
// unprocessed events remain.
func (s *Service) queueFromEvents(ctx context.Context) (hasMore bool, err error) {
	waiting, wanted := 0, false
	if err := s.DB.View(ctx, func(tx *store.Tx) error {
		events, err := store.Outbox.Next(tx, outboxConsumer, eventBatch)
		waiting, wanted = len(events), slices.ContainsFunc(events, func(e store.Event) bool { return isMailedEvent(&e) })
		return err
	}); err != nil || waiting == 0 || !wanted && waiting < skipBatch {
		return false, err
	}
	err = s.DB.Update(ctx, func(tx *store.Tx) error {
		events, err := store.Outbox.Next(tx, outboxConsumer, eventBatch)
		if err != nil || len(events) == 0 {
			return err
		}
		hasMore = len(events) == eventBatch
		for _, e := range events {
			if err := s.queueFromEvent(tx, &e); err != nil {
				return err
			}
		}
		return store.Outbox.Ack(tx, outboxConsumer, events[len(events)-1].Sequence)
	})
	return hasMore, err
}

// isMailedEvent reports whether users are notified of an event of this type by email.
func isMailedEvent(e *store.Event) bool {
	return e.Topic == "approval.requested" || e.Topic == "approval.decided" || e.Topic == "comment.added"
}

// queueFromEvent queues the emails for an event. An email that cannot be composed is logged and
// skipped, so that it does not block the following ones.
func (s *Service) queueFromEvent(tx *store.Tx, e *store.Event) error {
	if tx.Now().Sub(e.Time) > maxEventAge || !isMailedEvent(e) {
		return nil
	}
	var about struct {
		Data struct {
			ApprovalID string `json:"approval_id"`
			CommentID  string `json:"comment_id"`
		} `json:"data"`
	}
	if err := json.Unmarshal(e.Payload, &about); err != nil {
		return fmt.Errorf("event %d in the outbox: %w", e.Sequence, err)
	}
	var err error
	if e.Topic == "comment.added" {
		err = s.notifyMentioned(tx, e.OrganizationID, about.Data.CommentID)
	} else {
		err = s.notifyOfApproval(tx, e, about.Data.ApprovalID)
	}
	if errors.Is(err, store.ErrNotFound) { // the subject of the event was deleted in the meantime
		return nil
	}
	if api.AsError(err).Code != api.CodeInternal && err != nil {
		s.Logger.Warn("an email could not be composed", "event", e.Topic, "organization", e.OrganizationID, "error", err)
		return nil
	}
	return err
}

// notifyOfApproval notifies the deciders of a new approval request, or notifies the requester that a decision was made.
func (s *Service) notifyOfApproval(tx *store.Tx, e *store.Event, id string) error {
	p, err := store.Approvals.Get(tx, e.OrganizationID, id)
	if err != nil {
		return err
	}
	a, err := store.Assessments.Get(tx, e.OrganizationID, p.AssessmentID)
	if err != nil {
		return err
	}
	if e.Topic == "approval.requested" {
		return s.notifyDeciders(tx, &p, &a)
	}
	return s.notifyRequester(tx, &p, &a)
}

// notifyMentioned sends a comment to the members whose email addresses it mentions, except to its author.
func (s *Service) notifyMentioned(tx *store.Tx, org, id string) error {
	c, err := store.Comments.Get(tx, org, id)
	if err != nil || !strings.Contains(c.Text, "@") {
		return err
	}
	a, err := store.Assessments.Get(tx, org, c.AssessmentID)
	if err != nil {
		return err
	}
	people, err := s.activeMembersWithRole(tx, org, func(api.Role) bool { return true })
	if err != nil {
		return err
	}
	place, page := "the "+c.Gate.Title(), "/assessments/"+a.ID+"/"+pageNames[c.Gate]
	if c.Item != nil {
		place, page = *c.Item+" in "+place, page+"?q="+url.QueryEscape(*c.Item)
	}
	values := map[string]any{
		assessment.name: prose.Truncate(a.Name, maxValue), "author": prose.Truncate(c.Author.Name, maxValue), "place": place,
		"text": prose.Truncate(c.Text, maxValue/2), // escaping may lengthen it
	}
	if to := s.publicLink(page); to != "" {
		values[link.name] = to
	}
	for _, u := range people {
		if u.ID == c.Author.ID || !c.Mentions(u.Email) {
			continue
		}
		m := Mail{TemplateID: mentionTemplate.id, Values: values, DedupKey: "mention/" + c.ID + "/" + u.ID}
		if err := s.queueIfWanted(tx, org, u, m, func(p api.EmailPreferences) bool { return p.Mentions }); err != nil {
			return err
		}
	}
	return nil
}

// pageNames are the deliverables' names in the URLs of the web pages.
var pageNames = map[api.Gate]string{api.GateSoA: "soa", api.GateGapAnalysis: "gap", api.GateMaturity: "maturity", api.GatePOAM: "poam"}

func wantsApprovals(p api.EmailPreferences) bool { return p.Approvals }

func (s *Service) approvalValues(p *api.Approval, a *api.Assessment) map[string]any {
	values := map[string]any{
		assessment.name: prose.Truncate(a.Name, maxValue), deliverable.name: p.Gate.Title(), version.name: fmt.Sprint(p.VersionNumber),
		command.name: "service approval show " + p.ID,
	}
	if to := s.publicLink("/approval#" + p.ID); to != "" {
		values[link.name] = to
		values[command.name] = "service --server " + s.PublicURL + " approval show " + p.ID
	}
	return values
}

// notifyDeciders sends the approval request to everyone who may decide, except the person who requested
// it.
func (s *Service) notifyDeciders(tx *store.Tx, p *api.Approval, a *api.Assessment) error {
	if p.Status != api.ApprovalPending {
		return nil
	}
	people, err := s.activeMembersWithRole(tx, p.OrganizationID, func(r api.Role) bool { return r.May(api.ApprovalDecide) })
	if err != nil {
		return err
	}
	if s.Delegates != nil {
		delegates, err := s.Delegates(tx, p)
		if err != nil {
			return err
		}
		for _, d := range delegates {
			u, err := store.Users.Get(tx, d.UserID)
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(people, func(o api.User) bool { return o.ID == u.ID }) {
				people = append(people, u)
			}
		}
	}
	values := s.approvalValues(p, a)
	values["requested_by"] = p.RequestedBy.Name
	for _, u := range people {
		if u.ID == p.RequestedByUserID {
			continue
		}
		m := Mail{TemplateID: "approval_request", Values: values, DedupKey: "request/" + p.ID + "/" + u.ID}
		if err := s.queueIfWanted(tx, p.OrganizationID, u, m, wantsApprovals); err != nil {
			return err
		}
	}
	return nil
}

// notifyRequester tells the person who requested an approval what was decided, unless they made the decision
// themselves.
func (s *Service) notifyRequester(tx *store.Tx, p *api.Approval, a *api.Assessment) error {
	if p.DecidedBy == nil || p.RequestedByUserID == "" || p.DecidedBy.ID == p.RequestedByUserID {
		return nil
	}
	m, err := store.Memberships.Get(tx, p.RequestedByUserID, p.OrganizationID)
	if errors.Is(err, store.ErrNotFound) || err == nil && m.Status != statusActive {
		return nil
	}
	if err != nil {
		return err
	}
	u, err := store.Users.Get(tx, p.RequestedByUserID)
	if err != nil {
		return err
	}
	values := s.approvalValues(p, a)
	values["verdict"], values["decided_by"] = string(p.Status), p.Decider()
	if p.Reason != nil {
		values["reason"] = prose.Truncate(*p.Reason, maxValue)
	}
	decided := Mail{TemplateID: "approval_decided", Values: values, DedupKey: "decided/" + p.ID}
	return s.queueIfWanted(tx, p.OrganizationID, u, decided, wantsApprovals)
}

// queueIfWanted queues an email to a user, if the user has an address and wants to receive emails of this kind.
func (s *Service) queueIfWanted(tx *store.Tx, org string, u api.User, m Mail, wants func(api.EmailPreferences) bool) error {
	preferences, err := loadPreferences(tx, u.ID)
	if err != nil || u.Status != statusActive || !wants(preferences) {
		return err
	}
	if _, err := parseAddress(u.Email); err != nil {
		return nil // the local user may have no address
	}
	m.To = []string{u.Email}
	_, err = s.Queue(tx, org, m)
	return err
}

const statusActive = "active"

// activeMembersWithRole returns the organization's members whose roles match.
func (s *Service) activeMembersWithRole(tx *store.Tx, org string, matches func(api.Role) bool) (out []api.User, err error) {
	for m, err := range store.Memberships.By("organization").Scan(tx, store.Prefix(org)) {
		if err != nil {
			return nil, err
		}
		if m.Status != statusActive || !matches(m.Role) {
			continue
		}
		u, err := store.Users.Get(tx, m.UserID)
		if err != nil {
			return nil, err
		}
		if u.Status == statusActive {
			out = append(out, u)
		}
	}
	return out, nil
}

// QueueInvitation queues an invitation email in the transaction that creates the invitation. It returns
// false if no email will be sent.
func (s *Service) QueueInvitation(
	tx *store.Tx, by api.Caller, email string, role api.Role, path string, expires time.Time,
) (queued bool, _ error) {
	if _, err := parseAddress(email); err != nil {
		return false, nil
	}
	values := map[string]any{"role": string(role), "inviter": prose.Truncate(by.Actor.Name, maxValue), "expires": formatTime(expires)}
	if to := s.publicLink(path); to != "" {
		values[link.name] = to
	}
	return s.Queue(tx, by.OrganizationID, Mail{To: []string{email}, TemplateID: "member_invite", Values: values})
}

// QueueAlert queues an email saying that an alert rule is firing or has been resolved. If to is empty, the
// email goes to the owners and admins.
func (s *Service) QueueAlert(tx *store.Tx, org string, to []string, title, detail string) error {
	if len(to) == 0 {
		people, err := s.activeMembersWithRole(tx, org, func(r api.Role) bool { return r.May("alert:write") })
		if err != nil {
			return err
		}
		for _, u := range people {
			if _, err := parseAddress(u.Email); err == nil {
				to = append(to, u.Email)
			}
		}
	}
	_, err := s.Queue(
		tx,
		org,
		Mail{
			To:         to,
			TemplateID: "security_alert",
			Values: map[string]any{
				"title":  prose.Truncate(title, maxValue),
				"detail": prose.Truncate(detail, maxValue),
				"time":   formatTime(tx.Now()),
			},
		},
	)
	return err
}

// CheckAddress returns an error if text is not an email address.
func CheckAddress(text string) error {
	_, err := parseAddress(text)
	return err
}
