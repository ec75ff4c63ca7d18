package analyst

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"
)

// Session judges controls against the documents of one assessment. It analyses a
// passage once, however many controls it is found for. It is safe for concurrent
// use, and good as long as the documents don't change; a new Session then.
type Session struct {
	finder  Finder
	options Options
	year    int // of Today; 0 where unknown

	mu       sync.Mutex
	analyses map[string]*analysis // by the passage's SHA256
	facts    map[string]docFacts  // by document
	factsErr error
	once     sync.Once
}

// NewSession returns a Session over what f finds.
func NewSession(f Finder, o Options) *Session {
	s := &Session{finder: f, options: o.withDefaults(), analyses: make(map[string]*analysis)}
	if t, err := o.Today.Time(); err == nil {
		s.year = t.Year()
	}
	return s
}

// candidate is a found passage with what its sentences say.
type candidate struct {
	Passage
	*analysis
	context  []uint64 // sorted concepts of title and headings
	category string
	facts    docFacts
}

// find returns the passages for a query that score high enough, best first.
func (s *Session) find(ctx context.Context, query string) ([]candidate, error) {
	if s.finder == nil {
		return nil, errors.New("no finder was given to look for evidence with")
	}
	found, err := s.finder.Find(ctx, query, s.options.TopK)
	if err != nil {
		return nil, fmt.Errorf("searching for %q: %w", shorten(query, 80), err)
	}
	out := make([]candidate, 0, len(found))
	for _, p := range found {
		if p.Score < s.options.MinScore || strings.TrimSpace(p.Text) == "" {
			continue
		}
		category := p.Category
		if category == "" {
			category = Category(p.Filename, p.DocumentTitle, p.Text)
		}
		c := candidate{Passage: p, analysis: s.analyse(p), category: category}
		c.context = contextTerms(p, category)
		out = append(out, c)
	}
	sort.SliceStable(out, func(i, j int) bool {
		if out[i].Score != out[j].Score {
			return out[i].Score > out[j].Score
		}
		return out[i].ChunkID < out[j].ChunkID
	})
	return out, nil
}

func (s *Session) analyse(p Passage) *analysis {
	key := p.SHA256
	if key == "" {
		key = p.Text
	}
	s.mu.Lock()
	a, ok := s.analyses[key]
	s.mu.Unlock()
	if ok && a.text == p.Text {
		return a
	}
	a = analyse(p.Text, s.year)
	s.mu.Lock()
	s.analyses[key] = a
	s.mu.Unlock()
	return a
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
