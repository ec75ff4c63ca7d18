package judgement

import (
	"cmp"
	"context"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/engine/judge/modelreader"
	"github.com/scf-service/service/engine/llm"
	"github.com/scf-service/service/examples/judged"
	"github.com/scf-service/service/internal/testutil/modeltest"
)

// Frames are templates around ordinary policy sentences. In most of them, the sentences no longer state what the
// organization does. testdata/frames holds the sentences and the frames, and testdata/genres holds documents of kinds
// that are no evidence. A hash of the name assigns each of them to a development or a test half; rules were only
// changed by looking at the development half. docs/measurements.md gives the figures.

// aboutOrganization holds documents that identify the organization, but say nothing about any control.
var aboutOrganization = map[string]string{
	"about-us.md": "# About Larkfield Instruments\n\nLarkfield Instruments Ltd. was founded in 1974 in Leeds. It makes devices that measure light.\n",
	"sites.md":    "# Sites\n\nLarkfield Instruments Ltd. has 600 employees at two sites, Leeds and Bruges.\n",
	"canteen.md":  "# Canteen\n\nThe canteen of Larkfield Instruments Ltd. is open from 11:30. Soup is served on Mondays.\n",
}

// frame is a template of a document.
type frame struct {
	group, name, file, template string
	test                        bool // whether it belongs to the test half
}

// readFrames reads templates, each of which begins with a line such as "=== group | name | file".
func readFrames(t *testing.T, file string) (out []frame) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split("\n"+string(data), "\n=== ")[1:] {
		head, template, _ := strings.Cut(part, "\n")
		fields := strings.Split(head, " | ")
		f := frame{group: fields[0], name: fields[len(fields)-2], file: fields[len(fields)-1], template: strings.TrimSpace(template)}
		h := fnv.New32a()
		h.Write([]byte(f.name + "|" + f.file))
		f.test = h.Sum32()>>8&1 == 1
		out = append(out, f)
	}
	return out
}

// controlSentences holds the ordinary sentences about a control.
type controlSentences struct {
	control   string
	sentences []string
}

func readControlSentences(t *testing.T) (out []controlSentences) {
	t.Helper()
	data, err := os.ReadFile("testdata/frames/sentences.csv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		control, sentence, _ := strings.Cut(strings.TrimSpace(line), ",")
		switch n := len(out); {
		case control == "control":
		case n > 0 && out[n-1].control == control:
			out[n-1].sentences = append(out[n-1].sentences, sentence)
		default:
			out = append(out, controlSentences{control, []string{sentence}})
		}
	}
	return out
}

// fill returns the document that results from inserting sentences into the frame.
func (f frame) fill(all []controlSentences) string {
	var out strings.Builder
	lines := strings.Split(f.template, "\n")
	sep := "\n"
	if !strings.HasSuffix(f.file, ".csv") && !strings.HasSuffix(f.file, ".txt") {
		sep = "\n\n"
	}
	for i := 0; i < len(lines); i++ {
		switch line := lines[i]; {
		case line == "<<<":
			end := i + slices.Index(lines[i:], ">>>")
			for _, c := range all {
				for _, inner := range lines[i+1 : end] {
					writeLine(&out, inner, []controlSentences{c}, sep)
				}
			}
			i = end
		default:
			writeLine(&out, line, all, sep)
		}
	}
	return out.String()
}

func writeLine(out *strings.Builder, line string, all []controlSentences, sep string) {
	if strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "1. ") {
		sep = "\n"
	}
	for _, c := range all {
		switch {
		case strings.Contains(line, "{P}") || strings.Contains(line, "{p}"):
			paragraph := strings.Join(c.sentences, " ")
			out.WriteString(strings.NewReplacer("{P}", paragraph, "{p}", lowerFirst(paragraph)).Replace(line) + sep)
		case strings.Contains(line, "{"):
			for _, s := range c.sentences {
				out.WriteString(fillSentence(line, s) + sep)
			}
		default:
			out.WriteString(line + "\n")
			return
		}
	}
}

