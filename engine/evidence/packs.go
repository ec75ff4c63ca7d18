package evidence

import (
	"context"
	"errors"
	"iter"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/search"
	"github.com/scf-service/service/store"
)

// savePacks stores a document's passages in the search index's format, replacing earlier packs.
func savePacks(tx *store.Tx, doc *store.Document, passages []search.Passage) error {
	if err := deletePacks(tx, doc); err != nil {
		return err
	}
	for part := 0; len(passages) > 0; part++ {
		some := passages[:min(search.PackPassages, len(passages))]
		passages = passages[len(some):]
		data, err := search.Pack(some)
		if err != nil {
			return err
		}
		if err := store.PassagePacks.Put(tx, doc.OrganizationID, &store.PassagePack{
			OrganizationID: doc.OrganizationID,
			AssessmentID:   doc.AssessmentID, DocumentID: doc.ID, Part: part, Data: data,
		}); err != nil {
			return err
		}
	}
	return nil
}

func deletePacks(tx *store.Tx, doc *store.Document) error {
	_, err := store.PassagePacks.DeleteAll(tx, doc.OrganizationID, doc.AssessmentID, doc.ID)
	return err
}

// loadPackedDocuments fills an empty index with an assessment's fully packed documents and removes their
// entries from the documents map. Entries that remain were read by a version with another format.
func loadPackedDocuments(ctx context.Context, tx *store.Tx, org, assessment string, documents map[string]store.Document, ix *search.Index) error {
	return ix.Load(func(yield func(search.Packed, error) bool) {
		for packs, err := range packsByDocument(ctx, tx, org, assessment) {
			if err != nil {
				yield(search.Packed{}, err)
				return
			}
			d, known := documents[packs[0].DocumentID]
			if !known || !arePacksComplete(packs, d.ChunkCount) {
				continue
			}
			delete(documents, d.ID)
			sample := toSearchPassage(api.Chunk{DocumentID: d.ID, AssessmentID: assessment}, d.Document, nil)
			for _, p := range packs {
				if !yield(
					search.Packed{
						DocumentID:   sample.DocumentID,
						AssessmentID: assessment,
						Category:     sample.Category,
						Date:         sample.Date,
						Data:         p.Data,
					},
					nil,
				) {
					return
				}
			}
		}
	})
}

// packsByDocument iterates over the packs, document by document.
func packsByDocument(ctx context.Context, tx *store.Tx, org, assessment string) iter.Seq2[[]store.PassagePack, error] {
	return func(yield func([]store.PassagePack, error) bool) {
		var packs []store.PassagePack
		for p, err := range store.PassagePacks.Scan(tx, org, store.Prefix(assessment)) {
			if err := errors.Join(err, ctx.Err()); err != nil {
				yield(nil, err)
				return
			}
			if len(packs) > 0 && packs[0].DocumentID != p.DocumentID {
				if !yield(packs, nil) {
					return
				}
				packs = nil
			}
			packs = append(packs, p)
		}
		if len(packs) > 0 {
			yield(packs, nil)
		}
	}
}

// arePacksComplete reports whether the packs hold count passages, all in a readable format.
func arePacksComplete(packs []store.PassagePack, count int) bool {
	for _, p := range packs {
		n, err := search.PackedLen(p.Data)
		if err != nil {
			return false
		}
		count -= n
	}
	return count == 0
}
