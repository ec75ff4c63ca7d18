package judge

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge/reading"
	"github.com/scf-service/service/engine/judge/text"
)

// PassageSource answers the questions of an EvaluationPlan. Each passage has a unique number that
// is never reused; a changed passage gets a new one.
type PassageSource interface {
	// BestPassages returns the best passages for a question, best first. The result doesn't change
	// unless Version does.
	BestPassages(question int) []RankedPassage
	Version(question int) int
	Passage(number int) Passage
	// Documents returns the IDs of all documents; DocumentPassages returns the numbers of a document's passages.
	Documents() []string
	DocumentPassages(document string) []int
}

// RankedPassage is a passage found by a PassageSource.
type RankedPassage struct {
	Number int
	Score  float64
}

// IncrementalEvaluator judges the controls of an EvaluationPlan against the passages of a
// PassageSource and caches its results. If documents change, it examines only passages that are new
// for a statement and rejudges only affected controls. The results are the same as those of a new
// evaluator. Call Refresh after the source has changed; between calls, it is safe for concurrent
// use.
type IncrementalEvaluator struct {
	*Session
	plan       *EvaluationPlan
	source     PassageSource
	cache      []questionCache // by question
	judgements map[string]*cachedJudgement
	// accepted holds, by question, the numbers of passages that people accepted as evidence, even
	// if search doesn't find them.
	accepted map[int][]int

	mu               sync.Mutex
	passages         map[int]*foundPassage
	documentPassages map[string][]int // passages included in the document status, by document
}

// questionCache holds the cached results for a question.
type questionCache struct {
	version         int // of the answer, from 1; 0 means nothing was read
	passageVerdicts map[int][]passageVerdict
	readings        map[int]reading.Reading // used instead of passageVerdicts if there is a reader
	verdict         statementVerdict

	subjectVerdicts map[int]subjectVerdict
	denial, plan    *passageVerdict
}

// subjectVerdict holds what a passage says about a control as a whole; see judgeWholeControlIn.
type subjectVerdict struct{ denial, plan *passageVerdict }

// cachedJudgement is the judgment on a control, once it has been made.
type cachedJudgement struct {
	mu        sync.Mutex
	done      bool
	judgement Judgement
}

// NewIncrementalEvaluator returns an evaluator with an empty cache. It uses the plan's embedder.
func NewIncrementalEvaluator(d *EvaluationPlan, source PassageSource, o Options) *IncrementalEvaluator {
	o.Embedder = d.embedder
	l := &IncrementalEvaluator{
		Session: NewSession(nil, o),
		plan:    d,
		source:  source,
	}
	l.passages, l.documentPassages, l.statuses = map[int]*foundPassage{}, map[string][]int{}, map[string]documentStatus{}
	l.clearVerdicts()
	return l
}

// SetReader makes the evaluator judge with another reader, or with the rules if it is nil. It
// clears the cached verdicts. It must not be called during an evaluation.
func (l *IncrementalEvaluator) SetReader(r reading.Reader) {
	l.options.Reader = r
	l.clearVerdicts()
}

// SetCorrections sets the corrections to apply. Statements whose corrections have changed are
// judged again. It must be followed by Refresh, and must not be called during an evaluation.
func (l *IncrementalEvaluator) SetCorrections(c *reading.Corrections) {
	before := l.options.Corrections
	l.options.Corrections = c
	l.plan.ForEachStatement(func(question int, st reading.Statement) {
		if before.For(st).Revision() != c.For(st).Revision() {
			l.cache[question].version = 0
		}
	})
}

// findAcceptedPassages finds the passages that people accepted as evidence for the statements. If
// these have changed for a statement, it is judged again.
func (l *IncrementalEvaluator) findAcceptedPassages() {
	questions := map[string][]int{} // by the passage's text
	if l.options.Corrections != nil {
		l.plan.ForEachStatement(func(question int, st reading.Statement) {
			for _, text := range l.options.Corrections.For(st).AcceptedTexts() {
				questions[text] = append(questions[text], question)
			}
		})
	}
	found := map[int][]int{}
	if len(questions) > 0 {
		for _, d := range l.source.Documents() {
			for _, n := range l.source.DocumentPassages(d) {
				for _, q := range questions[l.source.Passage(n).Text] {
					if len(found[q]) < l.options.TopK && !slices.Contains(found[q], n) {
						found[q] = append(found[q], n)
					}
				}
			}
		}
	}
	for q := range l.cache {
		if !slices.Equal(found[q], l.accepted[q]) {
			l.cache[q].version = 0
		}
	}
	l.accepted = found
}

