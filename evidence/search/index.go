// Package search ranks passages by meaning and words together. The index lives
// in memory and is filled from the store; vectors are passed in, made by
// whichever embedder the caller has. It must not read files, call a model or
// know about tenants: one index holds what one caller may see.
//
//	query ─┬─ vector ─▶ nearest passages (chromem-go, or a flat scan) ─┐
//	       ├─ stems ──▶ BM25 over postings ────────────────────────────┼─▶ fuse ─▶ calibrate ─▶ results
//	       └─ codes, names, "quoted phrases" ─▶ these come first ──────┘
package search

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/scf-service/service/evidence/embed/words"
)

// Passage is a piece of a document that a search can find.
type Passage struct {
	ID           string // unique in the index
	DocumentID   string
	AssessmentID string
	Category     string
	Text         string
	HeadingPath  []string  // outermost first; searched like the text
	Vector       []float32 // of the embedder in use; nil or zeros: found by words only
}

// ErrPassage is wrapped by the errors of Put.
var ErrPassage = errors.New("passage can't be indexed")

// Options of an index. The zero value is what the product uses.
type Options struct {
	// Background is how close texts are that have nothing to do with each other.
	// Zero: measured on the passages of the index itself.
	Background Background
	// Weight says how much a stem means, 0 to 1, as embed.Model.Weight does. Nil:
	// a word is worth what its rarity in the index says.
	Weight func(stem string) float64
	// FlatFrom is the number of passages from which on the flat scan serves
	// searches without filters; 0 for 2,000, where chromem falls behind.
	FlatFrom int
}

// Index is safe for concurrent use: searches run beside each other, a Put or
// Remove waits for the searches under way and is then seen whole.
type Index struct {
	mu       sync.RWMutex
	options  Options
	slots    []slot // a slot is never reused; dead ones go when there are many
	place    map[string]int
	dead     int
	words    postings
	vectors  flat
	approach nearest // chromem, over the same vectors
	ground   Background
	grounded int // live passages when ground was measured
}

type slot struct {
	Passage
	live   bool
	length float32 // units that count for BM25
}

// New returns an empty index.
func New(o Options) *Index {
	if o.FlatFrom == 0 {
		o.FlatFrom = 2000
	}
	return &Index{options: o, place: make(map[string]int), words: newPostings(), approach: newChromem(), ground: prior}
}

// Len is the number of passages.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.place)
}

// Put adds passages; one whose ID is known replaces the old one. If any is
// refused (no ID, a vector of another size, a number that isn't finite), none is
// added. Vectors are copied and scaled to length 1.
func (x *Index) Put(passages ...Passage) error {
	units := make([][]words.Token, len(passages))
	for i, p := range passages {
		units[i] = words.Split(searchText(p))
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	dims := x.vectors.dims
	for i, p := range passages {
		if p.ID == "" {
			return fmt.Errorf("%w: number %d has no id", ErrPassage, i+1)
		}
		if len(p.Vector) == 0 {
			continue
		}
		if dims == 0 {
			dims = len(p.Vector)
		}
		if len(p.Vector) != dims {
			return fmt.Errorf("%w: %s has a vector of %d numbers, the index holds %d; embed it again", ErrPassage, p.ID, len(p.Vector), dims)
		}
		for _, v := range p.Vector {
			if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) || math.Abs(f) > 1e15 {
				return fmt.Errorf("%w: %s has a vector with %v in it; embed it again", ErrPassage, p.ID, v)
			}
		}
	}
	for i, p := range passages {
		x.drop(p.ID)
		x.put(p, units[i], dims)
	}
	x.tidy()
	x.measure()
	return nil
}

// searchText is what words are looked for in: headings, then the text.
func searchText(p Passage) string {
	n := len(p.Text)
	for _, h := range p.HeadingPath {
		n += len(h) + 1
	}
	b := make([]byte, 0, n)
	for _, h := range p.HeadingPath {
		b = append(append(b, h...), '\n')
	}
	return string(append(b, p.Text...))
}

func (x *Index) put(p Passage, units []words.Token, dims int) {
	n := len(x.slots)
	vector := x.vectors.add(p.Vector, dims)
	p.Vector = nil
	s := slot{Passage: p, live: true}
	s.length = x.words.add(n, units)
	x.slots = append(x.slots, s)
	x.place[p.ID] = n
	if vector != nil {
		x.approach.put(p.ID, vector)
	}
}

// Remove takes passages out; unknown ids are passed over.
func (x *Index) Remove(ids ...string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, id := range ids {
		x.drop(id)
	}
	x.tidy()
	x.measure()
}

func (x *Index) drop(id string) {
	n, ok := x.place[id]
	if !ok {
		return
	}
	delete(x.place, id)
	s := &x.slots[n]
	s.live = false
	x.words.remove(s.length, words.Split(searchText(s.Passage)))
	x.approach.remove(id)
	s.Passage = Passage{}
	x.dead++
}

// tidy rebuilds the index without its dead slots once they are many.
func (x *Index) tidy() {
	if x.dead < 1024 || x.dead < len(x.slots)/3 {
		return
	}
	slots, vectors := x.slots, x.vectors
	x.slots = make([]slot, 0, len(x.place))
	x.place = make(map[string]int, len(x.place))
	x.words, x.vectors, x.dead = newPostings(), flat{}, 0
	x.approach = newChromem()
	for n := range slots {
		if slots[n].live {
			p := slots[n].Passage
			p.Vector = vectors.row(n)
			x.put(p, words.Split(searchText(p)), vectors.dims)
		}
	}
}
