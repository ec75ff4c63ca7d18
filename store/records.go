package store

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/bytereader"
)

// Membership is a user's membership in an organization, with the role.
type Membership struct {
	ID             string    `json:"id"`
	OrganizationID string    `json:"organization_id"`
	UserID         string    `json:"user_id"`
	Role           api.Role  `json:"role"`
	Status         string    `json:"status"`
	CreatedAt      time.Time `json:"created_at"`
	UpdatedAt      time.Time `json:"updated_at"`
	Revision       int       `json:"revision,omitempty"`
}

// FormerMember is a person whose membership has ended.
type FormerMember struct {
	OrganizationID string    `json:"organization_id"`
	UserID         string    `json:"user_id"`
	Name           string    `json:"name"`
	Email          string    `json:"email"`
	LeftAt         time.Time `json:"left_at"`
}

// Password holds the hash of a user's password.
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

// OneTimeLink is a single-use link with which a user accepts an invitation or sets a new password.
type OneTimeLink struct {
	Secret         string    `json:"secret"`
	Purpose        string    `json:"purpose"`
	UserID         string    `json:"user_id"`
	OrganizationID string    `json:"organization_id"`
	CreatedBy      string    `json:"created_by"`
	ExpiresAt      time.Time `json:"expires_at"`
}

// Webhook is a webhook with its secret, encrypted with a key outside the database.
type Webhook struct {
	api.Webhook
	Sealed []byte `json:"sealed"`
	// PreviousSealed is the secret before the last rotation, valid until PreviousUntil.
	PreviousSealed []byte     `json:"previous_sealed,omitempty"`
	PreviousUntil  *time.Time `json:"previous_until,omitempty"`
	// FailedInRow counts the consecutive deliveries that were abandoned.
	FailedInRow int `json:"failed_in_row,omitempty"`
}

// SubscribesTo reports whether the webhook receives events of a type.
func (w *Webhook) SubscribesTo(event string) bool {
	return len(w.Events) == 0 || slices.Contains(w.Events, event)
}

// Integration is an integration with its secrets, encrypted with a key outside the database.
type Integration struct {
	api.Integration
	Sealed []byte `json:"sealed,omitempty"`
	// FailedInRow counts the consecutive deliveries that were abandoned.
	FailedInRow int `json:"failed_in_row,omitempty"`
	// PulledAt is the time up to which changes of issues have been fetched.
	PulledAt *time.Time `json:"pulled_at,omitempty"`
	// SyncFailures counts consecutive failed synchronizations.
	SyncFailures int `json:"sync_failures,omitempty"`
}

// IssueLink is a link between a plan item and an issue in a tracker, with the data needed to find both
// again.
type IssueLink struct {
	api.IssueLink
	// Weakness distinguishes the items of one control.
	Weakness string `json:"weakness"`
	// RequestedAt is set while a request to create the issue is unanswered: the issue may already exist.
	RequestedAt *time.Time `json:"requested_at,omitempty"`
	// IssueID is the ID in the tracker's API if it differs from the key.
	IssueID string `json:"issue_id,omitempty"`
}

// Edit is a user's change to one or more items of a deliverable, with the data needed to undo it.
type Edit struct {
	ID             string     `json:"id"`
	OrganizationID string     `json:"organization_id"`
	AssessmentID   string     `json:"assessment_id"`
	UserID         string     `json:"user_id"`
	By             string     `json:"by"`
	At             time.Time  `json:"at"`
	Gate           api.Gate   `json:"gate"`
	VersionID      string     `json:"version_id"` // the version that contains the changed items
	Lines          []EditLine `json:"lines"`
	UndoneAt       *time.Time `json:"undone_at,omitempty"`
	UndoOf         string     `json:"-"` // the edit that this one undoes; such edits are not stored
	// ReplacedCorrections are the corrections that the edit removed.
	ReplacedCorrections []api.Correction `json:"replaced_corrections,omitempty"`
}

// EditLine is the change to one item.
type EditLine struct {
	ItemID      string                     `json:"item_id"`
	ControlCode string                     `json:"control_code"`
	Fields      []string                   `json:"fields"`
	Before      map[string]json.RawMessage `json:"before"` // previous values by changed field; null if the field was absent
	After       string                     `json:"after"`  // hash of these fields after the change
}

// ReviewSample records which items of a Statement of Applicability are to be read in a review by sampling.
type ReviewSample struct {
	OrganizationID string             `json:"organization_id"`
	AssessmentID   string             `json:"assessment_id"`
	Seed           int                `json:"seed"`
	Size           int                `json:"size"` // the requested size
	DrawnAt        time.Time          `json:"drawn_at"`
	DrawnBy        string             `json:"drawn_by"`
	Lines          []ReviewSampleLine `json:"lines"` // lines that nobody had read
}

