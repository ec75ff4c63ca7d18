package evidence

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/dedup"
	"github.com/scf-service/service/store"
)

// markDuplicates marks the passages of an assessment that nearly duplicate a passage of an earlier
// document. It compares all passages, so it runs once the last document of a batch has been read.
func (s *Service) markDuplicates(ctx context.Context, org, assessment string) error {
	var docs []store.Document
	chunks := map[string][]api.Chunk{}
	err := s.db.View(ctx, func(tx *store.Tx) error {
		docs = nil
		clear(chunks)
		for d, err := range store.Documents.By("assessment").Scan(tx, org, store.Prefix(assessment)) {
			if err != nil {
				return err
			}
			docs = append(docs, d)
			if chunks[d.ID], err = readPassages(tx, &d); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(docs, func(a, b store.Document) int {
		if c := a.CreatedAt.Compare(b.CreatedAt); c != 0 {
			return c
		}
		return strings.Compare(a.Filename+a.SHA256, b.Filename+b.SHA256)
	})
	var all []api.Chunk
	var texts []dedup.Text
	for group, d := range docs {
		passages := chunks[d.ID]
		slices.SortFunc(passages, func(a, b api.Chunk) int { return a.Index - b.Index })
		for _, c := range passages {
			all, texts = append(all, c), append(texts, dedup.Text{Group: group, Text: c.Text})
		}
	}
	marks := dedup.EarliestMatches(texts)
	var changed []api.Chunk
	for i, at := range marks {
		var original *string
		if at >= 0 {
			original = &all[at].ID
		}
		if stringOrEmpty(original) != stringOrEmpty(all[i].DuplicateOf) {
			all[i].DuplicateOf = original
			changed = append(changed, all[i])
		}
	}
	for batch := range slices.Chunk(changed, passageBatch) {
		if err := s.db.Update(ctx, func(tx *store.Tx) error { return saveDuplicateMarks(tx, org, batch) }); err != nil {
			return err
		}
	}
	return nil
}

// saveDuplicateMarks stores each passage's DuplicateOf. It skips passages that have changed in the
// meantime: that change will mark duplicates again.
func saveDuplicateMarks(tx *store.Tx, org string, marked []api.Chunk) error {
	for _, c := range marked {
		now, err := readStoredPassage(tx, org, c.ID)
		if errors.Is(err, store.ErrNotFound) || err == nil && now.SHA256 != c.SHA256 {
			continue
		}
		if err != nil {
			return err
		}
		now.DuplicateOf = c.DuplicateOf
		if err := store.Chunks.Put(tx, org, &now); err != nil {
			return err
		}
	}
	return nil
}

func stringOrEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
