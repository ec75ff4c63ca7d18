package api

import (
	"encoding/json"
	"time"
)

// The kinds of conflict.
const (
	ConflictField    = "field"    // both changed the same field
	ConflictDelete   = "delete"   // one deleted what the other changed
	ConflictVersion  = "version"  // both made a next version
	ConflictApproval = "approval" // a submission or decision that does not hold at the home
	ConflictState    = "state"    // a move that is not legal at the home
	ConflictRefused  = "refused"  // a change that the home does not take
	ConflictReplica  = "replica"  // the work of a person who is no member any more
)

// SyncSide is a value with who set it, and when.
type SyncSide struct {
	Value json.RawMessage `json:"value" doc:"The value as JSON; null where the record was deleted or is not told."`
	By    string          `json:"by"`
	At    *time.Time      `json:"at"`
}

// SyncConflict is what two people did apart and nobody can decide but a person.
type SyncConflict struct {
	TenantRecord
	AssessmentID string `json:"assessment_id"`
	Kind         string `json:"kind" enum:"field,delete,version,approval,state,refused,replica"`
	Status       string `json:"status" enum:"open,resolved"`
	// Table and RecordID name the record; Label is how people know it.
	Table    string   `json:"table"`
	RecordID string   `json:"record_id"`
	Label    string   `json:"label" doc:"How people know the record: the code of the control, the name of the file."`
	Field    string   `json:"field"`
	Message  string   `json:"message"`
	Base     SyncSide `json:"base" doc:"What both began with."`
	Home     SyncSide `json:"home" doc:"What the home has."`
	Clone    SyncSide `json:"clone" doc:"What came from the clone."`
	// ReplicaID is the clone it came from; KeptSHA256 the blob with what is too large for a value.
	ReplicaID  string     `json:"replica_id"`
	KeptSHA256 string     `json:"kept_sha256" doc:"The file that the clone had, or the batch that is held back; empty where there is none."`
	Choice     string     `json:"choice" doc:"What was chosen: home, clone or value; empty while it is open."`
	ResolvedBy *string    `json:"resolved_by"`
	ResolvedAt *time.Time `json:"resolved_at"`
}

// SyncReplica is a clone of an assessment, as its home knows it.
type SyncReplica struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	UserID   string    `json:"user_id"`
	UserName string    `json:"user_name"`
	JoinedAt time.Time `json:"joined_at"`
	SeenAt   time.Time `json:"seen_at"`
	Behind   int64     `json:"behind" doc:"How many changed records it has not read."`
}

// SyncStatus tells how an assessment is synchronised.
type SyncStatus struct {
	AssessmentID string `json:"assessment_id"`
	Role         string `json:"role" enum:"none,home,clone"`
	// Head is the number of the last change here; Replicas are the home's.
	Head          int64         `json:"head"`
	Replicas      []SyncReplica `json:"replicas"`
	OpenConflicts int           `json:"open_conflicts"`
	// The rest is a clone's.
	Server         string      `json:"server" doc:"A clone's home; empty otherwise."`
	PeerName       string      `json:"peer_name" doc:"With whom it exchanges bundles; empty where it exchanged none."`
	OrganizationID string      `json:"remote_organization_id"`
	ReplicaID      string      `json:"replica_id"`
	Account        string      `json:"account"`
	Since          int64       `json:"since" doc:"How far the clone has read its home's changes."`
	AnchorSequence uint64      `json:"anchor_sequence"`
	AnchorHash     string      `json:"anchor_hash" doc:"The hash of the home's audit record with that number, when the clone last read."`
	Ahead          int         `json:"ahead" doc:"How many records the clone has changed and not sent."`
	Unsent         []SyncAhead `json:"unsent"`
	SyncedAt       *time.Time  `json:"synced_at"`
	CatalogSHA256  string      `json:"catalog_sha256"`
	CatalogLabel   string      `json:"catalog_label"`
	OwnSHA256      string      `json:"own_sha256" doc:"The content of the organization's own frameworks and controls that it uses; empty for none."`
}

