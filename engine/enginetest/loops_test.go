package enginetest_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/engine/enginetest"
	"github.com/scf-service/service/internal/secretbox"
	"github.com/scf-service/service/internal/testutil/longtest"
	"github.com/scf-service/service/internal/testutil/secretboxtest"
	"github.com/scf-service/service/store"
)

// addIdleRecords inserts organizations numbered from..to with records that no background loop has to do anything with: an
// integration that is not synced, an email that was sent, a document that was read, a finished agent run, an assessment
// whose workflow waits for a person, and a session, a link, a rotated key and a stored response that have not expired. To
// the first organization, it adds deliveries to a paused receiver and emails that are tried again tomorrow.
func addIdleRecords(t *testing.T, db *store.DB, now time.Time, from, to int) {
	t.Helper()
	err := db.Update(t.Context(), func(tx *store.Tx) error {
		for n := from; n < to; n++ {
			first, org := idleID("organization", 0), idleID("organization", n)
			record := func(kind, org string) api.TenantRecord {
				return api.TenantRecord{Record: api.Record{ID: idleID(kind, n), CreatedAt: now, UpdatedAt: now}, OrganizationID: org}
			}
			tomorrow, yesterday := now.Add(24*time.Hour), now.Add(-24*time.Hour)
			organization := api.Organization{Record: record("organization", "").Record, Slug: org, Status: "active"}
			a := api.Assessment{TenantRecord: record("assessment", org), State: api.StateSoAUnderReview}
			d := store.Document{Document: api.Document{
				TenantRecord: record("document", org), AssessmentID: a.ID, SHA256: org, Status: api.DocumentIngested,
			}}
			run := store.WorkflowRun{WorkflowRun: api.WorkflowRun{
				TenantRecord: record("workflow", org), AssessmentID: a.ID, WorkflowType: api.WorkflowFull, Status: api.RunApproval,
			}, WaitSnapshot: string(a.State)}
			agent := api.AgentRun{TenantRecord: record("agent", org), Status: "completed"}
			integration := store.Integration{Integration: api.Integration{TenantRecord: record("integration", org), Type: "slack", Enabled: true}}
			sent := store.Email{Email: api.Email{TenantRecord: record("sent", org), Status: api.EmailSent}}
			later := store.Email{Email: api.Email{TenantRecord: record("later", first), Status: api.EmailQueued, NextAttemptAt: &tomorrow}}
			delivery := store.Delivery{WebhookID: "paused", Delivery: api.Delivery{
				TenantRecord: record("delivery", first), Status: "pending", NextAttemptAt: &yesterday,
			}}
			session := store.Session{Secret: idleID("session", n), ExpiresAt: tomorrow}
			link := store.OneTimeLink{Secret: idleID("link", n), ExpiresAt: tomorrow}
			key := store.KeySecret{Secret: idleID("key", n), OrganizationID: org, ValidUntil: &tomorrow}
			reply := store.IdempotentReply{OrganizationID: org, Secret: idleID("reply", n), ExpiresAt: tomorrow}
			for _, err := range []error{
				store.Sessions.Insert(tx, &session), store.OneTimeLinks.Insert(tx, &link), store.KeySecrets.Insert(tx, &key),
				store.IdempotentReplies.Insert(tx, &reply),
				store.Organizations.Insert(tx, &organization), store.Assessments.Insert(tx, org, &a), store.Documents.Insert(tx, org, &d),
				store.WorkflowRuns.Insert(tx, org, &run), store.AgentRuns.Insert(tx, org, &agent),
				store.Integrations.Insert(tx, org, &integration), store.Emails.Insert(tx, org, &sent),
				store.Emails.Insert(tx, first, &later), store.Deliveries.Insert(tx, first, &delivery),
			} {
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func idleID(kind string, n int) string { return kind + copyNumber(n) }

func copyNumber(n int) string { return time.Unix(int64(n), 0).UTC().Format(" 150405") }

// TestLoopsReadsAreFlat checks that the background loops read as many records when there are many more organizations,
// documents, runs, integrations, emails and deliveries for which there is nothing to do.
func TestLoopsReadsAreFlat(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	o := store.Options{
		Dir: t.TempDir(), Schema: store.ServiceSchema, Clock: func() time.Time { return now }, NewID: enginetest.NewID,
		Logger: enginetest.WarningLogger(),
	}
	db, err := store.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	e, err := engine.New(t.Context(), engine.Options{
		DB: db, Clock: o.Clock, Version: "test", Logger: o.Logger, MailServer: enginetest.MailServer(t),
		Box: secretboxtest.New(secretbox.Key{}),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	loops := map[string]func(context.Context) error{
		"events": e.Webhooks.RunOnce, "emails": e.Mail.RunAndWait, "syncs": e.Integrations.SyncDue, "alerts": e.Alerts.EvaluateAll,
		"sessions and links": e.Identity.DeleteExpired, "stored responses": e.Idempotency.DeleteExpired, "files": e.Background.DeleteUnreferencedBlobs,
		"unread documents": e.Evidence.EnqueueUnread, "abandoned runs": e.Agents.FailAbandonedRuns, "workflows": e.Workflows.DispatchRuns,
	}
	count := func() map[string]int64 {
		out := map[string]int64{}
		for range 2 { // the first time, some loops do what they do once an hour or a day
			for what, run := range loops {
				var reads atomic.Int64
				if err := run(store.WithReadCounter(t.Context(), &reads)); err != nil {
					t.Fatal(what, err)
				}
				out[what] = reads.Load()
			}
		}
		return out
	}
	few, many := 10, 300
	if longtest.Enabled() {
		many = 10_000
	}
	addIdleRecords(t, db, now, 0, few)
	rule := store.AlertRule{AlertRule: api.AlertRule{
		TenantRecord: api.TenantRecord{Record: api.Record{ID: "rule"}, OrganizationID: idleID("organization", 0)},
		Metric:       "organization_documents", Operator: "gt", Threshold: 1e9, Enabled: true, State: "ok",
	}}
	webhook := store.Webhook{Webhook: api.Webhook{TenantRecord: api.TenantRecord{
		Record: api.Record{ID: "paused"}, OrganizationID: rule.OrganizationID,
	}}}
	err = db.Update(t.Context(), func(tx *store.Tx) error {
		if err := store.Webhooks.Insert(tx, webhook.OrganizationID, &webhook); err != nil {
			return err
		}
		return store.AlertRules.Insert(tx, rule.OrganizationID, &rule)
	})
	if err != nil {
		t.Fatal(err)
	}
	before := count()
	for n := few; n < many; n += 100 {
		addIdleRecords(t, db, now, n, min(n+100, many))
	}
	for what, n := range count() {
		if n > before[what]+10 { // a group is left after a few records
			t.Errorf("%s: %d records of %d are read, and %d of %d", what, before[what], few, n, many)
		}
	}
}
