package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli"
	"github.com/scf-service/service/engine/agent/analysis"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/catalog/starter"
	"github.com/scf-service/service/engine/catalog/workbook"
	"github.com/scf-service/service/engine/judge/modelreader"
	"github.com/scf-service/service/engine/judge/reading"
	"github.com/scf-service/service/engine/judge/reading/crossencoder"
	"github.com/scf-service/service/examples/judged"
	judging "github.com/scf-service/service/internal/bench/judgement"
	"github.com/scf-service/service/internal/bench/retrieval"
	"github.com/scf-service/service/internal/regularfile"
)

// evalRetrieval measures how well the search of this build ranks passages. It needs no engine and no data
// folder.
func evalRetrieval(ctx context.Context, o cli.RetrievalOptions) (*cli.RetrievalReport, error) {
	folder, err := regularfile.OpenTree(ctx, o.Bench, regularfile.NoLimit)
	if err != nil {
		return nil, err
	}
	in := retrieval.Options{Folder: folder, Train: retrieval.Training(o.Train), Progress: o.Progress}
	other, err := embedderConfig{o.Embedder, o.EmbedderURL}.newEmbedder(os.Getenv)
	if err != nil {
		return nil, err
	}
	in.Other = other
	got, err := retrieval.Run(ctx, in)
	if err != nil {
		return nil, err
	}
	out := &cli.RetrievalReport{
		Bench: o.Bench, Training: string(got.Training), Embedder: got.Embedder, Terms: got.Terms,
		Controls: got.Controls, Pairs: got.Pairs, Files: []string{},
	}
	for _, t := range got.Tasks {
		task := cli.RetrievalTask{Name: t.Name, About: t.About, Queries: t.Queries, Passages: t.Passages, AnswerScore: t.AnswerScore}
		for _, w := range t.Methods {
			task.Methods = append(task.Methods, cli.RetrievalMethod{
				Name: w.Name, NDCG: w.NDCG, Recall: w.Recall, MRR: w.MRR,
				Success1: w.Success1, Success5: w.Success5, Success10: w.Success10,
			})
		}
		out.Tasks = append(out.Tasks, task)
	}
	if o.Out != "" {
		out.Files, err = got.WriteRankings(o.Out)
	}
	return out, err
}

// evalAnalyses measures how well the built-in rules perform the analyses with the starter catalog.
func evalAnalyses(ctx context.Context) ([]cli.AnalysisScore, error) {
	src, err := starter.Load()
	if err != nil {
		return nil, err
	}
	controls, err := scf.NewSnapshot(src, scf.Version{ID: newID()})
	if err != nil {
		return nil, err
	}
	scores, err := analysis.MeasureBuiltin(ctx, controls)
	var out []cli.AnalysisScore
	for _, s := range scores {
		out = append(out, cli.AnalysisScore(s))
	}
	return out, err
}

