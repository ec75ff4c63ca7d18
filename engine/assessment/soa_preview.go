package assessment

import (
	"context"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment/merge"
	"github.com/scf-service/service/store"
)

// PreviewSoADraft compares the newest version of the Statement of Applicability with the draft that
// DraftSoA would create, and stores nothing. A language model isn't asked: the reader named "model" is
// rejected, but one with stored readings can be previewed.
func (s *Service) PreviewSoADraft(ctx context.Context, by api.Caller, in *api.DraftSoAInput) (*api.ArtifactDiff, error) {
	for field, name := range map[string]string{"reader": in.Reader, "second_reader": in.SecondReader} {
		if name == api.ModelReader || name == api.BuiltinReader {
			return nil, api.Invalid(field, "a preview can't have evidence read; choose a reader that has "+
				"already read the evidence, or use rules")
		}
	}
	a, err := s.readAssessment(ctx, by, in.AssessmentID)
	if err != nil {
		return nil, err
	}
	if err := s.evidence.WaitForDocuments(ctx, by, a.ID); err != nil {
		return nil, err
	}
	made, err := s.newDraftFuncForReaders(chosenReaders{in.Reader, in.SecondReader})(ctx, by, &a)
	if err != nil {
		return nil, err
	}
	d, err := withStoredEdits(ctx, s, &a, soaType, made)
	if err != nil {
		return nil, err
	}
	out := &api.ArtifactDiff{Type: string(api.GateSoA)}
	to, err := soaType.toRecords(d.items)
	if err != nil {
		return nil, err
	}
	err = s.db.View(ctx, func(tx *store.Tx) error {
		v, ok, err := soaType.newestVersion(tx, a.OrganizationID, a.ID)
		if err != nil {
			return err
		}
		if !ok {
			return api.Conflict("there is no Statement of Applicability yet to compare a draft with; draft one first")
		}
		art, err := store.Artifacts.By("assessment").Get(tx, a.OrganizationID, a.ID, string(api.GateSoA))
		if err != nil {
			return err
		}
		from, err := soaType.readItemRecords(tx, a.OrganizationID, v.ID)
		if err != nil {
			return err
		}
		out.ArtifactID, out.FromSHA256 = art.ID, v.ContentSHA256
		if out.ToSHA256, err = soaType.contentHashLike(soaType.sortedItems(d), v.ContentSHA256); err != nil {
			return err
		}
		out.FromVersion, out.ToVersion = v.VersionNumber, v.VersionNumber+1
		merge.DiffRecords(out, from, to)
		return nil
	})
	return out, err
}
