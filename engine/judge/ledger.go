package judge

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/scf-service/service/api"
)

// Source has the answers to a Docket's questions. Passages are known by a number that is
// never given to another: one that changed has a new one.
type Source interface {
	// Best are the passages that answer a question best, best first. As long as the version
	// is the same, so are they.
	Best(question int) []Found
	Version(question int) int
	Passage(number int) Passage
	// Documents are the ids of all documents that passages come from, PassagesOf theirs.
	Documents() []string
	PassagesOf(document string) []int
}

// Found is a passage that a Source found.
type Found struct {
	Number int
	Score  float64
}

// Ledger judges the controls of a Docket by what a Source finds. It remembers what it read:
// when documents come or go, only passages that are new to a statement are read, and only
// controls that have one are judged again. The judgements are those of a new Ledger. After
// the Source changed, Begin a round; within one, it is safe for concurrent use.
type Ledger struct {
	*Session
	docket *Docket
	source Source
	notes  []note // by question
	drawn  map[string]*drawn

	mu         sync.Mutex
	candidates map[int]*candidate
	documents  map[string][]int // the passages whose facts are known, by document
}

// note is what was read for a question.
type note struct {
	version  int // of the answer, from 1; 0: nothing was read
	readings map[int][]reading
	found    found

	subjects map[int]subjectNote
	no, plan *reading
}

type subjectNote struct{ no, plan *reading }

type drawn struct {
	mu        sync.Mutex
	done      bool
	judgement Judgement
}

// NewLedger returns an empty one. The embedder is the docket's.
func NewLedger(d *Docket, source Source, o Options) *Ledger {
	o.Meaning = d.meaning
	l := &Ledger{Session: NewSession(nil, o), docket: d, source: source, notes: make([]note, len(d.questions)), drawn: make(map[string]*drawn, len(d.briefs))}
	l.candidates, l.documents, l.facts = map[int]*candidate{}, map[string][]int{}, map[string]docFacts{}
	for code := range d.briefs {
		l.drawn[code] = &drawn{}
	}
	return l
}

// Begin takes in what changed in the Source: it forgets what is gone, and looks what new
// documents say of themselves.
func (l *Ledger) Begin(ctx context.Context, workers int) error {
	now := make(map[string]bool)
	var fresh []string
	for _, id := range l.source.Documents() {
		now[id] = true
		if of, known := l.documents[id]; !known || !sameNumbers(of, l.source.PassagesOf(id)) {
			fresh = append(fresh, id)
		}
	}
	for id := range l.documents {
		if !now[id] {
			l.forget(id)
		}
	}
	facts := make([]docFacts, len(fresh))
	err := Each(ctx, len(fresh), workers, func(_ context.Context, i int) error {
		for _, n := range l.source.PassagesOf(fresh[i]) {
			facts[i].read(l.source.Passage(n))
		}
		return nil
	})
	for i, id := range fresh {
		l.forget(id)
		l.documents[id], l.facts[id] = l.source.PassagesOf(id), facts[i]
	}
	return err
}

func (l *Ledger) forget(document string) {
	for _, n := range l.documents[document] {
		delete(l.candidates, n)
	}
	delete(l.documents, document)
	delete(l.facts, document)
}

func sameNumbers(a, b []int) bool {
	return len(a) == len(b) && (len(a) == 0 || a[0] == b[0])
}

