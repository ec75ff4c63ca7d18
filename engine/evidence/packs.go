package evidence

import (
	"context"
	"errors"
	"iter"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/search"
	"github.com/scf-service/service/store"
)

// loadAndRemovePackedDocuments fills an empty index with an assessment's fully packed documents and
// removes them from documents, which is keyed by passage set. The documents that remain afterwards
// were packed in another format.
func loadAndRemovePackedDocuments(
	ctx context.Context,
	tx *store.Tx,
	org, assessment string,
	documents map[string]store.Document,
	ix *search.Index,
) error {
	return ix.FillFromPacks(func(yield func(search.Packed, error) bool) {
		for packs, err := range packsByDocument(ctx, tx, org, assessment) {
			if err != nil {
				yield(search.Packed{}, err)
				return
			}
			d, known := documents[packs[0].DocumentID]
			if !known || !arePacksComplete(packs, d.ChunkCount) {
				continue
			}
			delete(documents, packs[0].DocumentID)
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

// packsByDocument yields an assessment's passage packs, grouped by passage set.
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

// arePacksComplete reports whether the packs contain exactly count passages, all in a format that can be read.
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
