package judge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge/text"
)

// Session judges controls against the documents of one assessment. It analyzes each passage only once, even if
// it is found for many controls. It is safe for concurrent use. Create a new Session if the documents change.
type Session struct {
	finder      Finder
	options     Options
	currentYear int // of Today; 0 if unknown
	trace       TraceFunc

	mu               sync.Mutex
	passages         map[passageKey]*passageAnalysis
	statuses         map[string]documentStatus // by document ID
	statusErr        error
	ownOrganizations []string // names of the organization that the documents belong to; several if that isn't clear
	statusOnce       sync.Once
}

// TraceFunc is called for every comparison with a statement prefixed with its topic, a sentence,
// and the coverage from 0 to 1. It is used for measurements and may be called concurrently.
type TraceFunc func(statement, sentence string, says float64)

// SetTrace makes the session report all further comparisons to f.
func (s *Session) SetTrace(f TraceFunc) { s.trace = f }

// NewSession returns a Session that searches with f.
func NewSession(f Finder, o Options) *Session {
	s := &Session{finder: f, options: o.withDefaults(), passages: make(map[passageKey]*passageAnalysis)}
	if t, err := o.Today.Time(); err == nil {
		s.currentYear = t.Year()
	}
	return s
}

// passageKey holds everything that the analysis of a passage depends on.
type passageKey struct{ text, title, file, category, headings string }

// passageAnalysis is the analysis of a passage, independent of any statement.
type passageAnalysis struct {
	*text.Analysis
	headingConcepts []uint64           // sorted concepts of title and headings
	passageConcepts []uint64           // headingConcepts and those of the sentences
	headingStems    text.Stems         // of title, file name and headings
	uninformative   []bool             // per sentence: whether it states nothing
	imprints        []bool             // per sentence: whether it only describes its document
	windows         [][]*text.Sentence // per sentence: the sentence with its lead-in
	neighbors       [][]*text.Sentence // per sentence: the sentences that provide its subject
	continues       []bool             // per sentence: whether it continues the previous one
	surroundings    surroundings
	facts           passageFacts
	planListName    string // the words that identify the list of planned work it belongs to
	undone          bool   // it is under a heading that says that this isn't done
	named           namedOrganizations
	vectors         [][]float32       // two for each sentence; none without an embedder
	nearest         []nearestCriteria // one per sentence
	// embedMu guards the vectors while an IncrementalEvaluator computes them.
	embedMu sync.Mutex
}

// passageFacts are the results of a passage's analysis that its verdicts need for as long as they are kept.
type passageFacts struct {
	category       string
	isEnglish      bool
	startsWithItem bool
}

// foundPassage is a passage that was found for a question. The analysis takes ten times as much memory as the text, so
// it can be released, and is recreated when it is needed again.
type foundPassage struct {
	Passage
	passageFacts
	status documentStatus

	mu       sync.Mutex
	analysis *passageAnalysis // nil if it was released
	// addresses caches the result of AddressesReader for the passage.
	addressOnce sync.Once
	addresses   bool
}

// analyzedPassage is a passage with its analysis.
type analyzedPassage struct {
	*foundPassage
	*passageAnalysis
}

// retrievedPassage is a passage that was found for a question, with its score.
type retrievedPassage struct {
	*foundPassage
	score float64
}

func newFoundPassage(p Passage, analysis *passageAnalysis, status documentStatus) *foundPassage {
	return &foundPassage{Passage: p, passageFacts: analysis.facts, status: status, analysis: analysis}
}

// analyzed returns a passage with its analysis.
func (s *Session) analyzed(p *foundPassage) *analyzedPassage {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.analysis == nil {
		p.analysis = s.analyzePassage(p.Passage)
	}
	return &analyzedPassage{p, p.analysis}
}

// releaseAnalysis releases the analysis of a passage.
func (c *foundPassage) releaseAnalysis() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.analysis = nil
}

// findPassages returns the passages for a query whose score is high enough, best first.
func (s *Session) findPassages(ctx context.Context, query string) ([]retrievedPassage, error) {
	if s.finder == nil {
		return nil, errors.New("no Finder was provided to search for evidence")
	}
	found, err := s.finder.Find(ctx, query, s.options.TopK)
	if err != nil {
		return nil, fmt.Errorf("searching for %q: %w", text.Shorten(query, 80), err)
	}
	out := make([]retrievedPassage, 0, len(found))
	for _, p := range found {
		if p.Score < s.options.MinScore || strings.TrimSpace(p.Text) == "" {
			continue
		}
		ready, err := s.loadOrAnalyzePassage(ctx, p)
		if err != nil {
			return nil, err
		}
		out = append(out, retrievedPassage{newFoundPassage(p, ready, s.statuses[p.DocumentID]), p.Score})
	}
	sort.SliceStable(out, func(i, j int) bool {
		if out[i].score != out[j].score {
			return out[i].score > out[j].score
		}
		return out[i].ChunkID < out[j].ChunkID
	})
	return out, nil
}

