package retrieval_test

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/scf-service/service/internal/bench/retrieval"
)

// tiny returns a benchmark with two controls and two passages.
func tiny() fstest.MapFS {
	files := map[string]string{
		"train/controls.jsonl": `{"id":"K-1","title":"Backups","description":"Copies of data are made and restored in tests.","question":"Are copies of data made?","methods":"Nightly copies of data\nRestore tests","maturity":[[1,0]]}
{"id":"K-2","title":"Visitors","description":"Guests are escorted through the building.","question":"Are guests escorted?","methods":"","maturity":[]}`,
		"train/maturity_lines.jsonl":    `{"id":0,"text":"Copies of data are made when somebody thinks of it."}`,
		"train/crosswalk_codes.tsv":     "framework\trequirement_id\tcontrol\tgrade\nf\t1\tK-1\t3\nf\t2\tK-2\t3",
		"train/requirements_open.jsonl": `{"framework":"f","id":"1","text":"Data can be brought back after a loss.","controls":{"K-1":3}}`,
		"A/queries.jsonl": "{\"id\":\"q1\",\"framework\":\"f\",\"text\":\"backups of data\"}\n" +
			"{\"id\":\"q2\",\"framework\":\"g\",\"text\":\"nobody walks alone as a guest\"}\n",
		"A/corpus.jsonl": "{\"id\":\"K-1\",\"title\":\"Backups\",\"text\":\"Copies of data are made.\"}\n\n" +
			"{\"id\":\"K-2\",\"title\":\"Visitors\",\"text\":\"Guests are escorted.\"}",
		"A/qrels.tsv":                    "query_id\tdoc_id\tgrade\nq1\tK-1\t3\nq2\tK-2\t1",
		"B/queries.jsonl":                `{"id":"K-1","title":"Backups","text":"Backups. Copies of data are made."}`,
		"B/corpus.jsonl":                 `{"id":"p1","heading":"Backup","text":"We copy our data every night."}`,
		"B/qrels.tsv":                    "K-1\tp1\t2",
		"C/queries.jsonl":                `{"id":"c1","text":"backup"}`,
		"C/corpus.jsonl":                 `{"id":"p1","text":"Each night our data is copied."}`,
		"C/qrels.tsv":                    "query_id\tdoc_id\tgrade\nc1\tp1\t1",
		"C/qrels_passage_to_control.tsv": "p1\tK-1\t2",
	}
	out := fstest.MapFS{}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

// other is an embedder that differs from the built-in one: it counts letters.
type other struct{}

func (other) Name() string    { return "ollama/letters" }
func (other) Dimensions() int { return 26 }
func (other) Embed(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = make([]float32, 26)
		for _, r := range strings.ToLower(t) {
			if r >= 'a' && r <= 'z' {
				out[i][r-'a']++
			}
		}
	}
	return out, nil
}

func TestRunBesideAnother(t *testing.T) {
	alone, err := retrieval.Run(t.Context(), retrieval.Options{Folder: tiny(), Train: retrieval.TrainOnWorkbook})
	if err != nil {
		t.Fatal(err)
	}
	both, err := retrieval.Run(t.Context(), retrieval.Options{Folder: tiny(), Train: retrieval.TrainOnWorkbook, Other: other{}})
	if err != nil {
		t.Fatal(err)
	}
	for i, task := range both.Tasks {
		if len(task.Methods) != 5 || task.Methods[4].Name != "hybrid, ollama/letters" || task.Methods[4].MRR == 0 {
			t.Errorf("%s: %+v", task.Name, task.Methods)
		}
		for k, w := range alone.Tasks[i].Methods {
			if task.Methods[k] != w {
				t.Errorf("%s: another embedder changes %v to %v", task.Name, w, task.Methods[k])
			}
		}
	}
}

