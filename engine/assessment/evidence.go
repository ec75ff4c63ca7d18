package assessment

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/store"
)

// MarkItemsForReview handles a document with passages that were changed or deleted. Items of a draft
// Statement of Applicability that rely on such passages are marked for review, and the timeline lists
// the affected items of all deliverables. Submitted and approved versions are left unchanged.
func (s *Service) MarkItemsForReview(tx *store.Tx, by api.Caller, doc *api.Document, changed func(passage string) (bool, error)) error {
	a, err := store.Assessments.Get(tx, by.OrganizationID, doc.AssessmentID)
	if err != nil {
		return err
	}
	if a.State == api.StateClosed {
		return nil
	}
	assessment, filename := doc.AssessmentID, doc.Filename
	touched := map[string]bool{}
	touch := func(code string, evidence []api.Evidence) (bool, error) {
		for _, e := range evidence {
			if e.DocumentID != doc.ID {
				continue
			}
			if is, err := changed(e.ChunkID); is || err != nil {
				touched[code] = is
				return is, err
			}
		}
		return false, nil
	}
	statement, items, err := soaType.readNewest(tx, by.OrganizationID, assessment)
	if err != nil {
		return err
	}
	marked := false
	for _, i := range items {
		is, err := touch(i.ControlCode, i.Evidence)
		if err != nil {
			return err
		}
		if !is || statement.Status != api.VersionDraft || i.NeedsReview {
			continue
		}
		i.NeedsReview, marked = true, true
		i.Revision++
		i.UpdatedAt = tx.Now()
		if err := store.SoAItems.Put(tx, by.OrganizationID, &i); err != nil {
			return err
		}
	}
	if marked {
		statement.UpdatedAt = tx.Now()
		if err := errors.Join(
			soaType.recomputeItemCountAndHash(tx, by.OrganizationID, statement),
			soaType.saveVersionAndArtifact(tx, by, statement),
		); err != nil {
			return err
		}
	}
	_, findings, err := gapType.readNewest(tx, by.OrganizationID, assessment)
	if err != nil {
		return err
	}
	for _, f := range findings {
		if _, err := touch(f.ControlCode, f.Evidence); err != nil {
			return err
		}
	}
	_, scores, err := maturityType.readNewest(tx, by.OrganizationID, assessment)
	if err != nil {
		return err
	}
	for _, m := range scores {
		if _, err := touch(m.ControlCode, m.Evidence); err != nil {
			return err
		}
	}
	if len(touched) == 0 {
		return nil
	}
	codes := slices.Sorted(maps.Keys(touched))
	return audit.RecordAndPublishEvent(tx, by, audit.Event{
		Type: "evidence.changed", AssessmentID: assessment, ResourceType: "assessment", ResourceID: assessment,
		Summary: fmt.Sprintf(
			"%s changed; %s: %s",
			filename,
			prose.Count(len(codes), "control is affected", "controls are affected"),
			joinFirst(codes, 20),
		),
		Data: map[string]any{"filename": filename, "control_codes": codes},
	})
}

// joinFirst joins the first names in a list, up to limit of them.
func joinFirst(names []string, limit int) string {
	if len(names) > limit {
		return strings.Join(names[:limit], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}
