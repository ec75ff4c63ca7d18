package integration

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/internal/tracing"
	"github.com/scf-service/service/store"
)

const (
	pollInterval = 10 * time.Second
	// createGracePeriod is how long to look for an issue if the request to create it got no response.
	createGracePeriod = 2 * time.Minute
	pullOverlap       = 10 * time.Minute // overlap of consecutive pulls
	maxCreatesPerRun  = 200              // issues created in one run
	maxLinks          = 5000             // per integration
	maxDelay          = time.Hour
	syncTimeout       = 10 * time.Minute
)

// Start syncs plans and issues periodically until Close is called.
func (s *Service) Start(ctx context.Context) {
	ctx, s.stop = context.WithCancel(ctx)
	ticks, stopTicks := s.NewTicker(pollInterval)
	s.working.Go(func() {
		defer stopTicks()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticks:
			}
			if !s.DB.IsLeader() {
				continue // another process syncs
			}
			if err := s.startDueSyncs(ctx); err != nil && ctx.Err() == nil {
				s.Logger.Warn("plans and their issues could not be synced", "error", err)
			}
		}
	})
}

// Close cancels running syncs; they are resumed after the next start.
func (s *Service) Close() {
	if s.stop != nil {
		s.stop()
	}
	s.working.Wait()
	s.syncs.Wait()
	s.client.CloseIdleConnections()
}

// SyncDue syncs all integrations whose next sync is due, and waits until they have finished.
func (s *Service) SyncDue(ctx context.Context) error {
	err := s.startDueSyncs(ctx)
	s.syncs.Wait()
	return errors.Join(err, ctx.Err())
}

// startDueSyncs starts syncs of the integrations that are due. The syncs of one organization run
// one after the other, and organizations don't wait for each other, so that a slow issue tracker
// delays only its own organization.
func (s *Service) startDueSyncs(ctx context.Context) error {
	due := map[string][]store.Integration{}
	err := s.DB.View(ctx, func(tx *store.Tx) error {
		clear(due)
		organization := func(r *store.Integration) []any { return []any{r.OrganizationID} }
		return store.ScanGroups(tx, store.Integrations.AcrossTenants().By("sync"), organization, func(r *store.Integration) (bool, error) {
			if r.NextSyncAt.After(s.Clock()) {
				return false, nil
			}
			due[r.OrganizationID] = append(due[r.OrganizationID], *r)
			return true, nil
		})
	})
	if err != nil {
		return err
	}
	for _, org := range slices.Sorted(maps.Keys(due)) {
		s.syncs.TryStart(org, func() {
			for _, r := range due[org] {
				if ctx.Err() == nil {
					s.syncAndLog(ctx, &r)
				}
			}
		})
	}
	return nil
}

func (s *Service) syncAndLog(ctx context.Context, r *store.Integration) {
	ctx, span := s.Tracer.Start(
		ctx,
		"sync plan and issues",
		tracing.StartOptions{Kind: tracing.Internal, Attrs: []tracing.Attr{{Key: "service.integration", Value: r.Type}}},
	)
	_, err := s.syncIntegration(ctx, r.OrganizationID, r.ID)
	span.End(err)
	if err != nil && ctx.Err() == nil {
		s.Logger.Warn("a plan and its issues could not be synced", "integration", r.ID, "error", err)
	}
}

// lockSync waits until no other sync of the integration is running, and blocks others until release is
// called.
func (s *Service) lockSync(id string) (release func()) {
	s.mu.Lock()
	one := s.syncLocks[id]
	if one == nil {
		one = &sync.Mutex{}
		s.syncLocks[id] = one
	}
	s.mu.Unlock()
	one.Lock()
	return one.Unlock
}

// scheduleSyncUnlessFailing makes an integration's next sync due now, because its plan has changed.
// If the last sync failed, it does nothing, so that the retry delay is kept.
func (s *Service) scheduleSyncUnlessFailing(ctx context.Context, r *store.Integration) error {
	return s.DB.Update(ctx, func(tx *store.Tx) error {
		now, err := store.Integrations.Get(tx, r.OrganizationID, r.ID)
		if err != nil {
			return err
		}
		at := tx.Now()
		if now.LastStatus != nil && *now.LastStatus != "ok" || now.NextSyncAt != nil && now.NextSyncAt.Before(at) {
			return nil // backing off, or due anyway
		}
		now.NextSyncAt = &at
		return store.Integrations.Update(tx, r.OrganizationID, &now)
	})
}

