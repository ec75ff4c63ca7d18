package assessment

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge/modelreader"
	"github.com/scf-service/service/engine/judge/reading"
	"github.com/scf-service/service/store"
)

// translations holds the statements in other languages, by language and ID of the statement. A statement that the model
// could not translate is "".
type translations map[string]map[string]string

// readTranslations returns the stored translations into the languages of an assessment's evidence.
// They are stored per organization, because statements belong to the catalog rather than to an
// assessment.
func (s *Service) readTranslations(ctx context.Context, a *api.Assessment) (out translations, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		languages, err := unreadLanguages(tx, a.OrganizationID, a.ID)
		if err != nil {
			return err
		}
		out = translations{}
		for _, code := range languages {
			out[code] = map[string]string{}
			for t, err := range store.Translations.Scan(tx, a.OrganizationID, store.Prefix(code)) {
				if err != nil {
					return err
				}
				out[code][t.StatementID] = t.Text
			}
		}
		return nil
	})
	return out, err
}

// unreadLanguages returns the languages of an assessment's evidence that the rules can't read,
// sorted.
func unreadLanguages(tx *store.Tx, org, assessment string) ([]string, error) {
	found := map[string]bool{}
	for d, err := range store.Documents.By("assessment").Scan(tx, org, store.Prefix(assessment)) {
		if err != nil {
			return nil, err
		}
		for _, n := range d.UnreadLanguages() {
			found[n.Language] = true
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// addUntranslated adds the statements of a control that are not translated into all languages of the evidence.
func (r *modelRun) addUntranslated(statements []reading.Statement, translated translations) {
	for code, known := range translated {
		for _, st := range statements {
			if _, ok := known[st.ID()]; !ok {
				if r.untranslated == nil {
					r.untranslated = map[string][]reading.Statement{}
				}
				r.untranslated[code] = append(r.untranslated[code], st)
			}
		}
	}
}

// isTranslated reports whether all statements are translated into all languages of the evidence.
func (r *modelRun) isTranslated() bool {
	return len(r.untranslated) == 0
}

// textsToTranslate returns the texts of statements, each with its topic.
func textsToTranslate(statements []reading.Statement) []string {
	out := make([]string, len(statements))
	for i, st := range statements {
		if out[i] = st.Text; st.Topic != "" {
			out[i] = st.Topic + ": " + st.Text
		}
	}
	return out
}

// translate translates statements until the time is up or a limit is reached.
func (r *modelRun) translate(ctx context.Context) error {
	digest := ""
	reader := modelreader.Reader{
		Model: r.s.model, Before: func(tokens int) error { return r.reserve(ctx, tokens) },
		After: func(c modelreader.Call) error { digest = c.Digest; return r.countAnswer(ctx, c) },
	}
	for _, code := range slices.Sorted(maps.Keys(r.untranslated)) {
		for len(r.untranslated[code]) > 0 && !r.isOver() {
			batch := r.untranslated[code][:min(modelreader.TranslationBatch, len(r.untranslated[code]))]
			translated, err := reader.Translate(ctx, api.LanguageName(code), textsToTranslate(batch))
			if errors.Is(err, errStopped) {
				return nil
			}
			if err != nil {
				return err
			}
			err = r.s.db.Update(ctx, func(tx *store.Tx) error {
				for i, st := range batch {
					t := store.Translation{
						OrganizationID: r.by.OrganizationID, Language: code, StatementID: st.ID(), Text: translated[i],
						Model: r.status.Model, Digest: digest,
					}
					if err := store.Translations.Put(tx, t.OrganizationID, &t); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			if r.untranslated[code] = r.untranslated[code][len(batch):]; len(r.untranslated[code]) == 0 {
				delete(r.untranslated, code)
			}
		}
	}
	return nil
}

// estimateTranslation adds what is left to translate to the estimate.
func (r *modelRun) estimateTranslation(out *api.ModelReading) {
	for code, statements := range r.untranslated {
		e := modelreader.EstimateTranslation(api.LanguageName(code), textsToTranslate(statements))
		out.Next = out.Next.Add(estimatedUse(e))
		out.Left = max(out.Left, 1) // there is more to read once the statements are translated
	}
	out.Statements = max(out.Statements, out.Left)
}

// languagesRead returns the languages other than English that the evaluation's reader can read.
func (j *Evaluation) languagesRead() (out []string) {
	if !j.reader.isModel() {
		return nil
	}
	for code, all := range j.translated {
		for _, text := range all {
			if text != "" {
				out = append(out, code)
				break
			}
		}
	}
	return out
}

// languagesReadBy returns the languages of evidence that a reader can read: if it is a model, those
// into which statements have been translated.
func languagesReadBy(tx *store.Tx, org, reader string, unread []api.UnreadLanguage) (out []string, err error) {
	if !strings.HasPrefix(reader, modelReaderPrefix) {
		return nil, nil
	}
	for _, l := range unread {
		for t, err := range store.Translations.Scan(tx, org, store.Prefix(l.Language)) {
			if err != nil {
				return nil, err
			}
			if t.Text != "" {
				out = append(out, l.Language)
				break
			}
		}
	}
	return out, nil
}
