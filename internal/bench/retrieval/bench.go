// Package bench measures how well the product finds: it trains the built-in
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
	// Workbook is what every imported workbook holds: controls, maturity lines, crosswalk codes.
	Workbook Training = "workbook"
	// Open is the same and the openly published requirement texts.
	Open Training = "open"
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

// Way is one way to rank and what it reaches.
type Way struct {
	Name string `json:"name"`
	Figures
}

// Task is a benchmark that was run.
type Task struct {
	Name     string `json:"name"` // A, B, C, C_passage_to_control
	About    string `json:"about"`
	Queries  int    `json:"queries"`
	Passages int    `json:"passages"`
	Ways     []Way  `json:"ways"` // ByWords, ByVector, Hybrid, then the other embedder's two
	// AnswerScore is the hybrid's score of passages that answer, in the median.
	AnswerScore float64 `json:"answer_score"`
	// Ranking is the hybrid's, in the order of the queries.
	Ranking []Ranked `json:"-"`
}

// Way is a way of the task by name.
func (t Task) Way(name string) Way {
	i := slices.IndexFunc(t.Ways, func(w Way) bool { return w.Name == name })
	return t.Ways[i]
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
	corpus, err := Corpus(o.Folder, o.Train)
	if err != nil {
		return nil, err
	}
	tasks, err := load(o.Folder)
	if err != nil {
		return nil, err
	}
	model, err := embed.Train(ctx, corpus, embed.Options{Seed: o.Seed, Progress: func(done, total int) { o.Progress("train the embedder", done, total) }})
	if err != nil {
		return nil, err
	}
	r := &Report{Training: o.Train, Embedder: model.Name(), Terms: model.Len(), Controls: len(corpus.Documents), Pairs: len(corpus.Pairs)}
	for i, t := range tasks {
		o.Progress("rank "+t.name, i, len(tasks))
		done, err := t.run(ctx, model, o.Other)
		if err != nil {
			return nil, fmt.Errorf("benchmark %s: %w", t.name, err)
		}
		r.Tasks = append(r.Tasks, *done)
	}
	return r, nil
}

// run ranks the task in each way.
func (t *task) run(ctx context.Context, model *embed.Model, other embed.Embedder) (*Task, error) {
	passages, asked, err := t.embedded(ctx, model)
	if err != nil {
		return nil, err
	}
	for i := range passages {
		passages[i].Prior = model.Prior(passages[i].Text)
	}
	out := &Task{Name: t.name, About: t.about, Passages: len(t.corpus)}
	for _, it := range t.queries {
		if len(t.grades[it.ID]) > 0 {
			out.Queries++
		}
	}
	for _, way := range []string{ByWords, ByVector, Hybrid} {
		ranking, err := t.rank(ctx, way, passages, asked, model)
		if err != nil {
			return nil, err
		}
		out.Ways = append(out.Ways, Way{way, t.figures(ranking)})
		out.Ranking = ranking // the last is the hybrid's
	}
	out.AnswerScore = t.answerScore(out.Ranking)
	if other == nil {
		return out, nil
	}
	if passages, asked, err = t.embedded(ctx, other); err != nil {
		return nil, err
	}
	for _, way := range []string{ByVector, Hybrid} {
		ranking, err := t.rank(ctx, way, passages, asked, elsewhere{model})
		if err != nil {
			return nil, err
		}
		out.Ways = append(out.Ways, Way{way + ", " + other.Name(), t.figures(ranking)})
	}
	return out, nil
}

// embedded gives the passages and the queries' vectors by an embedder.
func (t *task) embedded(ctx context.Context, by embed.Embedder) ([]search.Passage, [][]float32, error) {
	passages := make([]search.Passage, len(t.corpus))
	vectors, err := embedAll(ctx, by, t.corpus)
	if err != nil {
		return nil, nil, err
	}
	for i, it := range t.corpus {
		passages[i] = it.passage()
		passages[i].Vector = vectors[i]
	}
	asked, err := embedAll(ctx, by, t.queries)
	return passages, asked, err
}

// weigher is what the words of an index are weighed by.
type weigher interface{ Weight(stem string) float64 }

// elsewhere is the model without its vectors: another embedder's passages are not read again
// piece by piece.
type elsewhere struct{ weigher }

// ranked is how many passages a query is given: what run files hold.
const ranked = 100

func (t *task) rank(ctx context.Context, way string, passages []search.Passage, asked [][]float32, by weigher) ([]Ranked, error) {
	o := search.Options{}
	if way != ByWords { // plain BM25 weighs words by rarity alone
		o.Weight = by.Weight
	}
	if model, ok := by.(*embed.Model); ok && way == Hybrid {
		o.Embed = model.Parts
	}
	index := search.New(o)
	passages = slices.Clone(passages)
	for i := range passages {
		if way != Hybrid {
			passages[i].Prior = 0
		}
		if way == ByVector {
			passages[i].Text, passages[i].HeadingPath = "", nil
		}
	}
	if err := index.Put(passages...); err != nil {
		return nil, err
	}
	out := make([]Ranked, 0, len(t.queries))
	for i, it := range t.queries {
		q := search.Query{TopK: ranked, NoHighlights: true}
		if way != ByVector {
			q.Text = it.text()
		}
		if way != ByWords {
			q.Vector = asked[i]
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
			if t.grades[r.Query][p.ID] > 0 {
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