// Sync syncs the plans with the issues of an integration now.
func (s *Service) Sync(ctx context.Context, by api.Caller, in *api.IntegrationInput) (*api.IntegrationSync, error) {
	r, err := s.loadIntegration(ctx, by.OrganizationID, in.IntegrationID)
	if err != nil {
		return nil, err
	}
	switch t, err := findIntegrationType(r.Type); {
	case err != nil:
		return nil, err
	case !t.Tracks:
		return nil, api.Invalid("integrationId", "an integration of type %s has no issues to sync; it only receives events", r.Type)
	case !r.Enabled:
		return nil, api.Conflict("the integration %q is paused; enable it first", r.Name)
	}
	out, err := s.syncIntegration(ctx, by.OrganizationID, r.ID)
	if err != nil {
		var known *api.Error
		if errors.As(err, &known) || ctx.Err() != nil {
			return nil, err
		}
		return nil, api.Conflict("the plan and its issues could not be synced: %s", err)
	}
	return out, nil
}

// syncIntegration syncs the plans with the issues of an integration. It records the result and when to
// sync next.
func (s *Service) syncIntegration(ctx context.Context, org, id string) (*api.IntegrationSync, error) {
	defer s.lockSync(id)()
	r, err := s.loadIntegration(ctx, org, id)
	if err != nil {
		return nil, err
	}
	began := s.Clock().UTC()
	set, err := s.loadSettings(&r)
	c := &syncRun{Service: s, r: &r, set: set, out: &api.IntegrationSync{}}
	if err == nil {
		working, cancel := context.WithTimeout(ctx, syncTimeout)
		defer cancel()
		err = c.run(working)
		if ctx.Err() != nil {
			return nil, ctx.Err() // aborted; it stays due
		}
	}
	pause, limited := rateLimitDelay(err)
	noted := s.DB.Update(ctx, func(tx *store.Tx) error {
		now, err2 := store.Integrations.Get(tx, org, id)
		if err2 != nil {
			return ignoreNotFound(err2)
		}
		next := tx.Now().Add(time.Duration(max(1, intSetting(set, "sync_minutes"))) * time.Minute)
		switch {
		case limited:
			next = tx.Now().Add(min(max(pause, time.Minute), maxDelay))
			c.out.WaitsUntil = &next
		case err != nil:
			now.SyncFailures++
			next = tx.Now().Add(min(time.Minute<<min(now.SyncFailures, 6), maxDelay))
		default:
			now.SyncFailures = 0
			now.SyncedAt, now.PulledAt = &began, &began
		}
		now.NextSyncAt = &next
		message := ""
		if err != nil {
			message = err.Error()
		}
		setLastStatus(&now, began, err == nil, message)
		return store.Integrations.Update(tx, org, &now)
	})
	if limited {
		err = nil // the rest follows later
	}
	return c.out, errors.Join(err, noted)
}

func intSetting(set *settings, name string) int {
	if set == nil {
		return 0
	}
	return set.number(name)
}

// syncRun is one sync of all links of an integration.
type syncRun struct {
	*Service
	r       *store.Integration
	set     *settings
	tracker tracker
	out     *api.IntegrationSync
}

