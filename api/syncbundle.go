package api

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"time"
)

// SyncKeyPrefix begins a public key for bundles as text: prefix, content and check, with dots between.
const SyncKeyPrefix = "service-key-1"

// SyncFingerprint is what two people compare of a public key before they trust it; empty for
// what is no key. It holds whatever the key says, so it may be computed by who asks a person.
func SyncFingerprint(key string) string {
	parts := strings.Split(strings.Join(strings.Fields(key), ""), ".")
	if len(parts) != 3 || parts[0] != SyncKeyPrefix {
		return ""
	}
	content, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(append([]byte(SyncKeyPrefix+"\n"), content...))
	var groups []string
	for group := range slices.Chunk([]byte(hex.EncodeToString(sum[:20])), 4) {
		groups = append(groups, string(group))
	}
	return strings.Join(groups, "-")
}

// SyncKey is the key of an organization with which it signs bundles, and opens those for it.
type SyncKey struct {
	Name        string    `json:"name"`
	Key         string    `json:"key" doc:"The public key, to be given to the other side."`
	Fingerprint string    `json:"fingerprint" doc:"What both sides compare by voice before they trust the key."`
	CreatedAt   time.Time `json:"created_at"`
}

// MakeSyncKeyInput makes the key where there is none.
type MakeSyncKeyInput struct {
	Body struct {
		Replace bool `json:"replace,omitempty" doc:"Make another key in place of the one there is. Who trusts that one has to trust the new one, and bundles for that one open no more."`
	}
}

// SyncPeer is another installation whose bundles are taken.
type SyncPeer struct {
	TenantRecord
	Name        string `json:"name"`
	Fingerprint string `json:"fingerprint"`
	Key         string `json:"key"`
	// UserID is as whom its changes are done again here, where the assessment is at home.
	UserID    string `json:"user_id"`
	UserName  string `json:"user_name" doc:"As whom its changes are brought where the assessment is at home here."`
	TrustedBy string `json:"trusted_by"`
}

// TrustSyncPeerInput trusts a key.
type TrustSyncPeerInput struct {
	Body struct {
		Key   string `json:"key" minLength:"1" maxLength:"2000" doc:"The other side's public key, as it shows it."`
		Name  string `json:"name,omitempty" maxLength:"200" doc:"How it is called here; what the key says where it is empty." example:"adas-laptop"`
		Email string `json:"email,omitempty" maxLength:"320" doc:"The account that brings its changes where the assessment is at home here; you where it is empty." example:"ada@acme.example"`
	}
}

// SyncPeerInput names a peer.
type SyncPeerInput struct {
	PeerID string `path:"peerId"`
}

// WriteSyncBundleInput asks for a bundle.
type WriteSyncBundleInput struct {
	AssessmentID string `path:"assessmentId"`
	Body         struct {
		PeerID       string `json:"peer_id,omitempty" maxLength:"64" doc:"For whom; who exchanged bundles of the assessment last, or the only one there is, where it is empty."`
		CarryCatalog bool   `json:"carry_catalog,omitempty" doc:"With the catalog version, and the own frameworks that the assessment uses."`
		Publish      bool   `json:"publish,omitempty" doc:"The assessment was begun here, and is to live at the other side from now on."`
		Machine      string `json:"machine,omitempty" maxLength:"200" doc:"How people know the clone." example:"adas-laptop"`
	}
}

// TakeSyncBundleInput brings a bundle.
type TakeSyncBundleInput struct {
	File UploadFile `form:"file"`
	Dry  string     `form:"dry_run" doc:"true: tell what is in it and what would come of it, and change nothing."`
}

// TakenSyncBundle is what came of a bundle.
type TakenSyncBundle struct {
	PeerID       string    `json:"peer_id"`
	PeerName     string    `json:"peer_name"`
	Serial       int64     `json:"serial" doc:"The number of the bundle among those from there."`
	MadeAt       time.Time `json:"made_at"`
	AssessmentID string    `json:"assessment_id"`
	Name         string    `json:"name" doc:"The name of the assessment."`
	Role         string    `json:"role" enum:"home,clone" doc:"What this side is of the assessment."`
	DryRun       bool      `json:"dry_run"`
	Again        bool      `json:"again" doc:"It was taken before; nothing more came of it."`
	Taken        int       `json:"taken" doc:"Records that were read from the home."`
	Applied      int       `json:"applied" doc:"Changes of the clone that the home took: at a clone, of its own last bundle."`
	Conflicts    int       `json:"conflicts"`
	Notes        []string  `json:"notes"`
	Files        int       `json:"files" doc:"Files in it that were lacking here."`
	More         bool      `json:"more" doc:"Not all was in it: another follows."`
}

// Operations that carry a synchronisation in a file.
var (
	GetOrCreateSyncKey = Post[MakeSyncKeyInput, SyncKey](
		"make-sync-key",
		"/sync/key",
		WithPermission("sync:write"),
		WithTag(tagSync),
		WithSummary("Show the organization's key for bundles, made where there is none"),
	)
	ListSyncPeers = Get[Paging, List[SyncPeer]](
		"list-sync-peers",
		"/sync/peers",
		WithPermission("sync:read"),
		WithTag(tagSync),
		WithSummary("List whose bundles are taken"),
	)
	TrustSyncPeer = Post[TrustSyncPeerInput, SyncPeer](
		"trust-sync-peer",
		"/sync/peers",
		WithPermission("sync:write"),
		WithTag(tagSync),
		WithSummary("Trust a key: take its bundles, and write some for it"),
	)
	DistrustSyncPeer = Delete[SyncPeerInput](
		"distrust-sync-peer",
		"/sync/peers/{peerId}",
		WithPermission("sync:write"),
		WithTag(tagSync),
		WithSummary("Trust a key no more"),
	)
	WriteSyncBundle = Post[WriteSyncBundleInput, File](
		"write-sync-bundle",
		"/sync/assessments/{assessmentId}/bundle",
		WithForm(Download),
		WithPermission("sync:write"),
		WithTag(tagSync),
		WithSummary("Write what the other side lacks into a signed, encrypted file"),
	)
	ImportSyncBundle = Post[TakeSyncBundleInput, TakenSyncBundle](
		"take-sync-bundle",
		"/sync/bundles",
		WithForm(Upload),
		WithPermission("sync:write"),
		WithTag(tagSync),
		WithSummary("Take a bundle"),
	)
)