func (l *IncrementalEvaluator) clearVerdicts() {
	l.cache = make([]questionCache, len(l.plan.questions))
	l.judgements = make(map[string]*cachedJudgement, len(l.plan.controls))
	for code := range l.plan.controls {
		l.judgements[code] = &cachedJudgement{}
	}
}

// Refresh brings the cache up to date with the source. It removes deleted documents and determines
// the status of new and changed ones.
func (l *IncrementalEvaluator) Refresh(ctx context.Context, workers int) error {
	now := make(map[string]bool)
	var fresh []string
	for _, id := range l.source.Documents() {
		now[id] = true
		if numbers, known := l.documentPassages[id]; !known || !samePassages(numbers, l.source.DocumentPassages(id)) {
			fresh = append(fresh, id)
		}
	}
	for id := range l.documentPassages {
		if !now[id] {
			l.removeDocument(id)
		}
	}
	facts := make([]documentStatus, len(fresh))
	err := ForEach(ctx, len(fresh), workers, func(_ context.Context, i int) error {
		for _, n := range l.source.DocumentPassages(fresh[i]) {
			facts[i].addPassage(l.source.Passage(n))
		}
		return nil
	})
	for i, id := range fresh {
		l.removeDocument(id)
		l.documentPassages[id], l.statuses[id] = l.source.DocumentPassages(id), facts[i]
	}
	if own := findOwnOrganizations(l.statuses); !slices.Equal(own, l.ownOrganizations) {
		l.ownOrganizations = own
		for i := range l.cache { // the organization's own names have changed, so sentences that name a company may be judged differently
			l.cache[i].version, l.cache[i].passageVerdicts, l.cache[i].subjectVerdicts = 0, nil, nil
		}
	}
	l.findAcceptedPassages()
	return err
}

func (l *IncrementalEvaluator) removeDocument(document string) {
	for _, n := range l.documentPassages[document] {
		delete(l.passages, n)
	}
	delete(l.documentPassages, document)
	delete(l.statuses, document)
}

func samePassages(a, b []int) bool {
	return len(a) == len(b) && (len(a) == 0 || a[0] == b[0])
}

// JudgePassages judges, with up to the given number of workers, the passages that are new for the statements of
// controls given by their codes. Evaluate would do the same statement by statement. When passages are judged one by
// one, the analyses and vectors of only a few of them have to be in memory at once. It must not be called during an
// evaluation. With a reader, it does nothing.
func (l *IncrementalEvaluator) JudgePassages(ctx context.Context, codes []string, workers int) error {
	if l.options.Reader != nil {
		return nil
	}
	questions := map[int][]passageQuestion{} // by passage
	for _, code := range codes {
		b := l.plan.controls[code]
		if b == nil {
			continue
		}
		for i, d := range append(slices.Clip(b.statements), b.subject) {
			question := b.firstQuestion + i
			n := &l.cache[question]
			if l.source.Version(question)+1 == n.version {
				continue
			}
			for _, f := range l.passagesFor(question) {
				if !n.knows(f.Number) {
					questions[f.Number] = append(questions[f.Number], passageQuestion{n, d, i == len(b.statements), f.Score})
				}
			}
		}
	}
	passages := slices.Sorted(maps.Keys(questions))
	return ForEach(ctx, len(passages), workers, func(ctx context.Context, i int) error {
		p := l.loadPassage(passages[i])
		defer p.releaseAnalysis()
		if strings.TrimSpace(p.Text) == "" {
			return nil
		}
		c := l.analyzed(p)
		if err := l.ensureVectors(ctx, c); err != nil {
			return err
		}
		sentences := sentenceCopies{}
		for _, q := range questions[passages[i]] {
			l.judgeNewPassage(q, passages[i], c, sentences)
		}
		return nil
	})
}

// passageQuestion is a question that a passage may answer.
type passageQuestion struct {
	cache        *questionCache
	statement    *preparedStatement
	wholeControl bool
	score        float64
}

// sentenceCopies are copies of the sentences of a passage on which verdicts are based. Without them, each verdict would keep
// the whole analysis in memory.
type sentenceCopies map[*text.Sentence]*text.Sentence

// useCopy makes a verdict refer to a copy of its sentence. v may be nil.
func (s sentenceCopies) useCopy(v *passageVerdict) {
	if v == nil {
		return
	}
	if s[v.sentence] == nil {
		s[v.sentence] = v.sentence.Copy()
	}
	v.sentence = s[v.sentence]
}

