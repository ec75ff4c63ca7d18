package api

import "time"

// Metric is one measured value.
type Metric struct {
	Name   string            `json:"name"`
	Type   string            `json:"type" enum:"counter,gauge,histogram"`
	Unit   string            `json:"unit"`
	Value  float64           `json:"value"`
	Labels map[string]string `json:"labels"`
}

// AuditEvent is one link of an organization's audit chain.
type AuditEvent struct {
	ID             string         `json:"id"`
	OrganizationID string         `json:"organization_id"`
	At             time.Time      `json:"created_at"`
	Actor          Actor          `json:"actor"`
	Action         string         `json:"action"`
	ResourceType   string         `json:"resource_type"`
	ResourceID     string         `json:"resource_id"`
	Outcome        string         `json:"outcome" enum:"success,denied,failure"`
	IP             string         `json:"ip"`
	TraceID        string         `json:"trace_id"`
	Changes        map[string]any `json:"changes"`
	Sequence       uint64         `json:"sequence"`
	PreviousHash   string         `json:"previous_hash"`
	Hash           string         `json:"hash"`
}

// AuditInput lists audit events.
type AuditInput struct {
	Paging
	AuditFilter
}

// AuditExportInput says which events to export.
type AuditExportInput struct{ AuditFilter }

// AuditFilter narrows audit events.
type AuditFilter struct {
	Period
	Action       string `query:"action" doc:"As assessment.created; assessment. for all that begin so."`
	ResourceType string `query:"resource_type"`
	ResourceID   string `query:"resource_id"`
	ActorID      string `query:"actor_id"`
	Actor        string `query:"actor" doc:"Id or part of the name."`
	Outcome      string `query:"outcome" enum:"success,denied,failure"`
}

// AuditProblem is the first record with which a chain does not hold.
type AuditProblem struct {
	Kind     string `json:"kind" enum:"changed,removed,inserted,reordered"`
	Sequence uint64 `json:"sequence"`
	RecordID string `json:"record_id"`
	Message  string `json:"message"`
}

// AuditVerification tells whether an organization's chain holds.
type AuditVerification struct {
	OK        bool          `json:"ok"`
	Records   uint64        `json:"records" doc:"How many records hold, from the first."`
	Head      string        `json:"head" doc:"The hash of the last of them."`
	Problem   *AuditProblem `json:"problem"`
	CheckedAt time.Time     `json:"checked_at"`
}

// AuditHead is the end of an organization's chain, signed by the installation: kept
// elsewhere, it proves that the chain up to there has stayed what it was.
type AuditHead struct {
	OrganizationID string    `json:"organization_id"`
	Sequence       uint64    `json:"sequence"`
	Hash           string    `json:"hash"`
	At             time.Time `json:"created_at"`
	KeyID          string    `json:"key_id" doc:"The fingerprint of the installation's key."`
	PublicKey      string    `json:"public_key" doc:"Ed25519, in base64."`
	Signature      string    `json:"signature"`
}

const tagObservability = "Observability"

// Operations of the interface's part 4.18 for operators.
var (
	ListMetrics = Get[Paging, List[Metric]](
		"list-metrics",
		"/observability/metrics",
		WithPermission("metrics:read"),
		WithTag(tagObservability),
		WithSummary("Read metrics"),
	)
	ListAuditEvents = Get[AuditInput, List[AuditEvent]](
		"list-audit-events",
		"/observability/audit",
		WithPermission("audit:read"),
		WithTag(tagObservability),
		WithSummary("List audit events, newest first"),
	)
	VerifyAudit = Get[None, AuditVerification](
		"verify-audit",
		"/observability/audit/verification",
		WithPermission("audit:read"),
		WithTag(tagObservability),
		WithSummary("Tell whether the audit chain holds"),
	)
	GetAuditHead = Get[None, AuditHead](
		"get-audit-head",
		"/observability/audit/head",
		WithPermission("audit:read"),
		WithTag(tagObservability),
		WithSummary("Read the signed end of the audit chain"),
	)
	ExportAudit = Get[AuditExportInput, File](
		"export-audit",
		"/observability/audit/export",
		WithPermission("audit:read"),
		WithForm(Download),
		WithTag(tagObservability),
		WithSummary("Export audit events as JSON lines"),
	)
)
