package assessment

import (
	"cmp"
	"context"
	"maps"
	"runtime"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/evidence"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/engine/judge/reading"
)

// sessionSearcher implements judge.Finder on the evidence of a session.
type sessionSearcher struct{ session *evidence.Session }

func (f sessionSearcher) Find(ctx context.Context, query string, topK int) ([]judge.Passage, error) {
	hits, err := f.session.Find(ctx, query, topK)
	if err != nil {
		return nil, err
	}
	out := make([]judge.Passage, len(hits))
	for i, h := range hits {
		out[i] = toPassage(&h.Chunk, &h.Document)
		out[i].Score, out[i].Semantic, out[i].Keyword = h.Score, h.Semantic, h.Keyword
	}
	return out, nil
}

func toPassage(c *api.Chunk, d *api.Document) judge.Passage {
	return judge.Passage{
		ChunkID: c.ID, DocumentID: d.ID, DocumentTitle: d.Title, Filename: d.Filename, Category: d.Category, HeadingPath: c.HeadingPath,
		Kind: c.Kind, Locator: c.Locator, Text: c.Text, SHA256: c.SHA256, EffectiveDate: d.EffectiveDate,
	}
}

// PreparedControls holds the search queries of controls, prepared for one embedder. They don't
// depend on any evidence.
type PreparedControls struct {
	plan  *judge.EvaluationPlan
	scale *evidence.Scale
}

// PrepareControlsForEvaluation prepares controls for one embedder. Word weights are derived from all
// controls of the catalog, so that a control's verdict doesn't depend on which others are selected.
func PrepareControlsForEvaluation(
	ctx context.Context,
	model *evidence.Model,
	allControls, controls []api.Control,
) (*PreparedControls, error) {
	ground := model.Background()
	docket, err := judge.NewEvaluationPlan(
		ctx,
		controls,
		&judge.Embedder{Embed: model.Embed, Mean: float64(ground.Mean), Deviation: float64(ground.Deviation)},
		runtime.GOMAXPROCS(0),
	)
	if err != nil {
		return nil, err
	}
	texts, err := docket.StatementQueries(ctx, allControls, runtime.GOMAXPROCS(0))
	if err != nil {
		return nil, err
	}
	return &PreparedControls{docket, evidence.NewScale(model, texts)}, nil
}

// Evaluation judges prepared controls against the evidence of one assessment or session.
type Evaluation struct {
	*judge.IncrementalEvaluator
	prepared   *PreparedControls
	query      *evidence.PersistentQuery
	translated translations // translations of the statements that it searches for
	reader     *storedReader
	copies     copyFinder
}

// RulesReader returns the rules as a reader of the prepared controls' statements.
func (a *PreparedControls) RulesReader(today api.Date) reading.Reader {
	return judge.NewRulesReader(a.plan, judge.Options{Today: today})
}

// passagesPerStatement is the number of passages examined for each statement of a control.
const passagesPerStatement = 20

// newEvaluation returns an Evaluation to which no evidence has been added yet. Statements are also searched for in the
// languages that they are translated into.
func (a *PreparedControls) newEvaluation(o judge.Options, translated translations) (*Evaluation, error) {
	questions := make([]evidence.Question, len(a.plan.Questions()))
	for i, q := range a.plan.Questions() {
		questions[i] = evidence.Question{Text: q.Text, Vector: q.Vector}
	}
	foreign := map[int][]int{}
	for _, code := range slices.Sorted(maps.Keys(translated)) {
		a.plan.ForEachStatement(func(question int, st reading.Statement) {
			if text := translated[code][st.ID()]; text != "" {
				foreign[question] = append(foreign[question], len(questions))
				questions = append(questions, evidence.Question{Text: text, Language: code})
			}
		})
	}
	standing, err := evidence.NewPersistentQuery(a.scale, questions, passagesPerStatement)
	if err != nil {
		return nil, err
	}
	return &Evaluation{
		IncrementalEvaluator: judge.NewIncrementalEvaluator(a.plan, evidenceSource{standing, foreign}, o),
		prepared:             a,
		query:                standing,
		translated:           translated,
		copies:               copyFinder{query: standing, documents: map[string]*documentCopies{}},
	}, nil
}

