package assessment

import (
	"context"
	"fmt"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// staleSourceIssues returns warnings if documents were added, changed or deleted since the version
// was drafted, if the version's reader has not read all documents, or if items cite deleted
// documents.
func staleSourceIssues(tx *store.Tx, v *api.SoAVersion, items []api.SoAItem) (out []api.ValidationIssue, err error) {
	docs, err := documentsInTx(tx, v.OrganizationID, v.AssessmentID)
	if err != nil {
		return nil, err
	}
	out = []api.ValidationIssue{}
	recordedHash, known := v.Inputs["documents"]
	if now, err := ingestedDocumentsHash(docs); err != nil {
		return nil, err
	} else if known && recordedHash != now {
		out = append(out, api.ValidationIssue{
			Rule: "documents-unchanged", Severity: "warning",
			Message: "documents were added, changed or deleted since it was drafted; refresh its evidence",
		})
	}
	if unread := v.Inputs[notReadInput]; unread != "" {
		message := "the reader %s has not read all passages for %s requirements, which count as not evidenced; " +
			"import the missing readings, or draft with another reader"
		if v.IsReadByModel() {
			message = "the model %s has not read all passages for %s requirements, which the rules read instead; " +
				"to let it read new documents, draft with the reader model"
		}
		out = append(out, api.ValidationIssue{
			Rule: "passages-read", Severity: "warning", Message: fmt.Sprintf(message, v.Inputs[readerInput], unread),
		})
	}
	present := make(map[string]bool, len(docs))
	for _, d := range docs {
		present[d.ID] = true
	}
	for _, i := range items {
		var gone []string
		for _, e := range i.Evidence {
			if e.DocumentID != "" && !present[e.DocumentID] && !slices.Contains(gone, e.Filename) {
				gone = append(gone, e.Filename)
			}
		}
		if len(gone) > 0 {
			out = append(out, api.ValidationIssue{
				Rule: "evidence-there", Severity: "warning", ItemID: i.ID, ControlCode: i.ControlCode,
				Message: fmt.Sprintf("it cites deleted documents: %s", joinFirst(gone, 5)),
			})
		}
	}
	return out, nil
}

// staleSoASourceWarnings returns the messages of staleSourceIssues for the newest Statement of
// Applicability.
func (s *Service) staleSoASourceWarnings(ctx context.Context, by api.Caller, a *api.Assessment) (warnings []string, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		v, items, err := soaType.readNewest(tx, by.OrganizationID, a.ID)
		if err != nil || v == nil {
			return err
		}
		issues, err := staleSourceIssues(tx, v, items)
		for _, i := range issues {
			warning := "the Statement of Applicability: " + i.Message
			if i.ControlCode != "" {
				warning = i.ControlCode + ": " + i.Message
			}
			warnings = append(warnings, warning)
		}
		return err
	})
	return warnings, err
}
