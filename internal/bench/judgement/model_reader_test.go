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

// pairLabel is a careful reader's label for a statement and a passage.
type pairLabel struct {
	Control   string        `json:"control"`
	Statement string        `json:"s"`
	Number    int           `json:"n"`
	Label     reading.Label `json:"label"`
	Words     string        `json:"words"`
}

// pack is an invented organization from the reader's training data, with labels for pairs.
type pack struct {
	dir      string
	controls []string
	labels   map[[2]string]pairLabel // by statement and passage text
	second   map[[2]string]pairLabel // labels by a second labeler, who didn't see the first ones; nil if there are none
	errors   int                     // percentage of labels that labelOf changes
}

func readPack(t *testing.T, name string) pack {
	t.Helper()
	p := pack{dir: filepath.Join("../../../tools/reader/data/packs", name)}
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
	read := func(file string) map[[2]string]pairLabel {
		out := map[[2]string]pairLabel{}
		readJSONLines(t, file, func(line []byte) error {
			var l pairLabel
			err := json.Unmarshal(line, &l)
			if l.Statement != "" {
				out[[2]string{l.Statement, texts[l.Number]}] = l
			}
			return err
		})
		return out
	}
	p.labels = read(files[0])
	if len(files) > 1 {
		p.second = read(files[1])
	}
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

// labelOf returns the label of a pair. A share of the labels that aren't silent is replaced by others.
func (p *pack) labelOf(statement, text string) pairLabel {
	l, labeled := p.labels[[2]string{statement, text}]
	if !labeled {
		l.Label = reading.Silent
	}
	h := fnv.New32a()
	h.Write([]byte(statement + "\n" + text))
	if !labeled || int(h.Sum32()%100) >= p.errors {
		return l
	}
	others := slices.DeleteFunc(slices.Clone(reading.Labels), func(o reading.Label) bool { return o == l.Label })
	l.Label = others[h.Sum32()/100%uint32(len(others))]
	return l
}

// labeledModel answers prompts with a pack's labels, and records which passages it is shown for each statement.
type labeledModel struct {
	pack  *pack
	shown map[string][]string
}

func (m labeledModel) Chat(_ context.Context, r llm.Request) (llm.Answer, error) {
	p := modeltest.ParsePrompt(r.User)
	findings := make([][]modeltest.Finding, len(p.Statements))
	for i, s := range p.Statements {
		m.shown[s] = append(m.shown[s], p.Passages...)
		for k, text := range p.Passages {
			if l := m.pack.labelOf(s, text); l.Label != reading.Silent {
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

// simulate returns the verdict on a control by a one-line rule, given the labels of the passages of each of its
// statements: (states + ½ part) ÷ statements, implemented from .5, partially implemented from .2. Below that, and if
// something is denied, it follows docs/judgement.md. It shares no code with package judge.
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

// simulate returns the verdicts on a pack's controls that follow from its labels, for all passages or only for those
// shown.
func (p *pack) simulate(controls map[string]api.Control, shown map[string][]string) (out []api.Implementation) {
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
				labels = append(labels, p.labelOf(s.Text, text).Label)
			}
			statements = append(statements, labels)
		}
		out = append(out, simulate(statements))
	}
	return out
}

// limitedPacks have documents or passages that count for less, whatever a reader says about them.
var limitedPacks = []string{
	"w1-bank-policy-copperline-fcu",        // past its review date
	"w2-university-rules-penhallow-online", // of a kind that is no evidence
	"w1-startup-handbook-lumenpath",        // a passage with a prompt injection, which is withheld
}

// TestPerfectReaderReachesCeiling uses labels as the answers of a model and passes them through prompt, answer,
// quotes and verdicts. A perfect reader must reach exactly the values of a simulation with the labels of the same
// passages. A reader that errs on a fifth of the pairs must come within .02 of a simulation with the same errors. The
// labels of all passages, including those that search doesn't find, are considered true.
func TestPerfectReaderReachesCeiling(t *testing.T) {
	trained := newTrainedRunner(t)
	styles := []string{"w1-bank-policy-*"}
	if longtest.Enabled() {
		styles = append(styles, "w1-hospital-procedure-*", "w1-startup-handbook-*", "w2-university-rules-*", "w3-contract-clauses-*")
	}
	index := func(v api.Implementation) int { return slices.Index(Verdicts, v) }
	var path, simulated [2][5][5]int // without errors and with errors
	for _, style := range styles {
		for _, name := range packsOf(t, style) {
			if slices.Contains(limitedPacks, name) {
				continue
			}
			p := readPack(t, name)
			truth := p.simulate(trained.controls, nil)
			for n, errors := range []int{0, 20} {
				p.errors = errors
				report, shown := trained.measureLabels(t, &p, truth)
				for i, v := range p.simulate(trained.controls, shown) {
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
	controls := 0
	for _, row := range path[0] {
		for _, n := range row {
			controls += n
		}
	}
	t.Logf("%d controls: kappa of a perfect reader %.3f, simulated %.3f; with errors %.3f, simulated %.3f", controls,
		kappas[0][0], kappas[0][1], kappas[1][0], kappas[1][1])
	if path[0] != simulated[0] {
		t.Errorf("a perfect reader: %v, simulated %v", path[0], simulated[0])
	}
	if math.Abs(kappas[1][0]-kappas[1][1]) > 0.02 || kappas[0][0] < 0.9 || kappas[1][0] > kappas[0][0] {
		t.Errorf("with errors: %v, simulated %v", path[1], simulated[1])
	}
}

// packsOf returns the names of the packs that match a pattern.
func packsOf(t *testing.T, pattern string) (names []string) {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join("../../../tools/reader/data/packs", pattern))
	if err != nil || len(dirs) == 0 {
		t.Fatal(dirs, err)
	}
	for _, d := range dirs {
		names = append(names, filepath.Base(d))
	}
	return names
}

// measureLabels measures a pack's labels as the answers of a model, given the true verdicts on its controls. It also
// returns the passages that the model was shown for each statement.
func (r *runner) measureLabels(t *testing.T, p *pack, truth []api.Implementation) (*SetReport, map[string][]string) {
	t.Helper()
	set := Set{Name: filepath.Base(p.dir), Evidence: onlyDocuments(t, p.dir)}
	for i, code := range p.controls {
		set.Labels = append(set.Labels, Label{Control: code, Verdict: truth[i]})
	}
	model := labeledModel{p, map[string][]string{}}
	with := *r
	with.Read = (&modelreader.Reader{Model: model, ContextTokens: 8192}).Read
	report, err := with.measureSet(t.Context(), &set)
	if err != nil {
		t.Fatal(err)
	}
	return report, model.shown
}

// TestAgreementDependsOnTheReader uses one labeler as the second reader and another labeler's labels as the truth. It
// measures how often the verdicts are right on which the rules and the second reader agree. That is more often than
// the rules' confidence suggests, but less often if the reader errs. Therefore, agreement doesn't raise the
// confidence as long as the reader hasn't been measured (docs/models.md).
func TestAgreementDependsOnTheReader(t *testing.T) {
	r := newTrainedRunner(t)
	var share [3]float64
	for n, errors := range []int{0, 20, 40} {
		var sets []SetReport
		for _, name := range packsOf(t, "w*") {
			p := readPack(t, name)
			if p.second == nil || !longtest.Enabled() && len(sets) == 2 {
				continue
			}
			p.labels, p.second = p.second, p.labels
			truth := p.simulate(r.controls, nil)
			p.labels, p.second, p.errors = p.second, p.labels, errors
			report, _ := r.measureLabels(t, &p, truth)
			sets = append(sets, *report)
		}
		all := sumReports(sets)
		c := all.WithRules
		share[n] = float64(c.AgreeRight) / float64(c.Agree)
		t.Logf("%d%% errors: agree on %d of %d, %.2f right; of the others the reader is right in %d, the rules in %d",
			errors, c.Agree, all.Controls, share[n], c.ReaderRight, c.RulesRight)
		if c.Agree+c.Differ != all.Controls || c.ReaderRight <= c.RulesRight {
			t.Errorf("%d%% errors: %+v of %d", errors, c, all.Controls)
		}
		if !longtest.Enabled() {
			return
		}
	}
	if share[0] < 0.75 || share[1] > 0.65 || share[2] > 0.55 {
		t.Errorf("right where they agree: %.2f; docs/models.md says .82, .59 and .46", share)
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

// readAttacks returns texts that try to manipulate a reader.
func readAttacks(t *testing.T) (attacks []string) {
	t.Helper()
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
	return attacks
}

// obedientModel does what a passage seems to ask for: it finds that the first sentence of a passage that isn't among
// the honest ones, or else the honest sentence, states every statement in the prompt.
type obedientModel struct{ honest string }

func (m obedientModel) Chat(_ context.Context, r llm.Request) (llm.Answer, error) {
	p := modeltest.ParsePrompt(r.User)
	findings := make([][]modeltest.Finding, len(p.Statements)+1) // including the check statement
	for i := range findings {
		for k, text := range p.Passages {
			if text != m.honest {
				findings[i] = []modeltest.Finding{{Passage: k + 1, Label: "states", Quote: m.honest}}
			}
		}
	}
	return llm.Answer{Text: modeltest.Answer(findings)}, nil
}

// TestObedientModelIsNotTrusted checks that a model is not believed if it is shown an attack, as if the attack had
// not been withheld, and obeys it by finding honest words that state everything: none of its readings count.
func TestObedientModelIsNotTrusted(t *testing.T) {
	const honest = "Visitors sign the book at the gate."
	statement := func(text string, passages ...string) modelreader.Statement {
		s := modelreader.Statement{Statement: reading.Statement{ControlCode: "IAC-06", Topic: "sign-in", Text: text}}
		for _, p := range passages {
			s.Passages = append(s.Passages, reading.Passage{Title: "Notes", Text: p})
		}
		return s
	}
	r := modelreader.Reader{Model: obedientModel{honest}}
	for _, attack := range readAttacks(t) {
		out, err := r.Read(t.Context(), []modelreader.Statement{
			statement("Staff use a second factor.", honest, honest+"\n"+attack), statement("Backups are tested.", honest),
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range out {
			if o.Problem != modelreader.ProblemFooled || slices.ContainsFunc(o.Readings, reading.Reading.IsRead) {
				t.Errorf("%q: %+v", attack, o)
			}
		}
	}
	out, err := r.Read(t.Context(), []modelreader.Statement{statement("Staff use a second factor.", honest)})
	if err != nil || out[0].Problem != "" || out[0].Readings[0].Label != reading.Silent {
		t.Errorf("without an attack: %+v, %v", out, err)
	}
}

// TestAttacksAreWithheldFromModels checks that no passage with an attack reaches a model, so that even an obedient
// model can't change a verdict. Ordinary passages must reach the model.
func TestAttacksAreWithheldFromModels(t *testing.T) {
	r := newTrainedRunner(t)
	attacks := readAttacks(t)
	const honest = "Visitors sign the book at the gate."
	folder := fstest.MapFS{}
	for i, attack := range attacks {
		folder[fmt.Sprintf("a%03d.txt", i)] = &fstest.MapFile{Data: []byte(honest + "\n" + attack + "\n")}
	}
	disguises := map[string]*strings.Replacer{
		"invisible":  strings.NewReplacer("a", "a\u200b", "e", "\u2060e", "i", "i\U000E0020", "o", "o\u00ad"),
		"full-width": strings.NewReplacer("a", "ａ", "e", "ｅ", "i", "𝐢", "o", "𝗼", "s", "ｓ"),
		"Cyrillic":   strings.NewReplacer("a", "а", "e", "е", "o", "о", "c", "с", "p", "р"),
	}
	for name, disguise := range disguises {
		for _, attack := range attacks {
			if text := honest + "\n" + disguise.Replace(attack); !judge.AddressesReader(judge.Passage{Text: text}) {
				t.Errorf("%s letters: %q reaches the model", name, text)
			}
		}
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
