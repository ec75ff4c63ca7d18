package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

// RetrievalOptions holds the options of a retrieval benchmark.
type RetrievalOptions struct {
	Bench string // the folder of the benchmark
	Train string // workbook or open
	// Embedder is an additional model to measure, ollama/NAME or openai/NAME; "" for none.
	Embedder string
	// EmbedderURL is the URL of its server; "" for the default.
	EmbedderURL string
	Out         string // folder for run files; "" to write none
	// Progress is called with the current stage and its progress.
	Progress func(what string, done, total int)
}

// RetrievalReport is the result of a retrieval benchmark.
type RetrievalReport struct {
	Bench    string          `json:"bench"`
	Training string          `json:"training"`
	Embedder string          `json:"embedder"`
	Terms    int             `json:"terms"`
	Controls int             `json:"controls"`
	Pairs    int             `json:"pairs"`
	Tasks    []RetrievalTask `json:"tasks"`
	Files    []string        `json:"files"`
}

// RetrievalTask is one benchmark task. AnswerScore is the median score of the relevant passages.
type RetrievalTask struct {
	Name        string            `json:"name"`
	About       string            `json:"description"`
	Queries     int               `json:"queries"`
	Passages    int               `json:"passages"`
	AnswerScore float64           `json:"answer_score"`
	Methods     []RetrievalMethod `json:"methods"`
}

// RetrievalMethod is a ranking method with its metrics, each from 0 to 1.
type RetrievalMethod struct {
	Name      string  `json:"name"`
	NDCG      float64 `json:"ndcg_at_10"`
	Recall    float64 `json:"recall_at_10"`
	MRR       float64 `json:"mrr"`
	Success1  float64 `json:"success_at_1"`
	Success5  float64 `json:"success_at_5"`
	Success10 float64 `json:"success_at_10"`
}

func (a *app) evalCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "eval", Short: "Measure the quality of the search and the rules on benchmarks",
		Long:    "Measures the quality of the search and the rules on a benchmark, without reading or changing your data.",
		Example: "  service eval retrieval --bench ../retrieval",
	}, a.evalRetrieval(), a.evalJudgement(), a.evalAnalyses())
}

// trainingSets lists the values that the flag --train accepts.
var trainingSets = []string{"workbook", "open"}

func (a *app) evalRetrieval() *cobra.Command {
	o := RetrievalOptions{Train: trainingSets[0]}
	cmd := &cobra.Command{
		Use: "retrieval --bench DIR", Short: "Measure search quality against relevance judgments",
		Long: `Trains the built-in embedder on DIR/train, ranks the passages of DIR/A, DIR/B and DIR/C
with the product's search, and prints its metrics beside the metrics of keyword search
(BM25) and of the embedder alone. Results are reproducible for the same folder.

The folder contains these files, with one JSON object per line unless noted:
  train/controls.jsonl            id, title, description, question, methods, maturity
  train/maturity_lines.jsonl      text, named by its number in controls
  train/crosswalk_codes.tsv       framework, requirement, control, grade
  train/requirements_open.jsonl   text, controls: used for training with --train open
  A|B|C/queries.jsonl             id, text; optionally framework, title
  A|B|C/corpus.jsonl              id, text; optionally title, heading
  A|B|C/qrels.tsv                 query, passage, grade
  C/qrels_passage_to_control.tsv  the passages of C as queries over those of A

With --embedder, an external model is measured as well; its URL and key come from
SERVICE_EMBEDDER_URL (or embedder-url in the configuration file) and SERVICE_EMBEDDER_KEY.

With --out, the command also writes the rankings, with 100 passages per query.`,
		Example: "  service eval retrieval --bench ../retrieval\n  service eval retrieval --bench ../retrieval --train open --out runs -o json",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.runEvalRetrieval(cmd.Context(), o) },
	}
	cmd.Flags().StringVar(&o.Bench, "bench", "", "benchmark folder")
	addChoiceFlag(cmd.Flags(), &o.Train, "train", trainingSets, "training data; 'open' also includes requirement texts")
	cmd.Flags().StringVar(&o.Embedder, "embedder", "", "additional model to measure: ollama/NAME or openai/NAME")
	cmd.Flags().StringVar(&o.Out, "out", "", "folder in which to write A.tsv, B.tsv, C.tsv and C_passage_to_control.tsv; created if missing")
	return cmd
}

// requireFolder returns an error unless path is an existing folder.
func requireFolder(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return runtimeError("the folder %s can't be read: %w", path, errorWithoutPath(err))
	case !info.IsDir():
		return runtimeError("%s is not a folder", path)
	}
	return nil
}

// startStages starts the progress display and returns a function that reports stages and their
// progress.
func (a *app) startStages(first string) func(what string, done, total int) {
	a.progress.Start(first)
	doing := ""
	return func(what string, done, total int) {
		if what != doing {
			a.progress.Start(what)
			doing = what
		}
		a.progress.Update("%s %d of %d", what, done, total)
	}
}

func (a *app) runEvalRetrieval(ctx context.Context, o RetrievalOptions) error {
	if o.Bench == "" {
		return usageError("specify the benchmark folder with --bench DIR")
	}
	if a.EvalRetrieval == nil {
		return runtimeError("this build of the program can't measure the search")
	}
	if err := requireFolder(o.Bench); err != nil {
		return err
	}
	o.Progress = a.startStages("read the benchmark")
	o.EmbedderURL = a.flags.EmbedderURL
	r, err := a.EvalRetrieval(ctx, o)
	a.progress.Done("")
	if err != nil {
		return runtimeError("%s: %w", o.Bench, err)
	}
	return a.out.Print(r, func(p *print.Page) { renderRetrievalReport(p, r) })
}

func renderRetrievalReport(p *print.Page, r *RetrievalReport) {
	p.Title("Search on %s", filepath.Clean(r.Bench))
	learned := prose.Count(r.Controls, "control", "controls")
	if r.Pairs > 0 {
		learned += " and " + prose.Count(r.Pairs, "requirement text", "requirement texts")
	}
	p.Fields(
		field("embedder", fmt.Sprintf("%s, %d words and pairs", r.Embedder, r.Terms)),
		field("trained on", learned),
	)
	var rows [][]string
	for _, t := range r.Tasks {
		for i, w := range t.Methods {
			name := ""
			if i == 0 {
				name = prose.Humanize(t.Name)
			}
			row := []string{name, w.Name}
			for _, f := range []float64{w.NDCG, w.Recall, w.MRR, w.Success1, w.Success5, w.Success10} {
				row = append(row, fmt.Sprintf("%.3f", f))
			}
			rows = append(rows, row)
		}
	}
	columns := []print.Column{fixed("BENCHMARK"), fixed("RANKED BY")}
	for _, t := range []string{"nDCG@10", "R@10", "MRR", "S@1", "S@5", "S@10"} {
		columns = append(columns, fixedNumber(t))
	}
	p.Blank()
	p.Table(columns, rows)
	p.Blank()
	for _, t := range r.Tasks {
		p.ListItem(0, "%s: %s, %s over %s; the median score of relevant passages is %.2f", prose.Humanize(t.Name), t.About,
			prose.Count(t.Queries, "query", "queries"), prose.Count(t.Passages, "passage", "passages"), t.AnswerScore)
	}
	for _, f := range r.Files {
		p.Text("wrote %s", f)
	}
}
