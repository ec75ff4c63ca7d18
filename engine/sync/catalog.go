package sync

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog"
	"github.com/scf-service/service/store"
)

// An assessment depends on a catalog version and on the organization's custom frameworks and
// controls. Both are transferred by content hash.

// CatalogFile returns the content of an assessment's catalog version.
func (s *Service) CatalogFile(ctx context.Context, by api.Caller, in *api.SyncInput) (*api.File, error) {
	if err := s.requireLinkAndPermission(ctx, by, in.AssessmentID, "scf:read"); err != nil {
		return nil, err
	}
	var sha string
	err := s.DB.View(ctx, func(tx *store.Tx) error {
		a, err := store.Assessments.Get(tx, by.OrganizationID, in.AssessmentID)
		if err != nil {
			return store.ToNotFound(err, "assessment", in.AssessmentID)
		}
		v, err := loadAssessmentCatalog(tx, &a)
		sha = v.SnapshotBlob
		return err
	})
	if err != nil {
		return nil, err
	}
	f, size, err := s.DB.Blobs().Open(ctx, sha)
	if err != nil {
		return nil, err
	}
	return &api.File{Filename: "catalog.scfc", ContentType: "application/octet-stream", Size: size, SHA256: sha, Content: f}, nil
}

// CustomFrameworksFile returns the content of the custom frameworks and controls that an assessment uses.
func (s *Service) CustomFrameworksFile(ctx context.Context, by api.Caller, in *api.SyncInput) (*api.File, error) {
	if err := s.requireLinkAndPermission(ctx, by, in.AssessmentID, "scf:read"); err != nil {
		return nil, err
	}
	data, err := s.readCustomContent(ctx, by, in.AssessmentID)
	if err != nil {
		return nil, err
	}
	if data == nil {
		return nil, api.NotFound("custom frameworks of assessment", in.AssessmentID)
	}
	sum := sha256.Sum256(data)
	return &api.File{
		Filename:    "frameworks.json",
		ContentType: "application/json",
		Size:        int64(len(data)),
		SHA256:      hex.EncodeToString(sum[:]),
		Content:     io.NopCloser(bytes.NewReader(data)),
	}, nil
}

// readCustomContent returns the custom frameworks and controls that an assessment uses, or nil if it
// uses none.
func (s *Service) readCustomContent(ctx context.Context, by api.Caller, assessmentID string) (data []byte, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		a, err := store.Assessments.Get(tx, by.OrganizationID, assessmentID)
		if err != nil {
			return store.ToNotFound(err, "assessment", assessmentID)
		}
		data, _, err = catalog.CustomContent(tx, by.OrganizationID, a.CustomRevision)
		return err
	})
	return data, err
}

// UploadCatalog stores a catalog version transferred from another installation.
func (s *Service) UploadCatalog(ctx context.Context, by api.Caller, in *api.UploadSyncCatalogInput) (*api.SyncFiles, error) {
	data, out, err := readUploadAndHash(in)
	if err != nil {
		return nil, err
	}
	var have *store.CatalogVersion
	err = s.DB.View(ctx, func(tx *store.Tx) (err error) { have, err = findCatalogVersion(tx, out.SHA256[0]); return err })
	if err != nil || have != nil {
		return out, err
	}
	_, err = s.Catalog.StoreReceivedSnapshot(ctx, by, data)
	return out, err
}

// UploadCustomFrameworks stores custom frameworks and controls transferred from another installation.
func (s *Service) UploadCustomFrameworks(ctx context.Context, by api.Caller, in *api.UploadSyncCatalogInput) (*api.SyncFiles, error) {
	data, out, err := readUploadAndHash(in)
	if err != nil {
		return nil, err
	}
	return out, s.Catalog.StoreReceivedCustom(ctx, by, data)
}

// readUploadAndHash returns the content of an uploaded file and the content's hash.
func readUploadAndHash(in *api.UploadSyncCatalogInput) (content []byte, uploaded *api.SyncFiles, _ error) {
	data, err := io.ReadAll(io.LimitReader(in.File.Content, maxBlobSize+1))
	sum := sha256.Sum256(data)
	return data, &api.SyncFiles{SHA256: []string{hex.EncodeToString(sum[:])}}, err
}