// judgeNewPassage judges a passage and caches the result, which refers to copies of its sentences.
func (l *IncrementalEvaluator) judgeNewPassage(q passageQuestion, number int, c *analyzedPassage, sentences sentenceCopies) {
	n := q.cache
	if q.wholeControl {
		var verdict subjectVerdict
		verdict.denial, verdict.plan = l.judgeWholeControlIn(q.statement, c)
		sentences.useCopy(verdict.denial)
		sentences.useCopy(verdict.plan)
		l.mu.Lock()
		defer l.mu.Unlock()
		if n.subjectVerdicts == nil {
			n.subjectVerdicts = map[int]subjectVerdict{}
		}
		n.subjectVerdicts[number] = verdict
		return
	}
	verdicts := slices.Clip(l.judgePassage(q.statement, c, q.score))
	for i := range verdicts {
		sentences.useCopy(&verdicts[i])
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if n.passageVerdicts == nil {
		n.passageVerdicts = map[int][]passageVerdict{}
	}
	n.passageVerdicts[number] = verdicts
}

// knows reports whether the verdict on a passage is cached.
func (n *questionCache) knows(number int) bool {
	_, read := n.passageVerdicts[number]
	_, readForControl := n.subjectVerdicts[number]
	return read || readForControl
}

// Evaluate judges a control of the plan, given its code.
func (l *IncrementalEvaluator) Evaluate(ctx context.Context, code string) (Judgement, error) {
	b, d := l.plan.controls[code], l.judgements[code]
	if b == nil {
		return Judgement{}, fmt.Errorf("judging %s: the control is not among those that were prepared", code)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	same := d.done
	d.done = false
	all := make([]statementVerdict, len(b.statements))
	for i := range b.statements {
		changed, err := l.updateStatementVerdict(ctx, b.firstQuestion+i, b.statements[i])
		if err != nil {
			return Judgement{}, fmt.Errorf("judging %s: %w", code, err)
		}
		same = same && !changed
		all[i] = l.cache[b.firstQuestion+i].verdict
	}
	if l.options.Reader != nil {
		if !same {
			d.judgement = concludeWithAndWithoutCorrections(all, func(all []statementVerdict) Judgement {
				return concludeControlFromReadings(b.statementTexts.source, all)
			})
		}
		d.done = true
		return d.judgement, nil
	}
	whole := b.firstQuestion + len(b.statements)
	changed, err := l.updateWholeControlVerdict(ctx, whole, b.subject)
	if err != nil {
		return Judgement{}, fmt.Errorf("judging %s: %w", code, err)
	}
	if same = same && !changed; !same {
		d.judgement = concludeWithAndWithoutCorrections(all, func(all []statementVerdict) Judgement {
			applyWholeControlVerdict(all, l.cache[whole].denial, l.cache[whole].plan)
			return l.concludeControl(b.control, b.statementTexts.source, all)
		})
	}
	d.done = true
	return d.judgement, nil
}

// updateStatementVerdict updates the verdict on a statement if its passages have changed. It returns false if
// nothing changed.
func (l *IncrementalEvaluator) updateStatementVerdict(ctx context.Context, question int, d *preparedStatement) (bool, error) {
	n := &l.cache[question]
	hits, numbers, version, err := l.retrievePassagesIfChanged(ctx, question, n.version)
	if err != nil || n.version == version {
		return false, err
	}
	if l.options.Reader != nil {
		return true, l.readNewPassages(ctx, n, d, hits, numbers, version)
	}
	read := make(map[int][]passageVerdict, len(hits))
	some := 0
	for i, h := range hits {
		verdicts, known := n.passageVerdicts[numbers[i]]
		if !known {
			c := l.analyzed(h.foundPassage)
			if err := l.ensureVectors(ctx, c); err != nil {
				return false, err
			}
			verdicts = l.judgePassage(d, c, h.score)
		}
		read[numbers[i]] = verdicts
		some += len(verdicts)
	}
	all := make([]passageVerdict, 0, some)
	for _, number := range numbers {
		all = append(all, read[number]...)
	}
	n.verdict, n.passageVerdicts, n.version = l.combineVerdicts(d, hits, all), read, version
	return true, nil
}

// readNewPassages updates the verdict on a statement from the readings of its passages, but lets
// the reader read only passages that are new for the statement.
func (l *IncrementalEvaluator) readNewPassages(
	ctx context.Context,
	n *questionCache,
	d *preparedStatement,
	hits []retrievedPassage,
	numbers []int,
	version int,
) error {
	var fresh []retrievedPassage
	for i, number := range numbers {
		if _, known := n.readings[number]; !known {
			fresh = append(fresh, hits[i])
		}
	}
	added, invalid, err := l.readPassages(ctx, d, fresh)
	if err != nil {
		return err
	}
	invalid += n.verdict.invalidReadings
	byNumber, all := make(map[int]reading.Reading, len(numbers)), make([]reading.Reading, len(numbers))
	for i, number := range numbers {
		r, known := n.readings[number]
		if !known {
			r, added = added[0], added[1:]
		}
		byNumber[number], all[i] = r, r
	}
	n.verdict = l.concludeStatement(d, hits, all)
	n.verdict.invalidReadings, n.readings, n.version = invalid, byNumber, version
	return nil
}

// updateWholeControlVerdict is like updateStatementVerdict, but for a control as a whole.
func (l *IncrementalEvaluator) updateWholeControlVerdict(ctx context.Context, question int, d *preparedStatement) (bool, error) {
	n := &l.cache[question]
	hits, numbers, version, err := l.retrievePassagesIfChanged(ctx, question, n.version)
	if err != nil || n.version == version {
		return false, err
	}
	read := make(map[int]subjectVerdict)
	n.denial, n.plan = nil, nil
	for i, h := range hits {
		verdict, known := n.subjectVerdicts[numbers[i]]
		if !known {
			c := l.analyzed(h.foundPassage)
			if err := l.ensureVectors(ctx, c); err != nil {
				return false, err
			}
			verdict.denial, verdict.plan = l.judgeWholeControlIn(d, c)
		}
		read[numbers[i]] = verdict
		n.denial, n.plan = strongerOf(n.denial, verdict.denial), strongerOf(n.plan, verdict.plan)
	}
	n.subjectVerdicts, n.version = read, version
	return true, nil
}

// retrievePassagesIfChanged returns the passages for a question whose score is high enough, with
// their numbers. It returns nothing if the version of the result is still previousVersion.
func (l *IncrementalEvaluator) retrievePassagesIfChanged(
	ctx context.Context,
	question, previousVersion int,
) (hits []retrievedPassage, numbers []int, version int, err error) {
	version = l.source.Version(question) + 1 // 0 means nothing was read
	if version == previousVersion {
		return nil, nil, version, nil
	}
	best := l.passagesFor(question)
	hits, numbers = make([]retrievedPassage, 0, len(best)), make([]int, 0, len(best))
	for _, f := range best {
		c := l.loadPassage(f.Number)
		if strings.TrimSpace(c.Text) == "" {
			continue
		}
		hits, numbers = append(hits, retrievedPassage{c, f.Score}), append(numbers, f.Number)
	}
	return hits, numbers, version, ctx.Err()
}

// passagesFor returns the passages to judge for a question: those whose score is high enough, and those that people
// accepted.
func (l *IncrementalEvaluator) passagesFor(question int) []RankedPassage {
	var best []RankedPassage
	for _, b := range l.source.BestPassages(question) {
		if b.Score >= l.options.MinScore {
			best = append(best, b)
		}
	}
	for _, n := range l.accepted[question] {
		if !slices.ContainsFunc(best, func(b RankedPassage) bool { return b.Number == n }) {
			best = append(best, RankedPassage{n, l.options.MinScore})
		}
	}
	return best
}

// loadPassage returns the passage with a number, and analyzes it the first time.
func (l *IncrementalEvaluator) loadPassage(number int) *foundPassage {
	l.mu.Lock()
	c := l.passages[number]
	l.mu.Unlock()
	if c != nil {
		return c
	}
	p := l.source.Passage(number)
	c = newFoundPassage(p, l.analyzePassage(p), l.statuses[p.DocumentID])
	l.mu.Lock()
	defer l.mu.Unlock()
	if before := l.passages[number]; before != nil {
		return before
	}
	l.passages[number] = c
	return c
}

// ensureVectors embeds a passage's sentences unless that has been done already.
func (l *IncrementalEvaluator) ensureVectors(ctx context.Context, c *analyzedPassage) error {
	if l.options.Embedder == nil {
		return nil
	}
	c.embedMu.Lock()
	defer c.embedMu.Unlock()
	if c.vectors != nil {
		return nil
	}
	return l.embedSentences(ctx, c.Passage, c.passageAnalysis)
}

// ReleaseAnalyses releases the analyses of passages, which can be recreated. It must not be called during an
// evaluation.
func (l *IncrementalEvaluator) ReleaseAnalyses() {
	for _, p := range l.passages {
		p.releaseAnalysis()
	}
}

// EvaluateAll judges controls of the plan with up to the given number of workers. The judgements are in the
// order of the controls.
func (l *IncrementalEvaluator) EvaluateAll(ctx context.Context, controls []api.Control, workers int) ([]Judgement, error) {
	out, codes := make([]Judgement, len(controls)), make([]string, len(controls))
	for i, c := range controls {
		codes[i] = c.Code
	}
	if err := l.JudgePassages(ctx, codes, workers); err != nil {
		return nil, err
	}
	return out, ForEach(ctx, len(controls), workers, func(ctx context.Context, i int) (err error) {
		out[i], err = l.Evaluate(ctx, codes[i])
		return err
	})
}
