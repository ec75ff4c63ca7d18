package evidence

import (
	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// RemoteModelBan returns who forbids sending evidence to models on other machines, such as "the organization", or ""
// if nobody does. assessment may be empty.
func RemoteModelBan(tx *store.Tx, org, assessment string) (string, error) {
	o, err := store.Organizations.Get(tx, org)
	if err != nil {
		return "", err
	}
	if on, _ := o.Settings[api.NoRemoteModel].(bool); on {
		return "the organization", nil
	}
	if assessment == "" {
		return "", nil
	}
	a, err := store.Assessments.Get(tx, org, store.K(assessment))
	if err == nil && a.NoRemoteModel {
		return "the assessment", nil
	}
	return "", store.ToNotFound(err, "assessment", assessment)
}

// isBanned reports whether the remote embedder must not be sent an assessment's passages and questions.
func (o *remoteEmbedder) isBanned(tx *store.Tx, org, assessment string) (bool, error) {
	if where, ok := o.embedder.(interface{ IsRemote() bool }); !ok || !where.IsRemote() {
		return false, nil
	}
	by, err := RemoteModelBan(tx, org, assessment)
	return by != "", err
}

// splitBanned returns the documents that the remote embedder may embed, and the number of passages
// in the other documents.
func (o *remoteEmbedder) splitBanned(tx *store.Tx, documents []store.Document) (allowed []store.Document, bannedPassages int, err error) {
	known := map[string]bool{}
	for _, d := range documents {
		is, ok := known[d.AssessmentID]
		if !ok {
			if is, err = o.isBanned(tx, d.OrganizationID, d.AssessmentID); err != nil {
				return nil, 0, err
			}
			known[d.AssessmentID] = is
		}
		if is {
			bannedPassages += d.ChunkCount
		} else {
			allowed = append(allowed, d)
		}
	}
	return allowed, bannedPassages, nil
}
