package judgement

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment"
	"github.com/scf-service/service/engine/evidence"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/engine/judge/modelreader"
	"github.com/scf-service/service/engine/judge/reading"
	"github.com/scf-service/service/engine/llm"
	"github.com/scf-service/service/internal/testutil/modeltest"
)

// pairLabel is a careful reader's label of one statement and one passage.
type pairLabel struct {
	Control   string        `json:"control"`
	Statement string        `json:"s"`
	Number    int           `json:"n"`
	Label     reading.Label `json:"label"`
	Words     string        `json:"words"`
}

// pack is an invented organization of the reader's training data, with labels of pairs.
type pack struct {
	dir      string
	controls []string
	labels   map[[2]string]pairLabel // by statement and text of the passage
}

func readPack(t *testing.T, name string) pack {
	t.Helper()
	p := pack{dir: filepath.Join("../../../tools/reader/data/packs", name), labels: map[[2]string]pairLabel{}}
	var about struct{ Controls []string }
	b, err := os.ReadFile(filepath.Join(p.dir, "pack.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &about); err != nil {
		t.Fatal(err)
	}
	p.controls = about.Controls
	texts := map[int]string{}
	readJSONLines(t, filepath.Join(p.dir, "passages.jsonl"), func(line []byte) error {
		var one struct {
			N    int    `json:"n"`
			Text string `json:"text"`
		}
		err := json.Unmarshal(line, &one)
		texts[one.N] = one.Text
		return err
	})
	files, err := filepath.Glob(filepath.Join(p.dir, "labels-*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	readJSONLines(t, files[0], func(line []byte) error {
		var l pairLabel
		err := json.Unmarshal(line, &l)
		if l.Statement != "" {
			p.labels[[2]string{l.Statement, texts[l.Number]}] = l
		}
		return err
	})
	return p
}

func readJSONLines(t *testing.T, file string, use func([]byte) error) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if err := use(lines.Bytes()); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
}

// labelOf returns the label of a pair; every fifth is another one if flip is set.
func (p *pack) labelOf(statement, text string, flip bool) pairLabel {
	l, labeled := p.labels[[2]string{statement, text}]
	if !labeled {
		l.Label = reading.Silent
	}
	if !flip {
		return l
	}
	h := fnv.New32a()
	h.Write([]byte(statement + "\n" + text))
	if h.Sum32()%5 != 0 {
		return l
	}
	l.Label = reading.Labels[h.Sum32()/5%uint32(len(reading.Labels))]
	if l.Words == "" && l.Label != reading.Silent {
		l.Words = text // a piece may be a heading, which isn't accepted as a quote
	}
	return l
}

// labeledModel answers prompts with the labels of a pack.
type labeledModel struct {
	pack *pack
	flip bool
}

func (m labeledModel) Chat(_ context.Context, r llm.Request) (llm.Answer, error) {
	p := modeltest.ParsePrompt(r.User)
	findings := make([][]modeltest.Finding, len(p.Statements))
	for i, s := range p.Statements {
		for k, text := range p.Passages {
			if l := m.pack.labelOf(s, text, m.flip); l.Label != reading.Silent {
				findings[i] = append(findings[i], modeltest.Finding{Passage: k + 1, Label: string(l.Label), Quote: l.Words})
			}
		}
	}
	return llm.Answer{Text: modeltest.Answer(findings)}, nil
}