// run stores new links, pulls changes and syncs every item. An item's failure is stored with its link and doesn't end
// the run, unless it is a rate limit.
func (c *syncRun) run(ctx context.Context) error {
	var err error
	if c.tracker, err = c.newTracker(c.set); err != nil {
		return err
	}
	items, err := c.loadFollowedPlanItems(ctx, c.set, c.r.OrganizationID)
	if err != nil {
		return err
	}
	links, err := c.loadLinks(ctx)
	if err != nil {
		return err
	}
	of, without := matchLinks(links, items)
	fresh, err := c.storeNewLinks(ctx, without, len(links))
	if err != nil {
		return err
	}
	for n := range fresh {
		of[fresh[n].link.ID] = fresh[n].item
		links = append(links, fresh[n].link)
	}
	if err := c.pullChanges(ctx, links); err != nil {
		return err
	}
	created := 0
	for n := range links {
		l := &links[n]
		if l.IssueID == "" {
			if created == maxCreatesPerRun {
				continue
			}
			created++
		}
		if err := c.syncItem(ctx, l, of[l.ID]); err != nil {
			if _, limited := rateLimitDelay(err); limited || ctx.Err() != nil {
				return err
			}
			c.out.Failed++
			if err := c.saveLink(ctx, l, "failed", err.Error()); err != nil {
				return err
			}
		}
		if l.Status == "conflict" {
			c.out.Conflicts++
		}
	}
	c.out.Links = len(links)
	return nil
}

func listLinks(tx *store.Tx, org, integration string) (out []store.IssueLink, err error) {
	for l, err := range store.IssueLinks.By("integration").Scan(tx, org, store.Prefix(integration)) {
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}

func (c *syncRun) loadLinks(ctx context.Context) (out []store.IssueLink, err error) {
	err = c.DB.View(ctx, func(tx *store.Tx) (err error) {
		out, err = listLinks(tx, c.r.OrganizationID, c.r.ID)
		return err
	})
	return out, err
}

// newLink is a stored link whose issue is about to be created, together with the plan item.
type newLink struct {
	link store.IssueLink
	item *planItem
}

// storeNewLinks stores a link for each item that has none. The link is stored before the issue is
// created, so that an issue created right before a crash can be found again by its marker.
func (c *syncRun) storeNewLinks(ctx context.Context, items []*planItem, have int) (out []newLink, err error) {
	err = c.DB.Update(ctx, func(tx *store.Tx) error {
		out = nil
		if _, err := getIntegration(tx, c.r.OrganizationID, c.r.ID); err != nil {
			return err // deleted in the meantime
		}
		for _, i := range items {
			if i.issueSide().Closed || len(out) == maxCreatesPerRun {
				continue
			}
			if have+len(out) >= maxLinks {
				return api.Conflict(
					"an integration can link up to %d items; create another integration and assign some of the assessments to it",
					maxLinks,
				)
			}
			l := store.IssueLink{Weakness: i.Weakness, IssueLink: api.IssueLink{
				TenantRecord: api.TenantRecord{
					Record:         api.Record{ID: tx.NewID(), CreatedAt: tx.Now(), UpdatedAt: tx.Now()},
					OrganizationID: c.r.OrganizationID,
				},
				IntegrationID: c.r.ID, AssessmentID: i.AssessmentID, ControlCode: i.ControlCode, POAMItemID: i.ID, POAMCode: i.POAMCode,
				Status: "creating", Item: i.issueSide(),
			}}
			if err := store.IssueLinks.Insert(tx, c.r.OrganizationID, &l); err != nil {
				return err
			}
			out = append(out, newLink{l, i})
		}
		return nil
	})
	return out, err
}

// pullChanges fetches the issues that have changed since the last run.
func (c *syncRun) pullChanges(ctx context.Context, links []store.IssueLink) error {
	byIssue := map[string]*store.IssueLink{}
	for n := range links {
		if l := &links[n]; l.IssueID != "" {
			byIssue[l.IssueID] = l
		}
	}
	if len(byIssue) == 0 {
		return nil
	}
	since := c.r.CreatedAt
	if c.r.PulledAt != nil {
		since = c.r.PulledAt.Add(-pullOverlap)
	}
	return c.tracker.forEachOwnChanged(ctx, since, func(i *issue) {
		if l := byIssue[i.id]; l != nil {
			issueSide := i.IssueSide
			l.Issue = &issueSide
		}
	})
}

// syncItem syncs a plan item with its issue.
func (c *syncRun) syncItem(ctx context.Context, l *store.IssueLink, i *planItem) error {
	if i == nil {
		if l.IssueID == "" && l.RequestedAt == nil {
			return c.DB.Update(ctx, func(tx *store.Tx) error { return store.IssueLinks.Delete(tx, l.OrganizationID, l.ID) })
		}
		return c.saveLink(ctx, l, "item_removed", "the item is no longer in the plan; the issue was left unchanged")
	}
	l.Weakness, l.POAMItemID, l.POAMCode, l.Item = i.Weakness, i.ID, i.POAMCode, i.issueSide()
	if l.IssueID == "" {
		return c.createLinkedIssue(ctx, l, i)
	}
	if l.Status == "issue_deleted" {
		return nil
	}
	if l.LastSynced != nil && l.Issue != nil && isSameSide(l.Item, *l.LastSynced) && isSameSide(*l.Issue, *l.LastSynced) {
		return c.saveLink(ctx, l, "linked", "")
	}
	now, err := c.tracker.findIssueByID(ctx, l.IssueID) // get the latest state before changing it
	if err != nil {
		return err
	}
	if now == nil {
		return c.saveLink(ctx, l, "issue_deleted", "the issue was deleted or is no longer accessible; no new issue will be created")
	}
	l.Issue = &now.IssueSide
	return c.mergeSides(ctx, l, i, now)
}

// createLinkedIssue creates the issue of a link. If an earlier attempt has already created it, it finds
// that one.
func (c *syncRun) createLinkedIssue(ctx context.Context, l *store.IssueLink, i *planItem) error {
	if i.issueSide().Closed && l.RequestedAt == nil {
		return c.DB.Update(ctx, func(tx *store.Tx) error { return store.IssueLinks.Delete(tx, l.OrganizationID, l.ID) })
	}
	marker := markerPrefix + l.ID
	if l.RequestedAt != nil {
		if c.Clock().Before(l.RequestedAt.Add(createGracePeriod)) {
			return nil // the tool may not list it yet
		}
		found, err := c.tracker.findByMarker(ctx, marker, l.RequestedAt.Add(-pullOverlap))
		if err != nil {
			return err
		}
		if found != nil {
			return c.recordCreated(ctx, l, found)
		}
	}
	asked := c.Clock().UTC()
	l.RequestedAt = &asked
	if err := c.saveLink(ctx, l, "creating", ""); err != nil {
		return err
	}
	created, err := c.tracker.createIssue(ctx, i.toDraft(marker))
	if err != nil {
		if isRefused(err) {
			l.RequestedAt = nil // nothing was created
			if _, limited := rateLimitDelay(err); limited {
				return errors.Join(c.saveLink(ctx, l, "creating", "will be retried: "+err.Error()), err)
			}
		}
		return err
	}
	c.out.Created++
	return c.recordCreated(ctx, l, created)
}

func (c *syncRun) recordCreated(ctx context.Context, l *store.IssueLink, i *issue) error {
	l.IssueID, l.IssueKey, l.IssueURL, l.RequestedAt = i.id, i.key, i.url, nil
	issueSide := i.IssueSide
	l.Issue = &issueSide
	// The issue was created from agreed values; anything different there now is a change.
	agreed := api.IssueSide{Closed: false, DueDate: l.Item.DueDate}
	if issueSide.DueDate == nil {
		agreed.DueDate = nil // the tool or project has no due dates
	}
	l.LastSynced = &agreed
	return c.saveLink(ctx, l, "linked", "")
}

func isSameDay(a, b *api.Date) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }

