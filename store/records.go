package store

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/scf-service/service/api"
)

// Membership is a person's place in an organization.
type Membership struct {
	ID             string    `json:"id"`
	OrganizationID string    `json:"organization_id"`
	UserID         string    `json:"user_id"`
	Role           api.Role  `json:"role"`
	Status         string    `json:"status"`
	CreatedAt      time.Time `json:"created_at"`
	UpdatedAt      time.Time `json:"updated_at"`
}

// Password is what a person's password hashes to.
type Password struct {
	UserID    string    `json:"user_id"`
	Hash      string    `json:"hash"`
	ChangedAt time.Time `json:"changed_at"`
}

// Session is a signed-in browser.
type Session struct {
	Secret    string    `json:"secret"`
	ID        string    `json:"id"`
	UserID    string    `json:"user_id"`
	CreatedAt time.Time `json:"created_at"`
	SeenAt    time.Time `json:"seen_at"`
	ExpiresAt time.Time `json:"expires_at"`
	// OrganizationID is the active organization; empty until one is chosen.
	OrganizationID string `json:"organization_id"`
	Address        string `json:"address"`
}

// OneTimeLink lets a person in once: to accept an invitation, or to set a new password.
type OneTimeLink struct {
	Secret         string    `json:"secret"`
	Purpose        string    `json:"purpose"`
	UserID         string    `json:"user_id"`
	OrganizationID string    `json:"organization_id"`
	CreatedBy      string    `json:"created_by"`
	ExpiresAt      time.Time `json:"expires_at"`
}

// Webhook is a webhook with its secret, sealed by a key outside the database.
type Webhook struct {
	api.Webhook
	Sealed []byte `json:"sealed"`
	// PreviousSealed is the secret before the last rotation, good until PreviousUntil.
	PreviousSealed []byte     `json:"previous_sealed,omitempty"`
	PreviousUntil  *time.Time `json:"previous_until,omitempty"`
	// FailedInRow counts deliveries that were given up, one after the other.
	FailedInRow int `json:"failed_in_row,omitempty"`
}

// SubscribesTo reports whether the webhook asks for events of a type.
func (w *Webhook) SubscribesTo(event string) bool {
	return len(w.Events) == 0 || slices.Contains(w.Events, event)
}

// Integration is an integration with its secrets, sealed by a key outside the database.
type Integration struct {
	api.Integration
	Sealed []byte `json:"sealed,omitempty"`
	// FailedInRow counts deliveries that were given up, one after the other.
	FailedInRow int `json:"failed_in_row,omitempty"`
	// PulledAt is up to when changes of issues are known.
	PulledAt *time.Time `json:"pulled_at,omitempty"`
	// SyncFailures counts comparisons that did not work, one after the other.
	SyncFailures int `json:"sync_failures,omitempty"`
}

// IssueLink is a link with what it takes to find both sides again.
type IssueLink struct {
	api.IssueLink
	// Weakness tells items of one control apart.
	Weakness string `json:"weakness"`
	// RequestedAt is when the issue was asked for, without an answer yet: it may be there.
	RequestedAt *time.Time `json:"requested_at,omitempty"`
	// IssueID is what the tool's interface wants to hear, where that is not the key.
	IssueID string `json:"issue_id,omitempty"`
}

// Delivery is an event on its way to a webhook or an integration (WebhookID), with what is sent.
type Delivery struct {
	api.Delivery
	WebhookID string          `json:"webhook_id"`
	Payload   json.RawMessage `json:"payload"`
	// Tries counts attempts since it was last asked for; Once: it is tried once.
	Tries         int  `json:"tries,omitempty"`
	SingleAttempt bool `json:"single_attempt,omitempty"`
	// Trace is where the event happened; see Event.
	Trace string `json:"trace,omitempty"`
}

