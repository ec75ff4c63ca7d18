package api

import (
	"encoding/json"
	"time"
)

// The kinds of sync conflict.
const (
	ConflictField    = "field"    // both sides changed the same field
	ConflictDelete   = "delete"   // one side deleted a record the other changed
	ConflictVersion  = "version"  // both sides created a next version
	ConflictApproval = "approval" // a submission or decision that is not valid at the remote
	ConflictState    = "state"    // a transition the remote does not allow
	ConflictRefused  = "refused"  // a change the remote rejects
	ConflictReplica  = "replica"  // work by a user who is no longer a member
)

// SyncSide is one of the two values in a conflict, with its author and time.
type SyncSide struct {
	Value json.RawMessage `json:"value" doc:"The value as JSON; null if the record was deleted or the value is not sent."`
	By    string          `json:"by"`
	At    *time.Time      `json:"at"`
}

// SyncConflict is a pair of concurrent changes that a user must resolve.
type SyncConflict struct {
	TenantRecord
	AssessmentID string `json:"assessment_id"`
	Kind         string `json:"kind" enum:"field,delete,version,approval,state,refused,replica"`
	Status       string `json:"status" enum:"open,resolved"`
	// Table and RecordID identify the record; Label is its display name.
	Table    string   `json:"table"`
	RecordID string   `json:"record_id"`
	Label    string   `json:"label" doc:"Display name of the record: the control's code, the file's name."`
	Field    string   `json:"field"`
	Message  string   `json:"message"`
	Base     SyncSide `json:"base" doc:"The common base value."`
	Remote   SyncSide `json:"remote" doc:"The remote's value."`
	Clone    SyncSide `json:"clone" doc:"The clone's value."`
	// ReplicaID is the clone that it came from. KeptSHA256 is the blob with values that are too large to include.
	ReplicaID  string     `json:"replica_id"`
	BundleKey  *BundleKey `json:"bundle_key" doc:"The trusted key whose bundle delivered it; null if it came over a network."`
	FileSHA256 string     `json:"file_sha256" doc:"SHA-256 of the clone's file or of the batch that waits for a decision; empty if there is none."`
	Choice     string     `json:"choice" doc:"The chosen resolution: remote, clone or value; empty while it is open."`
	ResolvedBy *string    `json:"resolved_by"`
	ResolvedAt *time.Time `json:"resolved_at"`
}

// SyncReplica is a clone of an assessment, as its remote knows it.
type SyncReplica struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	UserID   string    `json:"user_id"`
	UserName string    `json:"user_name"`
	JoinedAt time.Time `json:"joined_at"`
	SeenAt   time.Time `json:"seen_at"`
	Behind   int64     `json:"behind" doc:"Number of changed records it has not read."`
}

// SyncStatus is the sync status of an assessment.
type SyncStatus struct {
	AssessmentID string `json:"assessment_id"`
	Role         string `json:"role" enum:"none,remote,clone"`
	// Head is the number of the last local change. Replicas are the clones of a remote.
	Head          int64         `json:"head"`
	Replicas      []SyncReplica `json:"replicas"`
	OpenConflicts int           `json:"open_conflicts"`
	// The following fields are only set on a clone.
	Server         string           `json:"server" doc:"A clone's remote; empty otherwise."`
	PeerName       string           `json:"peer_name" doc:"The peer it exchanges bundles with; empty if none."`
	OrganizationID string           `json:"remote_organization_id"`
	ReplicaID      string           `json:"replica_id"`
	Account        string           `json:"account"`
	Since          int64            `json:"since" doc:"Number of the last remote change the clone has read."`
	AnchorSequence uint64           `json:"anchor_sequence"`
	AnchorHash     string           `json:"anchor_hash" doc:"The hash of the remote's audit record with that number when the clone last read."`
	Ahead          int              `json:"ahead" doc:"Number of records changed in the clone and not pushed."`
	Unpushed       []UnpushedRecord `json:"unpushed"`
	SyncedAt       *time.Time       `json:"synced_at"`
	CatalogSHA256  string           `json:"catalog_sha256"`
	CatalogLabel   string           `json:"catalog_label"`
	CustomSHA256   string           `json:"custom_sha256" doc:"Content hash of the organization's custom frameworks and controls in use; empty for none."`
}