func isSameSide(a, b api.IssueSide) bool {
	return a.Closed == b.Closed && isSameDay(a.DueDate, b.DueDate)
}

// mergeSides copies each change that was made on only one side to the other. Changes made on both sides
// are left alone and reported as a conflict.
func (c *syncRun) mergeSides(ctx context.Context, l *store.IssueLink, i *planItem, now *issue) error {
	if l.LastSynced == nil {
		l.LastSynced = &api.IssueSide{Closed: l.Issue.Closed, DueDate: l.Issue.DueDate}
	}
	item, issueSide, agreed := l.Item, *l.Issue, l.LastSynced
	var push issueChange
	var closed *bool
	var due *api.Date
	var clash string
	switch {
	case item.Closed == issueSide.Closed:
		agreed.Closed = item.Closed
	case issueSide.Closed == agreed.Closed:
		push.closed = &item.Closed
	default: // only two values exist, so the item still has the agreed one
		closed = &issueSide.Closed
	}
	switch {
	case isSameDay(item.DueDate, issueSide.DueDate):
		agreed.DueDate = item.DueDate
	case isSameDay(issueSide.DueDate, agreed.DueDate) && item.DueDate != nil:
		push.due = item.DueDate
	case isSameDay(item.DueDate, agreed.DueDate) && issueSide.DueDate != nil:
		due = issueSide.DueDate
	default:
		clash = fmt.Sprintf(
			"the due date changed on both sides: %s in the plan, %s in the issue, previously %s",
			dateOrNone(item.DueDate),
			dateOrNone(issueSide.DueDate),
			dateOrNone(agreed.DueDate),
		)
	}
	// Closing here while the date changed there (or vice versa) is left to users as well.
	if push.closed != nil && due != nil || closed != nil && push.due != nil {
		clash = fmt.Sprintf(
			"both sides changed: the plan item is %s and due %s, and the issue is %s and due %s",
			stateName(item.Closed),
			dateOrNone(item.DueDate),
			stateName(issueSide.Closed),
			dateOrNone(issueSide.DueDate),
		)
		push, closed, due = issueChange{}, nil, nil
	}
	if push.closed != nil || push.due != nil {
		if err := c.tracker.updateIssue(ctx, now, push); err != nil {
			return err
		}
		c.out.Pushed++
		if push.closed != nil {
			issueSide.Closed, agreed.Closed = item.Closed, item.Closed
		}
		if push.due != nil {
			issueSide.DueDate, agreed.DueDate = item.DueDate, item.DueDate
		}
		l.Issue = &issueSide
	}
	if closed != nil || due != nil {
		if i.underReview {
			return c.saveLink(ctx, l, "linked", "the issue changed; the plan will be updated when its review is complete")
		}
		got, applied, err := c.applyIssueChangeToPlan(ctx, c.r, c.set, l, closed, due)
		if err != nil {
			return fmt.Errorf("the issue's change could not be applied to the plan: %w", err)
		}
		if !applied {
			l.Item, l.POAMItemID = got.issueSide(), got.ID
			return c.mergeSides(ctx, l, got, now)
		}
		c.out.Pulled++
		l.Item, l.POAMItemID = got.issueSide(), got.ID
		if closed != nil {
			agreed.Closed = *closed
		}
		if due != nil {
			agreed.DueDate = due
		}
	}
	if clash != "" {
		return c.saveLink(ctx, l, "conflict", clash)
	}
	return c.saveLink(ctx, l, "linked", "")
}

