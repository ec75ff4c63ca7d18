package judgement

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
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
	"github.com/scf-service/service/internal/testutil/longtest"
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

// labelOf returns the label of a pair; every fifth that isn't silent is another one if flip is set.
func (p *pack) labelOf(statement, text string, flip bool) pairLabel {
	l, labeled := p.labels[[2]string{statement, text}]
	if !labeled {
		l.Label = reading.Silent
	}
	if !labeled || !flip {
		return l
	}
	h := fnv.New32a()
	h.Write([]byte(statement + "\n" + text))
	if h.Sum32()%5 != 0 {
		return l
	}
	others := slices.DeleteFunc(slices.Clone(reading.Labels), func(o reading.Label) bool { return o == l.Label })
	l.Label = others[h.Sum32()/5%uint32(len(others))]
	return l
}

// labeledModel answers prompts with the labels of a pack, and records which passages it is shown for each statement.
type labeledModel struct {
	pack  *pack
	flip  bool
	shown map[string][]string
}

func (m labeledModel) Chat(_ context.Context, r llm.Request) (llm.Answer, error) {
	p := modeltest.ParsePrompt(r.User)
	findings := make([][]modeltest.Finding, len(p.Statements))
	for i, s := range p.Statements {
		m.shown[s] = append(m.shown[s], p.Passages...)
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

// simulate returns the verdict on a control by the one-line rule, (states + ½ part) ÷ statements, implemented from .5, partially
// from .2, given the labels of the passages of each of its statements. Below that, and where something is denied, it follows
// docs/judgement.md. It shares no code with package judge.
func simulate(statements [][]reading.Label) api.Implementation {
	credit, denied, planned := 0.0, 0, 0
	for _, labels := range statements {
		has := map[reading.Label]bool{}
		for _, l := range labels {
			has[l] = true
		}
		shown := has[reading.States] || has[reading.Part]
		switch {
		case shown && has[reading.Contradicts], has[reading.Contradicts] && !has[reading.Plans]:
			denied++
		case has[reading.States]:
			credit++
		case has[reading.Part]:
			credit += 0.5
		case has[reading.Plans]:
			planned++
		}
	}
	switch ratio := credit / float64(len(statements)); {
	case ratio >= 0.5 && denied == 0:
		return api.Implemented
	case ratio >= 0.2:
		return api.PartiallyImplemented
	case planned > 0 && planned >= denied:
		return api.Planned
	case denied > 0:
		return api.NotImplemented
	}
	return api.NotEvidenced
}

// simulate returns the verdicts on a pack's controls that follow from its labels, for all passages or only those shown.
func (p *pack) simulate(controls map[string]api.Control, shown map[string][]string, flip bool) (out []api.Implementation) {
	for _, code := range p.controls {
		var statements [][]reading.Label
		for _, s := range judge.ReaderStatements(controls[code]) {
			var labels []reading.Label
			if shown == nil {
				for pair, l := range p.labels {
					if pair[0] == s.Text {
						labels = append(labels, l.Label)
					}
				}
			}
			for _, text := range shown[s.Text] {
				labels = append(labels, p.labelOf(s.Text, text, flip).Label)
			}
			statements = append(statements, labels)
		}
		out = append(out, simulate(statements))
	}
	return out
}

// limitedPacks have documents or passages that count less whatever a reader says of them.
var limitedPacks = []string{
	"w1-bank-policy-copperline-fcu",        // past its review date
	"w2-university-rules-penhallow-online", // of a kind that shows nothing
	"w1-startup-handbook-lumenpath",        // a passage about prompt injection, which is withheld
}

// TestPerfectReaderReachesCeiling replays labels as the answers of a model through prompt, answer, quotes and verdicts. A perfect
// reader must reach exactly what a simulation reaches with the labels of the same passages, and one that errs in a fifth of the
// pairs must come within .02 of a simulation that errs likewise. The truth are the labels of all passages, those included that
// search doesn't bring.
func TestPerfectReaderReachesCeiling(t *testing.T) {
	trained := newTrainedRunner(t)
	styles := []string{"w1-bank-policy-*"}
	if longtest.Enabled() {
		styles = append(styles, "w1-hospital-procedure-*", "w1-startup-handbook-*", "w2-university-rules-*", "w3-contract-clauses-*")
	}
	index := func(v api.Implementation) int { return slices.Index(Verdicts, v) }
	var path, simulated [2][5][5]int // without and with errors
	for _, style := range styles {
		dirs, err := filepath.Glob(filepath.Join("../../../tools/reader/data/packs", style))
		if err != nil || len(dirs) == 0 {
			t.Fatal(dirs, err)
		}
		for _, dir := range dirs {
			if slices.Contains(limitedPacks, filepath.Base(dir)) {
				continue
			}
			p := readPack(t, filepath.Base(dir))
			truth := p.simulate(trained.controls, nil, false)
			set := Set{Name: filepath.Base(dir), Evidence: onlyDocuments(t, dir)}
			for i, code := range p.controls {
				set.Labels = append(set.Labels, Label{Control: code, Verdict: truth[i]})
			}
			for n, flip := range []bool{false, true} {
				model := labeledModel{&p, flip, map[string][]string{}}
				r := *trained
				r.Read = (&modelreader.Reader{Model: model, ContextTokens: 8192}).Read
				report, err := r.measureSet(t.Context(), &set)
				if err != nil {
					t.Fatal(err)
				}
				for i, v := range p.simulate(r.controls, model.shown, flip) {
					simulated[n][index(truth[i])][index(v)]++
				}
				for i := range report.Confusion {
					for k, c := range report.Confusion[i] {
						path[n][i][k] += c
					}
				}
			}
		}
	}
	var kappas [2][2]float64
	for n := range path {
		_, kappas[n][0] = Kappa(path[n])
		_, kappas[n][1] = Kappa(simulated[n])
	}
	t.Logf("kappa of a perfect reader %.3f, simulated %.3f; with errors %.3f, simulated %.3f",
		kappas[0][0], kappas[0][1], kappas[1][0], kappas[1][1])
	if path[0] != simulated[0] {
		t.Errorf("a perfect reader: %v, simulated %v", path[0], simulated[0])
	}
	if math.Abs(kappas[1][0]-kappas[1][1]) > 0.02 || kappas[0][0] < 0.9 || kappas[1][0] > kappas[0][0] {
		t.Errorf("with errors: %v, simulated %v", path[1], simulated[1])
	}
}

// onlyDocuments returns the documents of a pack, without its labels.
func onlyDocuments(t *testing.T, dir string) fs.FS {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.md"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	out := fstest.MapFS{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(f)] = &fstest.MapFile{Data: b}
	}
	return out
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