// SyncAhead is a record that a clone has changed and not sent.
type SyncAhead struct {
	Table string    `json:"table"`
	Label string    `json:"label"`
	By    string    `json:"by"`
	At    time.Time `json:"at"`
}

// JoinSyncInput makes the caller's clone known to an assessment's home.
type JoinSyncInput struct {
	Body struct {
		AssessmentID string `json:"assessment_id" minLength:"1" maxLength:"64"`
		ReplicaID    string `json:"replica_id,omitempty" maxLength:"64" doc:"That of a clone that joined before."`
		Name         string `json:"name,omitempty" maxLength:"200" doc:"How people know the clone, as the name of the machine." example:"adas-laptop"`
		Publish      bool   `json:"publish,omitempty" doc:"The assessment was begun elsewhere and is to live here from now on."`
	}
}

// JoinedSync is what a clone needs to know of its home.
type JoinedSync struct {
	AssessmentID   string `json:"assessment_id"`
	OrganizationID string `json:"organization_id"`
	ReplicaID      string `json:"replica_id"`
	Name           string `json:"name"`
	Account        string `json:"account"`
	Head           int64  `json:"head"`
	CatalogSHA256  string `json:"catalog_sha256"`
	CatalogLabel   string `json:"catalog_label"`
	OwnSHA256      string `json:"own_sha256" doc:"The content of the organization's own frameworks and controls that it uses; empty for none."`
}

// AttachSyncInput makes the assessment here a clone of the one at a server.
type AttachSyncInput struct {
	Body struct {
		AssessmentID       string `json:"assessment_id" minLength:"1" maxLength:"64"`
		Server             string `json:"server" minLength:"1" maxLength:"2000" example:"https://grc.example.org"`
		RemoteOrganization string `json:"remote_organization_id,omitempty" maxLength:"64"`
		ReplicaID          string `json:"replica_id" minLength:"1" maxLength:"64"`
		Account            string `json:"account,omitempty" maxLength:"300" doc:"As whom the clone joined." example:"ada@acme.example"`
		CatalogSHA256      string `json:"catalog_sha256" minLength:"64" maxLength:"64"`
		OwnSHA256          string `json:"own_sha256,omitempty" maxLength:"64" doc:"The content of the own frameworks and controls that it uses there; empty for none."`
	}
}

// SyncInput names a synchronised assessment.
type SyncInput struct {
	AssessmentID string `path:"assessmentId"`
}

// PushSyncInput brings a batch of a clone's changes home.
type PushSyncInput struct {
	AssessmentID string     `path:"assessmentId"`
	File         UploadFile `form:"file"`
	Dry          string     `form:"dry_run" doc:"true: tell what would come of it, and change nothing. Files need not be there then."`
}

// PrepareSyncInput asks for what a clone has changed.
type PrepareSyncInput struct {
	AssessmentID string `path:"assessmentId"`
	Dry          string `query:"dry_run" enum:"true,false" doc:"Make it and keep nothing of it: it is not to be sent."`
}

// PushedSync is what came of a batch.
type PushedSync struct {
	ReplicaID string `json:"replica_id"`
	Counter   int64  `json:"counter"`
	Applied   int    `json:"applied" doc:"Changes that were taken."`
	Conflicts int    `json:"conflicts" doc:"Conflicts that came of it, for a person to decide."`
	// Notes say in words what was not taken as it came.
	Notes []string `json:"notes"`
}

// ChangesSyncInput asks for what changed at the home.
type ChangesSyncInput struct {
	AssessmentID   string `path:"assessmentId"`
	ReplicaID      string `query:"replica_id"`
	Since          int    `query:"since" minimum:"0" doc:"The number of the last change that was read; 0 for all."`
	AnchorSequence int    `query:"anchor_sequence" minimum:"0" doc:"The audit record that the last answer named."`
	AnchorHash     string `query:"anchor_hash" doc:"Its hash: where the home's chain has another there, its history is not the one that was read."`
	Dry            string `query:"dry_run" enum:"true,false" doc:"Do not note that the clone has read so far."`
}

