package assessment

import (
	"context"
	"errors"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge/modelreader"
	"github.com/scf-service/service/engine/judge/reading"
	"github.com/scf-service/service/store"
)

// Search finds the passages that best answer a question. If requested, the language model
// translates the question into the other languages of the assessment's documents, and the
// translations are searched for too. They are stored for reuse.
func (s *Service) Search(ctx context.Context, by api.Caller, in *api.SearchInput) (*api.SearchAnswer, error) {
	if !in.Body.Translate {
		return s.evidence.Search(ctx, by, in)
	}
	if in.Body.AssessmentID == "" {
		return nil, api.Invalid("translate", "a query can be translated only for the documents of one assessment; "+
			"specify assessment_id")
	}
	var languages []string
	err := s.db.View(ctx, func(tx *store.Tx) error {
		a, err := getAssessment(tx, by, in.Body.AssessmentID)
		if err != nil {
			return err
		}
		languages, err = unreadLanguages(tx, by.OrganizationID, a.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	translated := map[string]string{}
	for _, code := range languages {
		if translated[code], err = s.translateQuery(ctx, by, in.Body.AssessmentID, code, in.Body.Query); err != nil {
			return nil, err
		}
	}
	out, err := s.evidence.Search(ctx, by, in)
	if err != nil || len(translated) == 0 {
		return out, err
	}
	for _, code := range languages {
		out.Translations = append(out.Translations, api.QueryTranslation{Language: code, Query: translated[code]})
	}
	return out, s.evidence.AddTranslatedHits(ctx, by, in, translated, out)
}

// translateQuery returns the translation of a search query: a stored one, or a new one by the language model.
func (s *Service) translateQuery(ctx context.Context, by api.Caller, assessment, code, query string) (string, error) {
	t := store.Translation{
		OrganizationID: by.OrganizationID, Language: store.TranslatedQuery + code, StatementID: reading.Statement{Text: query}.ID(),
	}
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		stored, err := store.Translations.Get(tx, t.OrganizationID, store.K(t.Language, t.StatementID))
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		t.Text = stored.Text
		return err
	})
	if err != nil || t.Text != "" {
		return t.Text, err
	}
	if s.model == nil {
		return "", api.Invalid("translate",
			"no language model is selected; select a model with `service model use`, then restart the daemon if one is running")
	}
	status, err := s.modelStatus(ctx, by.OrganizationID, assessment)
	if err != nil {
		return "", err
	}
	reader := modelreader.Reader{Model: s.model, After: func(c modelreader.Call) error { t.Digest = c.Digest; return nil }}
	texts, err := reader.Translate(ctx, api.LanguageName(code), []string{query})
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", api.Internal("%s could not translate the query into %s: %v", status.Model, api.LanguageName(code), err).WithCause(err)
	case texts[0] == "":
		return "", api.Internal("%s gave no valid translation of the query into %s; search without translations, or choose another model",
			status.Model, api.LanguageName(code))
	}
	t.Text, t.Model = texts[0], status.Model
	return t.Text, s.db.Update(ctx, func(tx *store.Tx) error { return store.Translations.Put(tx, t.OrganizationID, &t) })
}
