// Package audit keeps what happened: a chain of hashed records per organization
// that tells who did what, and the timeline of each assessment in people's words.
//
// Records are written in the transaction of what they tell, so that neither is
// there without the other. The package decides nothing and sends nothing.
package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/scf-service/service/engine/api"
	"github.com/scf-service/service/store"
)

// Outcomes of an audited action.
const (
	Success = "success"
	Denied  = "denied"
	Failure = "failure"
)

// Entry is one thing that happened.
type Entry struct {
	Action       string
	ResourceType string
	ResourceID   string
	Outcome      string // Success where empty
	Changes      map[string]any
}

// Append adds a record to the chain of the caller's organization.
func Append(tx *store.Tx, by api.Caller, e Entry) error {
	org := by.OrganizationID
	n, err := tx.NextSequence("audit " + org)
	if err != nil {
		return err
	}
	previous := ""
	if n > 1 {
		last, err := store.Audit.Get(tx, org, n-1)
		if err != nil {
			return fmt.Errorf("reading the audit chain's head: %w", err)
		}
		previous = last.Hash
	}
	if e.Outcome == "" {
		e.Outcome = Success
	}
	rec := api.AuditEvent{
		ID: tx.NewID(), OrganizationID: org, At: tx.Now(), Actor: by.Actor, Action: e.Action, ResourceType: e.ResourceType,
		ResourceID: e.ResourceID, Outcome: e.Outcome, IP: by.Address, TraceID: by.TraceID, Changes: e.Changes,
		Sequence: uint64(n), PreviousHash: previous,
	}
	if rec.Hash, err = Hash(rec); err != nil {
		return err
	}
	return store.Audit.Insert(tx, org, &rec)
}

// Hash is the SHA-256 over the record without its own hash, in the order of its fields.
func Hash(e api.AuditEvent) (string, error) {
	e.Hash = ""
	b, err := json.Marshal(e)
	if err != nil {
		return "", fmt.Errorf("hashing an audit record: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// BrokenError says where a chain does not hold.
type BrokenError struct {
	Sequence uint64
	Reason   string
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("the audit chain is broken at record %d: %s", e.Sequence, e.Reason)
}

// Verify follows an organization's chain from its first record and returns its
// length and head; a *BrokenError names the first record that does not fit.
func Verify(tx *store.Tx, org string) (count uint64, head string, err error) {
	for rec, err := range store.Audit.Scan(tx, org) {
		if err != nil {
			return count, head, err
		}
		count++
		want, err := Hash(rec)
		switch {
		case err != nil:
			return count, head, err
		case rec.Sequence != count:
			return count, head, &BrokenError{count, fmt.Sprintf("record %d stands here: one was removed or inserted", rec.Sequence)}
		case rec.PreviousHash != head:
			return count, head, &BrokenError{count, "it does not follow the record before it"}
		case rec.Hash != want:
			return count, head, &BrokenError{count, "its content was changed"}
		}
		head = rec.Hash
	}
	return count, head, nil
}

// Event is something that happened in an assessment, told to people and to whoever listens.
type Event struct {
	// Type is the name that webhooks carry: "document.ingested".
	Type         string
	AssessmentID string
	Summary      string
	ResourceType string
	ResourceID   string
	Data         map[string]any
}

// Tell writes an event to the assessment's timeline, to the audit chain and to the outbox.
func Tell(tx *store.Tx, by api.Caller, e Event) error {
	line := store.TimelineEvent{
		OrganizationID: by.OrganizationID, AssessmentID: e.AssessmentID,
		TimelineEvent: api.TimelineEvent{ID: tx.NewID(), At: tx.Now(), Type: e.Type, Summary: e.Summary, Actor: by.Actor,
			ResourceType: e.ResourceType, ResourceID: e.ResourceID},
	}
	if e.AssessmentID != "" {
		if err := store.Timeline.Insert(tx, by.OrganizationID, &line); err != nil {
			return err
		}
	}
	if err := Append(tx, by, Entry{Action: e.Type, ResourceType: e.ResourceType, ResourceID: e.ResourceID, Changes: e.Data}); err != nil {
		return err
	}
	payload, err := json.Marshal(map[string]any{
		"id": line.ID, "type": e.Type, "created_at": tx.Now(), "organization_id": by.OrganizationID,
		"assessment_id": e.AssessmentID, "data": e.Data,
	})
	if err != nil {
		return err
	}
	_, err = store.Outbox.Append(tx, store.Event{Topic: e.Type, OrganizationID: by.OrganizationID, Payload: payload})
	return err
}