// SyncParcel is a file of the protocol, with what is to be known to carry it.
type SyncParcel struct {
	AssessmentID string   `json:"assessment_id"`
	Counter      int64    `json:"counter" doc:"The number of a batch; 0 for changes."`
	Lines        int      `json:"lines" doc:"How many changes are in it; a batch of none is not to be sent."`
	Next         int64    `json:"next" doc:"How far changes go."`
	More         bool     `json:"more" doc:"There are more to fetch."`
	Files        []string `json:"files" doc:"The SHA-256 of the documents that it names: bring them first, where they are lacking."`
	FileBytes    []int64  `json:"file_bytes" doc:"How large each of these is."`
	Data         []byte   `json:"data" doc:"The file, in base64."`
}

// BringSyncCatalogInput brings the content of a catalog version.
type BringSyncCatalogInput struct {
	File UploadFile `form:"file"`
}

// BringSyncInput brings a file of the protocol to the assessment it is about.
type BringSyncInput struct {
	AssessmentID string     `path:"assessmentId"`
	File         UploadFile `form:"file"`
}

// BroughtSync is what came of it.
type BroughtSync struct {
	Taken int   `json:"taken" doc:"Records that changed here, or files that are kept."`
	Since int64 `json:"since" doc:"How far the home's changes are read now."`
	More  bool  `json:"more" doc:"There are more to read."`
}

// MissingSyncInput asks which files are lacking.
type MissingSyncInput struct {
	AssessmentID string `path:"assessmentId"`
	Body         struct {
		SHA256 []string `json:"sha256" maxItems:"1000"`
	}
}

// SyncFiles are files by their hashes.
type SyncFiles struct {
	SHA256 []string `json:"sha256"`
}

// AcknowledgeSyncInput says that the home has a batch.
type AcknowledgeSyncInput struct {
	AssessmentID string `path:"assessmentId"`
	Body         struct {
		Counter int64 `json:"counter" minimum:"1"`
	}
}

// SyncConflictsInput lists conflicts.
type SyncConflictsInput struct {
	Paging
	AssessmentID string `query:"assessment_id"`
	Status       string `query:"status" enum:"open,resolved"`
}

// SyncConflictInput names a conflict.
type SyncConflictInput struct {
	ConflictID string `path:"conflictId"`
}

// ResolveSyncInput decides a conflict.
type ResolveSyncInput struct {
	SyncConflictInput
	Body struct {
		Choice string          `json:"choice" enum:"home,clone,value" doc:"home leaves what is there, clone takes what came, value sets another."`
		Value  json.RawMessage `json:"value,omitempty" doc:"The value to set, where choice is value."`
	}
}

const tagSync = "Synchronisation"