// ReviewSampleLine is a line as it was when the sample was drawn.
type ReviewSampleLine struct {
	ControlCode string `json:"control_code"`
	Stratum     string `json:"stratum"`             // its status, or its applicability if it is excluded
	LeftOpen    string `json:"left_open,omitempty"` // why it must be read; "" if it is part of the population
	Sampled     bool   `json:"sampled,omitempty"`
}

// CarriedItem is an item of an earlier assessment's deliverable. Its edits are applied to the assessment's
// first draft.
type CarriedItem struct {
	OrganizationID string          `json:"organization_id"`
	AssessmentID   string          `json:"assessment_id"` // the assessment that it was carried to
	Gate           api.Gate        `json:"gate"`
	Number         int             `json:"number"`
	Approved       bool            `json:"approved"` // whether a version of its deliverable was approved
	Item           json.RawMessage `json:"item"`
}

// StatementReadings holds a reader's verdicts on a statement.
type StatementReadings struct {
	OrganizationID string                    `json:"organization_id"`
	AssessmentID   string                    `json:"assessment_id"`
	Reader         string                    `json:"reader"`
	StatementID    string                    `json:"statement_id"`
	Passages       map[string]PassageReading `json:"passages"` // by the passage's hash
}

// ModelAnswer is a language model's unmodified answer to one prompt about the statements of a control.
type ModelAnswer struct {
	OrganizationID   string    `json:"organization_id"`
	AssessmentID     string    `json:"assessment_id"`
	Reader           string    `json:"reader"`
	Number           int       `json:"number"` // from 1, in the order in which answers were stored
	ControlCode      string    `json:"control_code"`
	At               time.Time `json:"at"`
	Model            string    `json:"model"`
	ServedModel      string    `json:"served_model"`
	Digest           string    `json:"digest"`
	Prompt           string    `json:"prompt"` // version of the prompt
	Seed             int       `json:"seed"`
	PromptTokens     int       `json:"prompt_tokens"`
	CompletionTokens int       `json:"completion_tokens"`
	Text             string    `json:"text"`
}

// Translation is a language model's translation of a statement. If Language begins with TranslatedQuery, it is
// the translation of a search query.
type Translation struct {
	OrganizationID string `json:"organization_id"`
	Language       string `json:"language"` // ISO 639-1
	StatementID    string `json:"statement_id"`
	Text           string `json:"text"` // "" if the model gave no valid answer
	Model          string `json:"model"`
	Digest         string `json:"digest"`
}

// TranslatedQuery is the prefix of Translation.Language for the translation of a search query.
const TranslatedQuery = "query:"

// PassageReading is a reader's verdict on a passage. An empty label means that the reader was asked, but gave
// no valid answer.
type PassageReading struct {
	Label         string             `json:"label"`
	Probabilities map[string]float64 `json:"probabilities,omitempty"`
	Words         string             `json:"words,omitempty"`
}

// Delivery is an event to be sent, with its payload. WebhookID identifies the webhook or integration that
// it is sent to.
type Delivery struct {
	api.Delivery
	WebhookID string          `json:"webhook_id"`
	Payload   json.RawMessage `json:"payload"`
	// Tries counts the attempts since the delivery was last requested. With SingleAttempt, a failed
	// attempt is not repeated.
	Tries         int  `json:"tries,omitempty"`
	SingleAttempt bool `json:"single_attempt,omitempty"`
	// Trace is the trace context of the event; see Event.
	Trace string `json:"trace,omitempty"`
}

// Email is a queued email. Sealed is its encrypted content, which may contain a one-time link; it is deleted
// once the email has been sent.
type Email struct {
	api.Email
	Sealed []byte `json:"sealed,omitempty"`
	// DedupKey prevents a second email with the same key. If it is empty, there may be several.
	DedupKey string `json:"dedup_key,omitempty"`
	// UnsubscribeUserID is the user who can unsubscribe from emails of this kind.
	UnsubscribeUserID string `json:"unsubscribe_user_id,omitempty"`
}

// EmailTemplate is an organization's own version of an email template.
type EmailTemplate struct {
	api.EmailTemplate
	OrganizationID string `json:"organization_id"`
}

// EmailPreference holds the kinds of emails that a user does not want.
type EmailPreference struct {
	UserID      string `json:"user_id"`
	NoDigest    bool   `json:"no_digest,omitempty"`
	NoApprovals bool   `json:"no_approvals,omitempty"`
	NoMentions  bool   `json:"no_mentions,omitempty"`
	Revision    int    `json:"revision,omitempty"`
}

