package mail

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/internal/tracing"
	"github.com/scf-service/service/store"
)

const (
	maxQueued   = 10_000 // mails per organization
	maxPerRound = 20     // mails per organization in a round
	retention   = 30 * 24 * time.Hour
	// maxSenders is the maximum number of organizations' own mail servers that are used concurrently.
	maxSenders = 256
	// deleteInterval is the time between two deletions of old emails.
	deleteInterval = time.Hour
)

// retryDelays are the times between attempts to send an email, about a day in total.
var retryDelays = []time.Duration{
	time.Minute,
	5 * time.Minute,
	15 * time.Minute,
	time.Hour,
	2 * time.Hour,
	4 * time.Hour,
	8 * time.Hour,
	8 * time.Hour,
}

// Mail is an email whose content will be rendered from a template.
type Mail struct {
	To         []string
	TemplateID string
	Values     map[string]any
	// DedupKey identifies the occasion for the email, so that only one email is sent for it.
	DedupKey string
	// UnsubscribeUserID is the user who can unsubscribe from emails of this kind.
	UnsubscribeUserID string
}

// Queue queues an email in the same transaction as the change that the email is about. It returns false if there is no
// mail server or the email was already queued.
func (s *Service) Queue(tx *store.Tx, org string, m Mail) (queued bool, _ error) {
	if len(m.To) == 0 {
		return false, nil
	}
	if can, err := s.hasServerFor(tx, org); err != nil || !can {
		return false, err
	}
	if m.DedupKey != "" {
		if _, err := store.Emails.By("once").Get(tx, org, m.DedupKey); !errors.Is(err, store.ErrNotFound) {
			return false, err
		}
	}
	k, isFixed := fixedTemplates[m.TemplateID]
	if !isFixed {
		var err error
		if k, err = findTemplateType(m.TemplateID); err != nil {
			return false, err
		}
	}
	l, err := s.renderTemplate(tx, org, k, m.Values)
	if err != nil {
		return false, err
	}
	_, err = s.enqueue(tx, org, m, l)
	return err == nil, err
}

// renderTemplate renders a template with the organization's text.
func (s *Service) renderTemplate(tx *store.Tx, org string, k templateType, given map[string]any) (*mailContent, error) {
	values, err := k.resolveValues(given, false)
	if err != nil {
		return nil, err
	}
	if values[organization.name] == "" {
		o, err := store.Organizations.Get(tx, org)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
		values[organization.name] = o.Name
	}
	w, err := s.loadTemplateText(tx, org, k)
	if err != nil {
		return nil, err
	}
	c, err := k.compile(w.templateText)
	if err != nil {
		return nil, err
	}
	return c.render(values)
}

// enqueue adds an email to the queue, with encrypted content. It returns an error if too many are waiting.
func (s *Service) enqueue(tx *store.Tx, org string, m Mail, l *mailContent) (*store.Email, error) {
	waiting, err := store.Emails.By("queued").Count(tx, org)
	if err != nil {
		return nil, err
	}
	if waiting >= maxQueued {
		return nil, api.Conflict(
			"%d emails of the organization are waiting to be sent; try again later, "+
				"or see the mail server's errors with `service email list --status queued`",
			waiting,
		)
	}
	b, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	sealed, err := s.Seal(string(b))
	if err != nil {
		return nil, err
	}
	now := tx.Now()
	e := &store.Email{Sealed: sealed, DedupKey: m.DedupKey, UnsubscribeUserID: m.UnsubscribeUserID, Email: api.Email{
		TenantRecord: api.TenantRecord{Record: api.Record{ID: tx.NewID(), CreatedAt: now, UpdatedAt: now}, OrganizationID: org},
		To:           m.To, Subject: l.Subject, Status: api.EmailQueued, NextAttemptAt: &now,
	}}
	if m.TemplateID != "" {
		e.TemplateID = &m.TemplateID
	}
	for _, to := range m.To {
		e.Recipients = append(e.Recipients, api.EmailRecipient{Address: to, Status: api.EmailQueued})
	}
	return e, store.Emails.Insert(tx, org, e)
}

// sendDue sends the emails that are due. Emails that go through organizations' own servers are sent concurrently. Those
// that go through the operator's server are sent one after the other, with organizations taking turns. It also deletes
// old emails.
func (s *Service) sendDue(ctx context.Context) error {
	now := s.Clock()
	due, err := s.dueEmails(ctx, now)
	if err != nil {
		return err
	}
	if !now.Before(s.nextDelete) {
		if err := s.deleteOld(ctx, now); err != nil {
			return err
		}
		s.nextDelete = now.Add(deleteInterval)
	}
	var orgs []string // those that use the operator's server
	for _, org := range slices.Sorted(maps.Keys(due)) {
		if !due[org].hasServer {
			orgs = append(orgs, org)
			continue
		}
		s.orgSenders.TryStart(org, func() {
			if err := s.deliverAll(ctx, due[org].emails, now); err != nil && ctx.Err() == nil {
				s.Logger.Warn("sending an organization's emails failed", "organization", org, "error", err)
			}
		})
	}
	for n := range maxPerRound {
		for _, org := range orgs {
			if n < len(due[org].emails) {
				if err := s.deliverAndRecord(ctx, &due[org].emails[n]); err != nil {
					return err
				}
			}
		}
	}
	return ctx.Err()
}