// UnpushedRecord is a record that was changed in a clone and has not been pushed yet.
type UnpushedRecord struct {
	Table string    `json:"table"`
	Label string    `json:"label"`
	By    string    `json:"by"`
	At    time.Time `json:"at"`
}

// JoinSyncInput is the input for registering the caller's clone with an assessment's remote.
type JoinSyncInput struct {
	Body struct {
		AssessmentID string `json:"assessment_id" minLength:"1" maxLength:"64"`
		ReplicaID    string `json:"replica_id,omitempty" minLength:"1" maxLength:"64" doc:"The id of a clone that joined before."`
		Name         string `json:"name,omitempty" maxLength:"200" doc:"Display name of the clone, e.g. the machine's name." example:"adas-laptop"`
		Publish      bool   `json:"publish,omitempty" doc:"The assessment was created elsewhere and this server becomes its remote."`
	}
}

// JoinedSync is the information about the remote that a clone needs after joining it.
type JoinedSync struct {
	AssessmentID   string `json:"assessment_id"`
	OrganizationID string `json:"organization_id"`
	ReplicaID      string `json:"replica_id"`
	Name           string `json:"name"`
	Account        string `json:"account"`
	Head           int64  `json:"head"`
	CatalogSHA256  string `json:"catalog_sha256"`
	CatalogLabel   string `json:"catalog_label"`
	CustomSHA256   string `json:"custom_sha256" doc:"Content hash of the organization's custom frameworks and controls in use; empty for none."`
}

// AttachSyncInput is the input for turning the local assessment into a clone of one on a server.
type AttachSyncInput struct {
	Body struct {
		AssessmentID       string `json:"assessment_id" minLength:"1" maxLength:"64"`
		Server             string `json:"server" minLength:"1" maxLength:"2000" example:"https://grc.example.org"`
		RemoteOrganization string `json:"remote_organization_id,omitempty" minLength:"1" maxLength:"64"`
		ReplicaID          string `json:"replica_id" minLength:"1" maxLength:"64"`
		Account            string `json:"account,omitempty" maxLength:"300" doc:"The account under which the clone joined." example:"ada@acme.example"`
		CatalogSHA256      string `json:"catalog_sha256" minLength:"64" maxLength:"64"`
		CustomSHA256       string `json:"custom_sha256,omitempty" minLength:"1" maxLength:"64" doc:"Content hash of the custom frameworks and controls it uses there, if any."`
	}
}

// SyncInput identifies a synced assessment.
type SyncInput struct {
	AssessmentID string `path:"assessmentId"`
}

// PushSyncInput is the input for pushing a batch of a clone's changes to the remote.
type PushSyncInput struct {
	AssessmentID string     `path:"assessmentId"`
	File         UploadFile `form:"file"`
	DryRun       string     `form:"dry_run" doc:"true: report the result without making changes. Files need not have been uploaded."`
}

// PrepareSyncInput is the input for preparing a batch of a clone's unpushed changes.
type PrepareSyncInput struct {
	AssessmentID string `path:"assessmentId"`
	DryRun       string `query:"dry_run" enum:"true,false" doc:"Create it without recording it: it must not be pushed."`
}

// PushedSync is the result of pushing a batch.
type PushedSync struct {
	ReplicaID string `json:"replica_id"`
	Counter   int64  `json:"counter"`
	Applied   int    `json:"applied" doc:"Changes accepted."`
	Conflicts int    `json:"conflicts" doc:"Resulting conflicts, for a user to resolve."`
	// Notes describe changes that were not applied as sent.
	Notes []string `json:"notes"`
}

