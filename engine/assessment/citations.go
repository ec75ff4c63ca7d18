package assessment

import (
	"context"
	"fmt"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/store"
)

// DocumentUses returns the items that quote a document in the newest and in the approved Statement of Applicability,
// and the corrections of its passages.
func (s *Service) DocumentUses(ctx context.Context, by api.Caller, in *api.DocumentInput) (*api.DocumentUses, error) {
	out := &api.DocumentUses{Versions: []api.DocumentUse{}, Notes: []string{}}
	return out, s.db.View(ctx, func(tx *store.Tx) error {
		d, err := store.Documents.Get(tx, by.OrganizationID, in.DocumentID)
		if err != nil {
			return store.ToNotFound(err, "document", in.DocumentID)
		}
		if err := addQuotingVersions(tx, out, &d.Document); err != nil {
			return err
		}
		for c, err := range store.Corrections.By("assessment").Scan(tx, by.OrganizationID, store.Prefix(d.AssessmentID)) {
			if err != nil {
				return err
			}
			if c.Passage.DocumentID == d.ID {
				out.Corrections++
			}
		}
		if out.Corrections > 0 {
			out.Notes = append(out.Notes, prose.Count(out.Corrections, "correction is", "corrections are")+
				" about this document's passages. Corrections are kept and also apply to the same passages in "+
				"other documents.")
		}
		return nil
	})
}

// addQuotingVersions adds the newest version and the approved one, if their items quote the document.
func addQuotingVersions(tx *store.Tx, out *api.DocumentUses, d *api.Document) error {
	isNewest, hasApproved := true, false
	for v, err := range store.SoAVersions.By("assessment").Scan(tx, d.OrganizationID, store.Prefix(d.AssessmentID), store.Reverse) {
		if err != nil {
			return err
		}
		if hasApproved {
			break // both were read
		}
		isApproved := v.Status == api.VersionApproved
		if !isNewest && !isApproved {
			continue
		}
		isNewest, hasApproved = false, isApproved
		items, err := soaType.readItems(tx, d.OrganizationID, v.ID)
		if err != nil {
			return err
		}
		use := api.DocumentUse{
			SoAVersionID: v.ID, VersionNumber: v.VersionNumber, Status: v.Status, QuotedBy: []string{}, OnlySourceOf: []string{},
		}
		for n := range items {
			i := &items[n]
			if !slices.ContainsFunc(i.Evidence, func(e api.Evidence) bool { return e.DocumentID == d.ID }) {
				continue
			}
			use.QuotedBy = append(use.QuotedBy, i.ControlCode)
			if i.OnlyDocument == d.Filename {
				use.OnlySourceOf = append(use.OnlySourceOf, i.ControlCode)
			}
		}
		if len(use.QuotedBy) == 0 {
			continue
		}
		rest := ""
		if n := len(use.OnlySourceOf); n > 0 {
			rest = fmt.Sprintf("; %s on nothing else: %s", prose.Count(n, "rests", "rest"), joinFirst(use.OnlySourceOf, 5))
		}
		out.Versions = append(out.Versions, use)
		out.Notes = append(out.Notes, fmt.Sprintf("%s, version %d (%s): %s%s.", api.GateSoA.Title(), v.VersionNumber,
			prose.Humanize(v.Status), prose.Count(len(use.QuotedBy), "item quotes it", "items quote it"), rest))
	}
	return nil
}

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
			Message: "documents have been added, changed or deleted since the Statement of Applicability was drafted; refresh its evidence",
		})
	}
	if unread := v.Inputs[notReadInput]; unread != "" {
		message := "the reader %s has not read all passages for %s requirements, so these requirements are treated " +
			"as not evidenced; import the missing readings, or draft with another reader"
		if v.IsReadByModel() {
			message = "the model %s has not read all passages for %s requirements, so the built-in rules judged " +
				"these requirements; to have the model read new documents, draft with the reader model"
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
				Message: fmt.Sprintf("the item cites deleted documents: %s", joinFirst(gone, 5)),
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