// Operations that bring what was done apart together.
var (
	JoinSync = Post[JoinSyncInput, JoinedSync](
		"join-sync",
		"/sync/join",
		WithPermission("sync:write"),
		WithTag(tagSync),
		WithSummary("Make a clone known to an assessment's home"),
	)
	AttachSync = Post[AttachSyncInput, SyncStatus](
		"attach-sync",
		"/sync/attach",
		WithPermission("sync:write"),
		WithTag(tagSync),
		WithSummary("Make an assessment here a clone"),
	)
	GetSyncStatus = Get[SyncInput, SyncStatus](
		"get-sync-status",
		"/sync/assessments/{assessmentId}",
		WithPermission("sync:read"),
		WithTag(tagSync),
		WithSummary("Tell how an assessment is synchronised"),
	)
	DetachSync = Delete[SyncInput](
		"detach-sync",
		"/sync/assessments/{assessmentId}",
		WithPermission("sync:write"),
		WithTag(tagSync),
		WithSummary("End the synchronisation of an assessment here"),
	)
	PushSync = Post[PushSyncInput, PushedSync](
		"push-sync",
		"/sync/assessments/{assessmentId}/push",
		WithForm(Upload),
		WithPermission("sync:write"),
		WithTag(tagSync),
		WithSummary("Bring a clone's changes home"),
	)
	GetSyncChanges = Get[ChangesSyncInput, SyncParcel](
		"get-sync-changes",
		"/sync/assessments/{assessmentId}/changes",
		WithPermission("sync:read"),
		WithTag(tagSync),
		WithSummary("Read what changed at the home"),
	)
	MissingSyncFiles = Post[MissingSyncInput, SyncFiles](
		"missing-sync-files",
		"/sync/assessments/{assessmentId}/files/missing",
		WithPermission("sync:write"),
		WithTag(tagSync),
		WithSummary("Tell which files an assessment lacks"),
	)
	DownloadSyncFiles = Post[MissingSyncInput, File](
		"fetch-sync-files",
		"/sync/assessments/{assessmentId}/files/fetch",
		WithForm(Download),
		WithPermission("sync:read"),
		WithTag(tagSync),
		WithSummary("Fetch files of an assessment"),
	)
	UploadSyncFiles = Post[BringSyncInput, BroughtSync](
		"bring-sync-files",
		"/sync/assessments/{assessmentId}/files",
		WithForm(Upload),
		WithPermission("sync:write"),
		WithTag(tagSync),
		WithSummary("Bring files ahead of the records that name them"),
	)
	GetSyncCatalog = Get[SyncInput, File](
		"get-sync-catalog",
		"/sync/assessments/{assessmentId}/catalog",
		WithForm(Download),
		WithPermission("sync:read"),
		WithTag(tagSync),
		WithSummary("Fetch the catalog version of an assessment"),
	)
	UploadSyncCatalog = Post[BringSyncCatalogInput, SyncFiles](
		"bring-sync-catalog",
		"/sync/catalogs",
		WithForm(Upload),
		WithPermission(SCFImport),
		WithTag(tagSync),
		WithSummary("Bring the content of a catalog version"),
	)
	GetSyncFrameworks = Get[SyncInput, File](
		"get-sync-frameworks",
		"/sync/assessments/{assessmentId}/frameworks",
		WithForm(Download),
		WithPermission("sync:read"),
		WithTag(tagSync),
		WithSummary("Fetch the own frameworks and controls that an assessment uses"),
	)
	UploadSyncFrameworks = Post[BringSyncCatalogInput, SyncFiles](
		"bring-sync-frameworks",
		"/sync/frameworks",
		WithForm(Upload),
		WithPermission(SCFImport),
		WithTag(tagSync),
		WithSummary("Bring own frameworks and controls that an assessment uses"),
	)
	PrepareSync = Post[PrepareSyncInput, SyncParcel](
		"prepare-sync",
		"/sync/assessments/{assessmentId}/prepare",
		WithPermission("sync:write"),
		WithTag(tagSync),
		WithSummary("Make a batch of what a clone has changed"),
	)
	AcknowledgeSync = Post[AcknowledgeSyncInput, SyncStatus](
		"acknowledge-sync",
		"/sync/assessments/{assessmentId}/acknowledge",
		WithPermission("sync:write"),
		WithTag(tagSync),
		WithSummary("Tell a clone that its home has a batch"),
	)
	ApplySync = Post[BringSyncInput, BroughtSync](
		"take-sync",
		"/sync/assessments/{assessmentId}/take",
		WithForm(Upload),
		WithPermission("sync:write"),
		WithTag(tagSync),
		WithSummary("Bring the home's changes to a clone"),
	)
	ListSyncConflicts = Get[SyncConflictsInput, List[SyncConflict]](
		"list-sync-conflicts",
		"/sync/conflicts",
		WithPermission("sync:read"),
		WithTag(tagSync),
		WithSummary("List conflicts, newest first"),
	)
	GetSyncConflict = Get[SyncConflictInput, SyncConflict](
		"get-sync-conflict",
		"/sync/conflicts/{conflictId}",
		WithPermission("sync:read"),
		WithTag(tagSync),
		WithSummary("Read a conflict"),
	)
	ResolveSyncConflict = Post[ResolveSyncInput, SyncConflict](
		"resolve-sync-conflict",
		"/sync/conflicts/{conflictId}/resolve",
		WithPermission("sync:write"),
		WithTag(tagSync),
		WithSummary("Decide a conflict"),
	)
)