// ChangesSyncInput is the input for fetching the remote's changes.
type ChangesSyncInput struct {
	AssessmentID   string `path:"assessmentId"`
	ReplicaID      string `query:"replica_id"`
	Since          int    `query:"since" minimum:"0" doc:"The number of the last change read; 0 for all."`
	AnchorSequence int    `query:"anchor_sequence" minimum:"0" doc:"The audit record named by the last response."`
	AnchorHash     string `query:"anchor_hash" doc:"Its hash: if the remote's chain has a different one there, its history was rewritten."`
	DryRun         string `query:"dry_run" enum:"true,false" doc:"Do not record that the clone has read up to here."`
}

// SyncBatch is a file of changes in the sync protocol, with the metadata needed to transfer it.
type SyncBatch struct {
	AssessmentID string   `json:"assessment_id"`
	Counter      int64    `json:"counter" doc:"The batch number; 0 for changes."`
	ChangeCount  int      `json:"change_count" doc:"Number of changes in it; an empty batch must not be pushed."`
	Next         int64    `json:"next" doc:"Number of the last change included."`
	More         bool     `json:"more" doc:"Whether there is more to fetch."`
	Files        []string `json:"files" doc:"SHA-256 hashes of the documents it refers to; upload missing ones first."`
	FileBytes    []int64  `json:"file_bytes" doc:"The size of each of these files."`
	Data         []byte   `json:"data" doc:"The file, in base64."`
}

// UploadSyncCatalogInput is the input for importing the content of a catalog version from a sync file.
type UploadSyncCatalogInput struct {
	File UploadFile `form:"file"`
}

// UploadSyncInput is the input for importing a file of the sync protocol into its assessment.
type UploadSyncInput struct {
	AssessmentID string     `path:"assessmentId"`
	File         UploadFile `form:"file"`
}

// ImportedSync is the result of importing a sync file.
type ImportedSync struct {
	Imported int   `json:"imported" doc:"Records changed here, or files stored."`
	Since    int64 `json:"since" doc:"Number of the last remote change that has been read."`
	More     bool  `json:"more" doc:"Whether there is more to read."`
}

// MissingSyncInput is the input for finding out which files the remote doesn't have yet.
type MissingSyncInput struct {
	AssessmentID string `path:"assessmentId"`
	Body         struct {
		SHA256 []string `json:"sha256" maxItems:"1000"`
	}
}

// SyncFiles lists files by their hashes.
type SyncFiles struct {
	SHA256 []string `json:"sha256"`
}

// AcknowledgeSyncInput is the input for confirming that the remote has received a batch.
type AcknowledgeSyncInput struct {
	AssessmentID string `path:"assessmentId"`
	Body         struct {
		Counter int64 `json:"counter" minimum:"1"`
	}
}

// SyncConflictsInput is the input for listing sync conflicts.
type SyncConflictsInput struct {
	Paging
	AssessmentID string `query:"assessment_id"`
	Status       string `query:"status" enum:"open,resolved"`
}

// SyncConflictInput identifies a conflict.
type SyncConflictInput struct {
	ConflictID string `path:"conflictId"`
}

// ResolveSyncInput is the input for resolving a conflict.
type ResolveSyncInput struct {
	SyncConflictInput
	Body struct {
		Choice string          `json:"choice" enum:"remote,clone,value" doc:"remote keeps the existing value, clone accepts the incoming one, value sets another."`
		Value  json.RawMessage `json:"value,omitempty" doc:"The value to set if choice is value."`
	}
}

const tagSync = "Sync"

