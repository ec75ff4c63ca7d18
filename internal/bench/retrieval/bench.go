// Package retrieval measures how well the product finds: it trains the built-in
// embedder on the training texts of a benchmark folder, ranks with the index
// that the product searches with, and compares with plain keyword search in the
// same run. It must not rank by rules of its own: what it measures is what a
// user gets.
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

// Training says which texts of the folder an embedder learns from.
type Training string

const (
	// TrainOnWorkbook is what every imported workbook holds: controls, maturity lines, crosswalk codes.
	TrainOnWorkbook Training = "workbook"
	// TrainOnOpenTexts is the same and the openly published requirement texts.
	TrainOnOpenTexts Training = "open"
)

// Options of a run.
type Options struct {
	Folder fs.FS
	Train  Training
	// Seed of the training; the product's is 0.
	Seed uint64
	// Other is measured beside the built-in embedder; nil: none.
	Other embed.Embedder
	// Progress, if set, hears what is being done and how far that is.
	Progress func(what string, done, total int)
}

// Ways to rank, in the order of Task.Ways.
const (
	ByWords  = "BM25"
	ByVector = "embedder alone"
	Hybrid   = "hybrid"
)

// MethodResult is one way to rank and what it reaches.
type MethodResult struct {
	Name string `json:"name"`
	Metrics
}

// Task is a benchmark that was run.
type Task struct {
	Name     string         `json:"name"` // A, B, C, C_passage_to_control
	About    string         `json:"description"`
	Queries  int            `json:"queries"`
	Passages int            `json:"passages"`
	Methods  []MethodResult `json:"methods"` // ByWords, ByVector, Hybrid, then the other embedder's two
	// AnswerScore is the hybrid's score of passages that answer, in the median.
	AnswerScore float64 `json:"answer_score"`
	// Ranking is the hybrid's, in the order of the queries.
	Ranking []Ranked `json:"-"`
}

// MethodResult is a way of the task by name.
func (t Task) MethodResult(name string) MethodResult {
	i := slices.IndexFunc(t.Methods, func(w MethodResult) bool { return w.Name == name })
	return t.Methods[i]
}

// Ranked is what one query found, best first.
type Ranked struct {
	Query   string
	Results []search.Result
}

// Report is what a run found out.
type Report struct {
	Training Training `json:"training"`
	Embedder string   `json:"embedder"`
	Terms    int      `json:"terms"`
	Controls int      `json:"controls"`
	Pairs    int      `json:"pairs"`
	Tasks    []Task   `json:"tasks"`
}

// Run trains and measures. The same folder gives the same report.
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
		done, err := t.measure(ctx, model, o.Other)
		if err != nil {
			return nil, fmt.Errorf("benchmark %s: %w", t.name, err)
		}
		r.Tasks = append(r.Tasks, *done)
	}
	return r, nil
}

// measure ranks the task in each way.
func (t *task) measure(ctx context.Context, model *embed.Model, other embed.Embedder) (*Task, error) {
	passages, asked, err := t.embedPassages(ctx, model)
	if err != nil {
		return nil, err
	}
	for i := range passages {
		passages[i].Prior = model.Prior(passages[i].Text)
	}
	out := &Task{Name: t.name, About: t.about, Passages: len(t.passages)}
	for _, it := range t.queries {
		if len(t.gradesByQuery[it.ID]) > 0 {
			out.Queries++
		}
	}
	for _, way := range []string{ByWords, ByVector, Hybrid} {
		ranking, err := t.rank(ctx, way, passages, asked, model)
		if err != nil {
			return nil, err
		}
		out.Methods = append(out.Methods, MethodResult{way, t.computeMetrics(ranking)})
		out.Ranking = ranking // the last is the hybrid's
	}
	out.AnswerScore = t.answerScore(out.Ranking)
	if other == nil {
		return out, nil
	}
	if passages, asked, err = t.embedPassages(ctx, other); err != nil {
		return nil, err
	}
	for _, way := range []string{ByVector, Hybrid} {
		ranking, err := t.rank(ctx, way, passages, asked, weightsOnly{model})
		if err != nil {
			return nil, err
		}
		out.Methods = append(out.Methods, MethodResult{way + ", " + other.Name(), t.computeMetrics(ranking)})
	}
	return out, nil
}

// embedPassages gives the passages and the queries' vectors by an embedder.
func (t *task) embedPassages(ctx context.Context, by embed.Embedder) ([]search.Passage, [][]float32, error) {
	passages := make([]search.Passage, len(t.passages))
	vectors, err := embedAll(ctx, by, t.passages)
	if err != nil {
		return nil, nil, err
	}
	for i, it := range t.passages {
		passages[i] = it.passage()
		passages[i].Vector = vectors[i]
	}
	asked, err := embedAll(ctx, by, t.queries)
	return passages, asked, err
}

// stemWeigher is what the words of an index are weighed by.
type stemWeigher interface{ Weight(stem string) float64 }

// weightsOnly is the model without its vectors: another embedder's passages are not read again
// piece by piece.
type weightsOnly struct{ stemWeigher }

// rankingDepth is how many passages a query is given: what run files hold.
const rankingDepth = 100

func (t *task) rank(
	ctx context.Context,
	method string,
	passages []search.Passage,
	queryVectors [][]float32,
	weights stemWeigher,
) ([]Ranked, error) {
	o := search.Options{}
	if method != ByWords { // plain BM25 weighs words by rarity alone
		o.Weight = weights.Weight
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

// answerScore is the median score of passages that answer.
func (t *task) answerScore(ranking []Ranked) float64 {
	var scores []float64
	for _, r := range ranking {
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