func dateOrNone(d *api.Date) string {
	if d == nil {
		return "none"
	}
	return string(*d)
}

func stateName(closed bool) string {
	if closed {
		return "closed"
	}
	return "open"
}

// saveLink stores the state of a link. When a conflict starts, it publishes an event, but it publishes no further ones
// while the conflict lasts.
func (c *syncRun) saveLink(ctx context.Context, l *store.IssueLink, status, message string) error {
	return c.DB.Update(ctx, func(tx *store.Tx) error {
		before, err := store.IssueLinks.Get(tx, l.OrganizationID, l.ID)
		if err != nil {
			return ignoreNotFound(err) // its assessment was deleted in the meantime
		}
		l.Status, l.Message = status, nil
		if message != "" {
			l.Message = &message
		}
		if equalLinks(&before, l) {
			return nil
		}
		l.UpdatedAt = tx.Now()
		if err := store.IssueLinks.Update(tx, l.OrganizationID, l); err != nil || status != "conflict" || before.Status == "conflict" {
			return err
		}
		return audit.RecordAndPublishEvent(tx, api.Caller{OrganizationID: l.OrganizationID, Actor: integrationActor(c.r)}, audit.Event{
			Type: "sync.conflict", AssessmentID: l.AssessmentID, Summary: fmt.Sprintf("%s and %s: %s", l.POAMCode, l.IssueKey, message),
			ResourceType: "issue_link", ResourceID: l.ID,
			Data: map[string]any{"poam_code": l.POAMCode, "control_code": l.ControlCode, "issue_key": l.IssueKey, "message": message},
		})
	})
}