// evaluate returns an evaluation of the documents in a folder by the rules.
func (r *runner) evaluate(t *testing.T, folder fs.FS) *assessment.Evaluation {
	t.Helper()
	library, err := evidence.ReadLibrary(t.Context(), folder, r.model, judge.GuessCategory)
	if err != nil {
		t.Fatal(err)
	}
	session, err := library.NewSession("")
	if err != nil {
		t.Fatal(err)
	}
	e, err := r.prepared.Evaluate(t.Context(), session, judge.Options{Today: r.Today})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestNothingIsLostBetweenModelAndVerdict replays labels as the answers of a model through prompt, answer, quotes and the
// page of rules, and compares the verdicts with those that follow from the labels directly. A perfect reader must reach
// exactly them, and so must one that errs in a fifth of the pairs.
func TestNothingIsLostBetweenModelAndVerdict(t *testing.T) {
	r := newTrainedRunner(t)
	controls, matched, labels := 0, 0, 0
	for _, name := range []string{"w2-slides-ashwater", "w3-templates-larchlane"} {
		p := readPack(t, name)
		e := r.evaluate(t, os.DirFS(p.dir))
		var chosen []api.Control
		for _, code := range p.controls {
			chosen = append(chosen, r.controls[code])
		}
		labels += len(p.labels)
		for _, flip := range []bool{false, true} {
			var direct, asked modelreader.Recorded
			reader := modelreader.Reader{Model: labeledModel{&p, flip}, ContextTokens: 8192}
			for _, c := range chosen {
				statements := ModelStatements(e.Candidates(c.Code))
				outcomes, err := reader.Read(t.Context(), statements)
				if err != nil {
					t.Fatal(err)
				}
				for i, s := range statements {
					asked.Add(s, outcomes[i])
					var o modelreader.Outcome
					for _, passage := range s.Passages {
						l := p.labelOf(s.Text, passage.Text, flip)
						if l.Label != reading.Silent && !flip {
							matched++
						}
						o.Readings = append(o.Readings, reading.Reading{Label: l.Label, Words: l.Words})
						if l.Label == reading.Silent {
							o.Readings[len(o.Readings)-1].Words = ""
						}
					}
					direct.Add(s, o)
				}
			}
			var verdicts [2][]judge.Judgement
			for i, one := range []*modelreader.Recorded{&direct, &asked} {
				e.SetReader(one)
				var err error
				if verdicts[i], err = e.EvaluateAll(t.Context(), chosen, 2); err != nil {
					t.Fatal(err)
				}
			}
			for i, c := range chosen {
				controls++
				a, b := verdicts[0][i], verdicts[1][i]
				if a.Implementation != b.Implementation || a.Ratio != b.Ratio {
					t.Errorf("%s, %s, flipped %v: %s %.3f from the labels, %s %.3f from the model",
						name, c.Code, flip, a.Implementation, a.Ratio, b.Implementation, b.Ratio)
				}
			}
		}
	}
	t.Logf("%d controls, %d of %d labels are of passages that search brings", controls, matched, labels)
	if controls < 30 || matched*10 < labels*7 {
		t.Errorf("%d controls, %d of %d labels", controls, matched, labels)
	}
}

// TestAttacksAreWithheldFromModels checks that no passage with an attack reaches a model, so that even one that obeys
// changes no verdict, and that ordinary passages do.
func TestAttacksAreWithheldFromModels(t *testing.T) {
	r := newTrainedRunner(t)
	var attacks []string
	for _, file := range []string{"../../../engine/enginetest/testdata/attacks.jsonl", "testdata/model-attacks.jsonl"} {
		readJSONLines(t, file, func(line []byte) error {
			var attack string
			err := json.Unmarshal(line, &attack)
			attacks = append(attacks, attack)
			return err
		})
	}
	if len(attacks) != 148 {
		t.Fatalf("%d attacks", len(attacks))
	}
	const honest = "Visitors sign the book at the gate."
	folder := fstest.MapFS{}
	for i, attack := range attacks {
		folder[fmt.Sprintf("a%03d.txt", i)] = &fstest.MapFile{Data: []byte(honest + "\n" + attack + "\n")}
	}
	r.evaluate(t, folder).ForEachPassage(func(p judge.Passage) {
		if strings.TrimSpace(p.Text) != honest && !judge.AddressesReader(p) {
			t.Errorf("%s reaches the model: %q", p.Filename, p.Text)
		}
	})
	withheld, all := 0, 0
	for _, name := range []string{"fennick", "orrin", "tallybird"} {
		r.evaluate(t, os.DirFS("../../../examples/judged/"+name+"/evidence")).ForEachPassage(func(p judge.Passage) {
			all++
			if judge.AddressesReader(p) {
				withheld++
			}
		})
	}
	if withheld*100 > all {
		t.Errorf("%d of %d ordinary passages are withheld", withheld, all)
	}
}