// Evaluate returns an Evaluation against the evidence of a session, for evidence that isn't stored in this form.
func (a *PreparedControls) Evaluate(ctx context.Context, session *evidence.Session, o judge.Options) (*Evaluation, error) {
	return a.evaluateSession(ctx, session, o, nil)
}

func (a *PreparedControls) evaluateSession(
	ctx context.Context, session *evidence.Session, o judge.Options, translated translations,
) (*Evaluation, error) {
	j, err := a.newEvaluation(o, translated)
	if err != nil {
		return nil, err
	}
	if err := session.AddDocumentsTo(j.query); err != nil {
		return nil, err
	}
	return j, j.Refresh(ctx, runtime.GOMAXPROCS(0))
}

// evidenceSource implements judge.PassageSource on top of a persistent query.
type evidenceSource struct {
	*evidence.PersistentQuery
	foreign map[int][]int // by question: the translated versions of the question
}

// passagesPerTranslation is the number of passages examined for each statement in each other language.
const passagesPerTranslation = 8

func (s evidenceSource) BestPassages(question int) []judge.RankedPassage {
	best := s.TopAnswers(question)
	for _, q := range s.foreign[question] {
		answers := s.TopAnswers(q)
		for _, b := range answers[:min(len(answers), passagesPerTranslation)] {
			i := slices.IndexFunc(best, func(o evidence.Answer) bool { return o.Slot == b.Slot })
			if i < 0 {
				best = append(best, b)
				continue
			}
			best[i].Score = max(best[i].Score, b.Score)
		}
	}
	if len(s.foreign[question]) > 0 {
		slices.SortStableFunc(best, func(a, b evidence.Answer) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
		})
	}
	out := make([]judge.RankedPassage, len(best))
	for i, b := range best {
		out[i] = judge.RankedPassage{Number: b.Slot, Score: b.Score}
	}
	return out
}

// Version implements judge.PassageSource.
func (s evidenceSource) Version(question int) int {
	n := s.PersistentQuery.Version(question)
	for _, q := range s.foreign[question] {
		n += s.PersistentQuery.Version(q)
	}
	return n
}

func (s evidenceSource) Passage(number int) judge.Passage {
	c, d := s.PassageAt(number)
	return toPassage(&c, &d)
}

func (s evidenceSource) Documents() []string {
	return slices.Sorted(maps.Keys(s.PersistentQuery.Documents()))
}

func (s evidenceSource) DocumentPassages(document string) []int { return s.DocumentSlots(document) }

// today returns the current date, which is used to judge the age of evidence.
func (s *Service) today() api.Date { return api.DateOf(s.clock()) }

// catalogSnapshot returns the catalog version of an assessment, including the organization's custom
// frameworks and controls at the revision that the assessment uses.
func (s *Service) catalogSnapshot(ctx context.Context, a *api.Assessment) (*scf.Snapshot, error) {
	return s.catalog.SnapshotWithCustom(ctx, a.OrganizationID, a.SCFVersionID, a.CustomRevision)
}

// mapParallel calls convert for each input and returns the results in order. It omits results for
// which convert returns false. If any calls fail, it returns the error for the first failed input.
func mapParallel[A, B any](ctx context.Context, inputs []A, convert func(*A) (B, bool, error)) ([]B, error) {
	type one struct {
		made bool
		err  error
	}
	out, results := make([]B, len(inputs)), make([]one, len(inputs))
	err := forEachParallel(ctx, len(inputs), func(_ context.Context, n int) error {
		out[n], results[n].made, results[n].err = convert(&inputs[n])
		return nil
	})
	kept := out[:0]
	for n := range out {
		err = cmp.Or(err, results[n].err)
		if results[n].made {
			kept = append(kept, out[n])
		}
	}
	return kept, err
}

// forEachParallel calls work for 0 to count-1 on all cores, in no particular order, and stops at
// the first error.
func forEachParallel(ctx context.Context, count int, work func(ctx context.Context, n int) error) error {
	return judge.ForEach(ctx, count, runtime.GOMAXPROCS(0), work)
}