// Email is a mail in the queue, with what it says: sealed, since it may hold a link that
// is good once, and gone once the mail has left.
type Email struct {
	api.Email
	Sealed []byte `json:"sealed,omitempty"`
	// DedupKey names what the mail is about where there must be no second one.
	DedupKey string `json:"dedup_key,omitempty"`
	// UnsubscribeUserID is the person who can end mails of this kind.
	UnsubscribeUserID string `json:"unsubscribe_user_id,omitempty"`
}

// EmailTemplate is an organization's own wording of a mail.
type EmailTemplate struct {
	api.EmailTemplate
	OrganizationID string `json:"organization_id"`
}

// EmailPreference is which mails a person does not want.
type EmailPreference struct {
	UserID      string `json:"user_id"`
	NoDigest    bool   `json:"no_digest,omitempty"`
	NoApprovals bool   `json:"no_approvals,omitempty"`
}

// AlertRule is an alert rule with what its state rests on.
type AlertRule struct {
	api.AlertRule
	// PendingSince is from when the metric has told another state than the rule has; nil: it doesn't.
	PendingSince *time.Time `json:"pending_since,omitempty"`
	// LastNotified is the value that was told last while it fires.
	LastNotified *float64 `json:"last_notified,omitempty"`
}

// AgentStep is a step of an agent run.
type AgentStep struct {
	api.AgentStep
	OrganizationID string `json:"organization_id"`
	AgentRunID     string `json:"agent_run_id"`
}

// AgentOutput is what an agent run proposed.
type AgentOutput struct {
	api.AgentOutput
	OrganizationID string `json:"organization_id"`
}

// APIKey is a key without its secrets.
type APIKey struct {
	api.APIKey
	RevokedAt *time.Time `json:"revoked_at"`
}

// KeySecret is a secret that opens a key. A rotated key has two for a while.
type KeySecret struct {
	Secret         string     `json:"secret"`
	OrganizationID string     `json:"organization_id"`
	KeyID          string     `json:"key_id"`
	ValidUntil     *time.Time `json:"valid_until"`
}

// IdempotentReply is the answer to a request that may be sent again. Secret is the hash of its
// idempotency key, and Sealed can be opened by whoever has that key alone.
type IdempotentReply struct {
	OrganizationID string    `json:"organization_id"`
	Operation      string    `json:"operation"`
	Secret         string    `json:"secret"`
	Fingerprint    string    `json:"fingerprint"`
	Done           bool      `json:"done"`
	Sealed         []byte    `json:"sealed"`
	ExpiresAt      time.Time `json:"expires_at"`
}

// CatalogVersion is a catalog version with the blobs that hold it.
type CatalogVersion struct {
	api.CatalogVersion
	// SnapshotBlob is the encoded catalog, EmbedderBlob the model trained on it ("" until trained).
	SnapshotBlob string `json:"snapshot_blob"`
	EmbedderBlob string `json:"embedder_blob"`
	// RootID is the version whose ids the catalog's records have; empty where it is this one.
	RootID string `json:"root_id,omitempty"`
	// Variant tells imports of one workbook apart that differ in more than its label.
	Variant string `json:"variant,omitempty"`
}

// CustomCatalogHead says which revision of an organization's own catalog is the newest.
type CustomCatalogHead struct {
	OrganizationID string `json:"organization_id"`
	Revision       int    `json:"revision"`
}

// CustomCatalog is one revision of the frameworks and controls that an organization added,
// whole: it is kept while an assessment uses it.
type CustomCatalog struct {
	OrganizationID string                `json:"organization_id"`
	Revision       int                   `json:"revision"`
	CreatedAt      time.Time             `json:"created_at"`
	Frameworks     []api.CustomFramework `json:"frameworks"`
	Controls       []api.CustomControl   `json:"controls"`
}

// Document is a document with how far it is read, and by which embedder its passages are embedded.
type Document struct {
	api.Document
	Stage string `json:"stage"`
	// OriginalSHA256 is the SHA-256 of the document's first content; empty: what it has now is the first.
	OriginalSHA256 string `json:"original_sha256,omitempty"`
	Embedder       string `json:"embedder"`
}