func (s *Session) loadOrAnalyzePassage(ctx context.Context, p Passage) (*passageAnalysis, error) {
	key := passageKey{
		text:     p.SHA256,
		title:    p.DocumentTitle,
		file:     p.Filename,
		category: p.Category,
		headings: strings.Join(p.HeadingPath, "\n"),
	}
	if key.text == "" {
		key.text = p.Text
	}
	s.mu.Lock()
	c, ok := s.passages[key]
	s.mu.Unlock()
	if ok && c.Text == p.Text {
		return c, nil
	}
	c = s.analyzePassage(p)
	if err := s.embedSentences(ctx, p, c); err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.passages[key] = c
	s.mu.Unlock()
	return c, nil
}

// analyzePassage analyzes a passage. It doesn't compute the vectors of its sentences.
func (s *Session) analyzePassage(p Passage) *passageAnalysis {
	c, category := &passageAnalysis{Analysis: text.Analyze(p.Text, s.currentYear)}, p.Category
	for _, heading := range p.HeadingPath {
		outside, undone := text.ReadDisclaimingHeading(heading)
		if outside {
			c.Sentences = nil
		}
		c.undone = c.undone || undone
	}
	if isLicense(p.Filename, p.Text) {
		c.Sentences = nil
	}
	if category == "" {
		category = GuessCategory(p.Filename, p.DocumentTitle, p.Text)
	}
	c.facts = passageFacts{category, c.IsEnglish, len(c.Sentences) > 0 && c.Sentences[0].Item}
	c.headingConcepts, c.planListName = headingConcepts(p, category), planListNameOf(p)
	c.surroundings = surroundings{c.headingConcepts, c.Concepts(nil, (*text.Sentence).IsAffirmativeProse)}
	c.passageConcepts = c.Concepts(c.headingConcepts, nil)
	n := len(c.Sentences)
	c.uninformative, c.windows, c.neighbors, c.continues = make(
		[]bool,
		n,
	), make(
		[][]*text.Sentence,
		n,
	), make(
		[][]*text.Sentence,
		n,
	), make(
		[]bool,
		n,
	)
	c.imprints = make([]bool, n)
	for i := range c.Sentences {
		cur := &c.Sentences[i]
		c.continues[i] = c.Analysis.ContinuesPrevious(i) && !c.Sentences[i-1].IsUnasserted()
		c.uninformative[i], c.neighbors[i] = c.isUninformativeSentence(i), c.HeadingAndNeighbors(i)
		c.windows[i] = []*text.Sentence{cur}
		if lead := c.LeadInOrSelf(cur); lead != cur {
			c.windows[i] = []*text.Sentence{lead, cur}
		}
		c.imprints[i] = text.IsImprint(cur.Text, isRecordCategory(category))
	}
	c.named = findNamedOrganizations(p, c)
	c.headingStems = text.StemsOf(p.DocumentTitle + " . " + replaceFilenameSeparators(p.Filename) + " . " + strings.Join(p.HeadingPath, " . "))
	return c
}

// headingConcepts returns the sorted concepts that the headings, title and category of a passage's document add
// to each of its sentences.
func headingConcepts(p Passage, category string) []uint64 {
	out := text.ConceptAndBroaderIDs(p.DocumentTitle + " . " + strings.Join(p.HeadingPath, " . "))
	// Add concepts for documenting and defining, because a prescriptive document does both for its subject.
	if isPrescriptive(category) {
		out = append(out, text.ConceptID("document"), text.ConceptID("define"), text.ConceptID(category))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// EvaluateAll judges controls with up to the given number of workers (at least one). The judgements
// are in the order of the controls and are the same as those of Evaluate. It stops at the first
// error.
func (s *Session) EvaluateAll(ctx context.Context, controls []api.Control, workers int) ([]Judgement, error) {
	out := make([]Judgement, len(controls))
	return out, ForEach(ctx, len(controls), workers, func(ctx context.Context, i int) (err error) {
		out[i], err = s.Evaluate(ctx, controls[i])
		return err
	})
}

// ForEach runs work for 0 to n-1 with up to the given number of workers and returns the first
// error.
func ForEach(ctx context.Context, n, workers int, work func(ctx context.Context, i int) error) error {
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
