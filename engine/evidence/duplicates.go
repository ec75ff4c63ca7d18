package evidence

import (
	"context"
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
		}
		for c, err := range store.Chunks.By("assessment").Scan(tx, org, store.Prefix(assessment)) {
			if err != nil {
				return err
			}
			chunks[c.DocumentID] = append(chunks[c.DocumentID], c)
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
	newMarks := map[string]*string{}
	for i, at := range dedup.EarliestMatches(texts) {
		var original *string
		if at >= 0 {
			original = &all[at].ID
		}
		if stringOrEmpty(original) != stringOrEmpty(all[i].DuplicateOf) {
			newMarks[all[i].ID] = original
		}
	}
	if len(newMarks) == 0 {
		return nil
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		for _, c := range all {
			original, changed := newMarks[c.ID]
			if !changed {
				continue
			}
			now, err := store.Chunks.Get(tx, org, c.ID)
			if err != nil || now.SHA256 != c.SHA256 { // it was changed meanwhile; whoever changed it marks duplicates again
				if err := ignoreMissing(err); err != nil {
					return err
				}
				continue
			}
			now.DuplicateOf = original
			if err := store.Chunks.Put(tx, org, &now); err != nil {
				return err
			}
		}
		return nil
	})
}

func stringOrEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
