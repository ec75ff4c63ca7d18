package evidence

import (
	"context"
	"maps"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/search"
	"github.com/scf-service/service/store"
)

// AddTranslatedHits adds passages in other languages to the results of a search in one assessment.
// They are found by the query's translations, which are given by language, and matched by words
// only.
func (s *Service) AddTranslatedHits(
	ctx context.Context, by api.Caller, in *api.SearchInput, translations map[string]string, out *api.SearchAnswer,
) error {
	var questions []Question
	for _, code := range slices.Sorted(maps.Keys(translations)) {
		questions = append(questions, Question{Text: translations[code], Language: code})
	}
	query, err := NewPersistentQuery(&Scale{}, questions, out.TopK)
	if err != nil {
		return err
	}
	err = s.db.View(ctx, func(tx *store.Tx) error {
		for d, err := range store.Documents.By("assessment").Scan(tx, by.OrganizationID, store.Prefix(in.Body.AssessmentID)) {
			if err != nil {
				return err
			}
			if len(d.UnreadLanguages()) == 0 || !isSearched(&d.Document, &in.Body) {
				continue
			}
			chunks, err := readPassages(tx, &d)
			if err != nil {
				return err
			}
			passages := make([]search.Passage, len(chunks))
			for i, c := range chunks {
				passages[i] = toSearchPassage(c, d.Document, nil)
			}
			setLanguages(&d, passages)
			if err := query.addOrReplaceDocument(d.Document, chunks, passages); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	for i := range questions {
		for _, answer := range query.TopAnswers(i) {
			at := slices.IndexFunc(out.Data, func(h api.SearchHit) bool { return h.ChunkID == answer.ID })
			switch {
			case answer.Score < out.MinScore:
			case at < 0:
				c, d := query.PassageAt(answer.Slot)
				out.Data = append(out.Data, toSearchHit(Hit{Result: search.Result{ID: c.ID, Score: answer.Score}, Chunk: c, Document: d}))
			default:
				out.Data[at].Score = max(out.Data[at].Score, answer.Score)
			}
		}
	}
	sortHits(out)
	return nil
}

// isSearched reports whether a search's filters include a document.
func isSearched(d *api.Document, q *api.SearchBody) bool {
	if q.DocumentID != "" && d.ID != q.DocumentID || q.Category != "" && d.Category != q.Category {
		return false
	}
	if q.EffectiveFrom == nil && q.EffectiveTo == nil {
		return true
	}
	return d.EffectiveDate != nil && (q.EffectiveFrom == nil || *d.EffectiveDate >= *q.EffectiveFrom) &&
		(q.EffectiveTo == nil || *d.EffectiveDate <= *q.EffectiveTo)
}