func TestRun(t *testing.T) {
	for _, training := range []retrieval.Training{retrieval.TrainOnWorkbook, retrieval.TrainOnOpenTexts} {
		var steps []string
		run := func() *retrieval.Report {
			r, err := retrieval.Run(
				t.Context(),
				retrieval.Options{Folder: tiny(), Train: training, Progress: func(what string, done, total int) {
					steps = append(steps, what)
					if done > total {
						t.Errorf("%s: %d of %d", what, done, total)
					}
				}},
			)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		first, second := run(), run()
		if len(first.Tasks) != 4 || len(steps) == 0 {
			t.Fatalf("%d tasks, %d steps", len(first.Tasks), len(steps))
		}
		if first.Embedder != second.Embedder {
			t.Errorf("%s trained %s, then %s", training, first.Embedder, second.Embedder)
		}
		for i, task := range first.Tasks {
			for k, w := range task.Methods {
				if w != second.Tasks[i].Methods[k] {
					t.Errorf("%s, %s: %v, then %v", task.Name, w.Name, w, second.Tasks[i].Methods[k])
				}
			}
		}
		if f := first.Tasks[0].MethodResult(retrieval.Hybrid); f.NDCG != 1 || f.Success1 != 1 {
			t.Errorf("two controls that could not be less alike: %+v", f)
		}
		if want := map[retrieval.Training]int{retrieval.TrainOnWorkbook: 0, retrieval.TrainOnOpenTexts: 1}[training]; first.Pairs != want {
			t.Errorf("%s learned from %d requirement texts, not %d", training, first.Pairs, want)
		}
	}
}

// TestWrite checks that sorting the written rankings by score results in the order that was measured.
func TestWrite(t *testing.T) {
	r, err := retrieval.Run(t.Context(), retrieval.Options{Folder: tiny(), Train: retrieval.TrainOnWorkbook})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "new", "runs")
	files, err := r.WriteRankings(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 4 || filepath.Base(files[3]) != "C_passage_to_control.tsv" {
		t.Fatalf("wrote %v", files)
	}
	b, err := os.ReadFile(filepath.Join(dir, "A.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(rows) != 1+len(r.Tasks[0].Ranking[0].Results)+len(r.Tasks[0].Ranking[1].Results) || !strings.HasPrefix(rows[1], "q1\tK-1\t0.") {
		t.Errorf("A.tsv is %q", rows)
	}
}

func TestFigures(t *testing.T) {
	folder := tiny()
	// q1 has two relevant passages, the better one at rank two or one; the metrics are the mean
	// over the two frameworks.
	folder["A/qrels.tsv"] = &fstest.MapFile{Data: []byte("q1\tK-1\t1\nq1\tK-2\t3\nq1\tK-9\t1\nq2\tK-2\t1")}
	r, err := retrieval.Run(t.Context(), retrieval.Options{Folder: folder, Train: retrieval.TrainOnWorkbook})
	if err != nil {
		t.Fatal(err)
	}
	got := r.Tasks[0].MethodResult(retrieval.Hybrid)
	third := 1 / math.Log2(3)
	first := (1 + 3*third) / (3 + third + 1/math.Log2(4))
	if want := (first + 1) / 2; math.Abs(got.NDCG-want) > 1e-12 {
		t.Errorf("nDCG %v, want %v", got.NDCG, want)
	}
	if want := (2.0/3 + 1) / 2; math.Abs(got.Recall-want) > 1e-12 {
		t.Errorf("recall %v, want %v", got.Recall, want)
	}
	if got.MRR != 1 || got.Success1 != 1 || got.Success10 != 1 {
		t.Errorf("%+v", got)
	}
}

func TestFolderIsRefused(t *testing.T) {
	for _, c := range []struct {
		name, file, text, says string
	}{
		{"no controls", "train/controls.jsonl", "", "train/controls.jsonl can't be read"},
		{"no json", "B/corpus.jsonl", "{\"id\":\"a\"}\nb", "B/corpus.jsonl, line 2"},
		{"same id", "C/queries.jsonl", "{\"id\":\"a\"}\n{\"id\":\"a\"}", "C/queries.jsonl, line 2"},
		{"an id that breaks lines", "C/queries.jsonl", `{"id":"a\tb"}`, "C/queries.jsonl, line 1"},
		{"a grade that is none", "A/qrels.tsv", "q1\tK-1\t1\nq1\tK-2\tmuch", "A/qrels.tsv, line 2"},
		{"a grade of not a number", "A/qrels.tsv", "q1\tK-1\t1\nq1\tK-2\tNaN", "A/qrels.tsv, line 2"},
		{"too few fields", "A/qrels.tsv", "q1\tK-1", "A/qrels.tsv, line 1"},
		{"a maturity line that is not there", "train/controls.jsonl", `{"id":"K-1","title":"a","maturity":[[1,7]]}`, "maturity line 7"},
		{"a line without end", "A/corpus.jsonl", strings.Repeat("x", 5<<20), "A/corpus.jsonl, after line 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := tiny()
			if c.text == "" {
				delete(folder, c.file)
			} else {
				folder[c.file] = &fstest.MapFile{Data: []byte(c.text)}
			}
			_, err := retrieval.Run(t.Context(), retrieval.Options{Folder: folder, Train: retrieval.TrainOnWorkbook})
			if !errors.Is(err, retrieval.ErrFolder) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
	if _, err := retrieval.Run(t.Context(), retrieval.Options{Folder: fstest.MapFS{}, Train: retrieval.TrainOnWorkbook}); !errors.Is(
		err,
		fs.ErrNotExist,
	) {
		t.Errorf("an empty folder: %v", err)
	}
	if _, err := retrieval.Run(t.Context(), retrieval.Options{Folder: tiny(), Train: "all"}); err == nil {
		t.Error("a training that there is not is taken")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := retrieval.Run(ctx, retrieval.Options{Folder: tiny(), Train: retrieval.TrainOnWorkbook}); !errors.Is(
		err,
		context.Canceled,
	) {
		t.Errorf("cancelled: %v", err)
	}
}