func readWorkbook(ctx context.Context, path string) (*scf.Source, error) {
	f, size, err := openFile(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src, err := workbook.Read(ctx, f, size, workbook.Options{Filename: filepath.Base(path)})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return src, nil
}

// modelForEval returns the name of a data folder's model, and a function that reads evidence with this model and
// counts its usage.
func modelForEval(
	ctx context.Context,
	dataFolder string,
	use *api.ModelUse,
) (name string, read func(context.Context, []modelreader.Statement) ([]modelreader.Outcome, error), _ error) {
	dir, err := resolveDataDir(dataFolder)
	if err != nil {
		return "", nil, err
	}
	m, limits, err := loadModel(dir)
	if err != nil {
		return "", nil, err
	}
	if m == nil {
		return "", nil, errors.New("no language model is selected; select a model with `service model use`")
	}
	s := m.Status(ctx)
	if !s.Ready {
		return "", nil, fmt.Errorf("%s can't read: %s", s.Model, s.Problem)
	}
	r := modelreader.Reader{Model: m, ContextTokens: limits.ContextTokens, After: func(c modelreader.Call) error {
		*use = use.Add(api.ModelUse{
			Calls: 1, PromptTokens: c.PromptTokens, CompletionTokens: c.CompletionTokens,
			Cost: limits.Cost(c.PromptTokens, c.CompletionTokens),
		})
		if c.Digest != "" && c.Digest != s.Digest {
			return fmt.Errorf("the server uses a different model: the model's digest is %s, not %s", c.Digest, s.Digest)
		}
		return nil
	}}
	return s.Model, r.Read, nil
}

// readerForEval returns a function that uses a reader in place of a language model.
func readerForEval(r reading.Reader) func(context.Context, []modelreader.Statement) ([]modelreader.Outcome, error) {
	return func(ctx context.Context, statements []modelreader.Statement) ([]modelreader.Outcome, error) {
		out := make([]modelreader.Outcome, len(statements))
		for i, s := range statements {
			var err error
			if out[i].Readings, out[i].Dropped, err = reading.ReadAll(ctx, r, s.Statement, s.Passages); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
}

// evalJudgement measures how well the rules of this build judge controls. It needs no engine and no data
// folder.
func evalJudgement(ctx context.Context, o cli.JudgementOptions) (*cli.JudgementReport, error) {
	options := judging.Options{Folder: judged.Folder(), Today: o.Today, Ablate: o.Ablate, LabelsOnly: o.LabelsOnly, Progress: o.Progress}
	if o.Set != "" {
		folder, err := regularfile.OpenTree(ctx, o.Set, regularfile.NoLimit)
		if err != nil {
			return nil, err
		}
		options.Folder = folder
	}
	if o.Today == "" {
		options.Today = judged.Today
	}
	if o.Workbook != "" {
		src, err := readWorkbook(ctx, o.Workbook)
		if err != nil {
			return nil, err
		}
		options.Catalog = src
	}
	reader, use := "rules", api.ModelUse{}
	if o.Model {
		var err error
		if reader, options.Read, err = modelForEval(ctx, o.Data, &use); err != nil {
			return nil, err
		}
		options.Ablate, o.Ablate = false, false
	}
	if o.Weights != "" {
		network, err := crossencoder.ReadFile(o.Weights)
		if err != nil {
			return nil, err
		}
		r := crossencoder.NewReader(network)
		reader, options.Read, options.Ablate, o.Ablate = r.Name(), readerForEval(r), false, false
	}
	got, err := judging.Run(ctx, options)
	if err != nil {
		return nil, err
	}
	out := &cli.JudgementReport{
		Rules: got.Rules, Reader: reader, Use: use, Embedder: got.Embedder, Today: got.Today,
		Bars: map[string]float64{"kappa": 0.75, "lost": 0.95, "disturbed": 0.02, "counted": 0.03},
	}
	for _, v := range judging.Verdicts {
		out.Verdicts = append(out.Verdicts, string(v))
	}
	sets := got.Sets
	if len(sets) > 1 {
		sets = append(sets, got.All)
	}
	for _, s := range sets {
		set := cli.JudgedSet{
			Name: s.Name, Documents: s.Documents, Controls: s.Controls, Kappa: s.Kappa, Agreement: s.Agreement,
			Evidenced: cli.PrecisionRecall{Precision: s.Evidenced.Precision, Recall: s.Evidenced.Recall},
			Missing: cli.PrecisionRecall{
				Precision: s.Missing.Precision,
				Recall:    s.Missing.Recall,
			}, Wrong: append([]string{}, s.Wrong...), Different: []cli.JudgedDifference{},
		}
		set.WithRules = (*cli.ReaderComparison)(s.WithRules)
		for _, d := range s.Differences {
			set.Different = append(set.Different, cli.JudgedDifference{
				Control: d.Control, Labelled: string(d.Labeled), Judged: string(d.Judged),
				MissingInRulesOnly: append([]int{}, d.Extra...), MissingInLabelOnly: append([]int{}, d.Overlooked...),
			})
		}
		for _, row := range s.Confusion {
			set.Confusion = append(set.Confusion, row[:])
		}
		if o.Ablate {
			set.Ablation = &cli.AblationResult{
				Detected:       s.Ablation.DowngradedShare,
				Emptied:        s.Ablation.UnevidencedShare,
				SingleDocument: s.Ablation.Dependent,
				Disturbed:      s.Ablation.ChangedShare,
				Others:         s.Ablation.Independent,
			}
		}
		out.Sets = append(out.Sets, set)
	}
	if p := got.Passages; p != nil {
		out.Passages = &cli.NegativePassages{
			Passages: p.Passages,
			Counted:  p.Counted,
			Share:    p.Share,
			ByKind:   map[string]int{},
			Wrong:    p.Wrong,
		}
		for kind, n := range p.ByKind {
			out.Passages.ByKind[kind] = n.Counted
		}
	}
	return out, nil
}
