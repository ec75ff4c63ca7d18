package assessment

import (
	"context"
	"errors"
	"fmt"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/store"
)

// recordArtifact creates or updates the artifact of a deliverable, and the artifact version that
// corresponds to v.
func recordArtifact(tx *store.Tx, by api.Caller, kind, title string, v *api.DeliverableVersion) error {
	org, assessment := by.OrganizationID, v.AssessmentID
	art, err := store.Artifacts.By("assessment").Get(tx, org, assessment, kind)
	if errors.Is(err, store.ErrNotFound) {
		art, err = api.Artifact{TenantRecord: newTenantRecord(tx, by), AssessmentID: assessment, Type: kind, Title: title}, nil
	}
	if err != nil {
		return err
	}
	if v.VersionNumber > art.CurrentVersion {
		art.CurrentVersion = v.VersionNumber
	}
	art.UpdatedAt = tx.Now()
	rec, err := store.ArtifactVersions.Get(tx, org, art.ID, v.VersionNumber)
	if errors.Is(err, store.ErrNotFound) {
		rec, err = api.ArtifactVersion{
			TenantRecord:  newTenantRecord(tx, by),
			ArtifactID:    art.ID,
			VersionNumber: v.VersionNumber,
			RecordID:      v.ID,
		}, nil
		if v.VersionNumber > 1 {
			before := v.VersionNumber - 1
			rec.Supersedes = &before
		}
	}
	if err != nil {
		return err
	}
	rec.Status, rec.ContentSHA256, rec.UpdatedAt = v.Status, v.ContentSHA256, tx.Now()
	return errors.Join(store.Artifacts.Put(tx, org, &art), store.ArtifactVersions.Put(tx, org, &rec))
}

// RecordReportArtifact assigns the next version number to a new report, counted per template and
// format. A report based on approved versions remains current until the next report of that kind; a
// draft report remains current until the next report of any kind.
func RecordReportArtifact(tx *store.Tx, by api.Caller, r *api.Report) error {
	org, variant := by.OrganizationID, r.Template+"/"+r.Format
	art, err := store.Artifacts.By("assessment").Get(tx, org, r.AssessmentID, "report", variant)
	if errors.Is(err, store.ErrNotFound) {
		art, err = api.Artifact{
			TenantRecord: newTenantRecord(tx, by), AssessmentID: r.AssessmentID, Type: "report", Variant: &variant,
			Title: fmt.Sprintf("%s report as %s", prose.Humanize(r.Template), r.Format),
		}, nil
	}
	if err != nil {
		return err
	}
	rec := api.ArtifactVersion{
		TenantRecord:  newTenantRecord(tx, by),
		ArtifactID:    art.ID,
		VersionNumber: art.CurrentVersion + 1,
		Status:        api.VersionApproved,
		ContentSHA256: r.SHA256,
		RecordID:      r.ID,
	}
	if r.Draft {
		rec.Status = api.VersionDraft
	}
	if art.CurrentVersion > 0 {
		before := art.CurrentVersion
		rec.Supersedes = &before
	}
	var old []api.ArtifactVersion
	for v, err := range store.ArtifactVersions.Scan(tx, org, store.Prefix(art.ID)) {
		if err != nil {
			return err
		}
		if v.Status == api.VersionDraft || v.Status == api.VersionApproved && !r.Draft {
			v.Status, v.UpdatedAt = api.VersionSuperseded, tx.Now()
			old = append(old, v)
		}
	}
	for _, v := range old {
		if err := store.ArtifactVersions.Put(tx, org, &v); err != nil {
			return err
		}
	}
	art.CurrentVersion, art.UpdatedAt = rec.VersionNumber, tx.Now()
	return errors.Join(store.Artifacts.Put(tx, org, &art), store.ArtifactVersions.Insert(tx, org, &rec))
}

func purgeArtifacts(tx *store.Tx, org, assessment string) error {
	var all []api.Artifact
	for a, err := range store.Artifacts.By("assessment").Scan(tx, org, store.Prefix(assessment)) {
		if err != nil {
			return err
		}
		all = append(all, a)
	}
	for _, a := range all {
		if _, err := store.ArtifactVersions.DeleteAll(tx, org, a.ID); err != nil {
			return err
		}
		if err := store.Artifacts.Delete(tx, org, a.ID); err != nil {
			return err
		}
	}
	return nil
}

// ListArtifacts lists the artifacts of an assessment: its deliverables, its scope and its reports.
func (s *Service) ListArtifacts(ctx context.Context, by api.Caller, in *api.ArtifactsInput) (*api.List[api.Artifact], error) {
	if _, err := s.readAssessment(ctx, by, in.AssessmentID); err != nil {
		return nil, err
	}
	return store.List(ctx, s.db, store.Artifacts, by.OrganizationID, in.Paging, store.PageQuery[api.Artifact]{
		Index: "assessment", Prefix: store.K(in.AssessmentID),
		Filter: store.FilterIf(api.HasFilters(in), func(a *api.Artifact) bool { return a.Type == in.Type }),
	})
}

// GetArtifact returns an artifact, which is a deliverable, scope or report.
func (s *Service) GetArtifact(ctx context.Context, by api.Caller, in *api.ArtifactInput) (*api.Artifact, error) {
	var a api.Artifact
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		a, err = store.Artifacts.Get(tx, by.OrganizationID, in.ArtifactID)
		return store.ToNotFound(err, "artifact", in.ArtifactID)
	})
	return &a, err
}

// ListArtifactVersions lists the versions of an artifact, oldest first.
func (s *Service) ListArtifactVersions(
	ctx context.Context,
	by api.Caller,
	in *api.ArtifactVersionsInput,
) (*api.List[api.ArtifactVersion], error) {
	if _, err := s.GetArtifact(ctx, by, &in.ArtifactInput); err != nil {
		return nil, err
	}
	return store.List(
		ctx,
		s.db,
		store.ArtifactVersions,
		by.OrganizationID,
		in.Paging,
		store.PageQuery[api.ArtifactVersion]{Prefix: store.K(in.ArtifactID)},
	)
}

// GetArtifactVersion returns a version of an artifact.
func (s *Service) GetArtifactVersion(ctx context.Context, by api.Caller, in *api.ArtifactVersionInput) (*api.ArtifactVersion, error) {
	var v api.ArtifactVersion
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		v, err = store.ArtifactVersions.Get(tx, by.OrganizationID, in.ArtifactID, in.VersionNumber)
		return store.ToNotFound(err, "artifact version", in.ArtifactID)
	})
	return &v, err
}
