// Package audit keeps the audit trail: a chain of hashed records per organization that shows who
// did what, and the readable timeline of each assessment.
//
// Records are written in the transaction of the change they describe, so that neither exists
// without the other. The package makes no decisions and sends nothing.
package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// Outcomes of an audited action.
const (
	Success = "success"
	Denied  = "denied"
	Failure = "failure"
)

// Entry is one audited action.
type Entry struct {
	Action       string
	ResourceType string
	ResourceID   string
	Outcome      string // empty means Success
	Changes      map[string]any
}

// Append adds a record to the chain of the caller's organization.
func Append(tx *store.Tx, by api.Caller, e Entry) error {
	_, err := appendRecord(tx, by, e)
	return err
}

// appendRecord is like Append and returns the record's ID. The order of the IDs is that of the chain.
func appendRecord(tx *store.Tx, by api.Caller, e Entry) (id string, err error) {
	org := by.OrganizationID
	tx.SetActorIfUnset(by.Actor.Name)
	n, err := tx.NextSequence(store.AuditSequence(org))
	if err != nil {
		return "", err
	}
	previous := ""
	for last, err := range store.Audit.Scan(tx, org, store.Reverse, store.ExpectOne) {
		if err != nil {
			return "", fmt.Errorf("reading the audit chain's head: %w", err)
		}
		if last.Sequence != uint64(n-1) {
			return "", fmt.Errorf("reading the audit chain's head: %w: expected record %d, found record %d", store.ErrCorrupt, n-1, last.Sequence)
		}
		previous = last.Hash
		tx.FollowID(last.ID)
		break
	}
	if previous == "" && n > 1 {
		return "", fmt.Errorf("reading the audit chain's head: record %d: %w", n-1, store.ErrNotFound)
	}
	if e.Outcome == "" {
		e.Outcome = Success
	}
	rec := api.AuditEvent{
		ID: tx.NewID(), OrganizationID: org, At: tx.Now(), Actor: by.Actor, Action: e.Action, ResourceType: e.ResourceType,
		ResourceID: e.ResourceID, Outcome: e.Outcome, IP: by.Address, TraceID: by.TraceID, Changes: e.Changes,
		Sequence: uint64(n), PreviousHash: previous,
	}
	if rec.Changes, err = normalizeThroughJSON(e.Changes); err != nil {
		return "", err
	}
	if rec.Hash, err = Hash(rec); err != nil {
		return "", err
	}
	return rec.ID, store.Audit.Insert(tx, org, &rec)
}

// normalizeThroughJSON returns the changes in the form in which they are read back from the store, so that their hash
// stays the same.
func normalizeThroughJSON(changes map[string]any) (out map[string]any, err error) {
	b, err := json.Marshal(changes)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		return nil, fmt.Errorf("encoding the changes of an audit record: %w", err)
	}
	return out, nil
}

// Hash returns the SHA-256 of a record's JSON encoding without its own hash.
func Hash(e api.AuditEvent) (string, error) {
	e.Hash = ""
	b, err := json.Marshal(e)
	if err != nil {
		return "", fmt.Errorf("hashing an audit record: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// Event is an event in an assessment, for its timeline and for subscribers.
type Event struct {
	// Type is the event type used by webhooks: "document.ingested".
	Type         string
	AssessmentID string
	Summary      string
	ResourceType string
	ResourceID   string
	Data         map[string]any
}

// RecordEvent writes an event to the assessment's timeline and to the audit chain, without
// notifying anyone.
func RecordEvent(tx *store.Tx, by api.Caller, e Event) error {
	_, _, err := recordEventWithIDs(tx, by, e)
	return err
}

// RecordTimeline writes an event to the assessment's timeline only; its audit records are written separately.
func RecordTimeline(tx *store.Tx, by api.Caller, e Event) error {
	_, err := insertTimeline(tx, by, e)
	return err
}

// recordEventWithIDs is like RecordEvent and returns the IDs of both records.
func recordEventWithIDs(tx *store.Tx, by api.Caller, e Event) (timelineID, auditID string, err error) {
	if timelineID, err = insertTimeline(tx, by, e); err != nil {
		return "", "", err
	}
	entry := Entry{Action: e.Type, ResourceType: e.ResourceType, ResourceID: e.ResourceID, Changes: e.Data}
	auditID, err = appendRecord(tx, by, entry)
	return timelineID, auditID, err
}

// insertTimeline adds an event to the assessment's timeline, if it belongs to an assessment, and returns its ID.
func insertTimeline(tx *store.Tx, by api.Caller, e Event) (id string, err error) {
	line := store.TimelineEvent{
		OrganizationID: by.OrganizationID, AssessmentID: e.AssessmentID,
		TimelineEvent: api.TimelineEvent{
			ID: tx.NewID(), At: tx.Now(), Type: e.Type, Summary: e.Summary, Actor: by.Actor,
			ResourceType: e.ResourceType, ResourceID: e.ResourceID,
		},
	}
	if e.AssessmentID != "" {
		if err := store.Timeline.Insert(tx, by.OrganizationID, &line); err != nil {
			return "", err
		}
	}
	return line.ID, nil
}

// RecordAndPublishEvent writes an event to the assessment's timeline, to the audit chain and to the outbox.
func RecordAndPublishEvent(tx *store.Tx, by api.Caller, e Event) error {
	id, auditID, err := recordEventWithIDs(tx, by, e)
	if err != nil {
		return err
	}
	payload, err := json.Marshal(map[string]any{
		"id": id, "type": e.Type, "created_at": tx.Now(), "organization_id": by.OrganizationID,
		"assessment_id": e.AssessmentID, "data": e.Data,
	})
	if err != nil {
		return err
	}
	_, err = store.Outbox.Append(tx, store.Event{ID: auditID, Topic: e.Type, OrganizationID: by.OrganizationID, Payload: payload})
	return err
}