func equalLinks(a, b *store.IssueLink) bool {
	side := func(a, b *api.IssueSide) bool {
		return a == nil && b == nil || a != nil && b != nil && isSameSide(*a, *b)
	}
	text := func(a, b *string) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }
	return a.Status == b.Status && text(a.Message, b.Message) && isSameSide(a.Item, b.Item) &&
		side(a.Issue, b.Issue) && side(a.LastSynced, b.LastSynced) &&
		a.IssueID == b.IssueID &&
		a.Weakness == b.Weakness && a.POAMItemID == b.POAMItemID && a.POAMCode == b.POAMCode &&
		(a.RequestedAt == nil) == (b.RequestedAt == nil) &&
		(a.RequestedAt == nil || a.RequestedAt.Equal(*b.RequestedAt))
}

// ListLinks lists the links between plan items and issues.
func (s *Service) ListLinks(ctx context.Context, by api.Caller, in *api.IssueLinksInput) (*api.List[api.IssueLink], error) {
	if _, err := s.loadIntegration(ctx, by.OrganizationID, in.IntegrationID); err != nil {
		return nil, err
	}
	all, err := store.List(ctx, s.DB, store.IssueLinks, by.OrganizationID, in.Paging, store.PageQuery[store.IssueLink]{
		Index: "integration", Prefix: store.K(in.IntegrationID),
		Filter: store.FilterIf(api.HasFilters(in), func(l *store.IssueLink) bool { return l.Status == in.Status }),
	})
	if err != nil {
		return nil, err
	}
	return api.MapList(all, func(l *store.IssueLink) api.IssueLink { return l.IssueLink }), nil
}

// ResolveLink resolves a conflict in favor of one side and then syncs at once.
func (s *Service) ResolveLink(ctx context.Context, by api.Caller, in *api.ResolveIssueLinkInput) (*api.IssueLink, error) {
	if err := s.recordResolution(ctx, by, in); err != nil {
		return nil, err
	}
	r, err := s.loadIntegration(ctx, by.OrganizationID, in.IntegrationID)
	if err != nil {
		return nil, err
	}
	if r.Enabled {
		if _, err := s.syncIntegration(ctx, by.OrganizationID, in.IntegrationID); err != nil {
			return nil, api.Conflict("the choice was saved, but the plan and its issues could not be synced: %s", err)
		}
	}
	var l store.IssueLink
	err = s.DB.View(ctx, func(tx *store.Tx) (err error) {
		l, err = store.IssueLinks.Get(tx, by.OrganizationID, in.LinkID)
		return store.ToNotFound(err, "link", in.LinkID)
	})
	return &l.IssueLink, err
}

// recordResolution records the losing side's value as the last agreed value, so that the next sync
// sees a change only on the winning side.
func (s *Service) recordResolution(ctx context.Context, by api.Caller, in *api.ResolveIssueLinkInput) error {
	defer s.lockSync(in.IntegrationID)()
	return s.DB.Update(ctx, func(tx *store.Tx) error {
		r, err := getIntegration(tx, by.OrganizationID, in.IntegrationID)
		if err != nil {
			return err
		}
		l, err := store.IssueLinks.Get(tx, by.OrganizationID, in.LinkID)
		if err == nil && l.IntegrationID != r.ID {
			err = store.ErrNotFound
		}
		if err != nil {
			return store.ToNotFound(err, "link", in.LinkID)
		}
		if l.Status != "conflict" || l.Issue == nil {
			return api.Conflict("there is no conflict between %s and %s", l.POAMCode, l.IssueKey)
		}
		agreed := l.Item
		if in.Body.Keep == "plan" {
			agreed = *l.Issue
		}
		l.LastSynced, l.UpdatedAt = &agreed, tx.Now()
		return errors.Join(
			store.IssueLinks.Update(tx, by.OrganizationID, &l),
			audit.Append(
				tx,
				by,
				audit.Entry{
					Action:       "integration.resolved",
					ResourceType: "issue_link",
					ResourceID:   l.ID,
					Changes:      map[string]any{"keep": in.Body.Keep, "poam_code": l.POAMCode, "issue_key": l.IssueKey},
				},
			),
		)
	})
}
