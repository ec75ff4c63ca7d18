package judgement

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment"
	"github.com/scf-service/service/engine/evidence"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/engine/judge/modelreader"
	"github.com/scf-service/service/engine/judge/reading"
	"github.com/scf-service/service/engine/judge/reading/crossencoder"
	"github.com/scf-service/service/examples/judged"
)

// TestNetworkWithRules measures a trained network, alone and together with the rules, on labeled documents that it was
// not trained on. The environment variable SERVICE_READER_OUT names a folder with reader.bin, as train.py writes it, where
// the readings are kept for the next run. The network reads the window with the words in which the rules find something.
// For the strangers' statements, it also reads the best passages, as many as SERVICE_READER_PASSAGES says (default 3).
//
// Thresholds are chosen on the organizations for calibration (tools/reader/data/README.md) and the companies of
// examples/judged alone. The unseen styles and the strangers only measure.
func TestNetworkWithRules(t *testing.T) {
	folder := os.Getenv("SERVICE_READER_OUT")
	if folder == "" {
		t.Skip("SERVICE_READER_OUT names no folder that train.py wrote")
	}
	n, err := crossencoder.ReadFile(filepath.Join(folder, "reader.bin"))
	if err != nil {
		t.Fatal(err)
	}
	network := crossencoder.NewReader(n)
	network.QuoteWindows = true
	m := networkMeasurement{
		runner: newTrainedRunner(t), network: network, readings: map[[2]string]reading.Reading{},
		file: filepath.Join(folder, "readings.jsonl"),
	}
	passages := 3
	if s := os.Getenv("SERVICE_READER_PASSAGES"); s != "" {
		if passages, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	m.loadReadings(t)
	var calibration, companies, styles, strangers []*setReadings
	for _, name := range calibrationPacks {
		calibration = append(calibration, m.readPackSet(t, name))
	}
	for _, pattern := range []string{"*-audit-report-*", "*-tickets-*", "*-council-minutes-*"} {
		for _, name := range packsOf(t, pattern) {
			styles = append(styles, m.readPackSet(t, name))
		}
	}
	readAll := func(folder fs.FS) (out []*setReadings) {
		sets, err := ReadSets(folder, m.runner.controls)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sets {
			out = append(out, m.readSet(t, s))
		}
		return out
	}
	companies = readAll(judged.Folder())
	m.passages = passages
	strangers = readAll(os.DirFS("testdata/strangers"))
	t.Log("passages that the rules don't call silent, by the network's probability of silent: silent / all (calibration)")
	for low := 0.0; low < 1; low += 0.1 {
		silent, all := m.vetoes(calibration, low, low+0.1)
		t.Logf("  from %.1f: %d of %d", low, silent, all)
	}
	report := func(c combination) {
		t.Logf("%-26s calibration %s", c.name, m.measure(t, calibration, c))
		t.Logf("%-26s companies   %s", "", m.measure(t, companies, c))
		t.Logf("%-26s unseen      %s", "", m.measure(t, styles, c))
		t.Logf("%-26s strangers   %s", "", m.measure(t, strangers, c))
	}
	for _, c := range fixedCombinations(passages) {
		report(c)
	}
	for _, v := range []float64{0.6, 0.7, 0.8, 0.9} {
		h := thresholds{v, v, never, never, never}
		report(combination{fmt.Sprintf("veto from %.2f", v), true, h.label})
	}
	rules, alone := fixedCombinations(passages)[0], networkAlone(passages)
	for name, sets := range map[string][]*setReadings{"companies": companies, "strangers": strangers} {
		t.Logf("the network as a second reader, %s: %s", name, compareLines(m.measure(t, sets, rules), m.measure(t, sets, alone)))
	}
	h := m.choose(t, calibration, companies)
	t.Logf("%+v", h)
	report(combination{"chosen thresholds", true, h.label})
	report(combination{"chosen thresholds, labels", false, h.label})
}

// calibrationPacks are those that train.py calibrates on: slides and one organization in ten.
var calibrationPacks = []string{
	"w1-hospital-procedure-bluestem-regional", "w1-hospital-procedure-st-brannoc", "w1-hospital-procedure-wattlegrove",
	"w1-startup-handbook-fernhollow", "w1-startup-handbook-pebblecart", "w2-registers-sandpiper-resorts", "w2-slides-ashwater",
	"w2-slides-bramblecart", "w2-slides-keelson-archer", "w2-slides-lanternhouse", "w2-slides-mapleroot", "w20-duty-memo-pad-oxbow",
	"w20-team-wiki-brackenfield", "w20-town-hall-answers-ferrovale", "w3-templates-pinnock",
}

type networkMeasurement struct {
	runner   *runner
	network  reading.Reader
	passages int
	readings map[[2]string]reading.Reading // by statement ID and passage hash
	file     string
}

func (m *networkMeasurement) loadReadings(t *testing.T) {
	if _, err := os.Stat(m.file); errors.Is(err, fs.ErrNotExist) {
		return
	}
	readJSONLines(t, m.file, func(line []byte) error {
		var l reading.Line
		err := json.Unmarshal(line, &l)
		if l.Reader == m.network.Name() {
			m.readings[[2]string{l.StatementID, l.PassageHash}] = l.Reading
		}
		return err
	})
}

func (m *networkMeasurement) saveReadings(t *testing.T) {
	t.Helper()
	var out strings.Builder
	lines := json.NewEncoder(&out)
	for pair, r := range m.readings {
		if err := lines.Encode(reading.Line{Reader: m.network.Name(), StatementID: pair[0], PassageHash: pair[1], Reading: r}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(m.file, []byte(out.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// setReadings is a labeled organization with what the rules and the network read in its documents.
type setReadings struct {
	Set
	labels     *pack // nil if only controls are labeled
	evaluation *assessment.Evaluation
	controls   []api.Control
	statements []readStatement
}

type readStatement struct {
	reading.Statement
	control  int // in Set.Labels
	number   int // from 1
	passages []readPassage
}

// readPassage is a passage that search found, with its readings. The network's is the zero Reading if it didn't read it.
type readPassage struct {
	chunk, document string
	passage         reading.Passage
	rules, network  reading.Reading
}

func (m *networkMeasurement) readPackSet(t *testing.T, name string) *setReadings {
	p := readPack(t, name)
	s := Set{Name: name, Evidence: onlyDocuments(t, p.dir)}
	for i, v := range p.simulate(m.runner.controls, nil) {
		s.Labels = append(s.Labels, Label{Control: p.controls[i], Verdict: v})
	}
	out := m.readSet(t, s)
	out.labels = &p
	return out
}

func (m *networkMeasurement) readSet(t *testing.T, s Set) *setReadings {
	t.Helper()
	library, err := evidence.ReadLibrary(t.Context(), s.Evidence, m.runner.model, judge.GuessCategory)
	if err != nil {
		t.Fatal(err)
	}
	session, err := library.NewSession("")
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.runner.prepared.Evaluate(t.Context(), session, judge.Options{Today: judged.Today})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		m.saveReadings(t)
		t.Logf("%s: %d passages read", s.Name, len(m.readings))
	}()
	out, rules := &setReadings{Set: s, evaluation: e}, m.runner.prepared.RulesReader(judged.Today)
	for n, l := range s.Labels {
		out.controls = append(out.controls, m.runner.controls[l.Control])
		for i, c := range e.Candidates(l.Control) {
			st := readStatement{Statement: c.Statement, control: n, number: i + 1}
			var shown []reading.Passage
			for k, p := range c.Passages {
				if !c.AddressesReader(k) {
					one := p.ForReader()
					one.Score = p.Score
					st.passages, shown = append(st.passages, readPassage{chunk: p.ChunkID, document: p.DocumentID, passage: one}), append(shown, one)
				}
			}
			readings, _, err := reading.ReadAll(t.Context(), rules, c.Statement, shown)
			if err != nil {
				t.Fatal(err)
			}
			var open []int
			var toRead []reading.Passage
			for k, r := range readings {
				st.passages[k].rules = r
				one := shown[k]
				if r.Label != reading.Silent {
					one.Text = crossencoder.WindowAround(one.Text, r.Words)
				} else if k >= m.passages {
					continue
				}
				if known, ok := m.readings[[2]string{c.Statement.ID(), one.Hash()}]; ok {
					st.passages[k].network = known
				} else {
					open, toRead = append(open, k), append(toRead, one)
				}
			}
			read, _, err := reading.ReadAll(t.Context(), m.network, c.Statement, toRead)
			if err != nil {
				t.Fatal(err)
			}
			for j, k := range open {
				st.passages[k].network = read[j]
				m.readings[[2]string{c.Statement.ID(), toRead[j].Hash()}] = read[j]
			}
			out.statements = append(out.statements, st)
		}
	}
	return out
}

// vetoes counts the passages in which the rules find something and to which the network gives a probability of being
// silent in a range, and how many of them the labels call silent.
func (m *networkMeasurement) vetoes(sets []*setReadings, low, high float64) (silent, all int) {
	for _, s := range sets {
		for _, st := range s.statements {
			for _, p := range st.passages {
				if q := p.network.Probabilities[reading.Silent]; p.rules.Label == reading.Silent || q < low || q >= high {
					continue
				}
				all++
				if s.labels.labelOf(st.Text, p.passage.Text).Label == reading.Silent {
					silent++
				}
			}
		}
	}
	return silent, all
}

// combination is a way to judge with the rules and the network. Given a passage and its rank from 0, label returns what
// it shows. If ownVerdicts is set, the rules' own verdicts are used, except for passages whose label it changes, which
// are treated like passages that a person decided about; otherwise, verdicts follow from labels alone.
type combination struct {
	name        string
	ownVerdicts bool
	label       func(p *readPassage, rank int) reading.Reading
}

var silentReading = reading.Reading{Label: reading.Silent, Probabilities: map[reading.Label]float64{reading.Silent: 1}}

// fixedCombinations need no thresholds.
func fixedCombinations(passages int) []combination {
	rules := func(p *readPassage, _ int) reading.Reading { return p.rules }
	out := []combination{{"rules", true, rules}, {"rules' labels", false, rules}}
	for k := 1; k <= passages; k += 2 {
		out = append(out, networkAlone(k))
	}
	kind := func(p *readPassage, _ int) reading.Reading {
		if p.rules.Label == reading.Silent || !p.network.IsRead() || p.network.Label == reading.Silent {
			return p.rules
		}
		return p.network
	}
	return append(out, combination{"network's kind, labels", false, kind}, combination{"network's kind", true, kind})
}

// networkAlone judges by the network's labels of the best passages of each statement, as the program does if the network is the
// second reader.
func networkAlone(passages int) combination {
	return combination{fmt.Sprintf("network, %d passages", passages), false, func(p *readPassage, rank int) reading.Reading {
		if rank >= passages || !p.network.IsRead() {
			return silentReading
		}
		return p.network
	}}
}

// thresholds say when the network's probabilities change the rules' label of a passage. Above 1, they never do.
type thresholds struct {
	Veto       float64 // of silent, where the rules find evidence
	VetoDenied float64 // of silent, where the rules find a denial or a plan
	Demote     float64 // of part among states and part, where the rules find states
	Promote    float64 // of states among states and part, where the rules find part
	Deny       float64 // of contradicts and plans, where the rules find evidence
}

const never = 2

func (h thresholds) label(p *readPassage, _ int) reading.Reading {
	if !p.network.IsRead() {
		return p.rules
	}
	q := p.network.Probabilities
	changed := func(l reading.Label) reading.Reading {
		return reading.Reading{Label: l, Words: cmp.Or(p.rules.Words, p.network.Words), Probabilities: map[reading.Label]float64{l: 1}}
	}
	part := q[reading.Part] / max(1e-9, q[reading.Part]+q[reading.States])
	switch p.rules.Label {
	case reading.Silent:
		return p.rules
	case reading.Plans, reading.Contradicts:
		if q[reading.Silent] >= h.VetoDenied {
			return silentReading
		}
		return p.rules
	}
	switch {
	case q[reading.Silent] >= h.Veto:
		return silentReading
	case q[reading.Contradicts]+q[reading.Plans] >= h.Deny:
		if q[reading.Contradicts] >= q[reading.Plans] {
			return changed(reading.Contradicts)
		}
		return changed(reading.Plans)
	case p.rules.Label == reading.States && part >= h.Demote:
		return changed(reading.Part)
	case p.rules.Label == reading.Part && 1-part >= h.Promote:
		return changed(reading.States)
	}
	return p.rules
}

// choose returns the thresholds with the highest sum of two kappas: of the verdicts on the packs' statements, and of the
// companies' controls, on which the rules were tuned. It tries one threshold after the other, twice, and only uses one
// that raises the sum by more than .002.
func (m *networkMeasurement) choose(t *testing.T, packs, companies []*setReadings) thresholds {
	h := thresholds{never, never, never, never, never}
	value := func(h thresholds) float64 {
		c := combination{ownVerdicts: true, label: h.label}
		_, statements := Kappa(m.measure(t, packs, c).verdicts)
		_, controls := Kappa(m.measure(t, companies, c).confusion)
		return statements + controls
	}
	best := value(h)
	for range 2 {
		for _, one := range []*float64{&h.Veto, &h.VetoDenied, &h.Demote, &h.Promote, &h.Deny} {
			before := *one
			chosen := before
			for _, v := range []float64{never, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95} {
				if *one = v; v == before {
					continue
				}
				if k := value(h); k > best+0.002 {
					best, chosen = k, v
				}
			}
			*one = chosen
		}
	}
	return h
}

// line is a drafted verdict on a control.
type line struct {
	verdict, truth api.Implementation
	confidence     float64
}

// compareLines says how many lines of a first reader are right if a second one agrees, and if not.
func compareLines(first, second figures) string {
	count := func(use func(a, b line) bool) string {
		n, right := 0, 0
		for i, a := range first.lines {
			if use(a, second.lines[i]) {
				n++
				if a.verdict == a.truth {
					right++
				}
			}
		}
		return fmt.Sprintf("%d of %d", right, n)
	}
	rightSecond, disputed := 0, 0
	for i, b := range second.lines {
		if b.verdict != first.lines[i].verdict {
			disputed++
			if b.verdict == b.truth {
				rightSecond++
			}
		}
	}
	return fmt.Sprintf("right where they agree %s (implemented: %s; confidence of the rules from .7: %s; from .8: %s), where they differ %s (from .8: %s) "+
		"and the second %d of %d", count(func(a, b line) bool { return a.verdict == b.verdict }),
		count(func(a, b line) bool { return a.verdict == b.verdict && a.verdict == api.Implemented }),
		count(func(a, b line) bool { return a.verdict == b.verdict && a.confidence >= 0.7 }),
		count(func(a, b line) bool { return a.verdict == b.verdict && a.confidence >= 0.8 }),
		count(func(a, b line) bool { return a.verdict != b.verdict }),
		count(func(a, b line) bool { return a.verdict != b.verdict && a.confidence >= 0.8 }), rightSecond, disputed)
}

// figures are those of a combination on some sets.
type figures struct {
	lines                                                    []line
	kappas                                                   []float64 // of the controls of each set
	confusion                                                [5][5]int // of the controls
	statements                                               [5][5]int // evidenced or not, in the first two rows and columns
	verdicts                                                 [5][5]int // of the statements, by statementVerdicts
	labels                                                   [5][5]int // of passages
	covered, coveredRight, denied, deniedRight, quotes, bear int
}

func (f figures) String() string {
	_, all := Kappa(f.confusion)
	_, statements := Kappa(f.statements)
	var each []string
	if len(f.kappas) < 5 {
		for _, k := range f.kappas {
			each = append(each, fmt.Sprintf("%.2f", k))
		}
	}
	out := fmt.Sprintf("controls %s all %.3f; statements %.3f", strings.Join(each, " "), all, statements)
	if f.quotes > 0 {
		five, three := macroF1(f.labels, 0, 1, 2, 3, 4), macroF1(f.labels, 0, 1, 4)
		_, verdicts := Kappa(f.verdicts)
		out += fmt.Sprintf(", five verdicts %.3f; macro-F1 %.3f (%.3f)", verdicts, five, three)
		out += fmt.Sprintf("; covered %d/%d, denied or planned %d/%d", f.coveredRight, f.covered, f.deniedRight, f.denied)
		out += fmt.Sprintf(", quotes %d/%d", f.bear, f.quotes)
	}
	return out
}

// macroF1 returns the mean F1 of the given labels.
func macroF1(table [5][5]int, labels ...int) float64 {
	sum := 0.0
	for _, l := range labels {
		truth, read := 0, 0
		for i := range table {
			truth, read = truth+table[l][i], read+table[i][l]
		}
		sum += 2 * float64(table[l][l]) / float64(max(1, truth+read))
	}
	return sum / float64(len(labels))
}

func (m *networkMeasurement) measure(t *testing.T, sets []*setReadings, c combination) (out figures) {
	t.Helper()
	for _, s := range sets {
		record := &modelreader.Recorded{}
		var changes []reading.Correction
		for _, st := range s.statements {
			var passages []reading.Passage
			var readings []reading.Reading
			for k := range st.passages {
				p := &st.passages[k]
				r := c.label(p, k)
				passages, readings = append(passages, p.passage), append(readings, r)
				if r.Label != p.rules.Label {
					changes = append(changes, reading.Correction{
						ID: fmt.Sprint(len(changes)), StatementID: st.ID(), DocumentID: p.document, Passage: p.passage, Label: r.Label, Words: r.Words,
					})
				}
				if s.labels != nil {
					truth := s.labels.labelOf(st.Text, p.passage.Text).Label
					out.labels[slices.Index(reading.Labels, truth)][slices.Index(reading.Labels, r.Label)]++
				}
			}
			record.Add(modelreader.Statement{Statement: st.Statement, Passages: passages}, modelreader.Outcome{Readings: readings})
		}
		if c.ownVerdicts {
			s.evaluation.SetReader(nil)
			s.evaluation.SetCorrections(reading.NewCorrections(changes))
		} else {
			s.evaluation.SetCorrections(nil)
			s.evaluation.SetReader(reading.Fallback(record, m.runner.prepared.RulesReader(judged.Today)))
		}
		if err := s.evaluation.Refresh(t.Context(), runtime.GOMAXPROCS(0)); err != nil {
			t.Fatal(err)
		}
		judgements, err := s.evaluation.EvaluateAll(t.Context(), s.controls, runtime.GOMAXPROCS(0))
		if err != nil {
			t.Fatal(err)
		}
		var confusion [5][5]int
		for i, l := range s.Labels {
			out.lines = append(out.lines, line{judgements[i].Implementation, l.Verdict, judgements[i].Confidence})
			confusion[slices.Index(Verdicts, l.Verdict)][slices.Index(Verdicts, judgements[i].Implementation)]++
		}
		out.addSet(s, judgements, confusion)
	}
	return out
}

func (f *figures) addSet(s *setReadings, judgements []judge.Judgement, confusion [5][5]int) {
	_, kappa := Kappa(confusion)
	f.kappas = append(f.kappas, kappa)
	for i := range confusion {
		for k, n := range confusion[i] {
			f.confusion[i][k] += n
		}
	}
	for _, st := range s.statements {
		j := judgements[st.control]
		verdict := j.Statements[st.number-1].Verdict
		is := slices.Contains([]string{judge.VerdictCovered, judge.VerdictPartial, judge.VerdictConflicting}, verdict)
		l := s.Labels[st.control]
		truth := isEvidenced(l.Verdict) && !slices.Contains(l.Missing, st.number)
		if s.labels != nil {
			truth = f.addLabeled(s, st, j, verdict)
		}
		index := map[bool]int{false: 0, true: 1}
		f.statements[index[truth]][index[is]]++
	}
}

// statementVerdicts numbers the verdicts on statements; a conflict counts as a denial.
var statementVerdicts = map[string]int{
	judge.VerdictCovered: 0, judge.VerdictPartial: 1, judge.VerdictPlanned: 2, judge.VerdictDenied: 3, judge.VerdictConflicting: 3,
	judge.VerdictMissing: 4, judge.VerdictTemplate: 4,
}

// addLabeled compares the verdict on a statement, and its quotes, with the labels of its passages. It returns whether
// these show it, at least in part.
func (f *figures) addLabeled(s *setReadings, st readStatement, j judge.Judgement, verdict string) bool {
	shown := map[reading.Label]bool{}
	defer func() {
		truth := 4
		switch {
		case (shown[reading.States] || shown[reading.Part]) && shown[reading.Contradicts]:
			truth = 3
		case shown[reading.States]:
			truth = 0
		case shown[reading.Part]:
			truth = 1
		case shown[reading.Plans]:
			truth = 2
		case shown[reading.Contradicts]:
			truth = 3
		}
		f.verdicts[truth][statementVerdicts[verdict]]++
	}()
	for pair, l := range s.labels.labels {
		if pair[0] == st.Text {
			shown[l.Label] = true
		}
	}
	switch verdict {
	case judge.VerdictCovered:
		f.covered++
		if shown[reading.States] && !shown[reading.Contradicts] {
			f.coveredRight++
		}
	case judge.VerdictDenied, judge.VerdictPlanned, judge.VerdictConflicting:
		f.denied++
		if shown[reading.Contradicts] && verdict != judge.VerdictPlanned || shown[reading.Plans] && verdict == judge.VerdictPlanned {
			f.deniedRight++
		}
	}
	for _, e := range j.Evidence {
		if !e.RelatesTo(st.Text) {
			continue
		}
		f.quotes++
		for _, p := range st.passages {
			if p.chunk == e.ChunkID && s.labels.labelOf(st.Text, p.passage.Text).Label != reading.Silent {
				f.bear++
				break
			}
		}
	}
	return shown[reading.States] || shown[reading.Part]
}