// Operations that sync assessments.
var (
	JoinSync = Post[JoinSyncInput, JoinedSync](
		"join-sync", "/sync/join", "sync:write", tagSync,
		"Register a clone with an assessment's remote",
	)
	AttachSync = Post[AttachSyncInput, SyncStatus](
		"attach-sync", "/sync/attach", "sync:write", tagSync,
		"Turn a local assessment into a clone",
	)
	GetSyncStatus = Get[SyncInput, SyncStatus](
		"get-sync-status", "/sync/assessments/{assessmentId}", "sync:read", tagSync,
		"Get the sync status of an assessment",
	)
	DetachSync = Delete[SyncInput](
		"detach-sync", "/sync/assessments/{assessmentId}", "sync:write", tagSync,
		"Stop syncing a local assessment with its remote",
	)
	PushSync = Post[PushSyncInput, PushedSync](
		"push-sync", "/sync/assessments/{assessmentId}/push", "sync:write", tagSync,
		"Push a clone's changes to the remote", WithBodyEncoding(Upload),
	)
	GetSyncChanges = Get[ChangesSyncInput, SyncBatch](
		"get-sync-changes", "/sync/assessments/{assessmentId}/changes", "sync:read", tagSync,
		"Get the remote's changes",
	)
	MissingSyncFiles = Post[MissingSyncInput, SyncFiles](
		"list-missing-sync-files", "/sync/assessments/{assessmentId}/files/missing", "sync:write", tagSync,
		"List files missing from an assessment",
	)
	DownloadSyncFiles = Post[MissingSyncInput, File](
		"download-sync-files", "/sync/assessments/{assessmentId}/files/download", "sync:read", tagSync,
		"Fetch files of an assessment", WithBodyEncoding(Download),
	)
	UploadSyncFiles = Post[UploadSyncInput, ImportedSync](
		"upload-sync-files", "/sync/assessments/{assessmentId}/files", "sync:write", tagSync,
		"Upload files before the records that refer to them", WithBodyEncoding(Upload),
	)
	GetSyncCatalog = Get[SyncInput, File](
		"get-sync-catalog", "/sync/assessments/{assessmentId}/catalog", "sync:read", tagSync,
		"Fetch the catalog version of an assessment", WithBodyEncoding(Download),
	)
	UploadSyncCatalog = Post[UploadSyncCatalogInput, SyncFiles](
		"upload-sync-catalog", "/sync/catalogs", SCFImport, tagSync,
		"Import the content of a catalog version", WithBodyEncoding(Upload),
	)
	GetSyncFrameworks = Get[SyncInput, File](
		"get-sync-frameworks", "/sync/assessments/{assessmentId}/frameworks", "sync:read", tagSync,
		"Fetch the custom frameworks and controls an assessment uses", WithBodyEncoding(Download),
	)
	UploadSyncFrameworks = Post[UploadSyncCatalogInput, SyncFiles](
		"upload-sync-frameworks", "/sync/frameworks", SCFImport, tagSync,
		"Import the custom frameworks and controls an assessment uses", WithBodyEncoding(Upload),
	)
	PrepareSync = Post[PrepareSyncInput, SyncBatch](
		"prepare-sync", "/sync/assessments/{assessmentId}/prepare", "sync:write", tagSync,
		"Create a batch of a clone's changes",
	)
	AcknowledgeSync = Post[AcknowledgeSyncInput, SyncStatus](
		"acknowledge-sync", "/sync/assessments/{assessmentId}/acknowledge", "sync:write", tagSync,
		"Confirm to a clone that its remote has received a batch",
	)
	ApplySync = Post[UploadSyncInput, ImportedSync](
		"apply-sync", "/sync/assessments/{assessmentId}/apply", "sync:write", tagSync,
		"Apply the remote's changes to a clone", WithBodyEncoding(Upload),
	)
	ListSyncConflicts = Get[SyncConflictsInput, List[SyncConflict]](
		"list-sync-conflicts", "/sync/conflicts", "sync:read", tagSync,
		"List conflicts, newest first",
	)
	GetSyncConflict = Get[SyncConflictInput, SyncConflict](
		"get-sync-conflict", "/sync/conflicts/{conflictId}", "sync:read", tagSync,
		"Get a conflict",
	)
	ResolveSyncConflict = Post[ResolveSyncInput, SyncConflict](
		"resolve-sync-conflict", "/sync/conflicts/{conflictId}/resolve", "sync:write", tagSync,
		"Resolve a conflict",
	)
)
