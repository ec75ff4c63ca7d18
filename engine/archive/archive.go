// Package archive exports an assessment as one file that remains readable without the service, and
// verifies such a file without it.
//
//	manifest.json           the list of files with their SHA-256, the author and the time
//	manifest.sig            the installation's signature of the manifest
//	assessment.json         the record
//	scope.json, lifecycle.jsonl, timeline.jsonl, approvals.jsonl, comments.jsonl, artifacts.jsonl, workflows.jsonl
//	soa/v1.json …           each version of each deliverable, with its items
//	documents.jsonl, documents/<sha256>-<name>
//	reports.jsonl, reports/<sha256>-<name>
//	audit.jsonl             the organization's whole audit chain
//
// It changes nothing and trusts nothing: every hash it verifies is recomputed.
package archive

import (
	"time"

	"github.com/scf-service/service/api"
)

// Format is the archive format that this package writes.
const Format = "service-archive/1"

// The names of the files that every archive contains.
const (
	manifestFile  = "manifest.json"
	signatureFile = "manifest.sig"
	auditFile     = "audit.jsonl"
	approvalsFile = "approvals.jsonl"
	commentsFile  = "comments.jsonl"
)

// Manifest describes an archive and lists its files.
type Manifest struct {
	Format         string        `json:"format"`
	Tool           string        `json:"tool"`
	CreatedAt      time.Time     `json:"created_at"`
	OrganizationID string        `json:"organization_id"`
	Organization   string        `json:"organization"`
	AssessmentID   string        `json:"assessment_id"`
	Assessment     string        `json:"assessment"`
	State          api.State     `json:"state"`
	AuditHead      api.AuditHead `json:"audit_head"`
	PublicKey      string        `json:"public_key"`
	Files          []File        `json:"files"`
}

// File is one file of an archive.
type File struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// versionWithItems is the archived form of a deliverable version with its items.
type versionWithItems[V, I any] struct {
	Version V   `json:"version"`
	Items   []I `json:"items"`
}

// gateFolders maps each folder of deliverable versions to the deliverable's gate.
var gateFolders = map[string]api.Gate{
	"soa":          api.GateSoA,
	"gap_analysis": api.GateGapAnalysis,
	"maturity":     api.GateMaturity,
	"poam":         api.GatePOAM,
}