// Judge says what the evidence says of a control of the docket.
func (l *Ledger) Judge(ctx context.Context, code string) (Judgement, error) {
	b, d := l.docket.briefs[code], l.drawn[code]
	if b == nil {
		return Judgement{}, fmt.Errorf("judging %s: it is not among the controls that were made ready", code)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	same := d.done
	d.done = false
	all := make([]found, len(b.demands))
	for i := range b.demands {
		changed, err := l.statement(ctx, b.first+i, b.demands[i])
		if err != nil {
			return Judgement{}, fmt.Errorf("judging %s: %w", code, err)
		}
		same = same && !changed
		all[i] = l.notes[b.first+i].found
	}
	whole := b.first + len(b.demands)
	changed, err := l.whole(ctx, whole, b.subject)
	if err != nil {
		return Judgement{}, fmt.Errorf("judging %s: %w", code, err)
	}
	if same = same && !changed; !same {
		applySubject(all, l.notes[whole].no, l.notes[whole].plan)
		d.judgement = l.conclude(b.control, b.wants.from, all)
	}
	d.done = true
	return d.judgement, nil
}

// statement reads what is new to a statement and weighs it anew; false where nothing is.
func (l *Ledger) statement(ctx context.Context, question int, d *demand) (bool, error) {
	n := &l.notes[question]
	hits, numbers, version, err := l.answer(ctx, question, n.version)
	if err != nil || n.version == version {
		return false, err
	}
	read := make(map[int][]reading, len(hits))
	some := 0
	for i, h := range hits {
		of, known := n.readings[numbers[i]]
		if !known {
			if err := l.ready(ctx, h.candidate); err != nil {
				return false, err
			}
			of = l.readPassage(d, h)
		}
		read[numbers[i]] = of
		some += len(of)
	}
	all := make([]reading, 0, some)
	for _, number := range numbers {
		all = append(all, read[number]...)
	}
	n.found, n.readings, n.version = l.weighed(d, hits, all), read, version
	return true, nil
}

// whole does the same for a control as a whole.
func (l *Ledger) whole(ctx context.Context, question int, d *demand) (bool, error) {
	n := &l.notes[question]
	hits, numbers, version, err := l.answer(ctx, question, n.version)
	if err != nil || n.version == version {
		return false, err
	}
	read := make(map[int]subjectNote)
	n.no, n.plan = nil, nil
	for i, h := range hits {
		of, known := n.subjects[numbers[i]]
		if !known {
			if err := l.ready(ctx, h.candidate); err != nil {
				return false, err
			}
			of.no, of.plan = l.subjectIn(d, h.candidate)
		}
		read[numbers[i]] = of
		n.no, n.plan = better(n.no, of.no), better(n.plan, of.plan)
	}
	n.subjects, n.version = read, version
	return true, nil
}

// answer is what the source found for a question that scores high enough, where it isn't
// what was read before.
func (l *Ledger) answer(ctx context.Context, question, before int) (hits []hit, numbers []int, version int, err error) {
	version = l.source.Version(question) + 1 // 0 is that nothing was read
	if version == before {
		return nil, nil, version, nil
	}
	best := l.source.Best(question)
	hits, numbers = make([]hit, 0, len(best)), make([]int, 0, len(best))
	for _, f := range best {
		if f.Score < l.options.MinScore {
			continue
		}
		c := l.candidate(f.Number)
		if strings.TrimSpace(c.Text) == "" {
			continue
		}
		hits, numbers = append(hits, hit{c, f.Score}), append(numbers, f.Number)
	}
	return hits, numbers, version, ctx.Err()
}

func (l *Ledger) candidate(number int) *candidate {
	l.mu.Lock()
	c := l.candidates[number]
	l.mu.Unlock()
	if c != nil {
		return c
	}
	p := l.source.Passage(number)
	c = &candidate{Passage: p, prepared: l.analysed(p), facts: l.facts[p.DocumentID]}
	l.mu.Lock()
	defer l.mu.Unlock()
	if before := l.candidates[number]; before != nil {
		return before
	}
	l.candidates[number] = c
	return c
}

// ready gives a passage's sentences their vectors, which Rest takes away again.
func (l *Ledger) ready(ctx context.Context, c *candidate) error {
	if l.options.Meaning == nil {
		return nil
	}
	c.embedding.Lock()
	defer c.embedding.Unlock()
	if c.vectors != nil {
		return nil
	}
	return l.embed(ctx, c.Passage, c.prepared)
}

// Rest gives back the memory of what can be made again, between rounds.
func (l *Ledger) Rest() {
	for _, c := range l.candidates {
		c.vectors = nil
	}
}

// JudgeAll judges controls of the docket, several at once, in their order.
func (l *Ledger) JudgeAll(ctx context.Context, controls []api.Control, workers int) ([]Judgement, error) {
	out := make([]Judgement, len(controls))
	return out, Each(ctx, len(controls), workers, func(ctx context.Context, i int) (err error) {
		out[i], err = l.Judge(ctx, controls[i].Code)
		return err
	})
}