// AlertRule is an alert rule with the data needed to determine its next state.
type AlertRule struct {
	api.AlertRule
	// PendingSince is the time since which the metric has indicated a state other than the current one; nil if
	// it doesn't.
	PendingSince *time.Time `json:"pending_since,omitempty"`
	// LastNotified is the value in the last notification while the alert is firing.
	LastNotified *float64 `json:"last_notified,omitempty"`
}

// AgentStep is a step of an agent run.
type AgentStep struct {
	api.AgentStep
	OrganizationID string `json:"organization_id"`
	AgentRunID     string `json:"agent_run_id"`
}

// AgentOutput is the output of an agent run.
type AgentOutput struct {
	api.AgentOutput
	OrganizationID string `json:"organization_id"`
}

// APIKey is a key without its secrets.
type APIKey struct {
	api.APIKey
	RevokedAt *time.Time `json:"revoked_at"`
}

// KeySecret is a secret of an API key. A rotated key has two for a while.
type KeySecret struct {
	Secret         string     `json:"secret"`
	OrganizationID string     `json:"organization_id"`
	KeyID          string     `json:"key_id"`
	ValidUntil     *time.Time `json:"valid_until"`
}

// IdempotentReply is the reply to a request with an idempotency key. Secret is the hash of that key. Sealed is
// the encrypted reply, which can only be decrypted with the key.
type IdempotentReply struct {
	OrganizationID string    `json:"organization_id"`
	Operation      string    `json:"operation"`
	Secret         string    `json:"secret"`
	Fingerprint    string    `json:"fingerprint"`
	Done           bool      `json:"done"`
	Sealed         []byte    `json:"sealed"`
	ExpiresAt      time.Time `json:"expires_at"`
}

// CatalogVersion is a version of the catalog with the blobs that contain it.
type CatalogVersion struct {
	api.CatalogVersion
	// SnapshotBlob is the encoded catalog. EmbedderBlob is the embedding model trained on it, or "" until it
	// has been trained.
	SnapshotBlob string `json:"snapshot_blob"`
	EmbedderBlob string `json:"embedder_blob"`
	// RootID is the version that determined the IDs of the catalog's records; empty if it is this one.
	RootID string `json:"root_id,omitempty"`
	// Variant distinguishes imports of the same workbook that differ in more than the label.
	Variant string `json:"variant,omitempty"`
}

// CustomCatalogHead holds the newest revision number of an organization's own catalog.
type CustomCatalogHead struct {
	OrganizationID string `json:"organization_id"`
	Revision       int    `json:"revision"`
}

// CustomCatalog is a complete revision of the frameworks and controls that an organization has added. It is
// kept as long as an assessment uses it.
type CustomCatalog struct {
	OrganizationID string                `json:"organization_id"`
	Revision       int                   `json:"revision"`
	CreatedAt      time.Time             `json:"created_at"`
	Frameworks     []api.CustomFramework `json:"frameworks"`
	Controls       []api.CustomControl   `json:"controls"`
}

// Document is a document with its processing stage and the embedder of its passages.
type Document struct {
	api.Document
	Stage string `json:"stage"`
	// OriginalSHA256 is the SHA-256 of the document's original content; empty if the content has not changed.
	OriginalSHA256 string `json:"original_sha256,omitempty"`
	Embedder       string `json:"embedder"`
	// PassageSet is the number of its passage set; see the type PassageSet.
	PassageSet int64 `json:"passage_set,omitempty"`
	// Readers holds the readers that read the document, with their versions; see package parse.
	Readers map[string]int `json:"readers,omitempty"`
}

// Passages returns the passage set of the document.
func (d *Document) Passages() PassageSet {
	return PassageSet{OrganizationID: d.OrganizationID, AssessmentID: d.AssessmentID, DocumentID: d.ID, Set: d.PassageSet}
}

// PassageSet is the set of passages from one reading of a document. Set 0 is the first set of every document;
// other numbers are unique.
type PassageSet struct {
	OrganizationID string `json:"organization_id"`
	AssessmentID   string `json:"assessment_id"`
	DocumentID     string `json:"document_id"`
	Set            int64  `json:"set"`
}

// Key returns the part that identifies the set in the keys of its passages, vectors and packs. For set 0, it is
// the document's ID.
func (s PassageSet) Key() string { return passageSetKey(s.DocumentID, s.Set) }

func passageSetKey(document string, set int64) string {
	if set == 0 {
		return document
	}
	return PassageSetMark + strconv.FormatInt(set, 10)
}

// PassageSetMark is the prefix of the keys of all passage sets except set 0. No document's ID may begin
// with it.
const PassageSetMark = "#"

// Chunk is a passage of a document, within a passage set.
type Chunk struct {
	api.Chunk
	Set int64 `json:"set,omitempty"`
}

