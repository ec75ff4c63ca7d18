// Package retrieval measures search quality: it trains the built-in embedder on the training texts of a benchmark
// folder, ranks with the product's search index, and compares the result with keyword search (BM25) in the same run.
// It must not rank by rules of its own, so that it measures what users get.
//
//	DIR/train ─▶ embed.Train ─┐
//	DIR/A, B, C ──────────────┴▶ search.Index ─▶ figures and run files
package retrieval

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"github.com/scf-service/service/engine/evidence/embed"
	"github.com/scf-service/service/engine/evidence/search"
)

// Training selects the texts in a benchmark folder that the embedder is trained on.
type Training string

const (
	// TrainOnWorkbook uses the content of every imported workbook: controls, maturity lines and
	// crosswalk codes.
	TrainOnWorkbook Training = "workbook"
	// TrainOnOpenTexts additionally uses the openly published requirement texts.
	TrainOnOpenTexts Training = "open"
)

// Options configures Run.
type Options struct {
	Folder fs.FS
	Train  Training
	// Seed is the seed of the training; the product uses 0.
	Seed uint64
	// Other is an embedder to compare with the built-in one, or nil.
	Other embed.Embedder
	// Progress, if set, is called with the current step.
	Progress func(what string, done, total int)
}

// Ranking methods, in the order of Task.Methods.
const (
	ByWords  = "BM25"
	ByVector = "embedder alone"
	Hybrid   = "hybrid"
)

// MethodResult is a ranking method and its metrics.
type MethodResult struct {
	Name string `json:"name"`
	Metrics
}

// Task is a benchmark and its results.
type Task struct {
	Name     string         `json:"name"` // A, B, C, C_passage_to_control
	About    string         `json:"description"`
	Queries  int            `json:"queries"`
	Passages int            `json:"passages"`
	Methods  []MethodResult `json:"methods"` // ByWords, ByVector, Hybrid, then the other embedder's two methods
	// AnswerScore is the median hybrid score of relevant passages.
	AnswerScore float64 `json:"answer_score"`
	// Ranking contains the hybrid rankings, in the order of the queries.
	Ranking []Ranked `json:"-"`
}

// MethodResult returns the result of the method with the given name. It panics if there is none.
func (t Task) MethodResult(name string) MethodResult {
	i := slices.IndexFunc(t.Methods, func(m MethodResult) bool { return m.Name == name })
	return t.Methods[i]
}

// Ranked is a query with its results, best first.
type Ranked struct {
	Query   string
	Results []search.Result
}

// Report is the result of a run.
type Report struct {
	Training Training `json:"training"`
	Embedder string   `json:"embedder"`
	Terms    int      `json:"terms"`
	Controls int      `json:"controls"`
	Pairs    int      `json:"pairs"`
	Tasks    []Task   `json:"tasks"`
}

// Run trains the embedder and measures the rankings. The result depends only on the options.
func Run(ctx context.Context, o Options) (*Report, error) {
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
	corpus, err := ReadCorpus(o.Folder, o.Train)
	if err != nil {
		return nil, err
	}
	tasks, err := loadTasks(o.Folder)
	if err != nil {
		return nil, err
	}
	model, err := embed.Train(
		ctx,
		corpus,
		embed.Options{Seed: o.Seed, Progress: func(done, total int) { o.Progress("train the embedder", done, total) }},
	)
	if err != nil {
		return nil, err
	}
	r := &Report{Training: o.Train, Embedder: model.Name(), Terms: model.Len(), Controls: len(corpus.Documents), Pairs: len(corpus.Pairs)}
	for i, t := range tasks {
		o.Progress("rank "+t.name, i, len(tasks))
		result, err := t.measureMethods(ctx, model, o.Other)
		if err != nil {
			return nil, fmt.Errorf("benchmark %s: %w", t.name, err)
		}
		r.Tasks = append(r.Tasks, *result)
	}
	return r, nil
}

