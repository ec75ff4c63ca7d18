package evidence

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/embed"
	"github.com/scf-service/service/store"
)

// Training an embedder takes 13 s for a full catalog. A daemon trains in advance, and stores documents read meanwhile
// without vectors, so that neither uploads nor moves wait:
//
//	read ─▶ passages without packs, listed in store.UnembeddedPassages ─▶ trained ─▶ packs with vectors, no longer listed
//
// Everything that needs vectors calls Service.Embedder first, which embeds what the assessment still lacks.

// isTrainedLater reports whether a document should be stored without vectors, because the embedder of the catalog
// version is being trained in the background. Training on the starter catalog takes a second at most, so its documents
// wait for the embedder.
func (s *Service) isTrainedLater(ctx context.Context, version string) (later bool, err error) {
	if !s.embedders.ahead.Load() {
		return false, nil
	}
	err = s.db.View(ctx, func(tx *store.Tx) error {
		rec, err := store.CatalogVersions.Get(tx, version)
		later = err == nil && rec.EmbedderBlob == "" && !rec.IsStarter
		return err
	})
	if later {
		s.TrainAhead(version)
	}
	return later, err
}

// recordWhetherEmbedded lists a document's passages as unembedded if they have no vectors, and otherwise removes them from the list.
func recordWhetherEmbedded(tx *store.Tx, doc *store.Document) error {
	if doc.Embedder != "" {
		return markEmbedded(tx, doc)
	}
	set := doc.Passages()
	return store.UnembeddedPassages.Put(tx, doc.OrganizationID, &set)
}

// isUnembedded reports whether a document has passages without vectors.
func isUnembedded(doc *store.Document) bool { return doc.Embedder == "" && doc.ChunkCount > 0 }

func markEmbedded(tx *store.Tx, doc *store.Document) error {
	return ignoreMissing(store.UnembeddedPassages.Delete(tx, doc.OrganizationID, doc.AssessmentID, doc.ID))
}

// embedUnembedded embeds all passages that lack vectors, and trains their embedders where necessary.
func (s *Service) embedUnembedded(ctx context.Context) error {
	var sets []store.PassageSet
	err := s.db.View(ctx, func(tx *store.Tx) error {
		sets = nil
		for set, err := range store.UnembeddedPassages.AcrossTenants().Scan(tx) {
			if err != nil {
				return err
			}
			sets = append(sets, set)
		}
		return nil
	})
	if err != nil {
		return err
	}
	done := map[string]bool{}
	for _, set := range sets {
		if done[set.AssessmentID] {
			continue
		}
		done[set.AssessmentID] = true
		_, err := s.Embedder(ctx, ingestionCaller(set.OrganizationID), set.AssessmentID)
		if err != nil && !api.IsCode(err, api.CodeNotFound) { // not found: the assessment was deleted
			return err
		}
	}
	return nil
}

// embedUnembeddedOf embeds the passages of an assessment that lack vectors.
func (s *Service) embedUnembeddedOf(ctx context.Context, org, assessment string, embedder *embed.Model) error {
	var sets []store.PassageSet
	err := s.db.View(ctx, func(tx *store.Tx) error {
		sets = nil
		for set, err := range store.UnembeddedPassages.Scan(tx, org, store.Prefix(assessment)) {
			if err != nil {
				return err
			}
			sets = append(sets, set)
		}
		return nil
	})
	if err != nil || len(sets) == 0 {
		return err
	}
	for _, set := range sets {
		if err := s.embedSet(ctx, set, embedder); err != nil {
			return err
		}
	}
	s.indexes.remove(assessment)
	return nil
}

// errSetChanged is the error of embedSet's transactions if the document changed in the meantime. When the document is
// read again, its passages are either embedded or listed again.
var errSetChanged = errors.New("the document changed")

// embedSet embeds a document's passages, writes them in packs, one transaction each, and removes the set from the list.
func (s *Service) embedSet(ctx context.Context, set store.PassageSet, embedder *embed.Model) error {
	s.embedders.unembedded.Lock() // searches and drafts of one assessment may find the same sets
	defer s.embedders.unembedded.Unlock()
	var basis store.Document
	var chunks []api.Chunk
	err := s.db.View(ctx, func(tx *store.Tx) error {
		listed, err := store.UnembeddedPassages.Has(tx, set.OrganizationID, set.AssessmentID, set.DocumentID)
		if err == nil && !listed {
			return errSetChanged
		}
		if err == nil {
			basis, err = store.Documents.Get(tx, set.OrganizationID, set.DocumentID)
		}
		if err == nil {
			chunks, err = readPassages(tx, &basis)
		}
		return err
	})
	embedded := basis
	embedded.Embedder = embedder.Name()
	for from := 0; err == nil && from < len(chunks); from += passageBatch {
		part := chunks[from:min(from+passageBatch, len(chunks))]
		texts := make([]string, len(part))
		for i, c := range part {
			texts[i] = c.Text
		}
		var vectors [][]float32
		if vectors, err = embedder.Embed(ctx, texts); err != nil {
			return fmt.Errorf("embedding %s: %w", basis.Filename, err)
		}
		var data []byte
		if data, err = packPassages(&basis, part, vectors); err != nil {
			return err
		}
		err = s.updateUnchanged(ctx, &basis, func(tx *store.Tx) error {
			return putPack(tx, &basis, basis.Passages().Key(), from/passageBatch, data)
		})
	}
	if err == nil {
		err = s.updateUnchanged(ctx, &basis, func(tx *store.Tx) error {
			return errors.Join(store.Documents.Put(tx, set.OrganizationID, &embedded), markEmbedded(tx, &embedded))
		})
	}
	if errors.Is(err, errSetChanged) || errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// updateUnchanged runs an update that isn't logged for clones. It returns errSetChanged if the document's record has changed.
func (s *Service) updateUnchanged(ctx context.Context, basis *store.Document, update func(tx *store.Tx) error) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		now, err := store.Documents.Get(tx, basis.OrganizationID, basis.ID)
		if err == nil && !reflect.DeepEqual(now, *basis) {
			err = errSetChanged
		}
		if err != nil {
			return err
		}
		return tx.WithoutSyncLog(func() error { return update(tx) })
	})
}