// fillSentence replaces the placeholders of a line with forms of a sentence.
func fillSentence(line, s string) string {
	bare := strings.TrimSuffix(s, ".")
	words := strings.Fields(strings.ToLower(strings.NewReplacer(",", "", ";", "").Replace(bare)))
	sorted := slices.Sorted(slices.Values(words))
	shuffled := slices.Clone(words)
	rng := rand.New(rand.NewPCG(uint64(len(s)), 7))
	rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	var content []string
	for _, w := range words {
		if len(w) > 3 && !slices.Contains(strings.Fields("that with before their when from every each into onto must have been them whenever"), w) {
			content = append(content, w)
		}
	}
	titles := slices.Clone(content)
	for i, w := range titles {
		titles[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.NewReplacer(
		"{S}", s, "{s}", lowerFirst(bare), "{sorted}", strings.Join(sorted, " "), "{shuffled}", strings.Join(shuffled, " "),
		"{titles}", strings.Join(titles, " "), "{keywords}", strings.Join(content, ", "),
		"{semicolons}", strings.Join(content, "; "), "{hashtags}", "#"+strings.Join(content, " #"), "{slug}", strings.Join(content, "-"),
	).Replace(line)
}

// lowerFirst returns s with its first word in lower case, unless that word is an acronym.
func lowerFirst(s string) string {
	if len(s) > 1 && s[1] >= 'a' && s[1] <= 'z' {
		return strings.ToLower(s[:1]) + s[1:]
	}
	return s
}

// judgeDocument returns the verdicts on controls if the only documents are a given one and aboutOrganization. The
// verdicts are by the rules and, if a reader is measured, also by the reader.
func (r *runner) judgeDocument(
	ctx context.Context, file, text string, controls []api.Control,
) (byRules, byReader []judge.Judgement, err error) {
	folder := fstest.MapFS{file: {Data: []byte(text)}}
	for name, about := range aboutOrganization {
		folder[name] = &fstest.MapFile{Data: []byte(about)}
	}
	library, err := evidence.ReadLibrary(ctx, folder, r.model, judge.GuessCategory)
	if err != nil {
		return nil, nil, err
	}
	session, err := library.NewSession("")
	if err != nil {
		return nil, nil, err
	}
	judging, err := r.prepared.Evaluate(ctx, session, judge.Options{Today: r.Today})
	if err != nil {
		return nil, nil, err
	}
	if byRules, err = judging.EvaluateAll(ctx, controls, 2); err != nil || r.Read == nil {
		return byRules, nil, err
	}
	recorded, err := r.readAllWithMeasuredReader(ctx, file, judging, controls)
	if err != nil {
		return nil, nil, err
	}
	judging.SetReader(recorded)
	byReader, err = judging.EvaluateAll(ctx, controls, 2)
	return byRules, byReader, err
}

// trainedRunner is shared by the tests, because training takes as long as judging.
var trainedRunner = sync.OnceValues(func() (*runner, error) {
	r, err := newRunner(Options{Today: judged.Today, Progress: func(string, int, int) {}})
	if err != nil {
		return nil, err
	}
	return r, r.trainAndPrepareControls(context.Background())
})

func newTrainedRunner(t *testing.T) *runner {
	t.Helper()
	r, err := trainedRunner()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// frameResult counts verdicts on the lines of a frame.
type frameResult struct{ implemented, partial, other, lines int }

func (r *frameResult) add(v api.Implementation) {
	r.lines++
	switch v {
	case api.Implemented:
		r.implemented++
	case api.PartiallyImplemented:
		r.partial++
	case api.NotEvidenced:
	default:
		r.other++ // planned or not implemented
	}
}

// leavesEvidence reports whether more than a few lines are evidenced.
func (r frameResult) leavesEvidence() bool {
	return float64(r.implemented+r.partial) > maxEvidencedLines*float64(r.lines)
}

// frameControls returns the controls that the sentences are about, in order.
func (r *runner) frameControls(t *testing.T, all []controlSentences) (out []api.Control) {
	t.Helper()
	for _, c := range all {
		control, ok := r.controls[c.control]
		if !ok {
			t.Fatalf("no control %s", c.control)
		}
		out = append(out, control)
	}
	return out
}

// measureFrame judges the document that results from a frame and sentences, by the rules and by the measured reader,
// if any.
func (r *runner) measureFrame(t *testing.T, f frame, all []controlSentences, controls []api.Control) (out, byReader frameResult) {
	t.Helper()
	text := f.fill(all)
	verdicts, others, err := r.judgeDocument(t.Context(), f.file, text, controls)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range others {
		byReader.add(j.Implementation)
	}
	for i, j := range verdicts {
		out.add(j.Implementation)
		if name := os.Getenv("FRAME"); name == f.name && !f.test {
			t.Logf("%s %s: %s", controls[i].Code, j.Implementation, j.Reason)
			for _, e := range j.Evidence {
				t.Logf("    %s: %s", e.Stance, e.Quote)
			}
		}
	}
	if name := os.Getenv("FRAME"); name == f.name && !f.test {
		t.Logf("%.1500s", text)
	}
	return out, byReader
}

// maxEvidencedLines is the maximum share of lines that may remain evidenced in a frame.
const maxEvidencedLines = 0.1

// The figures that the rules reach on the development half and on the test half (docs/measurements.md).
var (
	maxEvidencedFrames   = [2]int{3, 5}
	minOwnEvidenced      = [2]float64{0.99, 0.99}
	maxImplementedByKind = [2]int{0, 2}
)

// The limits for a model that overlooks frames: the maximum number of frames in which it is believed, and the minimum
// number of the organization's own lines for which it is believed (docs/models.md).
const (
	maxCredulousFrames = 8
	minCredulousOwn    = 518
)

// TestFrames measures in how many frames the sentences remain evidence although they are no longer the organization's
// own statements.
func TestFrames(t *testing.T) {
	sentences := readControlSentences(t)
	r := newTrainedRunner(t).withCredulousModel(sentences)
	controls := r.frameControls(t, sentences)
	type count struct{ frames, evidenced, implemented int }
	credulous := count{}
	halves := map[string]map[bool]*count{}
	further := readFrames(t, "frames/further.txt")
	for i := range further {
		further[i].test = false
	}
	for _, f := range append(readFrames(t, "frames/frames.txt"), further...) {
		n, byModel := r.measureFrame(t, f, sentences, controls)
		bad := n.leavesEvidence()
		if credulous.frames++; byModel.leavesEvidence() {
			credulous.evidenced++
			t.Logf("the credulous model is believed: %s | %s %+v", f.group, f.name, byModel)
		}
		for _, group := range []string{f.group, "all"} {
			if halves[group] == nil {
				halves[group] = map[bool]*count{false: {}, true: {}}
			}
			c := halves[group][f.test]
			c.frames++
			if bad {
				c.evidenced++
			}
			if 2*n.implemented > n.lines {
				c.implemented++
			}
		}
		if !f.test {
			t.Logf("%-22s %-28s %s %+v", f.group, f.name, map[bool]string{true: "BAD", false: "ok "}[bad], n)
		}
	}
	groups := make([]string, 0, len(halves))
	for g := range halves {
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b string) int {
		return cmp.Or(cmp.Compare(halves[a][true].frames, halves[b][true].frames), cmp.Compare(a, b))
	})
	for _, g := range groups {
		d, e := halves[g][false], halves[g][true]
		t.Logf("%-22s development: %d of %d frames leave lines evidenced; test: %d of %d", g, d.evidenced, d.frames, e.evidenced, e.frames)
	}
	t.Logf("a model that overlooks frames: %d of %d leave lines evidenced", credulous.evidenced, credulous.frames)
	if credulous.evidenced > maxCredulousFrames {
		t.Errorf("a model that overlooks frames is believed in %d, want at most %d", credulous.evidenced, maxCredulousFrames)
	}
	all := halves["all"]
	t.Logf("mostly implemented: development %d, test %d", all[false].implemented, all[true].implemented)
	for test, floor := range map[bool]int{false: maxEvidencedFrames[0], true: maxEvidencedFrames[1]} {
		if n := all[test].evidenced; n > floor {
			t.Errorf("%d frames leave lines evidenced, want at most %d (test half: %v)", n, floor, test)
		}
	}
}

// TestOwnFrames measures whether sentences remain evidence in frames in which they are still the organization's own
// statements.
func TestOwnFrames(t *testing.T) {
	sentences := readControlSentences(t)
	r := newTrainedRunner(t).withCredulousModel(sentences)
	controls := r.frameControls(t, sentences)
	var halves [2]frameResult
	believed := 0
	for _, f := range readFrames(t, "frames/own.txt") {
		n, byModel := r.measureFrame(t, f, sentences, controls)
		believed += byModel.implemented + byModel.partial
		h := &halves[0]
		if f.test {
			h = &halves[1]
		} else {
			t.Logf("%-28s %+v", f.name, n)
		}
		h.implemented, h.partial, h.other, h.lines = h.implemented+n.implemented, h.partial+n.partial, h.other+n.other, h.lines+n.lines
	}
	t.Logf("a model that overlooks frames is believed in %d of %d lines", believed, halves[0].lines+halves[1].lines)
	if believed < minCredulousOwn {
		t.Errorf("a model's readings of the organization's own sentences count in %d lines, want %d", believed, minCredulousOwn)
	}
	for i, name := range []string{"development", "test"} {
		h := halves[i]
		evidenced := float64(h.implemented+h.partial) / float64(h.lines)
		t.Logf("%s: %.3f of %d lines evidenced, %.3f implemented", name, evidenced, h.lines, float64(h.implemented)/float64(h.lines))
		if evidenced < minOwnEvidenced[i] {
			t.Errorf("%s: %.3f of the lines are evidenced, want %.2f", name, evidenced, minOwnEvidenced[i])
		}
	}
}

// TestOtherDocumentKinds counts the controls of the starter catalog that are judged as implemented because of
// documents of other kinds.
func TestOtherDocumentKinds(t *testing.T) {
	r := newTrainedRunner(t)
	var halves [2]frameResult
	var kinds [2]int
	for _, f := range readFrames(t, "genres/documents.txt") {
		verdicts, _, err := r.judgeDocument(t.Context(), f.file, f.template, r.controlList)
		if err != nil {
			t.Fatal(err)
		}
		half := 0
		if f.test {
			half = 1
		}
		kinds[half]++
		var n frameResult
		for i, j := range verdicts {
			n.add(j.Implementation)
			halves[half].add(j.Implementation)
			if !f.test && j.Implementation == api.Implemented {
				t.Logf("    %s: %s", r.controlList[i].Code, j.Reason)
			}
		}
		if !f.test {
			t.Logf("%-28s %-20s %+v", f.file, judge.GuessCategory(f.file, strings.TrimLeft(strings.SplitN(f.template, "\n", 2)[0], "# "), f.template), n)
		}
	}
	for i, name := range []string{"development", "test"} {
		t.Logf("%s: %d documents implement %d lines, and %d partially", name, kinds[i], halves[i].implemented, halves[i].partial)
		if halves[i].implemented > maxImplementedByKind[i] {
			t.Errorf("%s: documents of other kinds implement %d lines, want at most %d", name, halves[i].implemented, maxImplementedByKind[i])
		}
	}
}

// credulousModel finds that the ordinary sentences about a control state everything that the control requires,
// regardless of their context.
type credulousModel struct {
	quotes map[string][]string // sentences by statement
}

// withCredulousModel returns a runner in which a credulousModel also reads.
func (r *runner) withCredulousModel(all []controlSentences) *runner {
	m := credulousModel{map[string][]string{}}
	for _, c := range all {
		for _, st := range judge.ReaderStatements(r.controls[c.control]) {
			for _, s := range c.sentences {
				m.quotes[st.Text] = append(m.quotes[st.Text], s, strings.TrimSuffix(lowerFirst(s), "."))
			}
		}
	}
	with := *r
	with.Read = (&modelreader.Reader{Model: m}).Read
	return &with
}

// Chat implements modelreader.Model.
func (m credulousModel) Chat(_ context.Context, r llm.Request) (llm.Answer, error) {
	p := modeltest.ParsePrompt(r.User)
	findings := make([][]modeltest.Finding, len(p.Statements))
	for i, s := range p.Statements {
		for k, text := range p.Passages {
			for _, quote := range m.quotes[s] {
				if strings.Contains(text, quote) {
					findings[i] = append(findings[i], modeltest.Finding{Passage: k + 1, Label: "states", Quote: quote})
					break
				}
			}
		}
	}
	return llm.Answer{Text: modeltest.Answer(findings)}, nil
}
