package judge

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/scf-service/service/api"
)

// Session judges controls against the documents of one assessment. It analyses a
// passage once, however many controls it is found for. It is safe for concurrent
// use, and good as long as the documents don't change; a new Session then.
type Session struct {
	finder  Finder
	options Options
	year    int // of Today; 0 where unknown
	heard   Heard

	mu       sync.Mutex
	prepared map[passageKey]*prepared
	facts    map[string]docFacts // by document
	factsErr error
	once     sync.Once
}

// Heard is told what was held against what: a statement after its topic, a sentence, and how much
// of the statement it says, 0 to 1. It is for measuring, and called by several at once.
type Heard func(statement, sentence string, says float64)

// Hear tells f of all that is read from then on.
func (s *Session) Hear(f Heard) { s.heard = f }

// NewSession returns a Session over what f finds.
func NewSession(f Finder, o Options) *Session {
	s := &Session{finder: f, options: o.withDefaults(), prepared: make(map[passageKey]*prepared)}
	if t, err := o.Today.Time(); err == nil {
		s.year = t.Year()
	}
	return s
}

// passageKey is all that a passage's preparation depends on.
type passageKey struct{ text, title, file, category, headings string }

// prepared is a passage as the rules see it, whatever is looked for.
type prepared struct {
	*analysis
	context  []uint64      // sorted concepts of title and headings
	named    []uint64      // these and those of the sentences
	above    roots         // of title, file name and headings
	idle     []bool        // of each sentence, whether it says nothing
	imprint  []bool        // of each, whether it tells of its document alone
	windows  [][]*sentence // of each, what is read: the one that leads to it, and itself
	near     [][]*sentence // of each, those that give it its subject
	takesUp  []bool        // of each, whether it goes on with the one before
	around   surroundings
	category string
	listed   string      // the name of the list of plans that it stands in
	vectors  [][]float32 // two for each sentence; none without an embedder
	ladders  []ladder    // one for each
	// embedding is held while a Ledger gives it vectors.
	embedding sync.Mutex
}

// candidate is a passage with what its sentences say.
type candidate struct {
	Passage
	*prepared
	facts docFacts
}

// hit is a passage that was found for a question.
type hit struct {
	*candidate
	score float64
}

// find returns the passages for a query that score high enough, best first.
func (s *Session) find(ctx context.Context, query string) ([]hit, error) {
	if s.finder == nil {
		return nil, errors.New("no finder was given to look for evidence with")
	}
	found, err := s.finder.Find(ctx, query, s.options.TopK)
	if err != nil {
		return nil, fmt.Errorf("searching for %q: %w", shorten(query, 80), err)
	}
	out := make([]hit, 0, len(found))
	for _, p := range found {
		if p.Score < s.options.MinScore || strings.TrimSpace(p.Text) == "" {
			continue
		}
		ready, err := s.prepare(ctx, p)
		if err != nil {
			return nil, err
		}
		out = append(out, hit{&candidate{Passage: p, prepared: ready, facts: s.facts[p.DocumentID]}, p.Score})
	}
	sort.SliceStable(out, func(i, j int) bool {
		if out[i].score != out[j].score {
			return out[i].score > out[j].score
		}
		return out[i].ChunkID < out[j].ChunkID
	})
	return out, nil
}

func (s *Session) prepare(ctx context.Context, p Passage) (*prepared, error) {
	key := passageKey{p.SHA256, p.DocumentTitle, p.Filename, p.Category, strings.Join(p.HeadingPath, "\n")}
	if key.text == "" {
		key.text = p.Text
	}
	s.mu.Lock()
	c, ok := s.prepared[key]
	s.mu.Unlock()
	if ok && c.text == p.Text {
		return c, nil
	}
	c = s.analysed(p)
	if err := s.embed(ctx, p, c); err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.prepared[key] = c
	s.mu.Unlock()
	return c, nil
}

// analysed is a passage as the rules see it, but for the vectors of its sentences.
func (s *Session) analysed(p Passage) *prepared {
	c := &prepared{analysis: analyse(p.Text, s.year), category: p.Category}
	if isLicence(p.Filename, p.Text) {
		c.sentences = nil
	}
	if c.category == "" {
		c.category = Category(p.Filename, p.DocumentTitle, p.Text)
	}
	c.context, c.listed = contextTerms(p, c.category), listedAhead(p)
	c.around = surroundings{c.context, c.concepts(nil, (*sentence).affirms)}
	c.named = c.concepts(c.context, nil)
	n := len(c.sentences)
	c.idle, c.windows, c.near, c.takesUp = make([]bool, n), make([][]*sentence, n), make([][]*sentence, n), make([]bool, n)
	c.imprint = make([]bool, n)
	for i := range c.sentences {
		cur := &c.sentences[i]
		c.takesUp[i] = c.analysis.takesUp(i)
		if c.idle[i], c.windows[i], c.near[i] = c.saysNothing(i), []*sentence{cur}, c.beside(i); c.leadOf(cur) != cur {
			c.windows[i] = []*sentence{c.leadOf(cur), cur}
		}
		c.imprint[i] = isImprint(c.text[cur.start:cur.end], operates(c.category))
	}
	c.above = rootsOf(split(p.DocumentTitle + " . " + fileWords(p.Filename) + " . " + strings.Join(p.HeadingPath, " . ")))
	return c
}

// JudgeAll judges controls, several at once; workers below 1 is one. The judgements
// are in the order of the controls, and the same as Judge gives. It stops at the
// first error.
func (s *Session) JudgeAll(ctx context.Context, controls []api.Control, workers int) ([]Judgement, error) {
	out := make([]Judgement, len(controls))
	return out, Each(ctx, len(controls), workers, func(ctx context.Context, i int) (err error) {
		out[i], err = s.Judge(ctx, controls[i])
		return err
	})
}

// Each does n pieces of work, several at once; the first error ends it.
func Each(ctx context.Context, n, workers int, work func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(max(workers, 1), n) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n || ctx.Err() != nil {
					return
				}
				if err := work(ctx, i); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// shorten cuts s to about n bytes at a word's end.
func shorten(s string, n int) string {
	s = fold(s)
	if len(s) <= n {
		return s
	}
	if i := strings.LastIndexByte(s[:n], ' '); i > n/2 {
		return s[:i] + " …"
	}
	return strings.ToValidUTF8(s[:n], "") + " …"
}

// fold makes one blank of all white space.
func fold(s string) string { return strings.Join(strings.Fields(s), " ") }
