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

// AuditEvent is one record of an organization's audit chain, in which each record contains the hash of
// the previous one.
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

// AuditInput is the input for listing audit events.
type AuditInput struct {
	Paging
	AuditFilter
}

// AuditExportInput selects the events to export.
type AuditExportInput struct{ AuditFilter }

// AuditFilter selects audit events.
type AuditFilter struct {
	Period
	Action       string `query:"action" doc:"Action, e.g. assessment.created; a prefix ending in a dot, such as assessment., matches all that begin with it."`
	ResourceType string `query:"resource_type"`
	ResourceID   string `query:"resource_id"`
	ActorID      string `query:"actor_id"`
	Actor        string `query:"actor" doc:"Id or part of the name."`
	Outcome      string `query:"outcome" enum:"success,denied,failure"`
}

// AuditProblem describes the first record at which an audit chain fails verification.
type AuditProblem struct {
	Kind     string `json:"kind" enum:"changed,removed,inserted,reordered"`
	Sequence uint64 `json:"sequence"`
	RecordID string `json:"record_id"`
	Message  string `json:"message"`
}

// AuditVerification is the result of verifying an organization's audit chain.
type AuditVerification struct {
	OK        bool          `json:"ok"`
	Records   uint64        `json:"records" doc:"Number of verified records, from the first."`
	Head      string        `json:"head" doc:"The hash of the last verified record."`
	Problem   *AuditProblem `json:"problem"`
	CheckedAt time.Time     `json:"checked_at"`
}

// VerifyDataInput selects what to verify.
type VerifyDataInput struct {
	Organization string `query:"organization" doc:"ID, slug or name of the only organization to verify; all if absent."`
}

// OrganizationVerification is the result of verifying one organization's chain.
type OrganizationVerification struct {
	ID      string        `json:"id"`
	Name    string        `json:"name"`
	Slug    string        `json:"slug"`
	Records uint64        `json:"records" doc:"Number of verified audit records, from the first."`
	Head    string        `json:"head" doc:"The hash of the last verified record."`
	Problem *AuditProblem `json:"problem"`
}

// DataProblem is a record or file that is missing, altered or could not be read.
type DataProblem struct {
	Kind           string `json:"kind" enum:"missing,altered,not_read"`
	OrganizationID string `json:"organization_id" doc:"Empty for data that belongs to no organization."`
	Organization   string `json:"organization"`
	Record         string `json:"record" doc:"The record, or the one that a file belongs to."`
	SHA256         string `json:"sha256" doc:"The file's hash; empty for a record."`
	Message        string `json:"message"`
}

// DataVerification is the result of verifying a data folder.
type DataVerification struct {
	OK             bool                       `json:"ok"`
	Organizations  []OrganizationVerification `json:"organizations"`
	RecordsChecked int                        `json:"records_checked" doc:"Number of database entries read."`
	FilesChecked   int                        `json:"files_checked"`
	Problems       []DataProblem              `json:"problems"`
	NotCovered     []string                   `json:"not_covered" doc:"What was not verified because one organization was selected."`
	CheckedAt      time.Time                  `json:"checked_at"`
}

// AuditHead is the last record of an organization's audit chain, signed by the installation. If it is stored
// elsewhere, it can later prove that the chain up to that record hasn't changed.
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

// Operations on metrics and the audit trail, defined in section 4.18 of the API specification.
var (
	ListMetrics = Get[Paging, List[Metric]](
		"list-metrics", "/observability/metrics", "metrics:read", tagObservability,
		"Get metrics",
	)
	ListAuditEvents = Get[AuditInput, List[AuditEvent]](
		"list-audit-events", "/observability/audit", "audit:read", tagObservability,
		"List audit events, newest first",
	)
	VerifyAudit = Get[None, AuditVerification](
		"verify-audit", "/observability/audit/verification", "audit:read", tagObservability,
		"Verify the audit chain",
	)
	VerifyData = Get[VerifyDataInput, DataVerification](
		"verify-data", "/observability/data/verification", "", tagObservability,
		"Verify the audit chains, records and files of all organizations", WithAccess(Platform),
	)
	GetAuditHead = Get[None, AuditHead](
		"get-audit-head", "/observability/audit/head", "audit:read", tagObservability,
		"Get the signed head of the audit chain",
	)
	ExportAudit = Get[AuditExportInput, File](
		"export-audit", "/observability/audit/export", "audit:read", tagObservability,
		"Export audit events as JSON lines", WithBodyEncoding(Download),
	)
)