// Vector is the embedding of a passage.
type Vector struct {
	OrganizationID string
	AssessmentID   string
	DocumentID     string
	ChunkID        string
	Embedder       string
	Values         []float32
}

// PassagePack is a part of a document's passages, with the vectors of the built-in
// embedder, as the search index reads them. It can always be made again from both.
type PassagePack struct {
	OrganizationID string
	AssessmentID   string
	DocumentID     string
	Part           int
	Data           []byte
}

// TimelineEvent is a timeline event with where it belongs.
type TimelineEvent struct {
	api.TimelineEvent
	OrganizationID string `json:"organization_id"`
	AssessmentID   string `json:"assessment_id"`
}

// Setting is a value of the installation.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

var errVector = errors.New("a stored vector is damaged")

func encodeVector(v *Vector) ([]byte, error) {
	var b []byte
	for _, s := range []string{v.OrganizationID, v.AssessmentID, v.DocumentID, v.ChunkID, v.Embedder} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	for _, f := range v.Values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b, nil
}

func decodeVector(b []byte, v *Vector) error {
	for _, s := range []*string{&v.OrganizationID, &v.AssessmentID, &v.DocumentID, &v.ChunkID, &v.Embedder} {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > uint64(len(b)-size) {
			return errVector
		}
		*s, b = string(b[size:size+int(n)]), b[size+int(n):]
	}
	if len(b)%4 != 0 {
		return errVector
	}
	v.Values = make([]float32, len(b)/4)
	for i := range v.Values {
		v.Values[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return nil
}

var errPassagePack = errors.New("a stored pack of passages is damaged")

func encodePassagePack(p *PassagePack) ([]byte, error) {
	b := make([]byte, 0, len(p.Data)+128)
	for _, s := range []string{p.OrganizationID, p.AssessmentID, p.DocumentID} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	return append(binary.AppendUvarint(b, uint64(p.Part)), p.Data...), nil
}

func decodePassagePack(b []byte, p *PassagePack) error {
	for _, s := range []*string{&p.OrganizationID, &p.AssessmentID, &p.DocumentID} {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > uint64(len(b)-size) {
			return errPassagePack
		}
		*s, b = string(b[size:size+int(n)]), b[size+int(n):]
	}
	part, size := binary.Uvarint(b)
	if size <= 0 || part > math.MaxInt32 {
		return errPassagePack
	}
	p.Part, p.Data = int(part), bytes.Clone(b[size:])
	return nil
}

// WorkflowRun is a run with what its workers need.
type WorkflowRun struct {
	api.WorkflowRun
	// Starter is who started it, as whom and for whom it works.
	Starter RunStarter `json:"starter"`
	// LeaseHolder is the process that works on it, until the lease ends unless it is renewed.
	LeaseHolder string    `json:"lease_holder,omitempty"`
	LeasedSince time.Time `json:"leased_since,omitzero"`
	LeasedUntil time.Time `json:"leased_until,omitzero"`
	// Failures counts the failures of the current step that were tried again.
	Failures int `json:"failures,omitempty"`
	// WaitSince is when NotBefore was set: a clock that shows less has jumped back.
	WaitSince time.Time `json:"wait_since,omitzero"`
	// WaitSnapshot is what the assessment was like when the run began to wait for people.
	WaitSnapshot string `json:"wait_snapshot,omitempty"`
	// HasSignal: a signal came that the run has not looked at.
	HasSignal bool `json:"has_signal,omitempty"`
}

// RunStarter is the person or key that started a run.
type RunStarter struct {
	UserID  string `json:"user_id"`
	KeyID   string `json:"key_id,omitempty"`
	TraceID string `json:"trace_id,omitempty"`
	// Trace is where in a trace it was started; see Event.
	Trace string `json:"trace,omitempty"`
}