// measureMethods ranks the task's passages with each method.
func (t *task) measureMethods(ctx context.Context, model *embed.Model, other embed.Embedder) (*Task, error) {
	passages, queryVectors, err := t.embedPassagesAndQueries(ctx, model)
	if err != nil {
		return nil, err
	}
	for i := range passages {
		passages[i].Prior = model.KnownTextPrior(passages[i].Text)
	}
	out := &Task{Name: t.name, About: t.about, Passages: len(t.passages)}
	for _, it := range t.queries {
		if len(t.gradesByQuery[it.ID]) > 0 {
			out.Queries++
		}
	}
	for _, method := range []string{ByWords, ByVector, Hybrid} {
		ranking, err := t.rank(ctx, method, passages, queryVectors, model)
		if err != nil {
			return nil, err
		}
		out.Methods = append(out.Methods, MethodResult{method, t.computeMetrics(ranking)})
		out.Ranking = ranking // the hybrid's, because it comes last
	}
	out.AnswerScore = t.medianRelevantScore(out.Ranking)
	if other == nil {
		return out, nil
	}
	if passages, queryVectors, err = t.embedPassagesAndQueries(ctx, other); err != nil {
		return nil, err
	}
	for _, method := range []string{ByVector, Hybrid} {
		ranking, err := t.rank(ctx, method, passages, queryVectors, weightsOnly{model})
		if err != nil {
			return nil, err
		}
		out.Methods = append(out.Methods, MethodResult{method + ", " + other.Name(), t.computeMetrics(ranking)})
	}
	return out, nil
}

// embedPassagesAndQueries returns the passages with their vectors, and the vectors of the queries.
func (t *task) embedPassagesAndQueries(ctx context.Context, embedder embed.Embedder) ([]search.Passage, [][]float32, error) {
	passages := make([]search.Passage, len(t.passages))
	vectors, err := embedAll(ctx, embedder, t.passages)
	if err != nil {
		return nil, nil, err
	}
	for i, it := range t.passages {
		passages[i] = it.passage()
		passages[i].Vector = vectors[i]
	}
	queryVectors, err := embedAll(ctx, embedder, t.queries)
	return passages, queryVectors, err
}

// stemWeigher returns the weight of a word's stem in the index.
type stemWeigher interface{ StemImportance(stem string) float64 }

// weightsOnly exposes a model's stem weights but hides its embedding method. This keeps passages that another embedder
// has embedded from being embedded again piece by piece.
type weightsOnly struct{ stemWeigher }

// rankingDepth is the number of passages ranked per query.
const rankingDepth = 100

// rank ranks the passages for each query with the given method.
func (t *task) rank(
	ctx context.Context,
	method string,
	passages []search.Passage,
	queryVectors [][]float32,
	weights stemWeigher,
) ([]Ranked, error) {
	o := search.Options{}
	if method != ByWords { // BM25 weights words by their rarity alone
		o.Weight = weights.StemImportance
	}
	if model, ok := weights.(*embed.Model); ok && method == Hybrid {
		o.Embed = model.EmbedAll
	}
	index := search.New(o)
	passages = slices.Clone(passages)
	for i := range passages {
		if method != Hybrid {
			passages[i].Prior = 0
		}
		if method == ByVector {
			passages[i].Text, passages[i].HeadingPath = "", nil
		}
	}
	if err := index.Put(passages...); err != nil {
		return nil, err
	}
	out := make([]Ranked, 0, len(t.queries))
	for i, it := range t.queries {
		q := search.Query{TopK: rankingDepth, NoHighlights: true}
		if method != ByVector {
			q.Text = it.text()
		}
		if method != ByWords {
			q.Vector = queryVectors[i]
		}
		found, err := index.Search(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("query %s: %w", it.ID, err)
		}
		out = append(out, Ranked{it.ID, found})
	}
	return out, nil
}

func embedAll(ctx context.Context, model embed.Embedder, list []item) ([][]float32, error) {
	texts := make([]string, len(list))
	for i, it := range list {
		texts[i] = it.text()
	}
	return model.Embed(ctx, texts)
}

// medianRelevantScore returns the median score of the relevant passages in the rankings, rounded to three
// decimals.
func (t *task) medianRelevantScore(rankings []Ranked) float64 {
	var scores []float64
	for _, r := range rankings {
		for _, p := range r.Results {
			if t.gradesByQuery[r.Query][p.ID] > 0 {
				scores = append(scores, p.Score)
			}
		}
	}
	if len(scores) == 0 {
		return 0
	}
	slices.Sort(scores)
	return math.Round(scores[len(scores)/2]*1000) / 1000
}