// orgEmails are the emails of an organization that are due.
type orgEmails struct {
	emails    []store.Email
	hasServer bool // the organization has its own mail server
}

// dueEmails returns the emails that are due, grouped by organization, up to the maximum for one round.
func (s *Service) dueEmails(ctx context.Context, now time.Time) (due map[string]*orgEmails, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		due = map[string]*orgEmails{}
		organization := func(e *store.Email) []any { return []any{e.OrganizationID} }
		return store.ScanGroups(tx, store.Emails.AcrossTenants().By("queued"), organization, func(e *store.Email) (more bool, err error) {
			if e.NextAttemptAt.After(now) {
				return false, nil
			}
			of := due[e.OrganizationID]
			if of == nil {
				of = &orgEmails{}
				if s.OrgServers != nil {
					if of.hasServer, err = s.OrgServers.HasServer(tx, e.OrganizationID); err != nil {
						return false, err
					}
				}
				due[e.OrganizationID] = of
			}
			of.emails = append(of.emails, *e)
			return len(of.emails) < maxPerRound, nil
		})
	})
	return due, err
}

// deliverAll delivers those of the emails that are still due. Some may have been sent since the list was read.
func (s *Service) deliverAll(ctx context.Context, due []store.Email, now time.Time) error {
	for _, e := range due {
		err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
			e, err = store.Emails.Get(tx, e.OrganizationID, e.ID)
			return err
		})
		if errors.Is(err, store.ErrNotFound) || err == nil && (e.NextAttemptAt == nil || e.NextAttemptAt.After(now)) {
			continue
		}
		if err == nil {
			err = s.deliverAndRecord(ctx, &e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// deleteOld deletes emails older than the retention period that will not be sent again. Each call deletes only a
// limited number of them.
func (s *Service) deleteOld(ctx context.Context, now time.Time) error {
	return s.DB.Update(ctx, func(tx *store.Tx) error {
		for o, err := range store.Organizations.Scan(tx) {
			if err != nil {
				return err
			}
			n := 0
			for e, err := range store.Emails.Scan(tx, o.ID) {
				if err != nil {
					return err
				}
				if n++; n > 500 || e.NextAttemptAt != nil || now.Sub(e.CreatedAt) <= retention {
					break
				}
				if err := store.Emails.Delete(tx, o.ID, e.ID); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// deliverAndRecord sends an email to the recipients who haven't received it yet and records the results. It returns
// only internal errors, not those of the mail server.
func (s *Service) deliverAndRecord(ctx context.Context, e *store.Email) (err error) {
	messages, index, err := s.decryptPendingMessages(e)
	if err != nil {
		s.Logger.Warn("an email cannot be decrypted", "email", e.ID, "error", err)
		return s.recordOutcomes(ctx, e, index, nil, err, true)
	}
	ctx, span := s.Tracer.Start(
		ctx,
		"send mail",
		tracing.StartOptions{
			Kind:  tracing.Client,
			Attrs: []tracing.Attr{{Key: "service.email_id", Value: e.ID}, {Key: "service.recipients", Value: len(index)}},
		},
	)
	defer func() { span.End(err) }()
	var outcomes []sendOutcome
	by, theirs, failed := s.routeFor(ctx, e.OrganizationID)
	if failed == nil {
		outcomes, failed = s.send(ctx, by, messages)
	}
	if ctx.Err() != nil {
		return ctx.Err() // aborted: sent again later with the same Message-ID
	}
	if failed != nil {
		span.Fail("unreachable")
	}
	if err := s.recordServerStatus(ctx, e.OrganizationID, by, theirs, failed); err != nil {
		return err
	}
	return s.recordOutcomes(ctx, e, index, outcomes, failed, false)
}

// recordServerStatus records whether a mail server works. For an organization's server, the result is
// recorded with its integration; for the operator's, in the health check and the log.
func (s *Service) recordServerStatus(ctx context.Context, org string, route *Route, isOrgServer bool, failed error) error {
	switch {
	case isOrgServer && route != nil:
		return s.OrgServers.RecordResult(ctx, route, org, failed)
	case isOrgServer || route == nil:
		return nil // recorded with the email
	}
	s.lastServerError.Store(nil)
	if failed != nil {
		message := failed.Error()
		s.lastServerError.Store(&message)
		s.Logger.Warn("the mail server can't be reached", "server", route.Server.String(), "error", failed)
	}
	return nil
}

// decryptPendingMessages decrypts the messages that are still to be sent and returns them, together with the index of
// each message's recipient in the email.
func (s *Service) decryptPendingMessages(e *store.Email) (out []message, index []int, err error) {
	for i, r := range e.Recipients {
		if r.Status == api.EmailQueued {
			index = append(index, i)
		}
	}
	text, err := s.Open(e.Sealed)
	if err != nil {
		return nil, index, fmt.Errorf(
			"the content was encrypted with another key (SERVICE_SECRET_KEY, or secret.key in the data folder): %w",
			err,
		)
	}
	var l mailContent
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return nil, index, err
	}
	unsubscribe := ""
	if e.UnsubscribeUserID != "" {
		if unsubscribe, err = s.unsubscribeLink(e.UnsubscribeUserID); err != nil {
			return nil, index, err
		}
	}
	for _, i := range index {
		out = append(
			out,
			message{id: fmt.Sprintf("%s.%d", e.ID, i), to: e.Recipients[i].Address, at: e.CreatedAt, letter: l, unsubscribe: unsubscribe},
		)
	}
	return out, index, nil
}

// recordOutcomes stores the results of an attempt and schedules the next one.
func (s *Service) recordOutcomes(
	ctx context.Context,
	sent *store.Email,
	index []int,
	outcomes []sendOutcome,
	failed error,
	permanent bool,
) error {
	return s.DB.Update(ctx, func(tx *store.Tx) error {
		e, err := store.Emails.Get(tx, sent.OrganizationID, sent.ID)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		e.Attempts++
		e.UpdatedAt = tx.Now()
		last := e.Attempts > len(retryDelays)
		for n, i := range index {
			r := &e.Recipients[i]
			o := sendOutcome{err: failed, permanent: permanent}
			if failed == nil {
				o = outcomes[n]
			}
			r.Error = nil
			if o.err != nil {
				message := o.err.Error()
				r.Error = &message
			}
			switch {
			case o.err == nil:
				r.Status = api.EmailSent
			case o.bounced:
				r.Status = api.EmailBounced
			case o.permanent || last:
				r.Status = api.EmailFailed
			}
		}
		return s.updateStatusAndRetryTime(tx, &e)
	})
}

// updateStatusAndRetryTime sets an email's status and next attempt time based on its recipients' statuses.
func (s *Service) updateStatusAndRetryTime(tx *store.Tx, e *store.Email) error {
	count := map[string]int{}
	e.Error = nil
	for _, r := range e.Recipients {
		count[r.Status]++
		if r.Error != nil && e.Error == nil {
			message := r.Address + ": " + *r.Error
			e.Error = &message
		}
	}
	switch {
	case count[api.EmailQueued] > 0:
		next := tx.Now().Add(retryDelay(e.ID, e.Attempts))
		e.NextAttemptAt = &next
		return store.Emails.Update(tx, e.OrganizationID, e)
	case count[api.EmailBounced] > 0:
		e.Status = api.EmailBounced
	case count[api.EmailFailed] > 0:
		e.Status = api.EmailFailed
	default:
		e.Status = api.EmailSent
	}
	if count[api.EmailSent] > 0 {
		at := tx.Now()
		e.SentAt = &at
	}
	e.NextAttemptAt, e.Sealed = nil, nil
	if err := store.Emails.Update(tx, e.OrganizationID, e); err != nil || e.Status == api.EmailSent {
		return err
	}
	by := api.Caller{OrganizationID: e.OrganizationID, Actor: api.Actor{Type: api.ActorWorkflow, Name: "mail"}}
	return audit.Append(tx, by, audit.Entry{
		Action: "email." + e.Status, ResourceType: "email", ResourceID: e.ID, Outcome: audit.Failure,
		Changes: map[string]any{"recipients": len(e.Recipients), "sent": count[api.EmailSent]},
	})
}

// retryDelay returns the delay after the given number of attempts. It varies by up to 10% between
// emails, but is always the same for the same email and number of attempts.
func retryDelay(id string, attempts int) time.Duration {
	d := retryDelays[min(attempts, len(retryDelays))-1]
	h := fnv.New32a()
	_, _ = fmt.Fprint(h, id, attempts)
	return d + time.Duration(float64(d)*0.2*(float64(h.Sum32())/(1<<32)-0.5))
}

// QueueStats describes the queue across all organizations.
type QueueStats struct {
	Queued int
	// LastServerError is the mail server's most recent error, or "".
	LastServerError string
}

// Stats returns the state of the queue.
func (s *Service) Stats(ctx context.Context) (l QueueStats, err error) {
	if t := s.lastServerError.Load(); t != nil {
		l.LastServerError = *t
	}
	err = s.DB.View(ctx, func(tx *store.Tx) (err error) {
		l.Queued, err = store.Emails.AcrossTenants().By("queued").Count(tx)
		return err
	})
	return l, err
}