// PassageSet returns the passage set that contains the passage.
func (c *Chunk) PassageSet() PassageSet {
	return PassageSet{OrganizationID: c.OrganizationID, AssessmentID: c.AssessmentID, DocumentID: c.DocumentID, Set: c.Set}
}

// ChunkKey returns the key of a passage in a passage set.
func ChunkKey(id string, set int64) Key {
	if set == 0 {
		return K(id)
	}
	return K(id, set)
}

// ReadAttempts counts the attempts to read a document that were interrupted because the program stopped.
type ReadAttempts struct {
	OrganizationID string `json:"organization_id"`
	DocumentID     string `json:"document_id"`
	Count          int    `json:"count"`
}

// Vector is the embedding of a passage.
type Vector struct {
	OrganizationID string
	AssessmentID   string
	DocumentID     string // the key of the passage set
	ChunkID        string
	Embedder       string
	Values         []float32
}

// PassagePack is a part of a document's passages with their vectors from the built-in embedder, in the form
// read by the search index.
type PassagePack struct {
	OrganizationID string
	AssessmentID   string
	DocumentID     string // the key of the passage set
	Part           int
	Data           []byte
}

// TimelineEvent is a timeline event with its organization and assessment.
type TimelineEvent struct {
	api.TimelineEvent
	OrganizationID string `json:"organization_id"`
	AssessmentID   string `json:"assessment_id"`
}

// Setting is a named setting of the installation.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

var errVector = errors.New("a stored vector is damaged")

// encodeVector returns the stored form of a vector.
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
	in := bytereader.Reader{Data: b}
	for _, s := range []*string{&v.OrganizationID, &v.AssessmentID, &v.DocumentID, &v.ChunkID, &v.Embedder} {
		*s = string(in.PrefixedBytes())
	}
	if in.Failed || len(in.Data)%4 != 0 {
		return errVector
	}
	v.Values = make([]float32, len(in.Data)/4)
	for i := range v.Values {
		v.Values[i] = math.Float32frombits(binary.LittleEndian.Uint32(in.Data[4*i:]))
	}
	return nil
}

var errPassagePack = errors.New("a stored pack of passages is damaged")

// encodePassagePack returns the stored form of a pack of passages.
func encodePassagePack(p *PassagePack) ([]byte, error) {
	b := make([]byte, 0, len(p.Data)+128)
	for _, s := range []string{p.OrganizationID, p.AssessmentID, p.DocumentID} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	return append(binary.AppendUvarint(b, uint64(p.Part)), p.Data...), nil
}

func decodePassagePack(b []byte, p *PassagePack) error {
	in := bytereader.Reader{Data: b}
	for _, s := range []*string{&p.OrganizationID, &p.AssessmentID, &p.DocumentID} {
		*s = string(in.PrefixedBytes())
	}
	p.Part = in.Uvarint(math.MaxInt32)
	if in.Failed {
		return errPassagePack
	}
	p.Data = bytes.Clone(in.Data)
	return nil
}

// WorkflowRun is a run with the data that its workers need.
type WorkflowRun struct {
	api.WorkflowRun
	// Starter is the user or key that started the run, on whose behalf it works.
	Starter RunStarter `json:"starter"`
	// LeaseHolder is the process that works on the run until LeasedUntil. It can renew the lease.
	LeaseHolder string    `json:"lease_holder,omitempty"`
	LeasedSince time.Time `json:"leased_since,omitzero"`
	LeasedUntil time.Time `json:"leased_until,omitzero"`
	// Failures counts the failed attempts of the current step.
	Failures int `json:"failures,omitempty"`
	// WaitSince is the time at which NotBefore was set. An earlier current time means that the clock
	// was set back.
	WaitSince time.Time `json:"wait_since,omitzero"`
	// WaitSnapshot is a snapshot of the assessment from when the run began to wait for users.
	WaitSnapshot string `json:"wait_snapshot,omitempty"`
	// HasSignal is true if there is a signal that the run has not processed.
	HasSignal bool `json:"has_signal,omitempty"`
	// StopForReview is set if the run waits until users submit its drafts.
	StopForReview bool `json:"stop_for_review,omitempty"`
}

// isWaiting reports whether the run can only continue after a change by a person.
func (r *WorkflowRun) isWaiting() bool { return r.Status.IsWaitingForUser() && !r.HasSignal }

// RunStarter is the user or key that started a run.
type RunStarter struct {
	UserID  string `json:"user_id"`
	KeyID   string `json:"key_id,omitempty"`
	TraceID string `json:"trace_id,omitempty"`
	// Trace is the trace context in which the run was started; see Event.
	Trace string `json:"trace,omitempty"`
}
