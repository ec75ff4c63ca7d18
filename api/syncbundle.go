package api

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"time"
)

// SyncKeyPrefix is the first part of a public bundle key in text form. It is followed by the content and a checksum,
// separated by dots.
const SyncKeyPrefix = "service-key-1"

// SyncKeyFingerprint returns a fingerprint of a public key, which the users on both sides compare before
// trusting the key. It returns "" if the key is invalid. The fingerprint depends only on the key, so the
// client can compute it.
func SyncKeyFingerprint(publicKey string) string {
	parts := strings.Split(strings.Join(strings.Fields(publicKey), ""), ".")
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

// SyncKey is an organization's key for signing its bundles and decrypting those addressed to it.
type SyncKey struct {
	Name        string    `json:"name"`
	Key         string    `json:"key" doc:"The public key, to be given to the other side."`
	Fingerprint string    `json:"fingerprint" doc:"Fingerprint both sides compare by voice before trusting the key."`
	CreatedAt   time.Time `json:"created_at"`
}

// CreateSyncKeyInput is the input for creating the organization's key, or replacing it if requested.
type CreateSyncKeyInput struct {
	Body struct {
		Replace bool `json:"replace,omitempty" doc:"Replace the existing key. Peers must trust the new one, and bundles encrypted for the old one can no longer be opened."`
	}
}

// The permissions of a trusted key, which determine what bundles signed by it may contain.
const (
	PeerMayChanges = "changes" // everything except decisions
	PeerMayApprove = "approve" // everything including decisions
)

// PeerTrustDays is the number of days for which a key is trusted. Trusting it again starts a new period.
const PeerTrustDays = 90

// SyncPeer is another installation whose sync bundles are accepted.
type SyncPeer struct {
	TenantRecord
	Name        string `json:"name"`
	Fingerprint string `json:"fingerprint"`
	Key         string `json:"key"`
	// UserID is the account under which its changes are applied if this side is the remote.
	UserID    string `json:"user_id"`
	UserName  string `json:"user_name" doc:"The account under which its changes are applied if this side is the remote."`
	TrustedBy string `json:"trusted_by"`
	May       string `json:"may" enum:"changes,approve" doc:"What its bundles may contain: changes only, or also approvals and rejections."`
	// ExpiresAt is the time after which its bundles are no longer accepted, unless the key is trusted again.
	ExpiresAt time.Time `json:"expires_at" doc:"When its bundles are no longer accepted; trusting the key again renews it."`
}

// TrustCommand returns the command line that trusts the key again. It identifies the key by its fingerprint, because
// the other side may have chosen the name.
func (p *SyncPeer) TrustCommand(decisionFlag string) string {
	return "service sync trust " + p.Fingerprint + " --may " + decisionFlag
}

// BundleKey returns the name and fingerprint of the peer's key.
func (p *SyncPeer) BundleKey() *BundleKey {
	return &BundleKey{Name: p.Name, Fingerprint: p.Fingerprint}
}

// BundleKey identifies the trusted key that signed a bundle.
type BundleKey struct {
	Name        string `json:"name" doc:"The name it had here when the bundle was imported."`
	Fingerprint string `json:"fingerprint"`
}

// TrustSyncPeerInput is the input for trusting another installation's key.
type TrustSyncPeerInput struct {
	Body struct {
		Key   string `json:"key" minLength:"1" maxLength:"2000" doc:"The other side's public key, as printed there by service sync key."`
		Name  string `json:"name,omitempty" maxLength:"200" doc:"Display name of the peer; defaults to the one it has, or to the name in the key." example:"adas-laptop"`
		Email string `json:"email,omitempty" maxLength:"320" doc:"The account that applies its changes if this side is the remote; defaults to the one it has, or to you." example:"ada@acme.example"`
		May   string `json:"may,omitempty" enum:"changes,approve" doc:"What its bundles may contain: changes (the default), or approve for decisions too. Only a signed-in user who may decide can permit decisions."`
	}
}

// SyncPeerInput identifies a peer.
type SyncPeerInput struct {
	PeerID string `path:"peerId"`
}

// WriteSyncBundleInput is the input for writing a sync bundle for a peer.
type WriteSyncBundleInput struct {
	AssessmentID string `path:"assessmentId"`
	Body         struct {
		PeerID         string `json:"peer_id,omitempty" minLength:"1" maxLength:"64" doc:"The recipient; defaults to the last peer of the assessment, or the only one there is."`
		IncludeCatalog bool   `json:"include_catalog,omitempty" doc:"Include the catalog version and the custom frameworks the assessment uses."`
		Publish        bool   `json:"publish,omitempty" doc:"The assessment was created here and the other side becomes its remote."`
		Machine        string `json:"machine,omitempty" maxLength:"200" doc:"Display name of the clone." example:"adas-laptop"`
	}
}

// ImportSyncBundleInput is the input for importing a bundle.
type ImportSyncBundleInput struct {
	File   UploadFile `form:"file"`
	DryRun string     `form:"dry_run" doc:"true: report the content and the result without making changes."`
}

// ImportedSyncBundle is the result of importing a sync bundle.
type ImportedSyncBundle struct {
	PeerID          string    `json:"peer_id"`
	PeerName        string    `json:"peer_name"`
	Serial          int64     `json:"serial" doc:"The bundle's sequence number from that peer."`
	CreatedAt       time.Time `json:"created_at"`
	AssessmentID    string    `json:"assessment_id"`
	Name            string    `json:"name" doc:"The name of the assessment."`
	Role            string    `json:"role" enum:"remote,clone" doc:"This side's role for the assessment."`
	DryRun          bool      `json:"dry_run"`
	AlreadyImported bool      `json:"already_imported" doc:"It was already imported; nothing changed."`
	Imported        int       `json:"imported" doc:"Records read from the remote."`
	Applied         int       `json:"applied" doc:"Clone changes that the remote accepted; at a clone, those of its own last bundle."`
	Conflicts       int       `json:"conflicts"`
	Notes           []string  `json:"notes"`
	Files           int       `json:"files" doc:"Files in it that were missing here."`
	More            bool      `json:"more" doc:"It was incomplete: another one follows."`
}

// Operations that sync assessments through files instead of a connection.
var (
	GetOrCreateSyncKey = Post[CreateSyncKeyInput, SyncKey](
		"create-sync-key", "/sync/key", "sync:write", tagSync,
		"Get the organization's bundle key, and create it if necessary",
	)
	ListSyncPeers = Get[Paging, List[SyncPeer]](
		"list-sync-peers", "/sync/peers", "sync:read", tagSync,
		"List trusted peers",
	)
	TrustSyncPeer = Post[TrustSyncPeerInput, SyncPeer](
		"trust-sync-peer", "/sync/peers", "sync:write", tagSync,
		"Trust a key for 90 days, so that its bundles are accepted and bundles can be written for it",
	)
	DistrustSyncPeer = Delete[SyncPeerInput](
		"distrust-sync-peer", "/sync/peers/{peerId}", "sync:write", tagSync,
		"Stop trusting a key",
	)
	WriteSyncBundle = Post[WriteSyncBundleInput, File](
		"write-sync-bundle", "/sync/assessments/{assessmentId}/bundle", "sync:write", tagSync,
		"Write the changes that the other side is missing to a signed, encrypted file", WithBodyEncoding(Download),
	)
	ImportSyncBundle = Post[ImportSyncBundleInput, ImportedSyncBundle](
		"import-sync-bundle", "/sync/bundles", "sync:write", tagSync,
		"Import a bundle", WithBodyEncoding(Upload),
	)
)
